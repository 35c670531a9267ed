"""The parts of step 25, one file each; tests/acceptance/25.py runs them."""
