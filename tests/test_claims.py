"""What the pages say about coverage, error rates, bias and speed is what a script measured.

A result file is made by a script in `studies` or `benchmarks` and committed. `SOURCES` says what stands behind every section with
such numbers; the tests below compare the numbers themselves.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import adjusting
import blocked
import confronting
import corrections
import dropping
import gaussians
import interval_metrics
import margins
import margins_one_set
import never_selected
import noise
import numpy as np
import other_intervals
import power_curves
import power_law
import pytest
import survival_curves
import thresholds
import tuned
from harness.pages import WARNING

from internals import DECISIONS

ROOT = Path(__file__).parents[1]

# What makes a line a claim, if it has a number too.
CLAIM = re.compile(
    r"coverage|\bcovers?\b|held the tru|holds the (tru|best)|error rates?\b|type I error|\bbias\b|times (as )?(fast|fewer)|"
    r"\b\d[\d.]*x\b|CPU|\d (ms|s|MB)\b|too (low|high|careful)\b|too good by|percent of (the )?(cases|searches|data|predicted)|"
    r"data sets each|mean number of|needed .* repeats|nominal|err(s|ed)? in (up to|at most)",
    re.IGNORECASE,
)
# In the code many numbers are no measurement (codes, years, shapes): what a measured one looks like.
MEASURED = re.compile(r"\d\.\d|\d ?%|\d percent|\d (ms|s|MB|times)\b|\b[1-9][\d.]*x\b")
# Sentences of the code with such a number, and why no file is behind it.
IN_CODE = {
    "A draw holds 63 percent of the samples": "arithmetic: 1 - 1/e",
    "If the predictions take more than 64 MB of memory": "no measurement: where `load` begins to be lazy",
    "Each round trains on 63 percent of the samples": "arithmetic: 1 - 1/e",
    "rounds train on 63 percent of the samples": "arithmetic: 1 - 1/e",
}

# A result file; or in words why there is none: what is tested elsewhere, follows by arithmetic, or is a paper's.
SOURCES = {
    "README.md: Outfold": "studies/results/calibration.json",
    "clusters.md: Measured": "benchmarks/results/clusters.json",
    "clusters.md: 100 machines and 10⁷ cells, on paper": "benchmarks/results/clusters.json",
    "index.md: How good is the model you picked, really?": "no measurement: docs/pictures/landing.py draws it by outfold demo",
    "howto/tied-with-the-best.md: Which configurations are as good as the best?": "no measurement: what a level aims at",
    "tour.md: How good is the model I picked?": "studies/results/interval_coverage.json",
    "tour.md: When not to use it": "studies/results/calibration.json",
    "calibration.md: Calibration: how often are the numbers right?": "no measurement: what the words mean",
    "calibration.md: Bias of the estimates, coverage of the intervals": "studies/results/calibration.json",
    "calibration.md: The confidence set of the best (`compare.tied_set`, level 0.95)": "studies/results/calibration.json",
    "calibration.md: Checking while results come in": "studies/results/calibration.json",
    "calibration.md: Each interval method": "studies/results/calibration.json",
    "calibration.md: The score of one configuration": "studies/results/type_one_error.json",
    "calibration.md: Type I errors": "studies/results/type_one_error.json",
    "calibration.md: Power": "studies/results/type_one_error.json",
    "calibration.md: How the type I errors were measured": "studies/results/type_one_error.json",
    "calibration.md: Two Gaussian populations (Wang et al. 2014, Table 6)": "studies/results/gaussians.json",
    "calibration.md: How the Gaussian populations were simulated": "studies/results/gaussians.json",
    "calibration.md: Intervals of the selected configuration": "studies/results/interval_coverage.json",
    "calibration.md: Intervals of other estimates": "studies/results/other_intervals.json",
    "checks/OF221.md: When it appears": "studies/results/other_intervals.json",
    "calibration.md: Other metrics, groups, repeats and rules": "studies/results/interval_metrics.json",
    "report.md: How to read the numbers": "no measurement: how many draws are made, and why the winner's slope is too high",
    "calibration.md: At a threshold": "studies/results/thresholds.json",
    "intervals.md: The configuration that was selected": "no measurement: what the draws leave out",
    "intervals.md: How mover is computed": "no measurement: how the interval is made",
    "checks/OF222.md: When it appears": "no measurement: when the note appears",
    "calibration.md: Balanced m x 2 tests on normal differences": "studies/results/calibration.json",
    "checks/OF209.md: When it appears": "the study of real data",
    "checks/OF312.md: OF312: a test that finds differences too often": "studies/results/type_one_error.json",
    "studies/real_data.md: Intervals of the selected configuration": "studies/results/real_data.json",
    "studies/real_data.md: Pooled, within folds, or the mean over folds?": "studies/results/pooled_within.json",
    "checks/OF218.md: When it appears": "no measurement: why there is no interval",
    "checks/OF220.md: When it appears": "arithmetic: 0.98 to the power of 40",
    "checks.md: All checks": "no measurement: what a test is about",
    "checks/OF532.md: When it fires": "no measurement: when the check speaks",
    "compare/mcnemar.md: When it is valid": "studies/results/calibration.json",
    "compare/t_blocked_mx2.md: Degrees of freedom": "studies/results/calibration.json",
    "compare/pairs.md: When it is valid": "studies/results/adjusting.json",
    "compare/t_blocked_mx2.md: Variance components": "studies/results/blocked.json",
    "compare/algorithms.md: How often it errs": "studies/results/tuned.json",
    "compare/algorithms.md: Where it comes from": "no measurement: the title of a paper",
    "compare/non_inferior.md: When it is valid": "no measurement: the page of the test has its error rates",
    "compare/non_inferior.md: How often it errs": "studies/results/margins.json",
    "compare/t_skewed.md: How often it errs": "studies/results/margins_one_set.json",
    "compare/tied_set.md: What it asks": "no measurement: what a level aims at",
    "compare/tied_set.md: When it is valid": "studies/results/calibration.json",
    "compare/power.md: When it is valid": "no measurement: tests/compare/test_power.py compares with the exact power",
    "curves.md: How far to trust it": "studies/results/power_law.json",
    "dropping.md: What NeverSelected saves and costs": "studies/results/never_selected.json",
    "dropping.md: Ending within a repeat": "studies/results/never_selected.json",
    "dropping.md: How many repeats": "studies/results/stopping.json",
    "dropping.md: What dropping saves and costs, with five folds": "studies/results/dropping.json",
    "format.md: While it is being written": "no measurement: how batches are cut",
    "format.md: Large files": "benchmarks/results/store.json",
    "format.md: What is promised: security": "no measurement: limits that tests/fuzz keeps",
    "promises.md: The last run": "tests/faults/results.json",
    "intervals.md: What does it promise?": "no measurement: what an interval of 95 percent aims at",
    "intervals.md: When should I be careful?": "no measurement: when each note appears",
    "intervals.md: Notes on single methods": "no measurement: docs/calibration.md has the coverage, which this only names",
    "intervals.md: Details of nested_cv_bates": "no measurement: formulas of other programs",
    "intervals.md: Small folds": "studies/results/by_fold.json",
    "learners.md: Time": "benchmarks/results/learners.json",
    "learners.md: Time of naive Bayes": "benchmarks/results/learners.json",
    "models.md: How often it errs": "studies/results/confronting.json",
    "methods.md: Estimates": "no measurement: where what intervals cover is measured",
    "methods.md: Bias and variance of predictions": "no measurement: what the parts of a loss are",
    "methods/bbc.md: Corrections for two metrics": "studies/results/pooled_within.json",
    "methods/bbc.md: Balanced: correct for selecting on fewer samples": "docs/studies/balanced.md",
    "methods/bbc.md: What can go wrong": "studies/results/calibration.json",
    "methods/cv.md: What can go wrong": "no measurement: which notes appear",
    "methods/cvm_cv.md: Where it comes from": "no measurement: what a paper says",
    "methods/cvt.md: What can go wrong": "no measurement: which notes appear",
    "methods/drop.md: Sequential (CVST)": "no measurement: how the rule is computed",
    "methods/holdout.md: The selected configuration": "no measurement: how draws are scored",
    "methods/holdout.md: What can go wrong": "no measurement: which notes appear",
    "methods/loo.md: What can go wrong": "no measurement: which notes appear",
    "methods/oob.md: What can go wrong": "no measurement: which notes appear",
    "methods/point632.md: What it estimates": "arithmetic: 1 - 1/e",
    "methods/bbc.md: Labels that are noise": "studies/results/noise.json",
    "methods/point632.md: Round by round": "studies/results/point632.json",
    "methods/point632.md: What can go wrong": "no measurement: which notes appear",
    "methods/point632.md: Where it comes from": "no measurement: titles of papers",
    "methods/repeated_holdout.md: What can go wrong": "no measurement: which notes appear",
    "methods/three_way.md: What can go wrong": "no measurement: which notes appear",
    "methods/tt.md: What can go wrong": "no measurement: which notes appear",
    "methods/tt.md: Where it comes from": "no measurement: titles of papers",
    "methods/metrics.md: The integrated Brier score": "studies/results/survival_curves.json",
    "methods/wmc.md: Bias": "studies/results/corrections.json",
    "methods/wmc.md: What can go wrong": "no measurement: what Ding et al. (2014) found",
    "methods/wmc.md: Where it comes from": "no measurement: titles of papers",
    "promises.md: Files of strangers run no code": "no measurement: limits that tests/fuzz sets",
    "report.md: Size and speed": "benchmarks/results/report.json",
    "run.md: How long it takes": "benchmarks/results/run_budget.json",
    "run.md: Does the number come true?": "benchmarks/results/run.json",
    "run.md: Beside FLAML": "benchmarks/results/run.json",
    "speed.md: Large artifacts": "benchmarks/results/large.json",
    "speed.md: Growth": "benchmarks/results/growth.json",
    "sharing.md: What the families gain": "benchmarks/results/families.json",
    "spaces.md: Order": "benchmarks/results/spaces.json",
    "spaces.md: Time": "benchmarks/results/spaces.json",
    "speed.md: BBC against the plain loop": "benchmarks/results/bbc.json",
    "speed.md: Everyday searches": "benchmarks/results/everyday.json",
    "speed.md: A whole search against GridSearchCV": "benchmarks/results/search.json",
    "speed.md: Where the time goes": "no measurement: limits of memory",
    "speed.md: .632+ bootstrap": "benchmarks/results/bootstrap.json",
    "speed.md: Comparing": "benchmarks/results/compare.json",
    "speed.md: Reports": "benchmarks/results/report.json",
    "speed.md: Importing": "benchmarks/results/startup.json",
    "studies/power_curves.md: Power of tests (Wang et al. 2014, Figures 6 and 7)": "studies/results/power_curves.json",
    "studies/balanced.md: The 196 settings of the 2018 simulation": "docs/studies/balanced.md",
    "studies/balanced.md: Estimates with the balanced correction (Tsamardinos et al. 2018, sect. 5)": (
        "docs/studies/balanced.md"
    ),
}


@cache
def result(path: str):
    return json.loads((ROOT / path).read_text())


def calibration(topic: str):
    return result("studies/results/calibration.json")[topic]


@cache
def sections(page: str) -> dict[str, str]:
    """The text under every heading of a page, without code."""
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    parts = re.split(r"^#+ (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(page: str, heading: str, table: int = 0) -> dict[str, list[str]]:
    """The cells of a table of a section, by the first cell, or cells, of the row; the header is left out."""
    blocks = re.findall(r"(?:^\|.*\n)+", sections(page)[heading] + "\n", re.M)
    lines = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in blocks[table].splitlines()]
    return {cells[0].strip("| "): cells[1:] for cells in lines[2:]}


def keyed(page: str, heading: str, keys: int, table: int = 0) -> dict[tuple[str, ...], list[str]]:
    """The same where the first few cells tell rows apart."""
    blocks = re.findall(r"(?:^\|.*\n)+", sections(page)[heading] + "\n", re.M)
    lines = [[cell.strip(" |") for cell in line.strip("|\n").split(" | ")] for line in blocks[table].splitlines()]
    return {tuple(cells[:keys]): cells[keys:] for cells in lines[2:]}


def says(page: str, heading: str, sentence: str) -> None:
    text = re.sub(r"\s+", " ", sections(page)[heading])
    assert sentence in text, sentence


def span(values: list[float], digits: int = 0) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def times(ratio: float) -> str:
    """How many times faster, to two digits below ten thousand, as the speed page has it."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


