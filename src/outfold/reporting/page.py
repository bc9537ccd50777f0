"""The html page, and a server that shows it. Everything a user typed is escaped here."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import webbrowser
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from .. import formatting
from .._version import __version__
from ..charts.description import Chart
from ..charts.estimates import has_own, meaning
from ..charts.svg import escape
from ..charts.svg import render as render_svg
from ..exceptions import FileError
from ..formatting import Digits, called
from ..results import Finding
from . import tables
from .tables import Cells
from .text import Rounding, about_scores

if TYPE_CHECKING:
    from .document import Report

# Attributes of elements.
_SORTED, _WON = ' aria-sort="ascending"', ' class="won"'
_LETTERS = 160  # of a name in large letters; the table has all of them
_FEW = 20  # rows of the table before "show all"
# Where pictures stand; all others follow the table of configurations.
_HERO, _COMPARED = "optimism", "difference"
_RANKED = ("configurations", "selection")
_PREDICTED = ("roc", "precision_recall", "calibration", "confusion", "predicted", "residuals", "importance")


def render(report: Report) -> str:
    """The page."""
    script = _file("page.js")
    sections = [(name, title, body) for name, title, body in _sections(report) if body]
    return Template(_file("template.html")).substitute(
        version=escape(__version__),
        title=escape(report.title),
        headline=escape(report.headline),
        cautions=_cautions(report),
        key=_key(report),
        hero="".join(_figure(p, hero=True) for p in report.pictures if p.name == _HERO),
        nav="".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in sections),
        sections="\n".join(_section(*section) for section in sections),
        style=_file("style.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        facts=_embedded(report.to_dict()),
    )


def _cautions(report: Report) -> str:
    """What to be careful about, one line each; the link leads to what to do."""
    items = "".join(
        f'<li><a class="code {escape(f.severity)}" href="#{escape(_anchor(f))}">{escape(f.severity)} {escape(f.code)}</a>'
        f"{_coded(f.text)}</li>"
        for f in report.cautions
    )
    return f'<ul class="cautions" aria-label="Cautions">{items}</ul>' if items else ""


def _anchor(finding: Finding) -> str:
    return f"check-{finding.code}"


def _key(report: Report) -> str:
    """The few numbers that matter."""
    found, say = report.estimate, Rounding(report.estimate)
    ends = ""
    if found.interval is not None:
        ends = f"{100 * found.confidence_level:g}% CI {say(found.interval.low)} to {say(found.interval.high)}"
    rows = [(f"{called(found.metric)}, {meaning(found)}", f"{escape(say(found.value))} <small>{escape(ends)}</small>")]
    for name, score in tables.baseline_cells(report.leaderboard.baseline, Digits(say.digits)):
        rows.append(("without learning anything", f'{escape(score)} <small class="wrap">{escape(name)}</small>'))
    if has_own(found):
        rows.append((found.own_name, escape(say(found.naive))))
        rows.append(("optimism", escape(f"{say.about}{say.signed(found.optimism)}")))
    name = escape(formatting.shorten(found.selected, _LETTERS))
    words = report.description
    rows.append(("selected", name if words is None else f'<p>{escape(words)}</p><small class="long">{name}</small>'))
    return '<dl class="key">' + "".join(f"<div><dt>{escape(k)}</dt><dd>{v}</dd></div>" for k, v in rows) + "</dl>"


@cache
def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _embedded(facts: Mapping[str, Any]) -> str:
    """Json that cannot end the script element around it."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False)
    for c in "<>&\u2028\u2029":
        text = text.replace(c, f"\\u{ord(c):04x}")
    # A half of a pair of surrogates cannot be written to a file.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{escape(title)}</h2>\n{body}\n</section>'


def _sections(report: Report) -> Iterable[tuple[str, str, str]]:
    yield "thresholds", "At a threshold", _thresholds(report)
    yield "how", "How it was found", _facts(report.how)
    yield "data", "Data", _data_section(report)
    yield "configurations", "Configurations", _configurations(report)
    elsewhere = (_HERO, _COMPARED, *_RANKED, *_PREDICTED)
    yield "evidence", "The evidence", _figures(p for p in report.pictures if p.name not in elsewhere)
    yield "predictions", "Its predictions", _figures(p for p in report.pictures if p.name in _PREDICTED)
    yield "comparisons", "Comparisons", _comparisons(report)
    yield "checks", "Checks", _checks(report)
    yield "methods", "For the paper", _methods(report)
    yield "again", "To repeat this", _facts(report.provenance) + _downloads(report)


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in rows)
    return f'<dl class="facts">{cells}</dl>'


