"""The tables of the report as text: the page, Markdown and LaTeX show the same cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import formatting
from ..formatting import Digits
from ..results import AtThreshold, Baseline, Comparisons, Share
from ..results._threshold import CALLED


class Cells(NamedTuple):
    """Header and rows of a table; `marked` are the rows to stress, `soft` those that are there to compare with."""

    header: list[str]
    rows: list[list[str]]
    marked: tuple[int, ...] = ()
    soft: tuple[int, ...] = ()

    def without_empty(self) -> Cells:
        """The same without columns in which no row says anything; the first stays."""
        keep = [j for j in range(len(self.header)) if j == 0 or any(row[j] for row in self.rows)]
        rows = [[row[j] for j in keep] for row in self.rows]
        return self._replace(header=[self.header[j] for j in keep], rows=rows)


# -- at a threshold -------------------------------------------------------------------------------------------


def threshold_cells(found: Sequence[AtThreshold]) -> Cells:
    """A row for each threshold, the first one the chosen; the last says what PPV and NPV are without a model."""
    first = found[0]
    rows = [[_choice_in_words(one), _threshold(one), *(with_ends(one[name]) for name in CALLED)] for one in found]
    share = Digits.of_width(2 / first.n_samples**0.5)
    rows.append(["without a model", "", "", "", share(first.prevalence), share(1 - first.prevalence)])
    header = ["chosen by", "threshold", *CALLED.values()]
    return Cells(header, rows, marked=(0,), soft=(len(rows) - 1,))


def _choice_in_words(found: AtThreshold) -> str:
    if found.meaning == "fixed beforehand":
        return f"fixed at {found.choice}"
    named = found.choice in ("youden", "f1")  # all others say in words what they ask for
    return f"{_sentence(found.choice)}: {found.meaning}" if named else _sentence(found.meaning)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _threshold(found: AtThreshold) -> str:
    return formatting.cutoff(found.threshold, "{:.3g}".format)


def with_ends(share: Share) -> str:
    """A share with its interval, as many digits as the interval leaves meaningful."""
    if share.interval is None:
        return Digits(2)(share.value)
    low, high = share.interval
    say = Digits.of_width(high - low)
    return f"{say(share.value)} ({say(low)} to {say(high)})"


def about_thresholds(found: Sequence[AtThreshold], graded: str) -> str:
    """What the table of thresholds says, in sentences."""
    first = found[0]
    level, selects = f"{100 * first.confidence_level:g}%", first.n_configs > 1
    chooses = "selects a configuration and chooses the threshold" if selects else "chooses the threshold"
    both = "both choices" if selects else "the choice"
    return (
        f"A sample is predicted {first.positive} if its {graded} is above the threshold. Each bootstrap draw {chooses} on the "
        f"samples it drew, and counts on the others; so the shares are corrected for {both}. "
        f"In brackets: {level} intervals. PPV and NPV hold where, as here, {first.n_positive:,} of "
        f"{formatting.count(first.n_samples, 'sample')} are {first.positive}. The first row is the threshold to use."
    )


# -- the data -------------------------------------------------------------------------------------------------


def column_cells(data: Mapping[str, Any]) -> Cells:
    """A row for each column of the table that the predictions were made from."""
    header = ["column", "used as", "type", "missing", "distinct", "treatment"]
    rows, marked = [], []
    for i, column in enumerate(data.get("columns") or ()):
        missing, distinct = column.get("missing"), column.get("distinct")
        told = [str(column.get(key) or "") for key in ("treatment", "reason", "warning")]
        rows.append(
            [
                str(column.get("name", "")),
                str(column.get("role") or ""),
                str(column.get("kind") or ""),
                "" if missing is None else _share(float(missing)),
                "" if distinct is None else f"{int(distinct):,}",
                "; ".join(part for part in told if part),
            ]
        )
        if told[2]:
            marked.append(i)
    return Cells(header, rows, tuple(marked)).without_empty()


def _share(value: float) -> str:
    """A percentage that is 0% and 100% only where it is."""
    if 0 < value < 0.001:
        return "<0.1%"
    return f"{value:.0%}" if value in (0, 1) else f"{min(value, 0.999):.1%}"


def data_facts(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How the file was read, and which rows were left out."""
    facts = [
        (str(key), _words(value)) for key, value in dict(data.get("file") or {}).items() if value not in (None, "", [])
    ]
    for row in data.get("rows") or ():
        if isinstance(row, Mapping):
            n, why = row.get("n"), str(row.get("reason", ""))
            facts.append(("rows left out", f"{int(n):,}: {why}" if n is not None else why))
        else:
            facts.append(("rows left out", str(row)))
    used = [column for column in data.get("columns") or () if column.get("role") == "feature"]
    if used:
        facts.append(("columns", f"{len(data['columns']):,}, of which {formatting.count(len(used), 'feature')}"))
    return facts + [("came true", words) for words in data.get("ledger") or ()]


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value))
    return str(value)


# -- configurations and comparisons -----------------------------------------------------------------------------


def baseline_cells(baseline: Baseline | None, say: Digits) -> list[tuple[str, str]]:
    """What a model that learnt nothing scores: its name and its score; nothing where that is not known."""
    return [] if baseline is None else [(baseline.of, say(baseline.value))]


def comparison_cells(found: Comparisons) -> Cells:
    """Each configuration minus the selected one, then the test."""
    header = ["configuration", "difference", f"{100 * found.terms.confidence_level:g}% CI", "p", "adjusted p"]
    rows = []
    for pair in found:
        width = float("nan") if pair.interval is None else pair.interval[1] - pair.interval[0]
        say = Digits.of_width(width)
        ends = "-" if pair.interval is None else " to ".join(say.signed(end) for end in pair.interval)
        p, adjusted = ("-" if p is None else formatting.pvalue(p) for p in (pair.pvalue, pair.adjusted))
        rows.append([pair.a, say.signed(pair.difference), ends, p, adjusted])
    return Cells(header, rows)


def notes_of(found: Comparisons) -> dict[str, str]:
    """The caveats of all pairs, each once."""
    return {note.code: note.text for pair in found for note in pair.notes}


def joined(parts: Iterable[str]) -> str:
    """Sentences that there are, one after the other."""
    return " ".join(part for part in parts if part)
