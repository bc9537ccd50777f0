"""What the report says in sentences: the headline, how it was found, and a paragraph for a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import formatting, metrics
from .._version import __version__
from ..charts.collected import having, who_left
from ..charts.estimates import has_own, why_optimistic
from ..charts.svg import line_of
from ..data.criterion import score_words
from ..data.predictions import Predictions, State
from ..data.seeds import n_seeds
from ..estimate._beside import Beside
from ..formatting import called
from ..latex import breakable_latex, escape_latex, table_latex
from ..results import Baseline, Comparisons, Estimate
from . import tables

if TYPE_CHECKING:
    from .document import Report

_SHOWN = 20  # configurations, or features, in a table of text


class Rounding:
    """As many digits as the interval leaves meaningful: two of its width, and one more where the sum adds up then only.

    `about` is what to say before an optimism that is not the difference of the rounded scores.
    """

    def __init__(self, estimate: Estimate) -> None:
        low, high = estimate.interval or (estimate.value, estimate.naive)
        width = abs(high - low) or abs(estimate.value) or 1.0
        least = formatting.Digits.of_width(width).digits
        fitting = [d for d in (least, least + 1) if self._adds_up(estimate, d)]
        self.digits = fitting[0] if fitting else least
        self.about = "" if fitting else "about "

    @staticmethod
    def _adds_up(estimate: Estimate, digits: int) -> bool:
        """Whether the rounded scores differ by the rounded optimism."""
        naive, value, optimism = (round(x, digits) for x in (estimate.naive, estimate.value, estimate.optimism))
        return math.isclose(abs(naive - value), abs(optimism), abs_tol=10.0 ** -(digits + 2))

    def __call__(self, value: float) -> str:
        """The number with these digits."""
        return formatting.Digits(self.digits)(value)

    def signed(self, value: float) -> str:
        """The number with its sign."""
        return formatting.Digits(self.digits).signed(value)

    def optimistic(self, estimate: Estimate) -> bool:
        """Whether there is an optimism to speak of."""
        return round(estimate.optimism, self.digits) > 0


def headline(estimate: Estimate) -> str:
    """The answer in one sentence."""
    say = Rounding(estimate)
    value = f"{called(estimate.metric)} {_value(estimate, say)}"
    if why_optimistic(estimate):
        return f"Do not expect {value} on new samples: it is {why_optimistic(estimate)}."
    return f"Expect {value} on new samples{_own(estimate, say)}."


def _value(estimate: Estimate, say: Rounding) -> str:
    if estimate.interval is None:
        return say(estimate.value)
    low, high = estimate.interval
    return f"{say(estimate.value)} ({100 * estimate.confidence_level:g}% CI {say(low)} to {say(high)})"


def _own(estimate: Estimate, say: Rounding) -> str:
    """The half sentence about the winner's score; empty where the estimate is that score."""
    if not has_own(estimate):
        return ""
    own = f"; {_own_name(estimate)}, {say(estimate.naive)}, is "
    if not say.optimistic(estimate):
        return own + "not too optimistic"
    return own + f"{say.about}{say(estimate.optimism)} too {'high' if estimate.greater_is_better else 'low'}"


def _own_name(estimate: Estimate) -> str:
    """The winner's score; how it is made is said only where the table of configurations has scores that are made otherwise."""
    return f"the {estimate.own_name.partition(', ')[0]} {estimate.scored_as}".strip()


def about_scores(estimate: Estimate) -> str:
    """What the scores in the table of configurations are, in sentences."""
    score = "score" if estimate.plan.endswith("one test set") else "cross-validation score"
    words = f"Each score is that configuration's {score}, before correction. The best of many is partly luck."
    if not (estimate.scored_as and has_own(estimate)):
        return words
    by = score_words(estimate.metric, estimate.aggregate)
    own = f"the winner's score in the headline, {Rounding(estimate)(estimate.naive)}, is made {estimate.scored_as}"
    return f"{words} The table has the {by}, which selects; {own}, as the estimate is."


def beside_in_words(other: Beside) -> str:
    """The other metric of the selected configuration: its value, how it was found, and what learning nothing gives."""
    found = other.estimate
    if found is None:
        return f"none: {other.about}"
    say = Rounding(found)
    none = "" if other.baseline is None else f"; {other.baseline.of}: {say(other.baseline.value)}"
    better = "" if found.greater_is_better else "; lower is better"
    return f"{_value(found, say)}{other.about and f', {other.about}'}{none}{better}"


