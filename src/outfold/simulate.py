"""What to expect before any data are seen."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import RngLike, as_seed, check_count, is_number
from .docstrings import fill_with
from .exceptions import got, invalid
from .io.convert import from_arrays
from .results import Optimism, Simulation

__all__ = ["best_quantiles", "correctness", "expected_best", "optimism"]

Accuracy: TypeAlias = float | tuple[float, float] | ArrayLike

Floats = NDArray[np.float64]

_document = fill_with(
    {
        "accuracy": (
            "accuracy : float, tuple or list of float\n"
            "    The true accuracies: one number for all configurations, a tuple (a, b) for draws from Beta(a, b), or a list\n"
            "    with one for each. The simulations of Tsamardinos and others use Beta(9, 6), (14, 6), (24, 6) and (54, 6).\n"
            "    Equally good configurations give more optimism than ones that differ."
        ),
        "equal_models": (
            "accuracy : float\n    True accuracy p of each model.\nn_configs : int\n    Number of models C.\n"
            "n_samples : int\n    Number of test samples M."
        ),
        "correlation": (
            "correlation : float\n"
            "    How alike configurations are, from 0 to 1. Whether a configuration is right is a normal variable, cut so that\n"
            "    its accuracy holds; any two of these variables have this correlation. What they share is how hard a sample is.\n"
            "    The configurations of a real search are alike, which gives less optimism."
        ),
    }
)


@_document
def expected_best(accuracy: float, n_configs: int, n_samples: int) -> float:
    """Expected accuracy reported for the best of several equally good models on one test set.

    With C independent models of true accuracy p on M samples, the winner's number of right answers has the distribution
    function G(k)^C, where G is that of the binomial(M, p). The result is sum_k (k/M) [G(k)^C - G(k-1)^C]; Table 1 of [1]_ has
    it by simulation. `best_quantiles` says how far the reported accuracy varies around it.

    Parameters: {equal_models}

    Returns
    -------
    float
        The expected accuracy of the winner on the test set.
    References: {tsamardinos2015}

    Examples: {outfold}
    >>> round(of.simulate.expected_best(0.85, n_configs=100, n_samples=20), 3)
    0.999
    """
    c, m = _equal_models(accuracy, n_configs, n_samples)
    from scipy.special import bdtr

    return _expected_largest(np.asarray(bdtr(np.arange(m), m, accuracy), dtype=np.float64), c)


@_document
def best_quantiles(
    accuracy: float, n_configs: int, n_samples: int, quantiles: ArrayLike = (0.05, 0.95)
) -> NDArray[np.float64]:
    """Quantiles of the accuracy reported for the best of several equally good models on one test set.

    The q quantile is the least k/M with G(k)^C >= q, in the words of `expected_best`. Table 1 of [1]_ has the 5 and the 95
    percent points by simulation.

    Parameters: {equal_models}
    quantiles : float or array-like
        Which quantiles, each between 0 and 1.

    Returns
    -------
    ndarray
        The accuracy of the winner on the test set at each of them.
    References: {tsamardinos2015}

    Examples: {outfold}
    >>> of.simulate.best_quantiles(0.85, n_configs=20, n_samples=40).tolist()
    [0.9, 0.975]
    """
    c, m = _equal_models(accuracy, n_configs, n_samples)
    try:
        q = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid("quantiles", "must be numbers between 0 and 1", got(quantiles)) from None
    if not q.size or not np.all((q > 0) & (q < 1)):
        raise invalid("quantiles", "must lie between 0 and 1", got(quantiles))
    from scipy.special import bdtrc

    # By the upper tail, which keeps its digits where G is close to 1.
    with np.errstate(divide="ignore"):
        log_below = c * np.log1p(-np.asarray(bdtrc(np.arange(m + 1), m, accuracy), dtype=np.float64))
    return np.asarray(np.searchsorted(log_below, np.log(q)) / m)


def _equal_models(accuracy: float, n_configs: int, n_samples: int) -> tuple[int, int]:
    """The checked numbers of models and of test samples."""
    if not is_number(accuracy) or not 0 <= accuracy <= 1:
        raise invalid("accuracy", "must lie between 0 and 1", got(accuracy))
    return check_count(n_configs, "n_configs"), check_count(n_samples, "n_samples")


@_document
def correctness(
    n_samples: int,
    n_configs: int,
    accuracy: Accuracy = (9, 6),
    correlation: float = 0.0,
    *,
    folds: int = 10,
    rng: RngLike = 0,
) -> Simulation:
    """Simulate predictions of configurations whose true accuracies are known (section 5.1 of [1]_).

    Parameters
    ----------
    n_samples, n_configs : int
        Number of samples and of configurations.
    {accuracy, correlation}
    folds : int
        Number of folds of neighbouring samples, at most one for each sample.
    {rng}

    Returns
    -------
    Simulation
        The predictions ``oof`` and the true accuracies ``truth``.
    References: {tsamardinos2018}

    Examples: {outfold}
    >>> made = of.simulate.correctness(40, 3, accuracy=[0.5, 0.7, 0.9])
    >>> made.truth.tolist(), made.oof.response
    ([0.5, 0.7, 0.9], 'pointwise')
    """
    n, c = check_count(n_samples, "n_samples"), check_count(n_configs, "n_configs")
    k = min(check_count(folds, "folds"), n)
    rho, given = _correlation(correlation), _accuracy(accuracy, c)
    generator = np.random.default_rng(as_seed(rng))
    truth = _truth(given, c, generator)
    right = _right(truth, n, rho, generator)
    fold = np.arange(n) * k // n
    return Simulation(from_arrays(None, right.astype(float), folds=fold, response="pointwise"), truth)


@_document
def optimism(
    n_samples: int,
    n_configs: int,
    accuracy: Accuracy,
    correlation: float = 0.0,
    *,
    n_simulations: int = 1000,
    rng: RngLike = 0,
) -> Optimism:
    """Expected optimism of the winner's accuracy: its accuracy on the selection samples minus its true accuracy.

    For independent configurations the number is exact. Equally good ones use `expected_best`. Given accuracies use the
    distribution of who wins with how many right answers. For accuracies drawn from Beta(a, b), a configuration with k of M
    right has the expected true accuracy (a + k) / (a + b + M), whatever the others did. Correlated configurations are
    simulated; what all of them share is removed from the noise. The earliest configuration wins a tie.

    Parameters
    ----------
    n_samples, n_configs : int
        Number of samples that select, and of configurations to select from.
    {accuracy, correlation}
    n_simulations : int
        Number of simulated matrices, if configurations are correlated.
    {rng}

    Returns
    -------
    Optimism
        The optimism ``value``, its standard error, and both accuracies of the winner.

    Examples: {outfold}
    >>> round(of.simulate.optimism(40, 100, accuracy=0.85).value, 3)
    0.121
    """
    m, c = check_count(n_samples, "n_samples"), check_count(n_configs, "n_configs")
    rho, given = _correlation(correlation), _accuracy(accuracy, c)
    if rho > 0 and c > 1:
        s = check_count(n_simulations, "n_simulations", 2)
        own, truth, se = _simulated(m, c, given, rho, s, as_seed(rng))
        return Optimism(own - truth, se, own, truth, m, c, "simulation")
    own, truth = _exact_beta(m, c, given) if isinstance(given, tuple) else _exact(m, given)
    return Optimism(own - truth, 0.0, own, truth, m, c, "exact")


def _correlation(value: Any) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise invalid("correlation", "must lie between 0 and 1", got(value))
    return float(value)


def _accuracy(accuracy: Any, n_configs: int) -> Floats | tuple[float, float]:
    """Accuracies, one a configuration, or the two numbers of a beta distribution."""
    try:
        values = np.asarray(accuracy, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid("accuracy", "must be a number, a tuple (a, b) or a list of numbers", got(accuracy)) from None
    if isinstance(accuracy, tuple):
        if values.shape != (2,) or not (np.isfinite(values).all() and np.all(values > 0)):
            remedy = "Give accuracies one by one as a list."
            raise invalid("accuracy", "as a tuple holds a and b of Beta(a, b), both above 0", got(accuracy), remedy)
        return float(values[0]), float(values[1])
    if values.ndim > 1 or not (np.all(values >= 0) and np.all(values <= 1)):
        raise invalid("accuracy", "must lie between 0 and 1", got(accuracy))
    if values.ndim == 1 and len(values) != n_configs:
        needed = f"must have one entry for each of {n_configs} configurations"
        raise invalid("accuracy", needed, f"it has {len(values)}")
    return np.full(n_configs, float(values)) if values.ndim == 0 else values


def _expected_largest(below: Floats, n_configs: int) -> float:
    """Expected share of the best of C independent counts in 0..M with distribution function `below` (M values)."""
    # The mean of a count is the sum of its upper tails: E = (1/M) sum_{k<M} (1 - G(k)^C); no difference of near-equal terms.
    with np.errstate(divide="ignore"):
        return float(np.sum(-np.expm1(n_configs * np.log(below))) / len(below))


def _exact_beta(m: int, c: int, beta: tuple[float, float]) -> tuple[float, float]:
    """Own and true accuracy of the winner where accuracies are drawn from a beta distribution."""
    from scipy.special import betaln, gammaln

    (a, b), k = beta, np.arange(m + 1)
    log_choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    below = np.cumsum(np.exp(log_choose + betaln(k + a, m - k + b) - betaln(a, b)))[:-1]
    own = _expected_largest(np.minimum(below, 1.0), c)
    # Linear in the count, so that only its mean matters.
    return own, (a + m * own) / (a + b + m)


def _exact(m: int, accuracies: Floats) -> tuple[float, float]:
    """Own and true accuracy of the winner among independent configurations of these accuracies."""
    from scipy.special import bdtr

    if np.all(accuracies == accuracies[0]):
        return expected_best(float(accuracies[0]), len(accuracies), m), float(accuracies[0])
    below = np.stack([bdtr(np.arange(m + 1), m, p) for p in accuracies])
    mass = np.diff(below, axis=1, prepend=0.0)
    # j wins with k when all before it have fewer than k and all after it at most k.
    fewer = np.concatenate([np.zeros((len(below), 1)), below[:, :-1]], axis=1)
    before = np.cumprod(np.concatenate([np.ones((1, m + 1)), fewer[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([np.ones((1, m + 1)), below[:0:-1]]), axis=0)[::-1]
    wins = mass * before * after
    return float(np.sum(wins * np.arange(m + 1)) / m), float(accuracies @ wins.sum(axis=1))


def _truth(given: Floats | tuple[float, float], n_configs: int, rng: np.random.Generator) -> Floats:
    return rng.beta(*given, size=n_configs) if isinstance(given, tuple) else given


def _right(truth: Floats, n_samples: int, correlation: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(N, C) whether a configuration is right; samples share how hard they are."""
    if correlation == 0:
        return rng.random((n_samples, len(truth))) < truth
    from scipy.special import ndtri

    hidden = rng.standard_normal((n_samples, len(truth)))
    hidden *= np.sqrt(1 - correlation)
    hidden += np.sqrt(correlation) * rng.standard_normal((n_samples, 1))
    return np.asarray(hidden <= ndtri(truth))


def _simulated(
    m: int, c: int, given: Floats | tuple[float, float], correlation: float, n_simulations: int, seed: int
) -> tuple[float, float, float]:
    """Mean own and true accuracy of the winner, and the standard error of their difference."""
    own, true = np.empty(n_simulations), np.empty(n_simulations)
    for s, child in enumerate(np.random.SeedSequence(seed).spawn(n_simulations)):
        rng = np.random.default_rng(child)
        truth = _truth(given, c, rng)
        scores = _right(truth, m, correlation, rng).mean(axis=0)
        winner = int(np.argmax(scores))
        # An easy draw of samples lifts all scores by the same amount; its expectation is 0, so taking it out only removes noise.
        own[s], true[s] = scores[winner] - np.mean(scores - truth), truth[winner]
    se = np.std(own - true, ddof=1) / np.sqrt(n_simulations)
    return float(own.mean()), float(true.mean()), float(se)
