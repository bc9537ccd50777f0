"""A job: the checked arguments of one call of `collect`, what it fits, on what, and the `Predictions` it starts from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from .._version import __version__
from ..arguments import check_count, is_number, is_whole_number
from ..data.cells import State
from ..data.criterion import Aggregate, Criterion, LiveScore
from ..data.duplicates import held_out_with_twin, row_codes
from ..data.inner import inner_folds, own_inner_folds
from ..data.ledger import TEST_PART
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import AUTO, Predictions, recording
from ..data.seeds import SEEDS, each_seed
from ..data.splitting import NOT_HELD_OUT, Splits, group_codes
from ..data.survival import times_of
from ..data.target import MOST_CLASSES, Target, encode
from ..exceptions import InputError, NeedError, got, invalid
from ..metrics import MetricLike
from ..progress import Mode
from ..select import RuleLike, as_rule
from .configs import Configs, as_configs
from .data import (
    Samples,
    as_features,
    as_given,
    as_groups,
    as_labels,
    as_table,
    digest,
    has_rows,
    n_rows,
    refuse_masked,
    row_names,
)
from .estimators import (
    EstimatorTemplate,
    check_predicts,
    is_pairwise,
    is_well_known,
    make_templates,
    one_of_each,
    plain_text,
    seeds_of,
)
from .executor import Executor, PlainExecutor
from .live import LiveScoring
from .predict import ModelKind, Reader, choose_response, kind_of
from .threads import threads_alone
from .worker import AroundFit, Holdout, Pool

if TYPE_CHECKING:
    from ..drop import DropRule
    from ..stability import Stop

# -- options --------------------------------------------------------------------------------------------

Share = Literal["exact", "close", False]

# The most repeats where their number is open.
_MAX_REPEATS = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """How to collect; `collect` documents each option.

    What is given is checked and brought to one form: the plan is a `Plan` with its repeats, the seed a number, a rule an
    instance, `fresh` a tuple of metrics (None for the one that selects) or None. `stop` and `max_repeats` are None unless
    repeats are added until `stop` holds; `resub` is True or False.
    """

    plan: Plan = field(default_factory=Plan)
    groups: Any = None
    rng: int = 0
    n_jobs: int | None = None
    store: str | Path | None = None
    response: str = "auto"
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    progress: Mode = True
    inner: bool | int = False
    metric: MetricLike | None = None
    aggregate: Aggregate = "pooled"
    rule: RuleLike = None
    fresh: Any = None
    resub: bool = False
    drop: DropRule | None = None
    stop: Stop | None = None
    max_repeats: int | None = None
    timeout: float | None = None
    retry_failed: bool = False
    on_error: Literal["keep", "raise"] = "keep"
    positive: Any = None
    samples: Any = None
    threads: int | None = None
    task: ModelKind | None = None
    share: Share = "exact"
    share_check: bool = True
    scorers: LiveScoring | None = None
    seeds: int = 1
    # For searches: scores of models whose predictions cannot be kept, and what surrounds every fit.
    rescue: LiveScoring | None = None
    around: AroundFit | None = None
    # Of a plan with a test part, which was cut off before: which samples it has.
    test_part: Mapping[str, Any] | None = None

    @classmethod
    def checked(cls, plan: Any, repeats: Any = None, **others: Any) -> Options:
        """Options from arguments as `collect` takes them."""
        raw = cls(**others)
        _check_values(raw)
        # `fresh=True` takes the metric that selects, and the first metric given to it alone selects everywhere.
        fresh = _as_fresh(raw.fresh)
        scorers = LiveScoring.checked(raw.scorers, raw.raises)
        metric = fresh[0] if raw.metric is None and fresh is not None else raw.metric
        if scorers is not None and isinstance(metric, str) and scorers.names(metric) and not metrics.is_known(metric):
            metric = LiveScore(metric)
        rule = _as_drop_rule(raw.drop, metric)
        if rule is not None and raw.inner:
            given = "nested cross-validation selects among all of them in every outer fold, so none may be missing"
            remedy = "Leave one of them out; bbc needs no inner folds."
            raise invalid("drop", f"cannot be combined with `inner={raw.inner}`", given, remedy)
        plan, stop, most = _repeated(as_plan(plan), repeats, raw.stop, raw.max_repeats)
        if plan.kind == "three_way" and fresh is None:
            needed = "a three-way plan needs to know what selects on the validation part"
            given, remedy = "give `fresh=True`, or `fresh='accuracy'`", "Without a test part use `Plan.holdout`."
            raise invalid(None, needed, given, remedy)
        if stop is not None and (raw.inner or fresh is not None):
            name, given = "inner" if raw.inner else "fresh", "give `repeats=10`, for example, not 'auto'"
            raise invalid(name, "needs to know the number of repeats", given)
        if stop is not None and rule is not None:
            _refuse_open_repeats(rule)
        refuse_masked(groups=raw.groups, samples=raw.samples)
        return replace(
            raw,
            plan=plan,
            groups=as_groups(raw.groups),
            inner=bool(raw.inner) if isinstance(raw.inner, bool | np.bool_) else int(raw.inner),
            rng=_as_seed(raw.rng),
            fit_params=_as_fit_params(raw.fit_params),
            resub=plan.kind == "bootstrap" if others.get("resub") is None else bool(raw.resub),
            metric=metric,
            rule=as_rule(raw.rule),
            fresh=fresh,
            drop=rule,
            stop=stop,
            max_repeats=most,
            samples=None if raw.samples is None else np.array(raw.samples),
            threads=None if raw.threads is None else int(raw.threads),
            scorers=scorers,
            seeds=check_count(raw.seeds, "seeds", 1),
        )

    @property
    def raises(self) -> bool:
        """Whether the first fit that fails ends the collection."""
        return self.on_error == "raise"


def as_plan(plan: Any, name: str = "plan") -> Plan:
    """A plan, from whatever `collect` takes as one."""
    if plan is None or isinstance(plan, Plan):
        return plan or Plan()
    if is_whole_number(plan):
        return Plan(folds=int(plan))
    if not isinstance(plan, (str, bytes, Mapping)) and (hasattr(plan, "split") or isinstance(plan, Iterable)):
        return Plan.from_cv(plan)
    needed = "must be a Plan such as `Plan(folds=10)`, a number of folds, or a scikit-learn splitter"
    raise invalid(name, needed, got(plan))


def _repeated(plan: Plan, repeats: Any, stop: Any, most: Any) -> tuple[Plan, Stop | None, int | None]:
    """The plan with its repeats; if their number is open, also the rule that ends them and the most that may come."""
    if repeats != AUTO:
        for name, value in (("stop", stop), ("max_repeats", most)):
            if value is not None:
                remedy = f"Give both, or leave `{name}` out."
                raise invalid(name, "needs `repeats='auto'`", f"got `repeats={repeats!r}`", remedy)
        if repeats is None:
            return plan, None, None
        if not is_whole_number(repeats) or repeats < 1:
            raise invalid("repeats", "must be a whole number from 1, 'auto' or None", got(repeats))
    if plan.kind not in ("kfold", "holdout"):
        folds = getattr(plan.cv, "n_splits", 10)
        remedy = f"Use `Plan(folds={folds})`, or leave `repeats` out."
        raise invalid("repeats", "needs a plan that can draw another partition", f"this one is {plan}", remedy)
    if repeats != AUTO:
        return replace(plan, repeats=int(repeats)), None, None
    from ..stability import as_stop

    most = check_count(_MAX_REPEATS if most is None else most, "max_repeats", 1)
    return replace(plan, repeats=1), as_stop(stop), most


# Rules are imported where there is one: most collections have none.


def _as_drop_rule(given: Any, metric: MetricLike | None) -> DropRule | None:
    """The rule that drops; None if nothing is dropped."""
    if given is None or given is False:
        return None
    from ..drop import as_drop_rule

    return as_drop_rule(given, metric)


def _refuse_open_repeats(rule: DropRule) -> None:
    """Refuse a rule that needs to know the number of repeats."""
    from ..drop import Sequential

    if isinstance(rule, Sequential) and rule.steps is None:
        needed = "needs to know the number of folds beforehand, which `repeats='auto'` leaves open"
        raise invalid("Sequential", needed, "give `Sequential(steps=...)`")


def _check_values(raw: Options) -> None:
    kinds, timeout = get_args(ModelKind), raw.timeout
    checks = {
        "store": (
            isinstance(raw.store, str | os.PathLike | None) and raw.store != "",
            "the name of a file such as 'run.oof', or None",
        ),
        "inner": (
            isinstance(raw.inner, bool | np.bool_) or (is_whole_number(raw.inner) and raw.inner >= 2),
            "True, False or a number of inner folds from 2",
        ),
        "on_error": (raw.on_error in ("keep", "raise"), "'keep' or 'raise'"),
        "resub": (isinstance(raw.resub, bool | np.bool_ | None), "True, False or None (for bootstrap plans only)"),
        "timeout": (
            timeout is None or (is_number(timeout) and timeout > 0),
            "a number of seconds above 0, or None for no limit",
        ),
        "threads": (
            raw.threads is None or (is_whole_number(raw.threads) and raw.threads >= 1),
            "a whole number from 1, or None",
        ),
        "task": (raw.task is None or raw.task in kinds, f"{', '.join(map(repr, kinds))} or None"),
        "share": (raw.share is False or raw.share in ("exact", "close"), "'exact', 'close' or False"),
        "share_check": (isinstance(raw.share_check, bool), "True or False"),
    }
    for name, (good, needed) in checks.items():
        if not good:
            raise invalid(name, f"must be {needed}", got(getattr(raw, name)))


def _as_seed(rng: Any) -> int:
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole_number(rng) or rng < 0:
        needed = "must be a whole number from 0, or None to draw one"
        raise invalid("rng", needed, got(rng), "A number lets a store resume.")
    return int(rng)


def _as_fresh(fresh: Any) -> tuple[MetricLike | None, ...] | None:
    """The metrics whose winners are cross-validated again; None among them is the one that selects."""
    if fresh is None or fresh is False:
        return None
    asked = list(fresh) if isinstance(fresh, (list, tuple)) else [fresh]
    if not asked:
        raise invalid("fresh", "must be True, a metric or a list of metrics", got(fresh))
    return tuple(None if metric is True else metric for metric in asked)


def _as_fit_params(fit_params: Any) -> dict[str, Any]:
    if fit_params is None:
        return {}
    if not isinstance(fit_params, Mapping):
        raise invalid("fit_params", "must be a dict of arguments of fit", f"got {type(fit_params).__name__}")
    refuse_masked(**{str(name): value for name, value in fit_params.items()})
    return dict(fit_params)


# -- the job --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Job:
    """One call of `collect`, checked and ready."""

    configs: Configs
    options: Options
    samples: Samples
    target: Target
    splits: Splits  # if the number of repeats is open, of the first repeat
    reader: Reader
    templates: list[EstimatorTemplate]
    executor: Executor
    pool: Pool
    repeats: OpenRepeats | None = None  # draws further repeats, if their number is open
    blocks: Mapping[str, Splits] = field(default_factory=dict)  # inner, fresh, inbag, resub
    # If each repeat of the splits is one fit that predicts two parts (`curves`): the cell whose seed it takes.
    seeds: Sequence[tuple[int, int]] | None = None

    @property
    def fits_here(self) -> bool:
        """Whether this process may fit beside its workers: if no code of a fit is likely to end or to block it."""
        usual = all(has_rows(value, len(self.target)) for value in self.options.fit_params.values())
        pairs = zip(self.templates, self.configs.values(), strict=True)
        return self.pool.as_usual and usual and all(t.trusted or is_well_known(made) for t, made in pairs)

    @property
    def threads(self) -> int | None:
        """OpenMP threads of a fit; None for all that this process has."""
        if self.options.threads is not None:
            return self.options.threads
        return threads_alone(self.configs.values(), self.samples.X) if self.pool.inline else 1

    def seeds_of(self, holdout: Holdout, first_repeat: int = 0) -> tuple[int, ...]:
        """The seeds of the fits on one hold-out."""
        n, seed = self.options.seeds, self.options.rng
        if self.seeds is not None:
            return seeds_of(n, seed, *self.seeds[holdout.repeat])
        if holdout.block == "resub":  # the model that `refit` gives
            return seeds_of(n, seed)
        if holdout.is_own_inner:  # four numbers, where pairs of folds have three
            outer, n_inner = divmod(holdout.repeat, self.splits.n_folds), self.blocks["inner"].n_folds
            return seeds_of(n, seed, *outer, n_inner, holdout.folds[0])
        return seeds_of(n, seed, first_repeat + holdout.repeat, *holdout.left_out)

    @cached_property
    def header(self) -> Predictions:
        """The `Predictions` before anything is fitted."""
        params = self.configs.params
        fields: dict[str, Any] = {
            "target": self.target,
            "configs": tuple(self.configs),
            "response": self.reader.response,
            "plan": self.splits.plan,
            "params": tuple({p: _as_json(v) for p, v in params[name].items()} for name in self.configs),
            "groups": self.options.groups,
            "samples": row_names(self.samples.X) if self.options.samples is None else self.options.samples,
            "train": self.splits.train,
            "threshold": 0.0 if self.reader.response == "score" else None,
            "times": self.reader.times,
            "notes": self.splits.notes,
            "provenance": self._provenance(),
        }
        blocks = {}
        for name, splits in self.blocks.items():
            own = {"plan": splits.plan, "train": splits.train, "notes": (), "provenance": {}}
            blocks[name] = Predictions(**fields | self._empty_cells(splits) | own)
        whole, options = Predictions(**fields, **self._empty_cells(self.splits), blocks=blocks), self.options
        metric = options.metric
        if metric is None and whole.response == "none" and options.scorers is not None:
            metric = LiveScore(options.scorers.first)
        if isinstance(metric, LiveScore):  # there is no score yet that could be looked at
            return recording(whole, Criterion(metric, "fold", options.rule))
        usual = metrics.default(self.target.task, whole.response)
        return whole.selecting_by(usual if metric is None else metric, aggregate=options.aggregate, rule=options.rule)

    def _empty_cells(self, splits: Splits) -> dict[str, Any]:
        """Empty predictions and pending states for these splits."""
        width = self.reader.width
        shape = (splits.n_repeats, len(self.configs), len(self.target)) + (() if width is None else (width,))
        data = np.full(shape, -1, dtype=np.intp) if self.reader.response == "label" else np.full(shape, np.nan)
        state = np.full((len(self.configs), splits.n_repeats, splits.n_folds), State.PENDING, dtype=np.uint8)
        return {"data": data, "state": state, "folds": splits.folds}

    def _provenance(self) -> dict[str, Any]:
        import sklearn

        codes, splits = row_codes(as_table(self.samples.X)), self.splits
        # How many samples were held out while an equal row was trained on; None if rows cannot be compared.
        twins = None if codes is None else int(held_out_with_twin(codes, splits.folds, splits.train).sum())
        return {
            "seed": self.options.rng,
            "threads": self.options.threads,
            "data": digest(self.samples.X),
            "labels": "" if self.samples.y is None else digest(as_labels(self.samples.y)),
            "twins": twins,
            "specs": {template.name: template.text for template in self.templates},
            "outfold": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": sys.version.split()[0],
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        } | self._also_made()

    def _also_made(self) -> dict[str, Any]:
        """What is recorded only where it was asked for."""
        made = {} if self.options.test_part is None else {TEST_PART: dict(self.options.test_part)}
        survival = sys.modules.get("sksurv") if self.target.task == "survival" else None
        if survival is not None:
            made["scikit-survival"] = survival.__version__
        return made | ({} if self.options.stop is None else {"repeats": AUTO})

    @cached_property
    def identity(self) -> dict[str, str]:
        """What must be the same for a store to be continued."""
        made, options, plan = self.header.provenance, self.options, self.splits.plan
        # The numbers of the plan and what it drew, not the splitter's repr: the same text in every process.
        words = ", ".join(f"{k} {v}" for k, v in plan.to_dict().items() if k != "cv" and v is not None)
        identity = {
            "data": str(made["data"]),
            "labels": str(made["labels"]),
            "plan": f"{words}; {self.header.fingerprint}",
            "groups": "" if options.groups is None else digest(options.groups),
            "samples": "" if options.samples is None else digest(options.samples),
            "seed": str(options.rng),
            "response": self.reader.response,
            "fit_params": plain_text(dict(sorted(self.samples.fit_params.items()))),
        }
        if options.scorers is not None:
            identity["scorers"] = options.scorers.text
        if options.drop is not None:
            identity["drop"] = repr(options.drop)
        if options.stop is not None:
            identity["repeats"] = AUTO
        if options.seeds > 1:
            identity["seeds"] = str(options.seeds)
        return identity | self.executor.identity

    @property
    def start(self) -> Predictions:
        """The header with the identity, so that what is collected without a store and saved can be continued too."""
        return replace(self.header, provenance={**self.header.provenance, "identity": self.identity})

    def notes(self, facts: Mapping[str, Any]) -> tuple[Note, ...]:
        """What the user should know about the splits and the warnings of the fits."""
        warned = facts["warnings"]
        if not warned:
            return self.splits.notes
        kinds = ", ".join(f"{name} in {n:,}" for name, n in sorted(warned.items()))
        return (*self.splits.notes, Note("OF103", f"fits gave warnings: {kinds} of {facts['n_fits']:,} fits."))


def make_job(configs: Any, X: Any, y: Any, options: Options) -> Job:
    """The job for these configurations and samples."""
    configs = as_configs(configs)
    if not configs:
        given = "give a grid, a dict of estimators or an estimator"
        raise InputError(needed="there is no configuration to collect", given=given)
    refuse_masked(X=X, y=y)
    if options.plan.has_test_part:
        raise invalid("plan", "with a test part is for `collect`", f"this plan is {options.plan}")
    reader, target = _scored_only(X, options) if options.response == "none" else _predicted(configs, y, options)
    features = as_features(X, len(target))
    scored = options.scorers or options.rescue
    score_params = None if scored is None else scored.params
    pairwise = is_pairwise(configs, features)
    labels = None if y is None else as_given(y, column=target.classes is None)
    samples = Samples(features, labels, options.fit_params, score_params, pairwise)
    _check_weights(samples)
    repeats = None if options.max_repeats is None else OpenRepeats(options, target)
    splits = options.plan.split(target, options.groups, options.rng) if repeats is None else repeats.first(1)
    pool = Pool.configured(options.n_jobs, options.timeout)
    templates = make_templates(configs, pool.dumps)
    executor: Executor = PlainExecutor(templates)
    # Scorers and callbacks look at whole models, and a kernel matrix has its columns cut too: these cannot be shared.
    looked_at = options.scorers is not None or options.around is not None
    if options.share is not False and not looked_at and not pairwise:
        from .sharing.executor import SharingExecutor  # here, so that nothing of it is loaded where nothing is shared

        # BLAS rounds a product with a column otherwise than one with a vector, which is what families take.
        families = labels is None or np.ndim(labels) < 2
        executor = SharingExecutor.planned(configs, templates, options, pool, families)
    if options.seeds > 1:
        from .seed_averaging import SeedAveraging  # here, so that it is loaded only where there are several seeds

        executor = SeedAveraging(executor)
    return Job(
        configs=configs,
        options=options,
        samples=samples,
        target=target,
        splits=splits,
        reader=reader,
        templates=templates,
        executor=executor,
        pool=pool,
        repeats=repeats,
        blocks=_further_blocks(options, splits, target),
    )


def _predicted(configs: Configs, y: Any, options: Options) -> tuple[Reader, Target]:
    """How predictions are read off the models, and the labels."""
    kind, target = _labelled(configs, y, options)
    n_classes = 2 if target.classes is None else len(target.classes)
    response = choose_response(options.response, kind, configs, n_classes)
    times = times_of(target) if response == "survival" else None
    if response == "survival" and times is None:  # all events come at once: there is no curve to speak of
        response = "risk"
    return Reader(response, target.classes, times), target


def _labelled(configs: Configs, y: Any, options: Options) -> tuple[ModelKind, Target]:
    check_predicts(configs)
    kind = kind_of(one_of_each(configs), y, options.task)
    target = encode(y, task=kind, positive=options.positive)
    _refuse_amounts(target)
    return kind, target


def labels_of(configs: Configs, y: Any, options: Options) -> Target:
    """The labels as a job takes them."""
    return _labelled(configs, y, options)[1]


def _scored_only(X: Any, options: Options) -> tuple[Reader, Target]:
    """The same where only scores of the fitted models are kept: nothing is predicted, and no label is looked at."""
    if options.scorers is None:
        needed = "keeps nothing but scores of the fitted models, and needs `scorers`"
        raise invalid("response='none'", needed, remedy="Give `scorers={'name': function_of_estimator_X_y}`.")
    return Reader("none", None), Target("pointwise", np.zeros(n_rows(X)))


def _refuse_amounts(target: Target) -> None:
    """Refuse numbers that are not whole and hardly ever the same: no classifier takes them for classes."""
    classes = target.classes
    if classes is None or classes.dtype.kind != "f" or np.all(classes % 1 == 0):
        return
    if len(classes) > min(MOST_CLASSES, len(target) // 2):
        given, remedy = (
            f"it holds {len(classes):,} different numbers",
            "Use regressors, or make classes of the numbers.",
        )
        raise invalid("y", "must hold classes for classifiers", given, remedy)


def _check_weights(samples: Samples) -> None:
    n = samples.n
    for name, value in samples.fit_params.items():
        if name.endswith("sample_weight") and value is not None and not has_rows(value, n):
            given = len(value) if hasattr(value, "__len__") else value
            needed = f"must have one entry for each of the {n} samples"
            raise invalid(f"fit_params[{name!r}]", needed, f"it has {given}")


def _as_json(value: Any) -> Any:
    """A parameter's value if json knows it, else its text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool, type(None))) else plain_text(value)


