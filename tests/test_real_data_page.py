"""The numbers that pages state about real data are those of the result files."""

from __future__ import annotations

import json
from pathlib import Path

import pooled_within
import pytest
import real_data

from conftest import make_predictions
from outfold.estimate import bbc

DOCS = Path(__file__).parents[1] / "docs"


def text_of(name):
    return " ".join((DOCS / name).read_text().split())


def rows_of(study):
    return json.loads(study.RESULTS.read_text())["rows"]


@pytest.mark.parametrize("study", [pooled_within, real_data])
def test_the_page_has_the_rows_and_the_words_of_the_study(study):
    page, rows = (DOCS / "studies" / "real_data.md").read_text().splitlines(), rows_of(study)
    lines = list(study.page_rows(rows))
    assert len(lines) > 10
    assert [line for line in page if line in lines] == lines
    for sentence in study.words(rows):
        assert f"- {sentence}" in page


def test_at_least_two_hundred_pools_of_ten_data_sets_a_cell():
    for row in rows_of(pooled_within):
        assert row["pools"] >= 200
        assert row["sets"] >= 10


def test_other_pages_say_what_was_found():
    rows = rows_of(pooled_within)
    margins = pooled_within.cell(rows, "roc_auc", "margin", 60, "fold")["estimates"]
    probabilities = pooled_within.cell(rows, "roc_auc", "proba", 60, "pooled")["estimates"]
    said = (
        "with SVM margins, 60 samples and the mean over folds, its bias is {:+.3f}, that of a pooled estimate {:+.3f}."
    )
    assert said.format(margins["within"]["bias"], margins["pooled"]["bias"]) in text_of("checks/OF209.md")
    precise = pooled_within.of_bbc(pooled_within.cell(rows, "average_precision", "margin", 60, "fold"))
    said = "there its bias is {:+.3f} (standard error {:.3f})."
    assert said.format(precise["bias"], precise["se"]) in text_of("checks/OF209.md")
    tour = " ".join((DOCS / "tour.md").read_text().split())
    gap = probabilities["within"]["bias"] - probabilities["pooled"]["bias"]
    said = "[On real data](studies/real_data.md) with 60 samples, a pooled estimate of AUC is {:.3f} below one within folds"
    assert said.format(gap) in tour
    chosen = [row for row in rows if row["select"] != "within"]
    spans = {
        metric: pooled_within.span(
            [pooled_within.of_bbc(row)["without_luck"] for row in chosen if row["metric"] == metric], "+"
        )
        for metric in pooled_within.USED
    }
    said = "the bias of the estimate with 60 or 150 samples, and removed the luck of the samples. "
    said += "It is {roc_auc} for AUC, {concordance} for concordance and {average_precision} for average precision"
    assert said.format(**spans) in tour


def test_the_study_corrects_what_bbc_corrects():
    for kind, metric in pooled_within.CELLS:
        oof = make_predictions("concordance" if kind == "value" else "average_precision", n=60, c=12, seed=3)
        found = bbc(oof, metric, n_resamples=50)
        corrected = "balanced" if "lead" in found.details else "ranks" if "folds" in found.details else "within"
        assert pooled_within.USED[metric] == corrected


def test_the_tour_has_the_coverage_on_real_data():
    rows = rows_of(real_data)
    held = [100 * real_data.overall(rows, metric) for metric in ("accuracy", "roc_auc", "r2")]
    said = f"with 40 to 160 samples, they contained it in {min(held):.0f} to {max(held):.0f} percent of cases"
    assert said in " ".join((DOCS / "tour.md").read_text().split())
