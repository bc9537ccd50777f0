"""Dates and texts as numbers: learnt from training rows only, and ready for any rows afterwards."""

import datetime

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_parameters_default_constructible

from extras import pd, pl
from outfold.exceptions import InputError
from outfold.learners import Dates, Words


def days(*texts, unit="D"):
    return np.array(texts, dtype=f"datetime64[{unit}]")[:, None]


@pytest.mark.parametrize("transformer", [Dates(add_indicator=True), Words(20, pairs=True, dense=True)])
def test_they_are_estimators_of_scikit_learn(transformer):
    check_parameters_default_constructible(type(transformer).__name__, type(transformer)())
    copy = clone(transformer)
    assert copy.get_params() == transformer.get_params()
    assert copy.set_params(**transformer.get_params()) is copy
    with pytest.raises(NotFittedError):
        copy.transform(np.array([["2020-01-01"]], dtype=object))


# -- dates -----------------------------------------------------------------------------------------------


def test_a_date_becomes_its_parts():
    X = days("2024-02-29T18:30", "2024-03-01T00:00", "1969-12-31T23:00", unit="s")
    parts = Dates().fit_transform(X)
    names = Dates().fit(X).get_feature_names_out().tolist()
    assert names == ["x0_days", "x0_year", "x0_month", "x0_day", "x0_weekday", "x0_hour"]
    assert parts[0, 1:].tolist() == [2024, 2, 29, 3, 18.5]  # a Thursday
    assert parts[1, 1:].tolist() == [2024, 3, 1, 4, 0]
    assert parts[2].tolist() == [0, 1969, 12, 31, 2, 23]  # before 1970, and the first of them
    whole = datetime.datetime(2024, 2, 29, 18, 30) - datetime.datetime(1969, 12, 31, 23)
    assert parts[0, 0] == pytest.approx(whole.total_seconds() / 86400)


def test_days_count_from_the_first_training_date():
    fitted = Dates().fit(days("2020-01-11", "2020-01-21"))
    assert fitted.transform(days("2020-01-01", "2020-01-31"))[:, 0].tolist() == [-10, 20]


def test_hours_are_left_out_where_no_training_date_has_one():
    fitted = Dates().fit(days("2020-01-11", "2020-01-21"))
    assert fitted.transform(days("2020-01-01T05:00", unit="s")).shape == (1, 5)


def test_a_missing_date_gets_the_median_and_an_indicator():
    fitted = Dates(add_indicator=True).fit(days("2020-01-01", "2020-01-03", "2020-01-11", "NaT"))
    found = fitted.transform(days("NaT", "2020-01-01"))
    assert found[0].tolist() == [2, 2020, 1, 3, 4, 1]
    assert found[1, -1] == 0
    assert fitted.get_feature_names_out()[-1] == "x0_missing"


def test_training_rows_without_any_date_leave_a_transformer_that_works():
    fitted = Dates().fit(days("NaT", "NaT"))
    found = fitted.transform(days("NaT", "2020-01-02"))
    assert np.isfinite(found).all()
    assert found[0].tolist() == [0] * 5
    assert found[1, 1:4].tolist() == [2020, 1, 2]


def test_frames_of_any_kind_give_the_same():
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-05-01 12:00", None, "2021-01-01 00:00"])})
    expected = Dates().fit_transform(frame)
    assert Dates().fit(frame).get_feature_names_out()[0] == "d_days"
    np.testing.assert_array_equal(Dates().fit_transform(pl.from_pandas(frame)), expected)
    np.testing.assert_array_equal(Dates().fit_transform(frame.to_numpy()), expected)
    objects = frame.astype(object)
    np.testing.assert_array_equal(Dates().fit_transform(objects), expected)
    in_zone = frame.assign(d=frame["d"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    np.testing.assert_array_equal(Dates().fit_transform(in_zone), expected)


def test_what_is_no_date_is_told():
    with pytest.raises(InputError, match="needs columns of dates; a column holds float64"):
        Dates().fit(np.zeros((3, 1)))
    with pytest.raises(InputError, match="needs columns of dates; a column holds 'soon'"):
        Dates().fit(np.array([["soon"]], dtype=object))
    with pytest.raises(ValueError, match="features"):
        Dates().fit(days("2020-01-01")).transform(np.hstack([days("2020-01-01"), days("2020-01-01")]))


# -- texts -----------------------------------------------------------------------------------------------


def column(*texts):
    return np.array(texts, dtype=object)[:, None]


def test_words_are_those_of_scikit_learn_with_the_length():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["good wine", "good red wine", "bad red", "bad wine wine"]
    X = column(*texts)
    plain = TfidfVectorizer(min_df=2, sublinear_tf=True, strip_accents="unicode")
    found = Words(dense=True).fit_transform(X)
    np.testing.assert_array_equal(found[:, :-1], plain.fit_transform(texts).toarray())
    np.testing.assert_allclose(found[:, -1], np.log([3, 4, 3, 4]) / np.log(4))
    names = Words().fit(X).get_feature_names_out().tolist()
    assert names == ["x0_bad", "x0_good", "x0_red", "x0_wine", "x0_length"]


def test_only_the_most_frequent_words_are_kept():
    X = column("a1 b1 c1", "a1 b1", "a1 c1", "a1 b1")
    assert Words(2).fit(X).get_feature_names_out().tolist() == ["x0_a1", "x0_b1", "x0_length"]
    assert "x0_a1 b1" in Words(pairs=True).fit(X).get_feature_names_out()


def test_sparse_and_dense_rows_are_equal():
    from scipy import sparse

    X = np.hstack([column("red wine", "red", "", "wine"), column("yes", "no", "yes", None)])
    loose = Words().fit_transform(X)
    assert sparse.issparse(loose)
    np.testing.assert_array_equal(loose.toarray(), Words(dense=True).fit_transform(X))


def test_texts_without_words_and_missing_texts_serve():
    fitted = Words(dense=True).fit(column("", None, np.nan))
    assert fitted.vectorizers_ == [None]
    np.testing.assert_allclose(fitted.transform(column("some words", "")), [[np.log(3)], [0.0]])
    # All texts differ: then one text is enough for a word.
    assert len(Words().fit(column("one", "two", "six")).get_feature_names_out()) == 4


def test_the_na_of_pandas_is_a_missing_text():
    texts = ["red car", None, "blue car", "red"]
    nullable, plain = (pd.DataFrame({"t": pd.Series(texts, dtype=kind)}) for kind in ("string", object))
    np.testing.assert_array_equal(*(Words(5, dense=True).fit_transform(frame) for frame in (nullable, plain)))


def test_unseen_words_are_ignored():
    fitted = Words(dense=True).fit(column("red wine", "red wine", "white wine"))
    assert fitted.transform(column("beer"))[0, :-1].tolist() == [0.0] * (fitted.transform(column("beer")).shape[1] - 1)


@pytest.mark.parametrize("make", [lambda: Dates(add_indicator=True), lambda: Words(20, dense=True)])
def test_skops_keeps_them(make, tmp_path):
    skops = pytest.importorskip("skops.io")
    X = days("2020-01-01", "NaT", "2021-05-05") if isinstance(make(), Dates) else column("red wine", "wine", "")
    fitted = make().fit(X)
    skops.dump(fitted, tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert trusted == [f"outfold.learners.columns.{type(fitted).__name__}"]
    loaded = skops.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
