"""The answer of `outfold run`: one score everywhere, all that was tried counts, and its files change all at once."""

from __future__ import annotations

import html
import json
import os
import signal

import numpy as np
import pytest

import outfold as of
from extras import pd
from internals import cli, report_again, run
from outfold.apps.folder import RunFolder
from outfold.exceptions import FileError, StoreMismatchError
from outfold.learners import spaces

N = 90
TREES = ("tree(max_depth=2, min_samples_leaf=5)", "tree(max_depth=3, min_samples_leaf=20)")


def few(*names):
    """These configurations of the small space."""

    def configs(X, y, task):
        space = spaces.make_space("small", X, y, task)
        return of.Configs({name: space[name] for name in names}, space.params)

    return configs


def make(seed=0, n=N):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({"row": [f"r{seed}-{i}" for i in range(n)], "x": rng.normal(size=n), "z": rng.normal(size=n)})
    made["y"] = np.where(made["x"] + 1.2 * rng.normal(size=n) > 0, "ill", "well")
    return made


def run_on(frame, folder, said=None, **options):
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    how = {"space": few("logit(C=1)", *TREES), "folds": 3, "repeats": 1, "n_jobs": 1, "progress": False} | options
    say = (lambda text: None) if said is None else said.append
    return run.run(path, "y", folder / "out", say=say, **how)


# -- one score ----------------------------------------------------------------------------------------------


def winner(found):
    board = found.page.leaderboard
    return dict(zip(board.configs, board.scores.tolist(), strict=True))[found.estimate.selected]


def test_the_table_has_the_score_that_the_estimate_corrects(tmp_path):
    found = run_on(make(), tmp_path)
    oof = of.load(tmp_path / "out" / "run.oof")
    assert oof.criterion.aggregate == "within"
    assert winner(found) == found.estimate.naive == oof.selection().score
    assert found.estimate.naive != pytest.approx(oof.selection(aggregate="pooled").score, abs=1e-6)
    best = json.loads((tmp_path / "out" / "progress.json").read_text())["best"]
    assert (best["config"], best["score"]) == (found.estimate.selected, found.estimate.naive)
    text = str(found)
    assert "Best AUC within folds of 3 configurations, before the correction:\n" in text
    assert text.count("(selected)") == 1
    assert "\n  baseline   ranking at random: 0.50\n" in text  # with the digits of the estimate
    assert (of.estimate.bbc(oof).value, of.estimate.bbc(oof).naive) == (found.estimate.value, found.estimate.naive)


def test_scores_of_another_kind_are_named(tmp_path):
    found = run_on(make(), tmp_path, aggregate="pooled")
    assert winner(found) != found.estimate.naive
    text = str(found)
    assert "the winner's cross-validation score within folds, " in text.splitlines()[0]
    assert "before the correction; the winner's score above is made within folds:" in text
    page = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert "The table has the pooled AUC, which selects; the winner's score in the headline" in page
    assert "The table has the pooled AUC, which selects" in found.page.to_markdown()


def test_with_few_groups_in_a_fold_both_are_pooled(tmp_path):
    frame = make().assign(who=[f"g{i % 9}" for i in range(N)])
    found = run_on(frame, tmp_path, group="who")
    assert of.load(tmp_path / "out" / "run.oof").criterion.aggregate == found.estimate.aggregate == "pooled"
    assert winner(found) == found.estimate.naive


# -- thresholds, test part ----------------------------------------------------------------------------------


def test_the_threshold_is_computed_once_and_a_space_sees_training_rows_only(tmp_path, monkeypatch):
    monkeypatch.setattr("outfold.reporting.document._PREDICTIONS_DRAWN", 1)  # as of a large table
    seen = []

    def configs(X, y, task):
        seen.append((X, y))
        return few("logit(C=1)", TREES[0])(X, y, task)

    frame = make()
    found = run_on(frame, tmp_path, threshold="youden", test=0.3, space=configs)
    assert found.at_threshold is found.page.thresholds[0]
    assert "1,000 bootstrap draws" not in str(found.at_threshold)
    ((X, y),) = seen
    oof = of.load(tmp_path / "out" / "run.oof")
    apart = set(oof.provenance["test_part"]["rows"])
    rest = [i for i in range(N) if i not in apart]
    np.testing.assert_array_equal(X["x"], frame["x"].iloc[rest])
    np.testing.assert_array_equal(y, frame["y"].iloc[rest])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "came true" in page  # the test part
    assert f"on {len(apart)} test samples" in page


def test_a_search_that_was_stopped_does_not_look_at_the_test_part(tmp_path):
    said = []
    found = run_on(make(), tmp_path, said, test=0.3, budget=1e-6)
    assert (found.reason, found.test) == ("budget", None)
    assert "ledger" not in of.load(tmp_path / "out" / "run.oof").provenance
    assert "the test part is not scored yet: that is done once, when the search is complete" in said
    whole = run_on(make(), tmp_path, test=0.3)
    assert whole.test.n_new == N - whole.estimate.n_samples


# -- all that was tried counts ------------------------------------------------------------------------------


def test_a_smaller_space_is_corrected_for_all_that_was_tried(tmp_path):
    frame, said = make(), []
    larger = run_on(frame, tmp_path, drop=False)
    again = run_on(frame, tmp_path, said, drop=False, space=few("logit(C=1)"))
    assert again.estimate.value == larger.estimate.value
    assert again.estimate.n_configs == 3
    assert f"2 configurations of earlier runs in {tmp_path / 'out'} count too" in "\n".join(said)
    assert of.load(tmp_path / "out" / "run.oof").configs == ("logit(C=1)", *TREES)
    assert "and 2 of earlier runs in the same folder" in (tmp_path / "out" / "MODEL.md").read_text()


