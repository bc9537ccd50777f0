"""What `outfold run` answers: the sentence, the best configurations, what to be careful about, and where everything is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import formatting
from ..reporting import Report
from ..reporting.document import beside_dict
from ..reporting.text import Rounding, beside_in_words
from ..results import AtThreshold, Baseline, Confrontation, Estimate, Finding
from .stopping import Reason

# Configurations that are printed.
_BEST = 5


@dataclass(frozen=True, eq=False)
class RunResult:
    """The estimate, the report, and the files: predictions, model (None where it could not be saved) and page."""

    estimate: Estimate
    page: Report
    files: Mapping[str, Path | None]
    folder: Path
    nested: Estimate | None = None
    at_threshold: AtThreshold | None = None
    test: Confrontation | None = None  # what the test part gave, if there is one
    stopped: str = ""  # what was not finished, in words
    reason: Reason | None = None

    @property
    def predictions(self) -> Path:
        """The file of the predictions."""
        path = self.files["predictions"]
        assert path is not None
        return path

    @property
    def model(self) -> Path | None:
        """The file of the model."""
        return self.files["model"]

    @property
    def report(self) -> Path:
        """The file of the page."""
        path = self.files["report"]
        assert path is not None
        return path

    @property
    def baseline(self) -> Baseline | None:
        """What always predicting the same gives."""
        return self.page.leaderboard.baseline

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What must be solved before the number is reported."""
        return tuple(self.page.checks.errors)

    def __str__(self) -> str:
        head = [self.page.headline, *([f"Not all configurations were tried: {self.stopped}."] if self.stopped else [])]
        facts = [*self._facts(), *self._checks(), *self._places()]
        lines = [f"  {key:<10} {words}" for key, words in facts]
        nested = [] if self.nested is None else ["", str(self.nested)]
        cut = [] if self.at_threshold is None else ["", str(self.at_threshold)]
        test = [] if self.test is None else ["", str(self.test)]
        return "\n".join([*head, "", *self._best(), "", *lines, *cut, *test, *nested])

    def _best(self) -> list[str]:
        """The first few configurations, and what their scores are worth."""
        board, made = self.page.leaderboard, self.estimate
        scores = list(zip(board.configs, board.scores.tolist(), strict=True))
        # Another rule than the best score may select one that is further down.
        shown = scores[:_BEST] + [row for row in scores[_BEST:] if row[0] == made.selected]
        say = Rounding(made)
        if len(shown) < 2:
            ((name, score),) = shown
            only = "all others were dropped early" if board.left_out else "the only configuration"
            return [f"Cross-validation score: {say(score)}  {formatting.shorten(name, 90)} ({only})"]
        lines = [
            f"  {say(score):>8}  {formatting.shorten(name, 90)}{'  (selected)' if name == made.selected else ''}"
            for name, score in shown
        ]
        words = self.page.leaderboard.rule or f"by {formatting.called(made.metric)}"
        other = f"; the winner's score above is made {made.scored_as}" if made.scored_as else ""
        return [f"{words[0].upper()}{words[1:]}, before the correction{other}:", *lines]

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("selected", self.page.description or self.estimate.selected)]
        if self.baseline is not None:
            facts.append(("baseline", f"{self.baseline.of}: {Rounding(self.estimate)(self.baseline.value)}"))
        return facts + self._beside()

    def _beside(self) -> list[tuple[str, str]]:
        """The other metric of survival models, and how it was corrected."""
        other = self.page.beside
        if other is None:
            return []
        facts = [("also", f"{formatting.called(other.metric)} {beside_in_words(other)}")]
        return facts if other.estimate is None else [*facts, ("", f"corrected by {other.estimate.description}")]

    def _checks(self) -> list[tuple[str, str]]:
        return [
            (found.severity, f"{found.code}  {found.text}") for found in self.page.checks if found.severity != "tip"
        ]

    def _places(self) -> list[tuple[str, str]]:
        fitted = "the selected configuration, fitted on all rows"
        facts = [
            ("files", f"{self.report} (all results on one page)"),
            ("", f"{self.predictions} (predictions of the configurations)"),
            *([] if self.model is None else [("", f"{self.model} ({fitted})")]),
            ("next", f"outfold open {self.folder}"),
        ]
        if self.model is not None:
            facts.append(("", f"outfold predict {self.folder} new.csv -o predictions.csv"))
        if self.stopped:
            facts.append(("", "run the same command again to try the others"))
        return facts

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        files = {name: None if path is None else str(path) for name, path in self.files.items()}
        out = self.estimate.to_dict() | files | {"stopped": self.stopped or None}
        if self.at_threshold is not None:
            out["at_threshold"] = self.at_threshold.to_dict()
        if self.page.beside is not None:
            out["beside"] = beside_dict(self.page.beside)
        if self.test is not None:
            out["test"] = self.test.to_dict()
        return out if self.nested is None else out | {"nested": self.nested.to_dict()}
