"""Methods computed a second time, from raw arrays, by loops with NumPy and SciPy that share no code with Outfold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from extras import pd
from outfold.learners import SES, Univariate

# -- variance components of blocked 3x2 (Wang et al. 2014) --------------------------------------------------


def blocked_sets(n_sets=25, n=40):
    """Predictions of a blocked 3x2 plan on several small data sets, and the six errors of each, fitted and counted here."""
    found, errors = [], np.empty((n_sets, 3, 2))
    for s in range(n_sets):
        rng = np.random.default_rng(s)
        y = np.arange(n) % 2
        X = rng.normal(size=(n, 3)) + 0.5 * y[:, None]
        oof = of.collect({"bayes": GaussianNB()}, X, y, of.Plan.blocked(3), rng=s, progress=False)
        found.append(oof)
        for i in range(3):
            for k in range(2):
                test = oof.folds[:, i] == k
                model = GaussianNB().fit(X[~test], y[~test])
                errors[s, i, k] = sum(model.predict(X[test]) != y[test]) / test.sum()
    return found, errors


def test_variance_components_of_predictions():
    sets, x = blocked_sets()
    found = of.stability.variance_components(sets, "error")
    n = len(x)

    def covariance(first, second):
        return sum((a - first.mean()) * (b - second.mean()) for a, b in zip(first, second, strict=True)) / (n - 1)

    halves = [(i, k) for i in range(3) for k in range(2)]
    variance = np.mean([covariance(x[:, i, k], x[:, i, k]) for i, k in halves])
    within = np.mean([covariance(x[:, i, 0], x[:, i, 1]) for i in range(3)])
    pairs = [(one, other) for one, other in combinations(halves, 2) if one[0] != other[0]]
    between = np.mean([covariance(x[:, i, k], x[:, j, m]) for (i, k), (j, m) in pairs])
    assert len(pairs) == 12
    assert found.variance == pytest.approx(variance, rel=1e-12)
    assert found.rho1 == pytest.approx(within / variance, rel=1e-12)
    assert found.rho2 == pytest.approx(between / variance, rel=1e-12)
    # Var(mean of six) = (6 variances + 2 x 3 pairs within + 2 x 12 pairs between) / 36.
    assert found.of_mean == pytest.approx((6 * variance + 6 * within + 24 * between) / 36, rel=1e-12)
    L, AL, careful = [], [], []
    for one in x:
        inside = sum((one[i, k] - one[i].mean()) ** 2 for i, k in halves) / 6
        repeats = sum((one[i].mean() - one.mean()) ** 2 for i in range(3)) / 2
        L.append(inside)
        # Weight 2/3 makes it a sixth of all squared deviations from the mean.
        AL.append(sum((one[i, k] - one.mean()) ** 2 for i, k in halves) / 6)
        careful.append(inside + 4 / 3 * repeats)
    assert (found.L, found.AL, found.careful) == pytest.approx((np.mean(L), np.mean(AL), np.mean(careful)), rel=1e-12)
    alone = of.stability.variance_components(sets[3], "error")
    assert (alone.L, alone.AL, alone.careful) == pytest.approx((L[3], AL[3], careful[3]), rel=1e-12)


# -- step-down adjustment by draws (Westfall and Young 1993, Westfall 2010) -----------------------------------


def test_step_down_of_mcnemars_tests():
    """Draws of its own: the adjusted p values agree within the noise of 10,000 draws, and differ more from Holm's."""
    rng = np.random.default_rng(3)
    n, b = 120, 10_000
    shared = rng.random(n)
    right = np.column_stack([shared + 0.25 * rng.random(n) < level for level in (0.95, 0.93, 0.87, 0.86, 0.78)])
    oof = of.from_arrays(None, right[:, :, None], response="pointwise", configs=list("abcde"))
    pairs = list(combinations(range(5), 2))
    p = np.empty(len(pairs))
    for i, (first, second) in enumerate(pairs):
        only_first = sum(right[:, first] & ~right[:, second])
        only_second = sum(right[:, second] & ~right[:, first])
        p[i] = stats.binomtest(only_first, only_first + only_second).pvalue if only_first + only_second else 1.0
    drawn = np.empty((b, len(pairs)))
    for d in range(b):
        rows = rng.integers(0, n, n)
        moved = right[rows].mean(axis=0) - right.mean(axis=0)
        drawn[d] = [abs(round(moved[first] - moved[second], 12)) for first, second in pairs]
    # The p value of a draw is the share of draws that are at least as far apart.
    drawn_p = np.column_stack([(b - stats.rankdata(column, method="min") + 1) / b for column in drawn.T])
    adjusted, so_far = np.empty(len(pairs)), 0.0
    order = np.argsort(p, kind="stable")
    for step, i in enumerate(order):
        chance = np.mean(drawn_p[:, order[step:]].min(axis=1) <= p[i])
        so_far = max(so_far, min(max(chance, p[i]), (len(pairs) - step) * p[i], 1.0))
        adjusted[i] = so_far
    found = of.compare.pairs(oof, "mean", test="mcnemar", method="exact", adjust="westfall_young")
    assert [pair.pvalue for pair in found] == pytest.approx(p, rel=1e-9)
    noise = 4 * np.sqrt(2 * adjusted * (1 - adjusted) / b) + 2 / b
    assert np.all(np.abs(found.adjusted - adjusted) <= noise)
    holm = of.compare.pairs(oof, "mean", test="mcnemar", method="exact", adjust="holm").adjusted
    assert np.max(holm - adjusted) > 2 * noise.max()


