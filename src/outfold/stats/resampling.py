"""Bootstrap draws as counts, the bias correction of a selection (BBC), and the .632 estimates."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .compiling import load_if_worth
from .kernels import Array, Floats, Scores

# Fixed, because a block is also the unit of the random stream: results may not depend on memory or threads.
BLOCK = 256
_LARGE = 1 << 24
_KEPT = 1 << 21
_DRAW_STREAM = 0xD4A3
# Counts are made a few rows at a time, so that they and the indices stay in the cache.
_CACHED = 1 << 16
_BYTE = 255
# Words of the random stream that are drawn from at once, an even number; steps of about 2 ns that NumPy needs for a draw.
_WORDS, _STEPS = 1 << 15, 5


# Counts that kernels which need no more than bytes get at once, and the least number of draws: small blocks of large draws.
_TOGETHER, _LEAST_DRAWS = 1 << 27, 128


def block_size(n: int) -> int:
    """Number of draws in a block: 256, fewer if a block would hold more than 16 million counts."""
    return BLOCK if n * BLOCK <= _LARGE else max(8, _LARGE // n)


@dataclass(frozen=True, eq=False)
class BootstrapDraws:
    """Draws with replacement of n samples, of whole groups, or within strata that keep their size; codes are (N,).

    Each block of draws has its own stream under the seed. `kept` holds blocks of draws of single samples, for others that
    draw as many under the same seed; of large ones, those that somebody holds. Where draws are large, blocks have few of them:
    if `compact`, several come as one array.
    """

    n: int
    seed: int
    groups: NDArray[np.intp] | None = None
    strata: NDArray[np.intp] | None = None
    kept: MutableMapping[tuple[int, ...], NDArray[Any]] | None = None
    compact: bool = False

    def generator(self, block: int) -> np.random.Generator:
        """The random stream of a block."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_DRAW_STREAM, block)))

    def blocks(self, n_resamples: int, first_alone: bool = False) -> Iterator[NDArray[Any]]:
        """The counts of `n_resamples` draws, one or several blocks at a time; the first one alone for who may need no other."""
        return (self.together(parts) for parts in self.parts(n_resamples, first_alone))

    def parts(self, n_resamples: int, first_alone: bool = False) -> list[list[tuple[int, slice]]]:
        """The blocks of `n_resamples` draws, each by its number and its draws, in lists of those that come together."""
        size = block_size(self.n)
        every = list(enumerate(blocks(n_resamples, size)))
        several = max(_TOGETHER // (size * self.n), _LEAST_DRAWS // size, 1) if self.compact and size < BLOCK else 1
        if first_alone and several > 1:
            return [every[:1], *(every[1:][part] for part in blocks(len(every) - 1, several))]
        return [every[part] for part in blocks(len(every), several)]

    def together(self, parts: list[tuple[int, slice]]) -> NDArray[Any]:
        """(b, N) the draws of these blocks."""
        sizes = [(i, part.stop - part.start) for i, part in parts]
        return self._held(sizes[0][0], sum(b for _, b in sizes), lambda: self._joined(sizes))

    def block(self, i: int, b: int) -> NDArray[Any]:
        """(b, N) the first draws of a block."""
        return self._held(i, b, lambda: self.counts(self.generator(i), b))

    def _joined(self, sizes: list[tuple[int, int]]) -> NDArray[Any]:
        """The draws of blocks, given by their numbers and sizes."""
        if len(sizes) == 1:
            return self.counts(self.generator(sizes[0][0]), sizes[0][1])
        out, at = np.empty((sum(b for _, b in sizes), self.n), dtype=np.uint8), 0
        for i, b in sizes:
            room = out[at : at + b]
            counts = self.counts(self.generator(i), b, room)
            if counts is not room:
                if counts.dtype != out.dtype:
                    out = out.astype(counts.dtype)
                out[at : at + b] = counts
            at += b
        return out

    def _held(self, i: int, b: int, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """The b draws from a block on, as they are kept; of large ones only the last ones are."""
        if self.kept is None or self.groups is not None or self.strata is not None:
            return make()
        key = (self.n, self.seed, i, b)
        if key not in self.kept:
            for other in [other for other, counts in self.kept.items() if counts.size > _KEPT]:
                del self.kept[other]
            self.kept[key] = make()
        return self.kept[key]

    def counts(self, rng: np.random.Generator, b: int, out: NDArray[np.uint8] | None = None) -> NDArray[Any]:
        """(b, N) how often every sample was drawn; in `out` where it can be written there at once."""
        if self.groups is None and self.strata is None:
            return _count_draws(rng, b, self.n, out)
        if self.groups is None:
            return self._draw(rng, b, self.n, self.strata)
        n_groups = int(self.groups.max()) + 1
        strata = None
        if self.strata is not None:
            strata = np.empty(n_groups, dtype=np.intp)
            strata[self.groups] = self.strata
        return self._draw(rng, b, n_groups, strata)[:, self.groups]

    @staticmethod
    def _draw(rng: np.random.Generator, b: int, n: int, strata: NDArray[np.intp] | None) -> NDArray[Any]:
        if strata is None:
            return _count_draws(rng, b, n)
        out = np.empty((b, n), dtype=np.int64)
        for stratum in np.unique(strata):
            members = np.flatnonzero(strata == stratum)
            out[:, members] = count_rows(rng.integers(0, len(members), size=(b, len(members))), len(members))
        return compact(out)


def _count_draws(rng: np.random.Generator, b: int, n: int, out: NDArray[np.uint8] | None = None) -> NDArray[Any]:
    """(b, N) counts of n of n samples, drawn b times; in `out` where they can be written there at once."""
    loops = load_if_worth("drawing", _STEPS * b * n) if n > 1 and _has_known_words(rng) else None
    if loops is None and n <= _CACHED:
        return count_rows(rng.integers(0, n, size=(b, n), dtype=np.int32), n)
    before, counts = rng.bit_generator.state, np.empty((b, n), dtype=np.uint8) if out is None else out
    if _count_words(loops, rng, counts) if loops else _count_parts(rng, counts):
        return counts
    rng.bit_generator.state = before
    return np.stack([np.bincount(rng.integers(0, n, size=n, dtype=np.int32), minlength=n) for _ in range(b)])


def _count_parts(rng: np.random.Generator, counts: NDArray[np.uint8]) -> bool:
    """Count draws a part at a time, so that indices stay in the cache; False where a byte ran over."""
    n, one = counts.shape[1], np.uint8(1)
    counts.fill(0)
    for row in counts:
        for part in blocks(n, _CACHED):
            np.add.at(row, rng.integers(0, n, size=part.stop - part.start, dtype=np.int32), one)
    return bool(np.all(counts.sum(axis=1, dtype=np.int64) == n))


def _has_known_words(rng: np.random.Generator) -> bool:
    """Whether the 32-bit words that the generator draws from are the halves of what it gives next, the lower one first."""
    state = rng.bit_generator.state
    plain = type(rng) is np.random.Generator and state["bit_generator"] == "PCG64"
    return plain and sys.byteorder == "little" and not state["has_uint32"]


def _count_words(loops: ModuleType, rng: np.random.Generator, counts: NDArray[np.uint8]) -> bool:
    """Count the draws that `rng.integers` makes, and leave the generator as it does; False where a byte ran over."""
    counts.fill(0)
    drawn, drawing = 0, np.empty(loops.AHEAD, dtype=np.int64)
    while 0 <= drawn < counts.size:
        n_words = min(counts.size - drawn, _WORDS)
        words = rng.bit_generator.random_raw((n_words + 1) // 2).view(np.uint32)
        drawn = loops.count_words(words[:n_words], counts, drawn, drawing)
        if len(words) > n_words and drawn == counts.size:  # half of the last number is left for the next draw
            rng.bit_generator.state = {**rng.bit_generator.state, "has_uint32": 1, "uinteger": int(words[-1])}
        elif len(words) > n_words and drawn >= 0:
            drawn = loops.count_words(words[n_words:], counts, drawn, drawing)
    return drawn == counts.size


def predicted_counts(units: NDArray[np.intp], left: float, n_resamples: int, seed: int) -> Iterator[NDArray[Any]]:
    """Blocks (b, N) of how often samples count in the end: once for what was seen, and as often as they come again.

    `units`, (N,), are what is drawn whole; `left` units are still to come for each that was seen. What comes is drawn from a
    bootstrap sample of the units, since these are themselves a draw.
    """
    n = int(units.max()) + 1
    coming = round(left * n)
    for i, part in enumerate(blocks(n_resamples, block_size(len(units)))):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_DRAW_STREAM, i)))
        population = rng.multinomial(n, np.full(n, 1 / n), size=part.stop - part.start)
        yield compact(1 + rng.multinomial(coming, population / n)[:, units])


