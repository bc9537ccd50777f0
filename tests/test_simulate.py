"""What to expect before data are seen: published tables, independent summation, and plain simulation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import outfold as of
from outfold import simulate
from outfold.exceptions import InputError

SIZES = (20, 40, 80, 100, 500, 1000)
TABLE_1 = {
    5: (0.935, 0.913, 0.895, 0.891, 0.868, 0.863),
    10: (0.959, 0.930, 0.908, 0.902, 0.874, 0.867),
    20: (0.977, 0.946, 0.920, 0.913, 0.879, 0.871),
    50: (0.993, 0.961, 0.933, 0.925, 0.885, 0.875),
    100: (0.999, 0.971, 0.941, 0.932, 0.889, 0.878),
    1000: (1.000, 0.994, 0.962, 0.952, 0.899, 0.885),
}


@pytest.mark.parametrize(("n_configs", "printed"), TABLE_1.items())
def test_table_1_within_its_simulation_error(n_configs, printed):
    for n_samples, value in zip(SIZES, printed, strict=True):
        assert simulate.expected_best(0.85, n_configs, n_samples) == pytest.approx(value, abs=0.001)


PERCENTILES = {
    5: "0.85 1.00, 0.85 0.97, 0.86 0.94, 0.86 0.93, 0.85 0.89, 0.85 0.88",
    10: "0.90 1.00, 0.90 0.97, 0.88 0.94, 0.87 0.93, 0.86 0.89, 0.86 0.88",
    20: "0.95 1.00, 0.90 0.97, 0.89 0.95, 0.89 0.94, 0.87 0.89, 0.86 0.88",
    50: "0.95 1.00, 0.93 1.00, 0.91 0.96, 0.90 0.95, 0.87 0.90, 0.87 0.88",
    100: "1.00 1.00, 0.95 1.00, 0.93 0.96, 0.91 0.95, 0.88 0.90, 0.87 0.89",
    1000: "1.00 1.00, 0.97 1.00, 0.95 0.97, 0.94 0.97, 0.89 0.91, 0.88 0.89",
}


@pytest.mark.parametrize(("n_configs", "printed"), PERCENTILES.items())
def test_percentiles_of_table_1_as_printed(n_configs, printed):
    found = [simulate.best_quantiles(0.85, n_configs, n_samples) for n_samples in SIZES]
    assert ", ".join(" ".join(f"{value:.2f}" for value in pair) for pair in found) == printed


@given(st.floats(0.01, 0.99), st.integers(1, 400), st.integers(1, 60), st.floats(0.001, 0.999))
def test_a_quantile_is_the_least_accuracy_that_so_many_do_not_exceed(accuracy, n_configs, n_samples, q):
    k = round(float(simulate.best_quantiles(accuracy, n_configs, n_samples, q)) * n_samples)
    assert binom.cdf(k, n_samples, accuracy) ** n_configs >= q * (1 - 1e-9)
    assert k == 0 or binom.cdf(k - 1, n_samples, accuracy) ** n_configs < q * (1 + 1e-9)


def test_quantiles_of_the_ends():
    assert simulate.best_quantiles(1.0, 10, 50).tolist() == [1, 1]
    assert simulate.best_quantiles(0.0, 10, 50).tolist() == [0, 0]
    assert simulate.best_quantiles(0.5, 10**9, 1000, [[0.1], [0.9]]).shape == (2, 1)
    for wrong in (0, 1, [0.5, 2], [], "x"):
        with pytest.raises(InputError, match="quantiles must"):
            simulate.best_quantiles(0.85, 5, 20, wrong)


@pytest.mark.parametrize("n_configs", TABLE_1)
@pytest.mark.parametrize("n_samples", SIZES)
def test_exact_fractions_agree(n_configs, n_samples):
    p = Fraction(85, 100)
    pmf = [comb(n_samples, k) * p**k * (1 - p) ** (n_samples - k) for k in range(n_samples + 1)]
    expected, cdf, before = 0.0, Fraction(0), 0.0
    for k in range(n_samples + 1):
        cdf += pmf[k]
        power = float(cdf) ** n_configs
        expected += k / n_samples * (power - before)
        before = power
    assert simulate.expected_best(0.85, n_configs, n_samples) == pytest.approx(expected, abs=1e-12)


def test_one_configuration_is_unbiased():
    assert simulate.expected_best(0.7, 1, 50) == pytest.approx(0.7, abs=1e-12)
    assert simulate.expected_best(1.0, 10, 50) == 1
    assert simulate.expected_best(0.0, 10, 50) == 0


@pytest.mark.parametrize("arguments", [(1.2, 5, 5), (0.5, 0, 5), (0.5, 5, 2.5)])
def test_bad_input(arguments):
    with pytest.raises(InputError, match="must"):
        simulate.expected_best(*arguments)


# -- simulated predictions ------------------------------------------------------------------------------


def test_simulated_predictions_are_an_artifact_with_known_truth():
    made = simulate.correctness(95, 20, (24, 6), rng=3)
    assert made.oof.response == "pointwise"
    assert made.oof.P.shape == (95, 20, 1)
    assert set(np.unique(made.oof.data)) == {0.0, 1.0}
    assert made.truth.shape == (20,)
    # Neighbours share a fold, as in the paper's program.
    assert np.all(np.diff(made.oof.folds[:, 0]) >= 0)
    assert sorted(np.bincount(made.oof.folds[:, 0])) == [9] * 5 + [10] * 5
    assert repr(made).startswith("<Simulation of 20 configurations on 95 samples, true accuracies 0.")


def test_simulated_predictions_hang_on_the_seed_alone():
    first, same, other = (simulate.correctness(30, 5, (9, 6), 0.4, rng=rng) for rng in (1, 1, 2))
    assert np.array_equal(first.oof.data, same.oof.data)
    assert np.array_equal(first.truth, same.truth)
    assert not np.array_equal(first.oof.data, other.oof.data)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9, 1.0])
def test_accuracies_hold_whatever_the_correlation(correlation):
    truth, n = [0.0, 0.3, 0.6, 0.95, 1.0], 40_000
    made = simulate.correctness(n, 5, truth, correlation)
    se = np.sqrt(np.multiply(truth, np.subtract(1, truth)) / n)
    assert np.all(np.abs(made.oof.P[:, :, 0].mean(axis=0) - truth) <= 4 * se)


def test_the_correlation_is_that_of_the_hidden_variables():
    # P(both right) = 1/4 + arcsin(rho) / (2 pi) where both are right half of the time (Sheppard).
    for rho in (0.0, 0.5, 1.0):
        right = simulate.correctness(200_000, 2, 0.5, rho).oof.P[:, :, 0]
        both = 0.25 + np.arcsin(rho) / (2 * np.pi)
        assert right.prod(axis=1).mean() == pytest.approx(both, abs=4 * np.sqrt(both * (1 - both) / 200_000))


def test_few_samples_have_few_folds():
    assert simulate.correctness(4, 2, 0.5).oof.n_folds == 4


# -- optimism -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_configs", "printed"), TABLE_1.items())
def test_optimism_of_equally_good_ones_is_table_1(n_configs, printed):
    for n_samples, value in zip(SIZES, printed, strict=True):
        result = simulate.optimism(n_samples, n_configs, 0.85)
        assert float(result) == pytest.approx(value - 0.85, abs=0.001)
        assert (result.truth, result.se, result.method) == (0.85, 0.0, "exact")


def test_the_largest_optimism_of_the_paper():
    # Tsamardinos 2018, sect. 5.1.1: CVT overestimates by up to 0.17 points of accuracy in its settings.
    settings = [
        (n, c, ab)
        for ab in ((9, 6), (14, 6), (24, 6), (54, 6))
        for n in (20, 40, 60, 80, 100, 500, 1000)
        for c in (50, 100, 200, 300, 500, 1000, 2000)
    ]
    values = [simulate.optimism(*setting).value for setting in settings]
    assert max(values) == pytest.approx(0.17, abs=0.005)
    assert settings[int(np.argmax(values))] == (20, 2000, (9, 6))
    assert min(values) > 0


def brute(n_samples, n_configs, accuracy, correlation=0.0, n=1500, seed=99):
    """Own and true accuracy of the first best of many simulated matrices, by the public functions."""
    pairs = []
    for s in range(n):
        made = simulate.correctness(n_samples, n_configs, accuracy, correlation, rng=seed * 100_000 + s)
        scores = made.oof.data[0].mean(axis=1)
        winner = int(np.argmax(scores))
        pairs.append((scores[winner], made.truth[winner]))
    own, truth = np.array(pairs).T
    return own, truth


UNEQUAL = np.linspace(0.5, 0.9, 12)[::-1].copy()


@pytest.mark.parametrize(
    ("accuracy", "correlation"),
    [(0.7, 0.0), ((9, 6), 0.0), (list(UNEQUAL), 0.0), (0.7, 0.5), ((9, 6), 0.5), (list(UNEQUAL), 0.9)],
)
def test_optimism_is_what_simulation_finds(accuracy, correlation):
    result = simulate.optimism(25, 12, accuracy, correlation, n_simulations=3000)
    own, truth = brute(25, 12, accuracy, correlation)
    for found, seen in ((result.value, own - truth), (result.naive, own), (result.truth, truth)):
        # The standard error of a simulated own or true accuracy is no larger than that of the plain simulation.
        both = np.hypot(
            seen.std() / np.sqrt(len(seen)), 0.0 if result.method == "exact" else seen.std() / np.sqrt(3000)
        )
        assert found == pytest.approx(seen.mean(), abs=4 * both + 1e-12)
    assert (result.method, result.se > 0) == (("exact", False) if correlation == 0 else ("simulation", True))


@given(st.integers(1, 40), st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5))
def test_given_accuracies_by_enumeration(n_samples, accuracies):
    n_samples = min(n_samples, 6)
    result = simulate.optimism(n_samples, len(accuracies), accuracies)
    counts = np.indices((n_samples + 1,) * len(accuracies)).reshape(len(accuracies), -1)
    pmf = np.array(
        [[comb(n_samples, k) * p**k * (1 - p) ** (n_samples - k) for k in range(n_samples + 1)] for p in accuracies]
    )
    chance = np.prod([pmf[j][counts[j]] for j in range(len(accuracies))], axis=0)
    winner = np.argmax(counts, axis=0)
    assert result.naive == pytest.approx(chance @ counts.max(axis=0) / n_samples, abs=1e-10)
    assert result.truth == pytest.approx(chance @ np.array(accuracies)[winner], abs=1e-10)


@given(st.integers(1, 200), st.integers(1, 50), st.floats(0.5, 60), st.floats(0.5, 60))
def test_optimism_of_beta_accuracies_is_never_negative(n_samples, n_configs, a, b):
    result = simulate.optimism(n_samples, n_configs, (a, b))
    assert result.value >= -1e-9
    assert 0 <= result.truth <= 1
    if n_configs == 1:
        assert result.naive == pytest.approx(a / (a + b), abs=1e-8)
        assert result.value == pytest.approx(0, abs=1e-8)


def test_a_narrow_beta_is_one_accuracy():
    # Beta(8.5e6, 1.5e6) has a standard deviation of 0.0001.
    assert simulate.optimism(50, 20, (8.5e6, 1.5e6)).value == pytest.approx(
        simulate.optimism(50, 20, 0.85).value, abs=1e-4
    )


def test_alike_configurations_flatter_less():
    values = [simulate.optimism(50, 40, 0.8, rho).value for rho in (0.0, 0.3, 0.6, 0.9)]
    assert values == sorted(values, reverse=True)
    assert simulate.optimism(50, 40, (14, 6)).value < simulate.optimism(50, 40, 0.7).value
    assert simulate.optimism(50, 40, 0.8, 1.0).value == pytest.approx(0, abs=1e-12)


def test_bbc_knows_the_optimism_of_simulated_predictions():
    # Mean over 40 matrices of BBC's estimate against the truth of the winner: far nearer than the winner's own score.
    errors = []
    for rng in range(40):
        made = simulate.correctness(60, 100, (14, 6), rng=rng)
        found = of.estimate.bbc(made.oof, "mean", n_resamples=200)
        truth = made.truth[made.oof.config_index(found.selected)]
        errors.append((found.naive - truth, found.value - truth))
    naive, corrected = np.mean(errors, axis=0)
    expected = simulate.optimism(60, 100, (14, 6)).value
    assert naive == pytest.approx(expected, abs=4 * np.std(errors, axis=0)[0] / np.sqrt(40))
    assert abs(corrected) < naive / 2


def test_printed_and_written_forms():
    result = simulate.optimism(40, 100, 0.85)
    assert str(result).splitlines()[0] == f"expected optimism of the winner   +{result.value:.4f}"
    assert "100 configurations, 40 samples, exact" in str(result)
    assert " ± " in str(simulate.optimism(40, 10, 0.85, 0.5, n_simulations=50))
    assert result.to_dict()["value"] == result.value


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 5, 0.5), {}, "n_samples"),
        ((5, 0, 0.5), {}, "n_configs"),
        ((5, 5, 1.5), {}, "between 0 and 1"),
        ((5, 5, float("nan")), {}, "between 0 and 1"),
        ((5, 5, (1, 2, 3)), {}, r"a and b of Beta\(a, b\)"),
        ((5, 5, (0, 2)), {}, "both above 0"),
        ((5, 5, [0.5, 0.6]), {}, "one entry for each of 5 configurations; it has 2"),
        ((5, 5, "high"), {}, "accuracy must be a number"),
        ((5, 5, 0.5, 1.5), {}, "correlation"),
        ((5, 5, 0.5, -0.1), {}, "correlation"),
        ((5, 5, 0.5, 0.5), {"rng": -1}, "rng"),
    ],
)
def test_settings_that_cannot_be(arguments, options, message):
    for function in (simulate.optimism, simulate.correctness):
        with pytest.raises(InputError, match=message):
            function(*arguments, **options)


def test_numbers_of_simulations_and_folds():
    with pytest.raises(InputError, match="n_simulations"):
        simulate.optimism(5, 5, 0.5, 0.5, n_simulations=1)
    with pytest.raises(InputError, match="folds"):
        simulate.correctness(5, 5, 0.5, folds=0)
