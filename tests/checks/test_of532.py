"""A winner among many equals, where another one is much faster."""

import re
from dataclasses import replace

import numpy as np
import pytest

import outfold as of
from outfold.cli import main
from outfold.exceptions import InputError


def timed(oof, seconds):
    """The same predictions, with the seconds that a fold of each configuration took."""
    return replace(oof, seconds=np.broadcast_to(np.reshape(seconds, (-1, 1, 1)), oof.state.shape).copy())


def test_fires_with_the_fastest_of_those_that_cannot_be_told_from_it(says, classes):
    oof = classes(n=80, c=20, signal=1.5)
    tied = of.compare.tied_set(oof, "roc_auc")
    winner = of.select.best(oof, "roc_auc")
    fast = next(i for i in range(20) if i != winner.index and oof.configs[i] in tied)
    seconds = np.full(20, 2.0)
    seconds[fast] = 0.05
    assert says("OF532", timed(oof, seconds), "roc_auc") == (
        f"{winner.name} cannot be told from {len(tied) - 1} of the 19 others (95% confidence set of the best). "
        f"Of these, config {fast} takes 50 ms per fold, not 2.0 s."
    )


def test_silent_where_nothing_is_gained(says, classes):
    oof = classes(n=80, c=20, signal=1.5)
    assert says("OF532", oof, "roc_auc") is None  # times are not known
    assert says("OF532", timed(oof, np.full(20, 2.0)), "roc_auc") is None
    seconds = np.full(20, 0.01)
    seconds[:10] = 0.0001
    assert says("OF532", timed(oof, seconds), "roc_auc") is None  # all of them are fast
    # The winner stands out: the faster ones are worse.
    clear = classes(n=300, c=20, signal=[8.0] + [0.5] * 19)
    assert says("OF532", timed(clear, np.r_[2.0, np.full(19, 0.05)]), "roc_auc") is None
    # A draw hardly ever holds ten classes of one sample each.
    P = np.random.default_rng(0).dirichlet(np.ones(10), (10, 5, 1))
    few = of.from_arrays(np.arange(10), P, folds=np.arange(10) % 5, response="proba")
    with pytest.raises(InputError, match="tied_set needs a metric that is defined on bootstrap samples"):
        of.compare.tied_set(few, "roc_auc_ovr")
    assert says("OF532", timed(few, np.r_[2.0, np.full(4, 0.05)]), "roc_auc_ovr") is None


@pytest.mark.parametrize(
    ("metric", "n_dropped", "options"),
    [
        ("accuracy", 0, {}),
        ("roc_auc", 0, {}),
        ("roc_auc", 0, {"r": 3}),
        ("accuracy", 0, {"groups": np.arange(90) // 3}),
        ("roc_auc", 0, {"groups": np.arange(90) // 3}),
        ("roc_auc", 15, {}),
        ("log_loss", 0, {}),
    ],
)
def test_the_set_is_the_same_wherever_it_is_told(metric, n_dropped, options, classes, tmp_path, capsys):
    oof = classes(n=90, c=40, signal=np.linspace(0.5, 2.5, 40), **options)
    oof = dropped(oof, n_dropped)
    oof = timed(oof, np.where(np.arange(40) == of.select.best(oof, metric).index, 2.0, 0.05))
    found = of.compare.tied_set(oof, metric)
    assert found.n_candidates == 40 - n_dropped
    assert 4 < len(found) < found.n_candidates
    said = {"check": of.check(oof, metric), "report": of.report(oof, metric, n_resamples=200).checks}
    texts = {where: next(f.text for f in checks if f.code == "OF532") for where, checks in said.items()}
    oof.save(tmp_path / "run.oof")
    main(["check", str(tmp_path / "run.oof"), "--metric", metric])
    texts["command line"] = re.sub(r"\s+", " ", capsys.readouterr().out)
    for text in texts.values():
        assert (
            f"cannot be told from {len(found) - 1} of the {found.n_candidates - 1} others (95% confidence set" in text
        )


def dropped(oof, n):
    """The same predictions, of which the first configurations were dropped after two folds."""
    state, data = oof.state.copy(), oof.data.copy()
    state[:n, :, 2:] = of.State.DROPPED
    data[:, :n, oof.folds[:, 0] >= 2] = np.nan
    return replace(oof, state=state, data=data)


def test_a_winner_outside_of_the_tied_set_is_not_called_tied():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    P = np.clip(0.5 + 0.25 * (2 * y[:, None] - 1) * np.linspace(0.1, 1, 6) + 0.3 * rng.normal(size=(60, 6)), 0.01, 0.99)
    oof = of.from_arrays(y, P, response="proba", folds=np.arange(60) % 5).selecting_by("accuracy", rule=lambda c: 0)
    seconds = np.full(oof.state.shape, 0.01)
    seconds[0] = 5
    oof = replace(oof, seconds=seconds)
    assert "config 0" not in of.compare.tied_set(oof).configs
    assert "OF532" not in {finding.code for finding in of.check(oof)}
