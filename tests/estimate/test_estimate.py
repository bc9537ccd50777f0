"""Estimates: golden values, Algorithm 5 as a plain loop, and what must hold for any predictions."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, roc_auc_score

import outfold as of
from conftest import make_predictions
from internals import Scoring, State, order_statistics, sample_bootstrap
from outfold import estimate, metrics, select
from outfold.exceptions import InputError, NeedError

# -- golden: the reference program's draws, replayed ----------------------------------------------------


def reference_predictions(correct, fold):
    return of.from_arrays(None, correct.astype(float), folds=fold, response="pointwise")


def check_against_reference(oof, boot, draws, ref):
    result = estimate.bbc(oof, "mean", draws=boot)
    assert result.value == pytest.approx(ref["bbc_acc"], abs=1e-12)
    assert np.allclose(result.draws, draws, rtol=0, atol=1e-12)
    assert result.naive == pytest.approx(ref["cvt_acc"], abs=1e-12)
    assert result.selected == f"config {ref['cvt_best']}"
    chosen = [int(name.split()[1]) for name in result.chosen[:10]]
    assert chosen == ref["bbc_selected_first10"]
    low, high = ref["ci95_loss_order_stat"]
    assert result.confidence_interval(method="order") == pytest.approx((1 - high, 1 - low), abs=1e-12)
    low, high = ref["ci90_loss_order_stat"]
    assert result.confidence_interval(0.90, method="order") == pytest.approx((1 - high, 1 - low), abs=1e-12)
    low, high = ref["ci95_loss_numpy_linear"]
    assert result.confidence_interval(method="percentile") == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert estimate.tt(oof, "mean").value == pytest.approx(ref["tt_acc"], abs=1e-12)
    assert estimate.cvt(oof, "mean").value == pytest.approx(ref["cvt_acc"], abs=1e-12)


@pytest.mark.parametrize("setting", [1, 2, 3, 4])
def test_reference_program_replayed_in_all_settings(golden_data, setting):
    folder = golden_data / "bbc" / f"setting_{setting}"
    z = np.load(folder / "bbc.npz")
    ref = json.loads((folder / "ref.json").read_text())
    check_against_reference(reference_predictions(z["correct"], z["fold"]), z["boot"], z["Lb"], ref)


def check_auc_against_reference(z, value, undefined):
    """Same draws, same scores. Where the reference chose otherwise, it broke an exact tie by the last bit of a float.

    The reference takes the first largest float of scikit-learn's AUC; ours counts pairs in whole numbers, and of
    configurations that are exactly tied takes the earliest.
    """
    oof = of.from_arrays(z["y"], z["scores"], response="score")
    result = estimate.bbc(oof, "roc_auc", draws=z["boot"])
    defined = ~np.isnan(z["Lb"])
    assert result.details["redrawn"] == undefined == np.sum(~defined)
    theirs, boot = z["selected"][defined].astype(int), z["boot"][defined]
    ours = np.array([int(name.split()[1]) for name in result.chosen])
    same = ours == theirs
    assert np.allclose(result.draws[same], z["Lb"][defined][same], rtol=0, atol=1e-12)
    for i in np.flatnonzero(~same):
        wins = [pair_wins(z["y"][boot[i]], z["scores"][boot[i], j]) for j in (ours[i], theirs[i])]
        assert wins[0] == wins[1]
        assert ours[i] < theirs[i]
    assert np.sum(~same) <= 1
    replayed = np.where(same, result.draws, z["Lb"][defined])
    assert replayed.mean() == pytest.approx(value, abs=1e-12)
    return result, replayed


def pair_wins(y, scores):
    """Twice the Mann-Whitney count, a whole number."""
    gap = scores[y == 1][:, None] - scores[y == 0]
    return 2 * int(np.sum(gap > 0)) + int(np.sum(gap == 0))


def test_auc_with_undefined_draws_replayed(golden_data):
    z = np.load(golden_data / "bbc_auc" / "auc_3.npz")
    result, _ = check_auc_against_reference(z, 0.5805532872696817, undefined=2)
    assert [note.code for note in result.notes] == ["OF201"]


@pytest.mark.parametrize("position", [0, 1])
def test_auc_replayed_in_all_settings(golden_data, position):
    ref = json.loads((golden_data / "bbc_auc" / "ref.json").read_text())[position]
    z = np.load(golden_data / "bbc_auc" / ref["file"])
    result, replayed = check_auc_against_reference(z, ref["bbc_auc_mean_of_defined"], ref["bootstraps_undefined"])
    assert result.naive == pytest.approx(ref["cvt_auc"], abs=1e-12)
    # This file ranks the scores themselves, not the losses of the paper.
    order = order_statistics(replayed, 0.95, greater_is_better=False)
    assert order == pytest.approx(ref["ci95_order_stat_of_defined"], abs=1e-12)


# -- Algorithm 5 as a plain loop ------------------------------------------------------------------------


def plain_bbc(oof, metric, boot):
    """Algorithm 5 of Tsamardinos 2018 word for word, with the metric's slow path; repeats as in sect. 3.2."""
    found = metrics.get(metric, oof.target.task)
    data = oof.respond(found.needs)

    def score(j, counts):
        return np.mean([found.reference(oof.target, data[r, j], counts) for r in range(oof.n_repeats)])

    out, chosen = [], []
    for drawn in boot:
        counts = np.bincount(drawn, minlength=oof.n_samples)
        inside = [found.sign * score(j, counts) for j in range(oof.n_configs)]
        if np.all(np.isnan(inside)):
            continue
        best = np.nanmax(inside)
        j = next(j for j, s in enumerate(inside) if s >= best - 1e-12 * abs(best))
        value = score(j, (counts == 0).astype(int))
        if not np.isnan(value):
            out.append(value)
            chosen.append((drawn, oof.configs[j]))
    return np.array(out), chosen


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("metric", [*metrics.names(), "neg_log_loss", "adjusted_rand_score", "callable"])
def test_kernel_equals_the_plain_loop(metric, repeats):
    if metric == "callable":
        metric = metrics.make(lambda y, p: fbeta_score(y, p, beta=2), name="f2", needs="label")
        oof = make_predictions("accuracy", r=repeats)
    else:
        oof = make_predictions(metric, r=repeats)
    boot = np.random.default_rng(1).integers(0, oof.n_samples, (12 // repeats, oof.n_samples))
    expected, chosen = plain_bbc(oof, metric, boot)
    result = estimate.bbc(oof, metric, draws=boot, correction="none")
    assert np.allclose(result.draws, expected, rtol=0, atol=1e-12)
    assert result.chosen.tolist() == [name for _, name in chosen]
    if metrics.get(metric, oof.target.task).within is None:
        assert result.value == pytest.approx(expected.mean(), abs=1e-12)
    else:
        assert result.details["pooled"] == pytest.approx(expected.mean(), abs=1e-12)
        assert result.value == pytest.approx(plain_within(oof, metric, chosen), abs=1e-12)


def plain_within(oof, metric, chosen):
    """The mean over draws of the chosen ones' scores on the pairs of one fold that were left out, a draw at a time."""
    found = metrics.get(metric, oof.target.task)
    data, out = oof.respond(found.needs), []
    for drawn, name in chosen:
        weights = (np.bincount(drawn, minlength=oof.n_samples) == 0).astype(np.uint8)[None]
        scores = []
        for r in range(oof.n_repeats):
            own = data[r, [oof.configs.index(name)]]
            scores.append(found.within(oof.target, own, oof.folds[:, r]).scores(weights)[0, 0])
        out.append(np.nan if np.isnan(scores).all() else np.nanmean(scores))
    return np.nanmean(out)


def test_scored_within_folds_by_hand():
    """The mean over draws of the share of pairs, of those that a draw left out of the same fold."""
    rng = np.random.default_rng(3)
    y, folds, P = np.arange(40) % 2, np.arange(40) // 2 % 4, rng.random((40, 3))
    oof = of.from_arrays(y, P + folds[:, None], folds, response="score")
    boot = rng.integers(0, 40, (30, 40))
    found = estimate.bbc(oof, "roc_auc", draws=boot)
    shares = []
    for drawn, name in zip(boot, found.chosen, strict=True):
        left_out, scores = ~np.isin(np.arange(40), drawn), P[:, oof.configs.index(name)]
        counted = left_out[:, None] & left_out & (folds[:, None] == folds) & (y[:, None] > y)
        if counted.any():
            shares.append((scores[:, None] > scores)[counted].mean())
    assert found.value == pytest.approx(np.mean(shares), abs=1e-12)
    assert "scored within folds" in found.description
    assert found.details["pooled"] == pytest.approx(found.draws.mean(), abs=1e-12)
    loo = of.from_arrays(y, P, np.arange(40), response="score")
    assert estimate.bbc(loo, "roc_auc", draws=boot).value == estimate.bbc(loo, "roc_auc", draws=boot).draws.mean()


@pytest.mark.parametrize(
    ("per_fold", "labels", "within"),
    [(1, "mixed", False), (4, "mixed", False), (12, "mixed", True), (2, "by group", True)],
)
def test_samples_of_one_group_do_not_tell_how_new_groups_are_ranked(per_fold, labels, within):
    """Groups of five shift the scores: pairs of one group are easy. All pairs count, unless few of a fold are of one group."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(48), 5)
    y = groups % 2 if labels == "by group" else np.arange(240) % 2
    scores = y[:, None] + rng.normal(size=(240, 2)) + 2 * rng.normal(size=(48, 1))[groups]
    oof = of.from_arrays(y, scores, groups // per_fold, groups=groups, response="score")
    found = estimate.bbc(oof, "roc_auc", n_resamples=100)
    assert ("scored within folds" in found.description) == within
    if not within:
        assert found.value == pytest.approx(found.draws.mean())


# -- what must hold -------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "log_loss", "mse", "concordance"])
def test_one_configuration_gives_the_cv_score(metric):
    oof = make_predictions(metric, n=300).sel(config=0)
    result = estimate.bbc(oof, metric, n_resamples=4000)
    monte_carlo = 5 * result.draws.std() / np.sqrt(len(result.draws))
    pooled = result.details.get("pooled", result.value)  # pairs of the same fold have another mean than all pairs
    assert abs(pooled - result.naive) < monte_carlo + 0.01 * abs(result.naive)


@given(st.integers(0, 10**6), st.sampled_from(["accuracy", "roc_auc", "log_loss", "f1", "average_precision"]))
def test_a_duplicated_configuration_changes_nothing(seed, metric):
    oof = make_predictions(metric, seed=seed)
    names = [*oof.configs, "copy"]
    twice = of.from_arrays(oof.y, np.concatenate([oof.P, oof.P[:, 2:3]], axis=1), oof.folds, names, response="proba")
    one, two = (estimate.bbc(o, metric, n_resamples=50, rng=seed) for o in (oof, twice))
    assert np.array_equal(one.draws, two.draws)
    assert one.selected == two.selected
    assert one.chosen.tolist() == two.chosen.tolist()


@given(st.integers(0, 10**6), st.sampled_from(["accuracy", "roc_auc", "mcc", "log_loss"]))
def test_permuting_samples_with_their_draws_changes_nothing(seed, metric):
    oof = make_predictions(metric, seed=seed)
    rng = np.random.default_rng(seed)
    boot = rng.integers(0, oof.n_samples, (30, oof.n_samples))
    order = rng.permutation(oof.n_samples)
    moved = of.from_arrays(oof.y[order], oof.P[order], oof.folds[order], response="proba", samples=order)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    a, b = estimate.bbc(oof, metric, draws=boot), estimate.bbc(moved, metric, draws=back[boot])
    assert np.allclose(a.draws, b.draws, rtol=0, atol=1e-13)
    assert a.chosen.tolist() == b.chosen.tolist()


@given(st.integers(0, 10**6))
def test_renaming_changes_only_names(seed):
    oof = make_predictions("roc_auc", seed=seed)
    renamed = of.from_arrays(oof.y, oof.P, oof.folds, [f"new {c}" for c in oof.configs], response="proba")
    a, b = (estimate.bbc(o, "roc_auc", n_resamples=50) for o in (oof, renamed))
    assert np.array_equal(a.draws, b.draws)
    assert f"new {a.selected}" == b.selected


@given(st.integers(0, 10**6), st.sampled_from(["error", "mse", "mae", "log_loss", "brier"]))
def test_tt_lies_between_the_loss_and_twice_the_loss(seed, metric):
    oof = make_predictions(metric, seed=seed)
    result = estimate.tt(oof, metric)
    assert result.naive - 1e-12 <= result.value <= 2 * result.naive + 1e-12
    assert result.optimism >= -1e-12


@given(st.integers(0, 10**6))
def test_draws_as_indices_and_as_counts_agree(seed):
    oof = make_predictions("roc_auc", seed=seed)
    boot = np.random.default_rng(seed).integers(0, oof.n_samples, (40, oof.n_samples))
    counts = np.stack([np.bincount(row, minlength=oof.n_samples) for row in boot])
    a, b = estimate.bbc(oof, "roc_auc", draws=boot), estimate.bbc(oof, "roc_auc", draws=counts)
    assert np.array_equal(a.draws, b.draws)


def test_optimism_is_positive_for_noise_whatever_the_direction():
    rng = np.random.default_rng(0)
    oof = of.from_arrays(rng.integers(0, 2, 60), rng.random((60, 100)), response="proba")
    for metric in ("accuracy", "error", "roc_auc", "log_loss", "neg_brier_score"):
        assert estimate.bbc(oof, metric, n_resamples=200).optimism > 0.02


def test_result_depends_on_the_seed_only():
    oof = make_predictions("roc_auc")
    a, b, c = (estimate.bbc(oof, "roc_auc", rng=seed) for seed in (0, 0, 1))
    assert np.array_equal(a.draws, b.draws)
    assert not np.array_equal(a.draws, c.draws)
    fewer = estimate.bbc(oof, "roc_auc", n_resamples=300)
    assert np.array_equal(fewer.draws[:256], a.draws[:256])


# -- groups, strata, redraws, incomplete predictions ----------------------------------------------------


def test_a_group_is_drawn_or_left_out_whole():
    oof = make_predictions("accuracy", n=40)
    groups = np.arange(40) // 4
    grouped = of.from_arrays(oof.y, oof.P, oof.folds, groups=groups, response="proba")
    bootstrap = sample_bootstrap(Scoring(grouped, "accuracy"), False, 0)
    counts = bootstrap.counts(bootstrap.generator(0), 50)
    assert np.array_equal(counts, np.repeat(counts[:, ::4], 4, axis=1))
    assert np.all(counts[:, ::4].sum(axis=1) == 10)
    result = estimate.bbc(grouped, "accuracy")
    assert result.value == pytest.approx(
        estimate.bbc(grouped, "accuracy", draws=_group_draws(bootstrap)).value, abs=1e-12
    )


def _group_draws(bootstrap):
    sizes = [256, 256, 256, 232]
    return np.concatenate([bootstrap.counts(bootstrap.generator(i), b) for i, b in enumerate(sizes)])


def test_stratified_draws_keep_class_counts():
    oof = make_predictions("accuracy")
    bootstrap = sample_bootstrap(Scoring(oof, "accuracy"), True, 0)
    counts = bootstrap.counts(bootstrap.generator(0), 50)
    for label in (0, 1):
        assert np.all(counts[:, oof.target.y == label].sum(axis=1) == np.sum(oof.target.y == label))
    assert estimate.bbc(oof, "accuracy", stratify=True).draws.shape == (1000,)


def test_draws_that_cannot_be_scored_are_drawn_again():
    y = np.zeros(30, dtype=int)
    y[:2] = 1
    P = np.random.default_rng(0).random((30, 4))
    result = estimate.bbc(of.from_arrays(y, P, response="proba"), "roc_auc", n_resamples=500)
    assert len(result.draws) == 500
    assert np.all(np.isfinite(result.draws))
    assert result.details["redrawn"] > 100
    assert "OF201" in [note.code for note in result.notes]


def test_a_metric_that_can_never_be_scored_is_an_error():
    y = np.zeros(30, dtype=int)
    y[0] = 1
    oof = of.from_arrays(y, np.random.default_rng(0).random((30, 4)), response="proba")
    with pytest.raises(InputError, match=r"roc_auc cannot be scored .* Class 1 has 1 of 30 samples"):
        estimate.bbc(oof, "roc_auc", n_resamples=10)


def test_incomplete_cv_counts_the_folds_that_are_done():
    oof = make_predictions("accuracy", folds=5)
    todo = np.broadcast_to((oof.folds == 4)[:, None, :], oof.P.shape)
    part = of.from_arrays(oof.y, np.ma.array(oof.P, mask=todo), oof.folds, response="proba")
    done = oof.folds[:, 0] != 4
    only = of.from_arrays(oof.y[done], oof.P[done], oof.folds[done], response="proba")
    a, b = estimate.bbc(part, "accuracy"), estimate.bbc(only, "accuracy")
    assert np.array_equal(a.draws, b.draws)
    assert a.n_samples == done.sum()
    assert [n.code for n in a.notes] == ["OF206"]


def test_repeated_holdout_scores_every_repeat_on_its_own_samples():
    rng = np.random.default_rng(0)
    y, P = rng.integers(0, 2, 30), rng.random((30, 5, 3))
    folds = np.where(rng.random((30, 3)) < 0.4, 0, -1)
    oof = of.from_arrays(
        y, np.ma.array(P, mask=np.broadcast_to((folds < 0)[:, None, :], P.shape)), folds, response="proba"
    )
    boot = rng.integers(0, 30, (20, 30))
    rows = np.flatnonzero((folds >= 0).any(axis=1))
    boot = rng.integers(0, len(rows), (20, len(rows)))
    result = estimate.bbc(oof, "accuracy", draws=boot)
    correct = (P > 0.5) == y[:, None, None]
    for drawn, value, name in zip(boot, result.draws, result.chosen, strict=True):
        out = np.setdiff1d(np.arange(len(rows)), drawn)
        j = int(name.split()[1])
        per_repeat = [correct[rows[out], j, r][folds[rows[out], r] == 0] for r in range(3)]
        assert value == pytest.approx(np.mean([v.mean() for v in per_repeat if len(v)]), abs=1e-12)


# -- cv, cvt, rules -------------------------------------------------------------------------------------


def test_cv_is_the_mean_over_folds():
    oof = make_predictions("roc_auc", n=60, r=2)
    result = estimate.cv(oof, "roc_auc", config="config 3")
    assert result.value == pytest.approx(np.nanmean(oof.scores("roc_auc")[3]), abs=1e-12)
    pooled = estimate.cv(oof, "roc_auc", config="config 3", aggregate="pooled")
    row = [s for c, s in zip(*_board(oof, "roc_auc"), strict=True) if c == "config 3"]
    assert pooled.value == pytest.approx(row[0], abs=1e-12)
    assert pooled.interval.low < pooled.value < pooled.interval.high
    assert result.optimism == 0


def _board(oof, metric):
    board = oof.leaderboard(metric)
    return board.configs, board.scores


def test_cvt_is_the_best_of_the_leaderboard_and_says_it_is_optimistic():
    oof = make_predictions("log_loss")
    result = estimate.cvt(oof, "log_loss", aggregate="pooled")
    configs, scores = _board(oof, "log_loss")
    assert (result.selected, result.value) == (configs[0], pytest.approx(scores[0], abs=1e-12))
    assert scores[0] == min(scores)
    assert result.interval is None
    assert "OF208" in [n.code for n in result.notes]
    with pytest.raises(InputError, match="cvt gives no interval; use bbc"):
        result.confidence_interval(0.9)


def test_ties_go_to_the_earliest():
    P = np.tile([[1], [0], [1], [0]], (10, 6))
    oof = of.from_arrays(np.tile([1, 0, 0, 1], 10), P, response="label")
    assert select.best(oof, "accuracy").name == "config 0"
    assert select.best(oof, "accuracy").tied == 6
    assert set(estimate.bbc(oof, "accuracy", n_resamples=50).chosen) == {"config 0"}


def test_one_standard_error_takes_the_simplest_within_reach():
    rng = np.random.default_rng(3)
    correct = (rng.random((200, 6)) < np.array([0.55, 0.78, 0.79, 0.8, 0.8, 0.8])).astype(float)
    names = [f"m(C={c})" for c in range(6)]
    oof = of.from_arrays(None, correct, folds=np.arange(200) % 10, configs=names, response="pointwise")
    rule = select.one_standard_error(complexity={name: i for i, name in enumerate(names)})
    picked = rule(oof, "mean")
    scores = correct.mean(axis=0)
    folds = oof.scores("mean")[:, 0]
    best = np.argmax(scores)
    within = scores >= scores[best] - folds[best].std(ddof=1) / np.sqrt(10)
    assert picked.index == np.flatnonzero(within)[0]
    assert picked.index < best
    result = estimate.bbc(oof, "mean", rule=rule, n_resamples=100)
    assert result.selected == picked.name
    assert result.naive == pytest.approx(picked.score)


def test_any_callable_is_a_rule():
    oof = make_predictions("accuracy")

    def last(candidates):
        assert candidates.folds.shape == (7, 5)
        return candidates.names[-1]

    result = estimate.bbc(oof, "accuracy", rule=last, n_resamples=20)
    assert result.selected == "config 6"
    assert set(result.chosen) == {"config 6"}
    assert result.rule == "picked by last on pooled accuracy, of 7 configurations"
    default = estimate.bbc(oof, "accuracy", n_resamples=20)
    same = estimate.bbc(oof, "accuracy", rule=lambda c: int(np.argmax(c.mean)), n_resamples=20)
    assert np.array_equal(default.draws, same.draws)
    with pytest.raises(InputError, match="must return the name or the position"):
        estimate.bbc(oof, "accuracy", rule=lambda c: "nobody", n_resamples=20)


# -- printing, levels, bad input ------------------------------------------------------------------------


def test_printing_puts_the_honest_number_first():
    result = estimate.bbc(make_predictions("roc_auc"), "roc_auc")
    text = str(result)
    assert text.index(f"{result.value:.4f}") < text.index(f"{result.naive:.4f}")
    assert f"optimism {result.optimism:+.4f}" in text
    assert "95% CI" in text
    assert f"{result.value:.4f}" in result._repr_html_()
    assert repr(result).startswith("<Estimate bbc roc_auc 0.")
    assert json.loads(json.dumps(result.to_dict()))["value"] == result.value
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert result.to_frame()["low"][0] == result.interval.low


def test_another_level_costs_no_draws():
    result = estimate.bbc(make_predictions("roc_auc"), "roc_auc")
    wide, narrow = result.confidence_interval(0.99), result.confidence_interval(0.5)
    assert wide.low <= result.interval.low <= narrow.low <= narrow.high <= result.interval.high <= wide.high


def bbc_indices(oof, draws):
    return estimate.bbc(oof, "accuracy", draws=draws, draws_are="indices")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda o: estimate.bbc(o, "rocauc"), InputError, "did you mean 'roc_auc'"),
        (lambda o: estimate.bbc(o, "mse"), InputError, "mse is for regression"),
        (lambda o: estimate.bbc(o, "accuracy", confidence_level=95), InputError, "between 0 and 1"),
        (lambda o: estimate.bbc(o, "accuracy", n_resamples=0), InputError, "n_resamples"),
        (lambda o: estimate.bbc(o, "accuracy", rng=-1), InputError, "rng"),
        (lambda o: estimate.bbc(o, "accuracy", rule="best"), InputError, "rule must be"),
        (lambda o: estimate.bbc(o, "accuracy", draws=np.zeros((3, 5), int)), InputError, r"shape \(B, 40\)"),
        (lambda o: estimate.bbc(o, "accuracy", draws=np.full((3, 40), 40)), InputError, "do not look like indices"),
        (lambda o: bbc_indices(o, np.full((3, 40), 40)), InputError, r"indices must lie in 0\.\.39; the largest is 40"),
        (lambda o: estimate.bbc(o, "accuracy", draws=np.ones((2, 40), int)), InputError, "draws_are="),
        (lambda o: estimate.bbc(o, "accuracy", draws=np.ones((0, 40), int)), InputError, r"shape \(B, 40\)"),
        (lambda o: estimate.bbc(o, "accuracy", rng=1.5), InputError, "rng must be None, a whole number"),
        (lambda o: estimate.bbc(o, "accuracy", n_resamples="a"), InputError, "n_resamples must be a whole number"),
        (lambda o: estimate.bbc(o, "accuracy", confidence_level="0.9"), InputError, "between 0 and 1"),
        (lambda o: estimate.bbc("x.oof", "accuracy"), InputError, "bbc needs Predictions"),
        (lambda o: estimate.cv(o, "accuracy"), InputError, "Name one of the 7"),
        (
            lambda o: estimate.cv(o, "accuracy", config="config 9"),
            InputError,
            "no configuration 'config 9'; there are 'config 0'",
        ),
        (lambda o: estimate.cv(o, "accuracy", config=0, aggregate="all"), InputError, "'fold' or 'pooled'"),
        (lambda o: estimate.nested(o, "accuracy"), NeedError, "Collect with inner=True"),
        (lambda o: estimate.cvm_cv(o, "accuracy"), NeedError, "Collect with fresh="),
    ],
)
def test_bad_input_says_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call(make_predictions("accuracy"))


def test_tt_needs_folds():
    oof = of.from_arrays([0, 1] * 10, np.random.default_rng(0).random((20, 3)), response="proba")
    with pytest.raises(NeedError, match="tt needs 2 folds or more; these predictions are one test set"):
        estimate.tt(oof, "accuracy")


def test_a_metric_of_scores_refuses_labels():
    oof = of.from_arrays([0, 1] * 10, np.tile([0, 1, 1, 1], 5), response="label")
    with pytest.raises(NeedError, match="roc_auc needs scores; these predictions are class labels"):
        estimate.bbc(oof, "roc_auc")


def test_notes_of_tt():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 12)
    loo = of.from_arrays(y, rng.random((24, 30)), folds=np.arange(24), response="proba")
    loo = type(loo)(**{f: getattr(loo, f) for f in loo.__dataclass_fields__} | {"plan": of.Plan.leave_one_out()})
    assert "OF202" in [n.code for n in estimate.tt(loo, "error").notes]
    small = of.from_arrays(y, rng.random((24, 30)), folds=np.arange(24) // 2 % 4, response="proba")
    assert "OF204" in [n.code for n in estimate.tt(small, "roc_auc").notes]
    worse = of.from_arrays(y, 1.0 - np.repeat(y[:, None], 5, 1), folds=np.arange(24) % 2, response="proba")
    flat = estimate.tt(worse, "error")
    assert flat.value == 1
    assert "OF203" not in [n.code for n in flat.notes]


def test_pooled_margins_are_noted():
    y, P = np.array([0, 1] * 20), np.random.default_rng(0).normal(size=(40, 3))
    oof = of.from_arrays(y, P, np.arange(40) % 5, response="score")
    found = estimate.bbc(oof, "roc_auc")
    note = next(n for n in found.notes if n.code == "OF209")
    by_fold = np.mean([roc_auc_score(y[k::5], P[k::5, oof.configs.index(found.selected)]) for k in range(5)])
    pooled = oof.leaderboard("roc_auc").scores[0]
    assert f"{pooled:.4f} pooled, {by_fold:.4f} by the mean over folds" in note.text
    # The estimate counts pairs within folds, so the score that it corrects does too.
    assert found.naive == pytest.approx(by_fold)
    assert found.own_name == "winner's cross-validation score, within folds"


def test_counts_of_groups_need_a_word():
    rng = np.random.default_rng(0)
    oof = make_predictions("accuracy")
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 6, 7, 6, 4, 2])
    counts = np.stack([np.bincount(rng.integers(0, 10, 10), minlength=10) for _ in range(50)])[:, groups]
    with pytest.raises(InputError, match="Say which they are"):
        estimate.bbc(oof, "accuracy", draws=counts)
    result = estimate.bbc(oof, "accuracy", draws=counts, draws_are="counts")
    correct = ((oof.P[:, :, 0] > 0.5) == oof.y[:, None]).astype(int)
    first = int(np.argmax(counts[0] @ correct))
    assert result.draws[0] == pytest.approx(correct[counts[0] == 0, first].mean(), abs=1e-12)


def test_a_configuration_undefined_in_one_fold_cannot_win_by_the_others():
    # Configuration 0 predicts no positive in fold 1, where its precision is not defined, and is perfect in fold 0.
    y = np.tile([1, 1, 0, 0], 2)
    P = np.stack([[1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0, 0]], axis=1)
    oof = of.from_arrays(y, P, folds=np.repeat([0, 1], 4), response="label")

    def precision(y, p):
        return np.nan if not p.any() else np.mean(y[p == 1])

    result = estimate.cvt(oof, precision, aggregate="fold")
    assert result.selected == "config 1"
    assert result.value == pytest.approx((2 / 3 + 1) / 2)


@pytest.mark.parametrize("metric", ["recall", "jaccard", "average_precision", "f1"])
def test_what_labels_leave_undefined_is_drawn_again_also_for_scorers(metric):
    y = np.r_[1, 1, 1, np.zeros(27, int)]
    oof = of.from_arrays(y, np.stack([y * 0.8 + 0.1] * 2, axis=1), response="proba")
    result = estimate.bbc(oof, metric, n_resamples=200)
    assert result.value == 1
    assert "OF201" in [n.code for n in result.notes]


def test_a_wrong_positive_class_and_few_groups_are_noted():
    y = np.tile(["sick", "well"], 40)
    p = np.where(y == "sick", 0.8, 0.2) + np.random.default_rng(0).normal(0, 0.1, 80).clip(-0.2, 0.2)
    wrong = estimate.bbc(of.from_arrays(y, p.clip(0, 1)), "roc_auc")
    assert [n.code for n in wrong.notes] == ["OF213"]
    assert "is sick, not well, the positive class?" in str(wrong)
    assert "positive class well" in str(wrong)
    right = estimate.bbc(of.from_arrays(y, p.clip(0, 1), positive="sick"), "roc_auc")
    assert [n.code for n in right.notes] == ["OF220"]
    grouped = estimate.bbc(of.from_arrays(y, p.clip(0, 1), groups=np.arange(80) // 20), "accuracy")
    assert "OF212" in [n.code for n in grouped.notes]
    assert "80 samples in 4 groups" in str(grouped)


def test_cv_and_cvt_do_not_pretend_to_correct():
    oof = make_predictions("accuracy")
    assert str(estimate.cv(oof, "accuracy", config=2)).startswith("accuracy of config 2 ")
    for result in (estimate.cv(oof, "accuracy", config=2), estimate.cvt(oof, "accuracy")):
        assert "optimism" not in str(result).replace("optimistic", "")


def test_on_one_test_set_nothing_was_cross_validated():
    scores = np.random.default_rng(0).random((60, 4))
    one = str(of.estimate.bbc(of.from_arrays(None, scores, response="pointwise"), "mean"))
    folds = of.from_arrays(None, scores, folds=np.arange(60) % 5, response="pointwise")
    assert "winner's score " in one
    assert "CV score" not in one
    assert "winner's cross-validation score, pooled" in str(of.estimate.bbc(folds, "mean"))


def test_a_configuration_in_the_place_of_the_metric():
    oof = of.from_arrays([0, 1, 1, 0], [[0.1, 0.9], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]], configs=["good", "bad"])
    problem = r"metric is the second argument; got the configuration 'bad' there\. Call {}\(oof, 'roc_auc', \.\.\.\)"
    with pytest.raises(InputError, match=problem.format("bbc")):
        estimate.bbc(oof, "bad")
    with pytest.raises(InputError, match=problem.format("cv")):
        estimate.cv(oof, "bad", "accuracy")


def test_a_configuration_with_failed_cells_is_named():
    oof = make_predictions("accuracy", c=2, folds=5)
    state, data = oof.state.copy(), oof.data.astype(float)
    state[1, 0, :2] = State.FAILED
    data[0, 1, oof.folds[:, 0] < 2] = -1
    oof = replace(oof, state=state, data=data.astype(oof.data.dtype))
    with pytest.raises(NeedError, match=r"2 of 5 cells of configuration 'config 1' failed. Name another configuration"):
        estimate.cv(oof, "accuracy", config="config 1")
