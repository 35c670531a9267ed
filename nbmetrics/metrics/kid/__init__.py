"""KID: the metric, its kernels, and how their means are computed."""