# -- repeats --------------------------------------------------------------------------------------------


class OpenRepeats:
    """The splits of a plan for any number of repeats up to `most`.

    More repeats leave the earlier ones as they were, so they can be drawn some at a time.
    """

    def __init__(self, options: Options, target: Target) -> None:
        assert options.max_repeats is not None
        self.most = options.max_repeats
        self._options, self._target = options, target
        self._drawn = self._draw(1)

    def first(self, n: int) -> Splits:
        """The splits of the first `n` repeats."""
        if n > self._drawn.n_repeats:
            self._drawn = self._draw(min(2 * n, self.most))  # twice as many: all draws together cost twice the last
        drawn = self._drawn
        return replace(drawn, plan=replace(drawn.plan, repeats=n), folds=np.ascontiguousarray(drawn.folds[:, :n]))

    def _draw(self, n: int) -> Splits:
        options = self._options
        return replace(options.plan, repeats=n).split(self._target, options.groups, options.rng)


# -- blocks ---------------------------------------------------------------------------------------------


def _further_blocks(options: Options, splits: Splits, target: Target) -> dict[str, Splits]:
    """The splits of the blocks that were asked for beside the out-of-fold predictions."""
    blocks = {}
    if options.seeds > 1:
        blocks[SEEDS] = each_seed(splits, options.seeds)
    if options.inner:
        blocks["inner"] = _inner_splits(splits, target, options)
    if options.fresh is not None:
        blocks["fresh"] = _fresh_splits(splits, target, options)
    if splits.plan.kind == "bootstrap":
        # The samples that each round drew, which its model predicts too.
        drawn = np.where(splits.folds == NOT_HELD_OUT, 0, NOT_HELD_OUT).astype(np.int32)
        blocks["inbag"] = Splits(replace(splits.plan, kind="given"), drawn, splits.train)
    if options.resub:
        n = len(target)
        plan = replace(splits.plan, kind="given", folds=1, repeats=1, test=None, validation=None, cv=None)
        blocks["resub"] = Splits(plan, np.zeros((n, 1), dtype=np.int32), {(0, 0): np.arange(n)})
    return blocks


