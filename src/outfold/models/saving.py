"""Writing a fitted model and what is known of it into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .about import ModelAbout

FILE = "model.skops"


def save_model(folder: str | Path, estimator: Any, about: ModelAbout) -> Path:
    """Write ``model.skops``, ``model.json`` and ``MODEL.md``; the path of the first is returned."""
    raise NotImplementedError
