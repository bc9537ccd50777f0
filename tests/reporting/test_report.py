"""The report says what the API says, whatever the predictions are."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import two_classes

import outfold as of
from internals import Drawing, Scale, escape, render, tick_texts
from outfold.exceptions import FileError, InputError
from outfold.select import Rule

SVG = re.compile(r"<svg.*?</svg>", re.S)


def facts_of(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="facts">(.*?)</script>', page, re.S)
    return json.loads(text)


def rows_of(page: str) -> list[list[str]]:
    (body,) = re.findall(r'<table id="board".*?<tbody>(.*?)</tbody>', page, re.S)
    cells = (re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr.*?</tr>", body, re.S))
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in row] for row in cells]


def test_bands_of_curves_have_the_level_of_the_report():
    report = of.report(two_classes(), "roc_auc", n_resamples=50, confidence_level=0.8)
    pictures = SVG.findall(html.unescape(report.to_html()))
    assert any("80%" in picture for picture in pictures)
    assert not any("95%" in picture for picture in pictures)


# -- numbers --------------------------------------------------------------------------------------------


def test_numbers_of_the_page_are_those_of_the_api(small_report):
    oof = two_classes(r=3)
    facts = facts_of(small_report.to_html())
    bbc = of.estimate.bbc(oof, "roc_auc", n_resamples=200)
    assert facts["estimate"] == json.loads(json.dumps(bbc.to_dict()))
    assert facts == json.loads(json.dumps(small_report.to_dict()))

    board = oof.leaderboard("roc_auc")
    assert [row["config"] for row in facts["configurations"]] == list(board.configs)
    assert [row["score"] for row in facts["configurations"]] == board.scores.tolist()
    assert [row["se"] for row in facts["configurations"]] == board.se.tolist()
    shares = [row["selected_share"] for row in facts["configurations"]]
    assert shares == [np.mean(bbc.chosen == name) for name in board.configs]

    names = [bbc.selected, *(name for name in board.configs if name != bbc.selected)][:6]
    compared = of.compare.auto(oof, "roc_auc", configs=names, control=bbc.selected)
    assert facts["comparisons"] == json.loads(json.dumps(compared.to_dict()))
    assert "OF301" in {note["code"] for pair in facts["comparisons"]["pairs"] for note in pair["notes"]}
    assert facts["checks"] == of.check(oof, "roc_auc").to_dict()
    assert facts["provenance"]["fingerprint"] == oof.fingerprint


def test_numbers_of_the_pictures_are_those_of_the_api(small_report):
    oof, shown = two_classes(r=3), small_report.to_dict()["pictures"]
    selected = small_report.estimate.selected
    own = of.estimate.cv(oof.sel(config=selected), "roc_auc", aggregate="pooled", n_resamples=200)
    first = shown["configurations"]["rows"][0]
    assert (first["name"], first["score"]) == (selected, own.value)
    for name, metric in (("roc", "roc_auc"), ("precision_recall", "average_precision")):
        (line,) = shown[name]["lines"]
        found = of.estimate.cv(oof.sel(config=selected), metric, aggregate="pooled", n_resamples=200)
        assert (line["value"], line["interval"]) == (found.value, list(found.interval))
    scores = oof.sel(config=selected).scores("roc_auc")[0]
    assert np.array_equal(shown["fold_scores"]["scores"], scores)
    trace = of.stability.trace(oof, "roc_auc")
    at = [trace.configs.index(name) for name in shown["trace"]["configs"]]
    assert np.array_equal(shown["trace"]["mean"], trace.mean[:, at].T)
    confusion = np.array(shown["confusion"]["counts"])
    assert confusion.sum() == pytest.approx(oof.n_samples)
    assert np.trace(confusion) / oof.n_samples == pytest.approx(shown["confusion"]["accuracy"])
    assert sum(shown["draws"]["counts"]) == 200
    assert sum(row["times"] for row in shown["selection"]["rows"]) == 200
    assert shown["optimism"]["optimism"] == small_report.estimate.optimism


def test_the_table_shows_what_the_facts_hold(small_report):
    for cells, row in zip(rows_of(small_report.to_html()), small_report.rows, strict=True):
        # The interval of the estimate is 0.16 wide: two digits mean something.
        assert cells[:3] == [str(row["rank"]), row["config"], f"{row['score']:.2f}"]
        assert cells[4] == f"{row['selected_share']:.1%}"


def test_an_estimate_at_hand_is_the_one_reported():
    oof = two_classes(n=200)
    balanced = of.estimate.bbc(oof, "accuracy", correction="balanced", n_resamples=100)
    made = of.report(oof, estimate=balanced)
    assert made.estimate is balanced
    assert made.leaderboard.metric == "accuracy"
    cvt = of.report(oof, "accuracy", estimate=of.estimate.cvt(oof, "accuracy"))
    assert "draws" not in [picture.name for picture in cvt.pictures]
    assert "too high" not in cvt.headline


def test_an_estimate_of_other_predictions_is_refused():
    other = of.estimate.bbc(two_classes(seed=1), "accuracy", n_resamples=20)
    with pytest.raises(InputError, match="Give the estimate of the same predictions"):
        of.report(two_classes(), "accuracy", estimate=other)
    with pytest.raises(InputError, match="must be an Estimate"):
        of.report(two_classes(), "accuracy", estimate=0.7)
    with pytest.raises(InputError, match="top must be"):
        of.report(two_classes(), top=0)
    with pytest.raises(InputError, match="report needs Predictions"):
        of.report([0.7])


# -- all kinds of predictions -----------------------------------------------------------------------------


def kinds():
    rng = np.random.default_rng(0)
    y3, folds = rng.integers(0, 3, 60), rng.permutation(np.arange(60) % 5)
    yield (
        "multiclass",
        of.from_arrays(y3, rng.dirichlet(np.ones(3), (60, 4, 1)), folds=folds, response="proba"),
        "accuracy",
    )
    y = rng.normal(size=60)
    values = y[:, None] + rng.normal(size=(60, 4))
    yield "regression", of.from_arrays(y, values, folds=folds, response="value"), "rmse"
    yield "large values", of.from_arrays(1e6 * y, 1e6 * values, folds=folds, response="value"), "mse"
    survival = np.stack([rng.integers(1, 15, 60).astype(float), rng.integers(0, 2, 60)], axis=1)
    yield "survival", of.from_arrays(survival, rng.normal(size=(60, 4)), folds=folds, response="risk"), None
    yield "one test set", of.from_arrays(None, rng.random((60, 4)) < 0.7, response="pointwise"), None
    yield "labels", of.from_arrays(y3 > 1, rng.integers(0, 2, (60, 4)) > 0, folds=folds, response="label"), "accuracy"
    yield "one configuration", two_classes(c=1), "accuracy"
    yield "two configurations", two_classes(c=2), "brier"
    yield "leave-one-out", two_classes(n=30, k=30), "roc_auc"
    yield "groups", two_classes(groups=np.arange(80) // 4), "accuracy"
    yield (
        "perfect",
        of.from_arrays([0, 1] * 20, np.array([[0.0, 1.0] * 20] * 3).T, folds=np.arange(40) % 4, response="proba"),
        "roc_auc",
    )
    yield "same everywhere", of.from_arrays(None, np.ones((30, 3)), response="pointwise"), None


@pytest.mark.parametrize(("oof", "metric"), [pytest.param(*rest, id=name) for name, *rest in kinds()])
def test_every_kind_of_predictions_has_a_report(oof, metric):
    made = of.report(oof, metric, n_resamples=50)
    page = made.to_html()
    assert facts_of(page)["estimate"]["value"] == made.estimate.value
    assert "nan" not in re.sub("<script.*?</script>", "", page, flags=re.S).lower().replace("nanmean", "")
    for svg in SVG.findall(page):
        ElementTree.fromstring(svg)
    assert made.to_markdown().startswith("# Outfold report\n")
    assert made.to_latex()
    assert made.bibtex.startswith("@article{tsamardinos2018,")
    assert len(list(csv.reader(io.StringIO(made.to_csv())))) == oof.n_configs + 1


def test_pictures_stand_where_they_apply(small_report):
    every = ["optimism", "configurations", "draws", "selection", "trace", "repeats", "fold_scores", "roc"]
    assert [p.name for p in small_report.pictures] == [
        *every,
        "precision_recall",
        "calibration",
        "confusion",
        "difference",
    ]
    regression = of.report({name: oof for name, oof, _ in kinds()}["regression"], "rmse", n_resamples=20)
    assert [p.name for p in regression.pictures] == [*every[:4], "fold_scores", "predicted", "residuals", "difference"]
    assert "too low" in regression.headline or "not too optimistic" in regression.headline


def test_dropped_and_failed_configurations_are_shown():
    oof = two_classes(r=2, c=6)
    data, state = np.array(oof.data), np.array(oof.state)
    for config, why in ((1, of.State.DROPPED), (3, of.State.FAILED)):
        data[1, config], state[config, 1] = np.nan, why
    made = of.report(replace(oof, data=data, state=state), "accuracy", n_resamples=50)
    assert "cells" in [picture.name for picture in made.pictures]
    assert {row["config"]: row["status"] for row in made.rows}[oof.configs[1]] == "dropped"
    assert dict(made.how)["cells"] == "50 of 60 done; 5 (8%) saved by dropping hopeless configurations; 5 failed"
    assert "1 configuration was dropped on the way, which saved 8% of the fits." in made.methods
    assert rows_of(made.to_html())[-1][2] == "-"


def test_no_valid_test_is_said_and_nothing_is_compared():
    made = of.report(two_classes(n=30, k=30), "roc_auc", n_resamples=50)
    assert made.comparisons is None
    assert "no valid test" in made.no_comparison
    assert html.escape(made.no_comparison) in made.to_html()


def test_600_configurations_stay_under_2_megabytes():
    oof = two_classes(
        n=100, c=600, r=2, configs=[f"model(alpha={i}, kernel='a long name of a kernel')" for i in range(600)]
    )
    page = of.report(oof, "accuracy", n_resamples=50).to_html()
    assert len(page.encode()) < 2_000_000
    assert len(rows_of(page)) == 600


def test_predictions_that_were_fitted_say_how_to_do_it_again():
    from sklearn.tree import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    configs = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 3])
    oof = of.collect(configs, X, y, of.Plan(folds=4), rng=3, progress=False)
    made = of.report(oof, "accuracy", n_resamples=50, command="outfold report run.oof")
    known = dict(made.provenance)
    assert (known["seed"], known["command"]) == ("3", "outfold report run.oof")
    assert known["hash of the data"] == oof.provenance["data"]
    assert "DecisionTreeClassifier" in known["selected configuration"]
    assert made.rows[0]["seconds"] == pytest.approx(np.nansum(oof.seconds[oof.config_index(made.rows[0]["config"])]))
    assert " on the clock, " in dict(made.how)["time"]


def test_a_search_reports_its_own_estimate():
    from sklearn.svm import SVC

    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=60) > 0).astype(int)
    search = of.SelectCV(SVC(), {"C": [0.1, 1, 10]}, cv=4, random_state=0).fit(X, y)
    made = search.report(title="a search")
    assert made.estimate is search.estimate_
    assert made.estimate.selected == search.selection_.name
    assert "<title>a search</title>" in made.to_html()


# -- what a user typed ------------------------------------------------------------------------------------


def test_names_do_not_get_out_of_the_page(hostile):
    made = of.report(hostile, "accuracy", n_resamples=50, title=hostile.configs[0], command=hostile.configs[1])
    page = made.to_html()
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    outside = re.sub("<script.*?</script>", "", page, flags=re.S)
    assert "<img" not in outside
    assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', outside))
    assert facts_of(page) == json.loads(json.dumps(made.to_dict()))
    assert {row["config"] for row in facts_of(page)["configurations"]} == set(hostile.configs)
    for svg in SVG.findall(page):
        ElementTree.fromstring(svg)
    shown = [row[1] for row in rows_of(page)]
    assert "<script>alert(1)</script>" in shown
    assert hostile.configs[6] in shown  # not taken for a place to fill in


def test_names_do_not_get_out_of_csv_markdown_and_latex(hostile):
    made = of.report(hostile, "accuracy", n_resamples=50)
    rows = list(csv.DictReader(io.StringIO(made.to_csv())))
    assert sorted(row["config"].removeprefix("'") for row in rows) == sorted(
        c.removeprefix("'") for c in hostile.configs
    )
    assert not any(row["config"].startswith(("=", "+", "-", "@")) for row in rows)
    (link,) = re.findall(r'href="data:text/csv;charset=utf-8;base64,(.*?)"', made.to_html())
    assert base64.b64decode(link).decode().startswith("rank,config,score")

    text = made.to_markdown()
    assert "<script" not in text
    assert "<img" not in text
    tables = [line for line in text.splitlines() if line.startswith("| ") and "onfocus" in line]
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (3, 5, 6) for line in tables)

    tex = made.to_latex().replace(r"\allowbreak{}", "")  # where a long name may be broken
    assert "\\textbf{50" not in tex
    assert r"\textbackslash{}textbf\{50\%\}" in tex


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
@settings(max_examples=15)
def test_any_name_gives_a_page_that_can_be_read_back(names):
    made = of.report(two_classes(n=20, c=2, k=2, configs=names), "accuracy", n_resamples=5)
    page = made.to_html()
    assert sorted(row["config"] for row in facts_of(page)["configurations"]) == sorted(names)
    for svg in SVG.findall(page):
        ElementTree.fromstring(svg)
    assert len(re.findall("<script", page)) == 2
    assert len(list(csv.reader(io.StringIO(made.to_csv())))) == 3


def test_escape_leaves_nothing_that_html_reads():
    assert escape("<a href=\"x\" id='y'>&\x00\ud800\u202e") == "&lt;a href=&quot;x&quot; id=&#x27;y&#x27;&gt;&amp;���"


# -- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["page.html", "page.HTM", "page.md", "page.tex"])
def test_save_by_the_ending(small_report, tmp_path, name):
    path = small_report.save(tmp_path / name)
    form = {
        "html": small_report.to_html,
        "htm": small_report.to_html,
        "md": small_report.to_markdown,
        "tex": small_report.to_latex,
    }
    assert path.read_text(encoding="utf-8") == form[name.rpartition(".")[2].lower()]()
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_save_follows_a_link(small_report, tmp_path):
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    assert small_report.save(tmp_path / "link.html") == tmp_path / "link.html"
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text(encoding="utf-8") == small_report.to_html()


def test_save_says_what_is_wrong(small_report, tmp_path):
    with pytest.raises(FileError, match=r"must end in .html, .md or .tex; got report.pdf"):
        small_report.save(tmp_path / "report.pdf")
    with pytest.raises(FileError, match="cannot be written"):
        small_report.save(tmp_path / "missing" / "report.html")


def test_half_a_pair_of_surrogates_can_be_saved(tmp_path):
    made = of.report(two_classes(c=2, configs=["a\ud800", "b"]), "accuracy", n_resamples=20)
    for name in ("a.html", "a.md", "a.tex"):
        assert made.save(tmp_path / name).stat().st_size > 1000


def test_the_page_asks_for_nothing_and_allows_nothing(small_report):
    page = small_report.to_html()
    outside = re.sub(r"<script.*?</script>|@article.*?</pre>", "", page, flags=re.S)
    assert not re.findall(r"https?://", outside)
    assert "default-src 'none'" in page


# -- the drawer -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.52, 0.81, ["0.6", "0.7", "0.8"]),
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-0.012, 0.006, ["-0.010", "-0.005", "0.000", "0.005"]),
        (0, 123456, ["0", "25,000", "50,000", "75,000", "100,000"]),
        (3, 3, ["2.6", "2.8", "3.0", "3.2", "3.4"]),
    ],
)
def test_ticks_are_round_and_few(low, high, texts):
    found = Scale(low, high, 0, 100).ticks()
    assert tick_texts(found) == texts


def test_a_scale_maps_ends_to_ends():
    scale = Scale.around([0.2, float("nan"), 0.4], 10, 110, 0)
    assert (scale(0.2), scale(0.3), scale(0.4)) == (10, pytest.approx(60), 110)


def test_a_drawing_is_xml_whatever_is_written_on_it(hostile):
    draw = Drawing(10, hostile.configs[2])
    for name in hostile.configs:
        draw.text(0, 0, name, most=10)
        draw.marker(1, 1, 1, "circle", "f-blue", name)
    drawn = ElementTree.fromstring(draw.render())
    assert len(drawn) == 2 * len(hostile.configs)


def test_the_legend_stands_below_the_curves():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    P = rng.dirichlet(np.ones(4), (80, 2, 1))
    made = of.report(of.from_arrays(y, P, folds=(np.arange(80) % 5)[:, None], response="proba"), n_resamples=50)
    for picture in (p for p in made.pictures if p.name in ("roc", "precision_recall", "calibration")):
        svg = render(picture)
        axis = max(float(at) for at in re.findall(r'<line class="grid"[^>]* y2="([\d.]+)"', svg))
        keys = [float(at) for at in re.findall(r'<path class="line key [^"]*" d="M[\d.]+ ([\d.]+)L', svg)]
        assert len(keys) == 4
        assert min(keys) > axis
        assert max(keys) < float(re.search(r'viewBox="0 0 \S+ ([\d.]+)"', svg)[1])


def test_a_very_long_name_is_large_in_part_only():
    name = "x" * 3000
    html = of.report(two_classes(c=2, configs=[name, "y"], seed=1), n_resamples=20).to_html()
    assert name in html
    assert name not in html.partition("<nav")[0]


def test_fits_in_company_are_told():
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_iris(return_X_y=True)
    oof = of.collect(of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 5]), X, y, of.Plan(folds=5))
    said = "all 15 done with 5 fits; shared steps were fitted once"
    assert said in of.report(oof, "accuracy").to_markdown()


class Last(Rule):
    """Selects the last candidate, whatever its score."""

    name = "last"

    def pick(self, scoring, weights=None):
        return np.full(1 if weights is None else len(weights), len(scoring.candidates) - 1)


def test_checks_are_about_the_configuration_that_is_reported():
    """A search may select by another rule than the checks would."""
    oof = two_classes(c=4, configs=["a(C=1)", "b(C=2)", "c(C=3)", "d(C=4)"], seed=1)
    won = of.estimate.bbc(oof, "roc_auc").selected
    made = of.estimate.bbc(oof.sel(config=[won, *(n for n in oof.configs if n != won)]), "roc_auc", rule=Last())
    assert made.selected != won
    # Both take long, another one does not.
    slow = [2.0 if name in (won, made.selected) else 0.01 for name in oof.configs]
    timed = replace(oof, seconds=np.broadcast_to(np.reshape(slow, (-1, 1, 1)), oof.state.shape).copy())
    page = of.report(timed, "roc_auc", estimate=made, n_resamples=50)
    (about,) = [found.text for found in page.checks if found.code == "OF532"]
    assert about.startswith(f"{made.selected} cannot be told from")
    assert won not in about


def test_those_who_predict_the_same_are_compared_once():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    P = np.clip(y[:, None] * 0.3 + rng.random((60, 8)) * 0.7, 0, 1)
    P[:, 1] = P[:, 2] = P[:, 3] = P[:, 0]
    oof = of.from_arrays(y, P, folds=np.arange(60) % 5, response="proba")
    compared = of.report(oof, "accuracy").comparisons.configs
    assert len(set(compared) & set(oof.configs[:4])) == 1
    assert len(compared) == 5
    same = of.from_arrays(y, P[:, :4], folds=np.arange(60) % 5, response="proba")
    assert of.report(same, "accuracy").no_comparison == "There is no configuration that predicts otherwise."


def test_errors_stand_below_the_headline_of_every_form():
    y = np.cumsum(np.random.default_rng(0).normal(size=100))
    folds = np.random.default_rng(1).permutation(100) % 5
    report = of.report(of.from_arrays(y, y[:, None] + 0.1, folds=folds, response="value"), "r2", n_resamples=50)
    (error,) = report.checks.errors
    assert error.code == "OF513"
    assert str(report).splitlines() == [report.headline, f"error OF513  {error.text}"]
    page = report.to_html()
    assert page.index("</h1>") < page.index('href="#check-OF513">error OF513</a>') < page.index("<nav")
    assert page.index("<nav") < page.index('<li id="check-OF513">')
    assert report.to_markdown().split("\n\n")[2].startswith("**Error OF513:** the values of the target")
