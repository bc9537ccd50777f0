"""Tuned against tuned: what is selected inside each outer fold, and the comparison of what it predicts there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from collect_estimators import Raises
from internals import cli
from outfold import compare
from outfold.exceptions import InputError, NeedError

K, R = 4, 2


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 6, n_informative=3, flip_y=0.15, random_state=3)


@pytest.fixture(scope="module")
def oof(data):
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 5, 15])
    configs |= of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 4], criterion=["gini", "entropy"])
    configs |= {"bayes": GaussianNB()}
    return of.collect(configs, *data, of.Plan(folds=K, repeats=R), rng=1, inner=True)


SCORES = {
    "accuracy": lambda y, p: np.mean((p > 0.5) == y),
    "brier": lambda y, p: -2 * np.mean((p - y) ** 2),
    "roc_auc": roc_auc_score,
}


def winners(oof, members, score):
    """(R, K) positions by the pooled score of the inner predictions, ties to the first; without the package's scoring."""
    inner, y = oof.blocks["inner"], oof.target.y
    out = np.empty((R, K), dtype=int)
    for r in range(R):
        for k in range(K):
            rows = oof.folds[:, r] != k
            scores = np.round([score(y[rows], inner.data[r * K + k, j, rows]) for j in members], 12)
            out[r, k] = members[int(np.argmax(scores))]
    return out


def tuned_by_hand(oof, *algorithms, metric="accuracy"):
    """Predictions of tuned algorithms, from predictions of configurations."""
    columns = []
    for members in algorithms:
        picks = winners(oof, members, SCORES[metric])
        columns.append([oof.data[r, picks[r][oof.folds[:, r]], np.arange(oof.n_samples)] for r in range(R)])
    P = np.transpose(columns, (2, 0, 1))
    return of.from_arrays(oof.y, P, folds=oof.folds, configs=["a", "b"], response="proba")


@pytest.mark.parametrize("metric", SCORES)
def test_the_test_is_that_of_the_predictions_of_tuned_algorithms(oof, metric):
    knn, tree = [0, 1, 2], [3, 4, 5, 6, 7, 8]
    expected = compare.auto(tuned_by_hand(oof, knn, tree, metric=metric), metric, "a", "b")
    found = compare.algorithms(oof, metric, "knn", "tree")
    assert (found.method, found.metric) == ("t_training", metric)
    assert (found.pvalue, found.interval, found.scores) == (expected.pvalue, expected.interval, expected.scores)
    for members, tuned in zip((knn, tree), found.algorithms, strict=True):
        chosen = np.array(oof.configs)[winners(oof, members, SCORES[metric]).ravel()]
        names, times = np.unique(chosen, return_counts=True)
        assert tuned.selected == dict(zip(names.tolist(), times.tolist(), strict=True))


def test_an_algorithm_scores_what_nested_estimates(oof):
    found = compare.algorithms(oof, "accuracy", "tree", "knn")
    for name, score in zip(("tree", "knn"), found.scores, strict=True):
        own = oof.sel(config=[c for c in oof.configs if c.startswith(name)])
        nested = of.estimate.nested(own, "accuracy", n_resamples=50)
        assert score == pytest.approx(nested.value, abs=1e-12)  # folds of equal size
        (tuned,) = (t for t in found.algorithms if t.name == name)
        chosen = nested.chosen.tolist()
        assert tuned.selected == {config: chosen.count(config) for config in set(chosen)}
        assert tuned.configs == own.configs


def test_the_rule_and_the_aggregate_select_inside(oof):
    last = compare.algorithms(oof, "accuracy", "knn", "tree", rule=lambda candidates: len(candidates.names) - 1)
    assert [dict(t.selected) for t in last.algorithms] == [
        {"knn(n_neighbors=15)": R * K},
        {"tree(max_depth=4, criterion='entropy')": R * K},
    ]
    recorded = compare.algorithms(oof.selecting_by(rule=lambda candidates: 0), "accuracy", "knn", "tree")
    assert list(recorded.algorithms[0].selected) == ["knn(n_neighbors=1)"]
    simple = of.select.one_standard_error(complexity="max_depth")
    trees = {"trees": oof.configs[3:9], "bayes": ["bayes"]}
    by_fold = compare.algorithms(oof, "accuracy", by=trees, rule=simple, aggregate="fold")
    assert max(by_fold.algorithms[0].selected, key=by_fold.algorithms[0].selected.get).startswith("tree(max_depth=1")