# -- every such number has a source ---------------------------------------------------------------------------


def test_every_section_with_such_numbers_names_its_source():
    pages = ["README.md", *(str(p.relative_to(ROOT / "docs")) for p in sorted((ROOT / "docs").rglob("*.md")))]
    found = set()
    for page in pages:
        if page.startswith("studies/") and (ROOT / "docs" / page).read_text().startswith(WARNING):
            continue  # made from its result file; tests/studies compares both
        for heading, text in sections(page).items():
            if any(CLAIM.search(line) and re.search(r"\d", line) for line in text.splitlines()):
                found.add(f"{page}: {heading}")
    assert found - set(SOURCES) == set(), "a section with new numbers needs a result file"
    there = {f"{page}: {heading}" for page in pages for heading in sections(page)}
    assert set(SOURCES) - there == set(), "no such section"


def texts(path: Path) -> Iterator[str]:
    """The sentences of a module's docstrings and messages, without examples and what is quoted."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = re.sub(r"``.*?``|^ *Examples(:|$).*", "", node.value, flags=re.M | re.S)
            yield from (" ".join(sentence.split()) for sentence in re.split(r"(?<=[.:;])\s+|\n\n", text))


def test_the_code_makes_no_claim_without_a_source():
    sentences = [s for path in sorted((ROOT / "src" / "outfold").rglob("*.py")) for s in texts(path)]
    claims = [s for s in sentences if CLAIM.search(s) and MEASURED.search(s)]
    assert [s for s in claims if not any(known in s for known in IN_CODE)] == []
    assert all(any(known in s for s in claims) for known in IN_CODE), "no such sentence"


def test_a_claim_in_the_code_would_be_found(tmp_path):
    module = tmp_path / "module.py"
    lines = ("One line.", "", "It covers 0.94. So ``0.083 too high``.", "", "Examples", "--------", "2x")
    module.write_text('"""' + "\n".join(lines) + '"""')
    assert [s for s in texts(module) if CLAIM.search(s) and MEASURED.search(s)] == ["It covers 0.94."]


@pytest.mark.parametrize(
    "source", sorted({s for s in SOURCES.values() if s.startswith(("studies/", "benchmarks/", "docs/"))})
)
def test_result_files_are_there(source):
    assert (ROOT / source).exists()


# -- calibration ----------------------------------------------------------------------------------------------

BIAS = "Bias of the estimates, coverage of the intervals"


def test_bias_of_the_estimates():
    page, measured = keyed("calibration.md", BIAS, 2), calibration("bias")
    plain = result("studies/results/plain_bias.json")
    names = ("winner", "tt", "bbc")
    assert {f"{n}, {c}" for n, c in page} == set(measured) == set(plain["settings"])
    for (n, c), cells in page.items():
        own, other = measured[f"{n}, {c}"], plain["settings"][f"{n}, {c}"]
        assert cells[:3] == [f"{own[name]:+.3f} ({other[name]['bias']:+.3f})" for name in names]
        assert cells[3:] == [f"{own[name]:.3f}" for name in ("mover", "percentile")]
    errors = [own[f"{name} se"] for own in measured.values() for name in names]
    errors += [own[name]["se"] for own in plain["settings"].values() for name in names]
    low = [-own["bbc"] for own in measured.values()]
    for sentence in (
        f"`studies/plain_bias.py`, without `outfold` ({plain['repetitions']} repetitions)",
        f"Standard errors of the biases are {span(errors, 3)}",
        f"too high, by {measured['20, 300']['winner']:.2f} with 20 samples and 300 configurations",
        f"BBC is too low, by {span(low, 3)}",
    ):
        says("calibration.md", BIAS, sentence)
    says("methods/bbc.md", "What can go wrong", f"too low on small samples: by {span(low, 3)} in accuracy")


def test_readme_on_bias():
    measured = calibration("bias")
    winner = measured["20, 300"]["winner"]
    says(
        "README.md",
        "Outfold",
        f"With 20 samples and 300 configurations it was {winner:.2f} too high on average",
    )
    low = [-own["bbc"] for key, own in measured.items() if int(key.split(",")[0]) <= 100]
    sentence = f"the corrected estimate is too low by {span(low, 2)} in accuracy"
    says("tour.md", "When not to use it", sentence)


OTHER = "Other metrics, groups, repeats and rules"


@pytest.fixture(scope="module")
def other_metrics():
    """The settings, with the width of the default interval relative to the percentiles'."""
    rows = result("studies/results/interval_metrics.json")["rows"]
    return [row | {"ratio": row["width"]["mover"][1] / row["width"]["percentile"][1]} for row in rows]


