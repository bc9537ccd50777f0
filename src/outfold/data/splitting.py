"""The splits that a plan gives for given labels, how they are drawn, and the fingerprint that makes results comparable."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..docstrings import fill_with
from ..exceptions import InputError, invalid
from ..stats.resampling import BootstrapDraws
from .notes import Note
from .target import Target

if TYPE_CHECKING:
    from .plan import Plan

Train = dict[tuple[int, int], NDArray[np.intp]]

NOT_HELD_OUT = -1
# What a list of (train, test) positions is called in a plan.
GIVEN_SPLITS = "given splits"
# Streams of one seed are told apart by the first word of their spawn key; fits use (repeat, fold).
_SPLIT_STREAM = 0x0F01D
# A repeat that no plan has: the stream that draws the test part.
_TEST_STREAM = 2**31
# A bootstrap round that cannot be used is drawn again this often before the samples are called unfit.
_ATTEMPTS = 100


_TEXTS = {
    "cell": "repeat, fold : int\n    Which cell.",
    "splits": ">>> import outfold as of\n>>> splits = of.Plan(folds=3).split([0, 1] * 6, rng=0)",
}


@fill_with(_TEXTS)
@dataclass(frozen=True, eq=False)
class Splits:
    """A plan drawn for given labels.

    Attributes
    ----------
    plan : Plan
        The plan with what was decided: the number of folds used, stratified or not, grouped or not.
    folds : ndarray of int32, shape (N, R)
        The fold that holds out sample i in repeat r; -1 where none does.
    train : dict or None
        Training positions by (repeat, fold), only where they are not simply all other samples. In a bootstrap round
        a sample occurs as often as it was drawn.
    notes : tuple of Note
        What you should know, such as a class that not every fold can have.

    Examples: {outfold}
    >>> splits = of.Plan(folds=3).split([0, 1] * 6, rng=0)
    >>> splits.cells
    [(0, 0), (0, 1), (0, 2)]
    """

    plan: Plan
    folds: NDArray[np.int32]
    train: Train | None = None
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
        """Positions of the samples that a cell holds out.

        Parameters: {cell}

        Returns
        -------
        ndarray of int
            Positions in ascending order.
        Examples: {splits}
        >>> len(splits.test_rows(0, 1))
        4
        """
        return np.flatnonzero(self.folds[:, repeat] == fold)

    def train_rows(self, repeat: int, fold: int, also_without: int | None = None) -> NDArray[np.intp]:
        """Positions of the samples that a cell trains on.

        Parameters: {cell}
        also_without : int or None
            A second fold to leave out, for nested cross-validation.

        Returns
        -------
        ndarray of int
            Positions.
        Examples: {splits}
        >>> len(splits.train_rows(0, 1)), len(splits.train_rows(0, 1, also_without=2))
        (8, 4)
        """
        if self.train is not None:
            rows = self.train[repeat, fold]
            return rows if also_without is None else rows[self.folds[rows, repeat] != also_without]
        column = self.folds[:, repeat]
        keep = column != fold
        if also_without is not None:
            keep &= column != also_without
        return np.flatnonzero(keep)


class Splitter:
    """Draws the splits of one plan for one target."""

    def __init__(self, plan: Plan, target: Target, groups: NDArray[np.intp] | None, rng: int) -> None:
        self.target, self.rng, self.notes = target, rng, list[Note]()
        self.n = len(target)
        self.groups = groups if plan.groups is not False else None
        if groups is not None and plan.groups is False and plan.kind != "custom":
            ignored = "groups were given but the plan ignores them; a group may be on both sides of a split."
            self.notes.append(Note("OF102", ignored))
        if plan.groups is True and groups is None:
            problem = "the plan keeps groups together but no groups were given"
            raise InputError(problem, remedy="Pass `groups=...` or use `Plan(groups='auto')`.")
        self.given_groups = groups
        self.cv_name = "the list of splits" if plan.cv_name == GIVEN_SPLITS else plan.cv_name
        self.strata = self._strata(plan)
        self.plan = replace(plan, stratify=self.strata is not None, groups=self.groups is not None)

    def draw(self) -> Splits:
        """The plan with what was decided, and its splits."""
        if self.plan.has_test_part:
            return self._beside_test_part()
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
        self._check_folds()
        return self._done([self._partition(self.plan.folds, r) for r in range(self.plan.repeats)])

    def _done(self, columns: Sequence[NDArray[Any]], train: Train | None = None) -> Splits:
        return Splits(self.plan, np.stack(columns, axis=1).astype(np.int32), train, tuple(self.notes))

    def _generator(self, repeat: int) -> np.random.Generator:
        # A stream of its own for every repeat, so that more repeats leave the earlier ones as they were.
        return np.random.default_rng(np.random.SeedSequence(self.rng, spawn_key=(_SPLIT_STREAM, repeat)))

    def _strata(self, plan: Plan) -> NDArray[Any] | None:
        by_task = {"binary": self.target.y, "multiclass": self.target.y, "survival": self.target.event}
        strata = by_task.get(self.target.task)
        if plan.stratify is True and strata is None:
            argument = "stratify=True"
            raise invalid(argument, "needs class labels", f"these are for {self.target.task}", "Use `stratify='auto'`.")
        if plan.kind in ("holdout", "three_way", "bootstrap") and self.groups is not None:
            if plan.stratify is True:
                what = "bootstrap" if plan.kind == "bootstrap" else "hold-out"
                problem = f"a grouped {what} cannot be stratified"
                raise InputError(problem, remedy="Use `Plan(folds=...)` or `stratify=False`.")
            return None
        return None if plan.stratify is False or strata is None else strata.astype(np.intp)

    def _check_folds(self) -> None:
        """Refuse folds that cannot be filled or learnt from; note classes that not every fold can have."""
        folds = self.plan.folds
        if self.groups is not None:
            n_groups = int(self.groups.max()) + 1
            if n_groups < folds:
                there, remedy = f"there are {n_groups}", f"Use `Plan(folds={n_groups})`."
                if n_groups == 1:
                    there = "there is 1"
                    remedy = "Give groups that differ, or leave `groups` out if the samples do not belong together."
                raise InputError(f"{folds} folds need at least {folds} groups; {there}", remedy=remedy)
        if folds > self.n:
            problem = f"{folds} folds need at least {folds} samples; there are {self.n}."
            raise InputError(problem, remedy="Use fewer folds.")
        if self.strata is None or self.target.classes is None:
            return
        counts, what = np.bincount(self.strata, minlength=len(self.target.classes)), "member"
        if self.groups is not None:
            counts, what = _n_distinct(self.strata, self.groups), "group"
        rarest = int(np.argmin(counts))
        name, m = self.target.classes[rarest], int(counts[rarest])
        if m < 2 and len(counts) == 2:  # where its only member is held out, nothing can be learnt
            problem = f"class {name!s} has {m} {what}; cross-validation needs at least 2 of both classes"
            raise InputError(
                problem, remedy=f"Collect more {'samples' if what == 'member' else 'groups'} of this class."
            )
        if m < folds:
            self.notes.append(Note("OF108", _rare_text(str(name), m, what, folds, int(np.sum(counts < folds)))))

    def _partition(self, folds: int, repeat: int) -> NDArray[Any]:
        rng = self._generator(repeat)
        if self.groups is None:
            return self._deal(folds, rng)
        if self.strata is None:
            return self._deal_groups(folds, rng)
        for _ in range(_ATTEMPTS):
            column = self._stratified_groups(folds, rng)
            if not self._lost_classes(column):
                break
        return column

    def _stratified_groups(self, folds: int, rng: np.random.Generator) -> NDArray[Any]:
        from sklearn.model_selection import StratifiedGroupKFold

        assert self.strata is not None
        if np.bincount(self.strata).max() < folds:  # the splitter refuses
            return self._deal_groups(folds, rng)
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
        column = np.empty(self.n, dtype=np.int32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a rare class, which a note tells
            for k, (_, test) in enumerate(splitter.split(np.zeros(self.n), self.strata, self.groups)):
                column[test] = k
        if len(np.unique(column)) < folds:
            return self._deal_groups(folds, rng)
        return column

    def _lost_classes(self, column: NDArray[Any]) -> bool:
        """Whether a class that several groups have is in one fold only: the model of this fold would not know it."""
        assert self.strata is not None
        assert self.groups is not None
        of_groups, of_folds = (_n_distinct(self.strata, codes) for codes in (self.groups, column))
        return bool(np.any((of_folds == 1) & (of_groups > 1)))

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

    def _beside_test_part(self) -> Splits:
        """The folds of all other samples; those of the test part are neither held out nor trained on."""
        assert self.plan.test is not None
        test = self._take(np.arange(self.n), self.plan.test * self.n, self._generator(_TEST_STREAM))
        rest = np.setdiff1d(np.arange(self.n), test)
        groups = None if self.given_groups is None else group_codes(self.given_groups[rest], len(rest))
        others = Splitter(replace(self.plan, test=None), self.target.take(rest), groups, self.rng).draw()
        folds = np.full((self.n, others.n_repeats), NOT_HELD_OUT, dtype=np.int32)
        folds[rest] = others.folds
        train = {(r, k): rest[others.train_rows(r, k)] for r, k in others.cells}
        return Splits(self.plan, folds, train, others.notes)

    def _three_way(self) -> Splits:
        """Fold 0 is the validation part; the test part is neither trained on nor held out in this split."""
        assert self.plan.test is not None
        assert self.plan.validation is not None
        rng = self._generator(0)
        test = self._take(np.arange(self.n), self.plan.test * self.n, rng)
        rest = np.setdiff1d(np.arange(self.n), test)
        column = np.full(self.n, NOT_HELD_OUT, dtype=np.int32)
        column[self._take(rest, self.plan.validation * self.n, rng)] = 0
        return self._done([column], {(0, 0): rest[column[rest] != 0]})

    def _bootstrap(self) -> Splits:
        draws = BootstrapDraws(self.n, self.rng, self.groups, self.strata)
        counts = [self._round(draws, r) for r in range(self.plan.repeats)]
        train = {(r, 0): np.repeat(np.arange(self.n), times) for r, times in enumerate(counts)}
        return self._done([np.where(times == 0, 0, NOT_HELD_OUT) for times in counts], train)

    def _round(self, draws: BootstrapDraws, repeat: int) -> NDArray[Any]:
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
        within = "" if self.strata is not None or self.groups is not None or all_drawn else " `stratify=True`,"
        there = f"there {'is' if n == 1 else 'are'} {n} {what if n > 1 else what[:-1]}"
        problem = f"a bootstrap round {why} in {_ATTEMPTS} draws in a row; {there}"
        raise InputError(problem, remedy=f"Use more {what},{within} or `Plan(folds=...)`.")

    def _blocked(self) -> Splits:
        """Columns of a Sylvester-Hadamard matrix over 2^k blocks (Wang 2014, Table 1, for k = 2)."""
        if self.given_groups is not None and self.groups is not None:
            problem = "blocked plans do not keep groups together"
            raise InputError(problem, remedy="Use `Plan(folds=2, repeats=...)` or `Plan(groups=False)`.")
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
            raise InputError(f"{self.cv_name} cannot split these {self.n} samples: {error}") from None
        if any(not len(train) or not len(test) for train, test in pairs):
            raise InputError(f"{self.cv_name} gives a split with an empty training or test part.")
        return pairs

    def _positions(self, rows: Any) -> NDArray[np.intp]:
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape == (self.n,):
            return np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise invalid(self.cv_name, "must give lists of positions", f"it gave {rows.dtype} of shape {rows.shape}")
        rows = rows.astype(np.intp)
        if rows.size and (rows.min() < -self.n or rows.max() >= self.n):
            raise InputError(f"{self.cv_name} names sample {rows.max()}; there are {self.n} samples.")
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
            needed = "must be a splitter, a number or pairs of (train, test) positions"
            raise invalid("cv", needed, str(error)) from None
        pairs = self._pairs(cv, labels)
        for train_rows, test_rows in pairs:
            if len(np.unique(test_rows)) < len(test_rows):
                problem = f"{self.cv_name} names a sample twice in one test part"
                raise InputError(problem, remedy="Give each position once.")
            if np.intersect1d(train_rows, test_rows).size:
                problem = f"{self.cv_name} puts samples into training and test part of the same split"
                raise InputError(problem, remedy="Take the test samples out of the training part.")
        if not pairs:
            raise InputError(f"{self.cv_name} gives no split for {self.n} samples.")
        columns: list[NDArray[Any]] = []
        train: Train = {}
        for repeat, members in enumerate(_repeats_of(pairs, self.n)):
            columns.append(np.full(self.n, NOT_HELD_OUT, dtype=np.int32))
            for fold, i in enumerate(members):
                columns[-1][pairs[i][1]] = fold
                train[repeat, fold] = np.sort(pairs[i][0])
        folds = np.stack(columns, axis=1)
        if self.given_groups is not None and _tears(folds, self.given_groups):
            torn = (
                f"{self.cv_name} puts samples of one group into the training and the test part, so the score may be too high; "
                "cv=GroupKFold() or a Plan holds out whole groups."
            )
            self.notes.append(Note("OF102", torn))
        self.plan = replace(self.plan, folds=int(folds.max()) + 1, repeats=folds.shape[1])
        plain = all(np.array_equal(rows, np.flatnonzero(folds[:, r] != k)) for (r, k), rows in train.items())
        return self._done(columns, None if plain else train)


def _tears(folds: NDArray[np.int32], groups: NDArray[np.intp]) -> bool:
    """Whether some repeat holds out samples of one group in different folds, or some of them only."""
    lowest, highest = (np.full((groups.max() + 1, folds.shape[1]), start, dtype=np.int64) for start in (2**31, -2))
    np.minimum.at(lowest, groups, folds)
    np.maximum.at(highest, groups, folds)
    return bool(np.any(lowest != highest))


def _rare_text(name: str, m: int, what: str, folds: int, n_rare: int) -> str:
    """What becomes of the rarest class, which has m members or groups, fewer than there are folds."""
    others = f" ({n_rare} classes have fewer than {folds})" if n_rare > 1 else ""
    if m == 1:
        return f"class {name} has 1 {what} for {folds} folds{others}: the model that is tested on it has not seen the class."
    spread = f"they are spread over the folds, and {folds - m} {'holds' if folds - m == 1 else 'hold'} out none"
    return f"class {name} has {m} {what}s for {folds} folds{others}: {spread}."


def _n_distinct(strata: NDArray[np.intp], codes: NDArray[Any]) -> NDArray[np.intp]:
    """How many different codes each stratum has."""
    pairs = np.unique(np.stack([strata, codes], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=int(strata.max()) + 1)


def _repeats_of(pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]], n: int) -> list[list[int]]:
    """Which splits make a repeat: whole partitions one after the other; all of a time series; else each.

    Random test parts may by chance have no sample in common. They are hold-outs nevertheless: only folds cover all samples.
    """
    groups: list[list[int]] = []
    seen = np.ones(n, dtype=bool)
    for i, (_, test) in enumerate(pairs):
        if np.any(seen[test]):
            groups.append([])
            seen = np.zeros(n, dtype=bool)
        seen[test] = True
        groups[-1].append(i)
    partitions = all(sum(len(pairs[i][1]) for i in group) == n for group in groups)
    in_time = len(groups) == 1 and all(train.max() < test.min() for train, test in pairs)
    return groups if partitions or in_time else [[i] for i in range(len(pairs))]


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
        raise invalid("groups", f"must name one group for each sample, shape ({n},)", f"got shape {labels.shape}")
    if labels.dtype.kind == "O":
        try:
            labels = labels.astype(str)
        except UnicodeDecodeError:  # bytes that are no text
            labels = np.array([str(label) for label in labels])
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)
