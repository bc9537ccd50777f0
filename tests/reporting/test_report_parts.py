"""The parts of a report that not every one has: thresholds, the data, importance, a description, predicted values."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from report_cases import DATA, IMPORTANCE, long_classes, numbers, two_classes

import outfold as of
from internals import render, shorten
from outfold.exceptions import InputError

WORDS = "Logistic regression with an L2 penalty (C = 0.1) on 14 numbers <scaled>."


@pytest.fixture(scope="module")
def full():
    oof = two_classes(r=2)
    options = {"data": DATA, "description": WORDS, "importance": IMPORTANCE, "threshold": "cost=5:1"}
    return of.report(oof, "roc_auc", n_resamples=200, **options)


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    return "" if found is None else found[0]


def test_thresholds_are_those_of_the_api(full):
    oof = two_classes(r=2)
    assert [one.choice for one in full.thresholds] == [
        "cost=5:1",
        "0.5",
        "youden",
        "sensitivity=0.9",
        "specificity=0.9",
    ]
    for one in full.thresholds:
        alone = of.estimate.at_threshold(oof, "roc_auc", threshold=one.choice, n_resamples=200)
        assert one.to_dict() == alone.to_dict()
    assert full.to_dict()["thresholds"] == json.loads(json.dumps([one.to_dict() for one in full.thresholds]))
    share = full.thresholds[0]["sensitivity"]
    shown = f"{share.value:.2f} ({share.interval.low:.2f} to {share.interval.high:.2f})"
    table = section(full.to_html(), "thresholds").replace("&nbsp;", " ")
    for form in (table, full.to_markdown(), full.to_latex()):
        assert shown in form
    assert "40 of 80 samples are worse" in table


def test_the_threshold_of_predict_is_the_one_to_use_unless_another_is_asked_for():
    oof = two_classes()
    assert of.report(oof, "roc_auc", n_resamples=30).thresholds[0].choice == "0.5"
    other = of.from_arrays(oof.target.y, oof.data[0].T, response="score", threshold=0.4)
    assert of.report(other, "roc_auc", n_resamples=30).thresholds[0].choice == "0.4"
    labels = of.from_arrays(oof.target.y, oof.data[0].T > 0.5, response="label")
    assert of.report(labels, "accuracy", n_resamples=30).thresholds == ()
    with pytest.raises(InputError, match="at_threshold needs probabilities or scores"):
        of.report(labels, "accuracy", threshold="youden", n_resamples=30)
    with pytest.raises(InputError, match="threshold must be 'youden'"):
        of.report(oof, threshold="high", n_resamples=30)


def test_a_configuration_named_beforehand_has_thresholds_without_a_selection():
    oof = two_classes()
    named = of.estimate.cv(oof, "roc_auc", config="config 3")
    made = of.report(oof, estimate=named, n_resamples=30)
    assert {one.selected for one in made.thresholds} == {"config 3"}
    assert {one.n_configs for one in made.thresholds} == {1}
    other = of.estimate.bbc(
        oof, "roc_auc", n_resamples=30, rule=of.select.within(0.2, complexity=lambda name, _: -int(name[-1]))
    )
    assert {one.selected for one in of.report(oof, estimate=other, n_resamples=30).thresholds} <= {other.selected}


def test_calibration_is_corrected_for_the_selection(full):
    found = full.calibration
    assert found.slope_interval.low < found.slope < found.slope_interval.high
    (picture,) = [p for p in full.pictures if p.name == "calibration"]
    assert f"calibration {found}" in picture.caption
    assert str(found) in full.to_markdown().replace("\\", "")
    assert full.to_dict()["calibration"]["slope"] == found.slope
    # The best of many equal configurations tells the classes apart better than it will on new samples.
    slopes = []
    for seed in range(6):
        oof = two_classes(n=60, c=40, seed=seed, signal=0.3)
        winner = of.report(oof.sel(config=oof.selecting_by("roc_auc").selection().name), "roc_auc", n_resamples=30)
        slopes.append((winner.calibration.slope, of.report(oof, "roc_auc", n_resamples=100).calibration.slope))
    before, after = np.mean(slopes, axis=0)
    assert after < before


def test_the_data_section(full):
    page = section(full.to_html(), "data")
    for words in (
        "encoding cp1252",
        "12: no value in the target",
        "patient_id",
        "left out; a different value in every row",
    ):
        assert words in page
    assert "35.0%" in page
    assert "&lt;0.1%" in page  # not 0%: something is missing
    assert "| age | feature | number | 1.2% |" in full.to_markdown()
    assert full.to_dict()["data"]["columns"] == DATA["columns"]
    assert section(of.report(two_classes(), "roc_auc", n_resamples=20).to_html(), "data") == ""


@pytest.mark.parametrize(
    "data", [{}, {"columns": []}, {"rows": [{"reason": "odd"}]}, {"columns": [{"name": "x"}]}, {"file": {}}]
)
def test_parts_of_the_data_may_be_missing(data):
    made = of.report(two_classes(), "roc_auc", n_resamples=20, data=data)
    assert made.to_html()
    assert made.to_markdown()


def test_what_came_true_later_stands_with_the_data():
    from dataclasses import replace

    entry = {"metric": "roc_auc", "observed": 0.7, "n_new": 50, "part": "new samples", "when": "2026-01-02T03:04"}
    entry |= {"compatible": True, "estimate": 0.75}
    oof = two_classes()
    made = of.report(replace(oof, provenance={**oof.provenance, "ledger": [entry]}), "roc_auc", n_resamples=20)
    assert "AUC 0.7000 on 50 new samples (2026-01-02), compatible with" in section(made.to_html(), "data")


def test_the_description_stands_for_the_name(full):
    page = full.to_html()
    assert page.count("Logistic regression with an L2 penalty (C = 0.1) on 14 numbers &lt;scaled&gt;.") == 2
    assert dict(full.how)["model"] == WORDS
    assert "&lt;scaled&gt;" in full.to_markdown()


def test_importance_is_drawn_and_listed(full):
    (picture,) = [p for p in full.pictures if p.name == "importance"]
    assert picture.y.names[0] == "days_until_discharge"
    assert [row["name"] for row in full.importance][:2] == ["days_until_discharge", "age"]
    assert "days\\_until\\_discharge" in full.to_markdown()
    same = of.report(two_classes(), "roc_auc", n_resamples=20, importance={"a": 0.1, "b": {"mean": 0.2, "sd": 0.1}})
    assert [tuple(row.values()) for row in same.importance] == [("b", 0.2, 0.1), ("a", 0.1, None)]
    with pytest.raises(InputError, match="importance must give a mean"):
        of.report(two_classes(), importance={"a": "much"}, n_resamples=20)


def test_cautions_stand_below_the_headline_and_lead_to_the_checks():
    found = of.report(of.from_arrays(None, np.random.default_rng(0).random((80, 150)) < 0.7, response="pointwise"))
    assert [f.code for f in found.cautions] == ["OF531"]
    page = found.to_html()
    assert page.index("</h1>") < page.index('href="#check-OF531"') < page.index('<dl class="key">')
    assert page.count('id="check-OF531"') == 1


def test_a_baseline_stands_beside_every_score(full):
    page = full.to_html()
    assert "0.50 <small" in page
    assert page.count("Ranking at random scores 0.50.") == 2  # below the two pictures of scores
    assert re.search(r"<tfoot>.*ranking at random.*0\.50.*</tfoot>", page, re.S)
    confusion = next(p for p in full.pictures if p.name == "confusion")
    assert "always predicting" in confusion.caption
    values = of.report(numbers(), "rmse", n_resamples=20)
    assert re.search(r"<tfoot>.*always predicting the mean", values.to_html(), re.S)


def test_predicted_and_residuals_are_those_of_the_selected_configuration():
    oof = numbers(n=400, r=2)
    made = of.report(oof, "rmse", n_resamples=20)
    pictures = {p.name: p for p in made.pictures}
    points = np.array(pictures["predicted"].numbers["points"])
    assert len(points) == 300  # no more than can be told apart
    own = oof.data[:, oof.configs.index(made.estimate.selected)].mean(axis=0)
    left = oof.target.y - own
    assert pictures["residuals"].numbers["mean"] == pytest.approx(left.mean())
    assert pictures["residuals"].numbers["sd"] == pytest.approx(left.std())
    assert pictures["predicted"].numbers["correlation"] == pytest.approx(np.corrcoef(own, oof.target.y)[0, 1])
    nearest = [np.abs(np.stack([own, oof.target.y], axis=1) - point).sum(axis=1).min() for point in points]
    assert max(nearest) < 0.05


def test_classes_are_never_cut_so_that_two_look_alike():
    made = of.report(long_classes(), "accuracy", n_resamples=20)
    for picture in made.pictures:
        texts = re.findall(r"<text[^>]*>(.*?)</text>", render(picture))
        whole = [text for text in texts if "lung" in text or "…" in text]
        assert len(whole) == len(set(whole)), picture.name
    confusion = render(next(p for p in made.pictures if p.name == "confusion"))
    shown = re.findall(r"<text[^>]*>(.*?)</text>", confusion)
    assert [text for text in shown if text in "1234567"][:7] == list("1234567")
    names = [f"the same long beginning of a name, stage {i}" for i in range(9)]
    assert len(set(shorten(names, 20))) == 9


def test_digits_follow_the_interval():
    for n in (40, 4000):
        made = of.report(two_classes(n=n, seed=1), "accuracy", n_resamples=50)
        headline = re.search(r"accuracy 0\.(\d+) ", made.headline)[1]
        row = re.search(r'<table id="board".*?<tbody>(<tr.*?</tr>)', made.to_html(), re.S)[1]
        score = re.findall(r'data-v="[^"]+">(.*?)</td>', row)[1]
        assert len(score) == len("0.") + len(headline)
        # The interval has two digits of its width, and one more where the sum adds up then only.
        width = made.estimate.interval.high - made.estimate.interval.low
        assert len(headline) - (1 - np.floor(np.log10(width))) in (0, 1)


def test_old_reports_need_none_of_it():
    made = of.report(two_classes(), "roc_auc", n_resamples=20)
    facts = made.to_dict()
    assert (facts["data"], facts["description"], facts["importance"]) == (None, None, [])
    assert "importance" not in [p.name for p in made.pictures]
