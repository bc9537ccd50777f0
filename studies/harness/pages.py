"""Pages in Markdown: tables, the head of a study's page, and the front page of all studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .runner import in_words
from .study import Result, Study, Verdict

WARNING = "<!-- made by studies/run.py from the result file; do not edit -->"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A table; None is an empty cell."""
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under {len(header)} headings: {list(row)}")
        lines.append(f"| {' | '.join('' if cell is None else str(cell) for cell in row)} |")
    return lines


def fixed(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A number with so many digits; nothing for None."""
    return "" if value is None else f"{value:{'+z' if sign else 'z'}.{digits}f}"


def made_of(result: Result) -> str:
    """How much work is behind a result."""
    done, all_of_them = result["units"], result["of"]
    part = f"all {done:,}" if done == all_of_them else f"{done:,} of {all_of_them:,}"
    return f"{part} units of the full study, {in_words(result['cpu_seconds'])} of CPU time"


def study_page(study: Study, result: Result) -> str:
    """The page of a study: verdict, headlines, picture, and what the study says itself."""
    verdict = study.verdict(result)
    head = [
        WARNING,
        f"# {study.title}",
        "",
        f"After {study.source}. `make study NAME={study.name} FULL=1` makes this page, its picture and",
        f"[the result file](../../studies/results/{study.name}.json). Behind it: {made_of(result)}.",
        "",
        f"**{verdict.kind[0].upper()}{verdict.kind[1:]}.** {verdict.because}",
        "",
        *table(("", "paper", "ours"), verdict.headlines),
        "",
        f"![{study.title}](../pictures/studies/{study.name}.svg)",
        "",
    ]
    return "\n".join([*head, *study.page(result)]).rstrip("\n") + "\n"


def index_page(studies: Sequence[Study], results: Mapping[str, Result], others: Iterable[tuple[str, str, str]]) -> str:
    """The front page: each study with its verdict and headline numbers; then the studies that are not of a paper."""
    verdicts: dict[str, tuple[Study, Result, Verdict]] = {
        study.name: (study, results[study.name], study.verdict(results[study.name]))
        for study in studies
        if study.name in results
    }
    lines = [
        WARNING,
        "# Studies",
        "",
        "Most studies make tables and figures of a paper again, with Outfold's methods. Our numbers are beside the printed ones. "
        "`make study NAME=fold-number` runs a small part of a study in less than three minutes. With `FULL=1` it runs all of it: "
        "you may stop it at any time, and the same command goes on. Units that are in `studies/raw` are not run again; `RAW=` "
        "names another folder, to begin anew. The data sets of the papers are not part of the project. "
        "Where a study needs them, add `DATA=` and their folder, with one `NAME.parquet` for each.",
        "",
        "## Verdicts",
        "",
        "- **matched**: the printed numbers, within rounding or chance.",
        "- **same conclusion**: other numbers, for a reason that the page names; the paper's conclusion holds.",
        "- **partly the same**: some conclusions hold, others do not.",
        "- **differs**: our numbers contradict the paper's, and the page says why.",
        "- **too few repetitions**: not enough of the study has been run to say.",
        "- **ours**: a study without a counterpart in a paper.",
        "- **not run yet**: the study is written, and nothing of it has been run in full size.",
        "",
    ]
    rows = [_row(study, *verdicts[study.name][1:]) if study.name in verdicts else _open_row(study) for study in studies]
    lines += table(("study", "from", "verdict", "because", "done"), rows)
    lines += ["", "## Headline numbers", ""]
    headlines = [
        (f"[{name}]({name}.md)", *headline)
        for name, (*_, verdict) in verdicts.items()
        for headline in verdict.headlines
    ]
    lines += table(("study", "", "paper", "ours"), headlines)
    lines += ["", "## Other studies", "", "Scripts of their own, whose numbers are on other pages:", ""]
    lines += table(("script", "what it measures", "where"), others)
    return "\n".join(lines) + "\n"


def _row(study: Study, result: Result, verdict: Verdict) -> tuple[str, ...]:
    return (
        f"[{study.name}]({study.name}.md)",
        study.source,
        f"**{verdict.kind}**",
        verdict.because,
        _share(result),
    )


def _open_row(study: Study) -> tuple[str, ...]:
    return study.name, study.source, "**not run yet**", "", "nothing"


def _share(result: Result) -> str:
    done, all_of_them = result["units"], result["of"]
    return "all" if done == all_of_them else f"{done:,} of {all_of_them:,} units"
