"""Comparisons that may be read after every unit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outfold as of
from conftest import make_predictions
from internals import EProcess, e_process, sequential
from outfold.exceptions import InputError, NeedError


def plain_wealth(x, m, alpha):
    """The definition, value by value: bets know the past only."""
    up, down, total, squares, out = 1.0, 1.0, 0.0, 0.0, []
    for i, value in enumerate(x, start=1):
        variance = (0.25 + squares) / i
        bet = np.sqrt(2 * np.log(2 / alpha) / (variance * i * np.log(i + 1)))
        up *= 1 + min(bet, 0.75 / m) * (value - m)
        down *= 1 - min(bet, 0.75 / (1 - m)) * (value - m)
        total += value
        squares += (value - (0.5 + total) / (i + 1)) ** 2
        out.append(max(up, down) / 2)
    return np.array(out)


values_in = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=60)


@given(values_in, st.sampled_from([0.1, 0.5, 0.7]))
def test_wealth_is_the_definition(values, m):
    x = (np.array(values) + 1) / 2
    sizes, _ = sequential.bets(x, 0.05)
    wealth = np.exp(np.maximum(*sequential.log_wealth(x, sizes, m))) / 2
    assert wealth == pytest.approx(plain_wealth(x, m, 0.05), rel=1e-9)


@given(values_in, st.integers(0, 60))
def test_one_by_one_is_all_at_once(values, cut):
    whole, parts = EProcess().update(values), EProcess()
    parts.update(values[:cut])
    for value in values[cut:]:
        parts.update(value)
    assert parts.n == whole.n == len(values)
    assert parts.evalues == pytest.approx(whole.evalues, rel=1e-9)
    assert parts.pvalue == pytest.approx(whole.pvalue, rel=1e-9)
    assert parts.interval == pytest.approx(whole.interval, abs=1e-9)
    assert whole.difference == pytest.approx(np.mean(values), abs=1e-12)


@given(values_in, st.sampled_from([0.8, 0.95]))
def test_the_interval_excludes_zero_exactly_where_the_test_rejects(values, level):
    process = EProcess(confidence_level=level).update(values)
    low, high = process.interval
    assert not low <= 0 <= high if process.pvalue <= 1 - level else low <= 0 <= high
    assert 0 < process.pvalue <= 1
    assert np.all(np.diff(process.pvalues) <= 0)


@given(values_in)
def test_turned_round_it_says_the_same(values):
    one, other = EProcess().update(values), EProcess().update(-np.array(values))
    assert one.evalue == pytest.approx(other.evalue, rel=1e-9)
    assert one.interval == pytest.approx((-other.interval.high, -other.interval.low), abs=1e-9)


def test_the_interval_only_shrinks():
    rng = np.random.default_rng(1)
    process, last = EProcess(bounds=(-2, 1)), of.results.Interval(-2.0, 1.0)
    assert process.interval == last
    assert np.isnan(process.difference)
    for value in rng.uniform(-0.5, 1, size=200):
        low, high = process.update(value).interval
        assert low >= last.low - 1e-12
        assert high <= last.high + 1e-12
        last = of.results.Interval(low, high)


def scores(n=300, better=0.15, seed=0):
    rng = np.random.default_rng(seed)
    b = rng.random(n) < 0.6
    a = np.where(rng.random(n) < better, True, b)
    return np.stack([a, b], axis=1).astype(float)


def test_two_prompts_on_one_eval_set():
    oof = of.from_arrays(None, scores(), response="pointwise", configs=["new", "old"])
    found = e_process(oof, None, "new", "old")
    direct = EProcess().update(scores() @ [1, -1])
    assert found.bounds == (-1, 1)
    assert found.pvalue == direct.pvalue
    assert found.interval == direct.interval
    assert found.better == "new"
    assert found.stop == np.flatnonzero(found.pvalues <= 0.05)[0] + 1
    assert "new is better at alpha 0.05, known after" in str(found)
    assert "at all times" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["stop"] == found.stop
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert list(found.to_frame("pandas").columns) == ["n", "evalue", "pvalue"]
    assert "new - old" in repr(found)


def test_direction_of_losses():
    oof = make_predictions("accuracy", n=200)
    gain, loss = e_process(oof, "accuracy", 0, 1), e_process(oof, "error", 0, 1)
    assert gain.difference == pytest.approx(-loss.difference)
    assert gain.evalue == pytest.approx(loss.evalue)
    y = np.arange(200) % 2
    clear = of.from_arrays(y, np.stack([y, 1 - y], axis=1), response="label", configs=["right", "wrong"])
    assert e_process(clear, "error", 0, 1).better == "right"
    assert e_process(clear, "error", 1, 0).better == "right"


def test_order_is_the_order_things_came():
    oof = of.from_arrays(None, scores(), response="pointwise")
    back = e_process(oof, None, 0, 1, order=np.arange(300)[::-1])
    direct = EProcess().update((scores() @ [1, -1])[::-1])
    assert back.pvalue == direct.pvalue
    with pytest.raises(InputError, match=r"every position 0\.\.299 of the samples once"):
        e_process(oof, None, 0, 1, order=[0, 1])


def test_groups_are_the_units():
    groups = np.repeat(["g3", "g1", "g2"], 100)
    oof = of.from_arrays(None, scores(), response="pointwise", groups=groups)
    found = e_process(oof, None, 0, 1)
    assert (found.over, found.n) == ("groups", 3)
    direct = EProcess().update((scores() @ [1, -1]).reshape(3, 100).mean(axis=1))
    assert found.evalues == pytest.approx(direct.evalues)


def test_repeats_speak_of_this_data_set_only():
    oof = make_predictions("roc_auc", n=60, r=8)
    found = e_process(oof, "roc_auc", 0, 1, over="repeats")
    assert found.n == 8
    assert "OF315" in {n.code for n in found.notes}
    board = oof.leaderboard("roc_auc")
    own = dict(zip(board.configs, board.scores, strict=True))
    assert found.difference == pytest.approx(own["config 0"] - own["config 1"])
    with pytest.raises(NeedError, match="needs two repeats at least"):
        e_process(make_predictions("roc_auc"), "roc_auc", 0, 1, over="repeats")


def test_pooled_folds_are_said():
    found = e_process(make_predictions("accuracy"), "accuracy", 0, 1)
    assert "OF308" in {n.code for n in found.notes}


@pytest.mark.parametrize(
    ("metric", "options", "says"),
    [
        ("roc_auc", {}, "roc_auc is defined on sets of samples only"),
        ("log_loss", {}, r"log_loss has no range. Give bounds=\(lowest, highest\)"),
        ("log_loss", {"bounds": (-1e-9, 1e-9)}, "within the bounds"),
        ("accuracy", {"bounds": (0, 1)}, "on either side of 0"),
        ("accuracy", {"bounds": 3}, "on either side of 0"),
        ("accuracy", {"over": "folds"}, "over must be 'samples' or 'repeats'"),
        ("accuracy", {"confidence_level": 2}, "between 0 and 1"),
    ],
)
def test_what_is_refused(metric, options, says):
    with pytest.raises(InputError, match=says):
        e_process(make_predictions(metric), metric, 0, 1, **options)


def test_unbounded_losses_with_bounds():
    oof = make_predictions("log_loss", n=100)
    found = e_process(oof, "log_loss", 0, 1, bounds=(-40, 40))
    assert found.bounds == (-40, 40)
    assert found.difference == pytest.approx(
        np.subtract(*[oof.sel(config=j).scores("log_loss").mean() for j in (0, 1)])
    )


def test_a_new_process_has_no_evidence():
    process = EProcess()
    assert (process.evalue, process.pvalue, len(process.evalues)) == (1.0, 1.0, 0)
    assert repr(process) == "<EProcess without any difference yet: e-value 1, p = 1>"


def test_much_evidence_is_no_overflow():
    with np.errstate(all="raise", under="ignore"):
        process = EProcess().update(np.ones(3000))
        assert np.isfinite(process.evalue)
        assert 0 < process.pvalue < 1e-300
        assert np.all(process.pvalues > 0)
        assert process.pvalue == process.pvalues[-1]
        assert process.interval.low > 0.9


def test_the_p_value_remembers_the_best_and_looks_at_new_values_only():
    process = EProcess().update(np.ones(20))
    best = process.pvalue
    process._log_evalues[0] = np.zeros(20)  # the past is not read again
    process.update(-np.ones(5))
    assert process.pvalue == best
    assert process.evalue < 1 / best


def test_repr_has_the_mean_and_its_interval():
    text = repr(EProcess().update([1.0, 0.0, 1.0, 1.0]))
    assert "after 4 differences: mean +0.75" in text
    assert "95%" in text
