"""`outfold run` on tables as people have them: each gives a result, or one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import outfold as of
from extras import pd
from internals import report_again, run, seeds_of
from outfold.exceptions import InputError, OutfoldError
from outfold.learners import spaces

N = 120


def few(names):
    """These configurations of the small space."""

    def configs(X, y, task):
        space = spaces.make_space("small", X, y, task)
        return of.Configs({name: space[name] for name in names if name in space}, space.params)

    return configs


FEW = few(
    ["logit(C=1)", "ridge(alpha=1)", "tree(max_depth=2, min_samples_leaf=5)", "tree(max_depth=3, min_samples_leaf=5)"]
)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"x": rng.normal(size=N), "z": rng.normal(size=N)})
    made["y"] = np.where(made["x"] + 0.7 * rng.normal(size=N) > 0, "krank", "gesund")
    return made


def run_on(frame, tmp_path, target="y", said=None, **options):
    path = tmp_path / "t.csv"
    if frame is not None:
        frame.to_csv(path, index=False)
    how = {"space": FEW, "folds": 3, "n_jobs": 1, "progress": False} | options
    say = (lambda text: None) if said is None else said.append
    return run.run(path, target, tmp_path / "out", say=say, **how)


def test_semicolons_commas_latin_1_dates_ids_texts_and_constants(frame, tmp_path):
    rng = np.random.default_rng(1)
    frame["Patient-ID"] = [f"P{i:04d}" for i in range(N)]
    frame["Größe"] = rng.normal(170, 10, N).round(1)
    frame["Aufnahme"] = pd.date_range("2024-01-30", periods=N).strftime("%d.%m.%Y")
    frame["Notiz"] = [
        " ".join(rng.choice(["müde", "Fieber", "Husten", "wohl", "schwach", "heiter"], 6)) for _ in range(N)
    ]
    frame["Land"] = "DE"
    frame["raucht"] = rng.choice(["ja", "nein"], N)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
    said = []
    found = run_on(None, tmp_path, said=said)
    kinds = of.load_model(tmp_path / "out").about.columns.kinds
    assert kinds == {
        "x": "number",
        "z": "number",
        "Größe": "number",
        "Aufnahme": "date",
        "Notiz": "text",
        "raucht": "boolean",
    }
    text = "\n".join(said)
    assert "separated by semicolons, decimal comma" in text
    assert "left out 'Patient-ID'" in text
    assert "left out 'Land': the same value in every row" in text
    assert found.estimate.value > 0.6
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(name in page for name in ("Größe", "Patient-ID", "separated by semicolons"))
    again = of.load_model(tmp_path / "out").predict(pd.read_csv(path, sep=";", decimal=",", encoding="latin-1"))
    assert set(again) == {"krank", "gesund"}


@pytest.mark.parametrize(("choice", "classes"), [("keep", 4), ("merge", 3), ("drop", 2)])
def test_rare_classes(frame, tmp_path, choice, classes):
    frame.loc[[3, 40], "y"] = "selten"
    frame.loc[7, "y"] = "einmal"
    said = []
    found = run_on(frame, tmp_path, said=said, rare_classes=choice, folds=5, metric="accuracy")
    oof = of.load(tmp_path / "out" / "run.oof")
    assert oof.n_folds == 5
    assert len(oof.target.classes) == classes
    assert oof.n_samples == (N - 3 if choice == "drop" else N)
    first = next(i for i, text in enumerate(said) if "fewer rows than the 5 folds" in text)
    assert "'einmal', 'selten'; 3 rows" in said[first]
    assert 0 < found.estimate.value < 1


def test_rows_without_a_target_are_left_out_and_counted(frame, tmp_path):
    frame.loc[:9, "y"] = None
    said = []
    run_on(frame, tmp_path, said=said)
    assert "left out 10 rows without a value of 'y'" in said
    assert of.load_model(tmp_path / "out").about.left_out[0].n == 10


def test_all_values_missing_in_a_training_part(frame, tmp_path):
    frame["late"] = np.where(np.arange(N) == 5, 1.5, np.nan)
    frame.loc[6, "late"] = 2.5
    run_on(frame, tmp_path, folds=10)
    assert not np.any(of.load(tmp_path / "out" / "run.oof").state == of.State.FAILED)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"x,y\n", "no rows"),
        (b"y\na\nb\na\n", "no column to predict from"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "t.csv is not a text file"),
        (b"x,y\n1,a\n2,a\n3,a\n", "at least two classes"),
        (b"x,y\n1,0.5\n2,inf\n3,1.5\n", "the target 'y' is infinite in 1 row, the first of them data row 2."),
    ],
)
def test_tables_that_give_one_clear_sentence(tmp_path, content, says):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(OutfoldError) as caught:
        run_on(None, tmp_path)
    assert says in str(caught.value)
    assert str(caught.value).count("\n") <= 2
    assert not (tmp_path / "out").exists()


def test_a_reason_why_nothing_can_be_learnt_is_given_once(frame, tmp_path):
    said = []
    with pytest.raises(InputError, match=r"there is no column to predict from \('x': the same value in every row\)"):
        run_on(frame.assign(x=1)[["x", "y"]], tmp_path, said=said)
    assert said == []


@pytest.mark.parametrize("least", [2**60, 2**63])  # numbers of 64 bits, and text
def test_classes_whose_names_are_very_large_numbers(frame, tmp_path, least):
    names = [str(least + i) for i in range(2)]
    frame["y"] = np.where(frame["y"] == "krank", *names)
    run_on(frame, tmp_path)
    assert list(map(str, of.load(tmp_path / "out" / "run.oof").target.classes)) == names
    assert set(map(str, of.load_model(tmp_path / "out").predict(frame))) == set(names)


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"folds": 4}])
def test_a_search_that_cannot_go_on_leaves_the_folder_as_it_was(frame, tmp_path, wrong):
    run_on(frame, tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(OutfoldError):
        run_on(frame, tmp_path, **wrong)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_the_folder_may_vanish_during_a_search(frame, tmp_path, monkeypatch):
    run_on(frame, tmp_path)

    def vanish(*args, store, **options):
        store.unlink()
        raise OSError("the disk is gone")

    monkeypatch.setattr(run, "collect", vanish)
    with pytest.raises(OSError, match="the disk is gone"):
        run_on(frame, tmp_path)


def test_a_test_part_is_scored_once(frame, tmp_path):
    found = run_on(frame, tmp_path, test=0.3)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert oof.n_samples == N - found.test.n_new == 84
    assert "test samples" in str(found)
    assert found.to_dict()["test"] == found.test.to_dict()
    run_on(frame, tmp_path, test=0.3)
    assert len(of.load(tmp_path / "out" / "run.oof").provenance["ledger"]) == 1


def test_threshold_and_importance(frame, tmp_path):
    found = run_on(frame, tmp_path, threshold="sensitivity=0.9", importance=True, positive="krank")
    model = of.load_model(tmp_path / "out")
    assert model.about.threshold.value == found.at_threshold.threshold
    labels = model.predict(frame) == "krank"
    np.testing.assert_array_equal(labels, model.predict_proba(frame)[:, 1] > found.at_threshold.threshold)
    importance = {row["name"]: row["mean"] for row in found.page.importance}
    assert importance["x"] > 0.1 > abs(importance["z"])


def test_importance_of_several_classes_and_of_numbers(frame, tmp_path):
    frame["y"] = np.where(frame["z"] > 0.8, "anders", frame["y"])
    found = run_on(frame, tmp_path, importance=True)
    assert {row["name"] for row in found.page.importance} == {"x", "z"}
    frame["y"] = frame["x"] * 3 + np.random.default_rng(3).normal(size=N)
    (tmp_path / "r").mkdir()
    found = run_on(frame, tmp_path / "r", importance=True)
    importance = {row["name"]: row["mean"] for row in found.page.importance}
    assert importance["x"] > 0.5 > importance["z"]


def test_columns_of_a_file_decide(frame, tmp_path):
    frame["code"] = np.arange(N) % 4
    (tmp_path / "columns.toml").write_text(
        '[columns]\ncode = {role = "feature", kind = "category"}\nz = {role = "unused"}\n'
    )
    run_on(frame, tmp_path, columns=tmp_path / "columns.toml")
    assert of.load_model(tmp_path / "out").about.columns.kinds == {"x": "number", "code": "category"}
    assert (tmp_path / "out" / "columns.toml").read_text().count("role") == 4


def test_a_larger_space_goes_on_from_a_smaller_one(frame, tmp_path):
    run_on(frame, tmp_path, space=few(["logit(C=1)"]))
    run_on(frame, tmp_path)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert set(oof.configs) == {
        "logit(C=1)",
        "tree(max_depth=2, min_samples_leaf=5)",
        "tree(max_depth=3, min_samples_leaf=5)",
    }
    assert not np.any(np.isin(oof.state, (of.State.FAILED, of.State.PENDING)))


def test_the_plan_and_dropping_are_those_that_are_advised(frame, tmp_path):
    run_on(frame, tmp_path, folds=None)
    oof = of.load(tmp_path / "out" / "run.oof")
    advice = of.advise(N, 3)
    assert (oof.plan.folds, oof.plan.repeats) == (advice.plan.folds, advice.plan.repeats) == (10, 1)
    assert oof.provenance["identity"]["drop"] == repr(advice.drop).replace("metric=None", "metric='roc_auc'")


def test_predict_notes_numbers_that_are_written_otherwise(frame, tmp_path, capsys):
    from internals import cli

    frame["z"] = (frame["z"] * 1e4).round(1)
    path, new = tmp_path / "t.csv", tmp_path / "new.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    run_on(None, tmp_path)
    frame.to_csv(new, index=False)
    assert cli.main(["predict", str(tmp_path / "out"), str(new), "-o", str(tmp_path / "p.csv")]) == 0
    assert "numbers seem to be written in another way than in the training table" in capsys.readouterr().err
    frame.to_csv(new, index=False, sep=";", decimal=",")
    assert cli.main(["predict", str(tmp_path / "out"), str(new), "-o", str(tmp_path / "p.csv")]) == 0
    assert "written in another way" not in capsys.readouterr().err


def test_a_budget_must_be_positive(frame, tmp_path):
    with pytest.raises(InputError, match="more than 0 seconds"):
        run_on(frame, tmp_path, budget=0)


def test_the_budget_counts_from_when_the_command_was_loaded(frame, tmp_path, monkeypatch):
    """As `outfold run` does: what Python imports for it is part of the time that people wait."""
    import time

    from internals import cli

    found = run_on(frame, tmp_path, budget=1000.0, start=time.monotonic() - 1000.0, drop=False)
    assert (found.reason, found.estimate.n_configs) == ("budget", 1)
    seen = []
    monkeypatch.setattr("outfold.cli.running.run", lambda *args, **options: seen.append(options["start"]) or found)
    monkeypatch.setattr("sys.argv", ["outfold", "run", str(tmp_path / "t.csv"), "--target", "y"])
    assert cli.main() == 0
    assert cli.main(["run", str(tmp_path / "t.csv"), "--target", "y"]) == 0
    assert seen[0] == cli.LOADED < seen[1]


def test_folds_alone_leave_the_repeats_that_are_advised(frame, tmp_path):
    run_on(frame[:60], tmp_path, folds=3)
    plan = of.load(tmp_path / "out" / "run.oof").plan
    assert (plan.folds, plan.repeats) == (3, of.advise(60, 2).plan.repeats)


def test_equal_configurations_are_in_the_order_of_the_space(frame, tmp_path):
    """The file must select what the run has selected, whatever wave a configuration came in."""
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    def configs(X, y, task):
        dummy, bayes = DummyClassifier(), GaussianNB()
        return of.Configs({"a": dummy, "b": DummyClassifier(), "c": bayes, "d": GaussianNB(), "e": DummyClassifier()})

    found = run_on(frame, tmp_path, space=configs, drop=False)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert oof.configs == ("a", "b", "c", "d", "e")
    assert oof.selection().name == found.estimate.selected == of.load_model(tmp_path / "out").about.configuration == "c"


@pytest.mark.parametrize(("threshold", "says"), [("youdn", "threshold"), ("youden", "needs a target of two classes")])
def test_a_threshold_that_cannot_be_is_refused_before_the_search(frame, tmp_path, threshold, says):
    frame["y"] = np.where(frame["z"] > 0.8, "anders", frame["y"])
    with pytest.raises(InputError, match=says):
        run_on(frame, tmp_path, threshold=threshold)
    assert not (tmp_path / "out").exists()


def test_a_threshold_of_scores_cuts_scores(frame, tmp_path):
    from sklearn.svm import SVC

    def configs(X, y, task):
        return of.grid("svm", SVC(), C=[0.1, 1.0])

    found = run_on(frame[["x", "z", "y"]], tmp_path, space=configs, threshold="youden", positive="krank")
    model = of.load_model(tmp_path / "out")
    margins = model.estimator.decision_function(frame[["x", "z"]])
    np.testing.assert_array_equal(model.predict(frame) == "krank", margins > found.at_threshold.threshold)
    assert "decision_function" in (tmp_path / "out" / "MODEL.md").read_text()


def test_models_with_and_without_probabilities_are_in_one_search(frame, tmp_path):
    """They come in different waves, and all waves are in one file."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    def configs(X, y, task):
        return of.Configs({"logit": LogisticRegression()}) | of.grid("svm", SVC(), C=[0.1, 1.0])

    run_on(frame, tmp_path, space=configs, drop=False)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert (oof.response, len(oof.configs), oof.completeness) == ("score", 3, 1.0)


