"""Every public question of the snapshot, and how its answer is written down.

Three parts: what a result class says (`READ`), the questions to predictions (`QUESTIONS` and what follows), and those
that need none (`PLAIN`). A change of a public signature or of an attribute is adapted here, in one place; the names that
answers are stored under stay as they are.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import outfold as of
from outfold.exceptions import OutfoldError

LEVELS = (0.8, 0.95, 0.99)
# Arrays up to this size are stored whole; of larger ones a hash and a few sums.
WHOLE = 12


# -- what a result says -------------------------------------------------------------------------------------


def codes(result: Any) -> list[str]:
    return [note.code for note in result.notes]


def numbers(details: Mapping[str, Any]) -> dict[str, Any]:
    """What is a number, or several, in the details of a result."""
    kept = {}
    for key, value in details.items():
        try:
            array = np.asarray(value)
        except ValueError:
            continue
        if array.dtype.kind in "biuf":
            kept[str(key)] = array
    return kept


def read_estimate(r: of.results.Estimate) -> dict[str, Any]:
    def at(level: float, method: str = "auto") -> Any:
        return asked(lambda: r.confidence_interval(level, method=method))

    out = {
        "value": r.value,
        "interval": r.interval,
        "naive": r.naive,
        "optimism": r.optimism,
        "selected": r.selected,
        "interval method": r.interval_method,
        "samples": r.n_samples,
        "configurations": r.n_configs,
        "fingerprint": r.fingerprint,
        "draws": r.draws,
        "chosen": None if r.chosen is None else [str(name) for name in r.chosen],
        "notes": codes(r),
        "details": numbers(r.details),
    }
    out |= {f"interval at {level}": at(level) for level in LEVELS}
    return out | {f"interval by {method}": at(0.9, method) for method in INTERVALS}


INTERVALS = (
    "percentile",
    "order",
    "bbc_f",
    "wilson",
    "t",
    "corrected_t",
    "delong",
    "bca",
    "cluster_robust",
    "nested_cv_bates",
)


def read_comparison(r: of.results.Comparison) -> dict[str, Any]:
    return {
        "pair": [r.a, r.b],
        "difference": r.difference,
        "scores": r.scores,
        "tested": r.tested,
        "interval": r.interval,
        "statistic": r.statistic,
        "df": r.df,
        "p": r.pvalue,
        "adjusted p": r.adjusted,
        "standardised": r.standardised,
        "wins": None if r.wins is None else (r.wins.better, r.wins.equal, r.wins.worse),
        "odds ratio": r.odds_ratio,
        "probabilities": None if r.probabilities is None else tuple(r.probabilities),
        "significant": r.significant,
        "better": r.better,
        "test": r.method,
        "notes": codes(r),
        "details": numbers(r.details),
    }


def read_comparisons(r: of.results.Comparisons) -> dict[str, Any]:
    return {
        "test": [pair.method for pair in r][:1],
        "pairs": [f"{pair.a} - {pair.b}" for pair in r],
        "differences": np.array([pair.difference for pair in r]),
        "low": np.array([math.nan if pair.interval is None else pair.interval.low for pair in r]),
        "high": np.array([math.nan if pair.interval is None else pair.interval.high for pair in r]),
        "p": np.array([math.nan if pair.pvalue is None else pair.pvalue for pair in r]),
        "adjusted p": np.array([math.nan if pair.adjusted is None else pair.adjusted for pair in r]),
        "omnibus": r.omnibus,
        "control": r.control,
        "notes": codes(r),
    }


def read_omnibus(r: of.results.Omnibus) -> dict[str, Any]:
    return {
        "configurations": list(r.configs),
        "scores": r.scores,
        "statistic": r.statistic,
        "df": r.df,
        "p": r.pvalue,
        "significant": r.significant,
        "notes": codes(r),
        "details": numbers(r.details),
    }


def read_sequential(r: of.results.SequentialComparison) -> dict[str, Any]:
    return {
        "difference": r.difference,
        "interval": r.interval,
        "e": r.evalue,
        "p": r.pvalue,
        "e values": r.evalues,
        "p values": r.pvalues,
        "stop": r.stop,
        "better": r.better,
        "notes": codes(r),
    }


def read_power(r: of.results.Power) -> dict[str, Any]:
    return {
        "difference": np.asarray(r.difference),
        "power": np.asarray(r.power),
        "standard error": np.asarray(r.standard_error),
        "samples": r.n,
        "reach": r.reach,
        "notes": codes(r),
    }


def read_ranking(r: of.results.Ranking) -> dict[str, Any]:
    return {
        "mean ranks": r.mean_ranks,
        "mean scores": r.mean_scores,
        "omnibus": (r.omnibus.statistic, tuple(r.omnibus.df), r.omnibus.pvalue),
        "pairs": [f"{pair.a} - {pair.b}: {pair.different}" for pair in r.pairs],
        "differences": np.array([pair.difference for pair in r.pairs]),
        "z": np.array([pair.z for pair in r.pairs]),
        "p": np.array([pair.pvalue for pair in r.pairs]),
        "adjusted p": np.array([pair.adjusted for pair in r.pairs]),
        "critical difference": r.cd,
        "groups": [" = ".join(group) for group in r.groups],
        "notes": codes(r),
    }


def read_curve(r: of.results.LearningCurve | of.results.ValidationCurve) -> dict[str, Any]:
    return {
        f"{side} {name}": getattr(getattr(r, side), name)
        for side in ("train", "test")
        for name in ("mean", "low", "high")
    }


READ: dict[type, Callable[[Any], dict[str, Any]]] = {
    of.results.Estimate: read_estimate,
    of.results.Comparison: read_comparison,
    of.results.Comparisons: read_comparisons,
    of.results.Omnibus: read_omnibus,
    of.results.SequentialComparison: read_sequential,
    of.results.Power: read_power,
    of.results.Ranking: read_ranking,
    of.results.Interval: lambda r: {"low": r.low, "high": r.high},
    of.results.Selection: lambda r: {
        "name": r.name,
        "index": r.index,
        "score": r.score,
        "tied": r.tied,
        "of": r.n_candidates,
    },
    of.results.Leaderboard: lambda r: {
        "configurations": list(r.configs),
        "scores": r.scores,
        "standard errors": r.se,
        "left out": sorted(r.left_out),
    },
    of.results.TiedSet: lambda r: {
        "configurations": list(r.configs),
        "scores": r.scores,
        "p": r.pvalues,
        "of": r.n_candidates,
    },
    of.results.Stability: lambda r: {
        "scores": r.scores,
        "mean": r.mean,
        "median": r.median,
        "sd": r.sd,
        "skew": r.skew,
        "rank": r.rank,
        "leaders": [str(name) for name in np.ravel(r.leaders)],
    },
    of.results.PlanComparison: lambda r: {
        "plans": list(r.plans),
        "steady": r.steady,
        "sd": r.sd,
        "low": r.low,
        "high": r.high,
        "agreement": r.agreement,
    },
    of.results.LearningCurve: lambda r: read_curve(r) | {"sizes": r.n_train},
    of.results.ValidationCurve: lambda r: read_curve(r) | {"best": r.best, "simplest": r.one_standard_error},
    of.results.Optimism: lambda r: {"value": r.value, "se": r.se, "own": r.naive, "truth": r.truth},
    of.results.Simulation: lambda r: {"truth": r.truth, "values": r.oof.data, "folds": r.oof.folds},
    of.results.Advice: lambda r: {
        "plan": str(r.plan),
        "drop": r.drop is not None,
        "method": r.method,
        "test": r.test,
        "fits": r.fits,
        "optimism": r.expected_optimism,
        "seconds": r.expected_seconds,
    },
    of.results.Checks: lambda r: {
        "codes": [finding.code for finding in r],
        "severities": [finding.severity for finding in r],
    },
    of.drop.Drop: lambda r: {"dropped": r.config, "probability": r.probability, "best": r.compared_with},
}


# -- how answers are written down -----------------------------------------------------------------------------


def written(answer: Any) -> Any:
    """An answer as json: floats by `float.hex`, large arrays by hash and sums."""
    for kind, read in READ.items():
        if isinstance(answer, kind):
            return written(read(answer))
    if answer is None or isinstance(answer, (bool, np.bool_)):
        return None if answer is None else bool(answer)
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        return int(answer)
    if isinstance(answer, (float, np.floating)):
        return float(answer).hex()
    if isinstance(answer, str):
        return str(answer)
    if isinstance(answer, Mapping):
        return {str(key): written(value) for key, value in answer.items() if value is not None}
    if isinstance(answer, np.ndarray):
        return _array(answer)
    if isinstance(answer, Sequence):
        items = list(answer)
        if len(items) > WHOLE and all(isinstance(item, str) for item in items):
            return {"strings": len(items), "sha256": hashlib.sha256("\n".join(items).encode()).hexdigest()}
        return [written(item) for item in items]
    raise TypeError(f"no way to write down {type(answer)}: add it to READ")


def _array(array: np.ndarray) -> Any:
    if array.ndim == 0:
        return written(array[()])
    if array.size <= WHOLE:
        return [written(item) for item in array.ravel()]
    # Integers as 64 bits: their size is no number that is asked for.
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    flat = np.ascontiguousarray(array, dtype=kind)
    defined = flat[np.isfinite(flat)] if kind is np.float64 else flat
    # NaN has many bit patterns, minus zero is zero.
    stored = np.where(np.isnan(flat), np.nan, flat + 0.0) if kind is np.float64 else flat
    return {
        "shape": list(array.shape),
        "defined": int(defined.size),
        "sum": math.fsum(defined.ravel().tolist()).hex(),
        "moment": math.fsum((defined.ravel() * np.arange(1, defined.size + 1)).tolist()).hex(),
        "least": float(defined.min()).hex() if defined.size else None,
        "most": float(defined.max()).hex() if defined.size else None,
        "sha256": hashlib.sha256(stored.tobytes()).hexdigest(),
    }


def asked(question: Callable[[], Any]) -> Any:
    """The answer as json, or the name of the refusal's class. Other exceptions are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return written(question())
        except OutfoldError as refusal:
            return {"refused": type(refusal).__name__}


