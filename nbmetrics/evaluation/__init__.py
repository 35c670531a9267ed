"""From clients and generators to tables: samples, summaries, scores, and how sure they are."""