# -- tuned algorithms, and winners on a new partition ------------------------------------------------------------


def grids():
    """Two algorithms, with some configurations each."""
    neighbours = of.grid("knn", KNeighborsClassifier(), n_neighbors=[7, 9, 11, 13])
    return neighbours | of.grid("tree", DecisionTreeClassifier(random_state=0), min_samples_leaf=[4, 7, 10])


def noisy(seed, n=60):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, 3)) + 0.7 * y[:, None], y, rng.integers(0, 15, n)


def held_out(model, X, y, folds):
    """Probabilities of each sample by the model that was trained without its fold."""
    out = np.full(len(y), np.nan)
    for k in np.unique(folds[folds >= 0]):
        out[folds == k] = (
            clone(model)
            .fit(X[(folds >= 0) & (folds != k)], y[(folds >= 0) & (folds != k)])
            .predict_proba(X[folds == k])[:, 1]
        )
    return out


@pytest.mark.parametrize(("inner", "with_groups", "repeats"), [(True, False, 2), (2, False, 1), (2, True, 1)])
def test_tuned_algorithms_are_compared_by_their_nested_predictions(inner, with_groups, repeats):
    X, y, groups = noisy(repeats)
    configs, plan = grids(), of.Plan(folds=3, repeats=repeats)
    data = {"groups": groups} if with_groups else {}
    oof = of.collect(configs, X, y, plan, inner=inner, rng=1, progress=False, **data)
    nested, picks = np.full((len(y), 2, repeats), np.nan), []
    for a, prefix in enumerate(("knn", "tree")):
        members = [name for name in configs if name.startswith(prefix)]
        for r in range(repeats):
            for k in range(3):
                inside, test = oof.blocks["inner"].folds[:, 3 * r + k], oof.folds[:, r] == k
                assert np.array_equal(inside < 0, test)
                scores = [brier_score_loss(y[~test], held_out(configs[name], X, y, inside)[~test]) for name in members]
                picks.append(members[int(np.argmin(scores))])
                nested[test, a, r] = clone(configs[picks[-1]]).fit(X[~test], y[~test]).predict_proba(X[test])[:, 1]
    found = of.compare.algorithms(oof, "brier", "knn", "tree")
    selected = {name: n for one in found.algorithms for name, n in one.selected.items()}
    assert selected == {name: picks.count(name) for name in set(picks)}
    assert len(set(picks)) > 2
    brier = [np.mean([brier_score_loss(y, nested[:, a, r]) for r in range(repeats)]) for a in (0, 1)]
    assert found.difference == pytest.approx(brier[0] - brier[1], rel=1e-6)
    made = of.from_arrays(y, nested, folds=oof.folds, configs=["knn", "tree"], response="proba", **data)
    assert found.pvalue == pytest.approx(of.compare.auto(made, "brier", "knn", "tree").pvalue, rel=1e-6)


