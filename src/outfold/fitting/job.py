"""A job: the checked arguments of one call of `collect`, what it fits, on what, and the `Predictions` it starts from."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import metrics
from .._version import __version__
from ..arguments import check_count
from ..data.cells import State
from ..data.criterion import Aggregate, Criterion, LiveScore
from ..data.duplicates import held_out_with_twin, row_codes
from ..data.ledger import TEST_PART
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import AUTO, Predictions, recording
from ..data.splitting import Splits
from ..data.survival import times_of
from ..data.target import MOST_CLASSES, Target, encode
from ..exceptions import InputError, invalid
from ..metrics import MetricLike
from ..progress import Mode
from ..select import RuleLike, as_rule
from .blocks import further_blocks
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
from .option_checks import (
    as_fit_params,
    as_fresh,
    as_plan,
    check_values,
    drop_rule,
    refuse_contradictions,
    seed_number,
    with_repeats,
)
from .predict import ModelKind, Reader, choose_response, kind_of
from .threads import threads_alone
from .worker import AroundFit, Holdout, Pool

if TYPE_CHECKING:
    from ..drop import DropRule
    from ..stability import Stop
    from .repeats import OpenRepeats

Share = Literal["exact", "close", False]


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
        check_values(raw)
        # `fresh=True` takes the metric that selects, and the first metric given to it alone selects everywhere.
        fresh = as_fresh(raw.fresh)
        scorers = LiveScoring.checked(raw.scorers, raw.raises)
        metric = fresh[0] if raw.metric is None and fresh is not None else raw.metric
        if scorers is not None and isinstance(metric, str) and scorers.names(metric) and not metrics.is_known(metric):
            metric = LiveScore(metric)
        rule = drop_rule(raw.drop, metric)
        plan, stop, most = with_repeats(as_plan(plan), repeats, raw.stop, raw.max_repeats)
        refuse_contradictions(raw.inner, plan, fresh, rule, stop)
        refuse_masked(groups=raw.groups, samples=raw.samples)
        return replace(
            raw,
            plan=plan,
            groups=as_groups(raw.groups),
            inner=bool(raw.inner) if isinstance(raw.inner, bool | np.bool_) else int(raw.inner),
            rng=seed_number(raw.rng),
            fit_params=as_fit_params(raw.fit_params),
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
    labels = None if y is None else as_given(y, column=target.classes is None)
    samples = Samples(features, labels, options.fit_params, score_params, is_pairwise(configs, features))
    _check_weights(samples)
    repeats = _open_repeats(options, target)
    splits = options.plan.split(target, options.groups, options.rng) if repeats is None else repeats.first(1)
    pool = Pool.configured(options.n_jobs, options.timeout)
    templates = make_templates(configs, pool.dumps)
    return Job(
        configs=configs,
        options=options,
        samples=samples,
        target=target,
        splits=splits,
        reader=reader,
        templates=templates,
        executor=_executor_of(configs, templates, options, pool, samples),
        pool=pool,
        repeats=repeats,
        blocks=further_blocks(options, splits, target),
    )


def _executor_of(
    configs: Configs, templates: list[EstimatorTemplate], options: Options, pool: Pool, samples: Samples
) -> Executor:
    """What fits the configurations: it shares fits where it may, and averages several seeds if they are asked for."""
    executor: Executor = PlainExecutor(templates)
    # Scorers and callbacks look at whole models, and a kernel matrix has its columns cut too: these cannot be shared.
    looked_at = options.scorers is not None or options.around is not None
    if options.share is not False and not looked_at and not samples.pairwise:
        from .sharing.executor import SharingExecutor  # here, so that nothing of it is loaded where nothing is shared

        # BLAS rounds a product with a column otherwise than one with a vector, which is what families take.
        families = samples.y is None or np.ndim(samples.y) < 2
        executor = SharingExecutor.planned(configs, templates, options, pool, families)
    if options.seeds > 1:
        from .seed_averaging import SeedAveraging  # here, so that it is loaded only where there are several seeds

        executor = SeedAveraging(executor)
    return executor


def _open_repeats(options: Options, target: Target) -> OpenRepeats | None:
    if options.max_repeats is None:
        return None
    from .repeats import OpenRepeats  # here: the number of repeats is rarely open

    return OpenRepeats(options, target)


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


# -- blocks ---------------------------------------------------------------------------------------------