# -- questions to predictions ---------------------------------------------------------------------------------
# oof: predictions; m: a metric; a, b: two configurations.


def _length(name: str, params: Any) -> float:
    return float(len(name))


def second(oof: of.Predictions) -> str:
    """The second configuration, or the only one."""
    return oof.configs[min(1, oof.n_configs - 1)]


ESTIMATES: dict[str, Callable[[of.Predictions, str], Any]] = {
    "bbc": lambda oof, m: of.estimate.bbc(oof, m, n_resamples=300),
    "bbc, stratified": lambda oof, m: of.estimate.bbc(oof, m, n_resamples=100, stratify=True, rng=5),
    "bbc, balanced": lambda oof, m: of.estimate.bbc(oof, m, n_resamples=100, correction="balanced"),
    "bbc, one standard error": lambda oof, m: of.estimate.bbc(
        oof, m, rule=of.select.one_standard_error(_length), n_resamples=100
    ),
    "bbc, within": lambda oof, m: of.estimate.bbc(oof, m, rule=of.select.within(5, _length), n_resamples=100),
    "nested": lambda oof, m: of.estimate.nested(oof, m, n_resamples=200),
    "tt": lambda oof, m: of.estimate.tt(oof, m),
    "cvm_cv": lambda oof, m: of.estimate.cvm_cv(oof, m),
    "cvt": lambda oof, m: of.estimate.cvt(oof, m),
    "cvt, pooled": lambda oof, m: of.estimate.cvt(oof, m, aggregate="pooled"),
    "cv": lambda oof, m: of.estimate.cv(oof, m, second(oof), n_resamples=200),
    "cv, pooled": lambda oof, m: of.estimate.cv(oof, m, second(oof), aggregate="pooled", n_resamples=200),
    "cv of one": lambda oof, m: of.estimate.cv(oof.sel(config=[0]), m, n_resamples=200),
    "holdout": lambda oof, m: of.estimate.holdout(oof, m, n_resamples=200),
    "holdout of one": lambda oof, m: of.estimate.holdout(oof, m, second(oof), n_resamples=200),
    "repeated_holdout": lambda oof, m: of.estimate.repeated_holdout(oof, m, n_resamples=200),
    "repeated_holdout of one": lambda oof, m: of.estimate.repeated_holdout(oof, m, second(oof), n_resamples=200),
    "loo": lambda oof, m: of.estimate.loo(oof, m, n_resamples=200),
    "loo of one": lambda oof, m: of.estimate.loo(oof, m, second(oof), n_resamples=200),
    "three_way": lambda oof, m: of.estimate.three_way(oof, m, n_resamples=200),
    "oob": lambda oof, m: of.estimate.oob(oof, m, n_resamples=200),
    "oob of one, percentile": lambda oof, m: of.estimate.oob(oof, m, second(oof), interval="percentile"),
    "point632": lambda oof, m: of.estimate.point632(oof, m, n_resamples=200),
    "point632 of one": lambda oof, m: of.estimate.point632(oof, m, second(oof)),
    "point632 of one, by round": lambda oof, m: of.estimate.point632(oof, m, second(oof), per_round=True),
    "point632plus": lambda oof, m: of.estimate.point632plus(oof, m, n_resamples=200),
    "point632plus of one": lambda oof, m: of.estimate.point632plus(oof, m, second(oof)),
    "point632plus of one, by round": lambda oof, m: of.estimate.point632plus(oof, m, second(oof), per_round=True),
    "optimism": lambda oof, m: of.estimate.optimism(oof, m, n_resamples=200),
    "optimism of one": lambda oof, m: of.estimate.optimism(oof, m, second(oof)),
    "resubstitution": lambda oof, m: of.estimate.resubstitution(oof, m),
    "resubstitution of one": lambda oof, m: of.estimate.resubstitution(oof, m, second(oof)),
}

