"""The report of a run's folder. What it says beside the predictions is kept, so that the page can be written again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..exceptions import OutfoldError
from ..formatting import json_ready
from ..io.store import load
from ..io.untrusted import refuse_special
from ..reporting import Report, report
from ..results import Estimate
from .folder import ANSWER, REPORT

FILE = "report.json"
# Goes up when the meaning of an entry changes.
FORMAT = 1
# Arguments of `report`.
_KEPT = ("title", "command", "data", "description", "importance", "threshold")


def make(oof: Any, facts: Mapping[str, Any], estimate: Estimate | None = None) -> Report:
    """The report with these facts."""
    return report(oof, estimate=estimate, **{name: facts[name] for name in _KEPT})


def keep(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the facts beside the page."""
    text = json.dumps(json_ready({"format": FORMAT, **facts}), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def write_again(folder: Path) -> Path | None:
    """Write the page of a folder again, with what came true since; None if an older outfold left no facts for it."""
    with suppress(OSError, ValueError, LookupError, RecursionError, OutfoldError):
        refuse_special(folder / FILE)
        facts = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if facts["format"] == FORMAT:
            return make(load(folder / ANSWER), facts).save(folder / REPORT)
    return None