def how(
    oof: Predictions,
    estimate: Estimate,
    baseline: Baseline | None = None,
    description: str | None = None,
    other: Beside | None = None,
) -> list[tuple[str, str]]:
    """How the answer was found: data, what a model that learnt nothing scores, plan, configurations, fits, time."""
    work = counts(oof)
    rows = [("samples", _samples(oof)), ("held out", str(oof.plan)), ("configurations", _tried(oof))]
    if baseline is not None:
        rows.insert(1, ("baseline", f"{baseline.of}: {Rounding(estimate)(baseline.value)}"))
    if description is not None:
        rows.append(("model", description))
    rows.append(("selected", f"{estimate.selected}, {estimate.rule}"))
    rows.append(("estimated by", f"{estimate.description} [{estimate.reference}]"))
    if other is not None:
        by = "" if other.estimate is None else f"; estimated by {other.estimate.description}"
        rows.append((called(other.metric), beside_in_words(other) + by))
    made = oof.provenance
    of = "" if work["done"] == work["planned"] else f" of {work['planned']:,}"
    fits = f"{'' if of else 'all '}{work['done']:,}{of} done"
    if made.get("n_fits") is not None:
        shared = made.get("sharing", {})
        saved = int(shared.get("models", 0)) - int(shared.get("models_done", 0))
        fits += f" with {formatting.count(int(made['n_fits']) - saved, 'fit')}"
        if saved:
            fits += "; shared steps were fitted once"
    if n_seeds(made) > 1:
        fits += f"; predictions are means over {n_seeds(made)} seeds"
    if work["dropped"]:
        share = work["dropped"] / work["planned"]
        fits += f"; {work['dropped']:,} ({share:.0%}) saved by dropping hopeless configurations"
    if work["failed"]:
        fits += f"; {work['failed']:,} failed"
    if work["pending"]:
        fits += f"; {work['pending']:,} still to come"
    rows.append(("cells", fits))
    if "seconds" in made:
        spent = work["seconds"]
        spent = "" if spent is None else f", {formatting.seconds(spent)} of fitting and predicting summed over workers"
        rows.append(("time", f"{formatting.seconds(float(made['seconds']))} on the clock{spent}"))
    return rows


def counts(oof: Predictions) -> dict[str, Any]:
    """Cells by what became of them, and the seconds the done ones took."""
    states = oof.state[:, oof.planned]
    out: dict[str, Any] = {"planned": int(states.size)}
    out |= {state.name.lower(): int(np.sum(states == state)) for state in State}
    out["seconds"] = None if oof.seconds is None or np.isnan(oof.seconds).all() else float(np.nansum(oof.seconds))
    return out


def _samples(oof: Predictions) -> str:
    words = formatting.count(oof.n_samples, "sample") + _groups(oof)
    classes = oof.target.classes
    if classes is not None:
        sizes = np.bincount(oof.target.y, minlength=len(classes))
        shown = [f"{label}: {n:,}" for label, n in zip(classes[:6], sizes[:6], strict=True)]
        more = len(classes) - len(shown)
        rest = f" and {formatting.count(more, 'more class', 'more classes')}" if more else ""
        words += f"; {', '.join(shown)}{rest}"
    if oof.target.event is not None:
        n = int(oof.target.event.sum())
        words += f"; {formatting.count(n, 'event')}, {oof.n_samples - n:,} censored"
    return words


def _groups(oof: Predictions) -> str:
    codes = oof.group_codes
    return "" if codes is None else f" in {formatting.count(len(np.unique(codes)), 'group')}"


def _tried(oof: Predictions) -> str:
    gone = who_left(oof)
    return f"{oof.n_configs:,} tried" + (f", of which {gone}" if gone else "")


def methods(oof: Predictions, estimate: Estimate, comparisons: Comparisons | None, other: Beside | None = None) -> str:
    """A paragraph for a paper with the numbers filled in."""
    say = Rounding(estimate)
    tried, samples = formatting.count(oof.n_configs, "configuration"), formatting.count(oof.n_samples, "sample")
    held_out = "" if estimate.n_samples == oof.n_samples else f", {estimate.n_samples:,} of them held out,"
    whose = "The" if estimate.n_configs == 1 else "Its"
    method = f"{estimate.description} ({_parenthesis(estimate.reference)})"
    parts = [
        f"We evaluated {tried} on {samples}{_groups(oof)}{held_out} {_plan(estimate.plan)}.",
        *_about_dropping(oof),
        _about_selection(estimate),
        f"{whose} performance on new samples was estimated by {method}: {called(estimate.metric)} {_value(estimate, say)}.",
        f"This is {why_optimistic(estimate)}, so it is too optimistic." if why_optimistic(estimate) else "",
        *_about_own(estimate, say),
        *_about_other(other),
        *_about_comparisons(comparisons),
        _about_software(oof.provenance),
    ]
    return " ".join(part for part in parts if part)