# The tests of one pair; options such as alternative, confidence_level and rope go to all that take them.
PAIR_TESTS: dict[str, Callable[..., Any]] = {
    "t_corrected": lambda s, m, a, b, **o: of.compare.t_corrected(s, m, a, b, **o),
    "t_corrected_kfold": lambda s, m, a, b, **o: of.compare.t_corrected_kfold(s, m, a, b, **o),
    "t_kfold": lambda s, m, a, b, **o: of.compare.t_kfold(s, m, a, b, **o),
    "t_resampled": lambda s, m, a, b, **o: of.compare.t_resampled(s, m, a, b, **o),
    "t_5x2cv": lambda s, m, a, b, **o: of.compare.t_5x2cv(s, m, a, b, **o),
    "t_blocked_3x2": lambda s, m, a, b, **o: of.compare.t_blocked_3x2(s, m, a, b, **o),
    "t_blocked_mx2": lambda s, m, a, b, **o: of.compare.t_blocked_mx2(s, m, a, b, **o),
    "mcnemar": lambda s, m, a, b, **o: of.compare.mcnemar(s, m, a, b, **o),
    "z_proportions": lambda s, m, a, b, **o: of.compare.z_proportions(s, m, a, b, **o),
    "delong": lambda s, m, a, b, **o: of.compare.delong(s, m, a, b, **o),
    "bootstrap": lambda s, m, a, b, **o: of.compare.bootstrap(s, m, a, b, n_resamples=300, **o),
    "permutation": lambda s, m, a, b, **o: of.compare.permutation(s, m, a, b, n_resamples=300, **o),
}
WAYS: dict[str, dict[str, Any]] = {
    "": {},
    ", better, 0.8": {"alternative": "better", "confidence_level": 0.8},
    ", worse, rope": {"alternative": "worse", "rope": 0.02},
    ", 0.99": {"confidence_level": 0.99},
}

