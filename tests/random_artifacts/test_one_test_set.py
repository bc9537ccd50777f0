"""Several runs of each prompt on one evaluation set: nothing was trained, and every public function knows it.

The repeats of a sample are averaged, and the samples are what varies. So a metric that is a mean over samples gets the
same answers as its means over repeats.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from asking import assert_finite

import outfold as of
from internals import cli
from outfold.exceptions import NeedError, OutfoldError

RNG = np.random.default_rng(3)
RIGHT = RNG.random((60, 4, 3)) < [[0.55], [0.6], [0.65], [0.7]]
ANSWERS = of.from_arrays(None, RIGHT.astype(float), response="pointwise")
MEANS = of.from_arrays(None, RIGHT.mean(axis=2), response="pointwise")
LABELS = RNG.integers(0, 2, 60)
CHANCES = of.from_arrays(LABELS, np.clip(0.4 * LABELS[:, None, None] + 0.6 * RNG.random((60, 4, 3)), 0, 1))

# Everything else has an answer.
REFUSED = {
    "estimate": "bbc_f cvm_cv holdout inbag loo nested oob optimism point632 point632plus repeated_holdout resubstitution "
    "three_way tt wmc wmcs",
    "compare": "algorithms cochran_q f_5x2cv f_looney mcnemar t_5x2cv t_5x2cv_combined t_bayes t_blocked_3x2 t_blocked_mx2 "
    "t_corrected t_corrected_kfold t_kfold t_resampled t_training z_proportions",
    "plot": "",
    "stability": "compare_plans variance variance_components",
    "drop": "Sequential",  # it takes seven repeats
}
# These are not about predictions; the others take no more than the arguments below.
ELSEWHERE = "EProcess Stop Drop DropRule critical_difference flips learning_curve power validation_curve replicability"
GIVEN: dict[str, Any] = {
    "a": 0,
    "b": 3,
    "config": 1,
    "n_resamples": 100,
    "margin": 0.1,
    "difference": 0.1,
    "n_simulations": 10,
    "progress": False,
    "configs": ["config 0", "config 1"],
}


def public(module: str) -> list[str]:
    """What a module offers that reads predictions."""
    elsewhere = ELSEWHERE.replace(" flips", "") if module == "stability" else ELSEWHERE
    elsewhere = elsewhere.replace(" power", "") if module == "compare" else elsewhere
    return [name for name in getattr(of, module).__all__ if name not in elsewhere.split()]


def call(module: str, name: str, oof: of.Predictions, metric: str) -> Any:
    """Ask a public function of predictions."""
    ask: Callable[..., Any] = getattr(getattr(of, module), name)
    if inspect.isclass(ask):  # a rule
        rule = ask(metric=metric) if "metric" in inspect.signature(ask).parameters else ask()
        if module == "stability":
            return rule.holds(oof)
        rule.check(oof)
        return list(rule.test(oof, oof.n_repeats - 1, oof.n_folds - 1, 9))
    if name in ("draws", "selection", "optimism") and module == "plot":
        return ask(of.estimate.bbc(oof, metric, n_resamples=60))
    if name == "tied" and module == "plot":
        return ask(of.compare.tied_set(oof, metric))
    if name == "pairwise":
        return ask(of.compare.pairs(oof, metric))
    if name == "compare_plans":
        return ask([oof], metric)
    parameters = inspect.signature(ask).parameters
    given = {key: value for key, value in GIVEN.items() if key in parameters}
    if module == "plot" or name in ("cochran_q", "f_looney", "pairs", "auto"):
        given = {key: value for key, value in given.items() if key not in ("n_resamples", "configs")}
    if "metric" in parameters:
        given["metric"] = metric
    return ask(oof, **given)


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in REFUSED for name in public(module)])
def test_every_public_function_answers_or_says_what_to_do(module, name):
    asked = [(ANSWERS, "mean"), (CHANCES, "accuracy"), (CHANCES, "roc_auc")]
    for oof, metric in asked[:1] if name == "detectable" else asked:  # it takes seconds
        found, error = ask_strictly(module, name, oof, metric)
        refused = name in REFUSED[module].split()
        if error is None:
            assert not refused, found
            assert str(found)
            assert_finite(found)
            continue
        assert refused or suits_another_metric(error), error
        if isinstance(error, NeedError) and "3 x one test set" in str(error):
            assert "Collect with" not in str(error)  # nothing can be collected here
            assert "use " in str(error).lower()


def ask_strictly(module: str, name: str, oof: of.Predictions, metric: str) -> tuple[Any, OutfoldError | None]:
    """The answer or our error; a warning is neither."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return call(module, name, oof, metric), None
        except OutfoldError as error:
            return None, error
        finally:
            plt.close("all")


