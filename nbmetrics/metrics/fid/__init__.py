"""FID, FID without the bias of few rows (FID∞), and what few rows do to the gap."""