COMPARISONS: dict[str, Callable[[of.Predictions, str, str, str], Any]] = {
    f"{test}{way}": lambda oof, m, a, b, call=call, options=options: call(oof, m, a, b, **options)
    for test, call in PAIR_TESTS.items()
    for way, options in WAYS.items()
}
COMPARISONS |= {
    "f_5x2cv": lambda oof, m, a, b: of.compare.f_5x2cv(oof, m, a, b),
    "f_5x2cv, 0.9, rope": lambda oof, m, a, b: of.compare.f_5x2cv(oof, m, a, b, confidence_level=0.9, rope=0.02),
    "t_bayes": lambda oof, m, a, b: of.compare.t_bayes(oof, m, a, b),
    "t_bayes, rope": lambda oof, m, a, b: of.compare.t_bayes(oof, m, a, b, rope=0.03, confidence_level=0.9),
    "t_bayes, rho": lambda oof, m, a, b: of.compare.t_bayes(oof, m, a, b, rope=0.03, rho=0.3),
    "t_corrected_kfold, rho": lambda oof, m, a, b: of.compare.t_corrected_kfold(oof, m, a, b, rho=0.2),
    "t_blocked_3x2, weight": lambda oof, m, a, b: of.compare.t_blocked_3x2(oof, m, a, b, variance_weight=1.2),
    "mcnemar, plain": lambda oof, m, a, b: of.compare.mcnemar(oof, m, a, b, method="plain"),
    "mcnemar, edwards": lambda oof, m, a, b: of.compare.mcnemar(oof, m, a, b, method="edwards"),
    "mcnemar, exact": lambda oof, m, a, b: of.compare.mcnemar(oof, m, a, b, method="exact"),
    "mcnemar, midp": lambda oof, m, a, b: of.compare.mcnemar(oof, m, a, b, method="midp"),
    "mcnemar, repeat": lambda oof, m, a, b: of.compare.mcnemar(oof, m, a, b, repeat=0),
    "z_proportions, repeat": lambda oof, m, a, b: of.compare.z_proportions(oof, m, a, b, repeat=0),
    "bootstrap, percentile": lambda oof, m, a, b: of.compare.bootstrap(
        oof, m, a, b, n_resamples=300, method="percentile", rng=4
    ),
    "bootstrap, stratified": lambda oof, m, a, b: of.compare.bootstrap(oof, m, a, b, n_resamples=300, stratify=True),
    "cochran_q": lambda oof, m, a, b: of.compare.cochran_q(oof, m),
    "cochran_q, repeat": lambda oof, m, a, b: of.compare.cochran_q(oof, m, oof.configs[:3], repeat=0),
    "f_looney": lambda oof, m, a, b: of.compare.f_looney(oof, m),
    "f_looney, repeat": lambda oof, m, a, b: of.compare.f_looney(oof, m, oof.configs[:3], repeat=0),
    "auto": lambda oof, m, a, b: of.compare.auto(oof, m, a, b),
    "auto, better": lambda oof, m, a, b: of.compare.auto(oof, m, a, b, alternative="better", confidence_level=0.9),
    "auto of all": lambda oof, m, a, b: of.compare.auto(oof, m, adjust="bh"),
    "pairs": lambda oof, m, a, b: of.compare.pairs(oof, m),
    "pairs, bonferroni": lambda oof, m, a, b: of.compare.pairs(oof, m, adjust="bonferroni", confidence_level=0.9),
    "pairs, control": lambda oof, m, a, b: of.compare.pairs(oof, m, control=a, adjust="none", alternative="better"),
    "pairs by t_corrected": lambda oof, m, a, b: of.compare.pairs(oof, m, test="t_corrected", configs=oof.configs[:3]),
    "pairs by permutation": lambda oof, m, a, b: of.compare.pairs(
        oof, m, test="permutation", configs=oof.configs[:3], n_resamples=200
    ),
    "e_process": lambda oof, m, a, b: of.compare.e_process(oof, m, a, b),
    "e_process, order": lambda oof, m, a, b: of.compare.e_process(
        oof, m, a, b, order=np.arange(oof.n_samples)[::-1], confidence_level=0.9
    ),
    "e_process over repeats": lambda oof, m, a, b: of.compare.e_process(oof, m, a, b, over="repeats"),
}
# Slow ones, asked by the main metric only.
POWERS: dict[str, Callable[[of.Predictions, str, str, str], Any]] = {
    "power of t_corrected": lambda oof, m, a, b: of.compare.power(
        oof, m, a, b, [0.02, 0.1], test="t_corrected", n_simulations=20
    ),
    "power of mcnemar": lambda oof, m, a, b: of.compare.power(
        oof, m, a, b, 0.1, test="mcnemar", n=200, n_simulations=40, confidence_level=0.9
    ),
    "detectable by t_corrected": lambda oof, m, a, b: of.compare.detectable(
        oof, m, a, b, test="t_corrected", power=0.5, n=150, n_simulations=12
    ),
    "detectable by mcnemar": lambda oof, m, a, b: of.compare.detectable(
        oof, m, a, b, test="mcnemar", power=0.6, n=300, n_simulations=30, rng=2
    ),
}


