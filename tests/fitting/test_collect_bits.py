"""The same bits whatever the number of workers, the backend, the batches or the order of the work."""

import random
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from collect_estimators import DrawsGlobally, Raises, Tally
from internals import (
    EstimatorTemplate,
    PlainExecutor,
    Plan,
    Portion,
    Schedule,
    collect,
    grid,
    paired_holdouts,
    refit,
    single_holdouts,
)
from outfold.exceptions import InputError

PLAN = Plan(folds=3, repeats=2)
# A fit in this process must not depend on the threads that it would find here.
pytestmark = pytest.mark.usefixtures("two_threads")


def randomised():
    """Estimators that draw, each with its random_state left open, and one that fails."""
    configs = grid("forest", RandomForestClassifier(5), max_depth=[2, None])
    configs |= grid("sgd", make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")), alpha=[1e-3, 1e-1])
    configs |= grid("mlp", MLPClassifier((5,), max_iter=20), activation=["tanh"])
    configs |= {
        "trees": ExtraTreesClassifier(5),
        "boost": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3),
        "bad": Raises(),
    }
    return configs


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 8, random_state=1)


@pytest.fixture(scope="module")
def sequential(data):
    return collect(randomised(), *data, PLAN, rng=3, inner=True)


def same(a, b):
    for one, other in ((a, b), *((a.blocks[k], b.blocks[k]) for k in a.blocks)):
        np.testing.assert_array_equal(one.state, other.state)
        assert one.data.tobytes() == other.data.tobytes()
        assert one.configs == other.configs
        assert dict(one.messages) == dict(other.messages)
        assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_processes(data, sequential, n_jobs):
    same(collect(randomised(), *data, PLAN, rng=3, inner=True, n_jobs=n_jobs), sequential)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads(data, sequential, n_jobs):
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        same(collect(randomised(), *data, PLAN, rng=3, inner=True), sequential)


def globally():
    """Estimators without a random_state that draw all the same, from the generators everybody shares."""
    return grid("draws", DrawsGlobally(), scale=[1.0, 2.0]) | {"tally": Tally()}


@pytest.fixture
def global_states():
    """The states of the global generators now; the test begins with known ones."""
    before = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    random.seed(7)
    yield lambda: (np.random.get_state()[1].tolist(), np.random.get_state()[2], random.getstate())  # noqa: NPY002
    np.random.set_state(before[0])  # noqa: NPY002
    random.setstate(before[1])


def test_global_generators_are_seeded_by_fold_and_given_back(data, global_states):
    before = global_states()
    one = collect(globally(), *data, PLAN, rng=3, inner=True)
    assert global_states() == before
    np.random.seed(8)  # noqa: NPY002
    random.seed(8)
    same(collect(globally(), *data, PLAN, rng=3, inner=True), one)
    same(collect(globally(), *data, PLAN, rng=3, inner=True, n_jobs=2), one)
    # The same draws for all configurations of a fold, others in another fold or for another seed.
    np.testing.assert_array_equal(one.data[:, 0], one.data[:, 1])
    means = [one.data[r, 0][one.folds[:, r] == k].mean() for r, k in one.splits.cells]
    assert len(set(means)) == len(means)
    assert np.all(collect(globally(), *data, PLAN, rng=4).data[:, :2] != one.data[:, :2])
    np.testing.assert_array_equal(one.data[:, 2], collect({"tally": Tally()}, *data, PLAN, rng=3).data[:, 0])


def test_global_generators_are_left_alone_by_threads(data, global_states):
    """Where several fits draw at the same time, no seed could make them repeatable."""
    before = global_states()
    with joblib.parallel_config("threading", n_jobs=2):
        assert collect({"tally": Tally()}, *data, PLAN).completeness == 1.0
    assert global_states() == before


def test_refit_seeds_the_global_generators_too(data, global_states):
    oof, before = collect(globally(), *data, PLAN, rng=3), global_states()
    models = [refit(oof.sel(["draws(scale=1)"]), globally(), *data, metric="roc_auc") for _ in range(2)]
    assert models[0].drawn_ == models[1].drawn_
    assert global_states() == before


def test_another_global_generator_of_numpy_is_left_alone(data):
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(1))
        assert collect(globally(), *data, PLAN).completeness == 1.0
    finally:
        np.random.set_bit_generator(before)


def test_order_of_configurations(data, sequential):
    backwards = dict(reversed(randomised().items()))
    oof = collect(backwards, *data, PLAN, rng=3)
    np.testing.assert_array_equal(oof.data[:, ::-1], sequential.data)


def test_memory_mapped_features(data):
    """Above 1 MB joblib maps X into the workers read-only."""
    X, y = make_classification(3000, 60, random_state=0)
    configs = {"logit": LogisticRegression(max_iter=20), "forest": RandomForestClassifier(2, max_depth=3)}
    same(collect(configs, X, y, Plan(3), n_jobs=2), collect(configs, X, y, Plan(3)))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_processes(data, library):
    frames = pytest.importorskip(library)
    X, y = data
    frame = frames.DataFrame({f"x{i}": column for i, column in enumerate(X.T)})
    same(collect(LogisticRegression(), frame, y, PLAN, n_jobs=2), collect(LogisticRegression(), frame, y, PLAN))


def test_backend_that_gives_all_results_at_the_end(data):
    with (
        joblib.parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(InputError, match="use 'loky' or 'threading'"),
    ):
        collect(Tally(), *data, PLAN)


def test_more_repeats_leave_the_earlier_ones_as_they_were(data, sequential):
    more = collect(randomised(), *data, Plan(folds=3, repeats=3), rng=3)
    np.testing.assert_array_equal(more.data[:2], sequential.data)


