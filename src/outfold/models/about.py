"""What is known of a model beside its weights: the file ``model.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import FileError
from ..formatting import json_ready
from ..io.json_types import Check, listed, mapped, number, one_of, optional, record, scalar, text, whole
from ..io.untrusted import refuse_special
from .ranges import Range

if TYPE_CHECKING:
    from ..data.predictions import Predictions
    from ..data.target import Target, Task
    from ..results import Baseline, Estimate
    from ..tables.columns import Columns

# Goes up when the meaning of an entry changes; a file of a newer format is refused.
FORMAT = 1
FILE = "model.json"


class Threshold(NamedTuple):
    """Where the probability or score of the positive class is cut to give a label: the way it was chosen, and the value."""

    name: str
    value: float
    response: str = "proba"  # what is cut


class EstimateAbout(NamedTuple):
    """The corrected estimate that was reported with the model; the ends are None if there is no interval.

    `baseline` is what a model scores that learnt nothing, and `baseline_of` which one that is.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    baseline: float | None = None
    baseline_of: str = ""

    @classmethod
    def of(cls, estimate: Estimate, baseline: Baseline | None = None) -> EstimateAbout:
        """What to keep of an estimate."""
        low, high = estimate.interval or (None, None)
        none = () if baseline is None else (float(baseline.value), baseline.of)
        level, method = float(estimate.confidence_level), estimate.method
        return cls(estimate.metric, float(estimate.value), low, high, level, method, *none)


class Observed(NamedTuple):
    """Of survival: the times that survival probabilities are given for, and the last time that a training row was observed at."""

    times: tuple[float, ...]
    until: float

    @classmethod
    def of(cls, target: Target) -> Observed | None:
        """The quartiles of the event times in three digits; None unless these are survival times."""
        if target.event is None:
            return None
        quartiles = np.quantile(target.y[target.event], [0.25, 0.5, 0.75])
        return cls(tuple(sorted({float(f"{time:.3g}") for time in quartiles})), float(target.y.max()))


class LeftOut(NamedTuple):
    """Rows of the training table that were not used, and why."""

    n: int
    why: str


