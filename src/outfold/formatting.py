"""How numbers and tables look, in text and in html; the only place that formats them."""

from __future__ import annotations

import html
import importlib.util
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .exceptions import InputError


def number(value: float | None, sign: bool = False) -> str:
    """Four digits after the point, or four significant ones where that says more or takes less room."""
    if value is None or not np.isfinite(value):
        return "undefined" if value is not None else "none"
    plus = "+" if sign else ""
    # A difference rounds to four digits, unless nothing would be left; what is smaller still is the rounding of floats.
    if value == 0 or (1e-3 <= abs(value) < 1e3) or (sign and (5e-5 <= abs(value) < 1e3 or abs(value) < 1e-9)):
        return f"{value:{plus}z.4f}"
    return f"{value:{plus}.4g}"


def cutoff(value: float, say: Callable[[float], str] = number) -> str:
    """A threshold of probabilities or scores; the number next to 0 takes all probabilities, and is called ``below 0``.

    >>> cutoff(0.5), cutoff(-5e-324), cutoff(-0.5)
    ('0.5000', 'below 0', '-0.5000')
    """
    return "below 0" if takes_all(value) else say(value)


def takes_all(threshold: float) -> bool:
    """Whether a threshold is the number next to 0, which takes all probabilities.

    >>> takes_all(-5e-324), takes_all(0), takes_all(-0.5)
    (True, False, False)
    """
    return -sys.float_info.min < threshold < 0


def interval(low: float, high: float, level: float, sign: bool = False) -> str:
    """``95% CI [0.8120, 0.9330]``."""
    return f"{100 * level:g}% CI [{number(low, sign)}, {number(high, sign)}]"


class Digits(NamedTuple):
    """Writes numbers with this number of digits after the point."""

    digits: int

    @classmethod
    def of_width(cls, width: float) -> Digits:
        """As many as an interval of this width leaves meaningful: two of its digits; four where there is no interval."""
        if not math.isfinite(width) or width <= 0:
            return cls(4)
        return cls(min(1 - math.floor(math.log10(width)), 12))

    def __call__(self, value: float | None) -> str:
        """The number, or a dash where it is undefined."""
        if value is None or not math.isfinite(value):
            return "-"
        return f"{round(value, self.digits):z,.{max(self.digits, 0)}f}"

    def signed(self, value: float) -> str:
        """The number with its sign; 0 has none."""
        text = self(value)
        return text if text.startswith("-") or not text.strip("0.,") else f"+{text}"


def pvalue(value: float) -> str:
    """Four digits, or the power of ten of a smaller one; never ``0.0000``."""
    return f"{value:.4f}" if value >= 1e-3 or value == 0 else f"{value:.1e}"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """``1 sample``, ``80 samples``, ``12,000 samples``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def between_commas(names: Iterable[str]) -> str:
    """Names as the options of the command line take them, one with a comma in quotation marks.

    >>> between_commas(["age", "height, cm"])
    'age,"height, cm"'
    """
    import csv  # the command line alone needs them
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def listed(names: Sequence[Any], most: int = 5) -> str:
    """``'a', 'b'``, or ``'a', 'b' and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name)) for name in names[:most]) + more


# What readers of papers call them; other metrics go by their names.
_CALLED = {name: name.upper() for name in ("f1", "mae", "mcc", "mse", "r2", "rmse")}
_CALLED |= {"brier": "Brier score", "integrated_brier": "integrated Brier score", "roc_auc": "AUC"}


def called(metric: str) -> str:
    """The metric as a paper would call it."""
    return _CALLED.get(metric, metric.replace("_", " ") if metric.isidentifier() else metric)


def seconds(value: float) -> str:
    """``40 ms``, ``0.4 s``, ``12 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if 0 < value < 0.1:
        return f"{1000 * value:.2g} ms"
    if value < 60:
        return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def shorten(text: str, width: int) -> str:
    """Cut in the middle, where names of configurations differ least."""
    if len(text) <= width:
        return text
    keep = width - 1
    return text[: keep - keep // 2] + "…" + text[len(text) - keep // 2 :]


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title and indented ``key   value`` lines."""
    rows = list(rows)
    width = max((len(k) for k, _ in rows), default=0)
    return "\n".join([title, *(f"  {k:<{width}}   {one_line(v)}" for k, v in rows)])


def facts_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """The same as `facts`, as a small html table; everything is escaped."""
    row = "<tr><th style='text-align:left'>{}</th><td style='text-align:left'>{}</td></tr>"
    cells = "".join(row.format(html.escape(k), html.escape(v)) for k, v in rows)
    table = f"<table>{cells}</table>" if cells else ""  # readers of a page announce a table, also one without rows
    return f"<div class='outfold'><b>{html.escape(title)}</b>{table}</div>"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], left: Sequence[int] = (0,)) -> str:
    """A plain text table; the columns in `left` are left-aligned."""
    cells = [[one_line(c) for c in header], *([one_line(c) for c in row] for row in rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    lines = [
        "  ".join(c.ljust(w) if j in left else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def table_html(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same as `table`, in html; everything is escaped."""
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table class='outfold'><tr>{head}</tr>{body}</table>"


# What no document may hold, and what would turn the direction of the text around it.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


def clean(text: object, instead: str = "\N{REPLACEMENT CHARACTER}") -> str:
    """The text without characters that are not seen."""
    text = str(text)
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(instead, text)


def one_line(text: object) -> str:
    """The text on one line, without characters that are not seen."""
    return re.sub("[\t\n\r]", " ", clean(text))


def csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet takes for text where it is text: a name is never a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def json_ready(value: Any) -> Any:
    """What json can hold: numpy's numbers become Python's, what is not finite becomes null."""
    kind = type(value)
    if kind in (str, int, bool) or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): json_ready(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(v) for v in value]
    if hasattr(value, "tolist"):
        return json_ready(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


# Longer values are shortened in names of configurations.
_VALUE_WIDTH = 40


def compact(value: Any) -> str:
    """A parameter's value as written in the name of a configuration."""
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    text = str(value) if isinstance(value, np.generic) else " ".join(repr(value).split())
    return shorten(text, _VALUE_WIDTH)


def make_frame(columns: dict[str, Any], backend: str | None = None) -> Any:
    """A data frame of these columns, in pandas where installed, else polars, or in the `backend` named."""
    if backend is None:
        backend = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name)), None)
        if backend is None:
            remedy = "Install one of them: pip install 'outfold[frames]'."
            raise InputError("a frame needs pandas or polars", remedy=remedy, page="extras")
    import narwhals as nw

    try:
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]  # any name the user gives
    except (ImportError, ModuleNotFoundError):
        raise InputError(f"{backend} is not installed", remedy=f"Run: pip install {backend}.", page="extras") from None


def read_sentences(text: str) -> dict[str, str]:
    """Sentences by their keys: ``key: sentence`` at the beginning of a line, continued on lines that are indented."""
    return {
        key: " ".join(words.split()) for key, words in re.findall(r"^(\w+): (.*\n(?:    .*\n)*)", text, re.MULTILINE)
    }