def test_thresholds_are_those_of_the_study():
    rows, section = result("studies/results/thresholds.json")["rows"], "At a threshold"
    table = re.findall(r"^\| (?!share|---).*", sections("calibration.md")[section], re.M)
    assert table == thresholds.page_rows(rows)
    shares = [row for row in rows if row["rule"] != "calibration"]
    lowest = np.nanmin([thresholds.marked_apart(row) for row in shares])
    says("calibration.md", section, f"The 95 percent intervals cover at least {lowest:.3f} in each setting")
    npv = [row for row in shares if row["share"] == "npv"]
    few = sum(row["covered_few"] for row in npv) / sum(row["few"] for row in npv)
    says("calibration.md", section, f"The intervals of such NPVs covered {few:.2f}")
    assert {row["repetitions"] for row in rows} == {400}


def test_tables_of_other_metrics(other_metrics):
    tables = re.findall(r"^\| (?!kind|---).*", sections("calibration.md")[OTHER], re.M)
    assert tables == [*interval_metrics.page_rows(other_metrics), *interval_metrics.level_rows(other_metrics)]


def test_sentences_on_other_metrics(other_metrics):
    covered = np.array([row["coverage"]["mover"][1] for row in other_metrics])
    lowest = f"at least {covered.min():.3f} in each of the {len(covered)} settings, and {covered.mean():.3f} on average"
    says("calibration.md", OTHER, f"`mover` covers {lowest}")
    there = [row["ratio"] for row in other_metrics if row["coverage"]["percentile"][1] >= 0.93]
    many = [row for row in other_metrics if row["n"] >= 100]
    says("calibration.md", OTHER, f"cover at least 0.93, `mover` is {np.mean(there):.2f} times as wide on average")
    says(
        "calibration.md",
        OTHER,
        f"From 100 samples on it is {np.mean([row['ratio'] for row in many]):.2f} times as wide",
    )
    near_one = [row for row in many if row["metric"] in ("average_precision", "roc_auc") and not row["hard"]]
    others = [row["ratio"] for row in many if row not in near_one]
    says("calibration.md", OTHER, f"and {np.mean(others):.2f} times without AUC and average precision near 1")
    says("calibration.md", OTHER, f"near 1, `mover` is up to {max(row['ratio'] for row in near_one):.1f} times as wide")
    grouped = [
        row["ratio"]
        for row in other_metrics
        if (row["kind"], row["metric"], row["hard"]) == ("grouped", "roc_auc", False)
    ]
    says("calibration.md", OTHER, f"{min(grouped):.1f} to {max(grouped):.1f} times as wide with groups")
    low, high = (
        [row["bias"] for row in other_metrics if (row["metric"], row["n"]) == (metric, 30)]
        for metric in ("r2", "average_precision")
    )
    says("calibration.md", OTHER, f"With 30 samples the estimate of R² is too low by up to {-min(low):.2f}")
    says("calibration.md", OTHER, f"average precision with 6 positives is too high by up to {max(high):.2f}")


def test_intervals_of_other_metrics_keep_their_level(other_metrics):
    """0.93 in every setting within two standard errors, so at the other levels; a width everywhere."""
    assert len(other_metrics) == 280
    for k, least in enumerate((0.78, 0.93, 0.97)):
        for row in other_metrics:
            assert row["coverage"]["mover"][k] >= least - 2 * np.sqrt(least * (1 - least) / row["repetitions"])
            assert row["width"]["mover"][k] > 0


def test_intervals_of_other_metrics_are_narrow_where_percentiles_cover(other_metrics):
    there = [row for row in other_metrics if row["coverage"]["percentile"][1] >= 0.93]
    assert np.mean([row["ratio"] for row in there]) < 1.15
    others = [
        row
        for row in other_metrics
        if row["n"] >= 100 and (row["hard"] or row["metric"] not in ("average_precision", "roc_auc"))
    ]
    for metric in {row["metric"] for row in others}:
        assert np.mean([row["ratio"] for row in others if row["metric"] == metric]) < 1


def test_the_confidence_set_of_the_best():
    truths = {"20 equal, 0.80": "all equal", "0.82 against 19 of 0.78": "one best", "30 from 0.60 to 0.85": "ladder"}
    page = keyed("calibration.md", "The confidence set of the best (`compare.tied_set`, level 0.95)", 3)
    measured = calibration("tied set")
    assert len(page) == len(measured) == 12
    for (truth, n, rho), cells in page.items():
        own = measured[f"{truths[truth]}, {n}, {rho}"]
        assert cells == [f"{own['coverage']:.3f}", f"{own['size']:.1f}"]
    # "The worst case is equality."
    worst = {
        truth: min(own["coverage"] for key, own in measured.items() if key.startswith(truth))
        for truth in truths.values()
    }
    assert worst["all equal"] == min(worst.values())


