"""Expected accuracy of the best of many: Table 1 of Tsamardinos 2015, and an independent summation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

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
