"""All that outfold asks of a foreign estimator: its parameters, its parts, whether two are equal, its text, and copies of it.

scikit-learn looks up the signature of a class for every reading of parameters. For a grid of hundreds of configurations that
takes longer than fitting them. The signature of a class does not change, so it is read once here.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from .. import formatting
from ..exceptions import InputError, got
from .data import digest, is_frame

# Values that nobody can change, of which a copy is the value itself.
PLAIN = frozenset({int, float, bool, str, bytes, type(None), complex})

# Copying them gives the same object again, so that two clones of an estimator have one in common.
_COPIED_AS_SELF = (FunctionType, BuiltinFunctionType, type, np.ufunc)

# Where estimators made of others keep them; each item is (name, estimator, ...).
_PARTS = ("steps", "transformer_list", "transformers", "estimators")

_SEED_NAME = "random_state"


# -- what is an estimator? ------------------------------------------------------------------------------


def check_estimator(estimator: Any, name: Any) -> None:
    """Refuse what cannot be cloned and fitted, and say why."""
    if name is not None and not (isinstance(name, str) and name):
        raise InputError(needed="a configuration's name must be text that is not empty", given=got(name))
    where = "" if name is None else f"configuration {name!r}: "
    if inspect.isclass(estimator):
        kind = estimator.__name__
        raise InputError(needed=f"{where}{kind} is a class", given=f"give an instance, `{kind}()`")
    lacks = [m for m in ("fit", "get_params") if not hasattr(estimator, m)]
    if not lacks:
        return
    # Only for the error: the text of a pipeline takes milliseconds.
    shown = formatting.shorten(repr(estimator), 60).replace("`", "'")
    problem = f"{where}{shown} is not a scikit-learn estimator (it has no {lacks[0]})"
    raise InputError(problem, remedy="Give an estimator, a dict {name: estimator}, or a grid.")


def check_predicts(configs: Mapping[str, Any]) -> None:
    """Refuse configurations without predictions, if predictions are to be collected."""
    for name, estimator in configs.items():
        # A stack with its default final estimator, say, has its predict only once it is fitted.
        if not hasattr(estimator, "predict") and said_type(estimator) not in ("classifier", "regressor"):
            shown = formatting.shorten(repr(estimator), 60).replace("`", "'")
            problem = f"configuration {name!r}: {shown} has no predict, and predictions are what is compared"
            raise InputError(problem, remedy="Put it in a pipeline that ends with a classifier or regressor.")


def is_pairwise(configs: Mapping[str, Any], X: Any) -> bool:
    """Whether X holds kernels or distances between samples, so that its columns are samples too."""
    from sklearn.utils import get_tags

    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if len(shape) != 2 or shape[0] != shape[1]:
        return False
    said = {}
    for name, estimator in configs.items():
        with suppress(AttributeError):  # it has no tags of scikit-learn
            said[name] = bool(get_tags(estimator).input_tags.pairwise)
    if any(said.values()) and not all(said.get(name) for name in configs):
        other = next(name for name in configs if not said.get(name))
        needed = "take kernels or distances as X must not be mixed with others"
        raise InputError(argument="configurations that", needed=needed, given=f"{other!r} takes features")
    return any(said.values())


def said_type(estimator: Any) -> str | None:
    """What an estimator says it is, such as ``classifier``, ``regressor`` or ``clusterer``; None where it does not say."""
    from sklearn.utils import get_tags

    try:
        said: str | None = get_tags(estimator).estimator_type
    except AttributeError:  # it has no tags of scikit-learn
        said = getattr(estimator, "_estimator_type", None)
    return said


def wants_columns(estimator: Any) -> bool:
    """Whether an estimator takes labels in columns only, as those that fit a model for each output."""
    from sklearn.utils import get_tags

    try:
        return not get_tags(estimator).target_tags.single_output
    except AttributeError:  # it has no tags of scikit-learn
        return False


def offers(estimator: Any, method: str) -> bool:
    """Whether an estimator has a method, or will have it once it is fitted.

    Some look for the method in what `fit` makes: a stack in its final estimator, others in ``self.model_``, say.
    """
    try:
        getattr(estimator, method)
    except AttributeError as error:
        reason: BaseException | None = error
        while reason is not None:
            if _comes_with_fit(reason):
                return True
            reason = reason.__cause__
        return _stacks_as_usual(estimator) and method in ("predict", "predict_proba", "decision_function")
    return True


def _comes_with_fit(reason: BaseException) -> bool:
    from sklearn.exceptions import NotFittedError

    missing = getattr(reason, "name", None)
    return isinstance(reason, NotFittedError) or (isinstance(missing, str) and missing[-1:] == "_" != missing[-2:-1])


def _stacks_as_usual(estimator: Any) -> bool:
    """Whether this is a stack whose `fit` makes the final estimator: a logistic regression."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    known = package_of(estimator) == "sklearn" and type(estimator).__name__ == "StackingClassifier"
    return known and estimator.final_estimator is None


