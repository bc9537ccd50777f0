"""Classes of other packages that a module of a known one has imported are not part of models."""

import pytest

from outfold.models.trust import is_part_of_models


@pytest.mark.parametrize(
    "name",
    [
        "sklearn.datasets._openml.TemporaryDirectory",
        "sklearn.utils.fixes.Path",
        "sklearn.utils.parallel.partial",
        "joblib.parallel.Parallel",
    ],
)
def test_they_are_refused(name):
    assert not is_part_of_models(name)


def test_parts_of_models_pass():
    assert is_part_of_models("sklearn.tree._tree.Tree")
    assert is_part_of_models("sklearn._loss.link.LogitLink")
