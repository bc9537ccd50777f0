"""How often tests of one test set say that a difference is below, or above, a margin that it equals: their type I error.

`compare.auto` takes `t_skewed` there. Beside it: the sign flips of `permutation`, which assume symmetric differences; the t test
with the same standard error and degrees of freedom, without its correction; and `mcnemar` for right or wrong answers without
groups. The null is the true mean difference, so every rejection is an error. The differences are those of a loss: above 0, the
first model is worse. A positive skewness means that it is far worse on a few samples, or groups.

Usage: python studies/margins_one_set.py [N_SETS]      writes results/margins_one_set.json
       python studies/margins_one_set.py check         compares with the public functions
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

import outfold as of
from outfold.stats import paired, skewed

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "margins_one_set.json"
N_SETS, AT_ONCE = 10_000, 2_500
ALPHA = 0.05
SAMPLES, GROUPS = (20, 30, 60, 100, 400), (5, 10, 20, 50)
N_FLIPS = 999
# The difference from the null, in standard errors of the mean, at which power is measured.
AWAY = 2.5
LARGE = 3.0  # how many times a rare error is larger
SIDES = ("below", "above", "either")


class Sets(NamedTuple):
    """Data sets: (B, U) sums of differences and numbers of samples of the units, and the true mean difference."""

    sums: Floats
    sizes: Floats
    mean: float


# -- differences of samples; the second value is their mean ------------------------------------------------------


def large_errors(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Squared errors of two models, of which one in ten of the first's errors is three times as large."""
    first = rng.normal(size=shape)
    second = 0.8 * first + 0.6 * rng.normal(size=shape)
    times = np.where(rng.random(shape) < 0.1, LARGE, 1.0)
    return (times * first) ** 2 - second**2