def is_estimator(value: Any) -> bool:
    """Whether a value has parameters of its own: an instance, not a class."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def package_of(value: Any) -> str:
    """The top-level package of a function, a class, or the class of anything else."""
    named = value if hasattr(value, "__qualname__") else type(value)
    return (getattr(named, "__module__", "") or "").partition(".")[0]


def _is_known(kind: type) -> bool:
    """Whether a class comes with scikit-learn or this package, and so keeps to the rules for estimators."""
    return package_of(kind) in ("sklearn", "outfold")


# Libraries whose fits a process may do beside its workers: they do not end the process they run in.
_WELL_KNOWN = frozenset({"sklearn", "outfold", "numpy", "scipy", "lightgbm", "xgboost", "catboost"})


def is_well_known(estimator: Any) -> bool:
    """Whether every estimator and function that a fit calls comes from a library with many users."""
    parts = list(parts_of(estimator))
    values = (value for part in parts for value in further_values(part))
    called = (value for value in (*parts, *values) if hasattr(value, "fit") or callable(value))
    return all(package_of(value) in _WELL_KNOWN for value in called)


# -- parameters and parts -------------------------------------------------------------------------------


def own_params(estimator: Any) -> dict[str, Any]:
    """What ``get_params(deep=False)`` gives."""
    kind: Any = type(estimator)
    names = _plain_names(kind)
    if names is None:
        return dict(estimator.get_params(deep=False))
    return {name: getattr(estimator, name) for name in names}


def parts_of(estimator: Any) -> Iterator[Any]:
    """The estimator and all those inside it that ``get_params(deep=True)`` would name, in this order."""
    yield estimator
    params = own_params(estimator)
    inside = list(params.values())
    kind: Any = type(estimator)
    if _is_composed(kind):
        for name in _PARTS:
            inside += [item[1] for item in params.get(name) or () if isinstance(item, tuple) and len(item) > 1]
    for value in inside:
        if type(value) not in PLAIN and is_estimator(value):
            yield from parts_of(value)


def further_values(estimator: Any) -> list[Any]:
    """Parameters that are neither plain values nor estimators, nor the steps of a pipeline."""
    kind: Any = type(estimator)
    known = "steps" if _is_composed(kind) else None
    return [
        value
        for name, value in own_params(estimator).items()
        if not (is_plain(value) or name == known or is_estimator(value))
    ]


def one_of_each(configs: Mapping[str, Any]) -> dict[str, Any]:
    """One configuration for each combination of classes: those made of the same classes are the same kind of model.

    A class that is not scikit-learn's may decide by its parameters what it is, so all configurations with one are given.
    """
    found: dict[Any, str] = {}
    for name, estimator in configs.items():
        kinds = tuple(map(type, parts_of(estimator)))
        found.setdefault(kinds if all(map(_is_known, kinds)) else name, name)
    return {name: configs[name] for name in found.values()}


def is_untouched(estimator: Any) -> bool:
    """Whether an instance of scikit-learn's class or ours was not changed since it was made: then a copy equals a clone."""
    kind: Any = type(estimator)
    return bool(_is_known(kind) and vars(estimator).keys() == _fresh(kind))


def is_plain(value: Any) -> bool:
    """Whether a value cannot change, so that two estimators may have it in common."""
    return type(value) in PLAIN or isinstance(value, (np.number, np.bool_, np.str_))


@lru_cache(maxsize=1024)
def _plain_names(kind: Any) -> tuple[str, ...] | None:
    """Names of the parameters of a class that reads and copies them as scikit-learn's base class does; else None."""
    from sklearn.base import BaseEstimator

    base: Any = BaseEstimator
    if not issubclass(kind, base) or kind.__sklearn_clone__ is not base.__sklearn_clone__:
        return None
    if getattr(kind._get_param_names, "__func__", None) is not base._get_param_names.__func__:
        return None
    own = kind.get_params is base.get_params
    return tuple(kind._get_param_names()) if own or _is_composed(kind) else None


