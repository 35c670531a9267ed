"""Monitor: which scores tell the truth while a generator trains, and which checkpoint each aggregate would keep."""
