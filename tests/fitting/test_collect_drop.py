"""Collecting with dropping: what is hopeless is fitted no more, the same whatever the workers and interruptions."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from test_collect_store import equal

import outfold as of
from collect_estimators import Crashes, Raises, Tally, fits
from internals import Dispatcher, Store
from outfold import Plan, State, collect, drop, load, stability
from outfold.exceptions import InputError, StoreMismatchError

PLAN = Plan(folds=5, repeats=2)
RULE = drop.Bootstrap(threshold=0.9, min_predictions=20, n_resamples=200)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(120, 8, n_informative=3, flip_y=0.1, class_sep=1.5, random_state=5)
    return X, y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.oof"


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "fits.log")


def configs():
    """Good ones and hopeless ones: heavily shrunk, or of the nearest neighbours of noise."""
    return of.grid("logit", LogisticRegression(), C=[1e-4, 1e-2, 1.0]) | of.grid(
        "knn", KNeighborsClassifier(), n_neighbors=[1, 3, 15, 60]
    )


def tallies(log, pause=0.0):
    """Scales below zero are wrong on purpose."""
    return of.grid("tally", Tally(log=log, pause=pause), scale=[-1.0, 0.5, -2.0, 1.0, -0.1])


def plain_race(full, rule, seed=0):
    """Drops decided on a complete collection, fold by fold, by the rule alone."""
    from test_drop import until

    out, log = [], []
    for r, k in full.splits.cells[:-1]:
        for found in rule.test(until(full, r, k, out), r, k, seed):
            out.append((found.config, r, k))
            log.append((found.config, r, k, found.probability, found.compared_with))
    return log


def logged(oof):
    keys = ("config", "repeat", "fold", "probability", "compared_with")
    return [tuple(d[key] for key in keys) for d in oof.provenance["drops"]]


def test_drops_are_those_of_the_rule_and_the_rest_is_as_without(data):
    full = collect(configs(), *data, PLAN, rng=3)
    oof = collect(configs(), *data, PLAN, rng=3, drop=RULE)
    expected = plain_race(full, RULE, seed=3)
    assert logged(oof) == expected
    assert len(expected) >= 2
    for name, r, k, *_ in expected:
        j = oof.config_index(name)
        for cell in oof.splits.cells:
            assert oof.state[(j, *cell)] == (State.DROPPED if cell > (r, k) else State.DONE)
    done = np.all(oof.state == State.DONE, axis=(1, 2))
    assert done.sum() == len(oof.configs) - len(expected)
    np.testing.assert_array_equal(oof.data[:, done], full.data[:, done])
    kept = ~np.isnan(oof.data)
    np.testing.assert_array_equal(oof.data[kept], full.data[kept])
    saved = int(np.sum(oof.state == State.DROPPED))
    assert oof.provenance["fits_saved"] == saved
    assert oof.provenance["n_fits"] + saved == full.provenance["n_fits"]


def test_drop_log_is_a_frame(data):
    oof = collect(configs(), *data, PLAN, drop=RULE)
    frame = oof.drop_log
    assert list(frame.columns) == ["config", "repeat", "fold", "probability", "compared_with", "n_predictions"]
    assert len(frame) == len(oof.provenance["drops"])
    assert np.all(frame["probability"] > 0.9)
    assert np.all(frame["n_predictions"] >= 24)
    assert len(oof.sel(config=frame["config"][0]).drop_log) == 1
    none = collect(configs(), *data, Plan(folds=3))
    assert list(none.drop_log.columns) == list(frame.columns)
    assert len(none.drop_log) == 0


def test_estimate_says_what_was_dropped(data):
    oof = collect(configs(), *data, PLAN, drop=RULE)
    result = of.estimate.bbc(oof, "roc_auc", n_resamples=50)
    assert result.n_configs == len(oof.configs) - len(oof.provenance["drops"])
    notes = {note.code: note.text for note in result.notes}
    assert f"{len(oof.provenance['drops'])} of 7 configurations were dropped" in notes["OF207"]
    assert "on fewer than 50 samples (from 24)" in notes["OF210"]
    careful = collect(configs(), *data, PLAN, drop=drop.Bootstrap(threshold=0.9, n_resamples=200))
    codes = [note.code for note in of.estimate.bbc(careful, "roc_auc", n_resamples=50).notes]
    assert "OF207" in codes
    assert "OF210" not in codes


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_workers_do_not_matter(data, n_jobs):
    one = collect(configs(), *data, PLAN, drop=RULE)
    many = collect(configs(), *data, PLAN, drop=RULE, n_jobs=n_jobs)
    equal(one, many)
    assert one.provenance["drops"] == many.provenance["drops"]
    assert one.provenance["fits_saved"] == many.provenance["fits_saved"] > 0


def test_order_of_the_decisions_is_that_of_the_configurations(data):
    X, y = data
    names = list(configs())
    turned = {name: configs()[name] for name in reversed(names)}
    a = collect(configs(), X, y, PLAN, drop=RULE)
    b = collect(turned, X, y, PLAN, drop=RULE)
    assert {d["config"] for d in a.provenance["drops"]} == {d["config"] for d in b.provenance["drops"]}


def test_dropped_cells_are_never_fitted(data, log):
    oof = collect(tallies(log), *data, PLAN, drop=True)
    assert {d["config"] for d in oof.provenance["drops"]} == {f"tally(scale={s})" for s in (-1, -2, -0.1)}
    # 24 samples a fold: 50 predictions after the third.
    assert {(d["repeat"], d["fold"], d["n_predictions"]) for d in oof.provenance["drops"]} == {(0, 2, 72)}
    assert fits(log) == 5 * 3 + 2 * 7 == oof.provenance["n_fits"]
    assert oof.provenance["fits_saved"] == 21


def test_second_call_fits_nothing_and_decides_the_same(data, path, log):
    first = collect(tallies(log), *data, PLAN, drop=True, store=path)
    n = fits(log)
    second = collect(tallies(log), *data, PLAN, drop=True, store=path)
    assert fits(log) == n
    equal(first, second)
    equal(first, load(path))
    assert first.provenance["drops"] == second.provenance["drops"] == load(path).provenance["drops"]
    assert len(load(path).drop_log) == 3


def test_decisions_are_taken_again_from_the_predictions(data, path, log):
    """A cell marked as dropped in the file is not trusted; the configuration runs where the rule keeps it."""
    from internals import Cell, Store

    whole = collect(tallies(None), *data, PLAN, drop=True)
    collect(tallies(None), *data, PLAN, drop=True, store=path)
    header = load(path)
    with Store.open(path, header, header.provenance["identity"]) as store:
        store.write([Cell("oof", "tally(scale=1)", 1, 4, State.DROPPED)])
    assert np.any(load(path).state[3] == State.DROPPED)
    equal(collect(tallies(None), *data, PLAN, drop=True, store=path), whole)
    equal(load(path), whole)


def test_the_log_is_kept_through_interruptions(data, path, log):
    collect(tallies(log), *data, PLAN, drop=True, store=path)
    before = load(path).provenance["drops"]
    hopeful = {"logit": LogisticRegression(), **tallies(log), "stop": Interrupted()}
    with pytest.raises(KeyboardInterrupt):
        collect(hopeful, *data, PLAN, drop=True, store=path)
    assert load(path).provenance["drops"] == before


class Interrupted(Tally):
    """Stands in for a person who presses Ctrl-C at once."""

    def fit(self, X, y):
        raise KeyboardInterrupt


def test_configurations_added_later_join_the_race(data, path, log):
    """The same result as when all had been there from the start."""
    bad = {name: model for name, model in tallies(log).items() if "-" in name}
    alone = collect(bad, *data, PLAN, drop=RULE, store=path)
    assert np.any(np.all(alone.state == State.DONE, axis=(1, 2)))
    both = collect({**bad, **tallies(log)}, *data, PLAN, drop=RULE, store=path)
    fresh = collect({**bad, **tallies(None)}, *data, PLAN, drop=RULE)
    equal(both, fresh)
    equal(load(path), fresh)
    assert both.provenance["drops"] == fresh.provenance["drops"]


def test_a_store_is_continued_by_the_same_rule_only(data, path):
    collect(tallies(None), *data, PLAN, drop=True, store=path)
    for other, words in ((None, r"dropping \(now none\)"), (drop.Bootstrap(threshold=0.9), "other dropping")):
        with pytest.raises(StoreMismatchError, match=rf"made with {words}\. To go on"):
            collect(tallies(None), *data, PLAN, drop=other, store=path)


def test_failed_configurations_are_no_candidates_and_are_fitted_on(data):
    oof = collect(configs() | {"bad": Raises()}, *data, PLAN, drop=RULE)
    assert np.all(oof.state[-1] == State.FAILED)
    assert all("bad" not in (d["config"], d["compared_with"]) for d in oof.provenance["drops"])
    without = collect(configs(), *data, PLAN, drop=RULE)
    assert oof.provenance["drops"] == without.provenance["drops"]


class FailsLate(Tally):
    """Fails from its fourth fit on."""

    def fit(self, X, y):
        super().fit(X, y)
        if fits(self.log) > 3:
            raise RuntimeError("no")
        return self


def test_what_failed_later_is_unknown_to_earlier_decisions(data, path, log):
    """The one that fails in the fourth fold was the best, and dropped the other, after the third."""
    models = {"good": FailsLate(log=log), "bad": Tally(scale=-1.0)}
    first = collect(models, *data, Plan(folds=5), drop=True, store=path)
    assert [d["config"] for d in first.provenance["drops"]] == ["bad"]
    assert [d["compared_with"] for d in first.provenance["drops"]] == ["good"]
    again = collect(models, *data, Plan(folds=5), drop=True, store=path)
    equal(first, again)
    assert first.provenance["drops"] == again.provenance["drops"]


def seldom(oof):
    """Drops the worst of those running, from the second fold on."""
    board = oof.leaderboard("accuracy")
    return board.configs[-1:] if len(board) > 4 else ()


def test_a_callable_drops(data):
    oof = collect(configs(), *data, Plan(folds=5), drop=seldom)
    assert [(d["fold"], d["probability"], d["compared_with"]) for d in oof.provenance["drops"]] == [
        (k, None, "") for k in range(3)
    ]
    assert np.all(np.isnan(oof.drop_log["probability"]))


def test_a_callable_sees_the_past_only(data, path):
    seen = []

    def look(oof):
        seen.append((oof.n_repeats, np.isnan(oof.data).sum(), (oof.state == State.DONE).sum()))
        return ()

    collect(configs(), *data, PLAN, drop=look, store=path)
    first = list(seen)
    assert [s[2] for s in first] == [7 * s for s in range(1, 10)]
    assert [s[0] for s in first] == [1] * 5 + [2] * 4
    seen.clear()
    collect(configs(), *data, PLAN, drop=look, store=path)
    assert seen == first


@pytest.mark.parametrize(
    "rule",
    [
        drop.Bootstrap(threshold=0.9, min_predictions=20, metric="accuracy"),
        drop.Hoeffding(metric="accuracy", delta=0.5),
        drop.Friedman(),
        drop.Sequential(metric="accuracy"),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_every_rule_in_a_collection(data, rule, path):
    full = collect(configs(), *data, PLAN)
    oof = collect(configs(), *data, PLAN, drop=rule, store=path)
    assert logged(oof) == plain_race(full, rule)
    equal(collect(configs(), *data, PLAN, drop=rule, store=path), oof)


@pytest.mark.parametrize("response", ["label", "proba"])
def test_other_responses(data, response):
    rule = drop.Bootstrap(threshold=0.8, min_predictions=20, metric="accuracy")
    oof = collect(configs(), *data, PLAN, drop=rule, response=response)
    assert oof.provenance["fits_saved"] > 0
    assert np.isfinite(of.estimate.bbc(oof, "accuracy", n_resamples=20).value)


def test_regression_and_hold_outs():
    X, y = make_regression(150, 5, noise=20, random_state=0)
    models = of.grid("ridge", Ridge(), alpha=[1e-3, 1.0, 1e3, 1e5])
    for plan in (Plan(folds=5), Plan.repeated_holdout(6, 0.4)):
        oof = collect(models, X, y, plan, drop=True)
        assert {"ridge(alpha=1000)", "ridge(alpha=100000)"} <= {d["config"] for d in oof.provenance["drops"]}
        assert np.any(np.all(oof.state == State.DONE, axis=(1, 2)))


def test_fresh_follows_dropping(data):
    oof = collect(configs(), *data, PLAN, drop=RULE, fresh="roc_auc")
    assert np.isfinite(of.estimate.cvm_cv(oof, "roc_auc").value)


def test_progress_counts_what_is_left(data, capsys):
    collect(tallies(None), *data, PLAN, drop=True, progress="always")
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert "29/29 cells" in last
    assert "100%" in last


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"drop": True, "inner": True}, "drop cannot be combined with inner=True"),
        ({"drop": True, "inner": 2}, "drop cannot be combined with inner=2"),
        ({"drop": "bootstrap"}, "drop must be a rule"),
        ({"drop": drop.Hoeffding()}, "Hoeffding needs a mean of values within known bounds"),
        ({"drop": drop.Sequential(metric="accuracy"), "plan": Plan(folds=5)}, "needs at least 7 folds"),
        ({"drop": drop.Bootstrap(metric="r2")}, "r2"),
        ({"drop": drop.Bootstrap(metric="roc_auc"), "response": "label"}, "roc_auc needs scores"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_fit(data, log, path, change, words):
    arguments = {"plan": PLAN, "store": path} | change
    with pytest.raises(InputError, match=words):
        collect(tallies(log), *data, **arguments)
    assert fits(log) == 0
    assert not path.exists()


# -- repeats until it is enough ----------------------------------------------------------------------------


def two():
    """Configurations whose predictions settle soon."""
    return of.grid("logit", LogisticRegression(), C=[0.01, 1.0])


def test_repeats_instead_of_those_of_the_plan(data):
    oof = collect(two(), *data, Plan(folds=3), repeats=4)
    assert oof.n_repeats == 4
    equal(oof, collect(two(), *data, Plan(folds=3, repeats=4)))


def test_auto_adds_repeats_until_the_rule_holds(data):
    stop = stability.Rank(0.999)
    oof = collect(two(), *data, Plan(folds=3), repeats="auto", stop=stop, max_repeats=40)
    n = oof.n_repeats
    assert 2 < n < 40
    assert oof.provenance["stopped_after"] == n
    assert oof.plan.repeats == n
    assert stop.holds(oof)
    assert not any(stop.holds(oof.sel(repeat=range(r))) for r in range(1, n))
    equal(oof, collect(two(), *data, Plan(folds=3, repeats=n)))
    assert not [note for note in oof.notes if note.code == "OF401"]


STOPS = [stability.Fixed(3), stability.KS(0.7), stability.Width(0.5), stability.Leader(3), None]


@pytest.mark.parametrize("stop", STOPS, ids=str)
def test_every_stop_rule(data, stop):
    oof = collect(two(), *data, Plan(folds=3), repeats="auto", stop=stop, max_repeats=9)
    rule = stability.Rank() if stop is None else stop
    if oof.n_repeats < 9:
        assert rule.holds(oof)
        assert oof.n_repeats == 1 or not rule.holds(oof.sel(repeat=range(oof.n_repeats - 1)))
    else:
        assert [note.code for note in oof.notes] == ["OF401"]
        assert "was not satisfied after 9 repeats" in oof.notes[0].text
    assert (stop is None) == (oof.n_repeats == 9)


def test_auto_stores_what_it_returns_and_a_second_call_does_nothing(data, path, log):
    arguments = {"plan": Plan(folds=3), "repeats": "auto", "stop": stability.Rank(0.99), "max_repeats": 30}
    models = two() | {"tally": Tally(log=log)}
    first = collect(models, *data, **arguments, store=path)
    n = fits(log)
    assert n == 3 * first.n_repeats
    equal(first, load(path))
    assert load(path).plan == first.plan
    assert dict(load(path).provenance) == dict(first.provenance)
    equal(first, collect(models, *data, **arguments, store=path))
    assert fits(log) == n


def test_an_interrupted_store_shows_the_repeats_begun(data, path, log):
    """Interrupted in the second repeat of at most 50."""

    def third(oof):
        if oof.n_repeats == 2:
            raise KeyboardInterrupt
        return ()

    with pytest.raises(KeyboardInterrupt):
        collect(two(), *data, Plan(folds=3), repeats="auto", drop=third, store=path)
    part = load(path)
    assert part.n_repeats == 2
    assert part.plan.repeats == 2
    assert part.provenance["stopped_after"] is None
    assert np.sum(part.state == State.DONE) == 2 * 4
    assert np.isfinite(of.estimate.bbc(part, "roc_auc", n_resamples=20).value)


@pytest.mark.parametrize("drops", [None, drop.Bootstrap(min_predictions=60, n_resamples=200)], ids=["all", "drop"])
def test_the_lead_is_the_same_after_an_interruption(data, path, drops):
    """Rules decide from the predictions alone, so an interruption at any cell changes nothing."""
    stop = stability.Leader(4, order=True, metric="accuracy")
    arguments = {"plan": Plan(folds=3), "repeats": "auto", "stop": stop, "max_repeats": 12, "drop": drops}
    whole = collect(configs(), *data, **arguments)
    assert 5 <= whole.n_repeats < 12
    assert (drops is None) == (not whole.provenance.get("drops"))
    for after in (10, 30):

        def press(done, total, after=after):
            if done >= after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            collect(configs(), *data, **arguments, store=path, progress=press)
    again = collect(configs(), *data, **arguments, store=path, n_jobs=2)
    equal(again, whole)
    equal(load(path), whole)
    assert again.provenance["stopped_after"] == whole.n_repeats


def test_the_cap_and_the_rule_may_change(data, path, log):
    models = two() | {"tally": Tally(log=log)}

    def go(stop, cap, store=path):
        return collect(models, *data, Plan(folds=3), repeats="auto", stop=stop, max_repeats=cap, store=store)

    low = go(stability.Fixed(9), 2)
    assert low.n_repeats == 2
    assert [note.code for note in low.notes] == ["OF401"]
    high = go(stability.Fixed(4), 8)
    assert fits(log) == 3 * 4
    equal(high, go(stability.Fixed(4), 50, None))
    equal(load(path), high)
    back = go(stability.Fixed(9), 3)
    assert fits(log) == 3 * 8
    equal(back, high.sel(repeat=range(3)))
    equal(load(path), back)
    with pytest.raises(StoreMismatchError, match=r"made with repeats='auto' \(now a fixed number of repeats\)\. To go"):
        collect(models, *data, Plan(folds=3, repeats=4), store=path)


def repeats_in(path):
    """How many repeats have their folds in a file, whether begun or not."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT count(*) FROM folds WHERE block = 'oof'").fetchone()[0]


