"""What a client reveals: built from rows or laws, pooled with weights, its size known in bytes."""
