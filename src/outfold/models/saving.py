"""Writing a fitted model and what is known of it into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from ..exceptions import FileError
from .about import FILE as ABOUT
from .about import ModelAbout, read_about
from .card import model_card
from .trust import skops_io, untrusted_types

FILE = "model.skops"
CARD = "MODEL.md"
# Where one of these differs, the model must be fitted again.
_MAKES_THE_MODEL = ("configuration", "specification", "seed", "data", "labels", "versions")


def save_model(folder: str | Path, estimator: Any, about: ModelAbout) -> Path:
    """Write ``model.skops``, ``model.json`` and ``MODEL.md``; the path of the first is returned."""
    return keep_model(folder, about, lambda: estimator, again=True)


def keep_model(
    folder: str | Path, about: ModelAbout, fit: Callable[[], Any], again: bool = False, draft: Path | None = None
) -> Path:
    """The same, but `fit` is called only if the folder does not hold this model already (or `again` is True).

    With a `draft`, all is written to that folder, for the caller to move; no ``model.skops`` if the model is the same.
    """
    folder = Path(folder)
    before = None if again else _known(folder)
    folder = folder if draft is None else draft
    path, about_path = folder / FILE, folder / ABOUT
    try:
        if before is None or any(getattr(before, name) != getattr(about, name) for name in _MAKES_THE_MODEL):
            fitted = fit()
            # What describes the model goes first and comes last, so that a kill in between leaves a model that is made again.
            about_path.unlink(missing_ok=True)
            _dump(fitted, path)
            before = None
        if before is not None:
            known = replace(about, trusted=before.trusted, sha256=before.sha256)
        else:
            known = replace(about, trusted=tuple(untrusted_types(path)), sha256=sha256_of(path))
        _write_if_new(about_path, json.dumps(known.to_dict(), indent=1, ensure_ascii=False) + "\n")
        _write_if_new(folder / CARD, model_card(known))
    except FileError:
        raise
    except OSError as error:
        problem = f"the model cannot be written to {folder} ({error.strerror or error})"
        raise FileError(problem, remedy="Use another `out`.") from error
    return path


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _known(folder: Path) -> ModelAbout | None:
    """What the folder says of the model in it; None if there is none, or another one than described."""
    try:
        known = read_about(folder)
        return known if sha256_of(folder / FILE) == known.sha256 else None
    except OSError:  # nothing describes it, or is damaged, or there is no model; FileError is one of these
        return None


def _dump(estimator: Any, path: Path) -> None:
    draft = path.with_suffix(".part")
    try:
        skops_io().dump(estimator, draft, compression=ZIP_DEFLATED)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write_if_new(path: Path, text: str) -> None:
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        path.write_text(text, encoding="utf-8")