def test_only_repeats_that_begin_take_room(data, path):
    """Room for all that are allowed would be 20 terabytes."""
    arguments = {"plan": Plan(folds=3), "repeats": "auto", "stop": stability.Fixed(5), "max_repeats": 10**10}
    oof = collect(two(), *data, **arguments, store=path)
    equal(oof, collect(two(), *data, Plan(folds=3, repeats=5)))
    equal(oof, load(path))
    assert repeats_in(path) == 5


@pytest.mark.parametrize("drops", [None, RULE], ids=["all", "drop"])
def test_files_with_room_up_to_the_cap_go_on(data, path, drops):
    """As they were written before repeats were added one by one."""
    arguments = {"plan": Plan(folds=3), "repeats": "auto", "drop": drops}
    low = collect(configs(), *data, **arguments, stop=stability.Fixed(2), store=path)
    header = low.sel(repeat=[0])
    with Store.open(path, header, low.provenance["identity"]) as store:
        store.grow({"oof": Plan(folds=3, repeats=50).split(header.target)})
    assert repeats_in(path) == 50
    equal(load(path), low)
    high = collect(configs(), *data, **arguments, stop=stability.Fixed(4), store=path)
    equal(high, collect(configs(), *data, **arguments, stop=stability.Fixed(4)))
    equal(load(path), high)


