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
    """No task gives back a part of its batch on a busy machine, so that fits can be counted."""
    monkeypatch.setattr("outfold._collect.filling._PATIENCE", 1e6)
