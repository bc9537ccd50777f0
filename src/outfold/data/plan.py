"""How samples are held out: plans, the splits they give, and the fingerprint that makes results comparable."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..stats.resampling import Bootstrap
from .notes import Note
from .target import Target, encode

Kind = Literal["kfold", "loo", "holdout", "three_way", "bootstrap", "blocked", "custom", "given"]

NOT_HELD_OUT = -1
# Streams of one seed are told apart by the first word of their spawn key; fits use (repeat, fold).
_SPLIT_STREAM = 0x0F01D
# A bootstrap round that cannot be used is drawn again this often before the samples are called unfit.
_ATTEMPTS = 100


@dataclass(frozen=True)
class Plan:
    """How samples are held out: K folds, any number of times.

    Parameters
    ----------
    folds
        Number of folds K. Becomes smaller, with a note, when the rarest class has fewer members.
    repeats
        How often the whole partition is drawn anew.
    stratify
        Keep the class proportions in every fold. ``"auto"`` does so for classes and for observed events.
    groups
        Keep the samples of a group on one side. ``"auto"`` does so whenever groups are given to `collect`;
        False ignores them, with a note.

    Examples
    --------
    >>> Plan(folds=5, repeats=3)
    Plan(3 x 5-fold)
    >>> Plan.blocked(3)
    Plan(blocked 3 x 2-fold)
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool | Literal["auto"] = "auto"
    groups: bool | Literal["auto"] = "auto"
    kind: Kind = field(default="kfold", kw_only=True)
    test: float | None = field(default=None, kw_only=True)
    validation: float | None = field(default=None, kw_only=True)
    cv: Any = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        for name in ("stratify", "groups"):
            value = getattr(self, name)
            if not (isinstance(value, bool) or (isinstance(value, str) and value == "auto")):
                raise InputError(
                    f"Plan({name}=...) takes True, False or 'auto'; give group labels to collect(groups=...)."
                )
        if self.kind not in get_args(Kind):
            raise InputError(f"kind must be one of {', '.join(get_args(Kind))}; got {self.kind!r}.")
        shares = {"holdout": ("test",), "three_way": ("validation", "test")}.get(self.kind, ())
        if any(getattr(self, name) is None for name in shares):
            raise InputError(f"a plan of kind {self.kind!r} needs {' and '.join(shares)}; use Plan.{self.kind}().")
        if self.kind == "kfold" and not (_whole(self.folds) and self.folds >= 2):
            raise InputError(
                f"a plan needs at least 2 folds; got folds={self.folds!r}. Use Plan.holdout for one split."
            )
        if not (_whole(self.repeats) and self.repeats >= 1):
            raise InputError(f"a plan needs at least 1 repeat; got repeats={self.repeats!r}.")

    # -- other plans ------------------------------------------------------------------------------------

    @classmethod
    def leave_one_out(cls) -> Plan:
        """Every sample (every group, where groups are given) is a fold of its own."""
        return cls(folds=0, stratify=False, kind="loo")

    @classmethod
    def holdout(cls, test: float = 1 / 3, *, stratify: bool | Literal["auto"] = "auto") -> Plan:
        """One split: the share `test` of the samples is held out."""
        return cls.repeated_holdout(1, test, stratify=stratify)

    @classmethod
    def repeated_holdout(
        cls, repeats: int = 10, test: float = 1 / 3, *, stratify: bool | Literal["auto"] = "auto"
    ) -> Plan:
        """Monte-Carlo cross-validation: `repeats` independent splits with the share `test` held out."""
        return cls(folds=1, repeats=repeats, stratify=stratify, kind="holdout", test=_share(test, "test"))

    @classmethod
    def three_way(
        cls, validation: float = 0.2, test: float = 0.2, *, stratify: bool | Literal["auto"] = "auto"
    ) -> Plan:
        """One split into three parts: train, a part that selects, and a part that judges what was selected.

        All configurations are fitted on the training part and predict the validation part. The one that
        ``collect(..., fresh=metric)`` selects there is fitted again on both and predicts the test part (Raschka 2018, sect. 3.3).
        """
        if _share(validation, "validation") + _share(test, "test") >= 1:
            raise InputError(
                f"validation and test together must leave samples to train on; they are {validation:g} + {test:g} of all."
            )
        return cls(folds=1, stratify=stratify, kind="three_way", validation=float(validation), test=float(test))

    @classmethod
    def bootstrap(cls, rounds: int = 200, *, stratify: bool | Literal["auto"] = "auto") -> Plan:
        """Rounds of the bootstrap: train on N samples drawn with replacement, hold out those never drawn.

        A round is a repeat with one fold. Samples are drawn within classes if stratified; a group is drawn or left out whole.
        """
        if not (_whole(rounds) and rounds >= 2):
            raise InputError(f"a bootstrap needs at least 2 rounds; got rounds={rounds!r}.")
        return cls(folds=1, repeats=rounds, stratify=stratify, kind="bootstrap")

    @classmethod
    def five_by_two(cls) -> Plan:
        """Five repeats of two folds, the plan of the 5x2cv tests (Dietterich 1998)."""
        return cls(folds=2, repeats=5)

    @classmethod
    def blocked(cls, m: int = 3) -> Plan:
        """Balanced m x 2 plan: any two training sets of different repeats share exactly a quarter of the samples.

        With 2^k blocks, the columns 1..2^k-1 of the Sylvester-Hadamard matrix split the blocks into halves; m = 3
        is the blocked 3x2 of Wang et al. (2014, Table 1), m = 7 needs 8 blocks.
        """
        if not (_whole(m) and m >= 3 and (m & (m + 1)) == 0):
            raise InputError(f"a balanced m x 2 plan exists for m = 3, 7, 15, ... (2^k - 1); got m={m!r}.")
        return cls(folds=2, repeats=m, kind="blocked")

    @classmethod
    def from_cv(cls, cv: Any) -> Plan:
        """The splits of a scikit-learn splitter, an int, or an iterable of (train, test) index pairs.

        Splits whose test parts overlap go to different repeats. A splitter without a random_state gets one
        from the seed, so that an interrupted collection can resume.
        """
        if isinstance(cv, Iterable) and (isinstance(cv, str) or not hasattr(cv, "split")):
            try:
                cv = [(np.asarray(train), np.asarray(test)) for train, test in cv]
            except (TypeError, ValueError):
                raise InputError(
                    f"from_cv needs a splitter, a number or pairs of (train, test) positions; got {type(cv).__name__}."
                ) from None
        return cls(folds=0, stratify=False, groups=False, kind="custom", cv=cv)

    # -- use --------------------------------------------------------------------------------------------

    def split(self, y: Any, groups: Any = None, rng: int = 0) -> Splits:
        """Draw the splits for these labels; the same labels, groups and seed give the same splits."""
        target = y if isinstance(y, Target) else encode(y)
        codes = None if groups is None else group_codes(groups, len(target))
        return _Splitter(self, target, codes, rng).splits()

    def __str__(self) -> str:
        words = {True: " stratified", False: "", "auto": ""}[self.stratify]
        grouped = " grouped" if self.groups is True else ""
        times = f"{self.repeats} x " if self.repeats > 1 else ""
        match self.kind:
            case "loo":
                return "leave-one-group-out" if self.groups is True else "leave-one-out"
            case "holdout":
                return f"{times}hold-out of {self.test:.3g}{words}{grouped}"
            case "three_way":
                return f"three-way hold-out of {self.validation:.3g} and {self.test:.3g}{words}{grouped}"
            case "bootstrap":
                return f"{self.repeats} bootstrap rounds{words}{grouped}"
            case "blocked":
                return f"blocked {self.repeats} x 2-fold{words}"
            case "custom":
                return f"{times}{self.folds}-fold by {self.cv_name}" if self.folds else f"splits of {self.cv_name}"
            case "given" if self.folds <= 1:
                return f"{times}one test set"
        return f"{times}{self.folds}-fold{words}{grouped}"

    @property
    def cv_name(self) -> str:
        """What to call the splitter: its own text, if that fits on a line and tells no address."""
        text = "given splits" if isinstance(self.cv, list) else str(self.cv)
        return text if len(text) < 60 and " object at 0x" not in text else type(self.cv).__name__

    def __repr__(self) -> str:
        return f"Plan({self})"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; a scikit-learn splitter is kept as its text."""
        out = {k: getattr(self, k) for k in ("kind", "folds", "repeats", "stratify", "groups", "test")}
        if self.validation is not None:
            out["validation"] = self.validation
        return out | {"cv": None if self.cv is None else self.cv_name}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Plan:
        """The plan written by `to_dict`."""
        return cls(**fields)


@dataclass(frozen=True, eq=False)
class Splits:
    """A plan drawn for given labels.

    Attributes
    ----------
    plan
        The plan with what was decided: the folds really used, stratified or not, grouped or not.
    folds
        (N, R) int32, the fold that holds out sample i in repeat r; -1 where none does.
    train
        Explicit training indices by (repeat, fold), only where they are not simply all other samples. In a bootstrap round
        a sample stands as often as it was drawn.
    notes
        What the user should know, such as fewer folds than asked for.
    """

    plan: Plan
    folds: NDArray[np.int32]
    train: dict[tuple[int, int], NDArray[np.intp]] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def n_repeats(self) -> int:
        """Number of repeats R."""
        return int(self.folds.shape[1])

    @cached_property
    def n_folds(self) -> int:
        """Largest number of folds in any repeat, K."""
        return int(self.folds.max()) + 1

    @cached_property
    def cells(self) -> list[tuple[int, int]]:
        """The (repeat, fold) pairs that hold out at least one sample, in order."""
        return [(r, int(k)) for r in range(self.n_repeats) for k in np.unique(self.folds[:, r]) if k >= 0]

    def test_rows(self, repeat: int, fold: int) -> NDArray[np.intp]:
        """Indices of the samples held out."""
        return np.flatnonzero(self.folds[:, repeat] == fold)

    def train_rows(self, repeat: int, fold: int, also_without: int | None = None) -> NDArray[np.intp]:
        """Indices of the samples to train on; `also_without` leaves out a second fold (nested CV)."""
        if self.train is not None:
            rows = self.train[repeat, fold]
            return rows if also_without is None else rows[self.folds[rows, repeat] != also_without]
        column = self.folds[:, repeat]
        keep = column != fold
        if also_without is not None:
            keep &= column != also_without
        return np.flatnonzero(keep)


def fingerprint(target: Target, folds: NDArray[np.int32], train: dict[tuple[int, int], Any] | None = None) -> str:
    """Hash of labels and splits; a paired comparison needs equal fingerprints."""
    h = hashlib.blake2b(digest_size=8)
    h.update(target.task.encode())
    if target.classes is not None:
        h.update("\x1f".join(map(str, target.classes)).encode())
    h.update(np.ascontiguousarray(target.y, dtype="<f8").tobytes())
    if target.event is not None:
        h.update(np.packbits(target.event).tobytes())
    h.update(np.ascontiguousarray(folds, dtype="<i4").tobytes())
    for key in sorted(train or ()):
        h.update(np.concatenate([key, train[key]]).astype("<i4").tobytes())  # type: ignore[index]
    return h.hexdigest()


def group_codes(groups: Any, n: int) -> NDArray[np.intp]:
    """Group labels as codes 0..G-1."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must name one group a sample, shape ({n},); got shape {labels.shape}.")
    return np.unique(labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True)[1].astype(np.intp)