def test_more_than_two_are_all_pairs_with_adjustment(oof):
    found = compare.algorithms(oof, "accuracy")
    assert [(pair.a, pair.b) for pair in found] == [("knn", "tree"), ("knn", "bayes"), ("tree", "bayes")]
    one = compare.algorithms(oof, "accuracy", "knn", "tree")
    assert found[0].pvalue == one.pvalue
    np.testing.assert_allclose(found.adjusted, compare.pairs(tuned_three(oof), "accuracy").adjusted)
    assert "3 pairs of 3 algorithms by accuracy" in str(found)
    assert "tuned      bayes, 1 configuration: selects bayes in 8 of 8 outer folds" in str(found)
    assert "tuned      bayes" not in str(found[0])
    assert found.to_latex().count("tree") == 2
    assert found.to_dict()["pairs"][0]["algorithms"][2] == {
        "name": "bayes",
        "configs": ["bayes"],
        "selected": {"bayes": 8},
    }
    against = compare.algorithms(oof, "accuracy", control="bayes", adjust="bh")
    assert [(pair.a, pair.b) for pair in against] == [("knn", "bayes"), ("tree", "bayes")]
    assert against.adjust == "bh"


def tuned_three(oof):
    first = tuned_by_hand(oof, [0, 1, 2], [3, 4, 5, 6, 7, 8])
    return first.join(tuned_by_hand(oof, [9], [9]).sel(config="a"), suffixes=("", " bayes"))


def test_what_makes_an_algorithm(oof):
    trees = oof.sel(config=range(3, 9))
    by_parameter = compare.algorithms(trees, "accuracy", by="criterion")
    assert (by_parameter.a, by_parameter.b) == ("criterion=gini", "criterion=entropy")
    assert by_parameter.algorithms[0].configs == trees.configs[::2]
    by_depth = compare.algorithms(trees, "accuracy", "depth=1", "depth=4", by="depth")
    assert by_depth.algorithms[1].configs == trees.configs[4:]
    by_function = compare.algorithms(oof, "accuracy", by=lambda name, params: None if name == "bayes" else len(params))
    assert (by_function.a, by_function.b) == ("1", "2")
    by_dict = compare.algorithms(oof, "accuracy", by={"wide": [3, 4, 5, 6, 7, 8], "narrow": [oof.configs[3]]})
    assert by_dict.algorithms[1].configs == (oof.configs[3],)
    assert by_dict.reference.endswith("Varma & Simon 2006; Raschka 2018, sect. 4.14")
    assert "@article{varma2006" in of.cite(by_dict)


def test_another_test_with_its_options(oof):
    found = compare.algorithms(oof, "accuracy", "knn", "tree", test="permutation", n_resamples=200, rng=3)
    expected = compare.permutation(tuned_by_hand(oof, [0, 1, 2], range(3, 9)), "accuracy", 0, 1, n_resamples=200, rng=3)
    assert (found.method, found.pvalue) == ("permutation", expected.pvalue)
    with pytest.raises(InputError, match="rho is not an option of permutation"):
        compare.algorithms(oof, "accuracy", "knn", "tree", test=compare.permutation, rho=0.3)


def test_two_files_joined(data, oof):
    logits = of.grid("logit", LogisticRegression(), C=[0.01, 1])
    other = of.collect(logits, *data, of.Plan(folds=K, repeats=R), rng=1, inner=True)
    found = compare.algorithms(oof | other, "accuracy", "logit", "knn")
    assert found.algorithms[0].configs == other.configs
    again = oof.join(oof, suffixes=(" [old]", " [new]"))
    same = compare.algorithms(again, "accuracy", "knn [old]", "knn [new]")
    assert (same.difference, same.pvalue) == (0.0, 1.0)


