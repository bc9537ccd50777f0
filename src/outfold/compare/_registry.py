"""The tests of a pair by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeAlias

from ..exceptions import InputError
from . import _areas, _bayes, _proportions, _resampled_sets, _resampling
from ._design import PairTest

TestLike: TypeAlias = str | Callable[..., Any]


def _tests(*modules: ModuleType) -> dict[str, PairTest]:
    found = (value for module in modules for value in vars(module).values())
    return {test.name: test for test in found if isinstance(test, PairTest)}


_OF_FOLDS = _tests(_resampling, _bayes)
TESTS: Mapping[str, PairTest] = _tests(_proportions, _areas, _resampled_sets) | _OF_FOLDS
# Tests that know the scores of folds only; the others read predictions.
BY_FOLDS = frozenset(_OF_FOLDS)


def find(test: TestLike) -> PairTest:
    """The test of that name, or of that function of `outfold.compare`."""
    name = test if isinstance(test, str) else getattr(test, "__name__", repr(test))
    if name in TESTS:
        return TESTS[name]
    near = difflib.get_close_matches(name, TESTS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the tests of a pair are {', '.join(sorted(TESTS))}."
    raise InputError(f"no test of a pair is called {name!r}; {hint}")


def check_options(test: PairTest, options: Mapping[str, Any]) -> None:
    """Refuse options that the test does not have."""
    known = list(inspect.signature(test.compute).parameters)[3:]
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(f"{option!r} is no option of {test.name}; {has}.")
