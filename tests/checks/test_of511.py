"""Equal rows on both sides of a split."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    copies = np.concatenate([X, X[:20]]), np.concatenate([y, y[:20]])
    return (X, y), copies


def held_out_with_twin(oof, X):
    """The plain way."""
    found = set()
    for r, k in oof.splits.cells:
        train = {tuple(row) for row in np.asarray(X)[oof.splits.train_rows(r, k)].tolist()}
        found |= {i for i in oof.splits.test_rows(r, k) if tuple(np.asarray(X)[i].tolist()) in train}
    return len(found)


@pytest.mark.parametrize("plan", [of.Plan(folds=5, repeats=2), of.Plan.holdout(0.4), of.Plan.leave_one_out()])
def test_collect_counts_what_check_says(says, data, plan):
    _, (X, y) = data
    oof = of.collect(KNeighborsClassifier(3), X, y, plan, progress=False)
    n = held_out_with_twin(oof, X)
    held = int(np.sum(np.any(oof.folds >= 0, axis=1)))
    assert oof.provenance["twins"] == n > 2
    assert says("OF511", oof, "accuracy") == (
        f"{n} of {held} samples were held out while a sample with exactly the same features was trained on."
    )


def test_features_can_be_given_later(says, data, tmp_path):
    (X, _), (twice, y) = data
    folds = np.arange(80) % 5
    oof = of.from_arrays(y, np.random.default_rng(1).random((80, 2)), folds=folds)
    assert says("OF511", oof) is None
    # Sample i and its copy 60 + i are in the same one of 5 folds: both are held out together.
    assert says("OF511", oof, X=twice) is None
    moved = of.from_arrays(y, np.random.default_rng(1).random((80, 2)), folds=np.arange(80) // 16)
    assert "40 of 80 samples" in says("OF511", moved, X=twice)
    assert "40 of 80 samples" in says("OF511", moved, X=twice.tolist())
    with pytest.raises(of.exceptions.InputError, match=r"one row for each of the 80 samples; it has shape \(60, 3\)"):
        of.check(moved, X=X)


def test_silent_without_copies_with_groups_and_for_a_few(says, data):
    (X, y), (twice, y2) = data
    knn = KNeighborsClassifier(3)
    assert says("OF511", of.collect(knn, X, y, 5, progress=False), "accuracy") is None
    groups = np.concatenate([np.arange(60), np.arange(20)])
    assert says("OF511", of.collect(knn, twice, y2, 5, groups=groups, progress=False), "accuracy") is None
    many = np.random.default_rng(2).normal(size=(200, 2))
    many[1] = many[0]
    oof = of.collect(knn, many, np.arange(200) % 2, 100, progress=False)
    assert oof.provenance["twins"] == 2
    assert says("OF511", oof, "accuracy") is None


def test_the_count_survives_a_file(says, data, tmp_path):
    _, (X, y) = data
    oof = of.collect(KNeighborsClassifier(3), X, y, 5, progress=False)
    again = of.load(oof.save(tmp_path / "x.oof"))
    assert says("OF511", again, "accuracy") == says("OF511", oof, "accuracy") is not None
