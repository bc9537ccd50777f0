"""What to do with a given number of samples and configurations: the papers' advice, joined into one plan with its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any, get_args

from . import formatting
from .arguments import check_choice, check_count, is_number
from .data.plan import Plan
from .docstrings import fill_common
from .drop import Bootstrap, DropRule
from .exceptions import got, invalid
from .results import Advice, Optimism
from .results._advice import AdviceTask, Goal
from .simulate import Accuracy, optimism

# Below this BBC-CV without dropping, from it on BBCD-CV (Tsamardinos 2018, sect. 6).
_FEW = 100
# Dropping starts when this many samples have predictions (sect. 5.2.2).
_DROP_FROM = 50
# Repeats after which intervals hardly change (sect. 5.2.4), and the most the paper looked at (sect. 5.2.3).
_ENOUGH_REPEATS, _MOST_REPEATS = 4, 10
# The folds whose long-run means came nearest to true test sets (Raeder 2010, sect. VII), and the cheaper usual number.
_FOLDS, _FEWER_FOLDS = 10, 5
# Precision does not grow with samples for ever in any way that matters; a bound keeps the sums short.
_MOST_SUMMED = 1_000_000

# The reasons, each with its source.
_SENTENCES = formatting.read_sentences("""
corrected: The winner's cross-validation score is optimistic; BBC-CV corrects it by a bootstrap of the predictions, without
    further fits [Tsamardinos 2018, sect. 3].
named: Nothing is selected, so the plain score needs no correction; it is rather too low, because the models are trained on
    fewer samples than the final one [Tsamardinos 2015, sect. 2].
nested: Nested cross-validation, collect(..., inner=True) without drop, is a second opinion for {fits:,} further fits
    [Tsamardinos 2015, sect. 10; Tsamardinos 2018, sect. 6, advises to do without].
blocked: A blocked 3x2 plan needs 6 fits per configuration where 5x2cv needs 10, and is comparable to it
    [Wang 2014, sect. 7].
five_by_two: Five repeats of two folds compare algorithms, not two fitted models, when samples are few
    [Raschka 2018, sect. 4.12 and Fig. 23].
training: The test is t_training: the tests of the papers for such plans find differences too often where samples are few
    [ours, docs/calibration.md].
similar: Few repeats of two folds may not be enough to tell very similar classifiers apart again on another partition
    [Raeder 2010, sect. I and V].
adjust: With more than two configurations adjust the p values for their number [Raschka 2018, sect. 4.5].
one_set: A third of the samples, {held_out:,}, is a test set that measures an accuracy to ± {precision:g} or better
    [Raschka 2018, sect. 1.7 and 3.8; that this is enough, and for other scores too: ours].
folds: {folds} folds came closest to the scores on real test sets, for balanced classes [Raeder 2010, sect. VI and VII].
few_folds: Each fold needs a sample, so there can be only {folds} folds [ours].
classes: Folds keep the proportions of the classes; members of a rare class go to different folds
    [Tsamardinos 2015, sect. 7 and 9].
many_repeats: As many repeats as time allows make the choice better and the interval narrower [Tsamardinos 2018, sect. 6].
repeats: Below {few} samples repeats make intervals narrower and choices better; more than {repeats} add little
    [Tsamardinos 2018, sect. 5.2.3 and 5.2.4].
one_repeat: From {few} samples on one repeat or a few suffice [Tsamardinos 2018, sect. 5.2.3].
fewer_folds: The budget allows {allowed:,} fits; with fewer folds, or one, estimates are more pessimistic
    [Raschka 2018, sect. 3.6].
too_few_fits: The budget allows {allowed:,} fits, which is too few even for this plan: it would do for {configs}
    [computed from cost and budget, ours].
keep: Below {few} samples nothing is dropped: a drop needs {start} predictions to be more than noise
    [Tsamardinos 2018, sect. 5.2.2 and 6].
drop: Hopeless configurations are dropped once {start} samples have predictions; with 500 samples that made searches 2 to 5
    times cheaper at nearly no loss [Tsamardinos 2018, sect. 5.2.2].
optimism: Chosen among {configs:,} independent configurations, the winner would report an accuracy {value} too high; less where
    configurations are alike [simulate.optimism, in the setting of Tsamardinos 2018, sect. 5.1].