def table(oof: of.Predictions, m: str) -> dict[str, list[float]]:
    """The score of every fold by configuration, as `rank` takes data sets."""
    scores = oof.scores(m).reshape(oof.n_configs, -1)
    defined = scores[:, ~np.isnan(scores).any(axis=0)]
    return {name: row.tolist() for name, row in zip(oof.configs, defined, strict=True)}


def better(m: str) -> bool:
    return of.metrics.get(m).greater_is_better


RANKS: dict[str, Callable[[Any, bool, str, str], Any]] = {
    # t: a table; up: whether more is better.
    "friedman": lambda t, up, a, b: of.rank.friedman(t, greater_is_better=up),
    "friedman, chi2": lambda t, up, a, b: of.rank.friedman(t, method="chi2", ties=False, greater_is_better=up),
    "nemenyi": lambda t, up, a, b: of.rank.nemenyi(t, greater_is_better=up),
    "nemenyi, 0.1": lambda t, up, a, b: of.rank.nemenyi(t, alpha=0.1, greater_is_better=up),
    "bonferroni_dunn": lambda t, up, a, b: of.rank.bonferroni_dunn(t, control=a, greater_is_better=up),
    "holm": lambda t, up, a, b: of.rank.holm(t, greater_is_better=up),
    "holm, hochberg": lambda t, up, a, b: of.rank.holm(t, control=a, adjust="hochberg", greater_is_better=up),
    "holm, bh": lambda t, up, a, b: of.rank.holm(t, control=a, adjust="bh", greater_is_better=up),
    "wilcoxon": lambda t, up, a, b: of.rank.wilcoxon(t, None, a, b, greater_is_better=up),
    "wilcoxon, pratt": lambda t, up, a, b: of.rank.wilcoxon(
        t, None, a, b, zero_method="pratt", method="asymptotic", correction=True, greater_is_better=up
    ),
    "wilcoxon, zsplit": lambda t, up, a, b: of.rank.wilcoxon(
        t, None, a, b, zero_method="zsplit", method="exact", confidence_level=0.9, greater_is_better=up
    ),
    "sign": lambda t, up, a, b: of.rank.sign(t, None, a, b, greater_is_better=up),
    "sign, drop": lambda t, up, a, b: of.rank.sign(
        t, None, a, b, ties="drop", confidence_level=0.8, greater_is_better=up
    ),
    "signed_rank_bayes": lambda t, up, a, b: of.rank.signed_rank_bayes(
        t, None, a, b, n_resamples=2000, greater_is_better=up
    ),
}