def test_a_store_with_other_splits_of_later_repeats_is_refused(data, path):
    arguments = {"plan": Plan(folds=3), "repeats": "auto"}
    low = collect(two(), *data, **arguments, stop=stability.Fixed(1), store=path)
    with Store.open(path, low, low.provenance["identity"]) as store:
        first, other = (Plan(folds=3, repeats=2).split(low.target, rng=rng) for rng in (0, 1))
        folds = np.stack([first.folds[:, 0], other.folds[:, 1]], axis=1)
        store.grow({"oof": replace(first, folds=folds)})
    with pytest.raises(StoreMismatchError, match=r"run.oof was made with other splits of the same plan\."):
        collect(two(), *data, **arguments, stop=stability.Fixed(2), store=path)


def test_ended_between_a_new_repeat_and_its_first_fold(data, path, monkeypatch):
    arguments = {"plan": Plan(folds=3), "repeats": "auto", "stop": stability.Fixed(3), "store": path}
    with monkeypatch.context() as patch:
        fit = Dispatcher.fit

        def stop_in_the_second(self, holdouts, splits):
            if holdouts[0].repeat == 1:
                raise KeyboardInterrupt
            fit(self, holdouts, splits)

        patch.setattr(Dispatcher, "fit", stop_in_the_second)
        with pytest.raises(KeyboardInterrupt) as caught:
            collect(two(), *data, **arguments)
    assert caught.value.__notes__ == [f"6 of 18 cells are in {path}; start it again to go on."]
    assert repeats_in(path) == 2
    assert load(path).n_repeats == 1
    equal(collect(two(), *data, **arguments), collect(two(), *data, Plan(folds=3, repeats=3)))


