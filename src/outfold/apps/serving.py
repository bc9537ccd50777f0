"""What `outfold open FOLDER` shows: the progress of a run while it goes on, and then its report."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib import resources
from pathlib import Path
from string import Template

from ..exceptions import FileError
from ..reporting.page import Answer
from .folder import REPORT
from .live import FILE, standing_of


def pages_of(folder: Path) -> Answer:
    """The pages of a run's folder by path: the live page while it runs, then the report."""
    if not (folder / FILE).is_file() and not (folder / REPORT).is_file():
        needed, given = "must be a folder that outfold run has written", f"{folder} has neither a report nor a run"
        raise FileError(argument="file", needed=needed, given=given)

    def answer(path: str) -> tuple[str, bytes] | None:
        if path == f"/{FILE}":
            return "application/json", _read(folder / FILE)
        if path not in ("/", f"/{REPORT}"):
            return None
        if path == "/" and is_running(folder):
            return "text/html", live_page().encode()
        report = folder / REPORT
        if not report.is_file():
            return "text/html", _ENDED.encode()
        return "text/html", _read(report)

    return answer


def is_running(folder: Path) -> bool:
    """Whether the process that writes into this folder is still there."""
    facts = standing_of(folder)
    return facts is not None and facts["state"] == "running" and _is_alive(facts["process"])


def live_page() -> str:
    """The page that asks for the progress again and again."""
    parts = resources.files(__package__)
    script = (parts / "live.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = (parts / "live.html").read_text(encoding="utf-8")
    return Template(page).substitute(script=script, script_hash=digest)


_ENDED = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>outfold run</title>
<p>The search ended without a report. Run the same command again: it continues from what is finished.</p></html>
"""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"{}"


def _is_alive(process: object) -> bool:
    if not isinstance(process, int) or os.name != "posix":
        return isinstance(process, int)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
