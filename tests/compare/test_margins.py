"""As good as, within a margin: the one-sided tests, their interval, the words, and how many samples they need."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outfold as of
from internals import cli
from outfold import compare
from outfold.exceptions import InputError, NeedError


def answers(only_a=9, only_b=8, both=250, neither=33):
    right = [[1, 0]] * only_a + [[0, 1]] * only_b + [[1, 1]] * both + [[0, 0]] * neither
    return of.from_arrays(None, right, configs=["small", "large"], response="pointwise")


def folds(seed=0, n=80, strength=(1.6, 1.5)):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    z = (
        np.array(strength)[:, None] * (y[:, None, None] - 0.5)
        + rng.normal(size=(n, 1, 1))
        + 0.2 * rng.normal(size=(n, 2, 2))
    )
    held = np.stack([rng.permutation(n) % 5 for _ in range(2)], axis=1)
    return of.from_arrays(y, 1 / (1 + np.exp(-z)), folds=held, configs=["small", "large"], response="proba")


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    margin=st.floats(0.005, 0.3),
    alpha=st.sampled_from([0.01, 0.05, 0.1]),
    metric=st.sampled_from(["accuracy", "brier", "roc_auc"]),
)
def test_the_answer_is_yes_exactly_where_the_interval_lies_within_the_margin(seed, margin, alpha, metric):
    oof = folds(seed)
    both = compare.equivalent(oof, metric, "small", "large", margin=margin, alpha=alpha)
    one = compare.non_inferior(oof, metric, "small", "large", margin=margin, alpha=alpha)
    low, high = both.interval
    assert both.interval == one.interval
    assert both.interval == compare.t_training(oof, metric, "small", "large", confidence_level=1 - 2 * alpha).interval
    assert both.holds == (-margin < low and high < margin)
    assert one.holds == (high < margin if metric == "brier" else low > -margin)
    assert one.pvalue == both.pvalues[0]
    assert both.pvalue == max(both.pvalues)
    # Seen from the other side, the two tests change places.
    back = compare.equivalent(oof, metric, "large", "small", margin=margin, alpha=alpha)
    assert back.pvalues == pytest.approx(both.pvalues[::-1], rel=1e-9)


def test_the_direction_is_that_of_the_metric():
    oof = folds(1, strength=(1.0, 2.0))
    up, down = (compare.non_inferior(oof, metric, "small", "large", margin=0.02) for metric in ("accuracy", "error"))
    assert (up.difference, up.pvalue) == pytest.approx((-down.difference, down.pvalue))
    assert (up.tests[0].null, down.tests[0].null) == (-0.02, 0.02)
    assert not up.holds
    assert compare.non_inferior(oof, "error", "large", "small", margin=0.02).holds


def test_at_a_margin_auto_does_not_swap():
    oof = of.from_arrays(
        np.arange(60) % 2, np.random.default_rng(0).random((60, 2)), response="proba", configs=["a", "b"]
    )
    equal = compare.auto(oof, "log_loss", "a", "b")
    assert "no more is assumed" in equal.reason
    for found in (
        compare.non_inferior(oof, "log_loss", "a", "b", margin=0.1),
        compare.auto(oof, "log_loss", "a", "b", null=0.1),
    ):
        assert "swapping the two models assumes symmetric differences" in found.reason


def test_it_is_the_one_sided_test_of_the_margin():
    oof = answers()
    found = compare.equivalent(oof, "mean", "small", "large", margin=0.05)
    worse, better = (
        compare.mcnemar(oof, "mean", "small", "large", null=null, alternative=side, confidence_level=0.9)
        for null, side in ((-0.05, "better"), (0.05, "worse"))
    )
    assert found.pvalues == (worse.pvalue, better.pvalue)
    assert found.interval == worse.interval
    assert found.tests[0].reason.startswith("mcnemar was chosen for one test set")
    named = compare.equivalent(oof, "mean", "small", "large", margin=0.05, test="mcnemar", method="edwards")
    assert named.pvalue > found.pvalue
    assert named.reason == ""
    drawn = compare.non_inferior(oof, "mean", 0, 1, margin=0.05, test="bootstrap", n_resamples=500, rng=1)
    assert (
        drawn.tests[0].pvalue
        == compare.bootstrap(
            oof, "mean", 0, 1, null=-0.05, alternative="better", confidence_level=0.9, n_resamples=500, rng=1
        ).pvalue
    )


def test_what_it_prints():
    found = compare.equivalent(answers(), "mean", "small", "large", margin=0.05)
    assert str(found).splitlines()[:6] == [
        "small - large   mean +0.0033   90% CI [-0.0206, +0.0276]",
        "  decision   small and large are equivalent: they differ by less than 0.05, at alpha 0.05",
        "  test       chi2 = 10.23, df = 1, p = 6.9e-04 (against: small is worse by 0.05 or more)",
        "  test       chi2 = 8.098, df = 1, p = 0.0022 (against: small is better by 0.05 or more)",
        "  effect     0.8633 against 0.8600, standardised +0.0140, odds ratio 1.1250",
        "  effect     better in 9, equal in 283, worse in 8 of 300 samples",
    ]
    assert "Tango 1998; Schuirmann 1987]" in str(found)
    assert "@article{schuirmann1987" in of.cite(found)
    assert "<th" in found._repr_html_()
    facts = json.loads(json.dumps(found.to_dict()))
    assert (facts["holds"], facts["interval_level"], len(facts["tests"])) == (True, 0.9, 2)
    assert facts["tests"][1]["null"] == 0.05
    row = found.to_frame("pandas").iloc[0]
    assert (row["question"], row["holds"], row["pvalue"]) == ("equivalent", True, found.pvalue)
    assert found.to_latex().splitlines()[-3].endswith(r"& 0.05 & 0.0022 & yes \\")
    one = compare.non_inferior(answers(), "mean", "small", "large", margin=0.02)
    assert one.decision == "not shown: small may be worse than large by 0.02 or more, at alpha 0.05"
    assert one.to_latex().splitlines()[-3].endswith(r"not shown \\")
    assert "Schuirmann" not in str(one)
    shown = compare.non_inferior(answers(), "mean", "small", "large", margin=0.05)
    assert shown.decision == "small is not inferior to large: it is worse by less than 0.05, if at all, at alpha 0.05"
    both = compare.equivalent(answers(), "mean", "small", "large", margin=0.01)
    assert both.decision == "not shown: small and large may differ by 0.01 or more, at alpha 0.05"


def test_equal_scores_without_variance_are_not_decided():
    scores = of.from_scores({"a": [0.8] * 5, "b": [0.8] * 5}, n_train=80, n_test=20)
    found = compare.equivalent(scores, None, "a", "b", margin=0.1)
    assert (found.pvalue, found.holds) == (None, None)
    assert found.decision == "undecided: there is no variance to test by"
    assert "p = undefined" in repr(found)
    assert "p undefined (against: a is worse by 0.1 or more)" in str(found)
    # Answers that are right or wrong have one: that of shares which differ by the margin.
    assert compare.equivalent(answers(0, 0, 90, 10), "mean", "small", "large", margin=0.1).holds


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"margin": 0}, "margin must be a number above 0, in units of the metric; got 0"),
        ({"margin": -0.1}, "margin must be a number above 0"),
        ({"margin": "2%"}, "margin must be a number above 0"),
        ({"margin": 1}, "margin must be below 1: .* cannot differ by more; got 1"),
        ({"margin": 0.1, "alpha": 0.5}, "alpha must lie between 0 and 0.5"),
        ({"margin": 0.1, "test": "f_5x2cv"}, "test must have a direction; f_5x2cv has none. Use t_training"),
        ({"margin": 0.1, "test": "t_bayes"}, "t_bayes with null=-0.1 needs a null hypothesis"),
        ({"margin": 0.1, "rho": 1}, "rho is not an option of t_training"),
    ],
)
def test_what_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        compare.equivalent(folds(), "accuracy", "small", "large", **options)


def test_a_metric_of_sets_on_few_samples_names_what_to_use():
    oof = folds().sel(repeat=0)
    one = of.from_arrays(oof.y, oof.P, configs=oof.configs, response="proba")
    with pytest.raises(
        NeedError, match=r"permutation with null=-0.05 needs a metric.* Use bootstrap, or delong for roc_auc"
    ):
        compare.non_inferior(one, "roc_auc", "small", "large", margin=0.05)
    assert compare.non_inferior(one, "roc_auc", "small", "large", margin=0.05, test="delong").method == "delong"


# -- power and samples ---------------------------------------------------------------------------------------

QUICK = {"n_simulations": 400, "progress": False}


def test_power_at_the_margin_is_the_type_one_error():
    found = compare.power(answers(), "mean", "small", "large", [-0.05, 0.0], non_inferior=0.05, **QUICK)
    assert found.power[0] == pytest.approx(0.05, abs=0.035)
    assert found.power[1] > 0.9
    assert "to show “non-inferior within 0.05” at alpha 0.05, 300 samples" in str(found)
    assert (found.question, found.margin, found.null) == ("non-inferior", 0.05, 0.0)
    both = compare.power(answers(), "mean", "small", "large", [-0.05, 0.05, 0.0], equivalent=0.05, **QUICK)
    assert both.power[:2] == pytest.approx([0.05, 0.05], abs=0.035)
    assert 0.8 < both.power[2] <= found.power[1]
    null = compare.power(answers(), "mean", "small", "large", 0.05, null=0.05, **QUICK)
    assert null.power == pytest.approx(0.05, abs=0.035)
    assert ", null +0.0500, 300 samples" in str(null)


def test_power_for_a_loss_turns_the_margin():
    oof = folds().sel(repeat=0)
    one = of.from_arrays(oof.y, oof.P, configs=oof.configs, response="proba")
    up = compare.power(one, "accuracy", "small", "large", [-0.03, 0.03], non_inferior=0.05, **QUICK)
    down = compare.power(one, "error", "small", "large", [0.03, -0.03], non_inferior=0.05, **QUICK)
    np.testing.assert_array_equal(down.power, up.power)
    assert up.power[0] < up.power[1]
    for test in ("permutation", "t_training"):  # by samples, and by samples of folds
        options = {"test": test, "n": 300, **QUICK} | ({"n_resamples": 199} if test == "permutation" else {})
        source = one if test == "permutation" else folds()
        worse, alike = compare.power(source, "brier", "small", "large", [0.02, 0.0], non_inferior=0.02, **options).power
        assert worse < 0.1 < alike


def test_samples_needed_within_a_margin():
    found = compare.samples_needed(answers(), "mean", "small", "large", non_inferior=0.03, progress=False)
    assert (found.difference, found.margin) == (0.0, 0.03)
    assert found.question == "small against large by mean, non-inferior within 0.03"
    # (z_0.95 + z_0.8)^2 times the variance of a difference, 17 of 300 discordant, over the squared margin.
    assert found.n == pytest.approx(2.486**2 * (17 / 300) / 0.03**2, rel=0.25)
    both = compare.samples_needed(answers(), "mean", "small", "large", equivalent=0.03, progress=False)
    # (z_0.95 + z_0.9)^2 for two tests.
    assert both.n == pytest.approx(2.927**2 * (17 / 300) / 0.03**2, rel=0.25)
    far = compare.samples_needed(answers(), "mean", "small", "large", equivalent=0.03, difference=0.04)
    assert far.n is None
    assert "not within the margin" in str(far)
    worse = compare.samples_needed(answers(), "mean", "small", "large", non_inferior=0.03, difference=-0.03)
    assert worse.n is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"non_inferior": 0.1, "equivalent": 0.1}, "equivalent cannot be combined with non_inferior"),
        ({"non_inferior": 0.1, "null": 0.1}, "alternative and null have no meaning with a margin"),
        ({"equivalent": 0.1, "alternative": "better"}, "alternative and null have no meaning with a margin"),
        ({"equivalent": 0.0}, "margin must be a number above 0"),
    ],
)
def test_power_refuses_two_questions(options, says):
    with pytest.raises(InputError, match=says):
        compare.power(answers(), "mean", "small", "large", 0.0, **options)


# -- the command line ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return str(answers().save(tmp_path_factory.mktemp("margins") / "x.oof"))


def call(capsys, *argv):
    code = cli.main([str(a) for a in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_on_the_command_line(capsys, file):
    pair = ["compare", file, "small", "large", "--metric", "mean"]
    one = compare.non_inferior(answers(), "mean", "small", "large", margin=0.05)
    assert call(capsys, *pair, "--non-inferior", 0.05) == (0, f"{one}\n", "")
    both = compare.equivalent(answers(), "mean", "small", "large", margin=0.05, alpha=0.1, test="mcnemar")
    options = ["--equivalent", 0.05, "--level", 0.9, "--test", "mcnemar"]
    assert json.loads(call(capsys, *pair, *options, "--format", "json")[1])["pvalue"] == both.pvalue
    assert call(capsys, *pair, *options, "--format", "latex")[1] == f"{both.to_latex()}\n"
    assert "equivalent,0.05" in call(capsys, *pair, *options, "--format", "csv")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["small", "large", "--non-inferior", "0.1", "--equivalent", "0.1"], "--non-inferior and --equivalent ask two"),
        (["small", "large", "--equivalent", "0.1", "--null", "0.1"], "--equivalent says what is tested"),
        (["--all", "--equivalent", "0.1"], "it does not go with --all"),
        (["small", "--equivalent", "0.1"], "--equivalent needs the two configurations to compare; got 1"),
        (["small", "large", "--equivalent", "0"], "margin must be a number above 0"),
    ],
)
def test_wrong_usage(capsys, file, arguments, says):
    code, out, err = call(capsys, "compare", file, *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_samples_needed_on_the_command_line(capsys, file):
    arguments = ["samples-needed", file, "small", "large", "--metric", "mean", "--non-inferior", 0.03]
    _, out, _ = call(capsys, *arguments, "--format", "json")
    expected = compare.samples_needed(answers(), "mean", "small", "large", non_inferior=0.03, progress=False)
    assert json.loads(out)["n"] == expected.n
    code, _, err = call(capsys, "samples-needed", file, "--width", 0.02, "--equivalent", 0.03)
    assert (code, "go with two configurations, not with --width" in err) == (2, True)
