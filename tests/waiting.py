"""For what threads do in their own time."""

import time


def until(holds, seconds=60):
    """What `holds()` gives, once that is true."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