def test_merged_classes_get_a_free_name(frame, tmp_path):
    frame.loc[:30, "y"] = "other"
    frame.loc[[33, 40], "y"] = "selten"
    run_on(frame, tmp_path, folds=5, rare_classes="merge", metric="accuracy")
    assert sorted(of.load(tmp_path / "out" / "run.oof").target.classes) == ["gesund", "krank", "other", "other (rare)"]


def test_classes_that_may_mean_missing_are_named(frame, tmp_path):
    frame.loc[:9, "y"] = "unknown"
    said = []
    run_on(frame, tmp_path, said=said, metric="accuracy")
    assert "'unknown' is taken as a class (10 rows); empty these cells if they have no label" in said


def test_warnings_of_the_last_fit_are_one_note(frame, tmp_path, recwarn):
    from sklearn.linear_model import LogisticRegression

    said = []
    space = of.Configs({"short": LogisticRegression(max_iter=1, C=1e6)})
    run_on(frame, tmp_path, said=said, space=space, importance=True)
    assert said.count("the fit on all rows gave warnings: ConvergenceWarning") == 1
    assert not [str(found.message) for found in recwarn]


def test_events_that_cannot_be_understood(frame, tmp_path):
    frame["event"] = "dead"
    frame["t"] = np.arange(N) + 1.5
    with pytest.raises(InputError, match="event must hold 1 if the event happened and 0 if not"):
        run_on(frame.drop(columns="y"), tmp_path, target=None, time="t", event="event")