@lru_cache(maxsize=1024)
def _fresh(kind: Any) -> frozenset[str] | None:
    """The attributes of a new instance; None for a class that does not read its parameters as the base class does."""
    names = _plain_names(kind)
    if names is None:
        return None
    try:
        return frozenset(vars(kind()))
    except TypeError:  # it needs an argument
        return frozenset(names)


@lru_cache(maxsize=1024)
def _is_composed(kind: Any) -> bool:
    """Whether a class of scikit-learn's is made of named estimators, whose shallow parameters are the base class's."""
    from sklearn.utils.metaestimators import _BaseComposition

    return issubclass(kind, _BaseComposition) and package_of(kind) == "sklearn"


# -- keys -----------------------------------------------------------------------------------------------

# Equal keys mean that separate fits on the same rows would give the same bits. Texts, below, may take two functions of one
# name for the same; a key never does. Where it cannot be sure, the keys differ and nothing is shared.

# What `clone` takes over beside the parameters.
_BESIDE = ("_sklearn_output_config", "_metadata_request")


class _Same:
    """Equal to itself only; keeps the object, whose address would else be given to another."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of(value: Any) -> Hashable:
    """The key of a parameter or an estimator."""
    kind = type(value)
    if kind in PLAIN:
        return kind, repr(value)  # tells 1 from 1.0 and True, 0.0 from -0.0, and NaN is equal to itself
    if kind in (list, tuple):
        return kind, tuple(key_of(item) for item in value)
    if kind is dict:
        return kind, tuple((key_of(k), key_of(v)) for k, v in value.items())
    if isinstance(value, _COPIED_AS_SELF):
        return _Same(value)
    if hasattr(value, "get_params"):
        return estimator_key(value)
    if kind is np.ndarray and not value.dtype.hasobject:
        return kind, digest(value), value.flags.c_contiguous, value.flags.f_contiguous
    return _pickled(value)


def estimator_key(estimator: Any, without: Collection[str] = ()) -> Hashable:
    """The key of an estimator by its class and parameters, except some of them."""
    from sklearn.base import BaseEstimator

    kind: Any = type(estimator)
    # A class that defines how it is cloned may keep more than its parameters (a frozen estimator does).
    if getattr(kind, "__sklearn_clone__", None) not in (None, BaseEstimator.__sklearn_clone__):
        return _pickled(estimator)
    params = own_params(estimator)
    mine = tuple((name, key_of(params[name])) for name in sorted(params) if name not in without)
    beside = tuple((name, _pickled(getattr(estimator, name))) for name in _BESIDE if hasattr(estimator, name))
    return kind, mine, beside


def _pickled(value: Any) -> Hashable:
    try:
        return type(value), pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever a foreign class raises: the object equals only itself
        return _Same(value)


# -- texts ----------------------------------------------------------------------------------------------


def plain_text(value: Any) -> str:
    """Text of a parameter that is the same in every process: no addresses, arrays by their hash."""
    kind = type(value)
    if kind in PLAIN:
        return repr(value)
    if isinstance(value, np.ndarray) or hasattr(value, "tocsr") or is_frame(value):
        return f"<{kind.__name__} {digest(value)}>"
    if kind in (list, tuple, set, frozenset):
        items = [plain_text(v) for v in value]
        return f"{kind.__name__}({', '.join(items if kind in (list, tuple) else sorted(items))})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{plain_text(k)}: {plain_text(v)}" for k, v in value.items()) + "}"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        return estimator_text(value)
    if isinstance(value, np.random.RandomState):
        return f"<RandomState {digest(value.get_state(legacy=False)['state']['key'])}>"
    text = repr(value)
    return text if " at 0x" not in text else f"<{kind.__module__}.{kind.__qualname__}>"


def estimator_text(estimator: Any, params: Mapping[str, Any] | None = None) -> str:
    """The estimator with all its parameters, whether default or not, nested ones inside."""
    params = own_params(estimator) if params is None else params
    kind = type(estimator)
    inside = ", ".join(f"{name}={plain_text(params[name])}" for name in sorted(params))
    return f"{kind.__module__}.{kind.__qualname__}({inside})"


# -- copies ---------------------------------------------------------------------------------------------


def seed_of(rng: int, *key: int) -> int:
    """The seed of one fit; it depends on the hold-out only, so that all configurations share it."""
    return seeds_of(1, rng, *key)[0]


def seeds_of(n: int, rng: int, *key: int) -> tuple[int, ...]:
    """The seeds of `n` fits that are averaged; the first ones are those of fewer fits."""
    return tuple(int(word >> 1) for word in np.random.SeedSequence(rng, spawn_key=key).generate_state(n))


@dataclass(frozen=True, eq=False)
class EstimatorTemplate:
    """Makes fresh, seeded copies of a configuration's estimator.

    Reading a pickled clone that was never fitted is about ten times faster than cloning.
    """

    name: str  # of the configuration
    text: str  # the estimator with all its parameters
    unseeded: tuple[str, ...] = ()  # parameters that get a seed for every fit, where `frozen` is None
    frozen: bytes | None = None  # pickled (estimator, parts to seed), where that is possible
    estimator: Any = None  # the clone itself, where `frozen` is None
    trusted: bool = False  # all parts are scikit-learn's own, which do not write into a frame they are given
    seeded: bool = False  # some part gets a seed for every fit

    def make(self, seed: int) -> Any:
        """A fresh estimator, seeded where the user left the seed open."""
        if self.frozen is None:
            from sklearn.base import clone

            made = clone(self.estimator)
            return made.set_params(**dict.fromkeys(self.unseeded, seed)) if self.unseeded else made
        made, parts = pickle.loads(self.frozen)
        for part in parts:
            part.random_state = seed
        return made


def make_templates(configs: dict[str, Any], dumps: Callable[[Any], bytes]) -> list[EstimatorTemplate]:
    """Templates of all configurations; `dumps` pickles for where the fits will happen."""
    return [_copied(name, made, dumps) or _cloned(name, made, dumps) for name, made in configs.items()]


def _copied(name: str, estimator: Any, dumps: Callable[[Any], bytes]) -> EstimatorTemplate | None:
    """The template of an estimator whose copy equals a clone and takes a tenth of the time; None for any other."""
    parts = list(parts_of(estimator))
    values = [value for part in parts for value in further_values(part)]
    if not _copies_as_clone(parts, values):
        return None
    unseeded = [part for part in parts if getattr(part, _SEED_NAME, False) is None]
    try:
        frozen = dumps((estimator, unseeded))
        if values:  # else what is read back is what was written
            pickle.loads(frozen)
    except Exception:  # a parameter that cannot be pickled; cloning still works
        return None
    return EstimatorTemplate(
        name,
        estimator_text(estimator),
        frozen=frozen,
        trusted=_are_trusted([estimator, *values]),
        seeded=bool(unseeded),
    )


def _copies_as_clone(parts: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether a copy of an estimator made of these parts, with these further values, equals a clone."""
    # A part that is in two places would be one object in the copy and two in a clone.
    if len({id(part) for part in parts}) < len(parts) or not all(is_untouched(part) for part in parts):
        return False
    # The same holds for a generator of random numbers: it would continue where another part left it.
    chance = [id(value) for value in values if isinstance(value, (np.random.RandomState, np.random.Generator))]
    return len(set(chance)) == len(chance) and all(_copies_well(value) for value in values)


