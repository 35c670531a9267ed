"""Which generator to ship, and who pays for it: scores of many generators with many clients, under any weights."""
