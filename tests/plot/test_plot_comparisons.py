"""Pictures of comparisons and of power."""

from __future__ import annotations

import numpy as np
import pytest

import outfold as of
from extras import mpl, plt
from internals import comparisons as numbers
from internals import formatting
from outfold.exceptions import InputError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def oof():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    signal = np.array([2.0, 1.0, 0.2, 0.1])[None, :, None]
    P = 1 / (1 + np.exp(-(signal * (y[:, None, None] - 0.5) * 2 + rng.normal(0, 1.0, (100, 4, 3)))))
    folds = np.stack([rng.permutation(np.arange(100) % 5) for _ in range(3)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="proba", configs=["good", "fair", "poor", "$worst$"])


def find(oof, a, b, metric=None, test="auto", rope=None, top=20):
    return numbers.differences(oof, metric, a, b, test, 0.95, rope, top)


def words(ax):
    parts = [*(t.get_text() for t in ax.texts), ax.get_title("left"), ax.get_xlabel()]
    return " ".join(" ".join(parts).split())


def test_folds_and_their_mean(oof):
    made = find(oof, "good", "poor", "accuracy", "t_corrected")
    scores = oof.scores("accuracy")
    assert np.array_equal(made.folds, (scores[0] - scores[2]).ravel())
    expected = of.compare.t_corrected(oof, "accuracy", "good", "poor")
    pair = made.pairs[0]
    assert (pair.difference, pair.interval, pair.pvalue) == (expected.difference, expected.interval, expected.pvalue)
    assert made.folds.mean() == pytest.approx(pair.difference)
    auto = find(oof, "good", "poor", "accuracy").pairs[0]
    assert auto.difference == of.compare.auto(oof, "accuracy", "good", "poor").difference


def test_difference_picture(oof):
    ax = of.plot.difference(oof, "accuracy", "good", "$worst$", rope=0.05)
    ax.figure.canvas.draw()
    pair = of.compare.auto(oof, "accuracy", "good", "$worst$", rope=0.05)
    drawn = [tuple(line.get_xdata()) for line in ax.lines]
    assert (pair.difference,) in drawn
    assert tuple(pair.interval) in drawn
    assert ax.get_title("left") == "accuracy: good minus $worst$"
    assert "good better →" in words(ax)
    low, high = ax.get_xlim()
    assert low < 0 < high
    assert f"{pair.wins.better} better, {pair.wins.worse} worse" in words(ax)


def test_less_is_better_points_the_other_way(oof):
    ax = of.plot.difference(oof, "error", "good", "poor")
    assert "← good better" in words(ax)


def test_a_comparison_alone_and_on_one_test_set(oof):
    pair = of.compare.t_corrected(oof, "accuracy", "good", "fair")
    assert find(pair, None, None).folds is None
    assert len(of.plot.difference(pair).get_yticks()) == 1
    flat = of.from_arrays(oof.target.y, oof.data[0].T, response="proba")
    assert find(flat, 0, 1, "accuracy").folds is None


def test_fold_scores_made_elsewhere():
    scores = of.from_scores({"a": [0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.6, 0.9, 0.7]}, n_train=60, n_test=20)
    made = find(scores, "a", "b")
    assert made.folds == pytest.approx([0.1, 0.1, 0.0, 0.1])
    assert "score: a minus b" in of.plot.difference(scores, a="a", b="b").get_title("left")


def test_many_pairs_the_clearest_first(oof):
    found = of.compare.pairs(oof, "accuracy")
    made = find(found, None, None, top=4)
    p = np.sort(found.arrays.pvalue)[:4]
    assert [pair.pvalue for pair in made.pairs] == p.tolist()
    ax = of.plot.difference(found, top=4)
    assert ax.get_title("left") == "accuracy: 4 of 6 pairs"
    assert [t.get_label() for t in ax.get_yticklabels()] == [f"{pair.a} - {pair.b}" for pair in made.pairs]
    for pair in made.pairs:
        assert any(tuple(line.get_xdata()) == (pair.difference,) for line in ax.lines)


def test_difference_refuses(oof):
    with pytest.raises(InputError, match="needs two configurations"):
        of.plot.difference(oof, a="good")
    with pytest.raises(InputError, match="needs a Comparison"):
        of.plot.difference([0.1])
    with pytest.raises(InputError, match="is made already"):
        of.plot.difference(of.compare.t_corrected(oof, None, 0, 1), a=0, b=1)


def test_matrix_of_probabilities(oof):
    found = of.compare.pairs(oof, "accuracy", test="t_bayes", rope=0.02)
    made = numbers.matrix(found, 15)
    assert list(made.configs) == sorted(oof.configs, key=lambda c: -found.scores[found.configs.index(c)])
    for pair in found:
        i, j = made.configs.index(pair.a), made.configs.index(pair.b)
        assert made.better[i, j] == pair.probabilities.better
        assert made.better[j, i] == pair.probabilities.worse
        assert made.difference[i, j] == pair.difference == -made.difference[j, i]
    assert np.isnan(np.diag(made.better)).all()
    ax = of.plot.pairwise(found)
    ax.figure.canvas.draw()
    assert f"{made.better[0, 1]:.2f}" in words(ax)
    assert [t.get_label() for t in ax.get_yticklabels()] == list(made.configs)


def test_matrix_of_pvalues(oof):
    found = of.compare.pairs(oof, "accuracy", adjust="bonferroni")
    made = numbers.matrix(found, 15)
    for pair in found:
        i, j = made.configs.index(pair.a), made.configs.index(pair.b)
        assert made.pvalue[i, j] == made.pvalue[j, i] == pair.adjusted
    ax = of.plot.pairwise(found)
    shown = ax.images[0].get_array()
    better = {(pair.better, pair.b if pair.better == pair.a else pair.a) for pair in found if pair.better}
    assert {(made.configs[i], made.configs[j]) for i, j in np.argwhere(shown == 1)} == better
    assert better
    assert "adjusted by bonferroni" in words(ax)


def test_matrix_against_a_control_and_the_best_only(oof):
    made = numbers.matrix(of.compare.pairs(oof, "accuracy", control="poor"), 15)
    at = made.configs.index("poor")
    compared = np.isfinite(made.pvalue)
    assert compared.sum() == 6
    assert compared[at].sum() == compared[:, at].sum() == 3
    top = of.plot.pairwise(of.compare.pairs(oof, "accuracy"), top=2)
    assert top.get_title("left") == "accuracy: row against column, 2 of 4"
    with pytest.raises(InputError, match="needs Comparisons"):
        of.plot.pairwise(of.compare.t_corrected(oof, None, 0, 1))
    with pytest.raises(InputError, match="top must be"):
        of.plot.pairwise(of.compare.pairs(oof, "accuracy"), top=1)


@pytest.fixture(scope="module")
def powers(oof):
    one = oof.sel(repeat=0)
    how = {"test": "t_corrected", "n_simulations": 40}
    return [of.compare.power(one, "accuracy", "good", "fair", [0.1, 0.0, 0.05], n=n, **how) for n in (60, 100)]


def test_power_points_in_rising_order(powers):
    d, share, error = numbers.power_points(powers[0])
    assert d.tolist() == [0.0, 0.05, 0.1]
    assert share.tolist() == powers[0].power[[1, 2, 0]].tolist()
    assert error.tolist() == powers[0].standard_error[[1, 2, 0]].tolist()


def test_power_picture(powers):
    ax = of.plot.power(powers)
    for found in powers:
        d, share, _ = numbers.power_points(found)
        assert any(np.array_equal(line.get_xdata(), d) and np.array_equal(line.get_ydata(), share) for line in ax.lines)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["t_corrected, n = 60", "t_corrected, n = 100"]
    assert "alpha 0.05" in words(ax)
    assert "40 simulations a point" in words(ax)
    assert of.plot.power(powers[0]).get_legend() is None


def test_power_of_one_difference_and_names(oof, powers):
    one = of.compare.power(oof.sel(repeat=0), None, 0, 1, 0.1, test="mcnemar", n_simulations=20)
    assert [len(column) for column in numbers.power_points(one)] == [1, 1, 1]
    assert list(numbers.named_powers([powers[0], powers[0]])) == ["t_corrected (1)", "t_corrected (2)"]
    assert list(numbers.named_powers({"few": powers[0]})) == ["few"]
    for wrong in (0.8, [], [powers[0], 1], "auto"):
        with pytest.raises(InputError, match="needs a Power"):
            of.plot.power(wrong)
    other = of.compare.power(oof.sel(repeat=0), "error", 0, 1, 0.1, test="mcnemar", n_simulations=20)
    with pytest.raises(InputError, match="needs results of one metric"):
        of.plot.power([powers[0], other])


def test_flips_are_coloured_by_verdict(oof):
    found = of.stability.flips(oof, "accuracy", "good", "fair")
    ax = of.plot.flips(found)
    ax.figure.canvas.draw()
    drawn = [(line.get_xdata(), line.get_ydata()) for line in ax.lines]
    for i, one in enumerate(found.comparisons):
        assert any(np.array_equal(x, [i + 1] * 2) and np.array_equal(y, one.interval) for x, y in drawn)
    assert ax.get_title("left") == "accuracy: good minus fair"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [
        f"{words}: {share:.0%}"
        for words, share in zip(("good is better", "fair is better", "undecided"), found.shares.values(), strict=True)
    ]
    with pytest.raises(InputError, match=r"needs Flips, as `?stability"):
        of.plot.flips([1])


def test_the_tied_ones_are_shown_with_their_p_values():
    correct = np.random.default_rng(0).random((80, 4)) < [0.9, 0.88, 0.85, 0.4]
    found = of.compare.tied_set(of.from_arrays(None, correct, response="pointwise"), "mean")
    assert 1 < len(found) < found.n_candidates
    ax = of.plot.tied(found)
    assert [tick.get_label() for tick in ax.get_yticklabels()] == list(found.configs)
    drawn = [tuple(line.get_xdata()) for line in ax.lines]
    assert drawn == [(score,) for score in found.scores.tolist()]
    assert all(f"p = {formatting.pvalue(p)}" in words(ax) for p in found.pvalues.tolist())
    assert ax.get_title("left") == f"mean: {len(found)} of 4 configurations may be the best"
    assert [tick.get_label() for tick in of.plot.tied(found, top=1).get_yticklabels()] == [found.configs[0]]
    with pytest.raises(InputError, match=r"needs a TiedSet, as `?compare\.tied_set"):
        of.plot.tied(list(found.configs))