def test_labels_of_the_models_themselves_count(data):
    cuts = {
        f"{name}(cut={t})": FixedThresholdClassifier(model, threshold=t, response_method="predict_proba")
        for name, model in (("logit", LogisticRegression()), ("bayes", GaussianNB()))
        for t in (0.1, 0.5)
    }
    oof = of.collect(cuts, *data, of.Plan(folds=4), inner=True, response="proba")
    assert oof.labels is not None
    found = compare.algorithms(oof, "accuracy", "logit", "bayes")
    assert found.scores[0] == pytest.approx(of.estimate.nested(oof.sel(config=[0, 1]), "accuracy").value, abs=1e-12)


def test_caveats(oof, data):
    found = compare.algorithms(oof, "accuracy", "knn", "tree")
    (note,) = (note for note in found.notes if note.code == "OF317")
    assert "knn (3 configurations), tree (6 configurations) are compared as tuned" in note.text
    assert "OF301" not in {note.code for note in found.notes}
    # The best of three algorithms was picked on the same predictions.
    assert any(note.code == "OF301" for pair in compare.algorithms(oof, "accuracy") for note in pair.notes)
    configs = {"knn(1)": KNeighborsClassifier(1), "knn(bad)": Raises(), "bayes": GaussianNB()}
    partly = of.collect(configs, *data, of.Plan(folds=3), inner=True)
    fine = compare.algorithms(partly, "accuracy")
    assert fine.algorithms[0].selected == {"knn(1)": 3}
    only = partly.sel(config=["knn(bad)", "bayes"])
    with pytest.raises(NeedError, match=r"the algorithm 'knn' cannot be tuned: .*'knn\(bad\)' failed"):
        compare.algorithms(only, "accuracy")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": "kernel"}, "by must be 'name' or a parameter that every configuration has; got 'kernel'"),
        ({"by": 3}, "by must be 'name', a parameter, a function of the name and the parameters, or a dict; got 3"),
        ({"by": lambda name: name}, r"by is called with \(name, params\)"),
        ({"by": {"a": "knn", "b": ["bayes"]}}, "by must be a dict of lists of configurations; for 'a' it has 'knn'"),
        ({"by": {"a": [0, 0], "b": [1]}}, "'a' lists one twice"),
        ({"by": {"a": ["nobody"], "b": [1]}}, "no configuration 'nobody'"),
        ({"by": lambda name, params: "all"}, "needs two different algorithms at least; got 'all'"),
        ({"a": "knn"}, "got only one of a and b"),
        ({"a": "knn", "b": "svm"}, "no algorithm 'svm'; there are 'knn', 'tree', 'bayes'"),
        ({"a": "knn", "b": "knn"}, "needs two different algorithms at least; got 'knn'"),
        ({"control": "svm"}, "no algorithm 'svm'"),
    ],
)
def test_what_cannot_be_compared(oof, options, says):
    with pytest.raises(InputError, match=says):
        compare.algorithms(oof, "accuracy", **options)


def test_inner_folds_are_needed(oof):
    plain = of.from_arrays(oof.y, oof.P, folds=oof.folds, configs=oof.configs, response="proba")
    with pytest.raises(
        NeedError, match=r"algorithms needs the block inner; these predictions have none\. Collect with inner=True"
    ):
        compare.algorithms(plain, "accuracy")
    scores = of.from_scores({"a": [0.8, 0.7], "b": [0.7, 0.6]}, n_train=10, n_test=10)
    with pytest.raises(InputError, match="algorithms needs Predictions"):
        compare.algorithms(scores, None)


def test_on_the_command_line(oof, tmp_path, capsys):
    file = str(oof.save(tmp_path / "run.oof"))

    def call(*arguments):
        code = cli.main(["compare", file, *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    assert call("knn", "tree", "--by", "name", "--metric", "accuracy") == (
        0,
        f"{compare.algorithms(oof, 'accuracy', 'knn', 'tree')}\n",
        "",
    )
    _, out, _ = call("--by", "name", "--metric", "accuracy", "--adjust", "bonferroni", "--format", "latex")
    assert out == f"{compare.algorithms(oof, 'accuracy', adjust='bonferroni').to_latex(caption=True)}\n"
    code, _, err = call("knn", "--by", "name")
    assert (code, "--by compares two algorithms, or all if you name none; got 1." in err) == (2, True)
    code, _, err = call("--by", "kernel")
    assert (code, "--by must be 'name' or a parameter" in err) == (2, True)
