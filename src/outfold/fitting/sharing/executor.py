"""The sharing executor: configurations are fitted on rows they share, and by families that serve several at once.

It gives the bits of `PlainExecutor`. If anything goes wrong, the plain executor fits the configurations concerned, so that
their results and messages are always those of separate fits.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data.notes import Note
from ...exceptions import CollectError
from ..configs import Configs
from ..data import as_labels, borrow
from ..estimators import EstimatorTemplate
from ..executor import (
    Executor,
    PlainExecutor,
    fit_predict,
    has_passed,
    mark_passed,
    new_token,
    outcome_of,
    skipping_checks,
)
from ..limits import record_warnings
from ..predict import MemberModel, RowPredictions
from ..worker import Batch, FitOutcome, Pool
from .family import Level, as_new, is_builtin, outcomes_differ
from .plan import FamilyGroup, SharingPlan, SharingTemplate, make_plan
from .summary import FailedVerification, SharedFit, SharingCounts, explain_plan, family_key
from .transform_cache import CACHE, Walk

if TYPE_CHECKING:
    from ..job import Options

# A batch that has fitted shared transformers goes on until its models took this many times as long.
_WORTH = 4.0
# After the first hold-out, a group is verified on this share of the others.
_SHARE = 0.1
# Of a family with more groups than this, about this many are verified.
_GROUPS = 3


class _Plan(NamedTuple):
    """What an executor is made of and its successors keep; none of it goes to a worker."""

    templates: Sequence[EstimatorTemplate]
    full: SharingPlan
    level: Level
    pool: Pool
    counts: SharingCounts
    disproved: frozenset[int] = frozenset()  # groups whose verification failed
    isolated: frozenset[int] = frozenset()  # configurations that are fitted by themselves

    def names_with(self, groups: Collection[int]) -> set[str]:
        """The configurations that these groups are part of."""
        pairs = zip(self.templates, self.full.paths, strict=True)
        return {template.name for template, path in pairs if path is not None and path.group in groups}


class SharingExecutor(Executor):
    """Fits once what configurations have in common; with `verify`, now and then a member of a family by itself too."""

    def __init__(self, made_of: _Plan, verify: bool) -> None:
        self._made_of, self.verify, self.token = made_of, verify, new_token()
        self.plan = made_of.full.without(made_of.disproved, made_of.isolated)
        pairs = zip(made_of.templates, self.plan.paths, strict=True)
        self.templates = [SharingTemplate.of(template, path) for template, path in pairs]
        self._groups: bytes | Mapping[int, FamilyGroup] = self.plan.groups
        if self.plan.groups and made_of.pool.own_process:
            self._groups = _packed(self.plan.groups, made_of.pool)

    @classmethod
    def planned(
        cls,
        configs: Configs,
        templates: Sequence[EstimatorTemplate],
        options: Options,
        pool: Pool,
        families: bool = True,
    ) -> SharingExecutor:
        """The executor for these configurations; without `families`, only steps of pipelines are shared."""
        assert options.share is not False
        plan = make_plan(list(configs.values()), options.share, options.fit_params)
        plan = plan if families else plan.without(plan.groups)
        return cls(_Plan(templates, plan, options.share, pool, SharingCounts()), options.share_check)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker needs; it gets templates with each batch."""
        return {"token": self.token, "verify": self.verify, "_groups": self._groups}

    def _changed(self, **changes: Any) -> SharingExecutor:
        return SharingExecutor(self._made_of._replace(**changes), self.verify)

    # -- in the worker ----------------------------------------------------------------------------------

    def fit(self, batch: Batch) -> list[FitOutcome]:
        """Fit the configurations in their order, members of a family at once."""
        outcomes: list[FitOutcome] = []
        start, on_the_way = perf_counter(), 0.0
        for unit in _units(batch.templates):
            fitted = self._fit_unit(batch, unit)
            outcomes += fitted
            on_the_way += sum(seconds for o in fitted if o.shared for _, seconds in o.shared.nodes)
            if batch.ends_after(fitted, perf_counter() - start, (1 + _WORTH) * on_the_way):
                break
        return _with_step_seconds(outcomes, batch.templates)

    def release(self) -> None:
        """Let go of the rows that this thread keeps for the next batch."""
        super().release()
        CACHE.clear()

    @property
    def groups(self) -> Mapping[int, FamilyGroup]:
        """The groups of families by number, also in a worker."""
        return _unpacked(self._groups) if isinstance(self._groups, bytes) else self._groups

    @cached_property
    def _plain(self) -> PlainExecutor:
        return PlainExecutor((), skip_passed_checks=True, token=self.token)

    def _fit_unit(self, batch: Batch, unit: Sequence[SharingTemplate]) -> list[FitOutcome]:
        """Fit configurations of one group, or one that has none."""
        path = unit[0].path
        if path is None:
            return [self.fit_alone(batch, unit[0])]
        if path.group is None:
            return [self.fit_single(batch, unit[0])]
        return _FamilyFit(self, batch, unit, path.group).outcomes()

    def fit_alone(self, batch: Batch, template: SharingTemplate) -> FitOutcome:
        """A configuration fitted by the plain executor."""
        outcome = self._plain.fit_one(batch, template)
        if template.path is None:
            return outcome
        n = len(template.path.steps)
        return outcome._replace(shared=SharedFit(outcome.seconds, n_steps=n, n_steps_done=n))

    def fit_single(self, batch: Batch, template: SharingTemplate) -> FitOutcome:
        """A configuration that shares rows with others; fitted alone if that fails."""
        path, start = template.shared_path, perf_counter()
        if not path.steps or has_passed(batch, ("alone", template.name)):
            return self.fit_alone(batch, template)
        with record_warnings() as names:
            try:
                end = CACHE.follow(batch, template)
                predicted = _fit_model(batch, template, end)
            except KeyboardInterrupt:
                raise
            except BaseException:
                return self.after_failure(batch, template, start)
        own = max(perf_counter() - start - sum(seconds for _, seconds in end.new), 0.0)
        shared = SharedFit(own, n_steps=len(path.steps), peak=end.peak).with_walk(end)
        return outcome_of(batch, template, predicted, own, (*end.warnings, *names), shared)

    def after_failure(self, batch: Batch, template: SharingTemplate, start: float) -> FitOutcome:
        """A fit alone, after a shared one came to nothing; the time of that counts too."""
        lost = perf_counter() - start
        outcome = self.fit_alone(batch, template)
        if outcome.values is not None:
            # It cannot share (it writes into its rows, for example): do not try again.
            mark_passed(batch, ("alone", template.name))
        return outcome._replace(seconds=outcome.seconds + lost)

    # -- what goes into a batch -------------------------------------------------------------------------

    @property
    def order(self) -> Sequence[int]:
        """All positions, neighbours in the tree of transformers one after the other."""
        return self.plan.order

    def branch(self, position: int) -> Hashable:
        """Configurations with the same first transformer, or of the same family, are handed out together."""
        path = self.plan.paths[position]
        if path is None:
            return "alone", position
        return ("node", path.steps[0].node) if path.steps else ("group", path.group)

    def cut_after(self, position: int, following: int) -> float | None:
        """Transformers that both need would be fitted again after a cut; members of a family must stay together."""
        one, other = self.plan.paths[position], self.plan.paths[following]
        if one is None or other is None:
            return 0.0
        if one.group is not None and one.group == other.group:
            return None
        seconds, known = 0.0, self._made_of.counts.node_seconds
        for a, b in zip(one.nodes, other.nodes, strict=False):
            if a != b:
                break
            seconds += known.get(a, 0.0)
        return _WORTH * seconds

    def helpers(self, positions: Collection[int]) -> list[int]:
        """Further members of families that are fitted as a whole."""
        return self.plan.helpers(positions)

    # -- what came back ---------------------------------------------------------------------------------

    def own_seconds(self, outcome: FitOutcome) -> float:
        """The seconds of the model, without the transformers before it."""
        return outcome.seconds if outcome.shared is None else float(outcome.shared.own_seconds)

    def count(self, outcome: FitOutcome, void: bool = False) -> None:
        """Count what was asked for and what was done."""
        if not void:
            self._made_of.counts.add(outcome, self.plan.groups)
        elif outcome.shared is not None:
            self._made_of.counts.checks += outcome.shared.n_checks

    def disproved_by(self, outcomes: Sequence[FitOutcome]) -> set[str]:
        """The configurations that the families concerned have a part in."""
        groups = {number for failed in self._failed(outcomes) for number in self._alike(failed.group)}
        return self._made_of.names_with(groups)

    def without_disproved(self, outcomes: Sequence[FitOutcome]) -> Executor:
        """The executor without the families concerned."""
        disproved = self._made_of.disproved
        for failed in self._failed(outcomes):
            groups = self._alike(failed.group)
            if not groups <= disproved:
                self._made_of.counts.refuse(failed, self.plan.groups[failed.group].family, groups)
                disproved |= groups
        return self._changed(disproved=disproved)

    def _failed(self, outcomes: Sequence[FitOutcome]) -> list[FailedVerification]:
        found = [outcome.shared.failed for outcome in outcomes if outcome.shared is not None]
        return [failed for failed in found if failed is not None and failed.group in self.plan.groups]

    def _alike(self, number: int) -> set[int]:
        """The groups of the same family."""
        family = self.plan.groups[number].family
        return {n for n, group in self.plan.groups.items() if group.family is family}

    def accepts(self, outcome: FitOutcome, token: str) -> bool:
        """A result of a disproved family does not count."""
        if outcome.shared is None or token == self.token:
            return True
        return outcome.name not in self._made_of.names_with(self._made_of.disproved)

    # -- crashes ----------------------------------------------------------------------------------------

    def shares(self, position: int) -> bool:
        """Whether the configuration has a path that others share."""
        return self.plan.paths[position] is not None

    def isolating(self, position: int) -> Executor:
        """The executor that fits this configuration and its neighbours by themselves."""
        return self._changed(isolated=self._made_of.isolated | self.plan.neighbours(position))

    def plain(self, templates: Sequence[EstimatorTemplate]) -> Executor:
        """An executor that fits each of these configurations by itself."""
        return PlainExecutor(templates, skip_passed_checks=True)

    # -- what to tell -----------------------------------------------------------------------------------

    @property
    def identity(self) -> dict[str, str]:
        """Stores made with exact sharing and with none may continue each other."""
        return {} if self._made_of.level == "exact" else {"share": self._made_of.level}

    def continuing(self, facts: Mapping[str, Any], notes: Sequence[Note]) -> Executor:
        """Families that failed in an earlier call are not used again."""
        counts = SharingCounts.since(facts)
        groups = self._made_of.full.groups
        failed = frozenset(n for n, group in groups.items() if family_key(group.family) in counts.refused)
        return self._changed(counts=counts, disproved=failed)

    def facts(self) -> dict[str, Any]:
        """Fits that were asked for and fits that were done."""
        return self._made_of.counts.facts(self._made_of.level)

    def notes(self) -> tuple[Note, ...]:
        """Which results are not exact, and which families were not used."""
        return self._made_of.counts.notes()

    def explain(self, n_holdouts: int) -> str:
        """What is going to be shared."""
        return explain_plan(self._made_of.full, self._made_of.level, n_holdouts)