def _plan(plan: str) -> str:
    if plan.endswith("one test set"):
        return f"({plan})"
    kind, _, splitter = plan.partition(" by ")
    named = any(word in kind for word in ("hold-out", "rounds", "splits"))
    how = kind if named else f"{kind} cross-validation"
    return f"by {how} ({splitter})" if splitter else f"by {how}"


def _parenthesis(reference: str) -> str:
    return reference.replace("; ", ", ") if "," not in reference else reference


def _about_dropping(oof: Predictions) -> Iterable[str]:
    work = counts(oof)
    if work["dropped"]:
        dropped = having(oof, State.DROPPED)
        yield (
            f"{formatting.count(dropped, 'configuration')} {'was' if dropped == 1 else 'were'} dropped on the way, which saved "
            f"{work['dropped'] / work['planned']:.0%} of the fits."
        )
    if work["failed"]:
        yield f"{formatting.count(having(oof, State.FAILED), 'configuration')} could not be fitted in every fold."


def _about_selection(estimate: Estimate) -> str:
    if estimate.n_configs == 1:
        return ""
    if estimate.named:
        return f"The configuration {estimate.selected} was named beforehand."
    positive = f"; positive class: {estimate.positive}" if _has_positive(estimate) else ""
    return f"We selected {estimate.selected}: {estimate.rule}{positive}."


def _has_positive(estimate: Estimate) -> bool:
    """Whether the metric has a positive class; those that also score more than two classes count all classes alike."""
    if estimate.positive is None:
        return False
    return not metrics.is_known(estimate.metric) or "multiclass" not in metrics.get(estimate.metric, "binary").tasks


def _about_own(estimate: Estimate, say: Rounding) -> Iterable[str]:
    if has_own(estimate):
        name, by = _own_name(estimate), f"{say.about}{say(estimate.optimism)}"
        luck = f"; being selected on the same predictions made it optimistic by {by}"
        yield f"{name[0].upper()}{name[1:]} was {say(estimate.naive)}{luck if say.optimistic(estimate) else ''}."


def _about_other(other: Beside | None) -> Iterable[str]:
    if other is None or other.estimate is None:
        return
    found, say = other.estimate, Rounding(other.estimate)
    curves = f" of its survival curves {other.about} (Graf 1999)" if other.about else ""
    value = f"{called(other.metric)}{curves} was {_value(found, say)}"
    none = "" if other.baseline is None else f"; {other.baseline.of} has {say(other.baseline.value)}"
    yield f"Corrected in the same way, the {value}{none}."


def _about_comparisons(found: Comparisons | None) -> Iterable[str]:
    if found is None:
        return
    terms = found.terms
    adjusted = ""
    if found.adjusted is not None and len(found) > 1:
        n = int(np.sum(found.adjusted <= terms.alpha))
        names = {"bh": "Benjamini and Hochberg", "westfall_young": "Westfall and Young"}
        whose = names.get(found.adjust, found.adjust.capitalize())
        adjusted = f" with p values adjusted by {whose}'s method: {n} of {len(found)} differed at alpha {terms.alpha:g}"
    name = terms.description.replace(";", ",").partition(",")[0]
    article = "" if "'s " in name else "the "  # DeLong's test, the permutation test
    test = f"{article}{name} ({_parenthesis(terms.reference)})"
    which = f"{len(found)} configurations" if len(found) > 1 else "one"
    these = "these tests do" if len(found) > 1 else "this test does"
    yield f"It was compared with the next {which} by {test}{adjusted}; {these} not account for the selection."


def _about_software(made: Mapping[str, Any]) -> str:
    others = [f"{name} {made[key]}" for key, name in _SOFTWARE.items() if key in made]
    seed = f"; seed {made['seed']}" if "seed" in made else ""
    return f"Computed with {', '.join([f'outfold {__version__}', *others])}{seed}."


_MINUS = "Each configuration minus the selected configuration, {}."
_SOFTWARE = {"scikit-learn": "scikit-learn", "numpy": "NumPy", "python": "Python"}


def _board_rows(report: Report) -> list[list[str]]:
    """The best configurations by score, then what a model that learnt nothing scores."""
    board, say = report.leaderboard, formatting.Digits(Rounding(report.estimate).digits)
    rows = zip(board.configs, board.scores.tolist(), board.se.tolist(), strict=True)
    best = [[name, say(score), say(se)] for name, score, se in rows][:_SHOWN]
    return best + [[name, score, "-"] for name, score in tables.baseline_cells(board.baseline, say)]