def test_winners_by_several_metrics_on_a_new_partition():
    X, y, groups = noisy(4)
    configs, metrics = grids(), {"brier": brier_score_loss, "roc_auc": roc_auc_score}
    oof = of.collect(configs, X, y, of.Plan(folds=3), groups=groups, fresh=list(metrics), rng=1, progress=False)
    folds = oof.blocks["fresh"].folds[:, 0]
    assert all(len(np.unique(folds[groups == g])) == 1 for g in np.unique(groups))
    assert not np.array_equal(folds, oof.folds[:, 0])
    winners = set()
    for metric, score in metrics.items():
        found = of.estimate.cvm_cv(oof, metric)
        again = held_out(configs[found.selected], X, y, folds)
        assert found.value == pytest.approx(
            np.mean([score(y[folds == k], again[folds == k]) for k in range(3)]), rel=1e-6
        )
        winners.add(found.selected)
    assert len(winners) == 2


# -- as good as, up to a margin (Tango 1998) ----------------------------------------------------------------------


def score_z(b, c, n, d):
    """Of "b/n - c/n is d", with the variance at the likeliest shares that differ by d, found by a general optimiser."""

    def surprise(q):
        counts, shares = np.array([b, c, n - b - c]), np.array([q + d, q, 1 - d - 2 * q])
        return -np.sum(counts[counts > 0] * np.log(np.maximum(shares[counts > 0], 1e-300)))

    q = optimize.minimize_scalar(
        surprise, bounds=(max(0, -d), (1 - d) / 2), method="bounded", options={"xatol": 1e-10}
    ).x
    spread = n * (2 * q + d - d * d)
    return (b - c - n * d) / np.sqrt(spread)


@pytest.mark.parametrize(
    ("question", "difference"), [("non_inferior", 0.0), ("non_inferior", -0.2), ("equivalent", 0.0)]
)
def test_power_within_a_margin_by_enumeration(question, difference):
    """Every table that 30 answers can give, with its probability; at a difference of the margin, the power is the error."""
    n, margin = 30, 0.2
    oof = of.from_arrays(None, [[1, 0]] * 6 + [[0, 1]] * 4 + [[1, 1]] * 20 + [[0, 0]] * 10, response="pointwise")
    first, second = 0.125 + difference / 2, 0.125 - difference / 2  # a quarter of the 40 answers tells the two apart
    expected = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            p = stats.norm.sf(score_z(b, c, n, -margin))
            if question == "equivalent":
                p = max(p, stats.norm.cdf(score_z(b, c, n, margin)))
            if p <= 0.05:
                expected += stats.multinomial.pmf([b, c, n - b - c], n, [first, second, 1 - first - second])
    found = of.compare.power(
        oof, "mean", 0, 1, difference, n=n, n_simulations=2000, progress=False, **{question: margin}
    )
    assert abs(found.power - expected) <= 4 * np.sqrt(expected * (1 - expected) / 2000)


# -- SES (Tsamardinos et al. 2012, Lagani et al. 2017) ----------------------------------------------------------


