"""The runner of studies: finished units survive, and what is found does not depend on stops or processes."""

from __future__ import annotations

import json
import multiprocessing
import time

import numpy as np
import pytest
from harness import Headline, Study, Verdict, concluded, generator, printed
from harness.bias import obrien, stars, summary
from harness.command import as_result, main
from harness.data import DataSet, adaptive_folds, draw, pool_and_truth
from harness.many_tests import pvalues
from harness.networks import Network
from harness.pages import fixed, table
from harness.protocols import race, saved, without
from harness.runner import RawFile, in_words, run_units
from scipy import stats

import outfold as of

CALLS: list[int] = []


def count(unit):
    CALLS.append(unit["x"])
    return {"value": float(generator(unit).normal())}


def stop_at_three(unit):
    if unit["x"] == 3:
        raise KeyboardInterrupt
    return count(unit)


def fail(unit):
    raise ValueError("no such thing")


def hang_after_the_first(unit):
    if unit["x"]:
        time.sleep(600)
    return count(unit)


def make_study(run=count, version=1):
    return Study(
        name="counting",
        title="Counting",
        source="nobody",
        units=lambda size: [{"x": x} for x in range(6)],
        run=run,
        summarize=lambda records: {"values": [record.row["value"] for record in records]},
        page=lambda result: [],
        verdict=lambda result: Verdict("ours", "", ()),
        draw=lambda result: None,
        version=version,
    )


def run_all(study, path, **options):
    CALLS.clear()
    return run_units(study, list(study.units("full")), RawFile(path, study.version), **options)


def test_a_run_that_was_stopped_goes_on(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        run_all(make_study(stop_at_three), tmp_path / "raw.jsonl")
    assert CALLS == [0, 1, 2]
    stopped = run_all(make_study(), tmp_path / "raw.jsonl")
    assert CALLS == [3, 4, 5]
    whole = run_all(make_study(), tmp_path / "other.jsonl")
    assert [(r.unit, r.row) for r in stopped.values()] == [(r.unit, r.row) for r in whole.values()]
    assert "run before" not in capsys.readouterr().err
    run_all(make_study(), tmp_path / "raw.jsonl")
    assert CALLS == []
    assert "counting: all 6 units were run before" in capsys.readouterr().err


def test_two_processes_find_the_same(tmp_path):
    one = run_all(make_study(), tmp_path / "one.jsonl")
    two = run_all(make_study(), tmp_path / "two.jsonl", jobs=2)
    assert CALLS == []  # the work was done elsewhere
    assert [(r.unit, r.row) for r in one.values()] == [(r.unit, r.row) for r in two.values()]
    assert as_result(make_study(), list(two.values()))["values"] == [r.row["value"] for r in one.values()]


def test_a_line_that_a_crash_cut_off_is_done_again(tmp_path):
    path = tmp_path / "raw.jsonl"
    run_all(make_study(), path)
    whole = path.read_text()
    path.write_text(whole[:-30])
    run_all(make_study(), path)
    assert CALLS == [5]
    assert len(RawFile(path, 1).read()) == 6
    assert [json.loads(line)["unit"]["x"] for line in path.read_text().splitlines()[:5]] == [0, 1, 2, 3, 4]


def test_units_of_another_version_do_not_count(tmp_path):
    run_all(make_study(), tmp_path / "raw.jsonl")
    run_all(make_study(version=2), tmp_path / "raw.jsonl")
    assert CALLS == [0, 1, 2, 3, 4, 5]


def test_a_time_limit_leaves_what_is_finished(tmp_path):
    assert run_all(make_study(), tmp_path / "raw.jsonl", minutes=0) == {}


def test_one_run_at_a_time(tmp_path):
    raw = RawFile(tmp_path / "raw.jsonl", 1)
    with raw.open(), pytest.raises(SystemExit, match="another run is writing"):
        run_all(make_study(), raw.path)


def test_workers_end_with_a_driver_that_is_killed(tmp_path):
    """They would hold the lock of the file, and the next run would be refused."""
    path = tmp_path / "raw.jsonl"
    driver = multiprocessing.get_context("fork").Process(
        target=run_all, args=(make_study(hang_after_the_first), path), kwargs={"jobs": 2}
    )
    driver.start()
    while not path.exists() or not path.read_text():
        time.sleep(0.05)
    driver.kill()
    driver.join()
    until = time.monotonic() + 20
    while True:  # the workers need a moment to notice
        try:
            assert len(run_all(make_study(), path)) == 6
            break
        except SystemExit:  # one of them still holds the lock
            assert time.monotonic() < until
            time.sleep(0.05)


def test_an_error_names_its_unit(tmp_path):
    with pytest.raises(ValueError, match="no such thing") as caught:
        run_all(make_study(fail), tmp_path / "raw.jsonl")
    assert caught.value.__notes__ == ['in the unit {"x": 0}']


def test_ctrl_c_says_how_to_go_on(monkeypatch, capsys):
    def interrupted(study, asked):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.command._one", interrupted)
    assert main(["selection-optimism"]) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_an_unknown_study_is_refused():
    with pytest.raises(SystemExit, match="there is no study 'nothing'; there are selection-optimism"):
        main(["nothing"])


def test_random_numbers_follow_from_the_words_of_a_unit():
    first, same, other = (generator(unit).random() for unit in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 1}))
    assert first == same != other


@pytest.mark.parametrize(("seconds", "words"), [(5, "5 s"), (600, "10 min"), (9000, "2.5 h")])
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


# -- data ---------------------------------------------------------------------------------------------------------


