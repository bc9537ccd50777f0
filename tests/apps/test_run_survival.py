"""`outfold run` on survival times: the example of the page, the model it leaves, and its numbers as scikit-survival has them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from extras import pd
from internals import cli, run
from outfold.exceptions import InputError

pytest.importorskip("sksurv")
pytest.importorskip("skops")

PAGE = (Path(__file__).parents[2] / "docs" / "run.md").read_text().partition("## Survival times\n")[2]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.M | re.S)


def write_table(folder):
    """The table of the page: its first block of Python writes it."""
    exec(compile(BLOCKS[0][1], "docs/run.md", "exec"), {})
    return folder / "veterans.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The run of the page, in a folder of its own."""
    folder = tmp_path_factory.mktemp("survival")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        table = write_table(folder)
        (folder / "cox.py").write_text(BLOCKS[1][1])
        said = []
        options = {"time": "Survival_in_days", "event": "Status", "space": "cox.py", "folds": 5, "n_jobs": 1}
        result = run.run(table.name, None, "out", **options, progress=False, say=said.append)
        yield folder, result, said


def test_the_page_shows_what_is_printed(made, capsys, monkeypatch):
    folder, result, said = made
    commands, printed, predicting, predicted = (text for _, text in BLOCKS[2:6])
    assert (
        commands == "outfold run veterans.csv --time Survival_in_days --event Status --space cox.py --folds 5 -o out\n"
    )
    notes = [f"note: {text}" for text in said]
    assert printed == "\n".join([*notes, str(result)]) + "\n"
    monkeypatch.chdir(folder)
    pd.read_csv("veterans.csv").head(3).to_csv("new.csv", index=False)
    assert cli.main(predicting.split()[1:]) == 0
    assert capsys.readouterr().out.startswith("3 predictions in predictions.csv")
    table = pd.read_csv("predictions.csv").round(3)
    assert predicted == table.to_csv(index=False)


def test_report_and_card_have_both_numbers(made):
    folder, result, _ = made
    card, page = ((folder / "out" / name).read_text() for name in ("MODEL.md", "report.html"))
    found, other = result.estimate, result.page.beside
    assert (found.metric, other.metric, other.estimate.selected) == ("concordance", "integrated_brier", found.selected)
    assert other.baseline.value > other.estimate.value
    line = f"| integrated Brier score | {other.estimate.value:.2f} | "
    assert line in card
    assert "(the Kaplan-Meier curve for everyone) |" in card
    shown = f"{other.estimate.value:.4f}"  # the rounded scores differ by the rounded optimism with four digits only
    assert f"integrated Brier score {shown}" in str(result)
    for text in (page, result.page.to_markdown()):
        assert f"{shown} (95% CI" in text
        assert "Corrected in the same way, the integrated Brier score of its survival curves" in text
    assert result.to_dict()["beside"]["estimate"]["metric"] == "integrated_brier"
    model = of.load_model(folder / "out")
    assert "Its integrated Brier score is estimated to be 0.17 (0.13 to 0.21)." in model.describe()
    assert model.about.beside.method == "bbc"
    assert "scikit-survival" in model.about.versions
    assert of.load(folder / "out" / "run.oof").response == "survival"


def test_the_model_gives_probabilities_until_any_time(made):
    folder, _, _ = made
    model, frame = of.load_model(folder / "out"), pd.read_csv(folder / "veterans.csv")
    table = model.table(frame)
    quartiles = np.quantile(frame["Survival_in_days"][frame["Status"]], [0.25, 0.5, 0.75])
    names = [f"survival_{float(f'{time:.3g}'):g}" for time in quartiles]
    assert [name for name in table if name.startswith("survival")] == names
    assert (table[names].diff(axis=1).iloc[:, 1:] < 0).all(axis=None)
    np.testing.assert_array_equal(
        model.predict_survival(frame, [30, 200])[:, 0], model.table(frame, times=[30])["survival_30"]
    )
    steps = model.estimator.predict_survival_function(model.features(frame))
    np.testing.assert_allclose(model.predict_survival(frame, [30, 200]), [[s(30), s(200)] for s in steps], rtol=1e-12)
    assert np.corrcoef(table["prediction"], table[names[1]])[0, 1] < -0.9
    with pytest.raises(
        InputError, match="times must be times from 0 to 999, when the last training row was observed; got 1000"
    ):
        model.predict_survival(frame, [1000])