def likelihood_ratio_p(X, y, j, given):
    """Of a logistic regression with and without a column, by a general optimiser."""

    def deviance(columns):
        A = np.column_stack([np.ones(len(y)), *(X[:, c] for c in columns)])
        sign = 2 * y - 1

        def loss(w):
            margin = sign * (A @ w)
            return 2 * np.logaddexp(0, -margin).sum(), -2 * A.T @ (sign / (1 + np.exp(margin)))

        return optimize.minimize(loss, np.zeros(A.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).fun

    return stats.chi2.sf(max(deviance(given) - deviance([*given, j]), 0.0), 1)


def partial_correlation_p(X, y, j, given):
    """Of what regressions on the other columns leave of the column and of the target."""
    A = np.column_stack([np.ones(len(y)), *(X[:, c] for c in given)])
    left = [v - A @ np.linalg.lstsq(A, v, rcond=None)[0] for v in (X[:, j], y)]
    r = left[0] @ left[1] / np.sqrt(left[0] @ left[0] * (left[1] @ left[1]))
    df = len(y) - 2 - len(given)
    return 2 * stats.t.sf(abs(r) * np.sqrt(df / (1 - r * r)), df)


def printed_ses(p_value, n, alpha, most):
    """The printed algorithm: what is selected, and by which columns each could be replaced."""
    p = {}

    def asked(j, given):
        key = (j, tuple(sorted(given)))
        if key not in p:
            p[key] = p_value(j, list(key[1]))
        return p[key]

    equal = {j: {j} for j in range(n)}
    rest, selected = list(range(n)), []
    while True:
        for j in [*rest, *selected]:
            others = [c for c in selected if c != j]
            sets = [z for size in range(most + 1) for z in combinations(others, size)]
            parting = next((z for z in sets if asked(j, z) > alpha), None)
            if parting is None:
                continue
            rest, selected = ([c for c in part if c != j] for part in (rest, selected))
            for kept in parting:
                if asked(kept, (*(c for c in parting if c != kept), j)) > alpha:
                    equal[kept] |= equal[j]
                    break
        if not rest:
            return {j: equal[j] for j in selected}
        strongest = {j: max(asked(j, z) for s in range(most + 1) for z in combinations(selected, s)) for j in rest}
        best = min(rest, key=strongest.get)
        rest.remove(best)
        selected.append(best)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_ses_selects_and_replaces_as_printed(task):
    n_groups = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 7))
        X[:, 5] = X[:, 0] + 0.1 * rng.normal(size=150)
        X[:, 6] = X[:, 2] + 0.4 * rng.normal(size=150)
        score = X[:, 0] - 0.8 * X[:, 1] + 0.7 * X[:, 2] + rng.normal(size=150)
        y = (score > 0).astype(int) if task == "classification" else score
        test = likelihood_ratio_p if task == "classification" else partial_correlation_p
        expected = printed_ses(lambda j, given: test(X, y, j, given), 7, 0.05, 2)  # noqa: B023
        found = SES(alpha=0.05, max_conditions=2, task=task).fit(X, y)
        groups = {int(j): set(map(int, group)) for j, group in zip(found.selected_, found.equivalent_, strict=True)}
        assert groups == expected
        n_groups += sum(len(group) > 1 for group in groups.values())
    assert n_groups >= 6  # some features can be replaced


# -- Univariate ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_univariate_of_a_table_with_gaps(task):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.choice(len(y), 80, replace=False)
    frame = pd.DataFrame(X[rows, :6], columns=list("abcdef"))
    frame["noise"] = rng.normal(size=80)
    frame["pair"] = np.where(X[rows, 7] > 0.05, 1.0, 0.0)
    frame["level"] = np.where(X[rows, 8] > 0.18, "high", "low")
    frame["name"] = [None if i % 9 == 0 else f"n{i % 4}" for i in range(80)]
    frame.loc[::7, "b"] = np.nan
    target = y[rows] if task == "classification" else X[rows, 10]
    p = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "f":
            values = column.fillna(column.median()).to_numpy()
            levels = values.astype(int).astype(str) if set(values) == {0.0, 1.0} else None
        else:
            levels = column.fillna("missing").to_numpy(dtype=str)
        if task == "classification":
            if levels is None:
                p[name] = stats.ttest_ind(values[target == 0], values[target == 1]).pvalue
            else:
                p[name] = stats.chi2_contingency(pd.crosstab(levels, target), correction=False).pvalue
        elif levels is None or column.dtype.kind == "f":
            p[name] = stats.pearsonr(values, target).pvalue
        else:
            p[name] = stats.f_oneway(*(target[levels == level] for level in np.unique(levels))).pvalue
    found = Univariate(alpha=0.01, task=task).fit(frame, target)
    assert found.pvalues_ == pytest.approx(list(p.values()), rel=1e-9)
    assert found.selected_.tolist() == [i for i, one in enumerate(p.values()) if one <= 0.01]
    assert 0 < len(found.selected_) < len(p)
