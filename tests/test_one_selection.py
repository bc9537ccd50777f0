"""One record decides: every place that selects names the same configuration, and says it in the same words."""

import copy
import json
import pickle
import sqlite3
from contextlib import closing, suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from internals import SCHEMA, Case, ComparedConfigs, cli, collected, known_tables, responses
from outfold import select
from outfold.exceptions import InputError, NeedError, StoreMismatchError

GRID = {"C": [0.03, 0.3, 3, 30], "gamma": [0.01, 0.1, 1]}
ONE_SE = select.one_standard_error(complexity="C")
# Margins of small folds: the two aggregates and the other rule select three different configurations.
POOLED, FOLD, SIMPLE = "svm(C=0.3, gamma=0.1)", "svm(C=30, gamma=0.01)", "svm(C=0.03, gamma=0.1)"
CASES = {
    "pooled": ("pooled", None, POOLED, "best pooled AUC of 12 configurations"),
    "fold": ("fold", None, FOLD, "best mean AUC over folds of 12 configurations"),
    "simplest": (
        "fold",
        ONE_SE,
        SIMPLE,
        "simplest by C within one standard error of the best mean AUC over folds, of 12 configurations",
    ),
}


def data():
    return make_classification(60, 8, n_informative=3, flip_y=0.2, class_sep=0.7, random_state=1)


def machines():
    return of.grid("svm", SVC(), **GRID)


def gather(folder, aggregate, rule, progress=False):
    return of.collect(
        machines(),
        *data(),
        plan=6,
        store=folder / "run.oof",
        metric="roc_auc",
        aggregate=aggregate,
        rule=rule,
        inner=True,
        fresh=True,
        resub=True,
        progress=progress,
    )


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """Predictions, the file they are in, the configuration that is selected, and how."""
    aggregate, rule, winner, words = CASES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    return gather(folder, aggregate, rule), folder / "run.oof", winner, words


@pytest.fixture(scope="module")
def margins(tmp_path_factory):
    return gather(tmp_path_factory.mktemp("margins"), "pooled", None)


# -- every place ------------------------------------------------------------------------------------------------


def by_hand(oof, aggregate):
    """The configuration with the best area, by scikit-learn."""
    y, folds, scores = oof.target.y, oof.folds[:, 0], oof.data[0]
    if aggregate == "pooled":
        areas = [roc_auc_score(y, own) for own in scores]
    else:
        parts = [folds == k for k in range(oof.n_folds)]
        areas = [np.mean([roc_auc_score(y[part], own[part]) for part in parts]) for own in scores]
    return oof.configs[int(np.argmax(areas))], max(areas)


def test_the_record_is_what_scikit_learn_says(margins):
    for aggregate, winner in (("pooled", POOLED), ("fold", FOLD)):
        name, area = by_hand(margins, aggregate)
        found = margins.selection(aggregate=aggregate)
        assert found.name == name == winner
        assert found.score == pytest.approx(area, abs=1e-12)


def test_predictions_say_it(case):
    oof, path, winner, words = case
    for source in (oof, of.load(path), pickle.loads(pickle.dumps(oof)), copy.deepcopy(oof)):
        assert source.selection().name == winner
        assert source.selection().rule == words
        assert words.startswith(str(source).split("selects")[1].split("\n")[0].strip())


def test_leaderboard(case):
    oof, _, winner, words = case
    board = oof.leaderboard()
    assert (board.selected, board.rule) == (winner, words)
    assert str(board).startswith(f"selected: {winner}, {words}\n")
    if "best" in words.split()[0]:
        assert board.configs[0] == winner
    assert board.to_dict()["selected"] == winner


