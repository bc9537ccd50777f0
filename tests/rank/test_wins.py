"""Wins over data sets by a test on each, against single comparisons."""

import numpy as np
import pytest

import outfold as of
from outfold.exceptions import InputError, NeedError


def answers(rates, seed, n=80, k=5):
    rng = np.random.default_rng(seed)
    right = rng.random((n, len(rates), 1)) < np.reshape(rates, (-1, 1))
    return of.from_arrays(None, right, folds=rng.permutation(n) % k, configs=["a", "b"], response="pointwise")


@pytest.fixture(scope="module")
def sets():
    rates = [(0.95, 0.6), (0.8, 0.75), (0.6, 0.95), (0.7, 0.7), (0.9, 0.5), (0.75, 0.8)]
    return {f"set {i}": answers(pair, i) for i, pair in enumerate(rates)}


@pytest.mark.parametrize("test", ["auto", "mcnemar", of.compare.t_kfold])
def test_wins_are_those_of_single_comparisons(sets, test):
    found = of.rank.wins(sets, "mean", "a", "b", test=test)
    apply = test if callable(test) else getattr(of.compare, test)
    single = [apply(oof, "mean", "a", "b") for oof in sets.values()]
    assert [one.pvalue for one in found.comparisons] == [one.pvalue for one in single]
    winners = [one.better for one in single]
    assert found.significant == (winners.count("a"), winners.count(None), winners.count("b"), "data set")
    assert found.significant.better > 0
    assert found.significant.equal > 0
    scores = np.array([oof.P.mean(axis=(0, 2)) for oof in sets.values()])
    better, worse = int(np.sum(scores[:, 0] > scores[:, 1])), int(np.sum(scores[:, 0] < scores[:, 1]))
    assert found.by_means == (better, 6 - better - worse, worse, "data set")
    # The same as `sign` and `wilcoxon` count.
    assert found.by_means == of.rank.sign(sets, "mean", "a", "b").wins


def test_turned_around(sets):
    one, other = of.rank.wins(sets, "mean", "a", "b"), of.rank.wins(list(sets.values()), "mean", 1, 0)
    assert one.significant[:3] == other.significant[2::-1]
    assert one.by_means[:3] == other.by_means[2::-1]
    assert other.datasets[0] == "data set 0"


def test_scores_of_folds_and_losses():
    rng = np.random.default_rng(1)

    def folds(gap, **more):
        base = 0.3 + 0.02 * rng.random(10)
        return of.from_scores({"a": base, "b": base + gap + 0.02 * rng.random(10)}, n_train=90, n_test=10, **more)

    sets = {
        name: folds(gap, greater_is_better=False) for name, gap in (("wide", 0.2), ("narrow", 0.0), ("turned", -0.2))
    }
    found = of.rank.wins(sets, None, "a", "b", test="t_corrected_kfold")
    # Less is better: `a` wins where `b` is above it.
    assert [one.better for one in found.comparisons] == ["a", None, "b"]
    assert found.significant[:3] == (1, 1, 1)
    assert found.gains[0] > 0 > found.gains[2]


def test_adjusting_for_the_number_of_data_sets(sets):
    plain = of.rank.wins(sets, "mean", "a", "b")
    holm = of.rank.wins(sets, "mean", "a", "b", adjust="holm")
    raw = np.array([one.pvalue for one in plain.comparisons])
    order, expected = np.argsort(raw), np.empty(6)
    expected[order] = np.minimum(np.maximum.accumulate(raw[order] * (6 - np.arange(6))), 1)
    assert [one.adjusted for one in holm.comparisons] == pytest.approx(expected.tolist())
    assert [note.code for note in plain.notes] == ["OF307"]
    assert plain.notes[0].text.startswith("6 data sets without adjustment: 0.3 of them would show a difference")
    assert holm.notes == ()
    assert holm.significant.equal >= plain.significant.equal


def test_equal_scores_are_ties_and_have_no_winner():
    same = of.from_arrays(None, np.ones((20, 2)), folds=np.arange(20) % 4, configs=["a", "b"], response="pointwise")
    found = of.rank.wins([same, answers((0.95, 0.6), 0)], "mean", "a", "b", adjust="holm")
    assert found.by_means == (1, 1, 0, "data set")
    assert found.significant == (1, 1, 0, "data set")


def test_wins_print_and_go_out(sets):
    found = of.rank.wins(sets, "mean", "a", "b")
    assert repr(found).startswith("<SetWins a - b by mean: ")
    text = str(found)
    assert text.startswith("a - b by mean on 6 data sets\ndata set")
    assert f"{found.significant} (equal: no difference found)" in text
    assert "t_training on each data set at alpha 0.05, not adjusted [Raeder et al. 2010]" in text
    facts = found.to_dict()
    assert facts["significant"]["better"] == found.significant.better
    assert len(facts["comparisons"]) == 6
    assert r"\begin{tabular}" in found.to_latex()
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert list(found.to_frame()["dataset"]) == list(sets)


def test_wins_refuse(sets):
    first = sets["set 0"]
    for wrong, words in (
        (first, "wins needs several data sets; got one"),
        ([first], "needs at least 2 data sets; there are 1"),
        ([first, "x"], "must hold Predictions or FoldScores only; got str"),
        (3, "must be a dict or list"),
        ([first, first], "each data set counts once"),
    ):
        with pytest.raises(InputError, match=words):
            of.rank.wins(wrong, "mean", "a", "b")
    with pytest.raises(InputError, match="adjust must be 'holm', 'bonferroni', 'bh' or 'none'"):
        of.rank.wins(sets, "mean", "a", "b", adjust="westfall_young")
    with pytest.raises(NeedError) as caught:
        of.rank.wins(sets, "mean", "a", "b", test="t_5x2cv")
    assert any("data set 'set 0'" in note for note in caught.value.__notes__)
    turned = first.sel(config=["b", "a"])
    with pytest.raises(InputError, match="must be the same on every data set"):
        of.rank.wins([sets["set 1"], turned], "mean", 0, 1)