def test_checking_while_results_come_in():
    heading, own = "Checking while results come in", calibration("looking")
    page = rows("calibration.md", heading)
    assert set(page) == {name for name, found in own.items() if "peeked" in found}
    for name, cells in page.items():
        assert cells == [f"{own[name][key]:.3f}" for key in ("rejected", "covered", "peeked")]
    shares = {key: np.array([own[name][key] for name in page]) for key in ("rejected", "peeked")}
    errors = {key: np.sqrt(share * (1 - share) / 4000).max() for key, share in shares.items()}
    away = [f"{own[f'mean {m}']['covered']:.3f}" for m in ("-0.6", "0.3", "0.9")]
    power = [own[f"difference {d}"] for d in ("0.02", "0.03", "0.05")]
    found, fixed = ([f"{own[key]:.3f}" for own in power] for key in ("found", "fixed"))
    stops = [f"{own['stop']:.0f}" for own in power]
    for sentence in (
        f"At alpha 0.05 it errs in at most {shares['rejected'].max():.3f} of the sequences",
        f"from the 20th on, errs in up to {shares['peeked'].max():.3f}",
        f"Standard errors are at most {errors['rejected']:.3f}, and {errors['peeked']:.3f} for the z test",
        f"at all times in {away[0]}, {away[1]} and {away[2]} of the sequences",
        f"the e-process finds it in {found[0]}, {found[1]} and {found[2]} of the sequences",
        f"(median stop after {stops[0]}, {stops[1]} and {stops[2]} of 1,000)",
        f"A z test done once, after all samples, finds it in {fixed[0]}, {fixed[1]} and {fixed[2]}",
    ):
        says("calibration.md", heading, sentence)


EACH_METHOD = "Each interval method"


def test_coverage_of_intervals():
    measured = calibration("intervals")
    page = rows("calibration.md", EACH_METHOD)
    assert set(page) == set(measured)
    for name, cells in page.items():
        assert cells[-2:] == [f"{measured[name]['repetitions']:,.0f}", f"{measured[name]['coverage']:.3f}"]
    covered = {name: own["coverage"] for name, own in measured.items()}
    errors = [np.sqrt(own["coverage"] * (1 - own["coverage"]) / own["repetitions"]) for own in measured.values()]
    corrected, bates = (
        [covered[f"`{test}`, {plan}"] for plan in plans]
        for test, plans in (
            ("corrected_t", ("10-fold", "5 x 10-fold")),
            ("nested_cv_bates", ("10-fold", "10 x 10-fold")),
        )
    )
    for sentence in (
        f"Standard errors are {span(errors, 3)}",
        f"holds the true value in {covered['`t` on folds, 5 x 10-fold']:.3f} of the cases",
        f"The corrected t holds it in {corrected[0]:.3f} and, with repeats, {corrected[1]:.3f}",
        f"covers {bates[0]:.3f} with one repeat and {bates[1]:.3f} with ten",
        f"The conservative Z covers {covered['`conservative_z`']:.3f}",
        f"cover {covered['`percentile` of `bbc`']:.3f} and {covered['`bbc_f`']:.3f}",
    ):
        says("calibration.md", EACH_METHOD, sentence)
    shares = rows("calibration.md", EACH_METHOD, 1)
    assert set(shares) == {f"`{name}`" for name in calibration("shares")}
    for name, own in calibration("shares").items():
        assert shares[f"`{name}`"] == [f"{own[key]:.3f}" for key in ("mean 30", "lowest 30", "mean 100", "lowest 100")]


def test_balanced_tests():
    measured = calibration("balanced")
    page = keyed("calibration.md", "Balanced m x 2 tests on normal differences", 2)
    for (rho1, rho2), cells in page.items():
        for m, cell in zip((3, 7, 15), cells, strict=True):
            own = measured[f"{m}, {rho1}, {rho2}"]
            assert cell == " ".join(f"{own[key]:.3f}" for key in ("zero", "default", "largest"))


def test_balanced_tests_at_their_worst():
    worst = [100 * calibration("balanced")[f"{m}, 0, 0.5"]["default"] for m in (3, 7, 15)]
    sentence = f"becomes {worst[0]:.1f} percent for m = 3, {worst[1]:.1f} for m = 7 and {worst[2]:.1f} for m = 15"
    says("compare/t_blocked_mx2.md", "Degrees of freedom", sentence)


GAUSSIANS = "Two Gaussian populations (Wang et al. 2014, Table 6)"


def test_two_gaussian_populations():
    found = result("studies/results/gaussians.json")
    tables = re.findall(r"(?:^\|.*\n)+", sections("calibration.md")[GAUSSIANS], re.M)
    expected = [list(gaussians.rate_rows(found, name)) for name in gaussians.SETTINGS]
    expected.append(list(gaussians.ratio_rows(found)))
    assert [table.splitlines()[2:] for table in tables] == expected


def test_sentences_on_two_gaussian_populations():
    found = result("studies/results/gaussians.json")
    small, large = (found[name]["new samples"] for name in gaussians.SETTINGS)
    tests = found["simulation 1"]["tests"]
    by_two = [tests[f"{test}, 2-fold"] for test in ("t_kfold", "t_corrected_kfold")]
    either = [one["own"] + one["none"] for one in by_two]
    rates = {key: [found[name]["tests"][key]["own"] for name in gaussians.SETTINGS] for key in tests}
    errors = [np.sqrt(0.05 * 0.95 / found["data_sets"])]
    off = [
        abs(row["ratio"] / row["predicted"] - 1)
        for name in gaussians.SETTINGS
        for row in found[name]["ratios"].values()
        if "predicted" in row
    ]
    corrected = [rate for key, pair in rates.items() if key.startswith("t_corrected, ") for rate in pair]
    for sentence in (
        f"{found['data_sets']:,} data sets, alpha 0.05",
        f"has a standard error of {errors[0]:.3f}",
        f"no p value in {100 * by_two[0]['none']:.1f} percent of the data sets",
        f"the first two rows give {either[0]:.3f} and {either[1]:.3f}",
        f"`t_resampled` rejects a true hypothesis in {rates['t_resampled, 10 hold-outs'][0]:.3f} and "
        f"{rates['t_resampled, 10 hold-outs'][1]:.3f} of the data sets, "
        f"`t_kfold` on 10 folds in {rates['t_kfold, 10-fold'][0]:.3f} and {rates['t_kfold, 10-fold'][1]:.3f}",
        f"`t_corrected` rejects in at most {max(corrected):.3f}",
        f"to within {100 * max(off):.1f} percent",
    ):
        says("calibration.md", GAUSSIANS, sentence)
    for sentence in (
        f"the tree errs by {small['tree']:.4f} and the regression by {small['linear']:.4f} after training on 100 "
        f"(difference {small['difference']:+.4f}, standard error {small['se']:.4f})",
        f"by {large['tree']:.4f} and {large['linear']:.4f} after training on 1,000 "
        f"({large['difference']:+.4f}, standard error {large['se']:.4f})",
        f"A fully grown tree is worse than the regression ({small['full tree']:.4f} at 100)",
        f"rpart's defaults is better ({small['rpart']:.4f})",
    ):
        says("calibration.md", "How the Gaussian populations were simulated", sentence)