@pytest.mark.parametrize("method", ["bbc", "cvt", "tt", "nested", "cvm_cv", "resubstitution"])
def test_estimates(case, method):
    oof, path, winner, words = case
    drawn = {"n_resamples": 50} if method in ("bbc", "nested") else {}
    for source in (oof, of.load(path)):
        found = getattr(of.estimate, method)(source, **drawn)
        assert found.selected == winner
        assert found.rule == words
        assert f"{winner}, {words}" in str(found)
    own = oof.selection().score
    if (
        method == "bbc" and oof.criterion.aggregate == "pooled"
    ):  # the estimate counts pairs within folds, so does the score
        board = oof.leaderboard(aggregate="within")
        own = board.scores[board.configs.index(winner)]
        assert found.own_name.endswith("within folds")
    assert found.naive == (pytest.approx(own) if method != "resubstitution" else found.value)


def test_draws_and_inner_searches_select_by_the_same_rule(case):
    oof, _, _, _ = case
    kept = oof.criterion
    found = of.estimate.bbc(oof, n_resamples=30)
    named = of.estimate.bbc(oof, "roc_auc", rule=kept.rule, aggregate=kept.aggregate, n_resamples=30)
    assert found.chosen.tolist() == named.chosen.tolist()
    # An inner search is the same search on fewer samples.
    inner = of.estimate.nested(oof, n_resamples=10).chosen
    part = (
        oof.blocks["inner"]
        .sel(repeat=2)
        .selecting_by("roc_auc", aggregate=kept.aggregate, rule=select.as_rule(kept.rule))
    )
    assert inner[2] == part.selection().name


def test_report(case):
    oof, _, winner, words = case
    made = of.report(oof, n_resamples=50)
    assert made.estimate.selected == winner
    assert dict(made.how)["selected"] == f"{winner}, {words}"
    assert [row["config"] for row in made.rows if row["status"] == "selected"] == [winner]
    assert f"We selected {winner}: {words}; positive class: 1." in made.methods
    assert made.leaderboard.selected == winner
    scores = dict(zip(made.leaderboard.configs, made.leaderboard.scores.tolist(), strict=True))
    (picture,) = [p for p in made.pictures if p.name == "configurations"]
    assert {row["name"]: row["score"] for row in picture.numbers["rows"]} == pytest.approx(scores)


def test_refit(case):
    oof, _, winner, _ = case
    params = of.refit(oof, machines(), *data()).get_params()
    assert f"svm(C={params['C']:g}, gamma={params['gamma']:g})" == winner


def test_progress_line(case, tmp_path, capsys):
    oof, _, winner, words = case
    gather(tmp_path, oof.criterion.aggregate, select.as_rule(oof.criterion.rule), progress="always")
    last = capsys.readouterr().err.rstrip().rpartition("\r")[2]
    assert f"{winner} {oof.selection().score:.3f}, {words}  in " in last


def test_comparisons_and_checks(case):
    oof, _, winner, words = case
    assert ComparedConfigs(oof, None).winner == winner
    other = next(name for name in oof.configs if name != winner)
    (note,) = [n for n in of.compare.t_corrected(oof, None, winner, other).notes if n.code == "OF301"]
    assert note.text.startswith(f"{winner} is selected from 12 ")
    assert Case(oof).selection.name == winner  # what `check` looks at
    if words.startswith("best"):
        assert of.compare.tied_set(oof, n_resamples=100).configs[0] == winner


def test_pictures(case):
    oof, _, winner, _ = case
    assert collected.fold_grid(oof, None, None)[0] == winner
    assert responses.confusion_counts(oof, None).config == winner


