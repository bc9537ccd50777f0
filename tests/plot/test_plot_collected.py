"""Pictures of cells, folds and repeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outfold as of
from extras import mpl, plt
from internals import collected as numbers
from outfold.exceptions import InputError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def make(n=60, c=5, r=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    P = 1 / (1 + np.exp(-(y[:, None, None] - 0.5 + rng.normal(0, 1.2, (n, c, r)))))
    folds = np.stack([rng.permutation(np.arange(n) % k) for _ in range(r)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="proba")


@pytest.fixture(scope="module")
def oof():
    return make()


@pytest.fixture(scope="module")
def raced(oof):
    """The second left after repeat 2, the fourth failed in the last fold of all, the fifth has not begun repeat 6."""
    data, state = np.array(oof.data), np.array(oof.state)
    for config, cells, why in (
        (1, [(r, k) for r in range(2, 6) for k in range(4)], of.State.DROPPED),
        (3, [(5, 3)], of.State.FAILED),
        (4, [(5, k) for k in range(4)], of.State.PENDING),
    ):
        for r, k in cells:
            data[r, config, oof.folds[:, r] == k] = np.nan
            state[config, r, k] = why
    return replace(oof, data=data, state=state)


def words(ax):
    return " ".join(" ".join([*(t.get_text() for t in ax.texts), ax.get_title("left")]).split())


def test_cells_are_the_states_in_the_order_of_leaving(raced):
    made = numbers.cell_states(raced)
    assert made.configs == ("config 0", "config 2", "config 4", "config 3", "config 1")
    assert made.left.tolist() == [-1, -1, -1, 23, 8]
    assert made.cells == tuple((r, k) for r in range(6) for k in range(4))
    for name, states in zip(made.configs, made.states, strict=True):
        assert states.tolist() == raced.state[raced.config_index(name)].ravel().tolist()


def test_cells_picture(raced):
    ax = of.plot.cells(raced)
    assert np.array_equal(ax.images[0].get_array(), numbers.cell_states(raced).states)
    assert ax.get_title("left") == "5 configurations: 1 dropped and 1 failed"
    assert f"{raced.completeness:.0%} of all cells done" in words(ax)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["done", "dropped", "failed", "pending"]


def test_cells_agree_with_the_drop_log():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int)
    # A tree that may not split says one class for all.
    configs = of.grid("tree", DecisionTreeClassifier(), min_samples_leaf=[1, 5, 150])
    raced = of.collect(configs, X, y, of.Plan(folds=8), drop=of.drop.Bootstrap(), rng=0, progress=False)
    made, log = numbers.cell_states(raced), raced.drop_log
    assert len(log)
    for config, repeat, fold in zip(log["config"], log["repeat"], log["fold"], strict=True):
        left = int(made.left[made.configs.index(config)])
        assert made.cells[left] == (repeat, fold + 1)


def test_cells_of_many_configurations_have_no_names():
    oof = make(n=20, c=600, r=1, k=2)
    ax = of.plot.cells(oof)
    assert ax.get_title("left") == "600 configurations: none dropped, none failed"
    assert len(ax.get_yticklabels()) < 20


def test_fold_scores_are_those_of_the_predictions(oof, raced):
    _, _, scores = numbers.fold_grid(oof, "roc_auc", 2)
    assert np.array_equal(scores, oof.scores("roc_auc")[2])
    assert numbers.fold_grid(oof, "roc_auc", None)[0] == oof.leaderboard("roc_auc").configs[0]
    _, _, gaps = numbers.fold_grid(raced, "accuracy", "config 1")
    assert np.array_equal(np.isnan(gaps), raced.state[1] != of.State.DONE)


def test_fold_scores_picture(raced):
    ax = of.plot.fold_scores(raced, "accuracy", "config 1")
    shown = ax.images[0].get_array()
    assert shown.mask.sum() == 16
    values = raced.scores("accuracy")[1]
    values = values[np.isfinite(values)]
    assert f"{values.min():.2f} to {values.max():.2f}, mean {values.mean():.2f} over folds" in words(ax)
    assert {f"{value:.2f}" for value in values} <= {t.get_text() for t in ax.texts}
    assert ax.get_title("left") == "accuracy of config 1"


def test_fold_scores_dark_is_better(oof):
    for metric in ("accuracy", "error"):
        image = of.plot.fold_scores(oof, metric, 0).images[0]
        best = np.argmax(oof.scores("accuracy")[0])
        colours = image.cmap(image.norm(image.get_array()))
        assert colours.sum(axis=-1).ravel()[best] == colours.sum(axis=-1).min()


def test_fold_scores_undefined_everywhere():
    oof = of.from_arrays([0, 1] * 5, np.random.default_rng(0).random((10, 1)), folds=np.arange(10), response="proba")
    with pytest.raises(InputError, match="undefined in every fold"):
        of.plot.fold_scores(oof, "roc_auc", 0)


def test_trace_lines_are_running_means(oof):
    found = of.stability.trace(oof, "roc_auc")
    ax = of.plot.trace(oof, "roc_auc", top=3)
    best = np.argsort(found.rank[-1], kind="stable")[:3]
    lines = [line.get_ydata() for line in ax.lines]
    for j in best:
        assert any(np.array_equal(y, found.mean[:, j]) for y in lines)
        assert any(np.array_equal(y, found.scores[:, j]) for y in lines)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [found.configs[j] for j in best]
    assert "3 of 5 configurations, 6 repeats" in words(ax)


def test_trace_strip_shows_who_leads(oof):
    found = of.stability.trace(oof, "accuracy")
    ax = of.plot.trace(found, top=5)
    strips = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 6]
    assert [(x[0] - 0.5, x[1] - 1.5) for x in strips] == [(first, last) for _, first, last in found.leads]


def test_repeats_show_scores_moments_and_quartiles(oof):
    found = of.stability.trace(oof, "accuracy")
    ax = of.plot.repeats(found, configs=["config 3", 0])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["config 3", "config 0"]
    assert f"sd {found.sd[-1, 3]:.2g}, skew {found.skew[-1, 3]:+.2f}" in words(ax)
    box = ax.patches[0]
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx(np.quantile(found.scores[:, 3], [0.25, 0.75]))
    assert any(np.array_equal(line.get_xdata(), found.scores[:, 3]) for line in ax.lines)


def test_one_repeat_one_configuration_and_values(oof):
    one = of.from_arrays(np.linspace(0, 1, 30), np.random.default_rng(0).random((30, 1)), folds=np.arange(30) % 3)
    for picture in (of.plot.trace, of.plot.repeats, of.plot.fold_scores):
        ax = picture(one, "mse")
        ax.figure.canvas.draw()
        assert "mse" in ax.get_title("left")
    assert "skew" not in words(of.plot.repeats(one, "mse"))


@pytest.mark.parametrize("picture", [of.plot.trace, of.plot.repeats])
def test_refused_by_pictures_of_repeats(oof, picture):
    with pytest.raises(InputError, match="needs Predictions"):
        picture([1, 2], "accuracy")
    with pytest.raises(InputError, match="no configuration 'none'"):
        picture(oof, "accuracy", configs=["none"])
    with pytest.raises(InputError, match="one configuration at least"):
        picture(oof, "accuracy", configs=[])
    with pytest.raises(InputError, match="this trace is of accuracy"):
        picture(of.stability.trace(oof, "accuracy"), "roc_auc")


def test_too_many_lines_are_refused():
    with pytest.raises(InputError, match="7 lines at most"):
        of.plot.trace(make(c=9), "accuracy", top=8)


@pytest.mark.parametrize("picture", [of.plot.cells, lambda x: of.plot.fold_scores(x, "accuracy")])
def test_refused_by_pictures_of_cells(picture):
    with pytest.raises(InputError, match="needs Predictions"):
        picture({"a": 1})