def test_classes_of_a_script_reach_worker_processes(data):
    class Local(Tally):
        pass

    same(collect({"local": Local()}, *data, PLAN, n_jobs=2), collect({"local": Local()}, *data, PLAN))


def test_warnings_are_counted_in_every_backend(data, recwarn):
    configs = {"slow": LogisticRegression(max_iter=1)}
    texts = {str(collect(configs, *data, Plan(4), n_jobs=n).notes[0]) for n in (1, 2)}
    with joblib.parallel_config("threading"):
        texts.add(str(collect(configs, *data, Plan(4), n_jobs=2).notes[0]))
    assert texts == {"OF103  fits gave warnings: ConvergenceWarning in 4 of 4 fits."}
    assert len(recwarn) == 0


def test_blas_uses_one_thread_during_fits_only(data):
    class Looks(Tally):
        def fit(self, X, y):
            self.threads_ = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
            return super().fit(X, y)

        def predict_proba(self, X):
            assert self.threads_ == {1}
            return super().predict_proba(X)

    before = threadpool_info()
    assert collect({"looks": Looks()}, *data, Plan(3)).completeness == 1.0
    assert collect({"looks": Looks()}, *data, Plan(3), n_jobs=2).completeness == 1.0
    assert threadpool_info() == before


def test_openmp_uses_one_thread_or_as_many_as_asked_for(data):
    class Looks(Tally):
        def fit(self, X, y):
            self.threads_ = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
            return super().fit(X, y)

        def predict_proba(self, X):
            raise RuntimeError(f"{self.threads_}")

    before = threadpool_info()
    configs = {"looks": Looks(), "a": Tally()}
    for options in ({}, {"n_jobs": 2}, {"timeout": 60.0}):
        for threads in (1, 2):
            oof = collect(configs, *data, Plan(2), threads=threads, **options)
            assert set(oof.messages.values()) == {f"RuntimeError: {{{threads}}}"}, options
            assert oof.provenance["threads"] == threads
    with joblib.parallel_config("threading", n_jobs=2):
        oof = collect(configs, *data, Plan(2))
        assert set(oof.messages.values()) == {"RuntimeError: {1}"}
    assert set(collect(configs, *data, Plan(2), n_jobs=2).messages.values()) == {"RuntimeError: {1}"}
    assert threadpool_info() == before


def test_openmp_of_a_library_that_is_imported_later_is_limited_too():
    pytest.importorskip("lightgbm", reason="needs a library with an OpenMP of its own")
    script = (
        "from outfold.stats.compiling import limit_threads\n"
        "from threadpoolctl import threadpool_info\n"
        "with limit_threads('openmp'): pass\n"
        "import lightgbm\n"
        "with limit_threads('openmp'):\n"
        "    print({pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'openmp'})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"


def test_many_samples_give_the_same_bits():
    """Centres of clusters are sums whose order OpenMP threads would change."""
    X, y = make_classification(12_000, 8, random_state=0)
    model = make_pipeline(KMeans(20, n_init=1, max_iter=15), LogisticRegression(max_iter=20))
    same(collect(model, X, y, Plan(2), n_jobs=2), collect(model, X, y, Plan(2)))


# -- batches --------------------------------------------------------------------------------------------


def schedule(done=(), task_seconds=1.0, largest=100, n=10):
    splits = Plan(folds=3, repeats=2).split(np.arange(30) % 2)
    executor = PlainExecutor([EstimatorTemplate(f"c{j}", "") for j in range(n)])
    return Schedule(single_holdouts(splits), executor, set(done), task_seconds, largest)


def test_the_first_fit_says_little_about_the_others():
    plan = schedule()
    assert plan.seconds_of(100) == 0.0
    plan.learn("c0", 0.08)  # it may have loaded a library
    assert plan.seconds_of(100) == 0.0
    plan.learn("c1", 0.002)
    plan.learn("c2", 0.004)
    assert plan.seconds_of(100) == pytest.approx(0.3)
    slow = schedule()
    slow.learn("c0", 2.1)
    assert slow.seconds_of(10) == pytest.approx(20.0)


def test_every_missing_fit_is_in_one_batch():
    done = {("oof", "c3", 0, 1), ("oof", "c4", 1, 2)}
    plan = schedule(done)
    fits = []
    for holdout, configs in plan.portions():
        plan.learn("c0", 0.3)
        fits += [(j, *holdout.cells[0]) for j in configs]
    assert len(fits) == len(set(fits)) == 58
    assert not {(3, 0, 1), (4, 1, 2)} & set(fits)


def test_batches_grow_once_fits_are_known_to_be_short():
    plan = schedule(task_seconds=1.0)
    batches = plan.portions()
    assert next(batches).configs == (0,)
    plan.learn("c0", 0.25)
    assert next(batches).configs == (1, 2, 3, 4)
    plan.learn("c5", 2.0)
    assert next(batches) == Portion(plan.holdouts[0], (5,))


def test_batches_are_never_larger_than_allowed():
    plan = schedule(largest=4)
    batches = plan.portions()
    next(batches)
    plan.learn("c0", 1e-6)
    assert max(len(b.configs) for b in batches) == 4


def test_one_fit_serves_two_inner_cells():
    splits = Plan(folds=3, repeats=2).split(np.arange(30) % 2)
    pairs = paired_holdouts(splits)
    assert len(pairs) == 2 * 3
    assert pairs[-1].left_out == (1, 2)
    assert pairs[-1].cells == ((3 + 1, 2), (3 + 2, 1))
