"""What a search is turned into: the estimate, the model, the report, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import estimate
from ..data.ledger import LEDGER, TEST_PART
from ..data.predictions import Predictions
from ..estimate._default import corrected
from ..exceptions import FileError
from ..fitting import refit
from ..fitting.configs import Configs
from ..fitting.limits import record_warnings, silence_warnings
from ..fitting.test_part import parts_of
from ..io import ledger
from ..io.store import load
from ..learners import describe
from ..models import EstimateAbout, LeftOut, ModelAbout, Threshold, confront, ranges_of
from ..models.saving import keep_model
from ..reporting.document import Report
from ..results import AtThreshold, Confrontation, Estimate
from . import report_again
from .anytime import Found
from .folder import ANSWER, COLUMNS, REPORT, SEARCH, RunFolder, known_ledger
from .importance import permutation_importance
from .result import RunResult
from .stopping import Finishing
from .table import LabelledTable, Say


@dataclass(frozen=True)
class Asked:
    """What was asked for beside the estimate and the model."""

    threshold: str | float | None = None
    importance: bool = False
    inner: bool = False
    command: str | None = None


@dataclass
class Answer:
    """What a search is turned into: an estimate, a model, a report."""

    found: Found
    table: LabelledTable
    configs: Configs
    space: str  # in words
    stopped: str  # what was not finished, in words
    say: Say
    given_columns: str | Path | None = None  # the file with the roles of the columns, if there is one
    happened: str | None = None  # the value of the event column that says that it happened

    def write(self, folder: RunFolder, asked: Asked, finishing: Finishing) -> RunResult:
        """Compute everything, write it to a draft, and put all files in their places at once."""
        try:
            with folder.draft() as draft:
                result = self._written(folder, draft, asked)
                complete = not self.found.left and set(load(folder / SEARCH).configs) == set(self.found.oof.configs)
                with finishing.held():
                    folder.publish()
                    if complete:
                        (folder / SEARCH).unlink()
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"the answer cannot be written to {folder.path} ({error.strerror or error}).") from error
        return result

    def _written(self, folder: RunFolder, draft: Path, asked: Asked) -> RunResult:
        oof, table = self.found.oof, self.table
        made = corrected(oof)
        nested = estimate.nested(oof) if asked.inner else None
        words = describe(self.configs[made.selected], table.columns)
        matters = self._importance(made) if asked.importance else None
        test = self._predictions(folder, draft)
        facts = {
            "title": f"{table.file.path.name}: {table.roles.label}",
            "command": asked.command,
            "data": self._facts(),
            "description": words,
            "importance": matters,
            "threshold": asked.threshold,
        }
        page = report_again.make(_with_ledger(oof, draft / ANSWER), facts, made)
        page.save(draft / REPORT)
        report_again.keep(draft, facts)
        # The page has computed what holds at the threshold: one computation, one answer.
        cut = None if asked.threshold is None else page.thresholds[0]
        self._keep_columns(folder, draft)
        model = self._model(folder, draft, made, cut, words, page)
        files = {"predictions": folder / ANSWER, "model": model, "report": folder / REPORT}
        return RunResult(made, page, files, folder.path, nested, cut, test, self.stopped, self.found.stopped)

    def _predictions(self, folder: RunFolder, draft: Path) -> Confrontation | None:
        """Write the predictions, with what came true of an earlier answer; what the test part gives, if there is one."""
        # The store has the configurations in the order of the waves, which depends on the time they took; the answer has them
        # in the order of the space, because that decides between equal ones.
        oof, path = self.found.oof, draft / ANSWER
        oof.save(path)
        ledger.extend(path, known_ledger(folder / ANSWER))
        if not self._has_test_part:
            return None
        if self.found.left:  # what is selected may change
            self.say("the test part is not scored yet: that is done once, when the search is complete")
            return None
        return confront(oof, self.configs, self.table.X, self.table.y, store=path)

    @property
    def _has_test_part(self) -> bool:
        return TEST_PART in self.found.oof.provenance

    def _importance(self, made: Estimate) -> dict[str, dict[str, float]]:
        oof, X, y = self.found.oof, self.table.X, self.table.y
        if self._has_test_part:
            (X, y), _ = parts_of(oof, X, y)
        with silence_warnings():  # a check tells of those that the same fits gave in the search
            return permutation_importance(oof, self.configs[made.selected], X, y)

    def _facts(self) -> dict[str, Any]:
        facts = self.table.facts()
        if self.stopped:
            facts["file"]["not all configurations were tried"] = self.stopped
        return facts

    def _keep_columns(self, folder: RunFolder, draft: Path) -> None:
        path, given = folder / COLUMNS, self.given_columns
        if not (given is not None and path.exists() and path.samefile(given)):
            (draft / COLUMNS).write_text(self.table.columns.to_toml(), encoding="utf-8")

    def _model(
        self, folder: RunFolder, draft: Path, made: Estimate, cut: AtThreshold | None, words: str, page: Report
    ) -> Path | None:
        table, oof, other = self.table, self.found.oof, page.beside
        about = ModelAbout.of(
            oof,
            target=table.roles.label,
            columns=table.columns,
            ranges=ranges_of(table.X, table.columns),
            n_rows=len(table.y),
            estimate=EstimateAbout.of(made, None if other is None else page.leaderboard.baseline),
            beside=None
            if other is None or other.estimate is None
            else EstimateAbout.of(other.estimate, other.baseline),
            threshold=None if cut is None else Threshold(cut.choice, cut.threshold, oof.response),
            left_out=tuple(LeftOut(part.n, part.why) for part in table.left_out),
            marks=table.marks,
            merged=table.merged,
            event=self.happened,
            description=words,
            space=self.space,
        )
        try:
            import skops.io  # noqa: F401
        except ImportError:
            self.say(
                "the model is not saved: skops is missing. pip install 'outfold[model]', and the same command saves it."
            )
            return None
        path = keep_model(folder.path, about, self._fitted, draft=draft)
        return folder / path.name

    def _fitted(self) -> Any:
        """The model, fitted on all rows."""
        with silence_warnings(), record_warnings() as names:
            model = refit(self.found.oof, self.configs, self.table.X, self.table.y)
        if names:
            self.say(f"the fit on all rows gave warnings: {', '.join(dict.fromkeys(names))}")
        return model


def _with_ledger(oof: Predictions, path: Path) -> Predictions:
    """The predictions with the ledger of their file, which the report shows."""
    entries: tuple[Mapping[str, Any], ...] = known_ledger(path)
    return replace(oof, provenance={**oof.provenance, LEDGER: list(entries)}) if entries else oof
