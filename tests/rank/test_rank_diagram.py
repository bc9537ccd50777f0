"""The critical difference diagram, three ways from one layout."""

from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from extras import mpl, plt
from internals import _diagram
from outfold.exceptions import InputError

NAMES = ["plain", "R&D <1>", "$k$_5%", r"a{b}\c", "svm", "mlp", "tree"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def ranking():
    scores = np.random.default_rng(3).normal(size=(15, 7)) + np.linspace(0, 2.5, 7)
    return of.rank.nemenyi(scores, algorithms=NAMES)


def test_layout_puts_everything_in_its_place(ranking):
    made = ranking.layout()
    assert [label.name for label in made.labels] == list(ranking.order)
    unit = made.ticks[1].x - made.ticks[0].x
    for label in made.labels:
        assert label.x == pytest.approx(made.axis.left + unit * (label.rank - 1))
        assert 0 < label.y < made.height
    for side in ("left", "right"):
        rows = [label.y for label in made.labels if label.side == side]
        assert len(set(rows)) == len(rows)
    assert made.cd.right - made.cd.left == pytest.approx(ranking.cd * unit)
    assert len(made.bars) == len(ranking.groups) >= 2
    places = {label.name: label.x for label in made.labels}
    for bar, group in zip(made.bars, ranking.groups, strict=True):
        assert bar.left < places[group[0]] <= places[group[-1]] < bar.right
        assert made.axis.y < bar.y < min(label.y for label in made.labels)


def test_elbows_do_not_cross_names(ranking):
    """On the left a lower row belongs to a rank further right, so that no line passes through another's."""
    left = [label for label in ranking.layout().labels if label.side == "left"]
    right = [label for label in ranking.layout().labels if label.side == "right"]
    assert [label.y for label in left] == sorted(label.y for label in left)
    assert [label.y for label in right] == sorted((label.y for label in right), reverse=True)


def test_overlapping_bars_stand_on_levels_of_their_own():
    ranked = [(f"a{i}", float(i)) for i in range(1, 10)]
    made = _diagram.layout(ranked, [("a1", "a3"), ("a2", "a4"), ("a6", "a8")], 2.0, None)
    assert made.bars[0].y == made.bars[2].y < made.bars[1].y


def test_svg_is_well_formed_and_names_are_escaped(ranking):
    root = ET.fromstring(ranking.to_svg())
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert set(NAMES) <= set(texts)
    assert f"CD = {ranking.cd:.3g}" in texts
    bars = [node for node in root.iter(f"{SVG}line") if node.get("stroke") == _diagram.BAR]
    assert len(bars) == len(ranking.groups)


def test_svg_is_well_formed_whatever_the_names_are():
    names = ["a\x00b", "c\x1b[1m", "d\ud800", "e\uffff", "\U0001f600\tf"]
    found = of.rank.nemenyi(np.random.default_rng(0).normal(size=(12, 5)), algorithms=names)
    texts = {node.text for node in ET.fromstring(found.to_svg().encode()).iter(f"{SVG}text")}
    assert {"a\ufffdb", "c\ufffd[1m", "d\ufffd", "e\ufffd", "\U0001f600\tf"} <= texts


def test_tikz_is_balanced_and_names_are_escaped(ranking):
    text = ranking.to_tikz()
    assert text.startswith(r"\begin{tikzpicture}")
    assert text.rstrip().endswith(r"\end{tikzpicture}")
    assert r"{R\&D \textless{}1\textgreater{}};" in text
    assert r"{\$k\$\_5\%};" in text
    assert r"{a\{b\}\textbackslash{}c};" in text
    bare = text.replace(r"\{", "").replace(r"\}", "")
    depth = np.cumsum([(c == "{") - (c == "}") for c in bare])
    assert depth.min() >= 0
    assert depth[-1] == 0
    drawn = [line for line in text.splitlines() if line.startswith((r"\draw", r"\node"))]
    assert all(line.endswith(";") for line in drawn)


def test_control_is_bold_and_has_one_bar():
    scores = np.random.default_rng(3).normal(size=(15, 4)) + np.arange(4)
    found = of.rank.bonferroni_dunn(scores, control="a&b", algorithms=["x", "y", "a&b", "z"])
    assert 'font-weight="bold">a&amp;b<' in found.to_svg()
    assert r"\textbf{a\&b}" in found.to_tikz()
    assert len(found.layout().bars) == len(found.groups) <= 1


def test_omnibus_alone_has_neither_bars_nor_critical_difference():
    made = of.rank.friedman(np.random.default_rng(0).random((12, 3))).layout()
    assert made.bars == ()
    assert made.cd is None


def test_matplotlib_draws_the_same(ranking):
    mpl.use("Agg")
    ax = of.plot.critical_difference(ranking)
    assert set(NAMES) <= {text.get_text() for text in ax.texts}
    assert sum(line.get_color() == _diagram.BAR for line in ax.lines) == len(ranking.groups)
    ax.figure.canvas.draw()  # a name with dollar signs is no formula
    mine = plt.figure().add_subplot()
    assert of.plot.critical_difference(ranking, ax=mine) is mine
    plt.close("all")


def test_plot_without_matplotlib_says_what_to_do(ranking, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install 'outfold\[plot\]'"):
        of.plot.critical_difference(ranking)
    assert ranking.to_svg().startswith("<svg")


def test_plot_of_something_else():
    with pytest.raises(InputError, match="needs a Ranking"):
        of.plot.critical_difference(1.0)


def test_the_picture_of_the_documentation_is_the_one_its_script_makes():
    import runpy

    root = Path(__file__).parents[2]
    script = runpy.run_path(str(root / "studies" / "critical_difference.py"))
    assert (root / "docs" / "pictures" / "critical_difference.svg").read_text() == script["picture"]()
