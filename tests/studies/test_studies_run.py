"""Every study runs: its smallest size, on made-up data of the right names, down to page and picture."""

from __future__ import annotations

import re

import bbc_datasets
import bbc_simulation
import errors_of_tests
import numpy as np
import protocol_bias
import pytest
import repeats
import replicability
import variance_parts
from harness import data as study_data
from harness import registry
from harness.command import as_result, write
from harness.runner import RawFile, run_units
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import outfold as of

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

# Name: rows, columns, classes.
MADE_UP = {
    **dict.fromkeys(("bupa", "credit_a", "crx", "heart_c", "heart_h", "horse_colic", "promoters"), (60, 4, 2)),
    "magic_gamma": (300, 4, 2),
    "sylvine": (300, 4, 2),
    "biodeg": (400, 4, 2),
    "ozone_8h": (210, 4, 2),
    "letter": (520, 16, 26),
    "iris": (60, 4, 3),
    "wine": (60, 4, 3),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for name, (n, p, classes) in MADE_UP.items():
        y = np.arange(n) % classes
        X = rng.normal(size=(n, p)) + 0.6 * (y % 2)[:, None]
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
        frame["target"] = [chr(ord("A") + label) for label in y]
        frame.to_parquet(place / f"{name}.parquet")
    return place


@pytest.fixture(autouse=True)
def made_up(folder, monkeypatch):
    monkeypatch.setenv(study_data.VARIABLE, str(folder))
    study_data.load.cache_clear()
    repeats._MADE.clear()
    yield
    study_data.load.cache_clear()
    repeats._MADE.clear()


@pytest.fixture(autouse=True)
def small_spaces(monkeypatch):
    """The spaces of the papers take long; three configurations do for a test."""
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    from outfold.learners import spaces

    def small(X, *args, **options):
        return of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 3]) | of.grid("svm", SVC())

    for name in ("tsamardinos2015", "tsamardinos2015_wfs", "tsamardinos2018"):
        monkeypatch.setattr(spaces, name, small)


@pytest.fixture(autouse=True)
def little_work(monkeypatch):
    """Fewer data sets, draws and orders than the smallest unit has."""
    monkeypatch.setattr(errors_of_tests, "LETTERS_CHUNK", 3)
    monkeypatch.setattr(errors_of_tests, "DISTANCES", (0.0, 0.1))
    monkeypatch.setattr(bbc_simulation, "CHUNK", 2)
    monkeypatch.setattr(bbc_simulation, "DROP_DRAWS", 50)
    monkeypatch.setattr(repeats, "ORDERS", 2)
    monkeypatch.setattr(replicability, "CHUNK", 2)
    monkeypatch.setattr(variance_parts, "CHUNK", 5)
    for study in (bbc_simulation, protocol_bias, bbc_datasets):
        monkeypatch.setattr(study, "DRAWS", 20)


@pytest.mark.parametrize("name", registry.NAMES)
def test_the_smallest_size_of_a_study(name, tmp_path, monkeypatch):
    if name != "fold-number":  # to lay out and write a picture takes longer than to make it
        monkeypatch.setattr("harness.command.save", close)
    study = registry.find(name)
    units = list(study.units("tiny"))
    done = list(run_units(study, units, RawFile(tmp_path / "raw.jsonl", study.version)).values())
    assert [record.unit for record in done] == units
    result = as_result(study, done)
    write(study, result, tmp_path, tmp_path, tmp_path)
    text = (tmp_path / f"{name}.md").read_text()
    assert f"# {study.title}\n" in text
    assert not re.search(r"\bnan\b", text)
    if name == "fold-number":
        assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")


def close(figure, path):
    from matplotlib import pyplot

    assert any(axes.has_data() for axes in figure.axes)
    pyplot.close(figure)


