"""Compiled drawing with replacement: the counts that NumPy's generator gives, made of the same words of its stream."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .lanes import prefetch

# Draws that are asked for in memory before the first of them is counted.
AHEAD = 256


@compiled
def count_words(words, counts, drawn, drawing):
    """Count what random words of 32 bits draw into ``counts`` (b, N), of which so many draws were made; how many are made then.

    A word gives a whole number below N as in Lemire 2019: the upper half of its product with N, refused where the lower half
    is below 2**32 modulo N. A sample is anywhere in a row that is larger than the cache, so several are asked for at once, in
    the work space ``drawing`` (`AHEAD`,). -1 where a count ran over.
    """
    n = counts.shape[1]
    factor, lower, half = np.uint64(n), np.uint64((1 << 32) - 1), np.uint64(32)
    refused = np.uint64((1 << 32) % n)
    one = counts.dtype.type(1)
    at = 0
    while drawn < counts.size and at < words.size:
        row, left = drawn // n, n - drawn % n
        stop = min(words.size, at + min(left, drawing.size))
        found = 0
        while at < stop:
            product = words[at] * factor
            sample = product >> half
            drawing[found] = sample
            prefetch(counts, row, sample)  # type: ignore[call-arg]
            found += (product & lower) >= refused
            at += 1
        for k in range(found):
            counts[row, drawing[k]] += one
            if counts[row, drawing[k]] == 0:
                return -1
        drawn += found
    return drawn