def _copies_well(value: Any, inside: bool = False) -> bool:
    """Whether a copy of an estimator with this parameter equals a clone, which copies each parameter by itself.

    A splitter may hold a generator of random numbers that another parameter holds too.
    """
    if is_plain(value) or isinstance(value, (slice, *_COPIED_AS_SELF)):
        return True
    if isinstance(value, (list, tuple)):
        return all(_copies_well(item, inside=True) for item in value)
    if isinstance(value, dict):
        return all(_copies_well(item, inside=True) for item in value.values())
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return not inside
    return hasattr(value, "get_params")


def _clone(estimator: Any, name: str) -> Any:
    """A clone of the estimator of the configuration `name`; an error if its class does not keep to scikit-learn's rules."""
    from sklearn.base import clone

    try:
        return clone(estimator)
    except Exception as error:  # whatever the constructor of a foreign class raises
        why = f"{type(error).__name__}: {' '.join(str(error).split())}".replace("`", "'")
        remedy = "Its constructor must store each parameter as it is given, and do nothing else."
        raise InputError(f"configuration {name!r} cannot be cloned ({why}).", remedy=remedy) from error


def _cloned(name: str, estimator: Any, dumps: Callable[[Any], bytes]) -> EstimatorTemplate:
    made = _clone(estimator, name)
    params = made.get_params(deep=True)
    unseeded = tuple(p for p, v in params.items() if v is None and (p == _SEED_NAME or p.endswith(f"__{_SEED_NAME}")))
    parts = [params[p.removesuffix(f"__{_SEED_NAME}")] if p != _SEED_NAME else made for p in unseeded]
    frozen = _freeze(made, parts, unseeded, dumps)
    trusted = _are_trusted([made, *params.values()])
    kept = made if frozen is None else None
    return EstimatorTemplate(name, estimator_text(made), unseeded, frozen, kept, trusted, bool(unseeded))