def test_command_line(case, capsys, tmp_path):
    oof, path, winner, words = case

    def said(*words):
        assert cli.main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    assert f"selected: {winner}, {words}" in said("show", path)
    assert json.loads(said("show", path, "--format", "json"))["leaderboard"]["selected"] == winner
    assert f"selected   {winner}, {words}" in said("estimate", path, "--resamples", 50)
    assert json.loads(said("estimate", path, "--method", "tt", "--format", "json"))["selected"] == winner
    assert said("check", path) == f"{of.check(oof)}\n"
    page = tmp_path / "report.md"
    said("report", path, "--resamples", 50, "-o", page)
    assert of.report(oof, n_resamples=50).methods.split("Computed")[0][:80] in page.read_text().replace("\\", "")
    # What is asked for replaces that part only.
    asked = json.loads(
        said("estimate", path, "--aggregate", "pooled", "--rule", "best", "--resamples", 50, "--format", "json")
    )
    assert asked["selected"] == POOLED
    shown = said("show", path, "--aggregate", "fold", "--rule", "best")
    assert f"selected: {FOLD}, {CASES['fold'][3]}" in shown
    assert f"outfold estimate {path} --aggregate fold --rule best" in shown


# -- SelectCV ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [None, ONE_SE])
def test_a_search_and_its_predictions_agree(rule, tmp_path):
    X, y = data()
    search = of.SelectCV(SVC(), GRID, scoring="roc_auc", cv=6, rule=rule, drop=False, store=tmp_path / "s.oof").fit(
        X, y
    )
    name = search.selection_.name
    for oof in (search.oof_, pickle.loads(pickle.dumps(search)).oof_, of.load(tmp_path / "s.oof")):
        again = of.estimate.bbc(oof)
        assert again.selected == name
        assert again.value == search.estimate_.value
        assert again.interval == search.estimate_.interval
        assert (
            again.naive
            == search.best_score_
            == pytest.approx(search.cv_results_["mean_test_score"][search.best_index_])
        )
        assert np.array_equal(again.draws, search.estimate_.draws)
        assert of.report(oof, n_resamples=20).estimate.selected == name
        assert oof.leaderboard().selected == name
    assert search.report(n_resamples=20).leaderboard.selected == name


def smallest_gamma(results):
    return int(
        np.argmin([p["gamma"] - 1e-3 * s for p, s in zip(results["params"], results["mean_test_score"], strict=True)])
    )


def test_a_search_with_a_function_of_its_results(tmp_path):
    X, y = data()
    options = {"scoring": "roc_auc", "cv": 6, "drop": False, "refit": smallest_gamma, "store": tmp_path / "s.oof"}
    search = of.SelectCV(SVC(), GRID, **options).fit(X, y)
    assert search.oof_.selection().name == search.selection_.name
    assert of.estimate.bbc(search.oof_).value == search.estimate_.value
    assert search.estimate_.rule == "picked by smallest_gamma on mean AUC over folds, of 12 configurations"
    with pytest.raises(NeedError, match="selected by the rule 'smallest_gamma', a function that a file cannot hold"):
        of.estimate.bbc(of.load(tmp_path / "s.oof"))


def test_a_search_drops_and_says_so():
    X, y = make_classification(120, 6, n_informative=4, random_state=0)
    search = of.SelectCV(
        {"tree": DecisionTreeClassifier(), "wrong": SVC(C=1e-9, gamma=1e4), "nb": GaussianNB()},
        scoring="accuracy",
        cv=of.Plan(folds=6),
    ).fit(X, y)
    dropped = int(np.sum(np.any(search.oof_.state == of.State.DROPPED, axis=(1, 2))))
    assert dropped > 0
    assert search.selection_.rule == f"best mean accuracy over folds of 3 configurations ({dropped} dropped early)"
    assert f"({dropped} dropped early)" in str(search.estimate_)


# -- other plans ------------------------------------------------------------------------------------------------

MODELS = {"tree": DecisionTreeClassifier(max_depth=2), "1-nn": KNeighborsClassifier(1), "bayes": GaussianNB()}


@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_bootstrap_rounds(aggregate):
    oof = of.collect(MODELS, *data(), plan=of.Plan.bootstrap(8), metric="accuracy", aggregate=aggregate, progress=False)
    name = oof.selection().name
    for method in ("oob", "point632", "point632plus", "optimism", "resubstitution", "bbc", "cvt"):
        found = getattr(of.estimate, method)(oof)
        assert (found.selected, found.rule) == (name, "best accuracy of 3 configurations")