SELECTIONS: dict[str, Callable[[of.Predictions, str], Any]] = {
    "best": lambda oof, m: of.select.best(oof, m),
    "best by folds": lambda oof, m: of.select.best(oof, m, "fold"),
    "tied set": lambda oof, m: of.compare.tied_set(oof, m, n_resamples=200),
    "tied set, 0.8": lambda oof, m: of.compare.tied_set(oof, m, confidence_level=0.8, n_resamples=200, rng=3),
    "one standard error": lambda oof, m: of.estimate.cvt(oof, m, rule=of.select.one_standard_error(_length)).selected,
    "within": lambda oof, m: of.estimate.cvt(oof, m, rule=of.select.within(10, _length)).selected,
    "trace": lambda oof, m: of.stability.trace(oof, m),
    "reproducibility": lambda oof, m: of.stability.reproducibility(oof, m, 0, 1),
    "compare plans": lambda oof, m: of.stability.compare_plans([oof], m, fits=oof.n_folds),
    "check": lambda oof, m: of.check(oof, m),
}

# Pure: predictions in, drops or a decision out.
RULES: dict[str, Callable[[of.Predictions, str], Any]] = {
    "drop, bootstrap": lambda oof, m: _drops(of.drop.Bootstrap(0.8, 10, 200, m), oof),
    "drop, hoeffding": lambda oof, m: _drops(of.drop.Hoeffding(0.5, 10, m), oof),
    "drop, friedman": lambda oof, m: _drops(of.drop.Friedman(0.2, 2, m), oof),
    "drop, sequential": lambda oof, m: _drops(of.drop.Sequential(0.2, 0.2, 0.2, metric=m), oof),
    "stop, rank": lambda oof, m: of.stability.Rank(0.95).holds(oof),
    "stop, rank, forecast": lambda oof, m: of.stability.Rank(0.99).forecast(oof),
    "stop, ks": lambda oof, m: of.stability.KS(0.4, m).holds(oof),
    "stop, width": lambda oof, m: of.stability.Width(0.25, m).holds(oof),
    "stop, width, forecast": lambda oof, m: of.stability.Width(0.05, m).forecast(oof),
    "stop, fixed": lambda oof, m: of.stability.Fixed(2).holds(oof),
}


def _drops(rule: of.drop.DropRule, oof: of.Predictions) -> list[Any]:
    rule.check(oof)
    return list(rule.test(oof, oof.n_repeats - 1, oof.n_folds - 1, 9))


# Asked by every metric there is.
METRICS: dict[str, Callable[[of.Predictions, str], Any]] = {
    "scores": lambda oof, m: oof.scores(m),
    "leaderboard": lambda oof, m: oof.leaderboard(m),
    "leaderboard by folds": lambda oof, m: oof.leaderboard(m, "fold"),
    "bbc": lambda oof, m: of.estimate.bbc(oof, m, n_resamples=60).value,
}

