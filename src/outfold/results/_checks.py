"""What `check` found: caveats, each with its severity, what to do, and where it is explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args, overload

from .. import formatting
from ..formatting import make_frame

Severity = Literal["error", "caution", "tip"]
SEVERITIES: tuple[str, ...] = get_args(Severity)


class Finding(NamedTuple):
    """One caveat that applies.

    Attributes
    ----------
    code : str
        Code of the check, such as ``OF501``.
    severity : {"error", "caution", "tip"}
        ``error``: do not report the number as it is. ``caution``: read it with care. ``tip``: good to know.
    text : str
        One sentence with the numbers at hand.
    advice : str
        What to do.
    source : str
        Where the caveat comes from.
    page : str
        Its page, relative to the documentation.
    """

    code: str
    severity: Severity
    text: str
    advice: str
    source: str
    page: str


@dataclass(frozen=True, repr=False)
class Checks(Sequence[Finding]):
    """The caveats that apply to some predictions: a sequence of `Finding`, errors first.

    Attributes
    ----------
    findings : tuple of Finding
        The findings.
    metric : str
        The metric that was checked.
    about : str
        The predictions, in words.
    ignored : tuple of str
        Codes that were left out on request.
    """

    findings: tuple[Finding, ...]
    metric: str
    about: str
    ignored: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[index]

    def __repr__(self) -> str:
        return f"<Checks: {self._counts()} by {self.metric}>"

    def __str__(self) -> str:
        lines = [self._title()]
        for finding in self.findings:
            lines += [f"  {finding.severity:<8} {finding.code}  {finding.text}", f"{'':18}-> {finding.advice}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[f.severity, f.code, f.text, f.advice, f.source] for f in self.findings]
        table = formatting.table_html(["severity", "code", "what", "what to do", "source"], rows)
        return f"{formatting.facts_html(self._title(), [])}{table if rows else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        return {
            "ok": self.ok,
            "metric": self.metric,
            "about": self.about,
            "ignored": list(self.ignored),
            "findings": [finding._asdict() for finding in self.findings],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with a row for every finding."""
        columns = {name: [getattr(f, name) for f in self.findings] for name in Finding._fields}
        return make_frame(columns, backend)

    def _title(self) -> str:
        return f"{self._counts()}: {self.metric} of {self.about}"

    def _counts(self) -> str:
        counts = {s: sum(f.severity == s for f in self.findings) for s in SEVERITIES}
        words = [formatting.count(n, s) for s, n in counts.items() if n]
        return ", ".join(words) or "nothing found"
