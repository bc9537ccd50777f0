"""Spaces for survival times, where scikit-survival is installed."""

import re
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from outfold.exceptions import InputError
from outfold.learners import describe, spaces
from table_frames import KINDS, everything


def outcome(X, seed=0):
    """Times that are shorter for older people, of which a third are censored."""
    rng = np.random.default_rng(seed)
    time = rng.exponential(np.exp(-(X["age"].fillna(50).to_numpy() - 50) / 8))
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(len(X)) < 0.67, time
    return y


def test_what_is_missing_is_told(monkeypatch):
    monkeypatch.setattr("outfold.learners.spaces.survival.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"need scikit-survival. pip install 'outfold\[survival\]'"):
        spaces.make_space("small", np.zeros((20, 2)), None, "survival")


def test_each_space_contains_the_one_before():
    pytest.importorskip("sksurv")
    before = of.Configs()
    for name, about in (("small", 50), ("standard", 120), ("thorough", 250)):
        configs = spaces.make_space(name, np.zeros((100, 10)), None, "survival")
        assert list(configs)[: len(before)] == list(before)
        assert len(configs) == pytest.approx(about, rel=0.05)
        assert [n for block in spaces.blocks(configs) for n in block] == list(configs)
        before = configs


def test_every_kind_of_model_gives_risks_and_curves_that_are_better_than_chance():
    pytest.importorskip("sksurv")
    X = everything(120)
    y = outcome(X)
    configs = spaces.make_space("thorough", X, y, "survival", KINDS)
    first = {}
    for name, pipeline in configs.items():
        first.setdefault(tuple(type(step).__name__ for _, step in pipeline.steps), name)
    chosen = {name: configs[name] for name in [*first.values(), "coxnet(l1_ratio=0.5, alpha=0.1)", "cox(alpha=1)"]}
    oof = of.collect(chosen, X, y, of.Plan(folds=3), task="survival")
    assert oof.response == "survival"
    assert oof.completeness == 1.0
    assert oof.leaderboard("concordance").scores[0] > 0.65
    board = oof.leaderboard("integrated_brier")
    assert not board.left_out
    assert board.scores[0] < 0.8 * board.baseline.value


def test_survival_models_have_words():
    pytest.importorskip("sksurv")
    configs = spaces.make_space("thorough", np.zeros((100, 10)), None, "survival")
    assert describe(configs["cox(alpha=1)"]).startswith(
        "Cox regression with a ridge penalty (penalty 1) on 10 numbers."
    )
    texts = [describe(c) for c in configs.values()]
    assert len(set(texts)) == len(texts)


def test_the_session_of_the_page_prints_what_stands_below_it(capsys):
    pytest.importorskip("sksurv")
    page = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text().partition("## Survival times\n")[2]
    (session,) = re.findall(r"^```python\n([^`]*)^```\n```\n(.*?)^```", page, re.M | re.S)
    exec(compile(session[0], "docs/spaces.md", "exec"), {"of": of, "spaces": spaces})
    assert capsys.readouterr().out == session[1]
