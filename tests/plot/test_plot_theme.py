"""What all pictures have in common: colours that can be told apart, names as they are, matplotlib only when drawing."""

from __future__ import annotations

import builtins
import doctest
import inspect
import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outfold as of
from extras import mpl, plt
from internals import STYLES, TONES, collected, comparisons, shorten
from internals import mpl as drawing
from outfold.exceptions import InputError

mpl.use("Agg")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def contrast(a: str, b: str) -> float:
    low, high = sorted((drawing.luminance(a), drawing.luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_luminance_of_known_colours():
    assert drawing.luminance("#000000") == 0
    assert drawing.luminance("#FFFFFF") == pytest.approx(1)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)  # the darkest grey that just fails no test


def test_lines_differ_in_colour_dashes_and_marker():
    for what in ("tone", "dashes", "marker"):
        assert len({str(getattr(style, what)) for style in STYLES}) == len(STYLES), what


def test_colours_are_those_of_okabe_and_ito():
    palette = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert {TONES[style.tone] for style in STYLES} == palette - {"#F0E442"}


def test_lines_are_seen_on_white_and_text_is_read():
    for style in STYLES:
        assert contrast(TONES[style.tone], "#FFFFFF") >= 2
    for style in STYLES[:4]:
        assert contrast(TONES[style.tone], "#FFFFFF") >= 3  # what WCAG asks of graphics
    for tone in ("grey", "ink"):
        assert contrast(TONES[tone], "#FFFFFF") >= 4.5


def test_fills_are_told_apart_in_grey():
    for fills in (list(collected.STATES.values()), [one.tone for one in comparisons.VERDICTS]):
        for a, b in itertools.combinations(fills, 2):
            assert contrast(TONES[a], TONES[b]) >= 1.35, (a, b)


def test_scale_gets_darker_in_grey():
    shades = plt.get_cmap(drawing.SCALE)(np.linspace(0, 1, 50))
    light = [drawing.luminance("#" + "".join(f"{round(255 * c):02x}" for c in shade[:3])) for shade in shades]
    assert np.all(np.diff(light) < 0)


@given(st.from_regex(r"\A#[0-9a-f]{6}\Z"))
def test_text_on_a_colour_can_be_read(colour):
    assert contrast(drawing.on(colour), colour) >= 4.5
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    assert drawing.on(shares) == drawing.on(colour)


@given(
    st.lists(st.text(min_size=1, max_size=90), unique_by=lambda s: " ".join(s.split()) or s, min_size=1, max_size=12)
)
def test_short_names_stay_different(names):
    short = shorten(names, 30)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 30


def test_long_names_keep_what_differs():
    names = [f"pipeline(scaler=StandardScaler(), model=SVC(C={c}, kernel='rbf'), degree=3)" for c in (1, 10)]
    assert shorten([*names, "knn"]) == [
        "pipeline(s…C=1, kernel='rbf'), degree=3)",
        "pipeline(s…C=10, ker…l='rbf'), degree=3)",
        "knn",
    ]


NAMES = ["$k$_5%", "_hidden", "a\nb", "x" * 100]


@pytest.fixture(scope="module")
def awkward():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    P = rng.random((60, 4, 2))
    folds = np.stack([rng.permutation(np.arange(60) % 3) for _ in range(2)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="proba", configs=NAMES)


PICTURES = {
    "configurations": lambda oof: of.plot.configurations(oof, "accuracy", n_resamples=20),
    "repeats": lambda oof: of.plot.repeats(oof, "accuracy"),
    "cells": of.plot.cells,
    "pairwise": lambda oof: of.plot.pairwise(of.compare.pairs(oof, "accuracy")),
    "trace": lambda oof: of.plot.trace(oof, "accuracy"),
    "roc": lambda oof: of.plot.roc(oof, NAMES, n_resamples=5),
    "fold_scores": lambda oof: of.plot.fold_scores(oof, "accuracy", "$k$_5%"),
    "confusion": lambda oof: of.plot.confusion(oof, "$k$_5%"),
    "selection": lambda oof: of.plot.selection(of.estimate.bbc(oof, "accuracy", n_resamples=60)),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_names_are_names(awkward, picture, recwarn):
    ax = PICTURES[picture](awkward)
    ax.figure.canvas.draw()
    assert not [str(w.message) for w in recwarn if "Glyph" not in str(w.message)]
    found = [*ax.get_yticklabels(), *(ax.get_legend().get_texts() if ax.get_legend() else []), ax.title, *ax.texts]
    named = [t for t in found if any(name in (t.get_label(), t.get_text()) for name in NAMES)]
    assert all(not t.get_parse_math() for t in named)
    if picture not in ("fold_scores", "confusion"):
        assert set(NAMES) <= {t.get_label() for t in found}


def test_names_stay_names_when_drawn_again(awkward):
    ax = of.plot.repeats(awkward, "accuracy")
    ax.figure.canvas.draw()
    ax.set_xlim(0, 1)
    ax.figure.set_size_inches(8, 8)
    ax.figure.canvas.draw()
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())


def test_a_picture_without_matplotlib_says_what_to_do(awkward, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for picture in PICTURES.values():
        with pytest.raises(InputError, match=r"pip install 'outfold\[plot\]'"):
            picture(awkward)


def test_the_numbers_need_no_matplotlib():
    code = (
        "import sys, outfold.plot\n"
        "from outfold.charts import collected, comparisons, estimates, mpl, responses, svg\n"
        "print('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", of.plot.__all__)
def test_every_picture_takes_axes_and_has_an_example(name):
    function = getattr(of.plot, name)
    parameter = inspect.signature(function).parameters["ax"]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, None)
    assert f"of.plot.{name}(" in function.__doc__


@pytest.mark.parametrize("name", of.plot.__all__)
def test_the_example_runs(name):
    example = doctest.DocTestParser().get_doctest(getattr(of.plot, name).__doc__, {}, name, None, 0)
    said = []
    done = doctest.DocTestRunner().run(example, out=said.append, clear_globs=False)
    assert done.failed == 0, "".join(said)
    assert isinstance(example.globs["ax"], mpl.axes.Axes)


# -- the gallery ------------------------------------------------------------------------------------------


def test_gallery_shows_every_picture_by_its_code():
    text = (DOCS / "pictures.md").read_text()
    for name in of.plot.__all__:
        assert f"### {name}\n" in text, name
        assert f"| [`{name}`](#{name})" in text or f", [`{name}`](#{name})" in text, name
        assert f"of.plot.{name}(" in text, name
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        compile(block, "pictures.md", "exec")


def test_pictures_of_the_gallery_are_there_and_small():
    shown = set(re.findall(r"\]\(pictures/([\w.]+)\)", (DOCS / "pictures.md").read_text()))
    files = {path.name: path for path in (DOCS / "pictures").iterdir()}
    assert shown <= set(files)
    elsewhere = {"report.png"}  # in docs/report.md
    assert {name for name in files if name.endswith(".png")} <= shown | elsewhere
    for name in shown:
        assert files[name].stat().st_size < 60_000, name


# -- letters of other scripts ---------------------------------------------------------------------------------


def test_names_of_any_script_are_drawn_without_warnings(tmp_path, recwarn):
    names = ["日本語の設定", "한국어", "العربية", "emoji \N{GRINNING FACE}", "Größe αβ"]
    correct = np.random.default_rng(0).random((60, 5, 4)) < [[0.5], [0.6], [0.7], [0.7], [0.8]]
    oof = of.from_arrays(None, correct, configs=names, response="pointwise")
    ax = of.plot.configurations(oof, "mean", n_resamples=50)
    assert sorted(text.get_label() for text in ax.get_yticklabels() if text.get_label() in names) == sorted(names)
    of.plot.trace(oof, "mean")
    for number in plt.get_fignums():
        plt.figure(number).savefig(tmp_path / "names.png")
    assert not [w for w in recwarn if "Glyph" in str(w.message)]


def test_a_letter_that_no_font_has_is_a_box():
    assert drawing.drawable("C=0.1, Größe αβ") == "C=0.1, Größe αβ"
    assert drawing.drawable("a\U0010fffdb") == "a\N{WHITE SQUARE}b"


def test_fonts_of_the_user_come_first():
    with mpl.rc_context({"font.family": ["serif"]}):
        correct = np.random.default_rng(0).random((60, 2, 4)) < 0.7
        ax = of.plot.repeats(
            of.from_arrays(None, correct, configs=["plain", "größer"], response="pointwise"), "mean", [0, 1]
        )
        assert ax.get_yticklabels()[1].get_fontfamily()[0] == "serif"
