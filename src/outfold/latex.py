"""Text and tables as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .formatting import clean

# Letters on a line of a page: of a name, beside other columns; and of all columns together.
_NAME_LETTERS, _LINE_LETTERS = 50, 66
# In small type, as shares of a line: what may be filled, a letter, and the gaps beside a column.
_FILLED, _SMALL_LETTER, _SMALL_GAP = 0.98, 0.0128, 0.018
# Columns of fewer letters are not worth breaking, and those of twice as many get as much room as wider ones.
_SHORT = 12
_UNBROKEN = "l"


def table_latex(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table for LaTeX with booktabs; everything is escaped, and what is too wide for a page is broken."""
    texts = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    small = min(widths[0], _NAME_LETTERS) + sum(widths[1:]) > _LINE_LETTERS
    columns = _small_columns(widths) if small else _columns(widths)
    end = r" \\" if columns[-1] == _UNBROKEN else r" \tabularnewline"  # `\\` is another command in a broken cell
    first, *lines = (_protected(" & ".join(_cells(row, columns))) + end for row in texts)
    body = [rf"\begin{{tabular}}{{{''.join(columns)}}}", r"\toprule", first, r"\midrule", *lines, r"\bottomrule"]
    body.append(r"\end{tabular}")
    return "\n".join([r"{\footnotesize\setlength{\tabcolsep}{3pt}%", *body, "}"] if small else body)


def _columns(widths: Sequence[int]) -> list[str]:
    """How LaTeX sets the columns of a table that fits a page, if its names are broken."""
    columns = [_UNBROKEN] * len(widths)
    if widths[0] > _NAME_LETTERS:
        columns[0] = rf"p{{{0.5 if len(widths) < 4 else 0.2}\linewidth}}"
    return columns


def _small_columns(widths: Sequence[int]) -> list[str]:
    """How LaTeX sets the columns of a table in small type: the wide ones share what the short ones leave of the line."""
    weights = [min(width, 2 * _SHORT) if width > _SHORT else 0 for width in widths]
    left = _FILLED - _SMALL_GAP * len(widths) - _SMALL_LETTER * sum(width for width in widths if width <= _SHORT)
    shares = [max(left, 0.1) * weight / max(sum(weights), 1) for weight in weights]
    return [f"p{{{share:.3f}\\linewidth}}" if share else _UNBROKEN for share in shares]


def _cells(row: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The cells of a row, escaped; the name in the first one may be broken where its column is."""
    first = (escape_latex if columns[0] == _UNBROKEN else breakable_latex)(row[0])
    cells = zip([first, *map(escape_latex, row[1:])], columns, strict=True)
    return [cell if how == _UNBROKEN else rf"\raggedright {cell}" for cell, how in cells]


def breakable_latex(name: str) -> str:
    """The name, escaped; it may be broken after marks of punctuation."""
    marks = r"(\\(?:[_&#$%{}]|text\w+\{\})|[,=(/;:])(?=\S)"
    return re.sub(marks, r"\1\\allowbreak{}", escape_latex(name))


# fmt: off
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta",
    "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}
# fmt: on
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "…": r"\dots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    **{c: "\\" + c for c in "&%$#_{}"},
    **{letter: f"$\\{name}$" for letter, name in _GREEK.items()},
}
# What pdfLaTeX takes unchanged (with T1 fonts): Latin letters and marks of punctuation. One may not know all of the rest.
_LATIN = set(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180)])) - set("ĦħĸĿŀŉŦŧſ") | set("–—‘’“”„•†‡€™")
_STRANGE = re.compile("[^" + re.escape("".join(sorted(_LATIN | set(_LATEX)))) + "]+")


def escape_latex(text: Any) -> str:
    """Text with TeX's special characters made harmless, on one line.

    Letters that pdfLaTeX does not have, such as Chinese ones, are shown by XeLaTeX and LuaLaTeX only, which \\Umathcode tells.
    """
    line = clean(" ".join(str(text).splitlines()), "?").replace("\t", " ")
    parts, at = [], 0
    for strange in _STRANGE.finditer(line):
        parts += [_escaped(line[at : strange.start()]), rf"\ifdefined\Umathcode {strange[0]}\else ?\fi{{}}"]
        at = strange.end()
    return "".join(parts) + _escaped(line[at:])


def _escaped(text: str) -> str:
    # Two hyphens would become a dash.
    return "".join(_LATEX.get(c, c) for c in text).replace("--", "-{}-").replace("--", "-{}-")


def _protected(line: str) -> str:
    """A row that TeX cannot take for an argument of the end of the row before."""
    return "{" + line[0] + "}" + line[1:] if line[:1] in ("[", "*") else line