def repeated(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Shares of five answers to an item that are wrong, a tenth of those of the second model; the first adds a twentieth."""
    hard = rng.beta(0.2, 1.8, shape)
    return (rng.binomial(5, hard + 0.05 * (1 - hard)) - rng.binomial(5, hard)) / 5


def answers(worse: float, better: float) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    """Right or wrong: the shares of samples that only the second, or only the first, has right."""

    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        u = rng.random(shape)
        return np.where(u < worse, 1.0, np.where(u < worse + better, -1.0, 0.0))

    return drawn


KINDS: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Floats], float]] = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "shares of five answers": (repeated, 0.05 * 0.9),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0),
    "lognormal": (lambda rng, shape: np.exp(rng.normal(size=shape)), float(np.exp(0.5))),
    "squared errors, some large": (large_errors, 0.1 * LARGE**2 + 0.9 - 1),
}
ZERO_ONE = {
    "10% worse, 5% better": (answers(0.1, 0.05), 0.05),
    "10% worse": (answers(0.1, 0.0), 0.1),
    "5% worse, 2% better": (answers(0.05, 0.02), 0.03),
    "5% worse": (answers(0.05, 0.0), 0.05),
}

# -- groups ------------------------------------------------------------------------------------------------------

SIZES: dict[str, Callable[[np.random.Generator, tuple[int, int]], NDArray[np.int64]]] = {
    "5 each": lambda _, shape: np.full(shape, 5),
    "random": lambda rng, shape: 1 + rng.geometric(0.25, shape),
    "unequal": lambda _, shape: np.broadcast_to(harmonic(shape[1]), shape),
    "one is half": lambda _, shape: np.broadcast_to(half(shape[1]), shape),
}


def harmonic(n_groups: int) -> NDArray[np.int64]:
    """Sizes that fall as 1, 1/2, 1/3, ..., six on average."""
    falling = 1 / np.arange(1, n_groups + 1)
    return np.maximum(1, np.round(6 * n_groups * falling / falling.sum())).astype(np.int64)


def half(n_groups: int) -> NDArray[np.int64]:
    """Four samples in each group, but as many as in all others in the first."""
    return np.where(np.arange(n_groups) == 0, 4 * (n_groups - 1), 4)


def alike(base: str, share: float) -> Callable[[np.random.Generator, NDArray[np.int64]], Floats]:
    """Sums of groups with an effect of their own, which has this share of the variance; the rest is normal noise."""
    sd = {"normal": 1.0, "exponential": 1.0, "lognormal": float(np.sqrt((np.e - 1) * np.e))}[base]

    def drawn(rng: np.random.Generator, sizes: NDArray[np.int64]) -> Floats:
        noise = sd * np.sqrt((1 - share) / share * sizes) * rng.normal(size=sizes.shape)
        return KINDS[base][0](rng, sizes.shape) * sizes + noise

    return drawn


def rates_of_groups(worse: float, better: float) -> Callable[[np.random.Generator, NDArray[np.int64]], Floats]:
    """Right or wrong: each group has shares of its own, from beta distributions with parameters that sum to 4."""

    def drawn(rng: np.random.Generator, sizes: NDArray[np.int64]) -> Floats:
        p = rng.beta(4 * worse, 4 * (1 - worse), sizes.shape)
        left = better / (1 - worse)  # of the samples on which the first is not worse
        q = rng.beta(4 * left, 4 * (1 - left), sizes.shape) if better else np.zeros(sizes.shape)
        first = rng.binomial(sizes, p)
        return np.asarray(first - rng.binomial(sizes - first, q), dtype=np.float64)

    return drawn


EFFECTS: dict[str, tuple[Callable[[np.random.Generator, NDArray[np.int64]], Floats], float]] = {
    "normal": (alike("normal", 0.3), 0.0),
    "exponential": (alike("exponential", 0.6), 1.0),
    "lognormal": (alike("lognormal", 0.9), float(np.exp(0.5))),
    "10% worse, 5% better": (rates_of_groups(0.1, 0.05), 0.05),
    "10% worse": (rates_of_groups(0.1, 0.0), 0.1),
}


def of_samples(kind: str, n: int, n_sets: int, seed: int) -> Sets:
    rng = np.random.default_rng([n, seed, *map(ord, kind)])
    drawn, mean = (KINDS | ZERO_ONE)[kind]
    return Sets(drawn(rng, (n_sets, n)), np.ones((1, n)), mean)


def of_groups(effect: str, kind: str, n_groups: int, n_sets: int, seed: int) -> Sets:
    rng = np.random.default_rng([n_groups, seed, *map(ord, effect + kind)])
    sizes = SIZES[kind](rng, (n_sets, n_groups))
    drawn, mean = EFFECTS[effect]
    return Sets(drawn(rng, sizes), sizes.astype(np.float64), mean)


# -- tests: (B, 2) p values of "not below the null" and "not above it" -------------------------------------------


def t_skewed(sets: Sets, null: float) -> Floats:
    total = sets.sizes.sum(axis=1, keepdims=True)
    found = skewed.jackknife(sets.sums / total, sets.sizes / total)
    statistic = skewed.careful_test(found, 0.95, np.full(len(sets.sums), 1e-12), null).statistic
    return _tails(statistic, found.df)


def plain_t(sets: Sets, null: float) -> Floats:
    total = sets.sizes.sum(axis=1, keepdims=True)
    found = skewed.jackknife(sets.sums / total, sets.sizes / total)
    return _tails((found.mean - null) / np.where(found.error > 1e-12, found.error, np.nan), found.df)


def _tails(statistic: Floats, df: Floats) -> Floats:
    return np.stack([stdtr(df, statistic), stdtr(df, -statistic)], axis=1)


def flips(sets: Sets, null: float) -> Floats:
    """The same sets of flips for all data sets; no p value where all differ by the same, as in `permutation`."""
    moved = sets.sums - null * sets.sizes
    signs = np.random.default_rng(1).integers(0, 2, (N_FLIPS, moved.shape[1])) * 2.0 - 1
    observed, drawn = moved.sum(axis=1, keepdims=True), moved @ signs.T
    near = 1e-9 * np.abs(moved).sum(axis=1, keepdims=True)
    found = [np.sum(drawn <= observed + near, axis=1), np.sum(drawn >= observed - near, axis=1)]
    own = sets.sums / sets.sizes
    flat = np.ptp(own, axis=1) <= 1e-12
    return np.where(flat[:, None], np.nan, (1 + np.stack(found, axis=1)) / (1 + N_FLIPS))


def mcnemar(sets: Sets, null: float) -> Floats:
    b, c = (np.sum(sets.sums == value, axis=1) for value in (1, -1))
    tails = paired.shifted_mcnemar(b, c, sets.sums.shape[1], null, "plain")[0]
    return np.stack([tails.less, tails.greater], axis=1)


Test = Callable[[Sets, float], Floats]
MEANS: dict[str, Test] = {"t_skewed": t_skewed, "permutation": flips, "t": plain_t}


def rejected(p: Floats) -> dict[str, int]:
    """How many data sets reject, one-sided on each side and two-sided."""
    shares = (p[:, 0] <= ALPHA, p[:, 1] <= ALPHA, 2 * p.min(axis=1) <= ALPHA)
    return {side: int(np.sum(found)) for side, found in zip(SIDES, shares, strict=True)}


def measured(n_sets: int) -> Iterator[dict[str, Any]]:
    designs: list[tuple[dict[str, Any], Callable[[int, int], Sets], dict[str, Test]]] = []
    for kind, n in product(KINDS | ZERO_ONE, SAMPLES):
        tests = MEANS | ({"mcnemar": mcnemar} if kind in ZERO_ONE else {})
        about = {"differences": kind, "sizes": "samples", "units": n}
        designs.append((about, lambda b, seed, k=kind, n=n: of_samples(k, n, b, seed), tests))
    for effect, kind, n in product(EFFECTS, SIZES, GROUPS):
        about = {"differences": effect, "sizes": kind, "units": n}
        designs.append((about, lambda b, seed, e=effect, k=kind, n=n: of_groups(e, k, n, b, seed), MEANS))
    for about, make, tests in designs:
        counts = {test: dict.fromkeys((*SIDES, "power"), 0) for test in tests}
        for seed in range(n_sets // AT_ONCE):
            sets = make(AT_ONCE, seed)
            means = sets.sums.sum(axis=1) / sets.sizes.sum(axis=1)
            further = sets.mean + AWAY * float(means.std())
            for test, pvalues in tests.items():
                for side, count in rejected(pvalues(sets, sets.mean)).items():
                    counts[test][side] += count
                counts[test]["power"] += int(np.sum(pvalues(sets, further)[:, 0] <= ALPHA))
        rates = {test: {name: count / n_sets for name, count in found.items()} for test, found in counts.items()}
        yield about | {"rates": rates}
        print(*about.values(), {test: list(found.values()) for test, found in rates.items()}, flush=True)


# -- the page ----------------------------------------------------------------------------------------------------


def worst(row: dict[str, Any], test: str) -> float:
    """The larger one of the two one-sided errors."""
    return float(max(row["rates"][test][side] for side in SIDES[:2]))


def cell(row: dict[str, Any]) -> str:
    """The larger one-sided error of `t_skewed`, and that of `permutation` in brackets."""
    return f"{worst(row, 't_skewed'):.3f} ({worst(row, 'permutation'):.3f})"


def of_table(study: dict[str, Any], grouped: bool) -> list[dict[str, Any]]:
    """The rows of groups, or those of samples; right or wrong answers without groups have another test."""
    return [r for r in study["rows"] if (r["sizes"] != "samples") == grouped and "mcnemar" not in r["rates"]]


def sample_rows(study: dict[str, Any]) -> list[str]:
    """The rows of the table of samples."""
    rows = of_table(study, grouped=False)
    kinds = dict.fromkeys(row["differences"] for row in rows)
    return [f"| {kind} | {' | '.join(cell(r) for r in rows if r['differences'] == kind)} |" for kind in kinds]


def group_rows(study: dict[str, Any]) -> list[str]:
    """The rows of the table of groups."""
    rows = of_table(study, grouped=True)
    kinds = dict.fromkeys((row["differences"], row["sizes"]) for row in rows)
    cells = {kind: [cell(r) for r in rows if (r["differences"], r["sizes"]) == kind] for kind in kinds}
    return [f"| {' | '.join((*kind, *found))} |" for kind, found in cells.items()]


def mcnemar_rows(study: dict[str, Any]) -> list[str]:
    """The rows of the table of right or wrong answers without groups."""
    rows = [row for row in study["rows"] if "mcnemar" in row["rates"]]
    found = {kind: [f"{worst(r, 'mcnemar'):.3f}" for r in rows if r["differences"] == kind] for kind in ZERO_ONE}
    return [f"| {kind} | {' | '.join(cells)} |" for kind, cells in found.items()]


def errors(study: dict[str, Any], test: str) -> tuple[float, float]:
    """The mean and the largest error of a test of means, one-sided in the direction that errs more."""
    found = [worst(row, test) for grouped in (False, True) for row in of_table(study, grouped)]
    return float(np.mean(found)), max(found)


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the tables."""
    samples, groups = of_table(study, grouped=False), of_table(study, grouped=True)
    rows, n = samples + groups, study["data_sets"]
    yield f"{n:,} data sets each"
    yield f"standard error of a cell at 0.05 is {np.sqrt(0.05 * 0.95 / n):.3f}"
    for test in MEANS:
        mean, most = errors(study, test)
        yield f"`{test}` errs in {mean:.1%} of the data sets on average, and in up to {most:.0%}"
    more = max(rows, key=lambda row: worst(row, "t_skewed") - worst(row, "permutation"))
    over = worst(more, "t_skewed") - worst(more, "permutation")
    yield f"`t_skewed` errs more often than `permutation` for some differences, by up to {over:.3f}"
    symmetric = [row for row in rows if row["differences"] == "normal"]
    yield f"in at most {max(worst(row, 't_skewed') for row in symmetric):.1%} where differences are normal"
    yield f"with groups in up to {max(worst(row, 't_skewed') for row in groups):.0%}"
    many = [row for row in groups if row["units"] >= 20]
    yield f"from 20 groups on in up to {max(worst(row, 't_skewed') for row in many):.0%}"
    two_sided = [row["rates"]["t_skewed"]["either"] for row in rows]
    yield f"two-sided test errs in {np.mean(two_sided):.1%} on average and in up to {max(two_sided):.0%}"
    of_answers = [worst(row, "mcnemar") for row in study["rows"] if "mcnemar" in row["rates"]]
    yield f"`mcnemar` errs in up to {max(of_answers):.1%}"
    for kind, which in (("normal", symmetric), ("exponential", [r for r in rows if r["differences"] == "exponential"])):
        alike = [row["rates"] for row in which if row["sizes"] in ("samples", "5 each")]
        power = [np.mean([rates[test]["power"] for rates in alike]) for test in ("t_skewed", "permutation")]
        yield f"{power[0]:.2f} against {power[1]:.2f} for {kind} differences"


def check(n_sets: int = 3) -> None:
    """Compare with the public functions, on a few data sets."""
    made = [(of_samples(kind, 30, n_sets, 0), False) for kind in KINDS | ZERO_ONE]
    made += [(of_groups(effect, kind, 10, n_sets, 0), True) for effect, kind in product(EFFECTS, SIZES)]
    for sets, grouped in made:
        right_or_wrong = not grouped and np.isin(sets.sums, (-1, 0, 1)).all()
        tests = {"t_skewed": t_skewed} | ({"mcnemar": mcnemar} if right_or_wrong else {})
        for i in range(n_sets):
            sizes = np.broadcast_to(sets.sizes, sets.sums.shape)[i].astype(int)
            groups = np.repeat(np.arange(len(sizes)), sizes)
            losses = np.repeat(sets.sums[i] / sizes, sizes)
            both = np.stack([np.maximum(losses, 0.0), np.maximum(-losses, 0.0)], axis=1)
            oof = of.from_arrays(None, both, groups=groups if grouped else None, response="pointwise")
            for test, kernel in tests.items():
                for side, alternative in enumerate(("less", "greater")):
                    found = getattr(of.compare, test)(oof, "mean", 0, 1, null=sets.mean, alternative=alternative)
                    own = kernel(sets, sets.mean)[i, side]
                    assert np.isclose(np.nan if found.pvalue is None else found.pvalue, own, atol=1e-9, equal_nan=True)
    print("the public functions give the same p values")


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else N_SETS
        study = {"data_sets": n_sets, "alpha": ALPHA, "rows": list(measured(n_sets))}
        RESULTS.write_text(json.dumps(study, indent=1) + "\n")
        print(*sample_rows(study), *group_rows(study), *mcnemar_rows(study), *words(study), sep="\n")