ABOUT: dict[str, Callable[[of.Predictions], Any]] = {
    "fingerprint": lambda oof: oof.fingerprint,
    "configurations": lambda oof: list(oof.configs),
    "completeness": lambda oof: oof.completeness,
    "folds": lambda oof: oof.folds,
    "cut": lambda oof: oof.cut(),
    "dropped": lambda oof: _log(oof),
    "notes": lambda oof: codes(oof),
    "default metric": lambda oof: of.metrics.default(oof.target.task, oof.response),
    "joined": lambda oof: oof.join(oof, suffixes=(" a", " b")).fingerprint,
}


def _log(oof: of.Predictions) -> Any:
    """The columns of `drop_log`, which needs pandas or polars; without them, what it is made of."""
    if importlib.util.find_spec("pandas"):
        frame = oof.drop_log
        return {str(name): frame[name].tolist() for name in frame.columns}
    drops = [drop for drop in oof.provenance.get("drops", ()) if drop["config"] in oof.configs]
    columns = ("config", "repeat", "fold", "probability", "compared_with", "n_predictions")
    return {name: [np.nan if drop[name] is None else drop[name] for drop in drops] for name in columns}


def two(oof: of.Predictions) -> tuple[str, str]:
    """The two configurations that are compared: the first ones that are complete."""
    done = (oof.state == of.State.DONE) | ~np.asarray(oof.planned)[None]
    whole = [name for name, ok in zip(oof.configs, done.all(axis=(1, 2)), strict=True) if ok]
    return whole[0], whole[-1]