@dataclass(frozen=True, kw_only=True)
class ModelAbout:
    """What the model was fitted from, what it expects of new rows, and how good it is estimated to be.

    Attributes
    ----------
    configuration : str
        Name of the configuration.
    specification : str or None
        The estimator with all parameters, as the predictions record it.
    target, task : str
        The column that is predicted; ``"binary"``, ``"multiclass"``, ``"regression"`` or ``"survival"``.
    classes : tuple or None
        The class labels, the positive one of two last; None unless there are classes.
    columns : Columns
        Every column of the training table, with its role and its treatment.
    ranges : mapping
        For each feature what values the training rows had.
    n_rows : int
        Number of rows that the model was fitted on.
    left_out : tuple of LeftOut
        Rows of the table that were not used.
    seed : int
        Seed of the search.
    data, labels : str
        Hashes of the features and the labels.
    versions : mapping
        Versions of Python and of the libraries.
    estimate, beside : EstimateAbout or None
        The corrected estimate; and of survival curves, that of the other metric: the integrated Brier score, or concordance.
    threshold : Threshold or None
        Where probabilities are cut; None for the model's own labels.
    marks : mapping
        The decimal mark and the mark between thousands of the training file; empty if it was no text file.
    merged : mapping
        Rare classes of the training table, as text, and the class that they were merged into.
    event : str or None
        Of survival: the value of the event column that says that the event happened; None for 1, true or yes.
    observed : Observed or None
        Of survival: the times that survival probabilities are given for, and how long training rows were observed.
    description : str
        The model in two or three sentences.
    space : str
        The configurations that were tried, in words.
    trusted : tuple of str
        Types in ``model.skops`` that skops does not trust by itself.
    sha256 : str
        Hash of ``model.skops``. `save_model` fills in both.
    """

    configuration: str
    target: str
    task: Task
    columns: Columns
    ranges: Mapping[str, Range]
    n_rows: int
    classes: tuple[Any, ...] | None = None
    specification: str | None = None
    seed: int = 0
    data: str = ""
    labels: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    estimate: EstimateAbout | None = None
    beside: EstimateAbout | None = None
    threshold: Threshold | None = None
    left_out: tuple[LeftOut, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[str, str] = field(default_factory=dict)
    event: str | None = None
    observed: Observed | None = None
    description: str = ""
    space: str = ""
    trusted: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def positive(self) -> Any:
        """The positive one of two classes; None for other tasks."""
        return self.classes[-1] if self.classes is not None and len(self.classes) == 2 else None

    @classmethod
    def of(
        cls, oof: Predictions, *, target: str, columns: Columns, ranges: Mapping[str, Range], **more: Any
    ) -> ModelAbout:
        """What predictions tell of the configuration that they select; `more` are further attributes."""
        made, selected, labels = oof.provenance, oof.selection().name, oof.target
        facts: dict[str, Any] = {
            "configuration": selected,
            "specification": made.get("specs", {}).get(selected),
            "task": labels.task,
            "classes": None if labels.classes is None else tuple(labels.classes.tolist()),
            "n_rows": oof.n_samples,
            "observed": Observed.of(labels),
            "seed": int(made.get("seed", 0)),
            "data": made.get("data", ""),
            "labels": made.get("labels", ""),
            "versions": {key: made[key] for key in _VERSIONS if key in made},
        }
        return cls(target=target, columns=columns, ranges=ranges, **(facts | more))

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        parts = {name: getattr(self, name) for name in ("estimate", "beside", "threshold", "observed")}
        out = {"format": FORMAT} | {name: getattr(self, name) for name in _PLAIN}
        out |= {name: None if part is None else part._asdict() for name, part in parts.items()}
        out["positive"] = self.positive
        out["rows"] = {"n": self.n_rows, "left_out": [part._asdict() for part in self.left_out]}
        out["columns"] = self.columns.to_rows()
        out["ranges"] = {name: found.to_dict() for name, found in self.ranges.items()}
        found: dict[str, Any] = json_ready(out)
        return found

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> ModelAbout:
        """What `to_dict` wrote."""
        from ..tables.columns import Columns

        estimate, threshold, classes = facts["estimate"], facts["threshold"], facts["classes"]
        beside, observed = facts.get("beside"), facts.get("observed")
        plain = {name: facts[name] for name in _PLAIN if name not in ("classes", "trusted", *_SINCE)}
        return cls(
            **plain,
            classes=None if classes is None else tuple(classes),
            trusted=tuple(facts["trusted"]),
            **{name: facts[name] for name in _SINCE if name in facts},
            columns=Columns.from_rows(facts["columns"]),
            ranges={name: Range.from_dict(found) for name, found in facts["ranges"].items()},
            n_rows=facts["rows"]["n"],
            left_out=tuple(LeftOut(**part) for part in facts["rows"]["left_out"]),
            estimate=None if estimate is None else EstimateAbout(**estimate),
            beside=None if beside is None else EstimateAbout(**beside),
            threshold=None if threshold is None else Threshold(**threshold),
            observed=None if observed is None else Observed(tuple(observed["times"]), observed["until"]),
        )


# Entries that json holds as they are.
_PLAIN = (
    *("configuration", "specification", "target", "task", "classes", "seed", "data", "labels", "versions"),
    *("marks", "merged", "event", "description", "space", "trusted", "sha256"),
)
_ESTIMATE = record(
    metric=text, value=optional(number), low=optional(number), high=optional(number), level=number, method=text
)
# What the entries must be; `from_dict` says which ones there must be.
_TYPES: dict[str, Check] = {
    **dict.fromkeys(("configuration", "target", "data", "labels", "description", "space", "sha256"), text),
    **dict.fromkeys(("specification", "event"), optional(text)),
    **dict.fromkeys(("versions", "marks", "merged"), mapped(text)),
    **dict.fromkeys(("estimate", "beside"), optional(_ESTIMATE)),
    "task": one_of("binary", "multiclass", "regression", "survival", "pointwise"),
    "classes": optional(listed(scalar)),
    "seed": lambda value: type(value) is int,
    "trusted": listed(text),
    "threshold": optional(record(name=text, value=number, response=one_of("proba", "score"))),
    "observed": optional(record(times=listed(number), until=number)),
    "rows": record(n=whole, left_out=listed(record(n=whole, why=text))),
    "columns": listed(record(name=text)),
    "ranges": mapped(
        record(
            kind=text,
            n=whole,
            missing=whole,
            low=optional(number),
            high=optional(number),
            knots=listed(scalar),
            counts=listed(whole),
        )
    ),
}
# Entries that files of an older outfold lack.
_SINCE = ("marks", "merged", "event")
_VERSIONS = ("outfold", "python", "numpy", "scipy", "scikit-learn", "scikit-survival")


def read_about(folder: Path) -> ModelAbout:
    """What the file ``model.json`` in the folder says."""
    path = folder / FILE
    refuse_special(path)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        problem = f"there is no {FILE} in {folder}"
        raise FileError(problem, remedy="Give the folder that outfold run wrote.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror or error}).") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged: it is not json ({error}).", remedy=_AGAIN) from None
    found = facts.get("format") if isinstance(facts, dict) else None
    if found is None:
        problem = f"{path} was written by an outfold that could not predict yet"
        raise FileError(problem, remedy=_AGAIN)
    if not isinstance(found, int) or found > FORMAT:
        problem = f"{path} was made by a newer outfold (format {found}); this one reads up to {FORMAT}"
        raise FileError(problem, remedy="Upgrade outfold.")
    wrong = next((key for key, check in _TYPES.items() if key in facts and not check(facts[key])), None)
    if wrong is not None:
        raise FileError(f"{path} is damaged: {wrong!r} is of a wrong type.", remedy=_AGAIN)
    try:
        about = ModelAbout.from_dict(facts)
        for name, kind in about.columns.kinds.items():
            if about.ranges[name].kind != kind:
                raise ValueError(f"the range of column {name!r} is that of another kind")
        return about
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path} is damaged ({type(error).__name__}: {error}).", remedy=_AGAIN) from error


_AGAIN = "Run the same outfold run again: it keeps what is finished and writes the model anew."
