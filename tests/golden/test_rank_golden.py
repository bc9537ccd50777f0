"""Tests over data sets against published digits and other software."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outfold as of
from internals import rank_tests as kernel

# Demsar (2006), Table 6, with the tie of "voting" broken as the paper's own ranks have it.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.94, 0.619, 0.972, 0.957],
    "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
    "C4.5+cf": [0.771, 0.59, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.97501, 0.946],
    "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.97],
}
# Raeder, Hoens and Chawla (2010), Table II: AUROC of C4.5 and HDDT on 18 data sets in two partitions.
C45_216 = [0.9784, 0.6936, 0.8996, 0.8993, 0.8431, 0.8756, 0.8646, 0.9353, 0.9992]
C45_216 += [0.7781, 0.8654, 0.8699, 0.8053, 0.7964, 0.9354, 0.8051, 0.9843, 0.9451]
HDDT_216 = [0.9753, 0.6913, 0.8967, 0.8877, 0.8181, 0.829, 0.8848, 0.9301, 0.9993]
HDDT_216 += [0.7717, 0.8514, 0.8533, 0.7929, 0.7575, 0.9254, 0.8023, 0.9824, 0.9343]
C45_459 = [0.9768, 0.6521, 0.9044, 0.9021, 0.8161, 0.8376, 0.8742, 0.9247, 0.9988]
C45_459 += [0.7661, 0.8676, 0.8669, 0.8076, 0.7419, 0.9342, 0.7722, 0.9828, 0.9497]
HDDT_459 = [0.982, 0.6531, 0.8967, 0.8898, 0.8333, 0.8404, 0.8928, 0.9371, 0.9991]
HDDT_459 += [0.7696, 0.8774, 0.8727, 0.8127, 0.7311, 0.9273, 0.7962, 0.9835, 0.9426]

FRIEDMAN = range(3)
EXACT = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def golden(golden_data):
    return json.loads((golden_data / "tests.json").read_text())


@pytest.fixture(scope="module")
def golden_r(golden_data):
    return json.loads((golden_data / "tests_R.json").read_text())


def pair_matrix(ranking, name):
    """The pairs' values as a symmetric matrix with ones on its diagonal."""
    k = len(ranking.algorithms)
    out = np.eye(k)
    for pair in ranking.pairs:
        i, j = map(ranking.algorithms.index, (pair.a, pair.b))
        out[i, j] = out[j, i] = getattr(pair, name)
    return out


# -- printed digits -------------------------------------------------------------------------------------