@pytest.mark.parametrize("drops", [None, lambda oof: ()], ids=["auto", "race"])
def test_one_pool_serves_the_whole_collection(data, drops, monkeypatch):
    made = []

    class Counted(joblib.Parallel):
        def __init__(self, *args, **kwargs):
            made.append(self)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(joblib, "Parallel", Counted)
    with joblib.parallel_config("threading", n_jobs=2):
        oof = collect(two(), *data, Plan(folds=3), repeats="auto", stop=stability.Fixed(3), drop=drops)
    assert len(made) == 1
    equal(oof, collect(two(), *data, Plan(folds=3, repeats=3)))


def test_a_race_goes_on_after_a_crash(data, path):
    models = two() | {"crash": Crashes()}
    oof = collect(models, *data, Plan(folds=2), drop=lambda oof: (), n_jobs=2, store=path)
    assert np.all(oof.state[-1] == State.FAILED)
    equal(oof.sel(list(two())), collect(two(), *data, Plan(folds=2)))
    equal(oof, load(path))


def test_auto_with_dropping(data, path):
    arguments = {"plan": Plan(folds=5), "repeats": "auto", "stop": stability.Rank(0.998), "max_repeats": 30}
    oof = collect(configs(), *data, **arguments, drop=RULE)
    left = [oof.configs[j] for j in np.flatnonzero(np.all(oof.state == State.DONE, axis=(1, 2)))]
    assert {d["config"] for d in oof.provenance["drops"]} == set(oof.configs) - set(left)
    assert arguments["stop"].holds(oof, left)
    assert 2 <= oof.n_repeats < 30
    assert oof.provenance["fits_saved"] == np.sum(oof.state == State.DROPPED) > 0
    for options in ({"n_jobs": 2}, {"store": path}, {"store": path, "n_jobs": 4}, {"max_repeats": 12}):
        again = collect(configs(), *data, **arguments | options, drop=RULE)
        equal(oof, again)
        assert oof.provenance["drops"] == again.provenance["drops"]
    equal(oof, load(path))


