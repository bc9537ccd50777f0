"""The model card: one page of markdown beside the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formatting import called, count, takes_all
from .about import EstimateAbout, ModelAbout


def model_card(about: ModelAbout) -> str:
    """What somebody who is handed the model must know: data, estimate, how to use it, and what it cannot do."""
    parts = (_head, _estimate, _data, _use, _limits, _origin)
    return "\n\n".join("\n".join(part(about)) for part in parts) + "\n"


def _head(about: ModelAbout) -> Iterator[str]:
    yield f"# Model of {_code(about.target)}"
    yield ""
    what = {"binary": "one of two classes", "multiclass": "one of several classes", "regression": "a number"}
    what["survival"] = "a risk, which is higher the sooner the event is expected"
    yield f"It predicts {_code(about.target)}: {what[about.task]}" + _classes(about) + "."
    if about.merged:
        into = next(iter(about.merged.values()))
        yield f"Rare classes of the training table were merged into {_code(into)}: {', '.join(map(_code, about.merged))}."
    yield ""
    yield about.description or f"Configuration: {_code(about.configuration)}."
    if about.description:
        yield f"Its name in the search is {_code(about.configuration)}."
    if about.space:
        yield about.space


def _classes(about: ModelAbout) -> str:
    if about.classes is None:
        return ""
    positive = "" if about.positive is None else f"; the positive class is {_code(about.positive)}"
    return f" ({', '.join(map(_code, about.classes))}{positive})"


def _estimate(about: ModelAbout) -> Iterator[str]:
    yield "## How good it is"
    yield ""
    found = about.estimate
    if found is None:
        yield "No estimate was recorded with this model."
        return
    value, interval = _with_ends(found)
    if about.beside is None:
        yield f"| {called(found.metric)} on new rows | {100 * found.level:g}% confidence interval | method |"
        yield "| --- | --- | --- |"
        yield f"| {value} | {interval} | {found.method} |"
    else:
        yield f"| metric | on new rows | {100 * found.level:g}% confidence interval | method | without learning anything |"
        yield "| --- | --- | --- | --- | --- |"
        yield from map(_row, (found, about.beside))
    yield ""
    yield (
        "The estimate is corrected for picking the best configuration. It holds for new rows that are collected in the same way "
        "as the training rows."
    )
    if about.threshold is not None:
        yield ""
        cut, at, chosen = _CUT[about.threshold.response], about.threshold.value, about.threshold.name
        words = "not below 0" if takes_all(at) else f"above {at:.3g}"
        yield f"A row gets the label {_code(about.positive)} if its {cut} is {words} (chosen by {chosen})."


def _with_ends(found: EstimateAbout) -> tuple[str, str]:
    """The value, and the interval or ``none``."""
    ends = (found.value,) if found.low is None or found.high is None else (found.value, found.low, found.high)
    value, *interval = rounded(*ends)
    return value, " to ".join(interval) or "none"


def _row(found: EstimateAbout) -> str:
    value, interval = _with_ends(found)
    none = ""
    if found.baseline is not None:
        digits = len(value.partition(".")[2])
        none = f"{found.baseline:.{digits}f} ({found.baseline_of})"
    return f"| {called(found.metric)} | {value} | {interval} | {found.method} | {none} |"


_CUT = {"proba": "probability", "score": "score (`decision_function`)"}


def rounded(value: float, low: float | None = None, high: float | None = None) -> list[str]:
    """The numbers with as many digits as the width of the interval supports: two of the standard error, four at most."""
    digits = 4
    if low is not None and high is not None and high > low:
        error = (high - low) / 4
        digits = next((d for d in range(5) if error * 10**d >= 1), 4)
    return [f"{number:.{digits}f}" for number in (value, low, high) if number is not None]


def _data(about: ModelAbout) -> Iterator[str]:
    yield "## Data"
    yield ""
    left = "".join(f" {count(part.n, 'row')} left out: {part.why}." for part in about.left_out)
    yield f"Fitted on {count(about.n_rows, 'row')}.{left}"
    yield ""
    yield "| column | role | type | missing | values in the training rows | treatment |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for column in about.columns:
        reason = f"{column.treatment}; {column.reason}" if column.treatment and column.reason else None
        words = reason or column.treatment or column.reason
        cells = (column.role, column.kind or "", f"{100 * column.missing:.3g}%", _values(about, column.name), words)
        yield f"| {_code(column.name)} | {' | '.join(map(_cell, cells))} |"


def _values(about: ModelAbout, name: str) -> str:
    known = about.ranges.get(name)
    if known is None:
        return ""
    if known.kind == "category":
        return count(len(known.knots), "level")
    if known.low is None or known.high is None:
        return ""
    if known.kind == "date":
        from datetime import UTC, datetime

        days = (datetime.fromtimestamp(end, UTC).date().isoformat() for end in (known.low, known.high))
        return " to ".join(days)
    return f"{known.low:.4g} to {known.high:.4g}"


def _use(about: ModelAbout) -> Iterator[str]:
    yield "## How to use it"
    yield ""
    yield "```"
    yield "outfold predict FOLDER new.csv -o predictions.csv"
    yield "outfold confront FOLDER labelled.csv"
    yield "```"
    yield ""
    yield "In Python:"
    yield ""
    yield "```python"
    yield "import outfold as of"
    yield ""
    yield 'model = of.load_model("FOLDER")'
    yield "table = model.table(frame)   # a pandas frame with the columns above, in any order"
    yield "```"
    if about.observed is not None:
        times = ", ".join(f"{time:g}" for time in about.observed.times)
        yield ""
        yield (
            "The column `prediction` has the risk, a number without a unit. If the model gives survival curves, the columns "
            f"`survival_...` give the probability of no event until {times}; `--times` and `times=` name other times. "
            f"No training row was observed after {about.observed.until:g}."
        )


def _limits(about: ModelAbout) -> Iterator[str]:
    yield "## Limits"
    yield ""
    yield "- Rows outside of the training range are marked `outside`. The estimate does not cover them."
    yield "- Nobody has checked whether the model treats groups of people fairly, or whether a column causes the target."
    yield "- The world changes. When the true labels arrive, compare them with the estimate: `outfold confront`."
    if about.left_out:
        yield "- The estimate does not cover rows like those that were left out of the training."


def _origin(about: ModelAbout) -> Iterator[str]:
    yield "## Where it comes from"
    yield ""
    facts: list[tuple[str, Any]] = [("seed", about.seed), *about.versions.items()]
    hashes = {"features": about.data, "labels": about.labels, "model.skops (sha256)": about.sha256}
    facts += [(f"hash of the {name}", value) for name, value in hashes.items() if value]
    yield "| what | value |"
    yield "| --- | --- |"
    for name, value in facts:
        yield f"| {name} | {_cell(value)} |"
    if about.specification:
        yield ""
        yield "```"
        yield about.specification
        yield "```"


def _cell(value: Any) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def _code(value: Any) -> str:
    """A name as code; backticks and lines in it do not end it."""
    text = _cell(value)
    marks = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{marks}{pad}{text}{pad}{marks}"