def test_pool_and_truth_share_no_row_and_have_the_same_classes():
    y = np.repeat([0, 1], [700, 300])
    pool, truth = pool_and_truth(y, 0.3)
    assert sorted([*pool, *truth]) == list(range(1000))
    assert np.bincount(y[pool]).tolist() == [210, 90]
    rows = draw(pool, 50, np.random.default_rng(0))
    assert len(set(rows.tolist())) == 50
    assert set(rows) <= set(pool)


def test_no_more_folds_than_the_rarest_class_has_members():
    assert [adaptive_folds(np.repeat([0, 1], pair)) for pair in ((50, 20), (50, 4), (50, 1))] == [10, 4, 1]
    assert adaptive_folds(np.zeros(9, dtype=int)) == 0


def test_inputs_become_numbers():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", "x"]})
    data = DataSet("mixed", X, np.array([0, 1, 0]), ("no", "yes"))
    assert data.numbers.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    assert data.labels.tolist() == ["no", "yes", "no"]


# -- bias ---------------------------------------------------------------------------------------------------------


def test_bias_and_its_two_tests():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, 40), rng.normal(0, 2, 40)
    found = summary([*a, None])
    assert found["n"] == 40
    assert found["mean"] == pytest.approx(a.mean(), abs=1e-5)
    assert found["se"] == pytest.approx(stats.sem(a), abs=1e-5)
    assert found["pvalue"] == pytest.approx(stats.ttest_1samp(a, 0).pvalue, rel=0.01)
    # O'Brien (1979): r = ((n - 1.5) n (x - m)^2 - 0.5 s2 (n - 1)) / ((n - 1)(n - 2)), then an analysis of variance.
    transformed = [
        ((n - 1.5) * n * (x - x.mean()) ** 2 - 0.5 * x.var(ddof=1) * (n - 1)) / ((n - 1) * (n - 2))
        for x in (a, b)
        for n in (len(x),)
    ]
    assert obrien(a, b) == pytest.approx(stats.f_oneway(*transformed).pvalue, rel=0.01)
    assert [stars(p) for p in (None, 0.2, 0.03, 0.001)] == ["", "", "*", "**"]
    assert summary([None])["mean"] is None
    assert obrien([1.0, 1.0, 1.0], b) is None


# -- dropping -----------------------------------------------------------------------------------------------------


def test_a_race_drops_what_collect_drops():
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 5, 25])
    configs |= of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 3], max_features=[1, 3])
    rule = of.drop.Bootstrap(metric="accuracy")
    options = {"rng": 3, "metric": "accuracy", "progress": False}
    whole = of.collect(configs, X, y, of.Plan(folds=10), **options)
    raced = of.collect(configs, X, y, of.Plan(folds=10), drop=rule, **options)
    dropped = race(whole, rule, seed=3)
    assert dropped
    state = raced.state[:, 0]
    assert {name for name in raced.configs if (state[raced.config_index(name)] == of.State.DROPPED).any()} == set(
        dropped
    )
    for name, fold in dropped.items():
        assert (state[raced.config_index(name)] == of.State.DROPPED).sum() == 9 - fold
    assert saved(whole, dropped) == np.mean(raced.state == of.State.DROPPED)
    assert without(whole, dropped).configs == tuple(name for name in whole.configs if name not in dropped)


def test_a_test_on_many_data_sets_is_the_test_on_each():
    import gaussians

    errors = np.random.default_rng(0).integers(0, 8, size=(20, 2, 2)) / 50
    plan = of.Plan(folds=2)
    found = pvalues("t_kfold", plan, errors[:, 0] - errors[:, 1], 100, null=0.02)
    each = gaussians.pvalues(of.compare.t_kfold, errors, plan, 100, 0.02)
    assert np.isnan(found).tolist() == np.isnan(each).tolist()
    assert found == pytest.approx(each, nan_ok=True)


# -- networks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_network_is_that_of_scikit_learn(classes):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    y = np.arange(90) % classes
    X = rng.normal(size=(90, 3)) + y[:, None] * [1.0, 0.5, -1.0]
    theirs = MLPClassifier((4,), solver="lbfgs", alpha=0.01, max_iter=15, random_state=7)
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X, y)
    ours = Network(4, penalty=0.01, steps=15, seed=7).fit(X, y)
    flat = [part.ravel() for part in (*theirs.coefs_, *theirs.intercepts_)]
    assert ours.weights == pytest.approx(np.concatenate(flat), abs=1e-6)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


# -- words --------------------------------------------------------------------------------------------------------


def test_tables_of_papers_and_pages():
    assert printed.rows("\na 1 2\nb 3 4\n") == {"a": (1, 2), "b": (3, 4)}
    assert printed.by_number("20 0.1") == {20: (0.1,)}
    assert table(("x", "y"), [(1, None)]) == ["| x | y |", "| --- | --- |", "| 1 |  |"]
    with pytest.raises(ValueError, match="a row of 3 cells under 2 headings"):
        table(("x", "y"), [(1, 2, 3)])
    assert [fixed(None), fixed(0.1234), fixed(-0.00001, sign=True)] == ["", "0.123", "+0.000"]


def test_a_verdict_says_what_holds():
    headlines = [Headline("a", "1", "2")]
    assert concluded({"a": True}, "Why.", headlines) == ("same conclusion", "Holds: a. Why.", tuple(headlines))
    assert concluded({"a": True, "b": False}, "Why.", []) == ("partly the same", "Holds: a. Does not hold: b. Why.", ())
    assert concluded({"a": False}, "Why.", []).kind == "differs"
