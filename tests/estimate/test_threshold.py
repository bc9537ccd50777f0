"""The selected configuration at a threshold: what is counted, what is refused, and how it is printed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outfold as of
from internals import at_thresholds
from outfold.exceptions import InputError

RULES = ("youden", "f1", "sensitivity=0.9", "specificity=0.9", "cost=5:1", 0.5)


def predictions(n=120, c=12, r=1, seed=0, share=0.3, signal=1.5, **options):
    """Probabilities of two classes by configurations that are equally good."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < share * n)
    noise = rng.normal(size=(n, 1, 1)) + rng.normal(size=(n, c, r))
    P = 1 / (1 + np.exp(-(signal * (2 * y[:, None, None] - 1) + noise)))
    folds = np.stack([rng.permutation(np.arange(n) % 5) for _ in range(r)], axis=1)
    return of.from_arrays(np.where(y, "ill", "well"), P, folds=folds, response="proba", positive="ill", **options)


def by_hand(oof, counts, threshold):
    """Sensitivity and specificity over all draws, from the definition: draw, select, cut, count what was left out."""
    y, P, totals = oof.target.y == 1, oof.data[0], np.zeros(4)
    for weights in counts:
        drawn = np.repeat(np.arange(len(y)), weights)
        if len(set(y[drawn])) < 2:
            continue
        areas = [auc(y[drawn], scores[drawn]) for scores in P]
        scores, left = P[int(np.argmax(areas))], weights == 0
        predicted = scores > threshold
        totals += [(left & y & predicted).sum(), (left & y).sum(), (left & ~y & ~predicted).sum(), (left & ~y).sum()]
    return totals[0] / totals[1], totals[2] / totals[3]


def auc(y, scores):
    higher = scores[y][:, None] - scores[~y][None]
    return float(np.mean((higher > 0) + 0.5 * (higher == 0)))


def test_shares_at_a_fixed_threshold_are_those_of_a_loop():
    from internals import BootstrapDraws

    oof = predictions(n=40, c=5)
    counts = np.concatenate(list(BootstrapDraws(40, 3).blocks(50)))
    found = of.estimate.at_threshold(oof, "roc_auc", threshold=0.4, n_resamples=50, rng=3)
    sensitivity, specificity = by_hand(oof, counts, 0.4)
    assert found["sensitivity"].value == pytest.approx(sensitivity, abs=1e-12)
    assert found["specificity"].value == pytest.approx(specificity, abs=1e-12)


def test_predictive_values_follow_from_the_prevalence():
    for found in at_thresholds(predictions(), RULES, "roc_auc", n_resamples=100):
        se, sp, p = found["sensitivity"].value, found["specificity"].value, found.prevalence
        assert found["ppv"].value == pytest.approx(se * p / (se * p + (1 - sp) * (1 - p)))
        assert found["npv"].value == pytest.approx(sp * (1 - p) / (sp * (1 - p) + (1 - se) * p))
        assert p == pytest.approx(36 / 120)


def test_the_winner_is_that_of_the_record_and_its_shares_are_those_of_its_labels():
    oof = predictions(r=2)
    for found in at_thresholds(oof, RULES, "roc_auc", n_resamples=60):
        assert found.selected == oof.selecting_by("roc_auc").selection().name
        own = oof.data[:, oof.configs.index(found.selected)] > found.threshold
        y = np.tile(oof.target.y == 1, (2, 1))
        assert found["sensitivity"].naive == pytest.approx(own[y].mean())
        assert found["specificity"].naive == pytest.approx((~own[~y]).mean())
    assert at_thresholds(oof, ["sensitivity=0.9"], "roc_auc", n_resamples=60)[0]["sensitivity"].naive >= 0.9


def test_several_at_once_are_the_same_as_one_by_one():
    oof = predictions(n=60)
    together = at_thresholds(oof, RULES, "roc_auc", n_resamples=80, rng=5)
    for rule, found in zip(RULES, together, strict=True):
        alone = of.estimate.at_threshold(oof, "roc_auc", threshold=rule, n_resamples=80, rng=5)
        assert found.to_dict() == alone.to_dict()


def test_the_choice_is_corrected():
    """Noise: whatever is chosen, sensitivity and specificity add up to 1 on new samples."""
    sums, naive = [], []
    for seed in range(8):
        oof = predictions(n=80, c=30, seed=seed, share=0.5, signal=0.0)
        found = of.estimate.at_threshold(oof, "roc_auc", n_resamples=200)
        sums.append(found["sensitivity"].value + found["specificity"].value)
        naive.append(found["sensitivity"].naive + found["specificity"].naive)
    assert np.mean(naive) > 1.2
    # Half of what the winner gains over the draws is believed: a little is left of the optimism.
    assert 0.95 < np.mean(sums) < 1.12


def test_an_interval_at_a_higher_level_is_wider():
    found = of.estimate.at_threshold(predictions(), "roc_auc", n_resamples=100)
    for share in found.shares:
        low, high = share.interval
        assert 0 <= low < share.value < high <= 1
        assert found.confidence_interval(share.name) == share.interval
        wide = found.confidence_interval(share.name, 0.99)
        assert wide.low <= low
        assert wide.high >= high
        assert wide != share.interval