class _Splitter:
    """Draws the splits of one plan for one target."""

    def __init__(self, plan: Plan, target: Target, groups: NDArray[np.intp] | None, rng: int) -> None:
        self.target, self.rng, self.notes = target, rng, list[Note]()
        self.n = len(target)
        self.groups = groups if plan.groups is not False else None
        if groups is not None and plan.groups is False and plan.kind != "custom":
            self.notes.append(
                Note("OF102", "groups were given but the plan ignores them; a group may stand on both sides.")
            )
        if plan.groups is True and groups is None:
            raise InputError(
                "the plan keeps groups together but no groups were given. Pass groups=... or use groups='auto'."
            )
        self.given_groups = groups
        self.strata = self._strata(plan)
        self.plan = replace(plan, stratify=self.strata is not None, groups=self.groups is not None)

    def splits(self) -> Splits:
        match self.plan.kind:
            case "custom":
                return self._custom()
            case "loo":
                self.plan = replace(self.plan, folds=self.n if self.groups is None else int(self.groups.max()) + 1)
                column = np.arange(self.n) if self.groups is None else self.groups
                return self._done([column])
            case "holdout":
                return self._done([self._holdout(r) for r in range(self.plan.repeats)])
            case "three_way":
                return self._three_way()
            case "bootstrap":
                return self._bootstrap()
            case "blocked":
                return self._blocked()
        self._adapt_folds()
        return self._done([self._partition(self.plan.folds, r) for r in range(self.plan.repeats)])

    def _done(self, columns: Sequence[NDArray[Any]]) -> Splits:
        return Splits(self.plan, np.stack(columns, axis=1).astype(np.int32), None, tuple(self.notes))

    def _generator(self, repeat: int) -> np.random.Generator:
        # A stream of its own for every repeat, so that more repeats leave the earlier ones as they were.
        return np.random.default_rng(np.random.SeedSequence(self.rng, spawn_key=(_SPLIT_STREAM, repeat)))

    def _strata(self, plan: Plan) -> NDArray[Any] | None:
        by_task = {"binary": self.target.y, "multiclass": self.target.y, "survival": self.target.event}
        strata = by_task.get(self.target.task)
        if plan.stratify is True and strata is None:
            raise InputError(
                f"stratify=True needs class labels; these are for {self.target.task}. Use stratify='auto'."
            )
        if plan.kind in ("holdout", "three_way", "bootstrap") and self.groups is not None:
            if plan.stratify is True:
                what = "bootstrap" if plan.kind == "bootstrap" else "hold-out"
                raise InputError(f"a grouped {what} cannot be stratified; use Plan(folds=...) or stratify=False.")
            return None
        return None if plan.stratify is False or strata is None else strata.astype(np.intp)

    def _adapt_folds(self) -> None:
        """K becomes the size of the rarest class where that is smaller (Tsamardinos 2015, sect. 4)."""
        folds = self.plan.folds
        if self.groups is not None:
            n_groups = int(self.groups.max()) + 1
            if n_groups < folds:
                raise InputError(
                    f"{folds} folds need at least {folds} groups; there are {n_groups}. Use Plan(folds={n_groups})."
                )
        if folds > self.n:
            raise InputError(f"{folds} folds need at least {folds} samples; there are {self.n}.")
        if self.strata is None or self.target.classes is None:
            return
        counts, what = np.bincount(self.strata, minlength=len(self.target.classes)), "member"
        if self.groups is not None:
            pairs = np.unique(np.stack([self.strata, self.groups], axis=1), axis=0)
            counts, what = np.bincount(pairs[:, 0], minlength=len(counts)), "group"
        rarest = int(np.argmin(counts))
        name, m = self.target.classes[rarest], int(counts[rarest])
        if m < 2:
            raise InputError(
                f"class {name!s} has {m} {what}; cross-validation needs at least 2 of every class. "
                "Leave the class out, join it with another, or use stratify=False."
            )
        if m < folds:
            self.plan = replace(self.plan, folds=m)
            self.notes.append(Note("OF101", f"{m} folds instead of {folds}: class {name!s} has {m} {what}s only."))

    def _partition(self, folds: int, repeat: int) -> NDArray[Any]:
        rng = self._generator(repeat)
        if self.groups is None:
            return self._deal(folds, rng)
        if self.strata is None:
            return self._deal_groups(folds, rng)
        from sklearn.model_selection import StratifiedGroupKFold

        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
        column = np.empty(self.n, dtype=np.int32)
        for k, (_, test) in enumerate(splitter.split(np.zeros(self.n), self.strata, self.groups)):
            column[test] = k
        if len(np.unique(column)) < folds:
            return self._deal_groups(folds, rng)
        return column

    def _deal(self, parts: int, rng: np.random.Generator) -> NDArray[Any]:
        """Deal the samples like cards, class after class: neither a class nor the whole differs by more than one."""
        order = rng.permutation(self.n)
        if self.strata is not None:
            order = order[np.argsort(self.strata[order], kind="stable")]
        column = np.empty(self.n, dtype=np.int32)
        column[order] = rng.permutation(parts)[np.arange(self.n) % parts]
        return column

    def _deal_groups(self, parts: int, rng: np.random.Generator) -> NDArray[Any]:
        """The largest group first, each to the fold that is lightest so far."""
        assert self.groups is not None
        sizes = np.bincount(self.groups)
        order = rng.permutation(len(sizes))
        order = order[np.argsort(-sizes[order], kind="stable")]
        load, fold_of = np.zeros(parts), np.empty(len(sizes), dtype=np.int32)
        for g in order:
            fold_of[g] = np.argmin(load)
            load[fold_of[g]] += sizes[g]
        return fold_of[self.groups]

    def _holdout(self, repeat: int) -> NDArray[Any]:
        assert self.plan.test is not None
        column = np.full(self.n, NOT_HELD_OUT, dtype=np.int32)
        column[self._take(np.arange(self.n), self.plan.test * self.n, self._generator(repeat))] = 0
        return column

    def _take(self, rows: NDArray[np.intp], size: float, rng: np.random.Generator) -> NDArray[np.intp]:
        """About `size` of these rows, at least one on either side; whole groups, or every class's share of them."""
        n = len(rows)
        if n < 2:
            raise InputError(f"a hold-out needs at least 2 samples; there is {n}.")
        if self.groups is not None:
            codes = self.groups[rows]
            names, sizes = np.unique(codes, return_counts=True)
            order = rng.permutation(len(sizes))
            if len(order) < 2:
                raise InputError("a grouped hold-out needs at least 2 groups; there is 1.")
            # As many whole groups as come nearest to the share, at least one on either side.
            wanted = np.argmin(np.abs(np.cumsum(sizes[order])[:-1] - size)) + 1
            return rows[np.isin(codes, names[order[:wanted]])]
        n_test = min(max(round(size), 1), n - 1)
        order = rng.permutation(n)
        if self.strata is not None:
            order = order[np.argsort(self.strata[rows][order], kind="stable")]
        # Systematic sampling along the class-sorted order: every class gets its share to within one sample.
        picks = np.floor((np.arange(n_test) + rng.random()) * n / n_test).astype(np.intp)
        return rows[order[picks]]

    def _three_way(self) -> Splits:
        """Fold 0 is the validation part; the test part is neither trained on nor held out in this split."""
        assert self.plan.test is not None
        assert self.plan.validation is not None
        rng = self._generator(0)
        test = self._take(np.arange(self.n), self.plan.test * self.n, rng)
        rest = np.setdiff1d(np.arange(self.n), test)
        column = np.full(self.n, NOT_HELD_OUT, dtype=np.int32)
        column[self._take(rest, self.plan.validation * self.n, rng)] = 0
        return replace(self._done([column]), train={(0, 0): rest[column[rest] != 0]})

    def _bootstrap(self) -> Splits:
        draws = Bootstrap(self.n, self.rng, self.groups, self.strata)
        counts = [self._round(draws, r) for r in range(self.plan.repeats)]
        train = {(r, 0): np.repeat(np.arange(self.n), times) for r, times in enumerate(counts)}
        return replace(self._done([np.where(times == 0, 0, NOT_HELD_OUT) for times in counts]), train=train)

    def _round(self, draws: Bootstrap, repeat: int) -> NDArray[Any]:
        """How often every sample is drawn in a round that leaves samples out and, of classes, draws two at least."""
        rng = self._generator(repeat)
        all_drawn = True
        for _ in range(_ATTEMPTS):
            counts: NDArray[Any] = draws.counts(rng, 1)[0]
            all_drawn = bool(counts.all())
            one_class = self.target.classes is not None and len(np.unique(self.target.y[counts > 0])) < 2
            if not all_drawn and not one_class:
                return counts
        what = "samples" if self.groups is None else "groups"
        n = self.n if self.groups is None else int(self.groups.max()) + 1
        why = "left no sample out" if all_drawn else "drew one class only"
        within = "" if self.strata is not None or self.groups is not None or all_drawn else " stratify=True,"
        raise InputError(
            f"a bootstrap round {why} in {_ATTEMPTS} draws in a row; there {'is' if n == 1 else 'are'} {n} "
            f"{what if n > 1 else what[:-1]}. Use more {what},{within} or Plan(folds=...)."
        )

    def _blocked(self) -> Splits:
        """Columns of a Sylvester-Hadamard matrix over 2^k blocks (Wang 2014, Table 1, for k = 2)."""
        if self.given_groups is not None and self.groups is not None:
            raise InputError(
                "blocked plans do not keep groups together; use Plan(folds=2, repeats=...) or groups=False."
            )
        m = self.plan.repeats
        if self.n < m + 1:
            raise InputError(f"a blocked {m} x 2 plan needs at least {m + 1} samples; there are {self.n}.")
        blocks = self._deal(m + 1, self._generator(0))
        columns = [np.bitwise_count(blocks & column) % 2 for column in range(1, m + 1)]
        return self._done(columns)

    def _pairs(self, cv: Any, labels: NDArray[Any]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The splitter's (train, test) pairs as positions from 0; what it cannot do is said in its own words."""
        try:
            pairs = [
                (self._positions(train), self._positions(test))
                for train, test in cv.split(np.zeros((self.n, 1)), labels, self.given_groups)
            ]
        except InputError:
            raise
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(f"{self.plan.cv_name} cannot split these {self.n} samples: {error}") from None
        if any(not len(train) or not len(test) for train, test in pairs):
            raise InputError(f"{self.plan.cv_name} gives a split with an empty training or test part.")
        return pairs

    def _positions(self, rows: Any) -> NDArray[np.intp]:
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape == (self.n,):
            return np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise InputError(
                f"{self.plan.cv_name} must give lists of positions; it gave {rows.dtype} of shape {rows.shape}."
            )
        rows = rows.astype(np.intp)
        if rows.size and (rows.min() < -self.n or rows.max() >= self.n):
            raise InputError(f"{self.plan.cv_name} names sample {rows.max()}; there are {self.n} samples.")
        return np.asarray(rows % self.n)

    def _custom(self) -> Splits:
        from sklearn.model_selection import check_cv

        cv = copy.copy(self.plan.cv)
        if getattr(cv, "random_state", 0) is None:
            cv.random_state = int(self._generator(0).integers(2**31))
        labels = self.target.labels if self.target.event is None else self.target.y
        try:
            cv = check_cv(cv, labels, classifier=self.target.classes is not None)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"from_cv needs a splitter, a number or pairs of (train, test) positions: {error}"
            ) from None
        pairs = self._pairs(cv, labels)
        for train_rows, test_rows in pairs:
            if len(np.unique(test_rows)) < len(test_rows):
                raise InputError(
                    f"{self.plan.cv_name} names a sample twice in one test part; every sample has one prediction there. Give "
                    "each position once."
                )
            if np.intersect1d(train_rows, test_rows).size:
                raise InputError(f"{self.plan.cv_name} puts samples into training and test part of the same split.")
        if not pairs:
            raise InputError(f"{self.plan.cv_name} gives no split for {self.n} samples.")
        columns: list[NDArray[Any]] = []
        train: dict[tuple[int, int], NDArray[np.intp]] = {}
        for repeat, members in enumerate(_repeats_of([test for _, test in pairs], self.n)):
            columns.append(np.full(self.n, NOT_HELD_OUT, dtype=np.int32))
            for fold, i in enumerate(members):
                columns[-1][pairs[i][1]] = fold
                train[repeat, fold] = np.sort(pairs[i][0])
        folds = np.stack(columns, axis=1)
        self.plan = replace(self.plan, folds=int(folds.max()) + 1, repeats=folds.shape[1])
        plain = all(np.array_equal(rows, np.flatnonzero(folds[:, r] != k)) for (r, k), rows in train.items())
        return Splits(self.plan, folds, None if plain else train, tuple(self.notes))


def _repeats_of(tests: list[NDArray[np.intp]], n: int) -> list[list[int]]:
    """Which splits make a repeat: all where no sample is held out twice; whole partitions one after the other; else each."""
    groups: list[list[int]] = []
    seen = np.ones(n, dtype=bool)
    for i, test in enumerate(tests):
        if np.any(seen[test]):
            groups.append([])
            seen = np.zeros(n, dtype=bool)
        seen[test] = True
        groups[-1].append(i)
    partitions = all(sum(len(tests[i]) for i in group) == n for group in groups)
    return groups if len(groups) == 1 or partitions else [[i] for i in range(len(tests))]


def _share(value: Any, name: str) -> float:
    if not (isinstance(value, (int, float, np.integer, np.floating)) and 0 < value < 1):
        raise InputError(f"{name} must be a share between 0 and 1; got {value!r}.")
    return float(value)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
