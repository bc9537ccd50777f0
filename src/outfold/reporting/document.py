"""The report itself: what was found, and the forms it can be given."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..citations import cite, references_of
from ..exceptions import FileError
from ..formatting import json_ready
from ..results import Checks, Comparisons, Estimate, Leaderboard
from . import page, text
from .picture import Picture


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One page on how good the selected configuration is, how that was found, and what to be careful about.

    Attributes
    ----------
    title
        What the page is called.
    headline
        The answer in one sentence.
    how
        How it was found: (what, words) pairs.
    estimate
        The performance of the selected configuration on new samples.
    leaderboard
        All configurations by their own score.
    rows
        The same, a dict a configuration, with standard error, share of draws that select it, seconds and status.
    comparisons
        The selected configuration against the next few; None where no test is valid, and `no_comparison` says why.
    checks
        The caveats that apply.
    methods
        A paragraph for a paper.
    provenance
        What is needed to do it again: (what, words) pairs.
    pictures
        The pictures, in order.
    """

    title: str
    headline: str
    how: tuple[tuple[str, str], ...]
    estimate: Estimate
    leaderboard: Leaderboard
    rows: tuple[Mapping[str, Any], ...]
    comparisons: Comparisons | None
    no_comparison: str
    checks: Checks
    methods: str
    provenance: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...]

    def __repr__(self) -> str:
        return f"<Report: {self.headline}>"

    def __str__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        return self.estimate._repr_html_()

    @property
    def references(self) -> tuple[str, ...]:
        """The papers behind the numbers, for `cite`."""
        tests = [] if self.comparisons is None else references_of(self.comparisons)
        return (self.estimate.reference, *tests)

    @cached_property
    def bibtex(self) -> str:
        """BibTeX of the papers behind the numbers."""
        return cite(self)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: every number of the page."""
        facts: dict[str, Any] = json_ready(
            {
                "title": self.title,
                "headline": self.headline,
                "how": dict(self.how),
                "estimate": self.estimate.to_dict(),
                "configurations": [dict(row) for row in self.rows],
                "comparisons": None if self.comparisons is None else self.comparisons.to_dict(),
                "no_comparison": self.no_comparison,
                "checks": self.checks.to_dict(),
                "methods": self.methods,
                "bibtex": self.bibtex,
                "provenance": dict(self.provenance),
                "pictures": {picture.name: picture.numbers for picture in self.pictures},
            }
        )
        return facts

    def to_csv(self) -> str:
        """The table of configurations."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.rows[0])
        writer.writerows(map(_cell, row.values()) for row in self.rows)
        return out.getvalue()

    def to_html(self) -> str:
        """One html page that needs nothing else: no network, no other file."""
        return page.render(self)

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown, without pictures."""
        return text.markdown(self)

    def to_latex(self) -> str:
        """The methods paragraph and the tables for a paper, with booktabs rules."""
        return text.latex(self)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file: .html, .md or .tex by its ending; an existing file is replaced as a whole."""
        path = Path(path)
        form = {".md": self.to_markdown, ".tex": self.to_latex, ".html": self.to_html, ".htm": self.to_html}
        if path.suffix.lower() not in form:
            raise FileError(f"a report is saved as .html, .md or .tex; got {path.name}.")
        draft = path.with_name(path.name + ".part")
        try:
            draft.write_text(form[path.suffix.lower()](), encoding="utf-8", errors="replace")
            draft.replace(path)
        except OSError as error:
            raise FileError(f"{path} cannot be written ({error.strerror or error}).") from error
        return path


def _cell(value: Any) -> Any:
    """A cell that a spreadsheet takes for text where it is text: a name is never a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