def test_mcnemar():
    measured = calibration("mcnemar")
    for method in ("plain", "edwards", "exact", "midp", "auto"):
        line = next(
            line
            for line in sections("compare/mcnemar.md")["When it is valid"].splitlines()
            if line.startswith(f"| `{method}` | 0.")
        )
        own = [measured[f"{method}, {n}"] for n in (30, 100, 300)]
        expected = [*(v for one in own for v in (one["lowest"], one["mean"])), *(one["error"] for one in own)]
        assert re.findall(r"0\.\d{3}", line) == [f"{v:.3f}" for v in expected]


# -- studies --------------------------------------------------------------------------------------------------


BOOTSTRAP = "methods/point632.md"


def test_632plus_by_round():
    study = result("studies/results/point632.json")
    noise = {key: found for key, found in study["settings"].items() if key.startswith("noise")}
    table = keyed(BOOTSTRAP, "Round by round", 2)
    assert len(table) == len(noise) == 6
    readings = ("one weight", "published", "capped", "unbounded", "weighted", "not by round")
    for (learner, n), cells in table.items():
        found = noise[f"noise, {learner}, {n}"]
        assert cells == [f"{found[reading]['mean']:.3f}" for reading in readings]
    leaning = {
        "one weight": "*ours* leans",
        "weighted": "R by round",
        "published": "every round",
        "not by round": "`per_round`",
    }
    for reading, words in leaning.items():
        leans = [found[reading]["lean"] for found in noise.values()]
        says(BOOTSTRAP, "Round by round", f"{words} by {min(leans):+.3f} to {max(leans):+.3f}")
    signal = [found for key, found in study["settings"].items() if key.startswith("signal")]
    low, oob = (
        [found["truth"]["mean"] - found[way]["mean"] for found in signal] for way in ("one weight", "out of bag")
    )
    errors = [found[reading]["se"] for found in noise.values() for reading in readings]
    for sentence in (
        f"on {study['data_sets']} data sets of noise, where the truth is 0.5 (standard errors at most {max(errors):.3f})",
        f"all of them are too low, *ours* by {span(low, 3)}",
        f"`oob` is off by {-max(oob):+.3f} to {-min(oob):+.3f}",
    ):
        says(BOOTSTRAP, "Round by round", sentence)
    assert all(found[reading]["mean"] < found["truth"]["mean"] for found in signal for reading in readings)


def test_labels_that_are_noise():
    study = result("studies/results/noise.json")
    page = (ROOT / "docs" / "methods" / "bbc.md").read_text()
    for row in noise.page_rows(study):
        assert row in page
    for sentence in noise.words(study):
        says("methods/bbc.md", "Labels that are noise", sentence)
    rows = study["settings"]
    assert all(abs(rows["scored on new samples"][f"{metric} bbc"][0]) < 0.003 for metric in noise.METRICS)


def test_632plus_of_other_programs():
    iris, noise = result("tests/golden/data/boot632/ref.json")
    efron = noise["efron"]
    outside = [one["mlxtend_splits_with_R_outside_0_1"] for one in (iris, noise)]
    for sentence in (
        f"Of {iris['B']} rounds of 3-nearest-neighbour on Iris, {outside[0]} have such an R; "
        f"of {noise['B']} rounds of 1-nearest-neighbour on noise, {outside[1]}.",
        f"on the same noise it gives {efron['err_632plus_ipred_formula']:.3f}, the published formula gives "
        f"{efron['err_632plus']:.3f}, and the loss without information is {efron['gamma']:.1f}.",
    ):
        says(BOOTSTRAP, "Round by round", sentence)


def test_intervals_of_other_estimates():
    heading, settings = "Intervals of other estimates", result("studies/results/other_intervals.json")["settings"]
    page = sections("calibration.md")[heading].splitlines()
    rows, sentences = other_intervals.page_rows(settings), other_intervals.words(settings)
    assert len(rows) > 15
    assert [line for line in page if line.startswith("| `")] == rows
    assert [line for line in page if line.startswith("- ")] == [f"- {sentence}" for sentence in sentences]
    loo, all_others = (
        sorted({own["data_sets"] for key, own in settings.items() if key.startswith("loo;") == is_loo})
        for is_loo in (True, False)
    )
    counts = f"{all_others[0]} or {all_others[-1]} data sets in each cell, {loo[0]} or {loo[-1]} for leave-one-out"
    design = "How the other estimates were simulated"
    says("calibration.md", design, counts)
    errors = [np.sqrt(0.95 * 0.05 / n) for n in (all_others[0], loo[0])]
    says("calibration.md", design, f"the standard error at 0.95 is {errors[0]:.3f}, or {errors[1]:.3f}")


def test_intervals_that_fall_short_are_on_the_page_of_their_mark():
    settings = result("studies/results/other_intervals.json")["settings"]

    def of(methods, who, metrics):
        return other_intervals.span(settings, methods, who, metrics)

    others = "accuracy roc_auc mse"
    for words in (
        f"{of('oob', 'selected', others)} by `oob`, {of('loo', 'selected', others)} by `loo`",
        f"{of('bbc/nested/holdout/repeated_holdout/loo/oob', 'selected', 'r2')} for R²",
        f"the corrected t of repeated hold-outs covered {of('repeated_holdout', 'named', 'roc_auc r2')}",
        f"BCa on a hold-out {of('holdout', 'named', 'r2')}",
        f"`holdout` covered {of('holdout', 'selected', 'mse')} and `three_way` {of('three_way', 'selected', 'mse')} of the",
        f"`holdout` {of('holdout', 'named', 'mse')} of one named beforehand",
    ):
        says("checks/OF221.md", "When it appears", words)


def test_every_interval_below_092_is_marked():
    """What falls short in the study is on the page of the mark."""
    settings = result("studies/results/other_intervals.json")["settings"]
    short = {key for key, own in settings.items() if own.get("coverage", 1) < 0.92}
    marked = {"oob; selected", "loo; selected", "repeated_holdout; named", "bbc_f; selected"}
    marked_by_loss = {"holdout; selected", "holdout; named", "three_way; selected"}
    for key in short:
        method, who, metric, _ = key.split("; ")
        if "borrowed" not in method and metric != "r2":
            assert f"{method}; {who}" in (marked | marked_by_loss if metric == "mse" else marked), key
    assert {key for key in short if key.split("; ")[2] == "mse" and "; ".join(key.split("; ")[:2]) in marked_by_loss}


def test_when_repeating_stops():
    times = {tuple(key.split("; ")): own for key, own in result("studies/results/stopping.json")["times"].items()}
    bayes, trees = (
        {data: own for (folds, name, data), own in times.items() if (folds, name) == ("2", learner)}
        for learner in ("NB", "C4.5")
    )
    assert set(bayes) == set(trees)
    assert len(bayes) >= 18
    settled, rough = (
        span([own[rule] for part in (bayes, trees) for own in part.values()]) for rule in ("KS-0.1", "KS-0.2")
    )
    says("dropping.md", "How many repeats", f"needed {settled} repeats, or {rough} at 0.2")
    by_rank = [[own["Rank"] for own in part.values()] for part in (bayes, trees)]
    sentence = f"`Rank` needed {span(by_rank[0])} repeats for naive Bayes and {span(by_rank[1])} for trees"
    says("dropping.md", "How many repeats", sentence)