def test_held_out_parts():
    X, y = data()
    plans = {"holdout": of.Plan.holdout(0.5), "repeated_holdout": of.Plan.repeated_holdout(6)}
    plans |= {"loo": of.Plan.leave_one_out(), "three_way": of.Plan.three_way()}
    for method, plan in plans.items():
        fresh = True if method == "three_way" else None
        oof = of.collect(MODELS, X, y, plan=plan, metric="accuracy", aggregate="fold", fresh=fresh, progress=False)
        found = getattr(of.estimate, method)(oof, n_resamples=50)
        assert found.selected == oof.selection().name == oof.leaderboard().selected


def test_repeats():
    oof = of.collect(
        machines(), *data(), plan=of.Plan(5, repeats=3), metric="roc_auc", aggregate="fold", progress=False
    )
    cells = oof.scores()
    assert oof.selection().name == oof.configs[int(np.argmax(cells.mean(axis=(1, 2))))]
    assert of.stability.trace(oof).leaders[-1] == oof.selection().name
    assert of.estimate.bbc(oof, n_resamples=50).naive == pytest.approx(cells.mean(axis=(1, 2)).max())


# -- any artifact -----------------------------------------------------------------------------------------------


@st.composite
def artifacts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c, k, r = (draw(st.integers(*ends)) for ends in ((12, 30), (2, 6), (2, 4), (1, 2)))
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    # Few different values, so that ties are common; a shift for each fold, so that aggregates differ.
    folds = np.stack([rng.permutation(np.arange(n) % k) for _ in range(r)], axis=1)
    scores = rng.integers(0, 4, (n, c, r)) / 8 + 0.5 * rng.random((c, r, k))[:, np.arange(r), folds].transpose(1, 0, 2)
    params = [{"C": int(v)} for v in rng.integers(1, 4, c)]
    oof = of.from_arrays(y, np.clip(scores, 0, 1), folds=folds, response="proba", params=params)
    rule = draw(st.sampled_from([None, select.within(10, "C"), ONE_SE]))
    metric = draw(st.sampled_from(["accuracy", "roc_auc", "brier", "f1"]))
    return oof.selecting_by(metric, aggregate=draw(st.sampled_from(["pooled", "within", "fold"])), rule=rule)


@settings(max_examples=30, deadline=None)
@given(artifacts())
def test_all_agree_on_any_artifact(oof):
    try:
        won = oof.selection()
    except InputError:  # undefined for all: nobody names a winner
        assert oof.leaderboard().selected == ""
        return
    board = oof.leaderboard()
    assert (board.selected, board.rule) == (won.name, won.rule)
    if oof.criterion.rule is None:
        assert board.configs[0] == won.name
        assert board.scores[0] == pytest.approx(won.score)
    found = [of.estimate.cvt(oof), of.estimate.tt(oof)]
    with suppress(InputError):  # too few draws can be scored
        found.append(of.estimate.bbc(oof, n_resamples=5))
    assert {(e.selected, e.rule) for e in found} == {(won.name, won.rule)}
    if oof.n_configs > 2:
        assert ComparedConfigs(oof, None).winner == won.name
    assert of.report(oof, estimate=found[0]).leaderboard.selected == won.name


# -- what is recorded -------------------------------------------------------------------------------------------


def mine(y, p):
    return float(np.mean(y == p))


def first(candidates):
    return 0


def toy():
    rng = np.random.default_rng(0)
    return of.from_arrays(rng.integers(0, 2, 30), rng.random((30, 3)), folds=np.arange(30) % 3, response="proba")


