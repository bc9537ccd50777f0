"""Compiled rank statistics of many weightings at once: each weighting is a lane of a vector register.

Counts come transposed, (rows, b): the inner loops run over the b lanes of a row and vectorise. The caller
chooses the integer type of the accumulators by passing them in, so that every function compiles for few types.
Plain loops instead of array expressions: they compile several times faster.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from .compiling import compiled

# One where a pool of processes has the other cores, as joblib tells its workers.
MAX_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


@intrinsic
def prefetch(typing, array, row, column):
    """Ask for the cache line of ``array[row, column]``: rows come in the order of scores, which no processor foresees."""

    def generate(context, builder, signature, arguments):
        found = context.make_array(array)(context, builder, arguments[0])
        item = cgutils.get_item_pointer(context, builder, array, found, arguments[1:], wraparound=False)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [builder.bitcast(item, byte), word(0), word(3), word(1)])  # to read, often, data
        return context.get_dummy_value()

    return types.void(array, row, column), generate


@compiled
def auc_walks(order, ranked, codes, walks, ends):
    """Write each configuration's walk through its rows into ``walks`` (C, N + negatives), and where it ends into ``ends``.

    Two running sums make the statistic: ``level``, twice the negatives below, and the sum over positives of
    count times level. A negative row adds 2 to the level; where its tie group holds positives too it adds 1
    before them and 1 after them. So a step of the walk is 4 * row + what it adds to the level, 0 for positive rows.

    ``order`` (C, N) sorts the scores, ``ranked`` are the sorted scores, and ``codes`` (N,) the steps of rows without ties.
    """
    n_rows = order.shape[1]
    for c in range(order.shape[0]):
        at = start = 0
        while start < n_rows:
            stop = start + 1
            n_negative = codes[order[c, start]] & 2
            while stop < n_rows and ranked[c, stop] == ranked[c, start]:
                n_negative += codes[order[c, stop]] & 2
                stop += 1
            mixed = 0 < n_negative < 2 * (stop - start)
            for visit in range(3 if mixed else 1):
                for i in range(start, stop):
                    code = codes[order[c, i]]
                    if mixed and (code & 2 == 0) != (visit == 1):
                        continue
                    walks[c, at] = code - (mixed and visit != 1)
                    at += 1
            start = stop
        ends[c] = at


@compiled
def pack_scores(bits, codes, packed):
    """Write float32 scores, given by their ``bits`` (C, N), into the upper halves of ``packed``, ``codes`` into the lower ones.

    Sorted as whole numbers, they are in the order of the scores: the bits of a negative one are turned round.
    """
    top, every = np.uint32(1 << 31), np.uint32((1 << 32) - 1)
    for c in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            found = bits[c, i]
            key = found ^ (every if found & top else top)
            packed[c, i] = (np.uint64(key) << np.uint64(32)) | np.uint64(codes[i])


@compiled
def auc_walks_packed(packed, walks, ends):
    """Write the walks of ``auc_walks`` from sorted scores and steps as ``pack_scores`` gives them."""
    n_rows = packed.shape[1]
    half, lower = np.uint64(32), np.uint64((1 << 32) - 1)
    for c in range(packed.shape[0]):
        at = start = 0
        while start < n_rows:
            key = packed[c, start] >> half
            stop = start + 1
            if stop == n_rows or packed[c, stop] >> half != key:
                walks[c, at] = packed[c, start] & lower
                at += 1
                start = stop
                continue
            n_negative = packed[c, start] & 2
            while stop < n_rows and packed[c, stop] >> half == key:
                n_negative += packed[c, stop] & 2
                stop += 1
            mixed = 0 < n_negative < 2 * (stop - start)
            for visit in range(3 if mixed else 1):
                for i in range(start, stop):
                    code = np.int32(packed[c, i] & lower)
                    if mixed and (code & 2 == 0) != (visit == 1):
                        continue
                    walks[c, at] = code - (mixed and visit != 1)
                    at += 1
            start = stop
        ends[c] = at


# Steps of a walk that are asked for before they are taken.
_AHEAD = 12


@compiled
def auc_lanes(walks, ends, counts, most, level, part, statistic, out):
    """Twice the Mann-Whitney statistic of every configuration and lane, into ``out`` (C, b).

    ``counts`` (N + 1, b) ends with a row of zeros; four of its numbers add up to one of the same type. ``level``, ``part`` and
    ``statistic`` (b,) are work space: ``part`` holds the sum over no more than ``most`` positive rows, so that its type may be
    a narrow one.
    """
    n_lanes = counts.shape[1]
    empty = counts.shape[0] - 1
    number = counts.dtype.type
    for c in range(out.shape[0]):
        for k in range(n_lanes):
            level[k] = 0
            part[k] = 0
            statistic[k] = 0
        i = ahead = n_positive = 0
        while i < ends[c]:
            while ahead < min(i + _AHEAD, ends[c]):
                for k in range(0, n_lanes, 64):
                    prefetch(counts, walks[c, ahead] >> 2, k)  # type: ignore[call-arg]
                ahead += 1
            # Up to four rows of one kind at once.
            adds = walks[c, i] & 3
            r0 = walks[c, i] >> 2
            r1 = r2 = r3 = empty
            i += 1
            if i < ends[c] and walks[c, i] & 3 == adds:
                r1 = walks[c, i] >> 2
                i += 1
                if i < ends[c] and walks[c, i] & 3 == adds:
                    r2 = walks[c, i] >> 2
                    i += 1
                    if i < ends[c] and walks[c, i] & 3 == adds:
                        r3 = walks[c, i] >> 2
                        i += 1
            if adds:
                for k in range(n_lanes):
                    level[k] += number(counts[r0, k] + counts[r1, k] + counts[r2, k] + counts[r3, k]) * adds
                continue
            n_positive += 4
            if n_positive > most:
                for k in range(n_lanes):
                    statistic[k] += part[k]
                    part[k] = 0
                n_positive = 4
            for k in range(n_lanes):
                part[k] += number(counts[r0, k] + counts[r1, k] + counts[r2, k] + counts[r3, k]) * level[k]
        for k in range(n_lanes):
            out[c, k] = statistic[k] + part[k]


@compiled
def auc_paired(walks, ends, weights, rows, chosen, out):
    """Twice the Mann-Whitney statistic of configuration ``chosen[i]`` under ``weights[rows[i]]``, (b, N)."""
    for i in range(chosen.shape[0]):
        c, row = chosen[i], rows[i]
        level = 0
        statistic = 0
        for s in range(ends[c]):
            adds = walks[c, s] & 3
            count = np.int64(weights[row, walks[c, s] >> 2])
            statistic += count * level * (adds == 0)
            level += count * adds
        out[i] = statistic


@compiled
def auc_paired_bits(walks, ends, bits, rows, chosen, out):
    """The same for weights of 0 and 1, eight of which are a byte of ``bits`` (b, N / 8), the first one in the lowest bit."""
    for i in range(chosen.shape[0]):
        c, row = chosen[i], rows[i]
        level = 0
        statistic = 0
        for s in range(ends[c]):
            adds = walks[c, s] & 3
            at = walks[c, s] >> 2
            count = np.int64(bits[row, at >> 3] >> (at & 7)) & 1
            statistic += count * level * (adds == 0)
            level += count * adds
        out[i] = statistic


@compiled
def precision_lanes(walks, counts, negatives, positives, recalled, statistic, out):
    """Sum over the tie groups of (positives in the group) * precision down to it, into ``out`` (C, b).

    ``walks`` (C, N) are the rows in descending score order, as 4 * row + 2 where the row ends a tie group
    that holds a positive + 1 if the row is positive; the four arrays (b,) are work space.
    """
    n_lanes = counts.shape[1]
    for c in range(walks.shape[0]):
        for k in range(n_lanes):
            negatives[k] = 0
            positives[k] = 0
            recalled[k] = 0
            statistic[k] = 0
        for i in range(walks.shape[1]):
            row = walks[c, i] >> 2
            if walks[c, i] & 1:
                for k in range(n_lanes):
                    positives[k] += counts[row, k]
            else:
                for k in range(n_lanes):
                    negatives[k] += counts[row, k]
            if walks[c, i] & 2:
                for k in range(n_lanes):
                    group = positives[k] - recalled[k]
                    statistic[k] += group * positives[k] / max(positives[k] + negatives[k], 1)
                    recalled[k] = positives[k]
        for k in range(n_lanes):
            out[c, k] = statistic[k]


@compiled
def precision_paired(walks, weights, chosen, out):
    """The sum of ``precision_lanes`` for configuration ``chosen[i]`` under ``weights[i]`` (b, N + 1)."""
    for i in range(weights.shape[0]):
        c = chosen[i]
        seen = positives = recalled = 0
        statistic = 0.0
        for s in range(walks.shape[1]):
            count = weights[i, walks[c, s] >> 2]
            seen += count
            positives += count * (walks[c, s] & 1)
            if walks[c, s] & 2 and positives > recalled:
                statistic += (positives - recalled) * positives / seen
                recalled = positives
        out[i] = statistic


@compiled
def concordance_lanes(ranks, walk, counts, tree, statistic, out):
    """Twice the concordant plus once the risk-tied comparable pairs, into ``out`` (C, b).

    ``walk`` visits the rows in descending time, as 2 * row + 1 to compare a row with those entered so far, or
    2 * row to enter it; ``ranks`` (C, N) are dense ranks of the risk from 1, negative where a risk is not
    unique. The rows entered are counted in ``tree`` (ranks + 1, b), a Fenwick (1994) tree of lanes.
    """
    n_lanes = counts.shape[1]
    size = tree.shape[0]
    for c in range(ranks.shape[0]):
        for node in range(size):
            for k in range(n_lanes):
                tree[node, k] = 0
        for k in range(n_lanes):
            statistic[k] = 0
        for code in walk:
            row = code >> 1
            node = abs(ranks[c, row])
            if code & 1:
                # Below the rank counts twice and at the rank once: prefix sums to rank and to rank - 1, whose
                # paths meet.
                other = node - 1
                if ranks[c, row] > 0:
                    node = other
                while node > 0 or other > 0:
                    if node == other:
                        factor, step = 2, node
                        other &= other - 1
                        node = other
                    elif node > other:
                        factor, step = 1, node
                        node &= node - 1
                    else:
                        factor, step = 1, other
                        other &= other - 1
                    for k in range(n_lanes):
                        statistic[k] += factor * counts[row, k] * tree[step, k]
            else:
                while node < size:
                    for k in range(n_lanes):
                        tree[node, k] += counts[row, k]
                    node += node & -node
        for k in range(n_lanes):
            out[c, k] = statistic[k]


@compiled
def roc_walk(weights, rows, steps, last, totals, grid, out):
    """Highest true positive rate at the rising false positive rates of the grid, into ``out`` (b, q).

    ``rows`` are in descending score order, ``last`` tells the ends of tie groups, ``totals`` (b, 2) are positives and
    negatives drawn; a draw without one of these is left alone. Both are counted in one number, positives in its upper half:
    ``steps`` is 2**32 for a positive row and 1 for a negative one.
    """
    lower = (1 << 32) - 1
    for i in range(weights.shape[0]):
        p, n = totals[i, 0], totals[i, 1]
        if p == 0 or n == 0:
            continue
        seen = before = at = 0
        passed = 1  # the count at which the rate is above grid[at]: few rows reach it, which the processor foresees
        for s in range(rows.shape[0]):
            seen += weights[i, rows[s]] * steps[s]
            if not last[s]:
                continue
            while (seen & lower) >= passed:
                left, right, low = (before & lower) / n, (seen & lower) / n, (before >> 32) / p
                out[i, at] = low + ((seen >> 32) / p - low) * (grid[at] - left) / (right - left)
                at += 1
                passed = n + 1
                if at < grid.shape[0]:
                    passed = int(grid[at] * n)
                    while passed / n <= grid[at]:
                        passed += 1
            before = seen
        while at < grid.shape[0]:
            out[i, at] = 1.0
            at += 1


@compiled
def precision_walk(weights, rows, steps, last, totals, grid, out):
    """Precision at the first threshold that reaches the rising recalls of the grid, into ``out``; see `roc_walk`."""
    lower = (1 << 32) - 1
    for i in range(weights.shape[0]):
        p = totals[i, 0]
        if p == 0:
            continue
        seen = at = 0
        reached = 1  # the count at which the recall is grid[at]
        for s in range(rows.shape[0]):
            seen += weights[i, rows[s]] * steps[s]
            if not last[s]:
                continue
            while (seen >> 32) >= reached:
                hits = seen >> 32
                out[i, at] = hits / (hits + (seen & lower))
                at += 1
                reached = p + 1
                if at < grid.shape[0]:
                    reached = max(int(grid[at] * p) - 1, 1)
                    while reached / p < grid[at]:
                        reached += 1
