"""Families that are there for one test."""

import pytest

from outfold._share import registry


@pytest.fixture
def register(monkeypatch):
    """Register families until the test is over."""
    monkeypatch.setattr(registry, "_registered", [])
    return registry.register_family


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Batches are not cut by how long fits take on a busy machine, so that fits can be counted."""
    monkeypatch.setattr("outfold._collect.filling._PATIENCE", 1e6)
    monkeypatch.setattr("outfold._collect.pool._TASK_SECONDS", 60.0)
