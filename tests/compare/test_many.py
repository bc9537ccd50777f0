"""Many pairs: adjusted, against a control, with an omnibus test where one is valid."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

import outfold as of
from conftest import make_predictions
from internals import Scoring, pvalues, sample_bootstrap
from outfold import compare
from outfold.cli import main
from outfold.exceptions import InputError, NeedError


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    shares = [0.9, 0.6, 0.62, 0.6]
    return of.from_arrays(
        None, (rng.random((200, 4)) < shares).astype(float), response="pointwise", configs=["good", "x", "y", "z"]
    )


def test_pairs_are_the_single_tests_with_adjusted_p(answers):
    found = compare.pairs(answers, test="mcnemar")
    assert len(found) == 6
    alone = [compare.mcnemar(answers, None, pair.a, pair.b) for pair in found]
    assert [p.pvalue for p in found] == [p.pvalue for p in alone]
    assert [p.interval for p in found] == [p.interval for p in alone]
    assert [p.adjusted for p in found] == pvalues.holm(np.array([p.pvalue for p in alone])).tolist()
    assert {pair.better for pair in found} == {"good", None}
    assert found.omnibus.pvalue == compare.cochran_q(answers).pvalue
    assert "by Holm; intervals are of single pairs" in str(found)


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh", "none"])
def test_adjustments(answers, adjust):
    found = compare.pairs(answers, adjust=adjust)
    p = np.array([pair.pvalue for pair in found])
    methods = {"holm": pvalues.holm, "bonferroni": pvalues.bonferroni, "bh": pvalues.benjamini_hochberg}
    assert found.adjusted == pytest.approx(methods.get(adjust, lambda p: p)(p))
    assert ("OF307" in {n.code for n in found.notes}) == (adjust == "none")
    assert json.loads(json.dumps(found.to_dict()))["adjust"] == adjust


def test_against_a_control(answers):
    found = compare.pairs(answers, control="good", configs=["x", "y"])
    assert [(p.a, p.b) for p in found] == [("x", "good"), ("y", "good")]
    assert found.control == "good"
    assert all(p.difference < 0 and p.better == "good" for p in found)


def test_folds_have_no_omnibus_and_say_so():
    found = compare.pairs(make_predictions("accuracy", n=100), "accuracy", configs=[0, 1, 2])
    assert found.omnibus is None
    assert "We skip an overall test" in found.reason
    assert compare.pairs(make_predictions("accuracy"), "accuracy", configs=[0, 1], omnibus=False).reason


def test_a_few_pairs_without_adjustment_need_no_word(answers):
    assert not compare.pairs(answers, configs=["x", "y"], adjust="none").notes


def test_functions_serve_as_names(answers):
    assert compare.pairs(answers, test=compare.z_proportions).terms.method == "z_proportions"


def test_tests_without_p_values_are_not_adjusted():
    found = compare.pairs(make_predictions("accuracy", n=100, c=4), "accuracy", test="t_bayes", rope=0.01)
    assert found.adjusted is None
    assert "P(better)" in str(found)
    told = [pair.probabilities.verdict() for pair in found]
    assert {"equivalent", "undecided"} <= set(told)
    printed = [line.split()[-1] for line in str(found).splitlines() if line.startswith("config")]
    assert sorted(printed) == sorted(told)
    assert [pair.better for pair in found] == [
        {"better": pair.a, "worse": pair.b}.get(verdict) for pair, verdict in zip(found, told, strict=True)
    ]


def test_equal_columns_do_not_disturb():
    found = compare.pairs(make_predictions("accuracy", n=100), "accuracy", configs=[0, 1, 6])
    same = next(p for p in found if {p.a, p.b} == {"config 1", "config 6"})
    assert (same.difference, same.pvalue, same.adjusted) == (0, 1, 1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"test": "mcnemer"}, "got 'mcnemer'. Did you mean 'mcnemar'?"),
        ({"test": "anova"}, "The tests of a pair are"),
        ({"adjust": "tukey"}, "adjust must be 'holm', 'bonferroni', 'bh', 'westfall_young' or 'none'"),
        ({"test": "mcnemar", "rho": 1}, "rho is not an option of mcnemar; it has method, repeat"),
        ({"configs": ["x"]}, "two different configurations"),
        ({"control": "w"}, "no configuration 'w'"),
        ({"alternative": "larger"}, "alternative must be"),
    ],
)
def test_what_is_refused(answers, options, says):
    with pytest.raises(InputError, match=says.replace("?", r"\?")):
        compare.pairs(answers, **options)


def test_latex_rows_cannot_be_taken_for_arguments():
    table = {"[a]": [0.8, 0.7, 0.9], "*b\nc": [0.7, 0.6, 0.9]}
    text = of.compare.t_corrected(of.from_scores(table, n_train=60, n_test=30), None, 0, 1).to_latex()
    assert "\n{[}a] & *b c & " in text
    turned = of.compare.t_corrected(of.from_scores(table, n_train=60, n_test=30), None, 1, 0).to_latex()
    assert "\n{*}b c & [a] & " in turned


# -- configurations that were dropped or failed --------------------------------------------------------------


@pytest.fixture(scope="module")
def unfinished():
    """Predictions of six configurations; the first was dropped after two folds, the second failed in one."""
    oof = make_predictions("accuracy", n=60, c=6)
    state = oof.state.copy()
    state[0, 0, 2:], state[1, 0, 3] = of.State.DROPPED, of.State.FAILED
    return replace(oof, state=state)


@pytest.mark.parametrize("compared", [compare.auto, compare.pairs])
def test_without_names_all_that_are_done_are_compared(unfinished, compared):
    found = compared(unfinished, "accuracy")
    named = compared(unfinished, "accuracy", configs=unfinished.configs[2:])
    assert found.configs == named.configs == tuple(unfinished.configs[2:])
    assert [pair.pvalue for pair in found] == [pair.pvalue for pair in named]
    dropped, failed = unfinished.configs[:2]
    texts = {note.code: note.text for note in found.notes}
    assert (
        texts["OF207"]
        == f"not compared, because some of their folds were dropped: {dropped!r} (1 of 6 configurations)."
    )
    assert texts["OF205"] == f"not compared, because some of their folds failed: {failed!r} (1 of 6 configurations)."
    assert {"OF207", "OF205"}.isdisjoint(note.code for note in named.notes)


def test_two_that_are_left_are_a_pair(unfinished):
    found = compare.auto(unfinished.sel(config=unfinished.configs[:4]), "accuracy")
    assert (found.a, found.b) == tuple(unfinished.configs[2:4])
    assert "OF207" in {note.code for note in found.notes}


def test_a_configuration_that_is_not_done_cannot_be_named(unfinished):
    name = unfinished.configs[0]
    for options in ({"a": name, "b": unfinished.configs[3]}, {"configs": unfinished.configs}, {"control": name}):
        with pytest.raises(InputError, match=r"needs all folds of .*some are dropped"):
            compare.auto(unfinished, "accuracy", **options)
    with pytest.raises(InputError, match="needs all folds of"):
        compare.auto(unfinished.sel(config=unfinished.configs[:3]), "accuracy")


def test_a_control_is_compared_with_all_that_are_done(unfinished):
    found = compare.pairs(unfinished, "accuracy", control=unfinished.configs[3])
    assert len(found) == 3


def test_a_test_of_all_at_once_names_what_it_leaves_out(unfinished):
    found = compare.cochran_q(unfinished)
    assert found.configs == tuple(unfinished.configs[2:])
    assert "OF207" in {note.code for note in found.notes}


def test_front_ends_take_predictions_with_dropped_configurations(unfinished, tmp_path, capsys):
    unfinished.save(tmp_path / "run.oof")
    assert main(["compare", str(tmp_path / "run.oof"), "--all", "--metric", "accuracy"]) == 0
    assert "OF207" in capsys.readouterr().out
    assert of.report(unfinished, "accuracy").comparisons is not None


# -- adjusting by draws of samples ----------------------------------------------------------------------


def test_draws_of_samples_adjust_less_than_holm(answers):
    found, holm = (compare.pairs(answers, adjust=adjust) for adjust in ("westfall_young", "holm"))
    p = np.array([pair.pvalue for pair in found])
    assert np.all((found.adjusted >= p) & (found.adjusted <= holm.adjusted + 1e-15))
    # Three p values are so small that no draw reaches them, and the largest is not adjusted.
    assert np.sum(found.adjusted < holm.adjusted) == 2
    assert found.adjusted.tolist() == compare.pairs(answers, adjust="westfall_young").adjusted.tolist()
    assert "adjusted   by Westfall and Young" in str(found)
    assert "@book{westfall1993" in of.cite(found)


def test_the_adjusted_p_value_is_that_of_a_loop_over_draws(answers):
    """Two pairs with a common control: both draws are compared with both p values by hand."""
    found = compare.pairs(answers, configs=["x", "y"], control="z", adjust="westfall_young", alternative="better")
    scoring = Scoring(answers.sel(config=["x", "y", "z"]), "mean")
    weights = np.concatenate(list(sample_bootstrap(scoring, False, 0).blocks(10_000)))
    drawn = scoring.scores(weights) - scoring.scores()
    # Differences of shares are multiples of one over the number of samples: what rounding leaves would break ties.
    own = [np.rint((drawn[:, j] - drawn[:, 2]) * answers.n_samples) for j in (0, 1)]
    by_draw = np.array([rankdata(-one, method="max") / len(one) for one in own])
    p = np.array([pair.pvalue for pair in found])
    first = int(np.argmin(p))
    both = (1 + np.sum(by_draw.min(axis=0) <= p[first])) / 10_001
    alone = (1 + np.sum(by_draw[1 - first] <= p[1 - first])) / 10_001
    expected = np.empty(2)
    expected[first] = min(max(both, p[first]), 2 * p[first])
    expected[1 - first] = max(expected[first], min(max(alone, p[1 - first]), p[1 - first]))
    assert found.adjusted == pytest.approx(expected, abs=1e-12)


def test_scores_of_folds_cannot_be_drawn():
    folds = {"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81], "c": [0.70, 0.72, 0.75]}
    scores = of.from_scores(folds, n_train=60, n_test=30)
    with pytest.raises(NeedError, match=r"adjust='westfall_young' needs predictions; .* Use adjust='holm'"):
        compare.pairs(scores, adjust="westfall_young")
