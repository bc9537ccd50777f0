"""The papers of ``references.bib``: for a result by `cite`, and in words for docstrings."""

from __future__ import annotations

import pkgutil
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from .exceptions import InputError, got, invalid

# A name with a capital letter, then anything but another paper, then the year.
_PAPER = re.compile(r"([A-Z][\w'-]+)[^;\d]*?\b((?:18|19|20)\d\d)\b")


def cite(result: Any) -> str:
    """BibTeX entries of the papers behind a result, in the order in which it names them.

    Parameters
    ----------
    result : object
        An estimate, a comparison, a ranking, a report, or anything else that has a reference; a reference as text; or
        several of these in a list.

    Returns
    -------
    str
        BibTeX entries, separated by blank lines.

    Examples
    --------
    >>> import outfold as of
    >>> print(of.cite("Nadeau & Bengio 2003").splitlines()[0])
    @article{nadeau2003,
    """
    return "\n\n".join(_entries()[key] for key in keys_of(result))


def keys_of(result: Any) -> tuple[str, ...]:
    """Keys of the papers, each once."""
    keys = dict.fromkeys(key for text in references_of(result) for key in _keys_in(text))
    if isinstance(result, str) and not keys:
        needed = "must be a name and a year as printed, such as 'Holm 1979'"
        raise invalid("result", needed, got(result))
    unknown = [key for key in keys if key not in _entries()]
    if unknown:
        problem = f"there is no BibTeX entry for {', '.join(unknown)}"
        raise InputError(problem, remedy="Cite it by its reference as printed.")
    return tuple(keys)


def _keys_in(reference: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKD", reference)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    for name, year in _PAPER.findall(plain):
        yield re.sub(r"\W", "", name).lower() + year


def references_of(result: Any) -> Iterable[str]:
    """The references of a result and of the results it is made of, as printed."""
    if isinstance(result, str):
        return [result]
    if hasattr(result, "references"):
        return list(result.references)
    if hasattr(result, "reference"):
        return [result.reference]
    if hasattr(result, "terms"):  # many pairs: the test of all at once, the test of pairs, how p values are adjusted
        omnibus = [] if result.omnibus is None else [result.omnibus.reference]
        adjusted = [] if result.adjusted is None else [_ADJUSTED.get(result.adjust, "")]
        return [*omnibus, result.terms.reference, *adjusted]
    if isinstance(result, Sequence):
        return [text for one in result for text in references_of(one)]
    needed = "must have a reference, as an Estimate or a Comparison has"
    raise invalid("result", needed, f"got {type(result).__name__}")


_ADJUSTED = {
    "holm": "Holm 1979",
    "bonferroni": "Dunn 1961",
    "bh": "Benjamini & Hochberg 1995",
    "westfall_young": "Westfall & Young 1993",
}


@cache
def _entries() -> dict[str, str]:
    text = (pkgutil.get_data(__package__, "references.bib") or b"").decode()
    found = re.findall(r"^(@\w+\{(\w+),.*?^\})", text, re.M | re.S)
    return {key: entry for entry, key in found}


def reference(key: str) -> str:
    """The paper of that key in words, as docstrings cite it.

    >>> reference("fisher1935")
    'Fisher, R. A. (1935). The Design of Experiments. Oliver and Boyd.'
    """
    found = re.findall(r"^  (\w+) += \{(.*)\},$", _entries()[key], re.M)
    fields = {name: re.sub(r"\\.|[{}]", "", text).replace("--", "-") for name, text in found}
    *first, last = (_with_initials(author) for author in fields["author"].split(" and "))
    authors = f"{', '.join(first)} and {last}" if first else last
    title = fields["title"] + ("" if fields["title"].endswith("?") else ".")
    return f"{authors} ({fields['year']}). {title} {_published(fields)}."


def _with_initials(author: str) -> str:
    family, comma, given = author.partition(", ")
    return family + comma + re.sub(r"(\w)[^ -]*", r"\1.", given)


def _published(fields: dict[str, str]) -> str:
    if "eprint" in fields:
        return f"arXiv:{fields['eprint']}"
    if "school" in fields:
        return f"PhD thesis, {fields['school']}"
    if "institution" in fields:
        return f"Technical report {fields['number']}, {fields['institution'].rpartition(', ')[2]}"
    where = next(fields[name] for name in ("journal", "booktitle", "publisher") if name in fields)
    numbers = [fields[name] for name in ("volume", "pages") if name in fields]
    return f"{where}{' ' if 'volume' in fields else ', '}{', '.join(numbers)}" if numbers else where
