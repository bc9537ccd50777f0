"""scikit-learn's own tests of its searches, run on ours, end as the list of known failures says (`make sklearn-suite`)."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import outfold as of
from sklearn_suite.adaptors import SEARCHES
from sklearn_suite.plugin import substituted
from sklearn_suite.run import FOLDER, LIST, KnownFailures, differences, summary, verdict

KNOWN = KnownFailures("1.9.1", {"test_a": "words differ"})


def test_all_ends_as_listed():
    command = [sys.executable, str(FOLDER / "run.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    last = run.stdout.splitlines()[-1]
    found = re.fullmatch(r"scikit-learn (\S+): (\d+) tests touch a search: (\d+) pass, .*known failures\.", last)
    assert found, last
    assert found[1] == sklearn.__version__
    assert int(found[2]) >= 80  # scikit-learn 1.7 has no tests of callbacks
    assert int(found[3]) > 0
    if found[1] == KnownFailures.read(LIST).version:
        page = " ".join((FOLDER.parents[1] / "docs" / "selectcv.md").read_text(encoding="utf-8").split())
        assert f"With scikit-learn {found[1]}, {found[2]} of these tests touch a search, and {found[3]} pass." in page


def test_the_list_must_be_exact():
    collected = ["test_a", "test_b"]
    assert differences(KNOWN, collected, {"test_a": "failed", "test_b": "passed"}) == []
    assert differences(KNOWN, collected, {"test_a": "skipped", "test_b": "skipped"}) == []
    assert differences(KNOWN, collected, {"test_a": "failed", "test_b": "failed"}) == [
        "test_b fails and is not listed."
    ]
    assert differences(KNOWN, collected, {"test_a": "passed"}) == ["test_a passes and is listed: words differ"]
    assert differences(KNOWN, ["test_b"], {}) == ["test_a is listed and does not exist."]


def test_differences_count_with_one_version_of_scikit_learn():
    assert verdict("1.9.1", KNOWN, []) == (0, [])
    assert verdict("1.9.1", KNOWN, ["one"]) == (1, ["one"])
    code, said = verdict("1.7.0", KNOWN, ["one"])
    assert code == 0
    assert said == ["one", "The list was made for scikit-learn 1.9.1, and this is 1.7.0: differences do not count."]


def test_the_closing_line_counts_what_touches_a_search():
    outcomes = {"test_a": "failed", "test_b": "passed", "test_c": "skipped"}
    expected = "scikit-learn 1.9.1: 3 tests touch a search: 1 pass, 1 fail, 1 skipped; 1 are listed as known failures."
    assert summary("1.9.1", KNOWN, outcomes) == expected


def test_a_test_is_listed_once(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text('scikit_learn = "1.9.1"\n[[cause]]\nreason = "x"\ntests = ["test_a", "test_a"]\n')
    with pytest.raises(ValueError, match="lists test_a twice"):
        KnownFailures.read(path)


def test_names_are_replaced_and_put_back():
    from sklearn import model_selection
    from sklearn.model_selection import _search

    theirs = model_selection.GridSearchCV
    with substituted():
        assert model_selection.GridSearchCV is _search.GridSearchCV is of.SelectCV
        assert {name: getattr(model_selection, name) for name in SEARCHES} == SEARCHES
    assert model_selection.GridSearchCV is _search.GridSearchCV is theirs


@pytest.mark.parametrize("name", SEARCHES)
def test_stand_ins_are_estimators(name):
    search = SEARCHES[name](LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
    copy = clone(search).set_params(estimator__fit_intercept=False)
    assert copy.get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert copy._grid == {"C": [0.1, 1.0]}
    assert "C" in repr(search)
    again = pickle.loads(pickle.dumps(search))
    assert repr(again) == repr(search)
    assert again.search == search.search


def test_a_changed_number_of_draws_is_drawn():
    search = SEARCHES["RandomizedSearchCV"](LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, n_iter=3, cv=3)
    search.set_params(n_iter=2).fit([[i] for i in range(12)], [0, 1] * 6)
    assert len(search.cv_results_["params"]) == 2
