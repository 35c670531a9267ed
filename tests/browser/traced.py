"""What each frame of a page cost Chromium's main thread, by its own trace: processor time, so no waiting.

with traced(browser, page) as frames:
    drag(...)
frames  # of each frame that painted something, milliseconds of script, style and layout
"""

from contextlib import contextmanager

CATEGORIES = ["devtools.timeline", "blink.user_timing"]
# A frame begins with the first; tasks before the next one are of that frame. Where the pointer is, is found elsewhere.
BEGIN = "FireAnimationFrame"
TASKS = (BEGIN, "TimerFire", "UpdateLayoutTree", "Layout")
# Of less a frame painted nothing: a page asks for frames to look at its layout, too.
LEAST_MS = 1.0
MARK = "nbmetrics traced"


@contextmanager
def traced(browser, page):
    """A list that holds the frames once the block is over."""
    frames, events, is_over = [], [], []
    session = browser.new_browser_cdp_session()
    session.on("Tracing.dataCollected", lambda event: events.extend(event["value"]))
    session.on("Tracing.tracingComplete", lambda event: is_over.append(event))
    session.send("Tracing.start", {"traceConfig": {"includedCategories": CATEGORIES}})
    page.evaluate("name => performance.mark(name)", MARK)
    yield frames
    session.send("Tracing.end")
    while not is_over:
        page.wait_for_timeout(20)
    session.detach()
    frames += frames_of(events)


def frames_of(events):
    """Milliseconds of each frame of the thread that was marked."""
    thread = next((event["pid"], event["tid"]) for event in events if event["name"] == MARK)
    own = [event for event in events if event.get("ph") == "X" and (event["pid"], event["tid"]) == thread]
    frames, end = [], 0
    for event in sorted(own, key=lambda event: event["ts"]):
        if event["name"] not in TASKS or event["ts"] < end:  # within a task that is counted
            continue
        end = event["ts"] + event["dur"]
        if event["name"] == BEGIN:
            frames.append(0.0)
        if frames:
            frames[-1] += event.get("tdur", 0) / 1000
    return [spent for spent in frames if spent >= LEAST_MS]
