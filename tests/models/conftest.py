from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A model that nobody changes."""
    pytest.importorskip("skops.io")
    from saved_model import saved_in

    return saved_in(tmp_path_factory.mktemp("run"))


@pytest.fixture
def own(tmp_path):
    """A model of one test, which may change its files."""
    pytest.importorskip("skops.io")
    from saved_model import saved_in

    return saved_in(tmp_path)