def test_what_came_true_is_as_scikit_survival_has_it(made, capsys):
    from sksurv.metrics import concordance_index_censored, integrated_brier_score
    from sksurv.util import Surv

    folder, result, _ = made
    frame = pd.read_csv(folder / "veterans.csv").sample(90, random_state=0)
    frame["Age_in_years"] += 1  # not the training rows
    frame.to_csv(folder / "later.csv", index=False)
    model, oof = of.load_model(folder / "out"), of.load(folder / "out" / "run.oof")
    time, event = frame["Survival_in_days"].to_numpy(), frame["Status"].to_numpy()
    y, command = Surv.from_arrays(event, time), ["confront", str(folder / "out"), str(folder / "later.csv")]
    assert cli.main([*command, "--forget"]) == 0
    assert (
        f"new samples       {concordance_index_censored(event, time, model.predict(frame))[0]:.4f}"
        in capsys.readouterr().out
    )
    assert cli.main([*command, "--metric", "integrated_brier", "--format", "json"]) == 0
    expected = integrated_brier_score(y, y, model.predict_survival(frame, oof.times), oof.times)
    (entry,) = of.load(folder / "out" / "run.oof").provenance["ledger"]
    assert entry["observed"] == pytest.approx(expected, rel=1e-12)
    # The estimate is the one that the run reported: that of the model that concordance selected.
    assert entry["estimate"] == result.page.beside.estimate.value


def test_models_without_curves_may_come_first(made, tmp_path):
    """They are in a wave of their own, and all waves are in one file."""
    from sklearn.pipeline import make_pipeline
    from sksurv.svm import FastSurvivalSVM

    def mixed(X, y, task):
        cox = of.learners.spaces.make_space("small", X, y, task)["cox(alpha=30)"]
        svm = make_pipeline(cox[:-1], FastSurvivalSVM(random_state=0))
        return {"svm": svm, "cox(alpha=30)": cox}

    options = {"time": "Survival_in_days", "event": "Status", "space": mixed, "folds": 3, "n_jobs": 1, "drop": False}
    run.run(made[0] / "veterans.csv", None, tmp_path / "out", **options, progress=False)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert (oof.response, oof.configs, oof.completeness) == ("survival", ("svm", "cox(alpha=30)"), 1.0)
    assert oof.leaderboard("integrated_brier").configs == ("cox(alpha=30)",)


def test_another_word_for_the_event_is_kept_with_the_model(made, tmp_path):
    folder, _, _ = made
    frame = pd.read_csv(folder / "veterans.csv").assign(Status=lambda f: np.where(f["Status"], "dead", "lost"))
    frame.to_csv(tmp_path / "t.csv", index=False)

    def one(X, y, task):
        return {"cox(alpha=30)": of.learners.spaces.make_space("small", X, y, task)["cox(alpha=30)"]}

    options = {"time": "Survival_in_days", "event": "Status", "space": one, "folds": 3, "n_jobs": 1, "progress": False}
    with pytest.raises(InputError, match=r"'Status' holds 'dead', 'lost'\. Name the value that says that it happened"):
        run.run(tmp_path / "t.csv", None, tmp_path / "out", **options)
    said = []
    run.run(tmp_path / "t.csv", None, tmp_path / "out", positive="dead", say=said.append, **options)
    assert "the event happened in 128 of 137 rows, where 'Status' is 'dead'; the other rows are censored" in said
    assert of.load_model(tmp_path / "out").about.event == "dead"
    later = frame.assign(Age_in_years=frame["Age_in_years"] + 1)
    later.to_csv(tmp_path / "later.csv", index=False)
    assert cli.main(["confront", str(tmp_path / "out"), str(tmp_path / "later.csv")]) == 0


@pytest.mark.parametrize(
    ("events", "groups", "options", "says"),
    [
        ([5], False, {}, "2 rows, so that each training part has one; the event happened in 1 row. Add"),
        (
            [5, 7],
            False,
            {"inner": True},
            "3 rows, so that each training part has one; the event happened in 2 rows. Add",
        ),
        ([4, 5], True, {}, "2 groups, so that each training part has one; the event happened in 1 group. Add"),
    ],
)
def test_too_few_events_for_the_folds_are_refused_before_the_search(tmp_path, events, groups, options, says):
    happened = np.isin(np.arange(40), events).astype(int)
    table = pd.DataFrame({"x": np.arange(40) % 7 + 0.5, "t": np.arange(40) + 1.0, "event": happened})
    if groups:
        table["group"], options = np.arange(40) // 2, options | {"group": "group"}
    table.to_csv(tmp_path / "t.csv", index=False)

    def space(X, y, task):
        raise AssertionError("nothing is made of too few events")

    options |= {"time": "t", "event": "event", "folds": 5, "repeats": 1, "space": space, "n_jobs": 1}
    with pytest.raises(InputError, match=f"5-fold needs events in at least {says}"):
        run.run(tmp_path / "t.csv", None, tmp_path / "out", **options, progress=False)
    assert not (tmp_path / "out").exists()
