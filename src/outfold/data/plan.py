"""How samples are held out: the plan, as you ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from ..arguments import check_count, is_whole_number
from ..docstrings import fill_with
from ..exceptions import InputError, got, invalid
from .splitting import GIVEN_SPLITS, Splits, Splitter, group_codes
from .target import Target, encode

Kind = Literal["kfold", "loo", "holdout", "three_way", "bootstrap", "blocked", "custom", "given"]

# The class by which scikit-learn's `check_cv` holds a list of splits; older files have this name as text.
_LIST_OF_SPLITS = "_CVIterableWrapper"

_TEXTS = {
    "plan": "Plan\n    The plan.",
    "test": "test : float, default 1/3\n    Share of the samples that each split holds out.",
    "stratify": 'stratify : bool or "auto", default "auto"\n    Keep the class proportions in all parts.',
    "of": ">>> import outfold as of",
}


@fill_with(_TEXTS)
@dataclass(frozen=True)
class Plan:
    """How samples are held out: K folds, any number of times.

    Parameters
    ----------
    folds : int, default 10
        Number of folds K. If a class has fewer members, they are spread over the folds, and a note says so.
    repeats : int, default 1
        How many times to repeat cross-validation, each time with a new random partition.
    stratify : bool or "auto", default "auto"
        Keep the class proportions in every fold. ``"auto"`` does so for classes and for observed events.
    groups : bool or "auto", default "auto"
        Hold the samples of a group out together. ``"auto"`` does so if `collect` gets groups; False ignores them, and a note says
        so.
    kind : str, default "kfold"
        The kind of plan; the class methods such as `Plan.holdout` set it.
    test : float or None
        Share of the samples that no model sees, so that `confront` can score the selected configuration on them once. For
        `Plan.holdout` and `Plan.three_way`, the share of the test part.
    validation : float or None
        Share of the samples in the validation part; set by `Plan.three_way`.
    cv : object
        The splitter of `Plan.from_cv`.

    Examples: {outfold}
    >>> of.Plan(folds=5, repeats=3)
    Plan(3 x 5-fold)
    >>> of.Plan.blocked(3)
    Plan(blocked 3 x 2-fold)
    >>> of.Plan(folds=5, test=0.3)
    Plan(5-fold, test part of 0.3 kept apart)
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
                remedy = "Give group labels to `collect(groups=...)`." if name == "groups" else ""
                raise invalid(name, "must be True, False or 'auto' in a plan", got(value), remedy)
        if self.kind not in get_args(Kind):
            raise invalid("kind", f"must be one of {', '.join(get_args(Kind))}", got(self.kind))
        shares = {"holdout": ("test",), "three_way": ("validation", "test")}.get(self.kind, ())
        if any(getattr(self, name) is None for name in shares):
            problem = f"a plan of kind {self.kind!r} needs {' and '.join(shares)}"
            raise InputError(problem, remedy=f"Use `Plan.{self.kind}()`.")
        if self.kind == "kfold" and not (is_whole_number(self.folds) and self.folds >= 2):
            needed = "must be a whole number of at least 2"
            raise invalid("folds", needed, got(self.folds), "Use `Plan.holdout()` for one split.")
        if self.kind == "kfold" and self.test is not None:
            object.__setattr__(self, "test", _share(self.test, "test"))
        if not (is_whole_number(self.repeats) and self.repeats >= 1):
            raise invalid("repeats", "must be a whole number of at least 1", got(self.repeats))

    # -- other plans ------------------------------------------------------------------------------------

    @classmethod
    def leave_one_out(cls) -> Plan:
        """Hold out one sample at a time, or one group where groups are given.

        Returns: {plan}
        Examples: {of}
        >>> of.Plan.leave_one_out()
        Plan(leave-one-out)
        """
        return cls(folds=0, stratify=False, kind="loo")

    @classmethod
    def holdout(cls, test: float = 1 / 3, *, stratify: bool | Literal["auto"] = "auto") -> Plan:
        """Hold out a share of the samples once.

        Parameters: {test, stratify}
        Returns: {plan}
        Examples: {of}
        >>> of.Plan.holdout(test=0.25)
        Plan(hold-out of 0.25)
        """
        return cls.repeated_holdout(1, test, stratify=stratify)

    @classmethod
    def repeated_holdout(
        cls, repeats: int = 10, test: float = 1 / 3, *, stratify: bool | Literal["auto"] = "auto"
    ) -> Plan:
        """Hold out a share of the samples, several times independently: Monte-Carlo cross-validation.

        Parameters
        ----------
        repeats : int, default 10
            Number of splits.
        {test, stratify}
        Returns: {plan}
        Examples: {of}
        >>> of.Plan.repeated_holdout(20, test=0.2)
        Plan(20 x hold-out of 0.2)
        """
        return cls(folds=1, repeats=repeats, stratify=stratify, kind="holdout", test=_share(test, "test"))

    @classmethod
    def three_way(
        cls, validation: float = 0.2, test: float = 0.2, *, stratify: bool | Literal["auto"] = "auto"
    ) -> Plan:
        """Split the samples once into three parts: to train on, to select on, and to judge the selected configuration.

        All configurations are fitted on the training part and predict the validation part. The one that
        ``collect(..., fresh=metric)`` selects there is fitted again on both and predicts the test part (Raschka 2018, sect. 3.3).

        Parameters
        ----------
        validation : float, default 0.2
            Share of the samples that the configuration is selected on.
        test : float, default 0.2
            Share of the samples that the selected configuration is judged on.
        {stratify}
        Returns: {plan}
        References: {raschka2018}
        Examples: {of}
        >>> of.Plan.three_way(validation=0.2, test=0.3)
        Plan(three-way hold-out of 0.2 and 0.3)
        """
        if _share(validation, "validation") + _share(test, "test") >= 1:
            needed = "and `test` together must leave samples to train on"
            raise invalid("validation", needed, f"they are {validation:g} + {test:g} of all")
        return cls(folds=1, stratify=stratify, kind="three_way", validation=float(validation), test=float(test))

    @classmethod
    def bootstrap(cls, rounds: int = 200, *, stratify: bool | Literal["auto"] = "auto") -> Plan:
        """Train on N samples drawn with replacement and hold out those never drawn, in each of several rounds.

        A round is a repeat with one fold. Samples are drawn within classes if stratified; a group is drawn or left out whole.

        Parameters
        ----------
        rounds : int, default 200
            Number of bootstrap rounds.
        stratify : bool or "auto", default "auto"
            Draw within classes, so that each class keeps its size.
        Returns: {plan}
        Examples: {of}
        >>> of.Plan.bootstrap(50)
        Plan(50 bootstrap rounds)
        """
        return cls(folds=1, repeats=check_count(rounds, "rounds", 2), stratify=stratify, kind="bootstrap")

    @classmethod
    def five_by_two(cls) -> Plan:
        """Five repeats of two folds, the plan of the 5x2cv tests.

        Returns: {plan}
        References: {dietterich1998}
        Examples: {of}
        >>> of.Plan.five_by_two()
        Plan(5 x 2-fold)
        """
        return cls(folds=2, repeats=5)

    @classmethod
    def blocked(cls, m: int = 3) -> Plan:
        """Balanced m x 2 plan: any two training sets of different repeats share exactly a quarter of the samples.

        With 2^k blocks, the columns 1..2^k-1 of the Sylvester-Hadamard matrix split the blocks into halves; m = 3
        is the blocked 3x2 of Wang et al. (2014, Table 1), m = 7 needs 8 blocks.

        Parameters
        ----------
        m : int, default 3
            Number of repeats: 3, 7, 15 or another 2^k - 1.
        Returns: {plan}
        References: {wang2014}
        Examples: {of}
        >>> of.Plan.blocked(7)
        Plan(blocked 7 x 2-fold)
        """
        if not (is_whole_number(m) and m >= 3 and (m & (m + 1)) == 0):
            raise invalid("m", "must be 3, 7, 15, ... (2^k - 1) for a balanced m x 2 plan", got(m))
        return cls(folds=2, repeats=m, kind="blocked")

    @classmethod
    def from_cv(cls, cv: Any) -> Plan:
        """The splits of a scikit-learn splitter, or splits that you have.

        Splits whose test parts overlap go to different repeats. A splitter without a random_state gets one
        from the seed, so that an interrupted collection can resume.

        Parameters
        ----------
        cv : splitter, int or iterable
            A splitter of scikit-learn, a number of folds, or pairs of (train, test) positions.
        Returns: {plan}
        Examples: {of}
        >>> from sklearn.model_selection import KFold
        >>> of.Plan.from_cv(KFold(3))
        Plan(splits of KFold(n_splits=3, random_state=None, shuffle=False))
        """
        if isinstance(cv, Iterable) and (isinstance(cv, str) or not hasattr(cv, "split")):
            try:
                cv = [(np.asarray(train), np.asarray(test)) for train, test in cv]
            except (TypeError, ValueError):
                needed = "must be a splitter, a number or pairs of (train, test) positions"
                raise invalid("cv", needed, f"got {type(cv).__name__}") from None
        return cls(folds=0, stratify=False, groups=False, kind="custom", cv=cv)

    # -- use --------------------------------------------------------------------------------------------

    def split(self, y: Any, groups: Any = None, rng: int = 0) -> Splits:
        """Draw the splits for these labels; the same labels, groups and seed give the same splits.

        Parameters
        ----------
        y : array-like of shape (N,) or Target
            The labels.
        groups : array-like of shape (N,) or None
            Groups of samples that belong together.
        rng : int, default 0
            The seed.

        Returns
        -------
        Splits
            The fold of every sample in every repeat.
        Examples: {of}
        >>> splits = of.Plan(folds=2).split([0, 0, 0, 1, 1, 1], rng=0)
        >>> splits.folds.shape, splits.n_folds
        ((6, 1), 2)
        """
        target = y if isinstance(y, Target) else encode(y)
        codes = None if groups is None else group_codes(groups, len(target))
        return Splitter(self, target, codes, rng).draw()

    @property
    def has_test_part(self) -> bool:
        """Whether some samples are kept apart from all folds."""
        return self.kind == "kfold" and self.test is not None

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
                what = "hold-out" if self.folds == 1 else f"{self.folds}-fold"
                return f"{times}{what} by {self.cv_name}" if self.folds else f"splits of {self.cv_name}"
            case "given" if self.folds <= 1:
                return f"{times}one test set"
        apart = f", test part of {self.test:.3g} kept apart" if self.has_test_part else ""
        return f"{times}{self.folds}-fold{words}{grouped}{apart}"

    @property
    def cv_name(self) -> str:
        """What to call the splitter: its text if that is short and shows no address, else its class."""
        if isinstance(self.cv, list) or _LIST_OF_SPLITS in (type(self.cv).__name__, self.cv):
            return GIVEN_SPLITS  # its text would hold every row of every split
        text = str(self.cv)
        return text if len(text) < 60 and " object at 0x" not in text else type(self.cv).__name__

    def __repr__(self) -> str:
        return f"Plan({self})"

    def to_dict(self) -> dict[str, Any]:
        """The plan in types that json can hold; a splitter of scikit-learn is kept as its text.

        Returns
        -------
        dict
            What `Plan.from_dict` reads.
        Examples: {of}
        >>> of.Plan(folds=5).to_dict()["folds"]
        5
        """
        out = {k: getattr(self, k) for k in ("kind", "folds", "repeats", "stratify", "groups", "test")}
        if self.validation is not None:
            out["validation"] = self.validation
        return out | {"cv": None if self.cv is None else self.cv_name}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Plan:
        """The plan written by `to_dict`.

        Parameters
        ----------
        fields : dict
            What `to_dict` gave.

        Returns
        -------
        Plan
            An equal plan.
        Examples: {of}
        >>> of.Plan.from_dict(of.Plan(folds=5).to_dict())
        Plan(5-fold)
        """
        return cls(**fields)


def _share(value: Any, name: str) -> float:
    if not (isinstance(value, (int, float, np.integer, np.floating)) and 0 < value < 1):
        raise invalid(name, "must be a share between 0 and 1", got(value))
    return float(value)