@pytest.mark.parametrize("name", registry.NAMES)
def test_units_are_different_and_have_a_cost(name):
    study = registry.find(name)
    for size in ("tiny", "quick", "full"):
        units = list(study.units(size))
        assert len({str(unit) for unit in units}) == len(units) > 0
        assert all(study.cost(unit) > 0 for unit in units)


# -- parts of studies that Outfold has too ------------------------------------------------------------------------


def test_stop_rules_of_the_study_are_those_of_outfold():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    proba = 1 / (1 + np.exp(-(rng.normal(size=30) + 0.3 * rng.normal(size=(60, 30)))))
    scores = repeats.auc(proba, y)

    def first(rule):
        so_far = (of.from_arrays(y, proba[:r].T[:, None, :]) for r in range(2, 61))
        return next((oof.n_repeats for oof in so_far if rule.holds(oof)), 60)

    assert 2 < repeats.rank_time(proba) == first(of.stability.Rank(0.9999))
    assert 2 < repeats.ks_time(scores, 0.2) == first(of.stability.KS(0.2, metric="roc_auc"))


def test_leaves_are_smoothed():
    from sklearn.tree import DecisionTreeClassifier

    X = np.arange(6, dtype=np.float32)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    model = DecisionTreeClassifier(min_samples_leaf=2, min_samples_split=4, random_state=0).fit(X, y)
    assert repeats.laplace(model, X).tolist() == pytest.approx([1 / 5] * 3 + [4 / 5] * 3)


def test_nested_of_the_simulation_has_the_mean_of_that_with_whole_matrices():
    import balanced

    truth = np.random.default_rng(0).beta(9, 6, 30)
    rng = np.random.default_rng(1)
    ours = [bbc_simulation.nested(truth, 20, rng) for _ in range(600)]
    theirs = [balanced.nested(truth, 20, rng) for _ in range(600)]
    error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(600)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def test_a_training_part_with_one_class_has_no_nested_score():
    """All three of the second class are in the last fold, so that the training part of it has none."""
    y = np.repeat([0, 1], [27, 3])
    X = np.random.default_rng(0).normal(size=(30, 2))
    configs = of.grid("tree", DecisionTreeClassifier(random_state=0), max_depth=[1, 2])
    apart = of.collect(configs, X, y, KFold(3), inner=True, progress=False)
    assert protocol_bias.nested_score(apart, "roc_auc") is None
    assert (
        protocol_bias.nested_score(apart, "accuracy") == of.estimate.nested(apart, "accuracy", aggregate="fold").value
    )
    assert protocol_bias.nested_score(of.collect(configs, X, y, rng=0, progress=False), "roc_auc") is None


# -- claims ----------------------------------------------------------------------------------------------------


def test_a_correlation_below_zero_is_not_said_to_be_above():
    result = registry.read("variance-parts")
    assert "Holds: rho_1 and rho_2 are above zero" in variance_parts.verdict(result).because
    first = next(row for row in result["rows"] if "rho1" in row)
    first["rho1"] = -0.1
    assert "Does not hold: rho_1 and rho_2 are above zero" in variance_parts.verdict(result).because


def test_the_lowest_covariances_are_those_that_chance_can_explain():
    rows = [{"n": n, "sets": 1000, "sds": [1.0, 1.0], "covariance": c} for n, c in ((0, 0.5), (96, 0.23), (128, 0.2))]
    assert variance_parts.covariance_error(rows[2]) == pytest.approx(np.sqrt(1.04 / 999))
    assert variance_parts.lowest(rows) == {96, 128}


def test_the_truth_held_over_all_sizes_counts_subsamples():
    level = bbc_datasets.LEVELS.index(0.95)
    held = [0.0] * level + [0.5] + [0.0] * (len(bbc_datasets.LEVELS) - level - 1)
    rows = [{"own": {"percentile": {"n": 4, "held": held}}}, {"own": {"percentile": {"n": 2, "held": held}}}]
    assert bbc_datasets.held_at({"coverage": rows}, "own", 0.95) == "percentiles in 3 of 6"
