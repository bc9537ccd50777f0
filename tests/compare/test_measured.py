"""What is said about error rates is what was measured: the table in the code, the page and the result file agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from type_one_tables import RESULTS, coverage_rows, largest_errors, page_rows, power_rows

import outfold as of
from internals import DECISIONS, LARGEST, LIMIT

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


@pytest.fixture(scope="module")
def rows():
    return json.loads(RESULTS.read_text())["rows"]


def test_the_table_in_the_code_is_that_of_the_study(rows):
    measured = largest_errors(rows)
    del measured["one test set, learners"]  # another question than that of the tests of one test set
    assert {
        kind: {test: round(error, 3) for test, error in tests.items()} for kind, tests in measured.items()
    } == LARGEST


def test_the_page_holds_the_tables_of_the_study(rows):
    text = PAGE.read_text()
    for table in (page_rows, power_rows, coverage_rows):
        lines = list(table(rows))
        assert len(lines) > 5
        assert "\n".join(lines) in text


def test_every_setting_has_its_data_sets(rows):
    assert {row["sets"] for row in rows} == {1000}


def test_auto_recommends_what_keeps_its_level():
    recommended = {row.test.name for row in DECISIONS if row.test is not None}
    assert recommended == {"permutation", "mcnemar", "delong", "t_training", "t_corrected"}
    for kind in ("K-fold", "repeated K-fold", "5 x 2-fold", "blocked", "repeated hold-out"):
        assert LARGEST[kind]["t_training"] <= LIMIT
    assert LARGEST["K-fold"]["t_corrected"] <= LIMIT
    assert LARGEST["one test set"]["mcnemar"] <= LIMIT
    assert LARGEST["large test set"]["delong"] <= LIMIT
    assert min(LARGEST["leave-one-out"].values()) > LIMIT


@pytest.mark.parametrize("kind", ["repeated K-fold", "5 x 2-fold", "blocked", "repeated hold-out"])
def test_where_no_test_of_scores_keeps_its_level_auto_takes_the_least_liberal(kind):
    needs_predictions = {"t_training", "bootstrap", "permutation", "delong", "mcnemar", "z_proportions"}
    of_scores = {test: error for test, error in LARGEST[kind].items() if test not in needs_predictions}
    assert min(of_scores.values()) > LIMIT
    assert min(of_scores, key=of_scores.get) == "t_corrected"


def test_where_auto_takes_permutation_for_areas_it_errs_least():
    assert LARGEST["one test set"]["delong"] > LIMIT
    assert LARGEST["one test set"]["permutation"] < LARGEST["one test set"]["delong"]


def test_a_test_that_errs_says_so():
    scores = of.from_scores(
        {"a": [0.8, 0.7, 0.9, 0.8] * 5, "b": [0.7, 0.6, 0.9, 0.7] * 5}, n_train=90, n_test=10, repeats=2
    )
    (note,) = (n for n in of.compare.t_corrected(scores, None, 0, 1).notes if n.code == "OF312")
    assert f"in up to {LARGEST['repeated K-fold']['t_corrected']:.0%} of simulated data sets" in note.text
