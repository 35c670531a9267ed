"""Dashboard: which generator to ship, and who pays for it."""