def _packed(groups: Mapping[int, FamilyGroup], pool: Pool) -> bytes:
    """Pickled once for all batches; families of the user's script travel by value."""
    try:
        return pool.dumps(dict(groups))
    except Exception as error:
        problem = f"a family cannot be sent to worker processes ({type(error).__name__}: {error})"
        remedy = "Use `n_jobs=1`, `joblib.parallel_config('threading')` or `share=False`."
        raise CollectError(problem, remedy=remedy) from error


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Mapping[int, FamilyGroup]:
    """The families of the last collection in this process."""
    groups: Mapping[int, FamilyGroup] = pickle.loads(packed)
    return groups


def _units(templates: Sequence[Any]) -> Iterator[list[SharingTemplate]]:
    """The templates in their order, members of a group together."""
    for group, members in groupby(templates, key=lambda r: None if r.path is None else r.path.group):
        if group is None:
            yield from ([template] for template in members)
        else:
            yield list(members)


def _with_step_seconds(outcomes: list[FitOutcome], templates: Sequence[Any]) -> list[FitOutcome]:
    """The outcomes with the seconds of each transformer divided among those who passed through it."""
    costs = {node: seconds for o in outcomes if o.shared is not None for node, seconds in o.shared.nodes}
    if not costs:
        return outcomes
    passed = [() if r.path is None else r.path.nodes for r in templates[: len(outcomes)]]
    ways, counts = Counter(passed), Counter[int]()
    for nodes, n in ways.items():
        counts.update(dict.fromkeys(nodes, n))
    shares = {nodes: sum(costs[node] / counts[node] for node in nodes if node in costs) for nodes in ways}
    return [o._replace(seconds=o.seconds + shares[nodes]) for o, nodes in zip(outcomes, passed, strict=True)]