class FailsFirst(Tally):
    """The first fit fails, the others do not."""

    def fit(self, X, y):
        super().fit(X, y)
        if fits(self.log) == 1:
            raise RuntimeError("no")
        return self


def test_auto_ends_when_nobody_is_left(data, log):
    oof = collect({"once": FailsFirst(log=log), "always": Raises()}, *data, Plan(folds=3), repeats="auto")
    assert oof.n_repeats == 1
    assert np.sum(oof.state == State.DONE) == 2
    assert oof.notes == ()


def test_progress_forecasts(data, capsys):
    collect(two(), *data, Plan(folds=3), repeats="auto", stop=stability.Fixed(4), progress="always")
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert "24/24 cells" in last


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stop": stability.Fixed(3)}, "stop needs repeats='auto'"),
        ({"stop": stability.Fixed(3), "repeats": 4}, "stop needs repeats='auto'; got repeats=4"),
        ({"max_repeats": 3}, "max_repeats needs repeats='auto'"),
        ({"repeats": 0}, "repeats must be a whole number from 1"),
        ({"repeats": "many"}, "repeats must be a whole number from 1, 'auto' or None"),
        ({"repeats": True}, "repeats must be a whole number"),
        ({"repeats": "auto", "max_repeats": 0}, "max_repeats must be a whole number"),
        ({"repeats": "auto", "stop": 20}, "stop must be a rule such as"),
        ({"repeats": "auto", "stop": stability.KS(metric="r2")}, "r2"),
        ({"repeats": "auto", "plan": Plan.leave_one_out()}, "can draw another partition"),
        ({"repeats": 3, "plan": Plan.blocked()}, "can draw another partition"),
        ({"repeats": 3, "plan": KFold(5)}, r"Use Plan\(folds=5\), or leave repeats out"),
        ({"repeats": "auto", "inner": True}, "inner needs to know the number of repeats"),
        ({"repeats": "auto", "fresh": "roc_auc"}, "fresh needs to know the number of repeats"),
        ({"repeats": "auto", "drop": drop.Sequential(metric="accuracy")}, r"give Sequential\(steps=\.\.\.\)"),
    ],
)
def test_repeats_that_make_no_sense(data, log, change, words):
    with pytest.raises(InputError, match=words):
        collect(tallies(log), *data, **{"plan": Plan(folds=3)} | change)
    assert fits(log) == 0


