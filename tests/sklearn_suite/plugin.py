"""A plugin of pytest: scikit-learn's tests get our searches; it notes which tests touch one, and how each ends."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from outfold import SelectCV
from sklearn_suite.adaptors import SEARCHES

# Where tests find the searches.
_HOMES = (
    "sklearn.model_selection",
    "sklearn.model_selection._search",
    "sklearn.model_selection._search_successive_halving",
)
# Parts of scikit-learn that take the searches when they are imported, and are not what is tested.
_IMPORTED_BEFORE = ("sklearn.experimental.enable_halving_search_cv", "sklearn.utils.estimator_checks")


@contextmanager
def substituted() -> Iterator[None]:
    """Our searches under scikit-learn's names, in the modules of `_HOMES`."""
    for module in _IMPORTED_BEFORE:
        importlib.import_module(module)
    with pytest.MonkeyPatch.context() as patch:
        for home in map(importlib.import_module, _HOMES):
            for name, ours in SEARCHES.items():
                if hasattr(home, name):
                    patch.setattr(home, name, ours)
        yield


class Suite:
    """Runs in the place of scikit-learn's own searches, and counts.

    Attributes
    ----------
    collected : list of str
        Names of all tests, with parameters.
    touching : set of str
        Those that make or are given one of our searches.
    outcomes : dict
        "passed", "failed" or "skipped" by test.
    """

    def __init__(self) -> None:
        self.collected: list[str] = []
        self.touching: set[str] = set()
        self.outcomes: dict[str, str] = {}
        self._running: str | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self, session):
        """Note whenever a search is made; clones count too."""
        init = SelectCV.__init__

        @functools.wraps(init)  # scikit-learn reads the signature
        def noted(search, /, *args, **options):
            if self._running is not None:
                self.touching.add(self._running)
            init(search, *args, **options)

        SelectCV.__init__ = noted
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        """Import the module of tests, with its parameters, while our searches stand in."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        with substituted():
            return (yield)

    def pytest_itemcollected(self, item):
        """A test, whether or not it is selected to run."""
        self.collected.append(_name(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """While a test runs, it is the one that searches belong to."""
        self._running = _name(item)
        parameters = getattr(item, "callspec", None)
        if parameters is not None and any(isinstance(value, SelectCV) for value in parameters.params.values()):
            self.touching.add(self._running)
        try:
            return (yield)
        finally:
            self._running = None

    def pytest_runtest_logreport(self, report):
        """The worst of setup, call and teardown counts."""
        name = _name(report)
        if report.failed or name not in self.outcomes or self.outcomes[name] == "passed":
            self.outcomes[name] = report.outcome


def _name(item):
    """The name of a test without its file, which lies elsewhere on each machine."""
    return item.nodeid.split("::", 1)[1]
