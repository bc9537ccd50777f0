"""Predicting new rows: columns in any order, what is outside the training range, and what cannot be predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outfold as of
from extras import pd
from outfold.exceptions import InputError, OutfoldError
from outfold.models import Model, Threshold, ranges_of
from outfold.models.ranges import KNOTS, outside
from outfold.tables import Column, Columns
from saved_model import COLUMNS, table


@pytest.fixture(scope="module")
def model(saved):
    return of.load_model(saved.folder)


@pytest.fixture
def new():
    return table(30, seed=1)


def test_the_order_of_columns_and_further_ones_do_not_matter(model, new):
    other = new[new.columns[::-1]].assign(extra=1)
    np.testing.assert_array_equal(model.predict(other), model.predict(new))
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(new))
    assert model.check(other).unexpected == ("extra",)
    assert model.check(new).unexpected == ()


def test_target_and_names_are_not_needed(model, new):
    np.testing.assert_array_equal(model.predict(new.drop(columns=["id", "ill", "same"])), model.predict(new))


def test_missing_columns_are_all_named(model, new):
    found = model.check(new.drop(columns=["age", "site"]))
    assert not found.ok
    assert found.missing == ("age", "site")
    with pytest.raises(OutfoldError, match=r"age.*site"):
        model.predict(new.drop(columns=["age", "site"]))


def test_text_in_a_column_of_numbers_is_named(model, new):
    bad = new.assign(age=new["age"].astype(object).where(new.index > 0, "old"))
    found = model.check(bad)
    assert list(found.wrong) == ["age"]
    assert not found.ok
    with pytest.raises(OutfoldError, match="age"):
        model.predict(bad)


def test_unseen_levels_are_counted_and_rows_outside_are_marked(model, new):
    odd = new.copy()
    odd["site"] = odd["site"].astype(object)
    odd.loc[[0, 1], "site"] = "Z"
    odd["age"] = odd["age"].astype(float)
    odd.loc[[1, 2], "age"] = [150.0, np.nan]
    odd.loc[3, "age"] = 5
    odd["pressure"] = 120.0
    found = model.check(odd)
    assert found.ok
    assert found.unseen == {"site": {"Z": 2}}
    assert found.outside == {"age": 2}
    assert found.n_outside == 3
    out = model.table(odd)
    assert out["outside"].tolist() == [True, True, False, True] + [False] * 26
    assert out["why"].tolist()[:4] == ["site", "age, site", "", "age"]


def test_the_table_has_labels_and_probabilities_of_each_class(model, new):
    out = model.table(new, keep=["site"])
    assert list(out.columns) == [
        *("id", "site", "prediction", "probability_no", "probability_yes", "outside", "why"),
    ]
    assert out["id"].tolist() == new["id"].tolist()
    np.testing.assert_allclose(out["probability_no"] + out["probability_yes"], 1)
    assert (out["prediction"] == np.where(out["probability_yes"] >= 0.5, "yes", "no")).all()


@pytest.mark.parametrize("keep", ["nothing", "why"])
def test_a_wrong_keep_is_refused_before_anything_is_predicted(model, new, keep):
    class Unused:
        def predict(self, X):
            pytest.fail("predicted")

        predict_proba = predict

    new["why"] = "mine"
    with pytest.raises(InputError, match="keep must name columns"):
        Model(Unused(), model.about).table(new, keep=[keep])


def test_columns_to_keep_must_be_there(model, new):
    with pytest.raises(InputError, match="there is no 'nothing'"):
        model.table(new, keep=["nothing"])


def test_columns_called_as_those_of_the_output_do_not_replace_them(model, new):
    new["why"] = "mine"
    with pytest.raises(InputError, match="the table of predictions has its own 'why'"):
        model.table(new, keep=["why"])
    columns = Columns((*model.about.columns, Column("why", "id")))
    named = Model(model.estimator, replace(model.about, columns=columns))
    pd.testing.assert_frame_equal(named.table(new), model.table(new))


def test_a_number_that_is_too_large_for_the_model_is_missing(model, new):
    new["age"] = 1e300
    np.testing.assert_array_equal(model.predict(new), model.predict(new.assign(age=np.nan)))


def test_probabilities_follow_the_classes_of_the_model_not_their_sorted_order(model, new):
    turned = Model(model.estimator, replace(model.about, classes=("yes", "no")))
    np.testing.assert_array_equal(turned.predict_proba(new), model.predict_proba(new)[:, ::-1])


def test_the_threshold_cuts(model, new):
    p = model.predict_proba(new)[:, 1]
    strict = Model(model.estimator, replace(model.about, threshold=Threshold("cost=1:5", 0.9)))
    np.testing.assert_array_equal(strict.predict(new), np.where(p >= 0.9, "yes", "no"))
    assert (strict.table(new)["prediction"] == "yes").sum() < (model.table(new)["prediction"] == "yes").sum()


def test_a_polars_frame_gives_the_same(model, new):
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(model.predict(polars.from_pandas(new)), model.predict(new))


@pytest.mark.parametrize("frame", [None, [1, 2], np.zeros((2, 2))])
def test_what_is_no_frame_is_refused(model, frame):
    with pytest.raises(InputError, match="must be a pandas or polars data frame"):
        model.predict(frame)


def test_a_frame_without_rows_is_refused(model, new):
    with pytest.raises(InputError, match="at least one row"):
        model.predict(new[:0])


def test_a_model_without_probabilities_says_so(model, new):
    plain = Model(model.estimator[-1], replace(model.about, classes=None, task="regression"))
    with pytest.raises(InputError, match="gives no probabilities"):
        plain._predict_proba(model.features(new))


def test_one_row_gets_the_same_as_among_many(model, new):
    alone = [model.predict_proba(new[i : i + 1])[0] for i in range(5)]
    np.testing.assert_allclose(alone, model.predict_proba(new)[:5], rtol=1e-12)


def test_it_describes_itself(model):
    text = model.describe()
    assert "It predicts 'ill' and was fitted on 120 rows." in text
    assert "corrected for picking the best" in text
    assert repr(model) == f"<Model {model.about.configuration} of 'ill', binary>"


# -- ranges -------------------------------------------------------------------------------------------------


def test_knots_are_exact_counts_and_hold_the_ends():
    values = np.random.default_rng(0).normal(size=5000)
    columns = Columns((Column("x", "feature", "number"),))
    found = ranges_of(pd.DataFrame({"x": values}), columns)["x"]
    assert len(found.knots) <= KNOTS
    assert (found.low, found.high) == (values.min(), values.max()) == (found.knots[0], found.knots[-1])
    assert list(found.counts) == [int((values <= knot).sum()) for knot in found.knots]


def test_few_values_are_all_kept_and_missing_ones_are_counted():
    columns = Columns((Column("x", "feature", "number"), Column("c", "feature", "category")))
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, 1.0], "c": ["b", "a", None, "b"]})
    found = ranges_of(frame, columns)
    assert found["x"].knots == (1.0, 3.0)
    assert (found["x"].n, found["x"].missing, found["x"].counts) == (3, 1, (2, 3))
    assert (found["c"].knots, found["c"].counts, found["c"].missing) == (("a", "b"), (1, 2), 1)


def test_dates_outside_are_found():
    columns = Columns((Column("day", "feature", "date"),))
    train = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-01-01"]).astype("datetime64[ns]")})
    ranges = ranges_of(train, columns)
    new = pd.DataFrame({"day": pd.to_datetime(["2020-06-01", "2022-01-01", None]).astype("datetime64[ns]")})
    assert outside(new, ranges)[:, 0].tolist() == [False, True, False]


def test_a_column_that_was_empty_in_training_is_outside_when_it_is_not():
    columns = Columns((Column("x", "feature", "number"),))
    ranges = ranges_of(pd.DataFrame({"x": [np.nan, np.nan]}), columns)
    assert outside(pd.DataFrame({"x": [1.0, np.nan]}), ranges)[:, 0].tolist() == [True, False]


def test_features_of_the_training_rows_lie_inside(model, saved):
    assert model.check(saved.frame).n_outside == 0
    assert list(model.about.ranges) == [column.name for column in COLUMNS.features]