permutation: The losses of the same samples are compared by a paired permutation test [ours].
cochran_q: Cochran's Q asks whether the models differ at all; McNemar's test with adjusted p values follows for pairs
    [Raschka 2018, sect. 4.6 and Fig. 23].
mcnemar: McNemar's test compares two models on one large test set [Raschka 2018, sect. 4.3 and Fig. 23].
""")


@fill_common
def advise(
    n_samples: int,
    n_configs: int,
    task: AdviceTask = "binary",
    goal: Goal = "select",
    cost: float | None = None,
    budget: float | None = None,
    n_jobs: int = 1,
    *,
    accuracy: Accuracy = (14, 6),
    precision: float = 0.01,
) -> Advice:
    """Recommend a plan, and an estimate or a test, for this many samples and configurations, with the reasons.

    The advice combines Figure 23 of [1]_ with the results of other papers. It recommends cross-validation with bootstrap bias
    correction for few samples, adds dropping for more, and a hold-out for very many. To compare algorithms, it recommends
    `compare.t_training` on a 5x2 or blocked 3x2 plan, or McNemar's test on one large test set.

    Parameters
    ----------
    n_samples, n_configs : int
        Number of samples and of configurations.
    task : {"binary", "multiclass", "regression", "survival"}
        What is predicted.
    goal : {"select", "estimate", "compare"}
        ``select`` a configuration and estimate how good it is; ``estimate`` adds nested cross-validation as a second opinion,
        and also takes one configuration; ``compare`` two or more configurations.
    cost, budget : float or None
        Seconds that one fit takes, and seconds that you can spend. With both, the best plan within the budget is recommended.
    n_jobs : int
        Number of workers.
    accuracy : float, tuple or list
        What you expect the configurations to be like, for the expected optimism: see `simulate.optimism`. The default is spread
        around 0.7.
    precision : float
        One test set is recommended if the 95 percent interval of any accuracy on it extends by at most this to either side. The
        default is our choice: 9,604 test samples.

    Returns
    -------
    Advice
        The plan, the method, the number of fits, the expected optimism, and the reasons.
    References: {raschka2018}

    Examples: {outfold}
    >>> advice = of.advise(80, 150)
    >>> advice.plan, advice.method, advice.fits
    (Plan(4 x 10-fold), 'bbc', 6000)
    """
    case = _Case(n_samples, n_configs, task, goal, cost, budget, n_jobs, precision)
    return case.compare() if goal == "compare" else case.choose(accuracy)


class _Case:
    """One request, checked; collects reasons on the way."""

    def __init__(
        self, n: Any, c: Any, task: Any, goal: Any, cost: Any, budget: Any, n_jobs: Any, precision: Any
    ) -> None:
        for name, value, known in (("goal", goal, get_args(Goal)), ("task", task, get_args(AdviceTask))):
            check_choice(value, known, name)
        # A blocked 3x2 plan has four blocks.
        self.n = check_count(n, "n_samples", 4 if goal == "compare" else 2)
        self.c = check_count(c, "n_configs")
        if self.c < 2 and goal != "estimate":
            needed, remedy = "needs at least 2 configurations", "Use `goal='estimate'` for one."
            raise invalid(f"goal={goal!r}", needed, got(self.c), remedy)
        self.task, self.goal = task, goal
        self.cost = None if cost is None else _above_zero(cost, "cost")
        self.budget = None if budget is None else _above_zero(budget, "budget")
        if self.budget is not None and self.cost is None:
            raise invalid("budget", "needs `cost`, the seconds that one fit takes", remedy="Give both, or neither.")
        self.jobs = check_count(n_jobs, "n_jobs")
        self.precision = _above_zero(precision, "precision")
        self.reasons: list[str] = []

    def choose(self, accuracy: Accuracy) -> Advice:
        large = self._one_test_set_is_enough()
        plan = self._affordable([Plan.holdout()] if large else self._folds())
        if plan.kind == "kfold":
            self._explain_folds(plan)
        drop = self._drop(plan)
        method = "bbc" if self.c > 1 else "cv"
        optimism = self._optimism(plan, accuracy)
        self._say("corrected" if self.c > 1 else "named")
        if self.goal == "estimate" and self.c > 1 and plan.kind == "kfold" and plan.folds >= 3:
            self._say("nested", fits=plan.repeats * self.c * plan.folds * (plan.folds - 1) // 2)
        return self._advice(plan, drop=drop, method=method, expected_optimism=optimism)

    def compare(self) -> Advice:
        if self._one_test_set_is_enough():
            return self._advice(self._affordable([Plan.holdout()]), test=self._test_of_one_set())
        plan = self._affordable([Plan.five_by_two(), Plan.blocked(3)])
        self._say("blocked" if plan.kind == "blocked" else "five_by_two")
        self._say("training")
        self._say("similar")
        if self.c > 2:
            self._say("adjust")
        return self._advice(plan, test="t_training")

    def _one_test_set_is_enough(self) -> bool:
        from scipy.special import ndtri

        needed = ceil((float(ndtri(0.975)) / (2 * self.precision)) ** 2)
        held_out = _held_out(Plan.holdout(), self.n)
        if held_out < needed:
            return False
        self._say("one_set", held_out=held_out, precision=self.precision)
        return True

    def _folds(self) -> list[Plan]:
        """Repeated cross-validation, the best plan first, then what is cheaper."""
        folds = min(_FOLDS, self.n)
        most = _MOST_REPEATS if self.budget is not None else _ENOUGH_REPEATS if self.n < _FEW else 1
        plans = [Plan(folds=folds, repeats=r) for r in range(most, 0, -1)]
        return [*plans, *([Plan(folds=_FEWER_FOLDS)] if folds > _FEWER_FOLDS else []), Plan.holdout()]

    def _explain_folds(self, plan: Plan) -> None:
        if plan.folds == _FOLDS:
            self._say("folds", folds=plan.folds)
        elif plan.folds == self.n:
            self._say("few_folds", folds=plan.folds)
        if self.task in ("binary", "multiclass"):
            self._say("classes")
        if self.budget is not None:
            self._say("many_repeats")
        elif self.n < _FEW:
            self._say("repeats", few=_FEW, repeats=plan.repeats)
        else:
            self._say("one_repeat", few=_FEW)

    def _affordable(self, plans: Sequence[Plan]) -> Plan:
        """The first plan that fits the budget; else the cheapest plan, and what to do about it."""
        if self.budget is None or self.cost is None:
            return plans[0]
        allowed = floor(self.budget * self.jobs / self.cost)
        for plan in plans:
            if self.c * _cells(plan) <= allowed:
                if plan.folds < plans[0].folds:
                    self._say("fewer_folds", allowed=allowed)
                return plan
        cheapest = min(plans, key=_cells)
        enough_for = formatting.count(allowed // _cells(cheapest), "configuration")
        self._say("too_few_fits", allowed=allowed, configs=enough_for)
        return cheapest

    def _drop(self, plan: Plan) -> DropRule | None:
        if self.c < 2 or plan.folds * plan.repeats < 2:
            return None
        if self.n < _FEW:
            self._say("keep", few=_FEW, start=_DROP_FROM)
            return None
        self._say("drop", start=_DROP_FROM)
        return Bootstrap(min_predictions=_DROP_FROM)

    def _optimism(self, plan: Plan, accuracy: Accuracy) -> Optimism | None:
        if self.c < 2 or self.task not in ("binary", "multiclass"):
            return None
        expected = optimism(min(_held_out(plan, self.n), _MOST_SUMMED), self.c, accuracy)
        self._say("optimism", configs=self.c, value=formatting.number(expected.value))
        return expected

    def _test_of_one_set(self) -> str:
        of_classes = "cochran_q" if self.c > 2 else "mcnemar"
        test = "permutation" if self.task in ("regression", "survival") else of_classes
        self._say(test)
        return test

    def _say(self, reason: str, **facts: Any) -> None:
        self.reasons.append(_SENTENCES[reason].format(**facts))

    def _advice(self, plan: Plan, **found: Any) -> Advice:
        fits = self.c * _cells(plan)
        fields = {"drop": None, "method": None, "test": None} | found
        return Advice(
            goal=self.goal,
            task=self.task,
            n_samples=self.n,
            n_configs=self.c,
            plan=plan,
            reasons=tuple(self.reasons),
            fits=fits,
            expected_seconds=None if self.cost is None else fits * self.cost / self.jobs,
            **fields,
        )


def _cells(plan: Plan) -> int:
    return plan.folds * plan.repeats


def _held_out(plan: Plan, n: int) -> int:
    return n if plan.test is None else max(round(plan.test * n), 1)


def _above_zero(value: Any, name: str) -> float:
    if not is_number(value) or value <= 0:
        raise invalid(name, "must be a number above 0", got(value))
    return float(value)
