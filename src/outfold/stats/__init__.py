"""Arrays in, arrays out: the numerical kernels, which know no names of metrics, plans or files."""