def test_groups_are_drawn_whole_and_make_intervals_wider():
    oof = predictions(n=120, c=1)
    alike = np.repeat(oof.data[:, :, ::4], 4, axis=2)
    y = np.repeat(oof.target.y[::4], 4)
    groups, folds = np.arange(120) // 4, np.arange(120) // 4 % 5
    same = of.from_arrays(y, alike[0].T, folds=folds, response="proba")
    grouped = of.from_arrays(y, alike[0].T, folds=folds, response="proba", groups=groups)
    widths = []
    for one in (same, grouped):
        share = of.estimate.at_threshold(one, "roc_auc", threshold=0.5, n_resamples=200)["sensitivity"]
        widths.append(share.interval.high - share.interval.low)
    assert widths[1] > 1.3 * widths[0]


def test_margins_and_hold_outs():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2 == 0
    margins = rng.normal(size=(60, 4)) + 2 * y[:, None]
    oof = of.from_arrays(y, margins, folds=np.arange(60) % 5, response="score")
    found = of.estimate.at_threshold(oof, "roc_auc", n_resamples=60)
    assert "OF209" in [note.code for note in found.notes]
    assert margins.min() < found.threshold < margins.max()
    one_set = of.from_arrays(y, margins, response="score")
    assert "OF209" not in [note.code for note in of.estimate.at_threshold(one_set, "roc_auc", n_resamples=60).notes]


def test_predictive_values_of_few_samples_are_marked():
    found = of.estimate.at_threshold(predictions(n=60, share=0.1), "roc_auc", threshold=0.9, n_resamples=60)
    assert found["ppv"].n < 10
    (note,) = [note for note in found.notes if note.code == "OF221"]
    assert note.text.endswith("PPV rests on fewer than 10 samples.")
    many = of.estimate.at_threshold(predictions(n=200, share=0.5), "roc_auc", n_resamples=60)
    assert "OF221" not in [note.code for note in many.notes]


def test_a_share_that_is_never_asked_for_is_undefined():
    oof = of.from_arrays([0, 1] * 20, np.full((40, 2), 0.3), folds=np.arange(40) % 4, response="proba")
    found = of.estimate.at_threshold(oof, "roc_auc", threshold=0.5, n_resamples=40)
    assert (found["sensitivity"].value, found["specificity"].value) == (0.0, 1.0)
    assert np.isnan(found["ppv"].value)
    assert found["ppv"].interval is None
    assert found.to_dict()["shares"]["ppv"]["value"] is None
    with pytest.raises(InputError, match="there is no interval of ppv"):
        found.confidence_interval("ppv")
    assert "nan" not in str(found)


def test_what_is_refused():
    oof = predictions(n=40, c=2)
    for wrong in ("best", "sensitivity=2", "cost=5", "cost=0:1", None, "sensitivity="):
        with pytest.raises(InputError, match="threshold must be 'youden'"):
            of.estimate.at_threshold(oof, threshold=wrong)
    y3 = np.arange(30) % 3
    many = of.from_arrays(y3, np.random.default_rng(0).dirichlet(np.ones(3), (30, 2, 1)), response="proba")
    with pytest.raises(InputError, match="at_threshold needs two classes"):
        of.estimate.at_threshold(many)
    labels = of.from_arrays(np.arange(30) % 2, np.ones((30, 2), dtype=int), response="label")
    with pytest.raises(InputError, match="at_threshold needs probabilities or scores"):
        of.estimate.at_threshold(labels)
    one = of.from_arrays([1] + [0] * 20, np.random.default_rng(0).random((21, 2)), response="proba")
    with pytest.raises(InputError, match="needs two samples of each class"):
        of.estimate.at_threshold(one)
    with pytest.raises(InputError, match="must be one of sensitivity"):
        of.estimate.at_threshold(oof, n_resamples=20)["recall"]


def test_names_of_a_choice_mean_the_same():
    oof = predictions(n=60, c=2)
    same = [
        of.estimate.at_threshold(oof, threshold=t, n_resamples=20).threshold
        for t in ("sensitivity=90%", " Sensitivity = 0.9")
    ]
    assert same[0] == same[1]
    fixed = [of.estimate.at_threshold(oof, threshold=t, n_resamples=20).to_dict() for t in (0.25, "0.25")]
    assert fixed[0] == fixed[1]


def test_forms_of_the_result():
    found = of.estimate.at_threshold(predictions(), "roc_auc", threshold="cost=5:1", n_resamples=60)
    words = str(found)
    assert "lowest cost, if a missed positive costs 5 and a false alarm 1" in words
    assert "prevalence 0.3, 36 of 120 samples are ill" in words
    facts = found.to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["shares"]["sensitivity"]["value"] == found["sensitivity"].value
    frame = found.to_frame()
    assert list(frame["share"]) == ["sensitivity", "specificity", "ppv", "npv"]
    assert "sensitivity" in found._repr_html_()
    assert r"\toprule" in found.to_latex()
    assert repr(found).startswith("<AtThreshold cost=5:1")
    # Digits follow the interval.
    assert f"{found['sensitivity'].value:.2f}" in words


def test_time_series_have_no_interval():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import TimeSeriesSplit

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 2
    oof = of.collect(
        {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)}, X, y, TimeSeriesSplit(4), progress=False
    )
    found = of.estimate.at_threshold(oof, "roc_auc", n_resamples=30)
    assert all(share.interval is None for share in found.shares)
    assert found["sensitivity"].value >= 0