def questions(oof: of.Predictions, metrics: Sequence[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """All questions to these predictions, by name."""
    a, b = two(oof)
    for name, ask in ABOUT.items():
        yield f"about / {name}", lambda ask=ask: ask(oof)
    for m in of.metrics.names():
        for name, ask in METRICS.items():
            yield f"{m} / every metric / {name}", lambda ask=ask, m=m: ask(oof, m)
    for m in metrics:
        for group, asks in (("estimate", ESTIMATES), ("select", SELECTIONS), ("rule", RULES)):
            for name, ask in asks.items():
                yield f"{m} / {group} / {name}", lambda ask=ask, m=m: ask(oof, m)
        for name, ask in (COMPARISONS | (POWERS if m == metrics[0] else {})).items():
            yield f"{m} / compare / {name}", lambda ask=ask, m=m: ask(oof, m, a, b)
        for name, ask in RANKS.items():
            yield f"{m} / rank / {name}", lambda ask=ask, m=m: ask(table(oof, m), better(m), a, b)


# -- questions without predictions ----------------------------------------------------------------------------

_RNG = np.random.default_rng(21)
DRAWS = _RNG.normal(0.7, 0.05, 200)
SAMPLE = _RNG.normal(0.6, 0.2, 40)
CLUSTERS = np.arange(40) // 4
SCORES = np.round(_RNG.normal([[0.70], [0.72], [0.68]], 0.04, (3, 10)), 4)
TRUTH = _RNG.integers(0, 2, 40)
AREA = np.round(TRUTH + _RNG.normal(0, 1, 40), 1)
NESTED = _RNG.random((40, 4))
DIFFERENCES = np.clip(_RNG.normal(0.1, 0.4, 60), -1, 1)
TABLE = {f"algorithm {i}": np.round(_RNG.normal(0.7 + 0.02 * i, 0.05, 14), 3).tolist() for i in range(4)}


def _process(level: float) -> dict[str, Any]:
    process = of.compare.EProcess(bounds=(-1, 1), confidence_level=level)
    for difference in DIFFERENCES:
        process.update(float(difference))
    return {
        "n": process.n,
        "e": process.evalue,
        "p": process.pvalue,
        "difference": process.difference,
        "interval": process.interval,
        "e values": np.asarray(process.evalues),
    }


def _scores(design: str, scores: np.ndarray, **options: Any) -> of.FoldScores:
    named = {f"model {i}": row for i, row in enumerate(scores)}
    return of.from_scores(named, n_train=80, n_test=20, design=design, **options)


FOLD_SCORES = {
    "kfold": lambda: _scores("kfold", SCORES),
    "repeated kfold": lambda: _scores("kfold", SCORES, repeats=2),
    "holdout": lambda: _scores("holdout", SCORES),
    "5x2cv": lambda: _scores("5x2cv", SCORES),
    "blocked": lambda: _scores("blocked", SCORES[:, :6]),
}

INTERVALS_OF_NUMBERS: dict[str, Callable[[float], Any]] = {
    "wilson": lambda level: of.intervals.wilson(33, 40, confidence_level=level),
    "clopper_pearson": lambda level: of.intervals.clopper_pearson(33, 40, confidence_level=level),
    "normal": lambda level: of.intervals.normal(33, 40, confidence_level=level),
    "t": lambda level: of.intervals.t(SAMPLE, confidence_level=level),
    "cluster_robust": lambda level: of.intervals.cluster_robust(SAMPLE, CLUSTERS, confidence_level=level),
    "bca": lambda level: of.intervals.bca(SAMPLE, n_resamples=400, confidence_level=level, rng=2),
    "bca of medians": lambda level: of.intervals.bca(SAMPLE, np.median, n_resamples=200, confidence_level=level),
    "bca_draws": lambda level: of.intervals.bca_draws(DRAWS, 0.71, SAMPLE, confidence_level=level),
    "percentile": lambda level: of.intervals.percentile(DRAWS, confidence_level=level),
    "delong": lambda level: of.intervals.delong(TRUTH, AREA, confidence_level=level),
    "delong, groups": lambda level: of.intervals.delong(TRUTH, AREA, CLUSTERS, confidence_level=level),
    "corrected_t": lambda level: of.intervals.corrected_t(SCORES[0], 90, 10, confidence_level=level),
    "conservative_z": lambda level: of.intervals.conservative_z(
        SCORES[0], SCORES[1].reshape(5, 2), confidence_level=level
    ),
    "nested_cv_bates": lambda level: of.intervals.nested_cv_bates(
        SAMPLE, NESTED, np.arange(40) % 4, confidence_level=level
    ),
    "bbc_f": lambda level: of.intervals.bbc_f(SCORES, n_resamples=300, confidence_level=level, rng=1),
}

PLAIN: dict[str, Callable[[], Any]] = {
    f"interval / {name} / {level}": lambda ask=ask, level=level: ask(level)
    for name, ask in INTERVALS_OF_NUMBERS.items()
    for level in LEVELS
}
PLAIN |= {
    f"compare / {design} / {test}": lambda make=make, ask=ask: ask(make(), None, "model 0", "model 1")
    for design, make in FOLD_SCORES.items()
    for test, ask in (COMPARISONS | POWERS).items()
    if not test.startswith(("cochran", "f_looney", "e_process, order"))
}
PLAIN |= {
    f"rank / {name}": lambda ask=ask: ask(TABLE, True, "algorithm 0", "algorithm 2") for name, ask in RANKS.items()
}
PLAIN |= {
    f"rank, less is better / {name}": lambda ask=ask: ask(TABLE, False, "algorithm 1", "algorithm 3")
    for name, ask in RANKS.items()
}
PLAIN |= {f"e process / {level}": lambda level=level: _process(level) for level in LEVELS}
PLAIN |= {
    f"advise / {n} samples, {c} configurations, {task}, {goal}": lambda n=n, c=c, task=task, goal=goal: of.advise(
        n, c, task, goal
    )
    for n, c in ((40, 10), (80, 150), (1000, 5), (20000, 50))
    for task in ("binary", "multiclass", "regression", "survival")
    for goal in ("estimate", "select", "compare")
}
PLAIN |= {
    "advise / budget": lambda: of.advise(200, 30, cost=0.5, budget=600, n_jobs=4),
    "advise / accuracy": lambda: of.advise(100, 30, accuracy=0.8, precision=0.02),
    "simulate / expected best": lambda: of.simulate.expected_best(0.7, 50, 100),
    "simulate / correctness": lambda: of.simulate.correctness(40, 6, rng=3),
    "simulate / correctness, correlated": lambda: of.simulate.correctness(40, 6, (14, 6), 0.5, folds=5),
    "simulate / optimism": lambda: of.simulate.optimism(60, 20, (9, 6), n_simulations=100),
    "simulate / optimism, correlated": lambda: of.simulate.optimism(60, 20, 0.7, 0.4, n_simulations=100, rng=8),
    "simulate / optimism, equal": lambda: of.simulate.optimism(60, 20, 0.7),
    "stability / replicability": lambda: of.stability.replicability(SCORES > 0.7),
    "stability / reproducibility": lambda: of.stability.reproducibility(SCORES.T, None, 0, 2),
    "metrics / names": lambda: list(of.metrics.names()),
    "metrics / directions": lambda: [f"{m}: {of.metrics.get(m).greater_is_better}" for m in of.metrics.names()],
    "metrics / bounds": lambda: np.array([of.metrics.get(m).bounds for m in of.metrics.names()]),
}
