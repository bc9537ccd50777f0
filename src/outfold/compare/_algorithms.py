"""Tuned against tuned: algorithms that select among their configurations inside each outer fold, compared as learners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from .. import formatting
from ..arguments import check_takes, known_names
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, NeedError, got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, recorded_metric, selecting
from ..requirements import block, check_predictions, check_requirements
from ..results import Comparison, Comparisons, TunedAlgorithm
from ..select import Rule, RuleLike, recorded_rule, values_of
from ..tuning import Tuned, outer_predictions, tune
from ._auto import Adjust, auto, pairs
from ._pair_test import AlternativeLike, Hypothesis, TestLike, check_options, compare_pair, find_test, public

By: TypeAlias = str | Callable[[str, Mapping[str, Any]], Any] | Mapping[str, Sequence[str | int]]

# The part of a configuration's name before its parameters.
_NAME = "name"
_REFERENCE = "Varma & Simon 2006; Raschka 2018, sect. 4.14"


@public
def algorithms(
    source: Predictions,
    metric: MetricLike | None = None,
    a: str | int | None = None,
    b: str | int | None = None,
    *,
    by: By = _NAME,
    test: TestLike = "auto",
    control: str | int | None = None,
    adjust: Adjust | str = "holm",
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    null: float = 0.0,
    **options: Any,
) -> Comparison | Comparisons:
    """Whether one algorithm is better than another when each is tuned, by nested cross-validation.

    An algorithm is a set of configurations, such as all of ``logit(...)``. Within each outer fold, the inner folds select one
    configuration of each algorithm, and its predictions for the outer fold are kept [1]_, as section 4.14 of [2]_ recommends
    for few samples. These predictions are then compared by the test that fits the plan, as `auto` and `pairs` do. The result
    says how often each configuration was selected.

    The comparison is about the algorithm with its configurations and the rule that selects: another grid may change it. It does
    not account for how you chose the grids (OF317).

    Parameters
    ----------
    source : Predictions
        Predictions of `collect` with the block ``inner``, or of two such files joined.
    {metric}
    a, b : str or int, or None
        The two algorithms, by name or position. None compares all.
    by : str, callable or dict
        What makes an algorithm. ``"name"`` is the part of the configuration's name before the bracket, as `grid` gives it.
        Any other text is a parameter, such as ``"kernel"``. A function gets the name and the parameters of a configuration and
        returns the name of the algorithm, or None to leave it out. A dict has lists of configurations by algorithm.
    {test}
    control : str, int or None
        Compare each of the others with this algorithm only.
    {adjust}
    rule : callable or rule of `outfold.select`, optional
        How each algorithm selects; None is the rule that the predictions record.
    {aggregate, alternative, test_level, rope, null, options}

    Returns
    -------
    Comparison or Comparisons
        A Comparison of two algorithms, Comparisons of more. ``algorithms`` says what was selected.
    References: {varma2006, raschka2018}

    Examples: {iris}
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 5, 15])
    >>> configs |= of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 4])
    >>> oof = of.collect(configs, X, y, of.Plan(folds=5), inner=True, progress=False)
    >>> found = of.compare.algorithms(oof, "accuracy", "knn", "tree")
    >>> found
    <Comparison t_training knn - tree: accuracy +0.0400, p = 0.1150>
    >>> print(found.algorithms[1])
    tree, 3 configurations: selects tree(max_depth=2) in 3, tree(max_depth=4) in 2 of 5 outer folds
    """
    check_predictions(source, "algorithms")
    check_requirements("algorithms", (block("inner"),), source)
    members = _members(source, by)
    if (a is None) != (b is None):
        needed = "algorithms compares `a` with `b`, or all"
        raise InputError(needed=needed, given="got only one of `a` and `b`", remedy="Give both, or neither.")
    if a is not None and b is not None:
        members = {name: members[name] for name in (_find(members, a), _find(members, b))}
    if len(members) < 2:
        given = f"got {formatting.listed(list(members))}"
        remedy = "Give `by`: a parameter, a function of the name and the parameters, or a dict."
        raise InputError(needed="a comparison needs two different algorithms at least", given=given, remedy=remedy)
    control = None if control is None else _find(members, control)
    own_rule, metric = recorded_rule(source, rule), recorded_metric(source, metric)
    tuned = {name: _tuned(source, name, index, metric, aggregate, own_rule) for name, index in members.items()}
    chosen = {name: {fold: members[name][j] for fold, j in one.picks.items()} for name, one in tuned.items()}
    made = outer_predictions(source, chosen)
    hypothesis = Hypothesis(alternative, confidence_level, rope, null)
    asked = vars(hypothesis)
    found: Comparison | Comparisons
    if len(members) > 2 or control is not None:
        found = pairs(made, metric, test=test, control=control, adjust=adjust, **asked, **options)
    elif test == "auto":
        found = auto(made, metric, 0, 1, **asked, **options)
    else:
        check_options(find_test(test), options)
        found = compare_pair(test, made, metric, 0, 1, hypothesis, **options)
    return _described(found, tuned)


# -- which configurations belong together -------------------------------------------------------------------


def _members(oof: Predictions, by: By) -> dict[str, list[int]]:
    """Positions of the configurations of each algorithm, in the order of the first of each."""
    if isinstance(by, Mapping):
        return {str(name): _listed(oof, str(name), configs) for name, configs in by.items()}
    names = [_algorithm(name, params, by) for name, params in zip(oof.configs, oof.params, strict=True)]
    if isinstance(by, str) and None in names:
        known = ", ".join(sorted({key for params in oof.params for key in params})) or "not known"
        lacking = oof.configs[names.index(None)]
        needed = f"must be {_NAME!r} or a parameter that every configuration has"
        given = f"got {by!r}, which {lacking!r} lacks; the parameters are {known}"
        raise invalid("by", needed, given, "Give a function, or a dict such as {'trees': [...], 'linear': [...]}.")
    out: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        if name is not None:
            out.setdefault(name, []).append(position)
    return out


def _algorithm(name: str, params: Mapping[str, Any], by: Any) -> str | None:
    if by == _NAME:
        before, _, after = name.partition("(")
        return (
            f"{before.strip()}{after.rpartition(')')[2]}" or name
        )  # what follows the bracket tells joined files apart
    if isinstance(by, str):
        found = [v if isinstance(v, str) else formatting.compact(v) for v in values_of(by, params)]
        return f"{by}={found[0]}" if found else None
    if not callable(by):
        needed = f"must be {_NAME!r}, a parameter, a function of the name and the parameters, or a dict"
        raise invalid("by", needed, got(by))
    check_takes(by, ("name", "params"), "by")
    made = by(name, params)
    return None if made is None else str(made)


def _listed(oof: Predictions, name: str, configs: Any) -> list[int]:
    """Positions of the configurations that the user lists for an algorithm."""
    if isinstance(configs, (str, bytes)) or not isinstance(configs, Sequence) or not configs:
        raise invalid("by", "must be a dict of lists of configurations", f"for {name!r} it has {configs!r}")
    index = [oof.config_index(config) for config in configs]
    if len(set(index)) < len(index):
        raise invalid("by", "must list a configuration once for each algorithm", f"{name!r} lists one twice")
    return index


def _find(members: Mapping[str, Any], asked: str | int) -> str:
    """The name of an algorithm given by name or by position."""
    names = list(members)
    if isinstance(asked, int) and 0 <= asked < len(names):
        return names[asked]
    if asked in members:
        return str(asked)
    there = known_names(str(asked), names, f"there are {len(names):,}")
    raise InputError(f"no algorithm {asked!r}; {there}.")


# -- what they select, and what the comparison says of it ----------------------------------------------------


def _tuned(
    oof: Predictions, name: str, index: list[int], metric: MetricLike, aggregate: Aggregate | None, rule: Rule
) -> Tuned:
    own = oof.sel(config=index)
    try:
        return tune(selecting(own, metric, aggregate), rule, own.splits.cells)
    except NeedError as error:
        raise NeedError(f"the algorithm {name!r} cannot be tuned: {error}") from None


def _described(found: Comparison | Comparisons, tuned: Mapping[str, Tuned]) -> Comparison | Comparisons:
    """The comparison with what was selected, and with its caveats."""
    about = tuple(
        TunedAlgorithm(name, one.whole.oof.configs, dict(Counter(one.chosen).most_common()))
        for name, one in tuned.items()
    )
    sizes = ", ".join(f"{one.name} ({formatting.count(len(one.configs), 'configuration')})" for one in about)
    text = (
        f"{sizes} are compared as tuned inside each outer fold; the test accounts neither for how these configurations were "
        "chosen nor for how the algorithms were."
    )
    notes = (Note("OF317", text), *dict.fromkeys(note for one in tuned.values() for note in one.notes()))
    terms = found if isinstance(found, Comparison) else found.terms
    words: dict[str, Any] = {
        "algorithms": about,
        "description": f"{terms.description}; each algorithm tuned by nested CV",
        "reference": f"{terms.reference}; {_REFERENCE}",
    }
    if isinstance(found, Comparison):
        return replace(found, **words, notes=(*found.notes, *notes))
    return replace(found, terms=replace(found.terms, **words), notes=(*found.notes, *notes))