def count_rows(indices: NDArray[np.integer], n: int) -> NDArray[Any]:
    """(b, N) counts of every row of drawn indices, as bytes unless a sample was drawn more than 255 times."""
    b, drawn = indices.shape
    counts = np.zeros((b, n), dtype=np.uint8)
    size = max(_CACHED // max(drawn, n, 1), 1)
    offsets = np.arange(0, min(size, b) * n, n or 1, dtype=np.intp)[:, None]
    one = np.uint8(1)
    for part in blocks(b, size):
        rows = indices[part]
        np.add.at(counts[part].reshape(-1), (rows + offsets[: len(rows)]).reshape(-1), one)
    if drawn > _BYTE and counts.sum(dtype=np.int64) < indices.size:  # a byte ran over
        return np.stack([np.bincount(row, minlength=n) for row in indices])
    return counts


def compact(counts: NDArray[np.integer]) -> NDArray[Any]:
    """Counts as bytes, unless one is above 255."""
    return counts.astype(np.uint8 if counts.max(initial=0) <= _BYTE else np.int64)


def blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` rows."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def without_each(codes: NDArray[np.intp], scores: Callable[[NDArray[Any]], Floats]) -> Floats:
    """(U, C) scores without each of the units that `codes`, (N,), give the samples: the jackknife.

    `scores` gives (b, C) scores under (b, N) weights. A code of -1 is that of a sample that is never left out.
    """
    n_units = int(codes.max()) + 1
    left_out = (np.arange(part.start, part.stop) for part in blocks(n_units, block_size(len(codes))))
    return np.concatenate([scores((codes != some[:, None]).astype(np.uint8)) for some in left_out])


# -- bias correction: select on the drawn samples, score on the others (Tsamardinos 2018, Algorithm 5) --

# A draw that cannot be scored is drawn again this often before we give up.
_ATTEMPTS = 100
# Rivals of a draw's winner: those at most this many standard errors of a difference behind it.
_NEAR = 3.0


class Picks(Protocol):
    """Selects a configuration under weightings."""

    def pick(self, scoring: Any, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """(b,) the selected configuration, -1 where none can be."""
        ...


@dataclass(frozen=True, eq=False)
class Corrected:
    """Out-of-bag scores of the configuration selected in every draw, and how many draws could not be scored.

    `also` has the scores of the same configurations in another way, NaN where undefined.
    """

    scores: Floats
    chosen: NDArray[np.intp]
    n_again: int
    also: Floats


def correct(
    scoring: Scores, rule: Picks, bootstrap: BootstrapDraws, n_resamples: int, also: Scores | None = None
) -> Corrected:
    """Draw, select, score; a draw that cannot be scored is drawn again from the stream of its block."""
    scores, others = np.empty((2, n_resamples))
    chosen, n_again = np.empty(n_resamples, dtype=np.intp), 0

    def fill(draws: NDArray[np.intp], counts: NDArray[Any]) -> NDArray[np.intp]:
        """Score these draws; which of them cannot be scored."""
        chosen[draws], scores[draws], others[draws] = _score(scoring, rule, counts, also)
        return draws[np.isnan(scores[draws])]

    for parts in bootstrap.parts(n_resamples):
        counts = bootstrap.together(parts)
        fill(np.arange(parts[0][1].start, parts[-1][1].stop), counts)
        del counts
        for i, part in parts:
            open_draws = part.start + np.flatnonzero(np.isnan(scores[part]))
            rng = None
            for _ in range(_ATTEMPTS - 1):
                n_again += len(open_draws)
                if not len(open_draws):
                    break
                if rng is None:
                    rng = bootstrap.generator(i)
                    bootstrap.counts(rng, part.stop - part.start)  # those above
                open_draws = fill(open_draws, bootstrap.counts(rng, len(open_draws)))
            if len(open_draws):
                return Corrected(np.empty(0), np.empty(0, dtype=np.intp), n_again + len(open_draws), np.empty(0))
    return Corrected(scores, chosen, n_again, others)


def correct_given(scoring: Scores, rule: Picks, counts: NDArray[Any], also: Scores | None = None) -> Corrected:
    """The same for given draws; those that cannot be scored are left out."""
    parts = [_score(scoring, rule, counts[part], also) for part in blocks(len(counts), block_size(counts.shape[1]))]
    chosen, scores, others = (np.concatenate(side) for side in zip(*parts, strict=True))
    defined = ~np.isnan(scores)
    return Corrected(scores[defined], chosen[defined], int(np.sum(~defined)), others[defined])


def _score(
    scoring: Scores, rule: Picks, counts: NDArray[Any], also: Scores | None
) -> tuple[NDArray[np.intp], Floats, Floats]:
    picks, values, others = rule.pick(scoring, counts), [], []
    for part in blocks(len(counts), block_size(counts.shape[1])):  # large draws come many at once
        left_out, chosen = (counts[part] == 0).view(np.uint8), np.maximum(picks[part], 0)
        values.append(scoring.paired(left_out, chosen))
        values[-1][picks[part] < 0] = np.nan
        others.append(values[-1] if also is None or also is scoring else also.paired(left_out, chosen))
    return picks, np.concatenate(values), np.concatenate(others)


def noise_share(scoring: Scores, counts: NDArray[Any], sign: int, known: Floats | None = None) -> float:
    """Share of the differences between rival configurations that is noise, from 0 to 1; NaN where too few draws can be scored.

    Within every draw, out-of-bag scores are regressed on in-bag scores, among the rivals of the draw's winner. The in-bag
    scores alone decide which configurations are rivals, so the slope s is that of the truth on the score. Let t be the
    variance of the truth, and v that of the noise in the scores. In-bag scores have the noise of the sample and that of the
    draw, 2 v together. So s = t / (t + 2 v), and the share v / (t + v) is (1 - s) / (1 + s). `known` are the in-bag scores,
    where they are at hand.
    """
    drawn = sign * (scoring.scores(counts) if known is None else known)
    left_out = sign * scoring.scores((counts == 0).view(np.uint8))
    usable = np.isfinite(drawn).all(axis=1) & np.isfinite(left_out).all(axis=1)
    drawn, left_out = drawn[usable], left_out[usable]
    if len(drawn) < 2 or drawn.shape[1] < 2:
        return np.nan
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    difference = np.sqrt(2 * np.mean(np.var(centred, axis=0)))
    rivals = drawn >= drawn.max(axis=1, keepdims=True) - _NEAR * difference
    x, y = _centred_among(drawn, rivals), _centred_among(left_out, rivals)
    spread = np.sum(x * x)
    slope = np.clip(np.sum(x * y) / spread, 0.0, 1.0) if spread > 0 else 0.0
    return float((1 - slope) / (1 + slope))


def _centred_among(values: Floats, members: NDArray[np.bool_]) -> Floats:
    mean = np.sum(values * members, axis=1, keepdims=True) / np.sum(members, axis=1, keepdims=True)
    return np.asarray((values - mean) * members)


def first_block(bootstrap: BootstrapDraws, n_resamples: int) -> NDArray[Any]:
    """The counts of the first draws, enough to tell noise from differences."""
    return bootstrap.block(0, min(n_resamples, BLOCK, block_size(bootstrap.n)))


# -- .632 and .632+ (Efron 1983; Efron and Tibshirani 1997) ---------------------------------------------

# The share of the samples that a bootstrap round holds, 1 - 1/e, as published.
IN_BAG_SHARE = 0.632


class Plus(NamedTuple):
    """The .632+ estimate and the relative overfitting rate R it is made with."""

    loss: Floats
    overfitting: Floats


def point632(err0: Array, err1: Array) -> Floats:
    """0.368 resubstitution + 0.632 out-of-bag loss."""
    return np.asarray((1 - IN_BAG_SHARE) * err0 + IN_BAG_SHARE * err1, dtype=np.float64)


def overfitting_rate(err0: Array, err1: Array, gamma: Array) -> Floats:
    """R, from 0 (no overfitting) to 1 (out of the bag no better than no information): eq. 31."""
    bounded = np.minimum(err1, gamma)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(bounded > err0, (bounded - err0) / (gamma - err0), 0.0)
    return np.where(np.isnan(err0) | np.isnan(err1), np.nan, rate)


def point632plus(err0: Array, err1: Array, gamma: Array) -> Plus:
    """The .632+ estimate as published, eq. 32; `gamma` is the loss without information."""
    rate = overfitting_rate(err0, err1, gamma)
    correction = (1 - IN_BAG_SHARE) * IN_BAG_SHARE * rate / (1 - (1 - IN_BAG_SHARE) * rate)
    return Plus(np.asarray(point632(err0, err1) + (np.minimum(err1, gamma) - err0) * correction), rate)


def weighted632plus(err0: Array, err1: Array, gamma: Array) -> Floats:
    """The .632+ estimate as a weighted mean, eq. 29; R is that of eq. 31, from 0 to 1.

    It is `point632plus` unless `err1` is above `gamma`. There the weight of `err1` is 1 and stays so.
    """
    weight = IN_BAG_SHARE / (1 - (1 - IN_BAG_SHARE) * overfitting_rate(err0, err1, gamma))
    return np.asarray((1 - weight) * err0 + weight * err1)


# -- the mean loss over all pairs of a label and a prediction ----------------------------------------------


def squared_pairs(y: Array, values: Array) -> Floats:
    """(C,) mean of (y_i - f_j)^2 over all i, j: the two variances and the squared distance of the means."""
    return np.asarray(np.var(y) + np.var(values, axis=1) + (np.mean(values, axis=1) - np.mean(y)) ** 2)


def absolute_pairs(y: Array, values: Array) -> Floats:
    """(C,) mean of |y_i - f_j| over all i, j: sums of the sorted labels below and above every prediction."""
    ordered = np.sort(y - np.mean(y))
    below = np.concatenate([[0.0], np.cumsum(ordered)])
    n, out = len(y), np.empty(len(values))
    for c, row in enumerate(values - np.mean(y)):
        at = np.searchsorted(ordered, row)
        out[c] = np.mean((2 * at - n) * row + below[-1] - 2 * below[at]) / n
    return out