def _are_trusted(values: Iterable[Any]) -> bool:
    """Whether every estimator and function among the values comes from scikit-learn, this package, numpy or scipy."""
    foreign = (v for v in values if hasattr(v, "fit") or callable(v))
    return all(package_of(value) in ("sklearn", "outfold", "numpy", "scipy") for value in foreign)


def _freeze(
    estimator: Any, parts: Sequence[Any], unseeded: Sequence[str], dumps: Callable[[Any], bytes]
) -> bytes | None:
    """Pickle, and make sure that seeding the parts seeds the estimator."""
    try:
        frozen = dumps((estimator, parts))
        copy, copied_parts = pickle.loads(frozen)
        if not unseeded:
            return frozen
        for part in copied_parts:
            part.random_state = 1
        params = copy.get_params(deep=True)
        return frozen if all(params.get(p) == 1 for p in unseeded) else None
    except Exception:  # whatever a foreign class raises when pickled, cloning still works
        return None


class Variants:
    """Copies of an estimator, each with some parameters of its own.

    A clone is pickled once, together with the parts whose parameters vary, and read back for each copy. Where that might not
    give what ``clone`` and ``set_params`` give, those are used.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self._frozen: dict[tuple[str, ...], bytes | None] = {}

    def make(self, chosen: Mapping[str, Any], key: str) -> Any:
        """A copy with these values, for the configuration `key`; values that are estimators are cloned."""
        from sklearn.base import clone

        names = tuple(chosen)
        if names not in self._frozen:
            self._frozen[names] = self._freeze(names, key)
        frozen = self._frozen[names]
        if frozen is None or any(hasattr(value, "get_params") for value in chosen.values()):
            return _with_params(_clone(self.estimator, key), chosen, key)
        made, owners = pickle.loads(frozen)
        for owner, (name, value) in zip(owners, chosen.items(), strict=True):
            setattr(owner, name.rpartition("__")[2], clone(value, safe=False))
        return made

    def _freeze(self, names: tuple[str, ...], key: str) -> bytes | None:
        """A clone and the parts that have these parameters, pickled; None where only scikit-learn knows how to set them."""
        from sklearn.base import BaseEstimator

        made = _clone(self.estimator, key)
        parts = list(parts_of(made))
        if not _copies_as_clone(parts, [value for part in parts for value in further_values(part)]):
            return None
        known, owners = made.get_params(deep=True), []
        for name in names:
            inside, _, own = name.rpartition("__")
            owner = known.get(inside) if inside else made
            if not is_estimator(owner) or type(owner).set_params is not BaseEstimator.set_params:
                return None
            if own not in owner.get_params(deep=False) or is_estimator(known[name]):
                return None
            owners.append(owner)
        try:
            return pickle.dumps((made, owners), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception:  # a function made on the spot, say; cloning still works
            return None


def _with_params(estimator: Any, chosen: Mapping[str, Any], key: str) -> Any:
    """The estimator with these values; values that are estimators are cloned, so that no two fits share one."""
    from sklearn.base import clone

    if not chosen:
        return estimator
    try:
        return estimator.set_params(**{p: clone(v, safe=False) for p, v in chosen.items()})
    except (ValueError, TypeError, AttributeError) as error:
        known = estimator.get_params(deep=True)
        missing = next((name for name in chosen if name not in known), None)
        why = " ".join(str(error).split()) if missing is None else f"no parameter {missing!r}; {like(missing, known)}"
        raise InputError(f"configuration {key!r}: {why}") from error


def like(parameter: str, known: Collection[str]) -> str:
    """The parameters that may be meant by one that is not there, as a clause: of the same last part, or nearly."""
    ends = {name: name.rpartition("__")[2] for name in known}
    last = parameter.rpartition("__")[2]
    same = [name for name, end in ends.items() if end.lower() == last.lower()]
    near = get_close_matches(last, set(ends.values()), n=3)
    meant = same or [name for name, end in ends.items() if end in near]
    if meant:
        return f"did you mean {' or '.join(map(repr, sorted(meant)[:3]))}?"
    listed = sorted(known, key=lambda name: (name.count("__"), name))
    return f"there are {', '.join(listed[:12])}{', ...' if len(listed) > 12 else '.'}"