def test_only_what_is_given_is_replaced():
    oof = toy().selecting_by("accuracy", aggregate="fold", rule=select.within(5, "C"))
    assert oof.selecting_by("brier").criterion.to_dict() == {
        "metric": "brier",
        "aggregate": "fold",
        "rule": {"name": "within", "loss_percent": 5, "complexity": "C"},
    }
    assert oof.selection("brier", rule=select.best).rule == "best mean Brier score over folds of 3 configurations"
    assert oof.sel(config=[0, 2]).criterion == oof.criterion
    assert np.shares_memory(oof.selecting_by("brier").data, oof.data)


@pytest.mark.parametrize("metric", ["accuracy", "f2", "neg_log_loss", "neg_brier_score", "balanced_accuracy"])
def test_a_metric_that_has_a_name_is_kept_by_its_name(metric, tmp_path):
    for given_metric in (metric, of.metrics.get(metric, "binary")):
        oof = toy().selecting_by(given_metric)
        assert isinstance(oof.criterion.metric, str)
        again = of.load(oof.save(tmp_path / "a.oof"))
        assert again.selection() == oof.selection()


def test_functions_are_kept_by_their_names(tmp_path):
    oof = toy().selecting_by(mine, rule=first)
    assert oof.selection().rule == "picked by first on pooled mine, of 3 configurations"
    again = of.load(oof.save(tmp_path / "a.oof"))
    assert "picked by first on pooled mine" in str(again)
    with pytest.raises(
        NeedError, match=r"the metric 'mine', a function .* in Python, .* oof.selecting_by\(metric=mine\)"
    ):
        of.estimate.bbc(again, rule=first)
    with pytest.raises(
        NeedError, match=r"the rule 'first', a function .* oof.selecting_by\(rule=first\). With rule=..."
    ):
        again.selection("accuracy")
    assert again.selection(mine, rule=first) == oof.selection()
    assert again.selecting_by(mine, rule=first).leaderboard().selected == oof.selection().name
    # Two can be compared nevertheless.
    assert ComparedConfigs(again, "accuracy").winner == again.selection("accuracy", rule=select.best).name
    # A pickle keeps functions that can be imported, and the names of others.
    assert pickle.loads(pickle.dumps(oof)).selection() == oof.selection()
    nameless = pickle.loads(pickle.dumps(toy().selecting_by(lambda y, p: 1.0)))
    with pytest.raises(NeedError, match=r"the metric '<lambda>'.* metric=\.\.\."):
        nameless.selection()


def test_a_scorer_of_ones_own_is_recorded_by_a_search():
    X, y = data()
    scorer = make_scorer(accuracy_score)
    search = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-1]}, scoring=scorer, cv=4).fit(X, y)
    assert search.oof_.criterion.metric == "accuracy"
    own = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-1]}, scoring=make_scorer(mine), cv=4).fit(X, y)
    again = pickle.loads(pickle.dumps(own))
    assert again.oof_.selection() == own.selection_
    assert of.estimate.bbc(own.oof_, n_resamples=200).value == own.estimate_.value


@pytest.mark.parametrize(
    ("given_by", "words"),
    [
        ({"aggregate": "folds"}, "aggregate must be 'pooled', 'within' or 'fold'; got 'folds'"),
        ({"metric": "mse"}, "mse is for regression"),
        ({"rule": "best"}, "rule must be"),
        ({"rule": select.within}, "Call it"),
    ],
)
def test_what_cannot_select_is_refused(given_by, words):
    with pytest.raises(InputError, match=words):
        toy().selecting_by(**given_by)
    if "metric" not in given_by:
        with pytest.raises(InputError, match=words):
            of.collect(GaussianNB(), *data(), plan=3, progress=False, **given_by)


def test_joined_predictions():
    a = toy().selecting_by("accuracy", aggregate="fold")
    same = a.join(a, suffixes=(" 1", " 2"))
    assert same.criterion == a.criterion
    differ = a.join(a.selecting_by("brier"), suffixes=(" 1", " 2"))
    assert differ.criterion.to_dict() == {"metric": None, "aggregate": "fold", "rule": None}