def _not_shown(n: int, which: str) -> list[str]:
    """What to say below a table that shows only some of n rows."""
    return [f"The table shows the {_SHOWN} {which} of {n:,}."] if n > _SHOWN else []


def markdown(report: Report) -> str:
    """The report without pictures, for a README or a notebook."""
    board, rows = report.leaderboard, _board_rows(report)
    ranks = [*map(str, board.ranks[:_SHOWN]), *[""] * len(rows)]
    ranked = [[rank, *row] for rank, row in zip(ranks, rows, strict=False)]
    more = _not_shown(len(board), "best configurations")
    parts = [f"# {escape_markdown(report.title)}", f"**{escape_markdown(report.headline)}**"]
    parts += [f"**{f.severity.capitalize()} {f.code}:** {escape_markdown(f.text)}" for f in report.cautions]
    parts += [] if report.description is None else [escape_markdown(report.description)]
    parts += _markdown_of_predictions(report)
    parts.append(_markdown_table(["how it was found", ""], report.how))
    parts += _markdown_of_data(report)
    parts += ["## Configurations"] + (
        [escape_markdown(about_scores(report.estimate))] if report.estimate.scored_as else []
    )
    parts += [_markdown_table(["rank", "configuration", board.metric, "se"], ranked), *more]
    if report.comparisons is not None:
        about, cells = (
            escape_markdown(_MINUS.format(report.estimate.selected)),
            tables.comparison_cells(report.comparisons),
        )
        parts += ["## Comparisons", about, _markdown_table(cells.header, cells.rows)]
        parts += [f"{code}: {escape_markdown(words)}" for code, words in tables.notes_of(report.comparisons).items()]
    checks = [[f.code, f.severity, f.text, f.advice] for f in report.checks]
    parts.append("## Checks")
    parts.append(_markdown_table(["code", "severity", "what", "what to do"], checks) if checks else "Nothing found.")
    parts += ["## Methods", escape_markdown(report.methods), "```bibtex\n" + report.bibtex + "\n```"]
    parts += ["## Reproducibility", _markdown_table(["fact", "value"], report.provenance)]
    return "\n\n".join(parts) + "\n"


def _markdown_of_predictions(report: Report) -> Iterable[str]:
    if report.thresholds:
        cells = tables.threshold_cells(report.thresholds)
        about = tables.about_thresholds(report.thresholds, report.graded)
        yield from ("## At a threshold", escape_markdown(about), _markdown_table(cells.header, cells.rows))
    if report.calibration is not None:
        yield f"Calibration: {escape_markdown(report.calibration)}."
    if report.importance:
        rows = [[row["name"], formatting.number(row["mean"]), _sd(row["sd"])] for row in report.importance[:_SHOWN]]
        yield from ("## Importance of features", _markdown_table(["feature", "mean", "sd"], rows))
        yield from _not_shown(len(report.importance), "most important features")


def _sd(value: float | None) -> str:
    return "-" if value is None else formatting.number(value)


def _markdown_of_data(report: Report) -> Iterable[str]:
    if not report.data:
        return
    yield "## Data"
    if facts := tables.data_facts(report.data):
        yield _markdown_table(["data", ""], facts)
    cells = tables.column_cells(report.data)
    if cells.rows:
        yield _markdown_table(cells.header, cells.rows)


def _markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [[escape_markdown(cell) for cell in row] for row in [header, *rows]]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])


_MARKDOWN = {c: "\\" + c for c in "\\`*_[]|~$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def escape_markdown(text: object) -> str:
    """Text that Markdown shows as it is, on one line: no markup, no html, no end of a table's cell."""
    return "".join(_MARKDOWN.get(c, c) for c in line_of(text))


def latex(report: Report) -> str:
    """The methods paragraph and the tables of configurations, thresholds and comparisons, for a paper with booktabs."""
    parts = [
        f"% {line_of(report.headline)}",
        escape_latex(report.methods),
        table_latex(["configuration", report.leaderboard.metric, "se"], _board_rows(report)),
    ]
    parts += _not_shown(len(report.leaderboard), "best configurations")
    if report.thresholds:
        cells = tables.threshold_cells(report.thresholds)
        about = tables.about_thresholds(report.thresholds, report.graded)
        parts += [escape_latex(about), table_latex(cells.header, cells.rows)]
    if report.comparisons is not None:
        selected = breakable_latex(report.estimate.selected)
        about = rf"{{\sloppy {_MINUS.format(selected)}\par}}"  # a long name begins on a line of its own
        cells = tables.comparison_cells(report.comparisons)
        parts += [about, table_latex(cells.header, cells.rows)]
    return "\n\n".join(parts) + "\n"
