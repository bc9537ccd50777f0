"""One metric selects and another scores: `bbc(selected_by=...)`, and the second number of survival models."""

from __future__ import annotations

import numpy as np
import pytest

import outfold as of
from conftest import make_predictions
from internals import cli
from outfold.estimate._beside import beside
from outfold.estimate._bootstrap import _KNOWN
from outfold.exceptions import NeedError
from outfold.metrics._scoring import Scoring
from outfold.requirements import met


def by_hand(oof, selects, scores, counts):
    """Each draw selects on what it drew, by one metric, and scores what it left out, by the other."""
    first, second = of.metrics.get(selects), of.metrics.get(scores)
    ranked, scored = oof.respond(first.needs)[0], oof.respond(second.needs)[0]
    found = []
    for row in counts:
        inside = [first.sign * first.reference(oof.target, P, row) for P in ranked]
        found.append(second.reference(oof.target, scored[int(np.argmax(inside))], (row == 0).astype(float)))
    return np.array(found)


@pytest.mark.parametrize(
    ("kind", "selects", "scores"),
    [
        ("integrated_brier", "concordance", "integrated_brier"),
        ("integrated_brier", "integrated_brier", "concordance"),
        ("roc_auc", "roc_auc", "brier"),
    ],
)
def test_each_draw_selects_by_one_metric_and_scores_by_the_other(kind, selects, scores):
    oof = make_predictions(kind, n=50, seed=2)
    counts = np.random.default_rng(0).multinomial(50, np.full(50, 0.02), size=40)
    found = of.estimate.bbc(oof, scores, selected_by=selects, draws=counts, draws_are="counts")
    np.testing.assert_allclose(found.draws, by_hand(oof, selects, scores, counts), rtol=1e-9)
    assert found.selected == oof.selection(selects).name
    assert found.metric == scores
    assert f"selected by {of.formatting.called(selects)}" in found.description
    assert found.rule.startswith(f"best pooled {of.formatting.called(selects)}")


def test_the_metric_itself_may_be_named():
    oof = make_predictions("integrated_brier")
    plain, named = (of.estimate.bbc(oof, "integrated_brier", selected_by=by) for by in (None, "integrated_brier"))
    assert (plain.value, plain.interval, plain.description) == (named.value, named.interval, named.description)


def without_curve(oof, *configs):
    """The same where these configurations give no curve."""
    P = np.array(oof.P)
    P[:, list(configs), :, 1:] = np.nan
    return of.from_arrays(oof.y, P, folds=oof.folds, times=oof.times)


def test_configurations_without_curves_cannot_be_selected_by_them():
    oof = make_predictions("integrated_brier", seed=4)
    won = oof.selection("integrated_brier").name
    lacks = without_curve(oof, oof.configs.index(won))
    found = of.estimate.bbc(lacks, "integrated_brier")
    assert found.selected != won
    assert "(1 without a curve)" in found.rule
    assert lacks.leaderboard("integrated_brier").left_out == {won: "no curve"}
    assert [note.text for note in found.notes if note.code == "OF223"] == [
        "1 configuration gives no survival curve and cannot be selected by it."
    ]
    with pytest.raises(NeedError, match="no configuration gives survival curves"):
        of.estimate.bbc(without_curve(oof, *range(7)), "integrated_brier")


def test_the_other_number_of_survival_models():
    oof = make_predictions("integrated_brier", seed=4)
    other = beside(oof, n_resamples=100)
    assert other.metric == "integrated_brier"
    assert other.about == "at 3 times from 3 to 9"
    assert (
        other.estimate.value
        == of.estimate.bbc(oof, "integrated_brier", selected_by="concordance", n_resamples=100).value
    )
    assert other.baseline == oof.leaderboard("integrated_brier").baseline
    turned = beside(oof.selecting_by("integrated_brier"), n_resamples=100)
    assert (turned.metric, turned.estimate.selected) == ("concordance", oof.selection("integrated_brier").name)
    assert beside(make_predictions("concordance")) is None
    lacks = without_curve(oof, oof.configs.index(oof.selection("concordance").name))
    assert beside(lacks)[1:] == (None, other.baseline, "it gives no survival curve")


def test_only_those_who_are_observed_for_long_enough_tell():
    oof = make_predictions("integrated_brier")
    early = np.minimum(oof.target.y, 8.0), oof.target.event & (oof.target.y < 8)
    short = of.from_arrays(np.stack(early, axis=1), oof.P, folds=oof.folds, times=oof.times)
    with pytest.raises(NeedError, match="needs samples that are observed after 9; the last of these is observed at 8"):
        short.leaderboard("integrated_brier")
    assert 0 < short.leaderboard("concordance").scores[0] <= 1


def test_losses_of_other_pairs_are_not_known():
    oof = make_predictions("integrated_brier")
    assert met((_KNOWN,), Scoring(oof, "concordance"))
    assert not met((_KNOWN,), Scoring(oof, "integrated_brier"))


def test_the_command_line_knows_what_selects(tmp_path, capsys):
    oof = make_predictions("integrated_brier", seed=4)
    path = str(oof.save(tmp_path / "run.oof"))
    asked = ["estimate", path, "--metric", "integrated_brier", "--selected-by", "concordance"]
    assert cli.main([*asked, "--resamples", "100"]) == 0
    expected = of.estimate.bbc(oof, "integrated_brier", selected_by="concordance", n_resamples=100)
    assert capsys.readouterr().out == f"{expected}\n"
    assert cli.main([*asked, "--method", "tt"]) == 2
    assert "--selected-by is not an option of tt" in capsys.readouterr().err
