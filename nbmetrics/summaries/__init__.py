"""What a client reveals: built from rows or distributions, pooled with weights, its size known in bytes."""
