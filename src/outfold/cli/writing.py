"""The files that commands write: which may be named, and how a picture is drawn into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..exceptions import FileError, invalid

# Endings of pictures that matplotlib draws.
DRAWN = (".svg", ".png", ".pdf")


def save_picture(path: str, draw: Callable[[], Any], texts: Mapping[str, Callable[[], str]] | None = None) -> None:
    """Write a picture: as text where that can be made, else drawn by matplotlib."""
    ending = Path(path).suffix.lower()
    try:
        if texts is not None and ending in texts:
            Path(path).write_text(texts[ending](), encoding="utf-8")
        else:
            draw().figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise FileError(f"the picture {path!r} could not be written ({error.strerror}).") from error


def check_file(option: str, path: Path, *endings: str) -> None:
    """Refuse a file that cannot be written before any work, not after it."""
    if not path.name.lower().endswith(endings):
        raise invalid(option, f"must end in {', '.join(endings[:-1])} or {endings[-1]}", f"got {str(path)!r}")
    if not path.parent.is_dir():
        raise invalid(option, "needs a folder that is there", f"there is no {str(path.parent)!r}")


def refuse_input(option: str, path: Path, read: Path) -> None:
    """Refuse to write over the file that is read, also by another path or a link."""
    if path.exists() and read.exists() and path.samefile(read):
        given = f"{str(path)!r} is the file that is read"
        raise invalid(option, "must be another file than the table of new rows", given, "Name a new file.")