def _fit_model(batch: Batch, template: SharingTemplate, end: Walk) -> tuple[RowPredictions, ...]:
    model = template.make_model(batch.seed)
    passed = has_passed(batch, template.name)
    batch.start_random()
    with (
        batch.guard(template.name, end.spent, shared=True),
        skipping_checks(passed, passed and _sees_finite(template, end)),
    ):
        predicted = fit_predict(end.rows, batch.settings.reader, model, template.trusted)
    if not passed:
        mark_passed(batch, template.name)
    return predicted


def _sees_finite(template: SharingTemplate, end: Walk) -> bool:
    """Whether all numbers that the fit will see are known to be finite."""
    return template.shared_path.simple and not end.rows.fit_params and end.last.finite


class _FamilyModel(NamedTuple):
    """A model of a family, or None if there is none, and its part of the time and warnings."""

    model: Any = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    leads: bool = True


class _Predicted(NamedTuple):
    """What a model of a family predicts for the held-out rows, with the warnings and seconds of that."""

    parts: tuple[RowPredictions, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


class _FamilyFit:
    """One fit of a family."""

    def __init__(self, executor: SharingExecutor, batch: Batch, unit: Sequence[SharingTemplate], group: int) -> None:
        self.executor, self.batch, self.unit, self.group = executor, batch, unit, group
        self.family = executor.groups[group].family

    def outcomes(self) -> list[FitOutcome]:
        """The outcomes of the members of the unit, in their order; the first counts what was done on the path."""
        start = perf_counter()
        try:
            self.end = CACHE.follow(self.batch, self.unit[0])
        except KeyboardInterrupt:
            raise
        except BaseException:
            return [self.executor.after_failure(self.batch, template, start) for template in self.unit]
        models = self._models()
        outcomes = list(map(self._outcome, self.unit, models, self._predict(models)))
        first, *others = self._verified(outcomes, models)
        return [first._replace(shared=first.shared.with_walk(self.end)), *others]

    def _models(self) -> list[_FamilyModel]:
        members, whole = list(self.unit), self.family.whole
        if whole:
            there: Iterable[Any] = (*self.batch.templates, *self.batch.helpers)
            members = [t for t in there if t.path is not None and t.path.group == self.group]
            members.sort(key=lambda t: t.shared_path.position)
        fitted = self._try(members)
        if fitted is None and not whole and len(members) > 1:
            # One of them may be the reason; what a member predicts must not depend on the others.
            alone = [self._try([template]) for template in members]
            return [_FamilyModel() if one is None else one[0] for one in alone]
        if fitted is None:
            return [_FamilyModel() for _ in self.unit]
        mine = dict(zip((template.name for template in members), fitted, strict=True))
        share = sum(m.seconds for m in fitted) / len(self.unit)
        models = [mine[template.name] for template in self.unit]
        lead = next((i for i, fitted in enumerate(models) if fitted.model is not None), 0)
        return [_FamilyModel(one.model, share, one.warnings, i == lead) for i, one in enumerate(models)]

    def _try(self, members: Sequence[SharingTemplate]) -> list[_FamilyModel] | None:
        """The models of these members; None if the family cannot fit them."""
        start, batch, rows = perf_counter(), self.batch, self.end.rows
        # What a family of ours fits inside need not be checked again if it was fitted before.
        passed = is_builtin(self.family) and has_passed(batch, ("group", self.group))
        finite = passed and all(_sees_finite(template, self.end) for template in members)
        try:
            made = [template.make_model(batch.seed) for template in members]
            X = borrow(rows.X, all(template.trusted for template in members))
            batch.start_random()
            with (
                record_warnings() as names,
                batch.guard(members[0].name, self.end.spent, shared=True),
                skipping_checks(passed, finite),
            ):
                models = list(as_new(self.family).fit(made, X, as_labels(rows.y), **rows.fit_params))
        except KeyboardInterrupt:
            raise
        except BaseException:  # Unsuitable, or what each member's own fit raises
            return None
        if len(models) != len(members):
            return None
        mark_passed(batch, ("group", self.group))
        seconds = (perf_counter() - start) / len(members)
        return [_FamilyModel(model, seconds, (*names, *getattr(model, "warned", ()))) for model in models]

    def _predict(self, models: Sequence[_FamilyModel]) -> list[_Predicted | None]:
        """What the models predict for the held-out rows; None for a member without a model."""
        there = {i: fitted.model for i, fitted in enumerate(models) if fitted.model is not None}
        found = self._predict_together(list(there.values())) if is_builtin(self.family) and there else None
        known = dict(zip(there, found, strict=True)) if found else self._predict_each(there)
        return [known.get(i) for i in range(len(models))]

    def _predict_together(self, models: Sequence[Any]) -> list[_Predicted] | None:
        """What all models predict; None if one of them fails.

        Only for families of ours: they draw no random numbers to predict, and do not write into a frame.
        """
        batch, rows, start = self.batch, self.end.rows, perf_counter()
        try:
            with record_warnings() as names, batch.guard(self.unit[0].name, shared=True):
                predicted = [batch.settings.reader.together(models, borrow(X, True)) for X in rows.tests]
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        seconds = (perf_counter() - start) / len(models)
        return [_Predicted(rows.cut(mine), tuple(names), seconds) for mine in zip(*predicted, strict=True)]

    def _predict_each(self, models: Mapping[int, Any]) -> dict[int, _Predicted]:
        """What each predicts by itself; all of the same rows before the next ones, since they may share computations."""
        batch, rows = self.batch, self.end.rows
        found = dict.fromkeys(models, _Predicted())
        for X in rows.tests:
            for i, known in list(found.items()):
                start = perf_counter()
                try:
                    batch.start_random()
                    with record_warnings() as names, batch.guard(self.unit[i].name, shared=True):
                        part = batch.settings.reader(models[i], borrow(X, False))
                except KeyboardInterrupt:
                    raise
                except BaseException:
                    del found[i]
                    continue
                seconds = known.seconds + perf_counter() - start
                found[i] = _Predicted((*known.parts, part), (*known.warnings, *names), seconds)
        return {i: known._replace(parts=rows.cut(known.parts)) for i, known in found.items()}

    def _outcome(self, template: SharingTemplate, fitted: _FamilyModel, predicted: _Predicted | None) -> FitOutcome:
        if predicted is None:
            return self.executor.fit_single(self.batch, template)
        seconds, n_steps = predicted.seconds + fitted.seconds, len(template.shared_path.steps)
        shared = SharedFit(seconds, (), n_steps, 0, self.group, fitted.leads, self.end.peak)
        warnings = (*self.end.warnings, *fitted.warnings, *predicted.warnings)
        return outcome_of(self.batch, template, predicted.parts, seconds, warnings, shared)

    def _verified(self, outcomes: list[FitOutcome], models: Sequence[_FamilyModel]) -> list[FitOutcome]:
        """Fit one of them alone if it is this hold-out's turn; all of them, if the two differ."""
        mine = [i for i, outcome in enumerate(outcomes) if outcome.shared.group == self.group]
        if is_builtin(self.family):  # what a family of ours leaves to the estimator needs no second fit
            mine = [i for i in mine if isinstance(models[i].model, MemberModel)]
        picked = None
        if mine and self.executor.verify:
            picked = member_to_verify(self.batch, self.executor.groups, self.group, len(mine))
        if picked is None:
            return outcomes
        i, failed = mine[picked], None
        alone = self.executor.fit_alone(self.batch, self.unit[i])
        text = outcomes_differ(self.family, self.batch, outcomes[i], alone)
        if text:
            failed = FailedVerification(self.group, self.unit[i].name, text)
            outcomes = [self.executor.fit_single(self.batch, template) for template in self.unit]
        first, *others = outcomes
        return [first._replace(shared=first.shared._replace(n_checks=1, failed=failed)), *others]


def member_to_verify(batch: Batch, groups: Mapping[int, FamilyGroup], group: int, n: int) -> int | None:
    """Which of `n` members is also fitted by itself on this hold-out, if any; a function of the hold-out and the group.

    A group with a single member is fitted plainly and not verified, unless its family computes that member in another way
    than the estimator does (`Family.serves_single`).
    """
    # A family is to be verified, not each of sixty groups of it.
    family = groups[group].family
    alike = [n for n, one in groups.items() if one.family is family and (len(one.members) > 1 or family.serves_single)]
    if group not in alike:
        return None
    rng = np.random.default_rng(np.random.SeedSequence(batch.seed, spawn_key=(group,)))
    holdout = batch.holdout
    first = holdout.block == "oof" and holdout.repeat == 0 and holdout.left_out == (0,)
    drawn, member = rng.random(), int(rng.integers(n))
    chance = min(1.0, _GROUPS / len(alike)) * (1.0 if first else _SHARE)
    return member if drawn < chance or (first and group == alike[0]) else None
