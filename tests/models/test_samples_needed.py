"""How many samples would settle a question."""

from __future__ import annotations

import re

import numpy as np
import pytest

import outfold as of
from outfold.exceptions import InputError


def answers(n, seed, shares=(0.8, 0.74)):
    rng = np.random.default_rng(seed)
    return of.from_arrays(
        None, rng.random((n, len(shares))) < shares, configs=["a", "b", "c"][: len(shares)], response="pointwise"
    )


def test_the_width_shrinks_as_was_said():
    now, then = (of.estimate.cv(answers(n, 0), "mean", "a") for n in (200, 3200))
    width = (now.interval.high - now.interval.low) / 2
    found = now.samples_needed(width / 4)
    assert found.n == pytest.approx(3200, abs=1)
    assert found.more == found.n - 200
    # Wilson's interval at another share: a little wider or narrower.
    assert (then.interval.high - then.interval.low) / 2 == pytest.approx(width / 4, rel=0.1)
    assert "extrapolated" in str(found)


def test_the_width_of_the_selected_configuration_shrinks_as_was_said():
    now, then = (of.estimate.bbc(answers(n, 1), "mean") for n in (150, 1350))
    found = now.samples_needed((now.interval.high - now.interval.low) / 6)
    assert found.n == pytest.approx(1350, abs=1)
    ratio = (now.interval.high - now.interval.low) / (then.interval.high - then.interval.low)
    assert 2.4 < ratio < 3.6


def test_a_width_that_is_reached_needs_no_more():
    found = of.estimate.bbc(answers(150, 1), "mean").samples_needed(0.5)
    assert (found.n, found.more) == (150, 0)
    assert "the 150 samples at hand are enough" in str(found)


@pytest.mark.parametrize("width", [0, -1, "a", float("nan")])
def test_the_width_is_checked(width):
    with pytest.raises(InputError, match="half_width must be a number above 0"):
        of.estimate.bbc(answers(60, 1), "mean").samples_needed(width)


def test_groups_are_counted_where_samples_come_in_groups():
    rng = np.random.default_rng(0)
    right = rng.random((200, 2)) < 0.7
    oof = of.from_arrays(None, right, groups=np.repeat(np.arange(40), 5), response="pointwise")
    found = of.estimate.bbc(oof, "mean").samples_needed(0.01)
    assert found.n_now == 40
    assert "groups in all" in str(found)


def test_the_numbers_add_up_and_a_picked_pair_is_named():
    """The best of three was picked for its score, so that the observed difference is likely too large."""
    oof = answers(150, 4, (0.8, 0.7, 0.7))
    best, other = oof.leaderboard("mean").configs[:2]
    found = of.compare.samples_needed(oof, "mean", best, other, n_simulations=50, progress=False)
    in_all, more = (int(part.replace(",", "")) for part in re.findall(r"([\d,]+) (?:samples in all|more)", str(found)))
    assert in_all == 150 + more
    assert any("OF301" in text for text in found.assumes)
    given = of.compare.samples_needed(oof, "mean", best, other, difference=0.1, n_simulations=50, progress=False)
    assert not any("OF301" in text for text in given.assumes)


def test_so_many_samples_have_the_power_wanted():
    oof = answers(200, 0)
    found = of.compare.samples_needed(oof, "mean", "a", "b", difference=0.06, test="mcnemar", progress=False)
    assert found.n > 400
    settings = {"test": "mcnemar", "n_simulations": 2000, "rng": 1, "progress": False}
    assert of.compare.power(oof, "mean", "a", "b", 0.06, n=found.n, **settings).power == pytest.approx(0.8, abs=0.07)
    assert of.compare.power(oof, "mean", "a", "b", 0.06, n=200, **settings).power == pytest.approx(
        found.power_now, abs=0.1
    )


def test_the_observed_difference_is_taken_by_default_and_said():
    oof = answers(200, 0)
    found = of.compare.samples_needed(oof, "mean", "a", "b", test="mcnemar", progress=False)
    assert found.difference == pytest.approx(float(np.subtract(*oof.scores("mean")[:, 0, 0])))
    assert any("the observed one" in text for text in found.assumes)


def test_more_power_needs_more_samples():
    oof = answers(200, 0)
    sizes = [
        of.compare.samples_needed(oof, "mean", "a", "b", difference=0.06, power=p, test="mcnemar", progress=False).n
        for p in (0.5, 0.8, 0.95)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2]


def test_equal_scores_need_no_number():
    right = np.array([[1, 0], [0, 1]] * 30)
    oof = of.from_arrays(None, right, configs=["a", "b"], response="pointwise")
    found = of.compare.samples_needed(oof, "mean", "a", "b", test="mcnemar", progress=False)
    assert found.n is None
    assert found.more is None
    assert "no number of samples is enough" in str(found)
    assert repr(found) == "<SamplesNeeded no number is enough>"


def test_a_tiny_difference_is_not_promised():
    oof = answers(60, 0)
    found = of.compare.samples_needed(oof, "mean", "a", "b", difference=0.0002, test="mcnemar", progress=False)
    assert found.n is None
    assert any("1,000 times" in text for text in found.assumes)


@pytest.mark.parametrize("power", [0, 0.04, 1, "much"])
def test_the_power_is_checked(power):
    with pytest.raises(InputError, match="power must lie between alpha and 1"):
        of.compare.samples_needed(answers(60, 0), "mean", "a", "b", power=power)


def test_many_samples_are_extrapolated_from_simulated_ones():
    oof, how = answers(60, 0), {"test": "mcnemar", "progress": False, "n_simulations": 200}
    simulated, beyond = (of.compare.samples_needed(oof, "mean", "a", "b", difference=d, **how) for d in (0.04, 0.02))
    assert simulated.power_then == pytest.approx(0.8, abs=0.06)
    assert beyond.power_then is None
    assert beyond.n == pytest.approx(4 * simulated.n, rel=0.2)  # half the difference needs four times the samples


def test_samples_in_groups_are_counted_in_groups_too():
    oof = answers(60, 0)
    grouped = of.from_arrays(None, oof.data[0].T, configs=["a", "b"], response="pointwise", groups=np.arange(60) // 3)
    found = of.compare.samples_needed(grouped, "mean", "a", "b", difference=0.2, progress=False, n_simulations=50)
    assert any(f"about {round(found.n / 3):,} groups in all" in text for text in found.assumes)
