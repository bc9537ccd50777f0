"""The seam: both executors give the same bits, and nothing of sharing or of the driver is loaded where it is not used."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from internals import (
    Batch,
    Configs,
    Options,
    PlainExecutor,
    Plan,
    WorkerSettings,
    collect,
    make_job,
    one_repeat,
    run_batch,
    single_holdouts,
)

MODELS = [
    *(SVC(C=c) for c in (0.5, 2.0)),
    *(KNeighborsClassifier(k) for k in (1, 3, 5)),
    *(DecisionTreeClassifier(max_depth=d) for d in (1, 3)),
    GaussianNB(),
    ExtraTreesClassifier(4),
]
STEPS = [(), (StandardScaler(),), (MinMaxScaler(), SelectKBest(k=2)), (StandardScaler(), SelectKBest(k=3))]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    return X, (X[:, 0] + rng.normal(size=50) > 0).astype(int)


@settings(deadline=None, max_examples=15)
@given(
    picks=st.lists(
        st.tuples(st.sampled_from(range(len(STEPS))), st.sampled_from(range(len(MODELS)))), min_size=1, max_size=8
    ),
    fold=st.integers(0, 2),
)
def test_both_executors_give_the_same_bits(data, picks, fold):
    configs = Configs({f"c{i}": make_pipeline(*STEPS[s], MODELS[m]) for i, (s, m) in enumerate(picks)})
    found = []
    for share in ("exact", False):
        job = make_job(configs, *data, Options.checked(plan=Plan(folds=3), share=share))
        holdout = single_holdouts(job.splits)[fold]
        executor = job.executor
        templates = [executor.templates[j] for j in executor.order]
        worker = WorkerSettings(job.samples, job.reader)
        batch = Batch(worker, executor.token, holdout, one_repeat(job.splits, 0), *job.seeds_of(holdout), templates)
        outcomes = run_batch(executor, batch)
        found.append({outcome.name: outcome for outcome in outcomes})
    shared, plain = found
    assert shared.keys() == plain.keys() == configs.keys()
    for name, outcome in plain.items():
        assert outcome.message == shared[name].message == ""
        assert [v.tobytes() for v in outcome.values] == [v.tobytes() for v in shared[name].values]


def test_a_family_with_a_single_member_is_not_verified(data):
    oof = collect(
        {"stages": GradientBoostingClassifier(n_estimators=4), "nb": GaussianNB(), "tree": SVC()}, *data, Plan(folds=5)
    )
    assert oof.provenance["sharing"]["checks"] == 0


def test_a_forest_that_scikit_learn_fits_is_not_verified(data):
    oof = collect({"few trees": ExtraTreesClassifier(4)}, *data, Plan(folds=5))
    assert oof.provenance["sharing"]["checks"] == 0
    oof = collect({"many trees": ExtraTreesClassifier(20)}, *data, Plan(folds=5))
    assert oof.provenance["sharing"]["checks"] >= 1


def test_a_single_member_that_is_computed_in_another_way_is_verified_now_and_then(data):
    oof = collect({"logit": LogisticRegression()}, *data, Plan(folds=5), share="close")
    assert 1 <= oof.provenance["sharing"]["checks"] < 5


def test_a_plain_executor_shares_nothing():
    executor = PlainExecutor([])
    assert (list(executor.order), executor.helpers([]), executor.identity) == ([], [], {})


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_nothing_of_sharing_is_imported_where_nothing_is_shared():
    loaded = run(
        "import json, sys, numpy as np\n"
        "from sklearn.linear_model import Ridge\n"
        "import outfold as of\n"
        "X = np.arange(20.0).reshape(-1, 1)\n"
        "of.collect({str(a): Ridge(a) for a in (1.0, 2.0)}, X, X[:, 0], of.Plan(folds=4), share=False)\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('outfold.fitting')]))\n"
    )
    assert "outfold.fitting.executor" in loaded
    assert not [name for name in loaded if name.startswith("outfold.fitting.sharing")]


def test_a_grid_does_not_import_the_driver():
    loaded = run(
        "import json, sys\n"
        "from outfold.fitting.configs import grid\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('outfold.')]))\n"
    )
    assert not {f"outfold.fitting.{name}" for name in ("api", "dispatcher", "executor", "pool")} & set(loaded)


@pytest.mark.parametrize("share", ["exact", False])
def test_a_worker_process_imports_the_fitting_part_only(share):
    names = run(
        "import json, sys, numpy as np\n"
        "from sklearn.base import BaseEstimator, RegressorMixin\n"
        "from sklearn.linear_model import Ridge\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        "import outfold as of\n"
        "class SaysModules(RegressorMixin, BaseEstimator):\n"
        "    def fit(self, X, y):\n"
        "        raise ValueError(' '.join(name for name in sys.modules if name.startswith('outfold.')))\n"
        "    def predict(self, X):\n"
        "        raise NotImplementedError\n"
        "if __name__ == '__main__':\n"
        "    X = np.arange(20.0).reshape(-1, 1)\n"
        "    configs = {str(m): make_pipeline(StandardScaler(), m) for m in (SaysModules(), Ridge(1.0), Ridge(2.0))}\n"
        f"    oof = of.collect(configs, X, X[:, 0], of.Plan(folds=2), n_jobs=2, share={share!r})\n"
        "    text = next(iter(oof.messages.values()))\n"
        "    print(json.dumps(text.removeprefix('ValueError: ').split()))\n"
    )
    assert "outfold.fitting.worker" in names
    parts = {name.split(".")[1] for name in names}
    # Light modules beside the fitting part: errors, words, and the texts of docstrings.
    light = {"_version", "arguments", "citations", "docstrings", "exceptions", "formatting"}
    assert parts <= {"data", "fitting", "stats", *light}
    driver = {f"outfold.fitting.{name}" for name in ("api", "dispatcher", "job", "pool", "buffer", "options")}
    assert not driver & set(names)