def test_the_page_is_live_until_there_is_a_report(frame, tmp_path, monkeypatch):
    import json

    states = []
    whole = report_again.report

    def watched(*args, **options):
        states.append(json.loads((tmp_path / "out" / "progress.json").read_text())["state"])
        return whole(*args, **options)

    monkeypatch.setattr(report_again, "report", watched)
    run_on(frame, tmp_path)
    states.append(json.loads((tmp_path / "out" / "progress.json").read_text())["state"])
    assert states == ["running", "finished"]


@pytest.mark.parametrize(
    ("words", "positive", "first"), [(("ja", "nein"), None, "nein"), (("ja", "nein"), "nein", "ja")]
)
def test_the_word_for_yes_is_the_positive_class_unless_you_name_another(frame, tmp_path, words, positive, first):
    frame["y"] = np.where(frame["y"] == "krank", *words)
    said = []
    run_on(frame, tmp_path, said=said, positive=positive)
    last = positive or words[0]
    model = of.load_model(tmp_path / "out")
    assert model.about.classes == (first, last)
    proba = model.predict_proba(frame)[:, 1]
    assert proba[frame["y"] == last].mean() > proba[frame["y"] == first].mean()
    note = "the positive class is 'ja' (--positive 'nein' for the other)"
    assert (note in said) == (positive is None)
    assert tuple(of.load(tmp_path / "out" / "run.oof").target.classes) == (first, last)