def suits_another_metric(error: OutfoldError) -> bool:
    """Whether the function would answer by another metric, or for predictions of another kind."""
    words = "roc_auc|classes|probabilities|mean over samples|mean of per-sample values|bounds|labels|0-1 loss"
    return re.search(words, str(error)) is not None


@pytest.mark.parametrize(
    "ask",
    [
        lambda oof: of.estimate.cv(oof, "mean", 1).interval,
        lambda oof: of.estimate.bbc(oof, "mean", n_resamples=200).interval,
        lambda oof: of.estimate.bbc(oof, "mean", n_resamples=200).value,
        lambda oof: of.estimate.cvt(oof, "mean").value,
        lambda oof: of.compare.permutation(oof, "mean", 0, 3, n_resamples=500).pvalue,
        lambda oof: of.compare.bootstrap(oof, "mean", 0, 3, n_resamples=500).interval,
        lambda oof: of.compare.auto(oof, "mean", 0, 3).pvalue,
        lambda oof: of.compare.non_inferior(oof, "mean", 0, 3, margin=0.1).pvalue,
        lambda oof: of.compare.tied_set(oof, "mean", n_resamples=200).to_dict()["configurations"][1]["pvalue"],
        lambda oof: of.select.best(oof, "mean").score,
    ],
)
def test_repeats_are_averaged_by_sample(ask):
    assert ask(ANSWERS) == pytest.approx(ask(MEANS), rel=1e-9)


def test_the_interval_of_one_configuration_is_that_of_its_samples():
    found = of.estimate.cv(ANSWERS, "mean", 1)
    assert found.interval == pytest.approx(of.intervals.t(RIGHT[:, 1].mean(axis=1)))
    assert "mean of 3 repeats on one test set, t interval" in str(found)
    with pytest.raises(NeedError, match="wilson needs"):  # answers of one sample are not independent
        found.confidence_interval(method="wilson")
    # Repeats that say the same again tell nothing new.
    same = of.from_arrays(LABELS, np.repeat(CHANCES.P[:, :, :1], 5, axis=2))
    for metric in ("roc_auc", "log_loss", "f1"):
        once, again = (of.estimate.cv(oof, metric, 0, n_resamples=200) for oof in (same.sel(repeat=[0]), same))
        assert again.interval == pytest.approx(once.interval)
        assert again.interval_method == once.interval_method


def test_a_repeat_that_was_not_run():
    mask = np.zeros(RIGHT.shape, dtype=bool)
    mask[:, 1, 2] = True
    oof = of.from_arrays(None, np.ma.array(RIGHT.astype(float), mask=mask), response="pointwise")
    found = of.estimate.cv(oof, "mean", 1)
    assert found.interval == pytest.approx(of.intervals.t(RIGHT[:, 1, :2].mean(axis=1)))


def test_how_repeats_differ():
    trace = of.stability.trace(ANSWERS, "mean")
    assert trace.scores == pytest.approx(RIGHT.mean(axis=0).T)
    values = of.from_arrays(np.linspace(0, 1, 60), RIGHT.astype(float), response="value")
    between = of.stability.bias_variance(values, "mse").to_frame().set_index("config")["variance"]
    assert between.loc[list(values.configs)].to_numpy() == pytest.approx(RIGHT.var(axis=2, ddof=1).mean(axis=0))


def test_a_table_with_repeats_and_without_folds():
    frame = ANSWERS.to_frame().drop(columns="fold")
    again = of.from_frame(frame, sample="sample", config="config", label=None, prediction="prediction", repeat="repeat")
    assert again.nothing_trained
    assert np.array_equal(again.P, ANSWERS.P)
    held_out = of.from_arrays(None, RIGHT[:, :, :1].astype(float), np.arange(60) % 2, response="pointwise")
    assert not held_out.nothing_trained


def test_the_report_and_the_command_line(tmp_path, capsys):
    path = ANSWERS.save(tmp_path / "runs.oof")
    page = of.report(ANSWERS, "mean", n_resamples=60).to_html()
    assert "3 x one test set" in page
    assert "cross-validation score" not in page
    for argv in (["show"], ["estimate", "--method", "bbc"], ["check"]):
        assert cli.main([argv[0], str(path), "--metric", "mean", *argv[1:]]) in (0, 1)
    assert cli.main(["compare", str(path), "config 0", "config 3", "--metric", "mean"]) == 0
    assert cli.main(["estimate", str(path), "--metric", "mean", "--method", "repeated_holdout"]) == 2
    assert "Nothing was trained here" in capsys.readouterr().err