# -- stores -----------------------------------------------------------------------------------------------------


def keep(path, **options):
    return of.collect(MODELS, *data(), plan=6, store=path, **{"progress": False} | options)


def test_a_store_is_continued_with_another_selection(tmp_path):
    path = tmp_path / "run.oof"
    assert keep(path).criterion.metric == "roc_auc"  # the default of the task, by name
    fitted = []
    again = keep(path, metric="accuracy", aggregate="fold", rule=ONE_SE, progress=lambda done, _: fitted.append(done))
    assert not fitted
    for oof in (again, of.load(path)):
        assert oof.criterion.to_dict() == {
            "metric": "accuracy",
            "aggregate": "fold",
            "rule": {"name": "one_standard_error", "complexity": "C"},
        }
    assert keep(path, metric=mine, rule=first).selection().rule.startswith("picked by first on pooled mine")


def test_a_drop_rule_decides_by_what_selects(tmp_path):
    path = tmp_path / "run.oof"
    keep(path, drop=True, metric="brier")
    keep(path, drop=True, metric="brier", aggregate="fold")
    with pytest.raises(StoreMismatchError, match="other dropping"):
        keep(path, drop=True, metric="accuracy")


def test_what_fresh_selects_by_is_recorded():
    oof = of.collect(MODELS, *data(), plan=3, fresh="accuracy", progress=False)
    assert oof.criterion.metric == "accuracy"
    assert of.estimate.cvm_cv(oof).selected == oof.selection().name
    assert "fresh" not in of.collect(MODELS, *data(), plan=3, fresh=False, progress=False).blocks


def as_schema_1(path):
    """Write a store as the first version of the package wrote it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM about WHERE key IN ('criterion', 'times', 'digest')")
        db.execute("ALTER TABLE cells RENAME TO newer")
        db.execute(known_tables(1)["cells"])
        columns = "block, repeat, fold, config, state, message, seconds, predictions, labels, checksum"
        db.execute(f"INSERT INTO cells SELECT {columns} FROM newer LEFT JOIN numbers ON id = numbers")
        db.execute("DROP TABLE newer")
        db.execute("DROP TABLE numbers")
        db.execute("PRAGMA user_version = 1")


def test_a_store_of_an_earlier_schema_is_continued(tmp_path):
    path = tmp_path / "run.oof"
    keep(path)
    as_schema_1(path)
    assert of.load(path).criterion.metric is None
    keep(path, metric="accuracy")
    assert of.load(path).criterion.metric == "accuracy"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA,)


def test_a_function_that_turns_the_recorded_direction_around_is_refused(tmp_path):
    """Less of the cost is better; the plain function would select the dearest configuration."""

    def cost(y, predicted, price=5):
        return float(np.mean(np.where(predicted < y, price, 1.0) * (predicted != y)))

    X, y = data()
    scorer = make_scorer(cost, greater_is_better=False, price=10)
    search = of.SelectCV(SVC(), GRID, scoring=scorer, cv=6, drop=False).fit(X, y)
    search.oof_.save(tmp_path / "s.oof")
    for oof in (search.oof_, of.load(tmp_path / "s.oof")):
        oof.save(tmp_path / "again.oof")
        for found in (oof, of.load(tmp_path / "again.oof")):
            with pytest.raises(
                InputError, match="'cost', of which less is better; of a plain function, greater is better"
            ):
                of.estimate.bbc(found, cost)
            with pytest.raises(InputError, match="with its options"):
                found.selecting_by(cost)
            assert found.selecting_by(scorer).selection().name == search.selection_.name
            right = of.metrics.make(cost, greater_is_better=False)
            assert of.estimate.bbc(found, right, n_resamples=50).value > 0
    with pytest.raises(NeedError, match="Give the scorer as you gave it, with its options, in Python"):
        of.estimate.bbc(of.load(tmp_path / "s.oof"))