def test_a_guess_about_the_order_of_dates_is_said_once(frame, tmp_path):
    frame["visit"] = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/2020" for i in range(N)]
    said = []
    run_on(frame, tmp_path, said=said)
    assert sum("month before day is a guess" in text for text in said) == 1


def test_a_past_date_that_is_a_feature_comes_with_one_note(frame, tmp_path):
    frame["admitted"] = pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
    said = []
    run_on(frame, tmp_path, said=said)
    notes = [text for text in said if "outside the training range" in text]
    assert len(notes) == 1
    assert "--drop-columns admitted" in notes[0]


def test_several_seeds(frame, tmp_path):
    from outfold.exceptions import StoreMismatchError

    def forest(X, y, task):
        return of.grid("trees", ExtraTreesClassifier(3, min_samples_leaf=5), max_depth=[2, 4])

    found = run_on(frame, tmp_path, space=forest, seeds=3, importance=True)
    table = pd.DataFrame({"x": frame["x"], "z": frame["z"]})
    model = of.load_model(tmp_path / "out")
    assert len(model.estimator.estimators_) == 3
    depth = {"trees(max_depth=2)": 2, "trees(max_depth=4)": 4}[found.estimate.selected]
    made = [ExtraTreesClassifier(3, min_samples_leaf=5, max_depth=depth, random_state=s) for s in seeds_of(3, 0)]
    expected = np.mean([one.fit(table, frame["y"]).predict_proba(table)[:, 1] for one in made], axis=0)
    np.testing.assert_allclose(model.predict_proba(table)[:, 1], expected, atol=1e-12)
    falls = {row["name"]: row["mean"] for row in found.page.importance}
    assert falls["x"] > falls["z"]
    oof = of.load(tmp_path / "out" / "run.oof")
    assert oof.blocks["seeds"].n_repeats == 3 * oof.n_repeats
    again = run_on(frame, tmp_path, space=forest, seeds=3)
    assert again.estimate.value == found.estimate.value
    with pytest.raises(StoreMismatchError, match=r"seeds=3 \(now seeds=1\).*Use another out"):
        run_on(frame, tmp_path, space=forest)