def test_demsar_printed_digits():
    plain = of.rank.friedman(DEMSAR, method="chi2", ties=False)
    np.testing.assert_allclose(plain.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert plain.omnibus.statistic == pytest.approx(9.28, abs=5e-3)
    F = of.rank.friedman(DEMSAR, ties=False).omnibus
    assert F.statistic == pytest.approx(3.69, abs=5e-3)
    assert F.df == (3, 39)
    assert of.rank.nemenyi(DEMSAR).cd == pytest.approx(1.25, abs=5e-3)


def test_demsar_table_5():
    """Critical values for 2 to 10 algorithms; those of Nemenyi are printed after rounding the studentized range."""
    ranges = np.round([np.sqrt(2) * kernel.nemenyi_quantile(0.05, k) for k in range(2, 11)], 3)
    printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    np.testing.assert_allclose(ranges / np.sqrt(2), printed, atol=5e-4)
    found = [kernel.bonferroni_dunn_quantile(0.05, k) for k in range(2, 11)]
    # 2.724 is printed for nine algorithms, and copied by many; the normal quantile at 0.05 / 16 is 2.734.
    printed = [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773]
    np.testing.assert_allclose(found, printed, atol=5e-4)


def test_demsar_against_the_control():
    found = of.rank.bonferroni_dunn(DEMSAR, control="C4.5", alpha=0.1)
    z = {pair.b: pair.z for pair in found.pairs}
    assert z == pytest.approx({"C4.5+m": 2.342, "C4.5+cf": 0.512, "C4.5+m+cf": 2.415}, abs=5e-4)
    assert {pair.b for pair in found.pairs if pair.better == pair.b} == {"C4.5+m", "C4.5+m+cf"}
    assert found.groups == (("C4.5+cf", "C4.5"),)


def test_raeder_critical_distance():
    scores = np.random.default_rng(0).random((20, 3))
    assert of.rank.bonferroni_dunn(scores, control=0).cd == pytest.approx(0.709, abs=5e-4)


def test_raeder_table_2_first_partition_is_significant():
    scores = {"C45": C45_216, "HDDT": HDDT_216}
    assert of.rank.friedman(scores).mean_ranks == pytest.approx([1.11, 1.89], abs=5e-3)
    found = of.rank.wilcoxon(scores, None, "C45", "HDDT")
    assert found.pvalue == pytest.approx(0.00129, abs=5e-6)
    assert found.better == "C45"


def test_raeder_table_2_second_partition_is_not_significant_whatever_the_paper_says():
    """The ranks are as printed, but the 18 printed rows give p = 0.229: no form of the test makes it "significant"."""
    scores = {"C45": C45_459, "HDDT": HDDT_459}
    assert of.rank.friedman(scores).mean_ranks == pytest.approx([1.72, 1.28], abs=5e-3)
    assert of.rank.wilcoxon(scores, None, "C45", "HDDT").pvalue == pytest.approx(0.229, abs=5e-4)
    for zero_method in ("wilcox", "pratt", "zsplit"):
        for method in ("exact", "asymptotic"):
            found = of.rank.wilcoxon(scores, None, "C45", "HDDT", zero_method=zero_method, method=method)
            assert found.pvalue > 0.2
            assert found.better is None


# -- other software -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", FRIEDMAN)
def test_friedman_equals_scipy(golden, case):
    ref = golden["friedman"][case]
    corrected = of.rank.friedman(ref["scores"], method="chi2")
    np.testing.assert_allclose(corrected.mean_ranks, ref["avg_ranks_1_is_best"], **EXACT)
    np.testing.assert_allclose(corrected.omnibus[2::2], ref["friedman_scipy_tie_corrected"], **EXACT)
    assert of.rank.friedman(ref["scores"]).omnibus.statistic == pytest.approx(
        ref["iman_davenport_F_tie_corrected"], rel=1e-9
    )
    plain = of.rank.friedman(ref["scores"], method="chi2", ties=False).omnibus
    np.testing.assert_allclose(plain[2::2], [ref["friedman_chi2_no_tie_correction"], ref["p_no_tie"]], **EXACT)
    F = of.rank.friedman(ref["scores"], ties=False).omnibus
    np.testing.assert_allclose(F[2::2], [ref["iman_davenport_F"], ref["iman_davenport_p"]], **EXACT)


def test_friedman_equals_r(golden, golden_r):
    as_printed = golden["friedman"][1]["scores"]
    found = of.rank.friedman(as_printed, method="chi2").omnibus
    np.testing.assert_allclose(found[2::2], golden_r["friedman_demsar_as_printed"], **EXACT)


@pytest.mark.parametrize("case", FRIEDMAN)
def test_nemenyi_equals_scikit_posthocs(golden, case):
    ref = golden["friedman"][case]
    found = of.rank.nemenyi(ref["scores"])
    np.testing.assert_allclose(pair_matrix(found, "adjusted"), ref["nemenyi_p_scikit_posthocs"], **EXACT)
    for alpha in ("0.05", "0.1"):
        found = of.rank.nemenyi(ref["scores"], alpha=float(alpha))
        assert found.cd == pytest.approx(ref["nemenyi_CD"][alpha], rel=1e-9)
        k = len(found.algorithms)
        assert kernel.nemenyi_quantile(float(alpha), k) == pytest.approx(ref["nemenyi_q"][alpha], rel=1e-9)
        found = of.rank.bonferroni_dunn(ref["scores"], control=0, alpha=float(alpha))
        assert found.cd == pytest.approx(ref["bonferroni_dunn_CD"][alpha], rel=1e-9)
        assert kernel.bonferroni_dunn_quantile(float(alpha), k) == pytest.approx(
            ref["bonferroni_dunn_q"][alpha], rel=1e-9
        )


@pytest.mark.parametrize("case", FRIEDMAN)
def test_autorank_rounds_its_critical_difference(golden, case):
    """autorank has the same p value and ranks; its CD takes q from a table with few digits, and differs in the fifth."""
    ref = golden["friedman"][case]
    found = of.rank.nemenyi(ref["scores"], method="chi2")
    assert found.omnibus.pvalue == pytest.approx(ref["autorank"]["pvalue"], rel=1e-9)
    ranks = [ref["autorank"]["meanrank"][f"m{j}"] for j in range(len(found.algorithms))]
    np.testing.assert_allclose(found.mean_ranks, ranks, **EXACT)
    assert found.cd != pytest.approx(ref["autorank"]["cd"], rel=1e-6)
    assert found.cd == pytest.approx(ref["autorank"]["cd"], rel=2e-5)


def test_critical_difference_of_r_is_less_exact(golden_r):
    """R finds the quantile to about 1e-9 only; ours solves the distribution function to rounding."""
    from scipy.stats import studentized_range

    found = of.rank.nemenyi(DEMSAR)
    assert found.cd == pytest.approx(golden_r["ptukey_CD_k4_N14"], rel=3e-9)
    q = found.cd / np.sqrt(4 * 5 / (6 * 14)) * np.sqrt(2)
    assert studentized_range.sf(q, 4, np.inf) == pytest.approx(0.05, rel=1e-12)


@pytest.mark.parametrize("case", FRIEDMAN)
def test_bonferroni_dunn_values(golden, case):
    ref = golden["friedman"][case]["bonferroni_dunn_vs_first"]
    pairs = of.rank.bonferroni_dunn(golden["friedman"][case]["scores"], control=0).pairs
    for name, field in (("z", "z"), ("p_raw", "pvalue"), ("p_bonferroni", "adjusted")):
        np.testing.assert_allclose([getattr(pair, field) for pair in pairs], ref[name], **EXACT)


def test_bonferroni_dunn_of_the_paper(golden):
    ref = golden["bonferroni_dunn_raeder2010"]
    assert kernel.bonferroni_dunn_quantile(ref["alpha"], ref["k"]) == pytest.approx(ref["q"], rel=1e-12)
    scores = np.random.default_rng(1).random((ref["N"], ref["k"]))
    assert of.rank.bonferroni_dunn(scores, control=0, alpha=ref["alpha"]).cd == pytest.approx(ref["CD"], rel=1e-12)


@pytest.mark.parametrize("case", FRIEDMAN)
def test_holm_equals_scikit_posthocs(golden, case):
    ref = golden["friedman"][case]
    found = of.rank.holm(ref["scores"])
    np.testing.assert_allclose(pair_matrix(found, "adjusted"), ref["siegel_friedman_holm_scikit_posthocs"], **EXACT)


ASYMPTOTIC = [(z, c) for z in ("wilcox", "pratt", "zsplit") for c in (False, True)]


@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize(("zero_method", "correction"), ASYMPTOTIC)
def test_wilcoxon_asymptotic_equals_scipy(golden, case, zero_method, correction):
    """On the plain differences, which scipy takes as floats give them."""
    ref = golden["wilcoxon"][case]
    found = kernel.signed_ranks(np.subtract(ref["x"], ref["y"]), zero_method)
    p = kernel.signed_rank_asymptotic(found, correction)
    expected = ref[f"{zero_method}/asymptotic/{'cc' if correction else 'nocc'}"]
    np.testing.assert_allclose([found.statistic, p], expected, **EXACT)


@pytest.mark.parametrize("case", range(2))
@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
def test_wilcoxon_equals_scipy_where_nothing_is_zero(golden, case, zero_method):
    ref = golden["wilcoxon"][case]
    scores = {"x": ref["x"], "y": ref["y"]}
    for method, correction, name in (
        ("exact", False, "exact/nocc"),
        ("asymptotic", False, "asymptotic/nocc"),
        ("asymptotic", True, "asymptotic/cc"),
    ):
        found = of.rank.wilcoxon(scores, None, "x", "y", zero_method=zero_method, method=method, correction=correction)
        np.testing.assert_allclose([found.statistic, found.pvalue], ref[f"{zero_method}/{name}"], **EXACT)


def test_wilcoxon_equals_r(golden_r):
    difference = np.subtract(C45_459, HDDT_459)
    found = kernel.signed_ranks(difference, "wilcox")
    ref = golden_r["wilcoxon_raeder2010_iter459"]
    assert found.plus == ref["V"]
    assert kernel.signed_rank_exact(found) == pytest.approx(ref["exact_p"], rel=1e-9)
    assert kernel.signed_rank_asymptotic(found, False) == pytest.approx(ref["asymptotic_nocc_p"], rel=1e-9)


def test_wilcoxon_exact_with_zeros_counts_the_signs_that_can_change(golden):
    """scipy's "exact" reads a table for five differences without zeros, where only three can change their sign.

    Its own permutation of the signs gives our value.
    """
    from scipy import stats

    ref = golden["wilcoxon"][2]
    difference = np.subtract(ref["x"], ref["y"])
    for zero_method, tabled in (("wilcox", 0.5), ("pratt", 0.8125), ("zsplit", 0.625)):
        assert ref[f"{zero_method}/exact/nocc"][1] == tabled
        permuted = stats.wilcoxon(difference, zero_method=zero_method, method=stats.PermutationMethod()).pvalue
        found = kernel.signed_ranks(difference, zero_method)
        assert found.statistic == ref[f"{zero_method}/exact/nocc"][0]
        assert kernel.signed_rank_exact(found) == pytest.approx(permuted, rel=1e-12) == 0.5


def test_wilcoxon_ties_are_those_of_the_decimals(golden):
    """0.90 - 0.95 and 0.75 - 0.70 are the same size; floats rank the first below the second, and scipy has W = 1."""
    ref = golden["wilcoxon"][2]
    assert ref["wilcox/exact/nocc"][0] == 1
    found = of.rank.wilcoxon({"x": ref["x"], "y": ref["y"]}, None, "x", "y")
    assert found.statistic == 1.5
    whole = np.rint(1000 * np.array([ref["x"], ref["y"]]))
    assert kernel.signed_ranks(whole[0] - whole[1], "wilcox").statistic == 1.5


@pytest.mark.parametrize("case", range(2))
def test_table_2_recheck(golden, case):
    ref = golden["raeder2010_table2_recheck"][case]
    x, y = ((C45_216, HDDT_216), (C45_459, HDDT_459))[case]
    signs = of.rank.sign({"x": x, "y": y}, None, "x", "y")
    assert signs.wins[:3] == (ref["c45_wins"], 0, ref["hddt_wins"])
    assert signs.pvalue == pytest.approx(ref["sign_test_two_sided"], rel=1e-9)
    omnibus = of.rank.friedman({"x": x, "y": y}, method="chi2")
    np.testing.assert_allclose(omnibus.omnibus[2::2], [ref["friedman_chi2"], ref["friedman_p"]], **EXACT)
    assert omnibus.mean_ranks[0] == pytest.approx(ref["avg_rank_c45"], rel=1e-9)


def test_bayesian_signed_rank_equals_baycomp(golden):
    ref = golden["bayes_multiple"][1]
    assert ref["test"] == "SignedRankTest"
    scores = {"x": ref["x"], "y": ref["y"]}
    found = of.rank.signed_rank_bayes(scores, None, "x", "y", rope=ref["rope"], prior=ref["prior"])
    np.testing.assert_allclose(found.probabilities, ref["probs_winner_share"], atol=0.01)
    np.testing.assert_allclose(found.details["expected"], ref["mean"], atol=0.01)


def test_verdicts_of_table_2_of_raeder_2010():
    """Two partitions of the same data sets: the printed digits give one finding, and none the other way."""
    table = np.moveaxis([[C45_216, HDDT_216], [C45_459, HDDT_459]], 1, 2)
    found = of.stability.flips(table, "roc_auc", 0, 1)
    assert found.verdicts == ("algorithm 0", "undecided")
    assert [one.pvalue for one in found.comparisons] == pytest.approx([0.00129, 0.229], abs=5e-4)
    for one, (a, b) in zip(found.comparisons, ((C45_216, HDDT_216), (C45_459, HDDT_459)), strict=True):
        assert one.pvalue == of.rank.wilcoxon({"a": a, "b": b}, "roc_auc", "a", "b").pvalue
    # The mean ranks 1.72 and 1.28 that the paper prints for the second are those of 13 wins in 18.
    assert found.comparisons[1].wins[:3] == (5, 0, 13)
    assert found.flipped == 0.5
    assert found.agreement == 0
    assert not found.opposite
