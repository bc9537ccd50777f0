"""What is meant for LaTeX, compiled: hostile and long names, letters of other scripts, failed cells, comparisons, BibTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from report_cases import HOSTILE, two_classes

import outfold as of
from internals import _entries, escape_latex

NAMES = [
    *HOSTILE,
    "a%b_c&d$e#f\\g{h}i~j^k<l>m|n",
    "[x] as an argument of the row before",
    "*star",
    "日本語の設定, emoji \N{GRINNING FACE}",
    "é ü ñ ą đ ß « » €",
    "α ≤ 0.5 × β − ∞",
    "--two--hyphens---",
    "long_name_without_spaces_" * 12,
    "logit(C=0.1, penalty='l2', solver=\"liblinear\", max_iter=1000, tol=0.0001, class_weight=balanced)",
]
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
%s
\nocite{*}
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""


def compiled(folder, body: str, bibtex: str) -> str:
    """The log of pdflatex, which stops at any error."""
    for program in ("pdflatex", "bibtex"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}, of a TeX distribution")
    (folder / "paper.tex").write_text(DOCUMENT.replace("%s", body), encoding="utf-8")
    (folder / "references.bib").write_text(bibtex, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for command in (latex, ["bibtex", "paper"], latex, latex):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Warning--" not in done.stdout, done.stdout[-2000:]
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
    return (folder / "paper.log").read_text(encoding="latin-1")


def test_hostile_and_long_names_compile_and_fit_the_page(tmp_path):
    made = of.report(two_classes(c=len(NAMES), configs=NAMES), "accuracy", n_resamples=50)
    log = compiled(tmp_path, made.to_latex(), made.bibtex)
    assert not re.search(r"Overfull \\hbox \(\d{2,}", log)  # a tenth of an inch and more beyond the margin
    assert "undefined" not in log


def test_failed_cells_and_one_test_set_compile(tmp_path):
    oof = two_classes(r=2, c=6)
    data, state = np.array(oof.data), np.array(oof.state)
    data[1, 3], state[3, 1] = np.nan, of.State.FAILED
    failed = replace(oof, data=data, state=state)
    right = of.from_arrays(None, np.random.default_rng(0).random((80, 30)) < 0.7, response="pointwise")
    made = [of.report(failed, "roc_auc", n_resamples=50), of.report(right, n_resamples=50)]
    compiled(tmp_path, "\n\n".join(report.to_latex() for report in made), made[1].bibtex)


def test_tables_of_results_compile(tmp_path):
    oof = two_classes(c=4, configs=NAMES[:4])
    pairs = of.compare.pairs(oof, "accuracy")
    compiled(tmp_path, pairs.to_latex(), of.cite(pairs))


def test_the_whole_bibliography_compiles(tmp_path):
    compiled(tmp_path, "All of it.", "\n\n".join(_entries().values()))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"50% a_b & $x$ #1 {y}", r"50\% a\_b \& \$x\$ \#1 \{y\}"),
        (r"\input{x} ~ ^", r"\textbackslash{}input\{x\} \textasciitilde{} \textasciicircum{}"),
        ("a---b", "a-{}-{}-b"),
        ("`x'", r"\textasciigrave{}x\textquotesingle{}"),
        ("β ≤ 1", r"$\beta$ $\leq$ 1"),
        ("né 你好!", r"né \ifdefined\Umathcode 你好\else ?\fi{}!"),
        ("two\nlines\tand", "two lines and"),
    ],
)
def test_what_tex_would_read_is_escaped(text, escaped):
    assert escape_latex(text) == escaped
