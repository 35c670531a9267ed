"""Whether a commit is slower than its parent: `make bench-guard`, or `python -m tests.benchmarks.guard`."""