# -- ending within a repeat -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [None, RULE], ids=["all", "dropping"])
def test_a_narrow_interval_ends_a_repeat_early(data, path, rule):
    arguments = {"plan": Plan(folds=6), "repeats": "auto", "drop": rule, "progress": False, "metric": "accuracy"}
    stop = stability.Width(0.24, after="fold")
    oof = collect(configs(), *data, **arguments, stop=stop)
    last = oof.provenance["stopped_after_fold"]
    assert (oof.provenance["stopped_after"], oof.n_repeats) == (1, 1)
    assert 0 < last < 5
    done = oof.state == State.DONE
    assert not done[:, 0, last + 1 :].any()
    # The rule held after this fold, and not after the one before.
    running = [name for j, name in enumerate(oof.configs) if done[j, 0, last]]
    assert stop.holds(oof, running)
    state = np.array(oof.state)
    state[:, 0, last] = np.where(state[:, 0, last] == State.DONE, State.PENDING, state[:, 0, last])
    assert not stop.holds(replace(oof, state=state), running)
    assert "OF206" in {note.code for note in of.estimate.bbc(oof).notes}
    equal(oof, collect(configs(), *data, **arguments, stop=stop, n_jobs=2))
    begun = collect(configs(), *data, **arguments, stop=stability.Width(0.5, after="fold"), store=path)
    assert begun.provenance["stopped_after_fold"] < last
    went_on = collect(configs(), *data, **arguments, stop=stop, store=path)
    assert np.array_equal(went_on.state, oof.state)
    assert np.array_equal(went_on.data, oof.data, equal_nan=True)