def test_configurations_that_cannot_be_made_again_are_refused(tmp_path):
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    def mine(**models):
        return lambda X, y, task: of.Configs(models)

    frame = make()[["x", "z", "y"]]
    run_on(frame, tmp_path, space=mine(bayes=GaussianNB(), dummy=DummyClassifier()))
    before = (tmp_path / "out" / "run.oof").read_bytes()
    with pytest.raises(StoreMismatchError) as caught:
        run_on(frame, tmp_path, space=mine(dummy=DummyClassifier()))
    assert str(caught.value) == (
        f"{tmp_path / 'out'} has predictions of 1 configuration that this space lacks: 'bayes'. All that was tried must count: "
        "add them to the space, or use another out."
    )
    assert (tmp_path / "out" / "run.oof").read_bytes() == before


# -- the folder ---------------------------------------------------------------------------------------------


def test_two_runs_in_one_folder(tmp_path):
    with RunFolder(tmp_path / "out"), pytest.raises(FileError) as caught:
        run_on(make(), tmp_path)
    words = f"another run is writing to the folder {tmp_path / 'out'}. Wait until it has finished, or use another out."
    assert str(caught.value) == words
    run_on(make(), tmp_path, space=few("logit(C=1)"))  # the lock is gone


def contents(folder):
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("progress.json", "search.oof")
    }


def test_a_second_ctrl_c_leaves_the_old_answer_or_a_new_one(tmp_path, monkeypatch):
    """The first one that comes while the answer is written only tells that it is."""
    frame, said, signals = make(), [], []

    def press(*args, **options):
        for number in signals:
            os.kill(os.getpid(), number)
        return report(*args, **options)

    report = report_again.report
    monkeypatch.setattr(report_again, "report", press)
    run_on(frame, tmp_path, space=few("logit(C=1)"))
    before, out = contents(tmp_path / "out"), tmp_path / "out"
    signals[:] = [signal.SIGINT, signal.SIGINT]
    with pytest.raises(KeyboardInterrupt) as caught:
        run_on(frame, tmp_path, said)
    assert "run the same command to go on" in caught.value.__notes__[-1]
    assert any("Outfold is writing the answer" in text for text in said)
    assert contents(out) == before
    assert json.loads((out / "progress.json").read_text())["state"] == "failed"
    assert (out / "search.oof").exists()
    signals[:] = [signal.SIGTERM]
    found = run_on(frame, tmp_path)
    assert found.estimate.n_configs == 3
    assert of.load_model(out).about.configuration == found.estimate.selected
    assert sorted(contents(out)) == sorted(before)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_that_is_killed_while_files_move_leaves_no_model_of_another_answer(tmp_path, monkeypatch):
    frame = make()
    run_on(frame, tmp_path, space=few(TREES[0]))
    moved, replace = [], os.replace

    def die(source, target):
        if source.parent.name == ".answer" and target.parent == tmp_path / "out":
            moved.append(target.name)
            if len(moved) == 3:
                raise SystemExit
        replace(source, target)

    monkeypatch.setattr("outfold.apps.folder.os.replace", die)
    with pytest.raises(SystemExit):
        run_on(frame, tmp_path)
    with pytest.raises(FileError, match=r"there is no model\.json"):
        of.load_model(tmp_path / "out")
    monkeypatch.undo()
    found = run_on(frame, tmp_path)
    assert of.load_model(tmp_path / "out").about.configuration == found.estimate.selected


# -- using it -----------------------------------------------------------------------------------------------


def test_merged_classes_new_labels_ids_and_the_report(tmp_path, capsys):
    frame, later = make(), make(1, 40)
    frame.loc[[3, 40], "y"], frame.loc[7, "y"] = "selten", "einmal"
    later.loc[:4, "y"] = "selten"
    run_on(frame, tmp_path, rare_classes="merge", metric="accuracy", space=few(TREES[0]))
    out, new = tmp_path / "out", tmp_path / "new.csv"
    model = of.load_model(out)
    assert model.about.merged == {"einmal": "other", "selten": "other"}
    assert "merged into `other`: `einmal`, `selten`." in (out / "MODEL.md").read_text()
    later.to_csv(new, index=False)
    assert cli.main(["confront", str(out), str(new)]) == 0
    text, notes = capsys.readouterr()
    assert "merged     5 of 40 labels are of rare classes, which were merged for training" in text
    assert f"note: {out / 'report.html'} shows it too" in notes
    page = (out / "report.html").read_text()
    assert "on 40 new samples" in page
    assert "merged into 'other'" in html.unescape(page)
    assert cli.main(["confront", str(out), str(new)]) == 0
    assert "these rows are in the ledger already" in capsys.readouterr().err
    # The ids tell which row is which.
    assert model.about.columns.named("id") == "row"
    assert list(model.table(later)["row"]) == list(later["row"])
    assert "row" not in model.table(later.drop(columns="row"))
    # As older versions wrote them.
    (out / "report.json").unlink()
    facts = json.loads((out / "model.json").read_text())
    del facts["merged"]
    (out / "model.json").write_text(json.dumps(facts))
    assert of.load_model(out).about.merged == {}
    later["y"] = later["y"].replace("selten", "other")
    later[5:].to_csv(new, index=False)
    assert cli.main(["confront", str(out), str(new)]) == 0
    assert "report.html does not show it: an older outfold wrote this folder" in capsys.readouterr().err
