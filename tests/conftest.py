"""Shared fixtures: where reference data live, and small predictions of every kind."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import outfold as of

# Examples and tests draw into files, never onto a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# Metrics of values above 0.
POSITIVE = ("msle", "rmsle", "poisson_deviance", "gamma_deviance")
GOLDEN = Path(__file__).resolve().parent / "golden" / "data"

# Started in the background of a shell script, processes ignore Ctrl-C, and so would those that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("outfold", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("outfold")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Where pandas and polars are not installed, a test that asks for a frame is skipped, by our own error."""
    try:
        return (yield)
    except of.exceptions.InputError as error:
        if "a frame needs pandas or polars" in str(error) and not importlib.util.find_spec("pandas"):
            pytest.skip(f"{error}")
        raise


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """BLAS and OpenMP use one thread: on arrays as small as ours, several wait for each other longer than they work."""
    import sklearn  # noqa: F401  (the libraries must be loaded to be limited)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture
def two_threads(one_thread):
    """BLAS and OpenMP use two threads, for a test of the limits that Outfold sets itself."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2):
        yield


@pytest.fixture(scope="session")
def golden_data() -> Path:
    """The folder of reference values made with other software; its README says which made what."""
    return GOLDEN


def make_predictions(metric: str, n: int = 40, c: int = 7, r: int = 1, folds: int = 5, seed: int = 0) -> of.Predictions:
    """Predictions with ties and duplicated configurations, of the kind the metric needs."""
    rng = np.random.default_rng(seed)
    found = of.metrics.get(metric)
    fold = np.stack([rng.permutation(np.arange(n) % folds) for _ in range(r)], axis=1)
    if "survival" in found.tasks:
        time = rng.integers(1, 15, n).astype(float)
        y = np.stack([time, rng.integers(0, 2, n)], axis=1)
        P = np.round(-time[:, None, None] / 5 + rng.normal(0, 1.5, (n, c, r)), 1)
        response = "risk"
    elif "pointwise" in found.tasks and len(found.tasks) == 1:
        y, P, response = None, rng.integers(0, 3, (n, c, r)).astype(float), "pointwise"
    elif "regression" in found.tasks and "binary" not in found.tasks:
        y = rng.normal(size=n)
        P = y[:, None, None] + rng.normal(0, 1, (n, c, r))
        response = "value"
        if metric in POSITIVE:
            y, P = np.exp(y), np.exp(P)
    elif "multiclass" in found.tasks and "binary" not in found.tasks:
        y = rng.integers(0, 3, n)
        P = rng.dirichlet(np.ones(3), (n, c, r))
        response = "proba"
    else:
        y = rng.integers(0, 2, n)
        P = np.round(1 / (1 + np.exp(-(1.5 * y[:, None, None] - 0.75 + rng.normal(0, 1.2, (n, c, r))))), 1)
        response = "proba"
    P[:, c - 1] = P[:, 1]
    return of.from_arrays(y, P, folds=fold, response=response)


# -- checks ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def says():
    """The sentence of one check, None where it is silent; a check speaks once."""

    def sentence(code, oof, metric=None, **options):
        found = [finding for finding in of.check(oof, metric, **options) if finding.code == code]
        assert len(found) <= 1
        return found[0].text if found else None

    return sentence


@pytest.fixture(scope="session")
def classes():
    """Probabilities of two classes by C configurations in R repeats of K folds; `signal` says how good they are."""

    def made(n=100, c=4, r=1, k=5, positives=None, signal=2.0, seed=0, **options):
        rng = np.random.default_rng(seed)
        y = np.arange(n) < (n // 2 if positives is None else positives)
        y = rng.permutation(y).astype(int)
        noise = rng.normal(size=(n, 1, 1)) + 0.5 * rng.normal(size=(n, c, r))
        P = 1 / (1 + np.exp(-(np.reshape(signal, (-1, 1)) * (y[:, None, None] - 0.5) + noise)))
        # Folds with both classes in every one.
        folds = np.empty((n, r), dtype=int)
        for column in folds.T:
            for label in (0, 1):
                rows = rng.permutation(np.flatnonzero(y == label))
                column[rows] = np.arange(len(rows)) % k
        return of.from_arrays(y, P, folds=options.pop("folds", folds), response="proba", **options)

    return made


@pytest.fixture
def register(monkeypatch):
    """Register families of shared fits until the test is over."""
    from internals import families

    monkeypatch.setattr(families, "_registered", [])
    return families.register_family


@pytest.fixture
def patient(monkeypatch):
    """Batches are not cut by how long fits take on a busy machine, so that fits can be counted."""
    monkeypatch.setattr("outfold.fitting.dispatcher._PATIENCE", 1e6)
    monkeypatch.setattr("outfold.fitting.worker._TASK_SECONDS", 60.0)


@pytest.fixture(scope="session")
def scripts():
    """What runs scripts in processes that can be ended by force, without the imports of a new one."""
    from script_server import ScriptServer

    server = ScriptServer()
    yield server
    server.close()


# -- reports --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def small_report():
    """A report with every picture but that of dropping."""
    from report_cases import two_classes

    return of.report(two_classes(r=3), "roc_auc", n_resamples=200)


@pytest.fixture(scope="session")
def hostile():
    """Predictions whose names try to get out of the page."""
    from report_cases import HOSTILE, two_classes

    return two_classes(c=len(HOSTILE), configs=HOSTILE)


@pytest.fixture(scope="session")
def browser():
    """One headless browser for all tests that need it."""
    from webdriver import Browser, installed

    found = installed()
    if found is None:
        pytest.skip("no browser: `make browser` installs Chromium and its driver, or says how")
    opened = Browser(*found)
    yield opened
    opened.close()


# -- calibration ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def record():
    """Keep numbers under a topic and a key, in the file that the environment names (`studies/calibration.py` does)."""
    path = os.environ.get("OUTFOLD_RECORD")

    def keep(topic, key, **numbers):
        if path is None:
            return
        file = Path(path)
        known = json.loads(file.read_text()) if file.exists() else {}
        known.setdefault(topic, {})[key] = {name: round(float(value), 6) for name, value in numbers.items()}
        file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")

    return keep


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A folder with a model, as `outfold run` leaves it, that nobody changes."""
    pytest.importorskip("skops.io", reason="skops is not installed (outfold[model])")
    pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")
    from saved_model import saved_in

    return saved_in(tmp_path_factory.mktemp("run"))


@pytest.fixture
def own(tmp_path):
    """The same for one test, which may change its files."""
    pytest.importorskip("skops.io", reason="skops is not installed (outfold[model])")
    pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")
    from saved_model import saved_in

    return saved_in(tmp_path)