def _inner_splits(splits: Splits, target: Target, options: Options) -> Splits:
    """The inner folds of nested cross-validation: repeat r * K + k leaves out outer fold k."""
    plan = replace(splits.plan, kind="given")
    if options.inner is True:
        folds = _paired_inner_folds(splits, target)
    else:
        codes = None if options.groups is None else group_codes(options.groups, len(target))
        folds = own_inner_folds(splits, target, codes, options.inner, options.rng)
        plan = replace(plan, folds=options.inner, test=None)
    return Splits(replace(plan, repeats=folds.shape[1]), folds)


def _paired_inner_folds(splits: Splits, target: Target) -> NDArray[np.int32]:
    """The other folds, where there are enough of them, and enough of every class."""
    plan, bbc = splits.plan, "or estimate with bbc."
    needed, given, remedy = "", f"this plan is {plan}", ""
    counts = np.bincount(target.y) if plan.stratify and target.classes is not None else None
    if splits.train is not None or plan.kind in ("holdout", "loo"):
        needed, remedy = "K folds that are trained on all other samples", f"Use `Plan(folds=10)`, {bbc}"
    elif splits.n_folds < 3:
        needed, remedy = "at least 3 folds", "Use `Plan(folds=3)` or more."
    elif target.classes is not None and counts is not None and counts.min() < 3:
        needed, remedy = "at least 3 members of every class", f"Join it with another class, {bbc}"
        given = f"class {target.classes[int(counts.argmin())]!s} has {counts.min()}"
    if needed:
        raise NeedError(argument="inner=True", needed=f"needs {needed}", given=given, remedy=remedy)
    return inner_folds(splits.folds, splits.n_folds)


def _fresh_splits(splits: Splits, target: Target, options: Options) -> Splits:
    """A new partition by the same plan, the repeat that would have come next; of a three-way split, its test part."""
    plan = splits.plan
    if plan.kind == "three_way":
        train = np.sort(np.concatenate([splits.train_rows(0, 0), splits.test_rows(0, 0)]))
        column = np.zeros(len(splits.folds), dtype=np.int32)
        column[train] = NOT_HELD_OUT
        return Splits(replace(plan, kind="holdout", validation=None), column[:, None], {(0, 0): train})
    if plan.kind not in ("kfold", "holdout"):
        needed, remedy = "needs a plan that can draw another partition", "Use `Plan(folds=10)`, or estimate with bbc."
        raise NeedError(argument="fresh", needed=needed, given=f"this one is {plan}", remedy=remedy)
    again = replace(plan, repeats=splits.n_repeats + 1).split(target, options.groups, options.rng)
    return Splits(replace(plan, repeats=1), np.ascontiguousarray(again.folds[:, -1:]))