def ratio(numbers, name):
    return f"{numbers[name]:.2f}" if name in numbers else ""


def test_everyday_searches():
    heading, measured = "Everyday searches", result("benchmarks/results/everyday.json")
    page = keyed("speed.md", heading, 2)
    searches = {tuple(title.split("; n_jobs=")): numbers for title, numbers in measured.items()}
    assert len(page) == len(searches) - 2 == 36
    ratios = [f"{side}_{kind}" for side in ("kept", "dropping") for kind in ("wall", "cpu", "warm")]
    for key, cells in page.items():
        numbers = searches[key]
        assert cells == [f"{numbers['seconds']:.1f}", *(ratio(numbers, name) for name in (*ratios, "loop_cpu"))]
        assert numbers["kept_same"] == 1
    loops = sorted(searches[key]["loop_cpu"] for key in page if key[1] == "1")
    middle = searches["all 18", "1"]["loop_cpu_median"]
    times_of_loop = f"{loops[0]:.2f} to {loops[-1]:.2f} times that of the loop (median {middle:.2f})"
    says("speed.md", heading, f"GridSearchCV's CPU time is {times_of_loop}.")
    least = {
        (side, jobs): searches["all 18", jobs][f"{side}_wall_least"] for side in ("kept", "dropping") for jobs in "12"
    }
    middles = {
        (side, jobs): searches["all 18", jobs][f"{side}_wall_median"] for side in ("kept", "dropping") for jobs in "12"
    }
    every = {jobs: searches["all 18", jobs] for jobs in "12"}
    # What the page says of the goals: met, and then missed.
    assert min(least[side, "2"] for side in ("kept", "dropping")) >= 0.98
    long = [numbers for key, numbers in searches.items() if key in page and numbers["seconds"] >= 2]
    assert min(numbers[f"{side}_wall"] for numbers in long for side in ("kept", "dropping")) >= 0.98
    assert f"{min(every[jobs][f'{side}_both_least'] for side in ('kept', 'dropping') for jobs in '12'):.2f}" == "1.00"
    assert middles["kept", "2"] >= 1.3
    assert least["kept", "1"] >= 0.98
    assert [key for key in page if key[1] == "1" and searches[key]["dropping_wall"] < 0.98] == [
        ("decision tree, 32", "1")
    ]
    seconds = every["1"]["dropping_estimate_median"], every["1"]["kept_estimate_median"]
    most = max(every["1"][f"{side}_estimate_most"] for side in ("kept", "dropping"))
    says("speed.md", heading, f"takes {max(seconds):.2f} s more in the median, and {most:.2f} s at most")
    with_estimate = [
        numbers["seconds"] / (numbers["seconds"] / numbers[f"{side}_wall"] + numbers[f"{side}_estimate"])
        for numbers in (searches[key] for key in page)
        for side in ("kept", "dropping")
    ]
    says("speed.md", heading, f"With it, the lowest ratio is {min(with_estimate):.2f}.")
    assert middles["kept", "1"] < 1.3
    assert max(middles["dropping", jobs] for jobs in "12") < 2
    warm = [
        min(searches[key].get(f"{side}_warm", 1.0) for side in ("kept", "dropping")) for key in page if key[1] == "2"
    ]
    assert sum(numbers < 0.98 for numbers in warm) == 2
    other = sum(numbers["dropping_same"] == 0 for key, numbers in searches.items() if key in page)
    says("speed.md", heading, f"With dropping, another configuration won in {other} of the {len(page)} rows.")
    for jobs in ("1", "2"):
        every = next(n for (_, j), n in searches.items() if j == jobs and "kept_wall_least" in n)
        for side, words in (("kept", "nothing dropped"), ("dropping", "as it comes")):
            least, median = (every[f"{side}_wall_{kind}"] for kind in ("least", "median"))
            says("speed.md", heading, f"`n_jobs={jobs}`, {words}: at least {least:.2f}, median {median:.2f}")


def test_how_long_a_run_takes():
    budget, left = (result(f"benchmarks/results/run_{name}.json") for name in ("budget", "left"))
    walls = [f"{budget[f'200,000 x 24, {seconds} s']['wall']:.0f} s" for seconds in (60, 150)]
    said = f"took {walls[0]} with a budget of 60 s, and {walls[1]} with a budget of 150 s"
    says("run.md", "How long it takes", said)
    wrong, readings = (sum(row[name] for row in left.values()) for name in ("wrong", "readings"))
    says("run.md", "How long it takes", f"{wrong:.0f} of {readings:.0f} readings of the time left were off")


def test_what_dropping_saves_and_costs():
    heading, study = "What dropping saves and costs, with five folds", result("studies/results/dropping.json")
    page = sections("dropping.md")[heading]
    for rows in (list(dropping.real_rows(study)), list(dropping.simulated_rows(study))):
        assert len(rows) >= 8
        assert "\n".join(rows) in page
    for sentence in dropping.words(study):
        says("dropping.md", heading, sentence)


def test_variance_components_of_blocked_cross_validation():
    study, heading = result("studies/results/blocked.json"), "Variance components"
    assert "\n".join(blocked.page_rows(study)) in sections("compare/t_blocked_mx2.md")[heading]
    says("compare/t_blocked_mx2.md", heading, f"{study['data_sets']:,} data sets each")
    for sentence in blocked.words(study):
        says("compare/t_blocked_mx2.md", heading, sentence)


def test_adjusting_by_draws():
    study, heading = result("studies/results/adjusting.json"), "When it is valid"
    assert "\n".join(adjusting.page_rows(study)) in sections("compare/pairs.md")[heading]
    says("compare/pairs.md", heading, f"{study['data_sets']} data sets each, alpha 0.05")


@pytest.mark.parametrize(
    ("study", "page", "heading", "tables"),
    [
        (corrections, "methods/wmc.md", "Bias", [corrections.page_rows]),
        (tuned, "compare/algorithms.md", "How often it errs", [lambda study: tuned.page_rows(study["rows"])]),
        (margins, "compare/non_inferior.md", "How often it errs", [lambda study: margins.page_rows(study["rows"])]),
        (
            margins_one_set,
            "compare/t_skewed.md",
            "How often it errs",
            [margins_one_set.sample_rows, margins_one_set.group_rows, margins_one_set.mcnemar_rows],
        ),
        (power_law, "curves.md", "How far to trust it", [power_law.page_rows, power_law.noise_rows]),
        (never_selected, "dropping.md", "What NeverSelected saves and costs", [never_selected.simulated_rows]),
        (never_selected, "dropping.md", "Ending within a repeat", [never_selected.ending_rows]),
    ],
    ids=["corrections", "tuned", "margins", "margins_one_set", "power_law", "never_selected", "ending"],
)
def test_pages_have_the_tables_and_sentences_of_small_studies(study, page, heading, tables):
    found = result(f"studies/results/{study.__name__}.json")
    for rows_of in tables:
        assert "\n".join(rows_of(found)) in sections(page)[heading]
    for sentence in study.words(found) if heading != "Ending within a repeat" else ():
        says(page, heading, sentence)


