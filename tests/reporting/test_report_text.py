"""What the report says in words, kept as golden text.

The texts are of simulated predictions. After a change that is meant: python tests/reporting/test_report_text.py writes them anew;
read the difference before it is committed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_cases import two_classes
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from internals import Report, text
from outfold.exceptions import InputError

GOLDEN = Path(__file__).parent / "golden"


def cases() -> dict[str, Report]:
    """Reports with other sentences each."""
    rng = np.random.default_rng(0)
    correct = rng.random((80, 150)) < 0.7
    y = rng.normal(50, 10, 60)
    values = y[:, None, None] + rng.normal(0, 8, (60, 5, 2))
    folds = np.stack([rng.permutation(np.arange(60) % 5) for _ in range(2)], axis=1)
    raced = two_classes(r=2, c=6)
    data, state = np.array(raced.data), np.array(raced.state)
    for config, why in ((1, of.State.DROPPED), (2, of.State.DROPPED), (3, of.State.FAILED)):
        data[1, config], state[config, 1] = np.nan, why
    raced = replace(raced, data=data, state=state, provenance={"seed": 7, "scikit-learn": "1.7.0", "seconds": 75.0})
    return {
        "prompts": of.report(of.from_arrays(None, correct, response="pointwise"), title="150 equal prompts"),
        "classes": of.report(two_classes(r=3, groups=np.arange(80) // 2), "roc_auc", n_resamples=200),
        "values": of.report(of.from_arrays(y, values, folds=folds, response="value"), "rmse", n_resamples=200),
        "raced": of.report(raced, "accuracy", n_resamples=200),
        "single": of.report(two_classes(c=1), "brier", n_resamples=200),
    }


def words(report: Report) -> str:
    version = f"outfold {of.__version__}"
    sentences = f"{report.headline}\n\n{report.methods}\n\n---\n\n{report.to_markdown()}"
    return sentences.replace(version, "outfold VERSION").replace(f"| {of.__version__} |", "| VERSION |")


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return cases()


@pytest.mark.parametrize("name", ["prompts", "classes", "values", "raced", "single"])
def test_words_are_the_golden_ones(reports, name):
    assert words(reports[name]) == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("metric", "named"),
    [("f1", True), ("roc_auc", True), ("f1_macro", False), ("f2_weighted", False), ("accuracy", False)],
)
def test_the_positive_class_is_named_for_metrics_that_have_one(metric, named):
    made = of.report(two_classes(c=2), metric, n_resamples=20)
    assert ("positive class: worse" in made.methods) == named


def estimate(value, low, high, naive, greater=True, **options) -> of.results.Estimate:
    made = of.estimate.bbc(two_classes(c=2), "roc_auc" if greater else "brier", n_resamples=20)
    return replace(made, value=value, interval=of.results.Interval(low, high), naive=naive, own="", **options)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            estimate(0.868, 0.82, 0.909, 0.899),
            "Expect AUC 0.868 (95% CI 0.820 to 0.909) on new samples; the winner's cross-validation score, 0.899, is 0.031 "
            "too high.",
        ),
        (
            estimate(0.21, 0.1, 0.33, 0.18, greater=False),
            "Expect Brier score 0.21 (95% CI 0.10 to 0.33) on new samples; the winner's cross-validation score, 0.18, is "
            "0.03 too low.",
        ),
        (
            estimate(0.7, 0.6, 0.8, 0.69),
            "Expect AUC 0.70 (95% CI 0.60 to 0.80) on new samples; the winner's cross-validation score, 0.69, is not too "
            "optimistic.",
        ),
        (
            estimate(0.7, 0.6, 0.8, 0.74, plan="one test set"),
            "Expect AUC 0.70 (95% CI 0.60 to 0.80) on new samples; the winner's score, 0.74, is 0.04 too high.",
        ),
        (
            estimate(12345.0, 11000.0, 14000.0, 12000.0, greater=False, named=True),
            "Expect Brier score 12,300 (95% CI 11,000 to 14,000) on new samples.",
        ),
    ],
)
def test_the_headline_is_one_sentence(made, says):
    assert text.headline(made) == says


def test_without_an_interval_there_is_none_in_the_headline():
    made = replace(estimate(0.7, 0.6, 0.8, 0.74), interval=None)
    assert text.headline(made).startswith("Expect AUC 0.700 on new samples")


def test_metrics_are_called_as_in_papers():
    assert [text.called(name) for name in ("roc_auc", "balanced_accuracy", "my metric_")] == [
        "AUC",
        "balanced accuracy",
        "my metric_",
    ]


def test_the_paragraph_has_the_numbers_of_the_estimate(reports):
    made = reports["prompts"]
    for value in (made.estimate.value, *made.estimate.interval, made.estimate.naive, made.estimate.optimism):
        assert f"{value:.3f}" in made.methods or f"{value:.2f}" in made.methods


def test_digits_are_two_of_the_interval_and_one_more_at_most():
    made = estimate(0.96735, 0.90849, 0.99745, 0.97872)
    assert text.headline(made) == (
        "Expect AUC 0.967 (95% CI 0.908 to 0.997) on new samples; the winner's cross-validation score, 0.979, is about "
        "0.011 too high."
    )
    made = estimate(1_115_912.0, 959_505.0, 1_264_449.0, 1_001_261.0, greater=False)
    assert "1,116,000 (95% CI 960,000 to 1,264,000)" in text.headline(made)


def test_zero_has_no_sign():
    assert "AUC 0.0 (95% CI -0.8 to 0.4)" in text.headline(estimate(-0.01, -0.8, 0.4, 0.3))


def test_a_number_that_flatters_is_not_to_be_expected():
    oof = two_classes(r=2)
    found = of.report(oof, estimate=of.estimate.cvt(oof, "accuracy"))
    assert found.headline.startswith("Do not expect accuracy 0.")
    assert "not corrected for picking the best" in found.methods
    assert "OF208" in found.checks.codes
    assert "expected on new samples" not in found.to_html()


def test_the_caveats_of_the_estimate_are_among_the_checks_once():
    oof = two_classes(c=3)
    noted = replace(of.estimate.tt(oof, "accuracy"), notes=(of.results.Note("OF203", "left the range."),))
    assert "OF203" in of.report(oof, estimate=noted).checks.codes
    codes = of.report(oof, estimate=of.estimate.bbc(oof, "accuracy")).checks.codes
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (of.Plan.from_cv(StratifiedKFold(5)), "by 5-fold cross-validation (StratifiedKFold"),
        (of.Plan.from_cv(ShuffleSplit(4, random_state=0)), "by 4 x hold-out (ShuffleSplit"),
        (of.Plan(folds=5, repeats=2), "by 2 x 5-fold stratified cross-validation."),
    ],
    ids=["folds", "hold-outs", "repeats"],
)
def test_the_plan_reads_as_a_sentence(plan, words):
    X = np.random.default_rng(0).normal(size=(60, 2))
    oof = of.collect({"tree": DecisionTreeClassifier()}, X, np.arange(60) % 2, plan, rng=0, n_jobs=1, progress=False)
    assert words in of.report(oof, "accuracy", n_resamples=50).methods


def test_a_hold_out_is_not_called_cross_validation():
    plan = of.Plan.holdout()
    X = np.random.default_rng(0).normal(size=(60, 2))
    configs = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2])
    oof = of.collect(configs, X, np.arange(60) % 2, plan, rng=0, n_jobs=1, progress=False)
    found = of.report(oof, "accuracy", n_resamples=50)
    assert "hold-out score" in found.headline
    assert "cross-validation" not in found.headline + found.methods
    assert "on 60 samples, 20 of them held out, by hold-out" in found.methods
    assert "compared with the next one by" in found.methods
    assert "this test does not account" in found.methods


def test_one_configuration_has_no_winner(reports):
    html = reports["single"].to_html()
    assert "winner" not in html.partition('id="evidence"')[0]
    assert "luck." not in html.partition("How it was found")[0]


@pytest.mark.parametrize(("c", "said"), [(40, 1), (20, 0)])
def test_a_table_that_shows_only_some_configurations_says_so(c, said):
    correct = np.random.default_rng(1).random((50, c)) < 0.7
    made = of.report(of.from_arrays(None, correct, response="pointwise"), "mean", n_resamples=50)
    for text_of_report in (made.to_latex(), made.to_markdown()):
        assert text_of_report.count(f"The table shows the 20 best configurations of {c}.") == said


def test_another_thing_than_an_estimate_is_refused():
    with pytest.raises(InputError, match="estimate must be an Estimate"):
        of.report(two_classes(), estimate=3)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, report in cases().items():
        (GOLDEN / f"{name}.md").write_text(words(report), encoding="utf-8")
