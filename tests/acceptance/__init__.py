"""The acceptance of each step: `python -m tests.acceptance.NN --quick` (≤ 8 minutes on two cores) or `--full`."""