def _table(cells: Cells, label: str, numbers_from: int = 1, style: str = "") -> str:
    """A table, which a phone shows as a card for each row: every cell knows the name of its column.

    The style says how many cells of a card stand side by side, where these are not three.
    """
    head = "".join(
        f'<th scope="col"{" class=n" if j >= numbers_from else ""}>{escape(name)}</th>'
        for j, name in enumerate(cells.header)
    )
    body = []
    for i, row in enumerate(cells.rows):
        look = "won" if i in cells.marked else "soft" if i in cells.soft else ""
        parts = [f'<td class="name"><span>{escape(row[0])}</span></td>']
        for j, (name, cell) in enumerate(zip(cells.header[1:], row[1:], strict=True), start=1):
            kind, shown = "n" if j >= numbers_from else "w", escape(cell)
            if kind == "n":
                shown = shown.replace(" to ", "&nbsp;to&nbsp;")  # an interval is not broken
            parts.append(f'<td class="{kind}{"" if cell else " none"}" data-l="{escape(name)}">{shown}</td>')
        body.append(f"<tr{f' class={look}' if look else ''}>{''.join(parts)}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="{f"cards {style}".strip()}"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )


def _thresholds(report: Report) -> str:
    if not report.thresholds:
        return ""
    lead = tables.about_thresholds(report.thresholds, report.graded)
    cells = tables.threshold_cells(report.thresholds)
    said = "".join(
        f'<p class="lead"><span class="code">{escape(note.code)}</span>{escape(f"{one.choice}: {note.text}")}</p>'
        for one in report.thresholds
        for note in one.notes
        if note.code == "OF221"
    )
    return f'<p class="lead">{escape(lead)}</p>{_table(cells, "Table of thresholds", style="two")}{said}'


def _data_section(report: Report) -> str:
    if not report.data:
        return ""
    cells = tables.column_cells(report.data)
    table = _table(cells, "Table of columns", len(cells.header), "four") if cells.rows else ""
    return f"{_facts(tables.data_facts(report.data))}{table}"


def _figures(pictures: Iterable[Chart]) -> str:
    drawn = "\n".join(_figure(picture) for picture in pictures)
    return f'<div class="figures">{drawn}</div>' if drawn else ""


def _figure(picture: Chart, hero: bool = False) -> str:
    title = "" if hero else f"<h3>{escape(picture.question)}</h3>"
    style = ' class="hero"' if hero else ""
    return f"<figure{style}>{title}{render_svg(picture, wide=hero)}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _configurations(report: Report) -> str:
    pictures = [p for p in report.pictures if p.name in _RANKED]
    metric, say = called(report.estimate.metric), Digits(Rounding(report.estimate).digits)
    columns = [("#", "n rank"), ("configuration", "name"), (metric, "n"), ("se", "n")]
    columns += [("selected in", "n"), ("time", "n"), ("status", "")]
    head = "".join(
        f'<th scope="col" class="{style}"{_SORTED if i == 0 else ""}><button type="button">{escape(name)}</button></th>'
        for i, (name, style) in enumerate(columns)
    )
    body = "".join(_row(row, say) for row in report.rows)
    foot = "".join(
        f'<tr class="soft"><td></td><td class="name"><span>{escape(name)}</span></td>'
        f'<td class="n">{escape(score)}</td><td colspan="4"></td></tr>'
        for name, score in tables.baseline_cells(report.leaderboard.baseline, say)
    )
    lead = (
        f"{escape(about_scores(report.estimate))} "
        "&ldquo;Selected in&rdquo; is the share of bootstrap draws that select the configuration."
    )
    return f"""<p class="lead">{lead}</p>
{_figures(pictures)}
<div class="tools"><label for="filter">Filter <input id="filter" type="search" autocomplete="off"></label>
<span class="count" id="count" role="status"></span></div>
<div class="scroll" tabindex="0" role="region" aria-label="Table of configurations">
<table id="board" class="cards" data-few="{_FEW}"><thead><tr>{head}</tr></thead>
<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>
<p class="more screen"><button type="button" class="button" id="more" hidden></button></p>"""


def _row(row: Mapping[str, Any], say: Digits) -> str:
    # The style names the cells on a phone: with a name in each, the page of a thousand configurations would be too large.
    cells = [
        _number_cell(row["rank"], str),
        f'<td class="name"><span>{escape(row["config"])}</span></td>',
        _number_cell(row["score"], say),
        _number_cell(row["se"], say),
        _number_cell(row["selected_share"], lambda v: f"{v:.1%}"),
        _number_cell(row["seconds"], formatting.seconds),
        f"<td>{escape(row['status'])}</td>",
    ]
    return f"<tr{_WON if row['status'] == 'selected' else ''}>{''.join(cells)}</tr>"


def _number_cell(value: float | None, say: Any) -> str:
    if value is None or not math.isfinite(value):
        return '<td class="n none" data-v="">-</td>'
    return f'<td class="n" data-v="{value!r}">{say(value)}</td>'  # digits and units: nothing to escape


def _comparisons(report: Report) -> str:
    found = report.comparisons
    if found is None:
        return f'<p class="lead">{escape(report.no_comparison)}</p>'
    cells = tables.comparison_cells(found)
    notes = "".join(
        f'<p class="lead"><span class="code">{escape(code)}</span>{escape(words)}</p>'
        for code, words in tables.notes_of(found).items()
    )
    picture = _figures(p for p in report.pictures if p.name == _COMPARED)
    why = escape(found.reason or f"{found.terms.description} [{found.terms.reference}]")
    n = len(cells.rows)
    next_ones = f"{n} configurations by score, each" if n > 1 else "configuration by score"
    return f"""<p>The next {next_ones} minus the selected configuration, {escape(report.estimate.selected)}.</p>
<p class="lead">{why}</p>
{picture}
{_table(cells, "Table of comparisons")}
{notes}"""


def _checks(report: Report) -> str:
    if not len(report.checks):
        return '<p class="lead">Nothing found.</p>'
    lead = "Caveats that apply to these predictions. Do not report the number while there is an error."
    return f'<p class="lead">{lead}</p>{_list(report.checks)}'


def _list(findings: Iterable[Finding]) -> str:
    items = "".join(
        f'<li id="{escape(_anchor(f))}"><p><span class="code {escape(f.severity)}">{escape(f.code)} {escape(f.severity)}</span>'
        f"{_coded(f.text)}</p>"
        f'<p class="do">{"" if f.advice == "Nothing." else _coded(f.advice)}</p></li>'
        for f in findings
    )
    return f'<ul class="checks">{items}</ul>' if items else ""


def _coded(words: str) -> str:
    """Escaped words, with the words between backticks as code."""
    parts = escape(words).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts))


