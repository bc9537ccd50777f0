"""The estimate beside what came true: the test, the hints of shift, and the ledger."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp
from sklearn.linear_model import LogisticRegression, Ridge

import outfold as of
from extras import pd
from outfold.data.target import encode
from outfold.exceptions import InputError
from outfold.io import ledger
from outfold.models.ranges import ranges_of_frame
from outfold.models.shifts import feature_shifts, target_shift
from outfold.stats.two_samples import Independent, difference_interval, difference_pvalue, same_shares, steps_gap

CONFIGS = of.grid("logit", LogisticRegression(), C=[0.01, 1])


def draw(n, seed, lost=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    return X, np.where(rng.random(n) < lost, 1 - y, y)


@pytest.fixture(scope="module")
def trained():
    X, y = draw(100, 0)
    oof = of.collect(CONFIGS, X, y, of.Plan(folds=5), metric="accuracy", progress=False)
    return oof, of.refit(oof, CONFIGS, X, y), X, y


# -- the test -----------------------------------------------------------------------------------------------


def share(k, n):
    return Independent(k / n, lambda level: of.intervals.wilson(k, n, confidence_level=level))


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    # Newcombe (1998), Table II, method 10.
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((5, 56), (0, 29), -0.0381, 0.1926)],
)
def test_intervals_of_two_shares_join_as_published(first, second, low, high):
    found = difference_interval(share(*first), share(*second), 0.95)
    np.testing.assert_allclose(found, (low, high), atol=5e-5)


@pytest.mark.parametrize(("k", "n"), [(60, 100), (75, 100), (50, 100), (80, 100)])
def test_at_the_level_of_the_p_value_the_interval_ends_at_zero(k, n):
    first, second = share(k, n), share(64, 100)
    p = difference_pvalue(first, second)
    ends = difference_interval(first, second, 1 - p)
    assert min(abs(end) for end in ends) < 1e-6


def test_equal_shares_have_a_p_value_of_one_and_distant_ones_a_tiny_one():
    assert difference_pvalue(share(60, 100), share(60, 100)) == 1.0
    assert difference_pvalue(share(1, 1000), share(999, 1000)) <= 1e-6


def test_new_samples_of_the_same_kind_are_compatible(trained):
    oof, model, _, _ = trained
    X, y = draw(500, 1)
    found = of.confront(oof, model, X, y)
    assert found.compatible
    assert found.observed == np.mean(model.predict(X) == y)
    assert found.estimate == of.estimate.bbc(oof).value
    assert found.observed_interval == of.intervals.wilson(int(np.sum(model.predict(X) == y)), 500)
    assert found.interval.low < found.difference < found.interval.high
    assert found.n_new == 500
    assert "chance can explain the difference" in str(found)


def test_labels_that_were_lost_are_found(trained):
    oof, model, _, _ = trained
    found = of.confront(oof, model, *draw(500, 1, lost=0.4))
    assert found.compatible is False
    assert found.interval.high < 0
    assert "scored worse than chance explains" in found.verdict


def test_better_than_estimated_is_said_in_the_right_direction_for_losses():
    X, y = draw(100, 0)
    oof = of.collect(CONFIGS, X, y, of.Plan(folds=5), metric="brier", progress=False)
    model = of.refit(oof, CONFIGS, X, y)
    far, _ = draw(400, 3)
    far[:, 0] *= 20
    found = of.confront(oof, model, far, (far[:, 0] > 0).astype(int))
    assert found.difference < 0
    assert found.compatible is False
    assert "scored better than chance explains" in found.verdict


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "brier", "log_loss", "f1", "balanced_accuracy"])
def test_each_metric_of_two_classes_can_be_confronted(trained, metric):
    _, _, X, y = trained
    oof = of.collect(CONFIGS, X, y, of.Plan(folds=5), metric=metric, progress=False)
    found = of.confront(oof, of.refit(oof, CONFIGS, X, y), *draw(200, 5))
    assert 0 < found.pvalue <= 1
    assert found.metric == metric
    assert found.compatible


def test_a_regression_is_confronted_by_r2_and_mse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    ridges = of.grid("ridge", Ridge(), alpha=[0.1, 10])
    for metric in ("r2", "mse"):
        oof = of.collect(ridges, X[:100], y[:100], of.Plan(folds=5), metric=metric, progress=False)
        model = of.refit(oof, ridges, X[:100], y[:100])
        found = of.confront(oof, model, X[100:], y[100:])
        assert found.compatible
        assert of.confront(oof, model, X[100:], rng.permutation(y[100:])).compatible is False
        assert found.target_shift.test == "Kolmogorov-Smirnov"


def test_several_classes_and_a_class_that_is_lacking():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    oof = of.collect(CONFIGS, X[:150], y[:150], of.Plan(folds=5), metric="accuracy", progress=False)
    model = of.refit(oof, CONFIGS, X[:150], y[:150])
    assert of.confront(oof, model, X[150:], y[150:]).compatible
    two = y[150:] != "c"
    found = of.confront(oof, model, X[150:][two], y[150:][two])
    assert found.target_shift.adjusted < 0.05
    assert found.target_shift.what == "is c"
    assert found.target_shift.now == 0


def test_labels_of_another_type_are_the_same_classes(trained):
    oof, model, _, _ = trained
    X, y = draw(200, 5)
    plain = of.confront(oof, model, X, y).observed
    assert of.confront(oof, model, X, y.astype(float)).observed == plain
    assert of.confront(oof, model, X, y.astype(str)).observed == plain


def test_groups_of_new_samples_make_the_interval_wider(trained):
    oof, model, _, _ = trained
    X, y = draw(40, 7)
    X, y, groups = np.repeat(X, 10, axis=0), np.repeat(y, 10), np.repeat(np.arange(40), 10)
    apart, together = of.confront(oof, model, X, y), of.confront(oof, model, X, y, groups=groups)
    width = lambda found: found.observed_interval.high - found.observed_interval.low  # noqa: E731
    assert width(together) > 2 * width(apart)
    assert together.pvalue > apart.pvalue


def test_what_cannot_be_compared_is_refused(trained):
    oof, model, X, y = trained
    new = draw(50, 1)
    with pytest.raises(InputError, match="samples that the model was trained on"):
        of.confront(oof, model, X, y)
    with pytest.raises(InputError, match="must hold the classes 0, 1; it also holds 2"):
        of.confront(oof, model, new[0], new[1] + 1)
    with pytest.raises(InputError, match="must be of the same metric, accuracy; it is of roc_auc"):
        of.confront(oof, model, *new, estimate=of.estimate.bbc(oof, "roc_auc"))
    with pytest.raises(InputError, match="there is no test part"):
        of.confront(oof, CONFIGS, X, y)


# -- hints of shift -----------------------------------------------------------------------------------------


def test_the_distance_at_knots_is_the_whole_one_where_all_values_are_knots():
    rng = np.random.default_rng(0)
    then, now = rng.normal(size=60), rng.normal(0.4, 1, size=80)
    knots, counts = np.unique(then, return_counts=True)
    gap, theirs = steps_gap(knots, np.cumsum(counts), 60, now), ks_2samp(then, now, method="asymp")
    # Between two knots the new distribution may go on a little.
    assert 0 <= theirs.statistic - abs(gap.then - gap.now) < 0.05
    assert gap.pvalue >= theirs.pvalue


def test_shares_of_large_tables_are_those_of_scipy():
    table = np.array([[30, 50, 20], [40, 30, 30]])
    assert same_shares(table) == pytest.approx(chi2_contingency(table, correction=False).pvalue)


def test_shares_of_small_tables_keep_their_level():
    rng = np.random.default_rng(0)
    drawn = [rng.multinomial(12, [0.7, 0.2, 0.1], size=2) for _ in range(300)]
    assert np.mean([same_shares(table) <= 0.05 for table in drawn]) <= 0.08


def test_nothing_to_compare_is_no_change():
    assert same_shares(np.array([[5, 0], [7, 0]])) == 1.0


def test_features_that_changed_are_found_and_the_others_are_not():
    rng = np.random.default_rng(0)

    def frame(n, **changed):
        columns = {
            "same": rng.normal(size=n),
            "moved": rng.normal(size=n),
            "site": rng.choice(["A", "B"], n),
            "lost": rng.normal(size=n),
            "flag": rng.random(n) < 0.5,
        }
        return pd.DataFrame(columns | changed)

    ranges = ranges_of_frame(frame(200))
    quiet = feature_shifts(frame(200), ranges)
    assert all(shift.adjusted > 0.05 for shift in quiet)
    n = 150
    lost = np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n))
    loud = frame(
        n, moved=rng.normal(1, 1, n), site=rng.choice(["A", "B", "C"], n), lost=lost, flag=np.ones(n, dtype=bool)
    )
    found = {(s.name, s.what): s for s in feature_shifts(loud, ranges) if s.adjusted <= 0.05}
    assert {name for name, _ in found} == {"moved", "site", "lost", "flag"}
    assert found["site", "is C"].then == 0
    assert found["lost", "missing"].now == pytest.approx(np.isnan(lost).mean())
    assert found["flag", "is true"].now == 1


def test_p_values_of_features_are_adjusted_for_their_number():
    rng = np.random.default_rng(1)
    ranges = ranges_of_frame(rng.normal(size=(100, 20)))
    found = feature_shifts(pd.DataFrame(rng.normal(size=(100, 20)), columns=list(map(str, range(20)))), ranges)
    assert len(found) == 20
    assert found[0].adjusted == pytest.approx(min(1, 20 * found[0].pvalue))
    assert [shift.pvalue for shift in found] == sorted(shift.pvalue for shift in found)


def test_prevalence_is_compared(trained):
    oof, model, X_train, _ = trained
    X, y = draw(300, 9)
    keep = (y == 1) | (np.arange(300) % 5 == 0)
    found = of.confront(oof, model, X[keep], y[keep], X_train=X_train)
    assert found.target_shift.adjusted < 0.001
    assert found.target_shift.now == np.mean(y[keep])
    assert found.target_shift.then == np.mean(oof.y)
    assert "target     changed: the target is 1" in str(found)
    assert {shift.name for shift in found.drifted} == {"0"}


def test_events_are_compared():
    made = partial(np.array, dtype=[("event", bool), ("time", float)])
    then, now = encode(made([(i % 2 == 0, i + 1.0) for i in range(100)])), encode(made([(True, 1.0)] * 40))
    found = target_shift(then, now)
    assert (found.name, found.what, found.then, found.now) == ("the event", "happened", 0.5, 1.0)
    assert str(found).startswith("the event happened: 100%, was 50% (p = ")
    assert found.pvalue < 1e-6


# -- the result ---------------------------------------------------------------------------------------------


def test_the_result_prints_without_computing_and_goes_to_json_and_frames(trained):
    oof, model, X_train, _ = trained
    found = of.confront(oof, model, *draw(60, 3), X_train=X_train)
    facts = found.to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["compatible"] is True
    assert facts["shifts"][0]["name"] in "012"
    frame = found.to_frame("pandas")
    assert frame.shape[0] == 1
    assert frame["observed"][0] == found.observed
    assert "\n" not in repr(found)
    assert repr(found).startswith("<Confrontation accuracy 0.")
    assert "<table" in found._repr_html_()
    assert found.to_latex().startswith("\\begin{tabular}")


# -- the ledger ---------------------------------------------------------------------------------------------


def test_the_ledger_is_in_the_file_and_keeps_the_same_samples_once(trained, tmp_path):
    oof, model, *_ = trained
    path = oof.save(tmp_path / "run.oof")
    assert ledger.entries(of.load(path)) == ()
    first = of.confront(oof, model, *draw(60, 3), store=path)
    of.confront(oof, model, *draw(60, 3), store=path)
    of.confront(oof, model, *draw(80, 4), store=path)
    kept = of.load(path)
    assert [entry["n_new"] for entry in ledger.entries(kept)] == [60, 80]
    assert ledger.entries(kept)[0]["observed"] == first.observed
    assert ledger.entries(kept)[0]["format"] == 1
    assert kept.fingerprint == oof.fingerprint
    assert str(kept).count("came true") == 2
    assert f"accuracy {first.observed:.2f} on 60 new samples" in str(kept)  # as many digits as the interval supports
    whatever = replace(
        kept, provenance={**kept.provenance, "ledger": [{**ledger.entries(kept)[0], "observed_interval": "?"}]}
    )
    assert f"accuracy {first.observed:.4f} on 60 new samples" in str(whatever)
    assert of.estimate.bbc(kept).value == of.estimate.bbc(oof).value
    assert [file.name for file in tmp_path.iterdir()] == ["run.oof"]
    assert len(ledger.entries(of.load(kept.save(tmp_path / "copy.oof")))) == 2


def test_a_store_that_goes_on_keeps_its_ledger(tmp_path):
    X, y = draw(100, 0)
    path = tmp_path / "run.oof"
    go = partial(of.collect, X=X, y=y, plan=of.Plan(folds=5), metric="accuracy", store=path, progress=False)
    oof = go(CONFIGS)
    of.confront(oof, of.refit(oof, CONFIGS, X, y), *draw(60, 3), store=path)
    again = go(CONFIGS | of.grid("more", LogisticRegression(), C=[100]))
    assert len(ledger.entries(again)) == len(ledger.entries(of.load(path))) == 1


def test_a_file_takes_over_the_ledger_of_another(trained, tmp_path):
    oof, model, *_ = trained
    old, new = (oof.save(tmp_path / name) for name in ("old.oof", "new.oof"))
    for seed in (3, 4):
        of.confront(oof, model, *draw(60, seed), store=old)
    of.confront(oof, model, *draw(60, 4), store=new)
    ledger.extend(new, ledger.entries(of.load(old)))
    assert [entry["labels"] for entry in ledger.entries(of.load(new))] == [
        entry["labels"] for entry in reversed(ledger.entries(of.load(old)))
    ]


def test_files_of_every_earlier_schema_take_a_ledger(tmp_path, trained):
    oof, model, *_ = trained
    found = of.confront(oof, model, *draw(60, 3)).to_dict()
    from pathlib import Path
    from shutil import copy

    formats = Path(__file__).parents[1] / "io" / "formats"
    old = sorted(formats.glob("*.oof"))
    assert old
    for file in old:
        path = tmp_path / copy(file, tmp_path / file.name).name
        with sqlite3.connect(path) as db:
            before = db.execute("PRAGMA user_version").fetchone()
        assert ledger.append(path, found)
        assert len(ledger.entries(of.load(path))) == 1
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA user_version").fetchone() == before


# -- a saved model ------------------------------------------------------------------------------------------


def test_a_saved_model_is_confronted_with_a_table(saved):
    from saved_model import table

    model, new = of.load_model(saved.folder), table(150, seed=5, shift=25)
    found = of.confront(saved.oof, model, new, new["ill"])
    assert {shift.name for shift in found.drifted} == {"age"}
    assert found.n_outside == model.check(new).n_outside > 0
    assert str(found.target_shift).startswith("ill is yes: ")
    with pytest.raises(InputError, match="samples that the model was trained on"):
        of.confront(saved.oof, model, saved.frame, saved.frame["ill"])


def test_a_model_of_other_predictions_is_refused(saved, trained):
    model = of.load_model(saved.folder)
    new = saved.frame[:20]
    with pytest.raises(InputError, match="must be the configuration that the predictions select"):
        of.confront(trained[0], model, new, new["ill"])
