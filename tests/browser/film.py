"""A lab filmed from its first paint on: where its parts stand in every frame, and how much of its top is seen.

film(page)                  before the cell runs
...
jumps(page), seen(page)     what moved by more than MAX_JUMP_PX, and the least of the lab's top that a frame showed
"""

MAX_JUMP_PX = 8
TOP_PX = 300
# What is posted so in an animation frame is done once that frame is painted, before anything else.
FILM = (
    """() => {
  const film = window.__film = { seen: Infinity, jumps: [], frames: 0 };
  let before = new Map();
  const isPart = node => node.getClientRects().length && !node.ownerSVGElement
    && (node.localName === 'svg' || getComputedStyle(node).display !== 'inline');
  const paneOf = node => {
    while ((node = node.parentElement) && !/auto|scroll/.test(getComputedStyle(node).overflowY));
    return (node ?? document.documentElement).getBoundingClientRect(); };
  const look = () => {
    const lab = document.querySelector('.nbm');
    if (!lab) return;
    film.frames += 1;
    const now = new Map();
    for (const node of [lab, ...lab.querySelectorAll('*')].filter(isPart)) {
      const { left, top } = node.getBoundingClientRect(), [x, y] = before.get(node) ?? [left, top];
      const way = Math.round(Math.max(Math.abs(left - x), Math.abs(top - y)));
      if (way > MAX) film.jumps.push(`${way} px: ${node.localName} ${node.getAttribute('class')}: ` +
        node.textContent.trim().slice(0, 40));
      now.set(node, [left, top]);
    }
    before = now;
    const view = paneOf(lab), { top, bottom } = lab.getBoundingClientRect();
    const seen = Math.min(view.bottom, innerHeight, top + TOP) - Math.max(view.top, 0, top);
    film.seen = Math.min(film.seen, Math.round(Math.max(0, seen) + Math.max(0, TOP - (bottom - top)))); };
  const frame = () => {
    if (window.__film !== film) return;
    scheduler.postTask(look, { priority: 'user-blocking' });
    requestAnimationFrame(frame); };
  frame(); }""".replace("MAX", str(MAX_JUMP_PX))
    .replace("TOP)", f"{TOP_PX})")
    .replace("TOP -", f"{TOP_PX} -")
)
# Until nothing of the lab has moved or grown for so many frames.
STILL = """async () => {
  let [before, still] = ['', 0];
  while (still < 30) {
    await new Promise(requestAnimationFrame);
    const lab = document.querySelector('.nbm');
    const boxes = lab ? JSON.stringify([lab, ...lab.querySelectorAll('*')].map(n => n.getBoundingClientRect())) : '';
    still = boxes && boxes === before ? still + 1 : 0;
    before = boxes;
  } }"""


def film(page):
    """Begin, in a page that has no lab yet."""
    page.evaluate(FILM)


def jumps(page):
    """What has moved from one frame to the next by more than MAX_JUMP_PX, once all stands still; at most ten."""
    page.evaluate(STILL)
    assert page.evaluate("() => window.__film.frames") > 30
    return page.evaluate("() => window.__film.jumps.slice(0, 10)")


def seen(page):
    """How many of the lab's first TOP_PX were seen in the frame that showed the fewest, once all stands still."""
    page.evaluate(STILL)
    return page.evaluate("() => window.__film.seen")