def _methods(report: Report) -> str:
    return f"""<p class="lead">A paragraph to start from, with the numbers filled in, and its references.</p>
<blockquote id="paragraph">{escape(report.methods)}</blockquote>
<p class="screen"><button type="button" class="button" data-copy="paragraph">Copy the paragraph</button>
<button type="button" class="button" data-copy="bibtex">Copy the BibTeX</button></p>
<pre id="bibtex" tabindex="0" role="region" aria-label="BibTeX">{escape(report.bibtex)}</pre>"""


def _downloads(report: Report) -> str:
    table = base64.b64encode(formatting.clean(report.to_csv()).encode("utf-8", "replace")).decode()
    link = f"data:text/csv;charset=utf-8;base64,{table}"
    return f"""<p class="tools screen"><a class="button" download="configurations.csv" href="{link}">Configurations as csv</a>
<button type="button" class="button" id="json">Everything as json</button></p>"""


# -- the server -----------------------------------------------------------------------------------------------

HOST = "127.0.0.1"  # loopback: nobody else on the network can ask

# What a path of the server holds: its type and content; None if there is no such path.
Answer = Callable[[str], tuple[str, bytes] | None]


def _only(html: str) -> Answer:
    page = "text/html", html.encode("utf-8", "replace")
    return lambda path: page if path in ("/", "/report.html") else None


class _Page(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        # A page elsewhere whose name was made to lead to this computer may not read the report.
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        found = self.server.answer(self.path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, content = found
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815  (the name that the base class asks for)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are of no interest."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, answer: Answer) -> None:
        super().__init__((HOST, port), _Page)
        self.answer = answer
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}


def serve(page: str | Answer, port: int = 0, *, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Serve a page, or what a function answers for a path, until Ctrl-C.

    Port 0 takes one that is free, `say` is called with the address.
    """
    try:
        server = _Server(port, page if callable(page) else _only(page))
    except (OSError, OverflowError) as error:
        given = f"port {port} cannot be used ({error})"
        remedy = "Give another `port`, or none."
        raise FileError(argument="port", needed="must be free", given=given, remedy=remedy) from error
    with server:
        address = f"http://{HOST}:{server.server_port}/"
        say(address)
        if browser:
            webbrowser.open(address)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return
