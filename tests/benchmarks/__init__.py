"""Speeds beside the field's own implementations: `python -m tests.benchmarks` prints one table."""
