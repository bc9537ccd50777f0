"""Families that are there for one test."""

import pytest

from outfold._share import registry


@pytest.fixture
def register(monkeypatch):
    """Register families until the test is over."""
    monkeypatch.setattr(registry, "_registered", [])
    return registry.register_family
