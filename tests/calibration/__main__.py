"""All calibrations, one after another: how often intervals hold, tests reject, orders survive, alarms sound.

python -m tests.calibration [--quick] [--workers N] [name …]      prints their tables

That takes hours; with --quick a few runs of each setting.
"""

import argparse
import importlib
import inspect
import time

# Of each calibration the runs of a setting with --quick, too few for a claim: whether it still runs, and how it looks.
QUICK = {
    "intervals": 2,
    "kid_all": 2,
    "p_values": 4,
    "places": 2,
    "heterogeneity": 4,
    "noise_error": 3,
    "survival": 1,
    "monitor_alarms": 2,
    "monitor_bands": 3,
    "by_client": 4,
    "models": 4,
    "race": 2,
    "modes": 2,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(QUICK)}; all by default")
    parser.add_argument("--quick", action="store_true", help="a few runs of each setting, which prove nothing")
    parser.add_argument("--runs", type=int, help="runs of each setting")
    parser.add_argument("--workers", type=int, default=1, help="processes, where a calibration takes several")
    chosen = parser.parse_args()
    for name in chosen.names or QUICK:
        if name not in QUICK:
            parser.error(f"no calibration {name!r}: choose of {', '.join(QUICK)}")
        module, start = importlib.import_module(f"tests.calibration.{name}"), time.process_time()
        print(f"\n== {name}: {module.__doc__.partition(chr(10))[0]}\n", flush=True)
        takes = inspect.signature(module.main).parameters
        more = {"workers": chosen.workers} if "workers" in takes else {}
        module.main(QUICK[name] if chosen.quick else chosen.runs, **more)
        print(f"\n{time.process_time() - start:.0f} s of the processor", flush=True)


if __name__ == "__main__":
    main()