def test_numbers_of_repetitions_of_small_studies():
    n = {name: result(f"studies/results/{name}.json") for name in ("power_law", "survival_curves", "never_selected")}
    says("curves.md", "How far to trust it", f"on {n['power_law']['data_sets']} simulated data sets each")
    says("methods/metrics.md", BRIER, f"on {n['survival_curves']['data_sets']} simulated data sets each")
    repetitions = n["never_selected"]["repetitions"]
    says("dropping.md", "What NeverSelected saves and costs", f"with {repetitions} repetitions of each")
    says("dropping.md", "Ending within a repeat", f"ten folds, {repetitions} times each")
    assert all(abs(row["bias"]) < 2 * row["bias_se"] for row in n["never_selected"]["ending"].values())
    says("dropping.md", "Ending within a repeat", "no bias here is more than two standard errors from 0")


def test_the_best_of_noise_is_too_good_by_every_estimate():
    for row in result("studies/results/power_law.json")["noise"].values():
        winner, fitted, corrected = (row[name][0] for name in ("winner", "IPL", "bbc"))
        assert winner > fitted > corrected > 0
    says("curves.md", "How far to trust it", "All three are too high here, `bbc` least.")


BRIER = "The integrated Brier score"


def test_the_integrated_brier_score_of_what_is_selected():
    study = result("studies/results/survival_curves.json")
    assert survival_curves.table(study["settings"]) in sections("methods/metrics.md")[BRIER]


def test_tuned_algorithms_are_found_to_differ_as_often_as_the_page_says_first():
    sentence = list(tuned.words(result("studies/results/tuned.json")))[-1]
    says("compare/algorithms.md", "When it is valid", sentence)


def test_the_reason_at_a_margin_says_how_often_the_study_erred():
    (row,) = (row for row in DECISIONS if row.shifted)
    mean, most = margins_one_set.errors(result("studies/results/margins_one_set.json"), "t_skewed")
    assert f"wrong in {mean:.1%} of data sets on average, and in up to {most:.0%} where the large errors" in row.why


POWER_PAGE = "studies/power_curves.md"
POWER = "Power of tests (Wang et al. 2014, Figures 6 and 7)"


def test_power_of_tests_by_resampling():
    study = result("studies/results/power_curves.json")
    tables = re.findall(r"(?:^\|.*\n)+", sections(POWER_PAGE)[POWER], re.M)
    curves = study["simulations"].values()
    assert [table.splitlines() for table in tables] == [list(power_curves.page_rows(one)) for one in curves]
    says(POWER_PAGE, POWER, f"{study['data_sets']:,} data sets each, alpha 0.05")
    for one in curves:
        kfold, corrected, t, f, blocked = (np.array(one[test]) for test, _ in power_curves.DRAWN)
        assert np.all(np.maximum(kfold, corrected)[2:] < np.minimum(t, blocked)[2:])  # "the two-fold tests ..."
        assert np.all(corrected <= kfold)  # "... and the corrected one has the least"
        assert np.all(f[1:] > blocked[1:])
        assert np.all((blocked > t)[t >= 0.2])
    most = max(max(one[test]) for one in curves for test in ("t_kfold", "t_corrected_kfold"))
    says(POWER_PAGE, POWER, f"have little power (at most {most:.2f} here)")


CORRECTION = "Estimates with the balanced correction (Tsamardinos et al. 2018, sect. 5)"


def all_settings() -> dict[tuple[str, ...], list[str]]:
    return keyed("studies/balanced.md", "The 196 settings of the 2018 simulation", 4)


def test_balanced_correction():
    """The table of the page sums up that of all settings."""
    every = all_settings()
    for n, cells in rows("studies/balanced.md", CORRECTION).items():
        own = [(int(times), row) for (size, _, _, times), row in every.items() if size == n]
        assert len(own) == 28
        shares = np.array([times for times, _ in own]) / sum(times for times, _ in own)
        for i, cell in enumerate(cells[:5]):
            bias, error = np.array([[float(v) for v in re.findall(r"[-+]?[\d.]+", row[i])] for _, row in own]).T
            expected = [bias.mean(), np.abs(bias).max(), np.sqrt(np.mean(error**2))]
            # Both tables are rounded to three digits.
            assert [float(v) for v in re.findall(r"[-+]?[\d.]+", cell)] == pytest.approx(expected, abs=0.0011)
        covered = shares @ np.array([[float(v) for v in row[5:7]] for _, row in own])
        assert [float(v) for v in cells[5:]] == pytest.approx(covered.tolist(), abs=0.0011)
    low = [
        -float(cells[3].split(",")[0]) for n, cells in rows("studies/balanced.md", CORRECTION).items() if int(n) <= 100
    ]
    sentence = f"too low: by {span(low, 3)} on average with 20 to 100 samples"
    says("methods/bbc.md", "Balanced: correct for selecting on fewer samples", sentence)


def test_sentences_on_the_balanced_correction():
    every = all_settings()
    errors = {key: [float(re.findall(r"[\d.]+", cell)[1]) for cell in row[2:5]] for key, row in every.items()}
    nested, bbc, balanced = np.array(list(errors.values())).T
    small = np.array([found for (n, c, *_), found in errors.items() if (n, c) == ("20", "300")]).T
    ranges = [span(found.tolist(), 3) for found in small]
    for sentence in (
        f"the lower error in {np.sum(balanced < bbc)} of the {len(every)} settings and the same in {np.sum(balanced == bbc)}",
        f"below that of nested cross-validation in {np.sum(balanced < nested)}",
        f"the errors are {ranges[2]} (balanced), {ranges[1]} (BBC) and {ranges[0]} (nested)",
    ):
        says("studies/balanced.md", CORRECTION, sentence)


# -- speed ----------------------------------------------------------------------------------------------------


def test_bbc_against_the_plain_loop():
    measured = result("benchmarks/results/bbc.json")
    for metric, cells in rows("speed.md", "BBC against the plain loop").items():
        own = measured[f"500, 610, {metric}"]
        expected = [
            f"{1000 * own['bbc']:.1f}",
            f"{own['loop']:.0f}",
            f"{own['loop'] / own['bbc']:,.0f}",
            f"{own['megabytes']:.0f}",
        ]
        assert cells == expected
    first = [measured[f"first call, {metric}"] for metric in ("accuracy", "roc_auc")]
    seconds, compiling = ([f"{one[key]:.1f} s" for one in first] for key in ("seconds", "compiling"))
    sentence = (
        f"{seconds[0]} for accuracy and {seconds[1]} for AUC, or {compiling[0]} and {compiling[1]} for the very first"
    )
    says("speed.md", "BBC against the plain loop", sentence)


def test_gains_of_the_families():
    measured = {row["row"]: row for row in result("benchmarks/results/families.json")["rows"]}
    page = rows("sharing.md", "What the families gain")
    shapes = ("500 x 20", "500 x 20, scaled", "2000 x 30", "2000 x 30, scaled")
    seen = {re.search(r"`(\w+)`(.*)", title).groups(): cells for title, cells in page.items()}
    assert len(seen) == len(measured)
    gains = {tuple(f"{row['gain'][s]:.2g}" for s in shapes) for row in measured.values()}
    for cells in page.values():
        assert tuple(f"{float(cell.rstrip('x')):.2g}" for cell in cells[1:]) in gains


