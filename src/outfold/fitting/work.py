"""The unit of work: fit a batch of configurations on one hold-out and predict what was left out."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter

from ..data.plan import Splits
from .alone import forget_part
from .limits import limit_worker, own_random_state, quiet
from .recipes import Recipe
from .schedule import Holdout
from .sharing import Family
from .task import Outcome, Place, Setting
from .together import company_of, fit_unit, units
from .trunk import TRUNK

# A task that has fitted shared transformers for so long goes on until its models took this many times as long.
WORTH = 4.0


def work(
    setting: Setting,
    holdout: Holdout,
    splits: Splits,
    seed: int,
    recipes: Sequence[Recipe],
    called_in: Sequence[Recipe] = (),
) -> list[Outcome]:
    """Fit the recipes on the training rows of the hold-out; a pure function of its arguments.

    `splits` are those of the hold-out's repeat alone; `called_in` are further members of families that are fitted as a
    whole. What takes much longer than expected is given back in part: the first outcomes, at least one.
    """
    from sklearn import config_context

    if setting.limited:
        limit_worker(setting.own_process, setting.threads)
    outcomes: list[Outcome] = []
    start = perf_counter()
    with ExitStack() as stack:
        stack.enter_context(config_context(**setting.config))
        if setting.own_process:
            stack.enter_context(quiet())
        seed_globals = None if setting.shared_process else stack.enter_context(own_random_state())
        place = Place(setting, holdout, splits, seed, seed_globals, _families(setting))
        company = company_of(place, recipes, called_in)
        on_the_way = 0.0
        for unit in units(recipes):
            fitted = fit_unit(place, unit, company)
            outcomes += fitted
            on_the_way += sum(seconds for o in fitted if o.share for _, seconds in o.share.nodes)
            if setting.raises and any(o.values is None for o in fitted):
                break
            if perf_counter() - start > max(setting.patience, (1 + WORTH) * on_the_way):
                break
    return _settled(outcomes, recipes)


def _settled(outcomes: list[Outcome], recipes: Sequence[Recipe]) -> list[Outcome]:
    """The seconds of every transformer divided among those who passed through it."""
    costs = {node: seconds for o in outcomes if o.share is not None for node, seconds in o.share.nodes}
    if not costs:
        return outcomes
    passed = [() if r.route is None else r.route.nodes for r in recipes[: len(outcomes)]]
    ways, counts = Counter(passed), Counter[int]()
    for nodes, n in ways.items():
        counts.update(dict.fromkeys(nodes, n))
    shares = {nodes: sum(costs[node] / counts[node] for node in nodes if node in costs) for nodes in ways}
    return [o._replace(seconds=o.seconds + shares[nodes]) for o, nodes in zip(outcomes, passed, strict=True)]


def forget_rows() -> None:
    """Let go of the rows kept for the next batch."""
    forget_part()
    TRUNK.forget()


class _Families(threading.local):
    """The families of the last collection in this thread."""

    token: str | None = None
    known: Mapping[int, Family] = {}


_last = _Families()


def _families(setting: Setting) -> Mapping[int, Family]:
    if not isinstance(setting.families, bytes):
        return setting.families
    if _last.token != setting.token:
        _last.token, _last.known = setting.token, pickle.loads(setting.families)
    return _last.known
