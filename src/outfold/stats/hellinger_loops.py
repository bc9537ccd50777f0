"""Compiled loops of `hellinger`. Every operation on a number is that of the arrays there, so both give the same trees."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from .compiling import compiled


@compiled
def best_cuts(rows, starts, sizes, codes, weights, value, tested, allowed):
    """The smallest overlap of each node, which of the tried features reaches it, and where; see `hellinger`."""
    n_nodes, n_classes = value.shape
    smallest, feature, last = np.full(n_nodes, np.inf), np.zeros(n_nodes, np.intp), np.zeros(n_nodes, np.intp)
    left = np.zeros(n_classes)
    classes, n_inside = np.zeros(n_classes, np.intp), np.zeros(n_classes)
    n_outside, scale = np.zeros(n_classes), np.zeros(n_classes)
    for node in range(n_nodes):
        n_tested = 0
        total = value[node].sum()
        for c in range(n_classes):
            if tested[node, c]:
                classes[n_tested], n_inside[n_tested], n_outside[n_tested] = c, value[node, c], total - value[node, c]
                scale[n_tested] = math.sqrt(n_inside[n_tested] * n_outside[n_tested])
                n_tested += 1
        if n_tested == 0:
            continue
        for j in range(rows.shape[0]):
            left[:] = 0.0
            n_left = 0.0
            for i in range(starts[node], starts[node] + sizes[node]):
                row = rows[j, i]
                left[codes[row]] += weights[row]
                n_left += weights[row]
                if not allowed[j, i]:
                    continue
                overlap = np.inf
                for t in range(n_tested):
                    inside = left[classes[t]]
                    outside = n_left - inside
                    found = math.sqrt(inside * outside) + math.sqrt((n_inside[t] - inside) * (n_outside[t] - outside))
                    overlap = min(overlap, found / scale[t])
                if overlap < smallest[node]:
                    smallest[node], feature[node], last[node] = overlap, j, i
    return smallest, feature, last