def test_run_on_real_tables():
    measured = result("benchmarks/results/run.json")
    page = rows("run.md", "Does the number come true?")
    assert set(page) == set(measured)
    for title, cells in page.items():
        one = measured[title]
        assert cells == [*(f"{one[key]:.3f}" for key in ("winner", "claimed", "truth")), f"{one['covered']:.2f}"]
    everywhere = [measured[f"all, {metric}"] for metric in ("roc_auc", "accuracy")]
    winner, corrected = ([f"{one[key] - one['truth']:.3f}" for one in everywhere] for key in ("winner", "claimed"))
    said = f"the winner's score is {winner[0]} too high by AUC and {winner[1]} by accuracy. "
    said += f"The corrected estimate is off by {float(corrected[0]):+.3f} and {float(corrected[1]):+.3f}."
    says("run.md", "Does the number come true?", said)
    covered = sum(one["covered"] * one["draws"] for one in everywhere) / sum(one["draws"] for one in everywhere)
    says("run.md", "Does the number come true?", f"contain the true score in {100 * covered:.0f} percent of the runs")
    seconds = sum(one["seconds"] for one in everywhere) / 2
    says("run.md", "Does the number come true?", f"One run took {seconds:.0f} s of CPU time on average")
    assert {one["draws"] for one in measured.values()} == {20, 200}
    if "nested_ratio" in everywhere[0]:
        sets, ratio = everywhere[0]["nested_sets"], everywhere[0]["nested_ratio"]
        says("run.md", "Does the number come true?", f"measured on one draw of {sets:.0f} of the tables")
        says("run.md", "Does the number come true?", f"took {ratio:.0f} times the CPU time of `outfold run`")
        each = sorted(one["nested_seconds"] for title, one in measured.items() if one["nested_sets"] == 1)
        says(
            "run.md", "Does the number come true?", " and ".join(f"{seconds:.0f}" for seconds in each) + " s, measured"
        )
    beside = rows("run.md", "Beside FLAML")
    for one, cells in zip(everywhere, beside.values(), strict=True):
        assert one["peer_draws"] == 50
        keys = ("same_claimed", "same_truth", "peer_claimed", "peer_truth")
        assert cells == [f"{one[key]:.3f}" for key in keys]


def test_large_artifacts():
    measured, page = result("benchmarks/results/large.json"), rows("speed.md", "Large artifacts")
    assert set(page) == set(measured)
    for title, cells in page.items():
        one = measured[title]
        before = f"{one['before_seconds']:.1f}", f"{one['before_megabytes']:,.0f}"
        ratio = f"{one['before_seconds'] / one['seconds']:.1f}"
        assert cells == [f"{one['seconds']:.1f}", f"{one['megabytes']:.0f}", *before, ratio]


def test_large_files():
    measured, page = result("benchmarks/results/store.json"), sections("format.md")["Large files"]
    speeds = {}
    for size in (25, 200):
        one = measured[f"write 5000 x 10 x 10, batches of {size}"]
        speeds[size] = f"{round(one['cells_per_second'], -3):,.0f}"
        assert one["cells"] == 500_000
        assert f"{one['bytes_per_raw_byte']:.2f} times" in page
    assert f"{speeds[25]} cells a second in batches of 25" in page
    assert f"{speeds[200]} in batches of 200" in page
    opened = measured["open"]
    assert opened["gigabytes"] == 10
    assert opened["seconds"] < 1
    assert opened["megabytes"] < 60


def test_growth():
    measured, page = result("benchmarks/results/growth.json"), rows("speed.md", "Growth")
    assert set(page) == set(measured)
    for title, cells in page.items():
        one = dict(measured[title])
        slope = one.pop("slope")
        sizes = ", ".join(f"{int(size):,}" for size in one)
        assert cells == [sizes, ", ".join(f"{seconds:.2f}" for seconds in one.values()), f"{slope:.2f}"]


def test_632_bootstrap():
    ((size, own),) = result("benchmarks/results/bootstrap.json").items()
    ((title, cells),) = rows("speed.md", ".632+ bootstrap").items()
    assert title == size
    seconds = [
        f"{own[side]:.2f}" if own[side] < 10 else f"{own[side]:.0f}"
        for side in ("mlxtend", "outfold", "the fits alone")
    ]
    assert cells == [*seconds, times(own["mlxtend"] / own["outfold"])]


def test_comparing():
    measured = result("benchmarks/results/compare.json")
    page = list(rows("speed.md", "Comparing").values())
    one = measured["McNemar"]
    expected = [
        (one["mlxtend"], one[side]) for side in ("all pairs in one call", "and a result a pair", "one call a pair")
    ]
    expected += [
        tuple(measured["Cochran's Q, 10 models"].values()),
        (None, measured["Cochran's Q, 100 models"]["cochran_q"]),
    ]
    expected += [tuple(measured[f"detectable, {metric}"].values()) for metric in ("accuracy", "roc_auc")]
    for cells, (theirs, ours) in zip(page, expected, strict=True):
        cost = f"{1000 * ours:,.0f}" if ours >= 0.00995 else f"{1000 * ours:.1f}"
        assert cells == (["–", cost, "–"] if theirs is None else [f"{1000 * theirs:,.0f}", cost, times(theirs / ours)])
    slowest = max(measured[f"detectable, {metric}"]["detectable"] for metric in ("accuracy", "roc_auc"))
    assert slowest < 5


def test_reports():
    measured = result("benchmarks/results/report.json")
    ratios = []
    for metric, cells in rows("report.md", "Size and speed").items():
        own = measured[metric]
        ratios.append(own["report"] / own["bbc"])
        assert cells == [
            f"{own['bbc']:.2f} s",
            f"{own['report']:.2f} s",
            f"{ratios[-1]:.1f}",
            f"{own['megabytes']:.2f} MB",
        ]
    says("speed.md", "Reports", f"takes {min(ratios):.1f} to {max(ratios):.1f} times the CPU time of its estimate")


def test_importing():
    own = result("benchmarks/results/startup.json")["seconds"]
    sentence = f"`import outfold` takes {own['outfold']:.2f} s of CPU, one that runs `import sklearn.model_selection`"
    says("speed.md", "Importing", f"{sentence} {own['sklearn.model_selection']:.2f} s")


def test_how_often_confront_errs():
    found = result("studies/results/confronting.json")
    settings, heading = found["settings"], "How often it errs"
    assert confronting.table(settings) in (ROOT / "docs" / "models.md").read_text()

    def percent(test: str) -> list[float]:
        return [
            100 * share
            for shares in settings.values()
            for key, share in shares.items()
            if key.endswith(f"null, {test}")
        ]

    says("models.md", heading, f"draws {found['data_sets']} data sets per setting")
    errs = percent("confront")
    assert max(errs) < 7  # 5 and two standard errors
    ends = f"{min(errs):.1f} to {max(errs):.1f} percent of the data sets, in {np.mean(errs):.1f} percent on average"
    says("models.md", heading, f"`confront` errs in {ends}")
    says("models.md", heading, f"counted only once, the test would err in up to {max(percent('once')):.1f} percent")
    says("models.md", heading, f"it would err in up to {max(percent(WINNER)):.1f} percent")
    target, features = span(percent("target"), 1), span(percent("features"), 1)
    says("models.md", heading, f"The tests of the target err in {target} percent of the data sets")
    says("models.md", heading, f"those of ten features together in {features} percent")


WINNER = "winner's score"
