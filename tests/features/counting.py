"""An extractor that counts what it was given, and a run of it in a process of its own that is killed where wanted.

python -m tests.features.counting images.npy rows.npy [--kill-at IMAGES] [--kill-in-write FILES] [--wait]
"""

import argparse
import os
import signal
import sys

import numpy as np

from nbmetrics.features import Extraction

# Two chunks of the cache and a part.
IMAGES = np.random.default_rng(20261122).integers(0, 256, (600, 6, 6), dtype=np.uint8)


class Counting:
    """Rows (mean, standard deviation, first pixel) of each image; `seen` of them so far."""

    name, convention = "counting", "mean, deviation, first pixel"

    def __init__(self, fingerprint="counting/1", kill_at=None, stop=None):
        self.fingerprint, self.seen, self.kill_at, self.stop = fingerprint, 0, kill_at, stop

    def __call__(self, batch):
        if self.kill_at is not None and self.seen + len(batch) > self.kill_at:
            if self.stop:
                raise self.stop
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += len(batch)
        return direct(batch)


def direct(images):
    """What the rows of images are."""
    return np.array([[i.mean(), i.std(), i.flat[0]] for i in images], np.float32)


def counted(images, cache=True, batch_size=64, **settings):
    """(rows, how many images the extractor was given)."""
    extractor = Counting(**settings)
    return Extraction(extractor, batch_size, cache, progress=False).rows(images), extractor.seen


def chunks(folder):
    """The files of a cache."""
    return sorted(folder.glob("*/*.npy"))


def drafts(folder):
    return sorted(folder.rglob("*.part"))


def kill_in_write(after):
    """This process is killed when so many files were kept, and the next one is written but not renamed."""
    rename, left = os.replace, [after]

    def replace(*names):
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        rename(*names)

    os.replace = replace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("images")
    parser.add_argument("rows")
    parser.add_argument("--kill-at", type=int)
    parser.add_argument("--kill-in-write", type=int)
    parser.add_argument("--wait", action="store_true")
    options = parser.parse_args()
    images = np.load(options.images)
    if options.kill_in_write is not None:
        kill_in_write(options.kill_in_write)
    if options.wait:
        print("ready", flush=True)
        sys.stdin.readline()
    rows, seen = counted(images, kill_at=options.kill_at)
    np.save(options.rows, rows)
    print(seen)


if __name__ == "__main__":
    main()
