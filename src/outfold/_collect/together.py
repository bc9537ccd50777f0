"""Configurations fitted in company: on rows they share, and by families that serve several at once.

Whatever goes wrong here, the configurations concerned are fitted alone; so their results and their messages are always
those of a fit of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

from .._share import Family, as_new, is_builtin
from .alone import fit_alone, fit_predict, is_proved, outcome_of, prove, proved
from .data import borrow
from .limits import listening
from .recipes import Recipe
from .respond import Answer
from .routes import Route
from .spot import outcomes_differ, spot
from .task import Outcome, Place, Refusal, Share
from .trunk import TRUNK, Reached, at

# By number of a group: the configurations that have a member of it, in this task or called in because it is whole.
Company = Mapping[int, Sequence[Recipe]]


def company_of(place: Place, recipes: Sequence[Recipe], called_in: Sequence[Recipe]) -> Company:
    """Who can be fitted with whom; those who are called in are there for families that are fitted as a whole."""
    found: dict[int, list[Recipe]] = defaultdict(list)
    for i, recipe in enumerate((*recipes, *called_in)):
        for number in () if recipe.route is None else recipe.route.groups:
            if i < len(recipes) or place.families[number].whole:
                found[number].append(recipe)
    return found


def units(recipes: Sequence[Recipe]) -> Iterator[list[Recipe]]:
    """The recipes in their order, members of a group together."""
    for group, members in groupby(recipes, key=lambda r: None if r.route is None else r.route.group):
        if group is None:
            yield from ([recipe] for recipe in members)
        else:
            yield list(members)


def fit_unit(place: Place, unit: Sequence[Recipe], company: Company) -> list[Outcome]:
    """Fit configurations of one group, or one that has none."""
    route = unit[0].route
    if route is None:
        return [fit_alone(place, unit[0])]
    if route.group is None or route.group in place.refused:
        return [_fit_single(place, recipe, company) for recipe in unit]
    return _GroupFit(place, unit, company, route.group).outcomes()


def _fit_single(place: Place, recipe: Recipe, company: Company) -> Outcome:
    """A configuration that shares rows with others; alone where that fails."""
    route, start = recipe.route, perf_counter()
    assert route is not None
    if not route.legs or is_proved(place, ("alone", recipe.name)):
        return fit_alone(place, recipe)
    reached = None
    with listening() as heard:
        try:
            made = recipe.make(place.seed)
            reached = TRUNK.reach(place, recipe, made, company)
            model = at(made, route.path)
            answers = _fit_model(place, recipe, reached, model)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return _after_all(place, recipe, start, reached)
    own = max(perf_counter() - start - sum(seconds for _, seconds in reached.new), 0.0)
    share = Share(own, tuple(reached.new), len(route.legs), reached.steps, peak=reached.peak)
    outcome = outcome_of(place, recipe, answers, own, (*reached.warnings, *heard), share)
    return outcome._replace(n_checks=reached.n_checks, refusals=reached.refusals)


def _fit_model(place: Place, recipe: Recipe, reached: Reached, model: Any) -> tuple[Answer, ...]:
    known = place.setting.lean and is_proved(place, recipe.name)
    place.start_random()
    with (
        place.guard(recipe.name, reached.spent, shared=True),
        proved(known, known and _is_simple(recipe, reached)),
    ):
        answers = fit_predict(reached.part, place.setting.reader, model, recipe.trusted)
    if not known:
        prove(place, recipe.name)
    return answers


def _is_simple(recipe: Recipe, reached: Reached) -> bool:
    """Whether all numbers the fit will see are known to be finite."""
    return _route(recipe).simple and not reached.part.fit_params and reached.level.finite


def _after_all(place: Place, recipe: Recipe, start: float, reached: Reached | None = None) -> Outcome:
    """A fit alone, after one in company came to nothing; its time counts too."""
    lost = perf_counter() - start
    outcome = fit_alone(place, recipe)
    if outcome.values is not None and not any(leg.group is not None for leg in _route(recipe).legs):
        # It cannot be fitted in company (it writes into its rows, say): do not try again. Equal steps give the same bits
        # alone; families of transformers need not, so that theirs are tried on every hold-out alike.
        prove(place, ("alone", recipe.name))
    if reached is not None:
        outcome = outcome._replace(n_checks=reached.n_checks, refusals=reached.refusals)
    return outcome._replace(seconds=outcome.seconds + lost)


class _Fitted(NamedTuple):
    """A model of a family, or None where there is none, and its part of the time and warnings."""

    model: Any
    seconds: float
    warnings: tuple[str, ...]
    leads: bool


@dataclass
class _Said:
    """What a model of a family said of the held-out rows, and what that took."""

    answers: list[Answer] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0


class _GroupFit:
    """One fit of a family."""

    def __init__(self, place: Place, unit: Sequence[Recipe], company: Company, group: int) -> None:
        self.place, self.unit, self.company, self.group = place, unit, company, group
        self.family: Family = place.families[group]

    def outcomes(self) -> list[Outcome]:
        """What the members of the unit predict, in their order."""
        try:
            first = self.unit[0]
            self.reached = TRUNK.reach(self.place, first, first.make(self.place.seed), self.company)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return [_after_all(self.place, recipe, perf_counter()) for recipe in self.unit]
        models = self._models()
        read = self._read(models)
        outcomes = [self._outcome(i, models[i], read[i]) for i in range(len(self.unit))]
        return self._checked(outcomes)

    def _models(self) -> list[_Fitted]:
        members = sorted(self.company[self.group], key=_position) if self.family.whole else list(self.unit)
        fitted = self._try(members)
        if fitted is None and not self.family.whole and len(members) > 1:
            # One of them may be the reason; what a member predicts must not depend on its fellows.
            alone = [self._try([recipe]) for recipe in members]
            return [_Fitted(None, 0.0, (), True) if one is None else one[0] for one in alone]
        if fitted is None:
            return [_Fitted(None, 0.0, (), True) for _ in self.unit]
        mine = dict(zip((recipe.name for recipe in members), fitted, strict=True))
        share = sum(m.seconds for m in fitted) / len(self.unit)
        models = [mine[r.name]._replace(seconds=share, leads=False) for r in self.unit]
        lead = next((i for i, fitted in enumerate(models) if fitted.model is not None), 0)
        return [fitted._replace(leads=i == lead) for i, fitted in enumerate(models)]

    def _try(self, members: Sequence[Recipe]) -> list[_Fitted] | None:
        """The models of these members; None where the family cannot fit them."""
        start, place, part = perf_counter(), self.place, self.reached.part
        try:
            made = [at(recipe.make(place.seed), _route(recipe).path) for recipe in members]
            X = borrow(part.X, all(recipe.trusted for recipe in members))
            place.start_random()
            with (
                listening() as heard,
                place.guard(members[0].name, self.reached.spent, shared=True),
            ):
                models = list(as_new(self.family).fit(made, X, part.y, **part.fit_params))
        except KeyboardInterrupt:
            raise
        except BaseException:  # Unsuitable, or what each of the members says better
            return None
        if len(models) != len(members):
            return None
        seconds = (perf_counter() - start) / len(members)
        return [_Fitted(model, seconds, tuple(heard), True) for model in models]

    def _read(self, models: Sequence[_Fitted]) -> list[_Said | None]:
        """What the models say of the held-out rows; None where one has nothing to say.

        All of them of the same rows before the next ones, since members of a family may share what they compute.
        """
        place = self.place
        # Nobody knows what models of other families do to a frame: each of them gets one of its own.
        trusted = is_builtin(self.family) and all(recipe.trusted for recipe in self.unit)
        said: list[_Said | None] = [None if fitted.model is None else _Said() for fitted in models]
        for rows in self.reached.part.tests:
            X = borrow(rows, trusted)
            for i, (recipe, fitted) in enumerate(zip(self.unit, models, strict=True)):
                mine, start = said[i], perf_counter()
                if mine is None:
                    continue
                try:
                    place.start_random()
                    X = X if trusted else borrow(rows, False)
                    with listening() as heard, place.guard(recipe.name, shared=True):
                        mine.answers.append(place.setting.reader(fitted.model, X))
                    mine.warnings += heard
                    mine.seconds += perf_counter() - start
                except KeyboardInterrupt:
                    raise
                except BaseException:
                    said[i] = None
        return said

    def _outcome(self, i: int, fitted: _Fitted, said: _Said | None) -> Outcome:
        recipe, reached = self.unit[i], self.reached
        new, steps = ((), 0) if i else (tuple(reached.new), reached.steps)
        if said is None:
            return self._single(recipe, new, steps)
        own = said.seconds + fitted.seconds
        share = Share(own, new, len(_route(recipe).legs), steps, self.group, fitted.leads, reached.peak)
        warnings = (*reached.warnings, *fitted.warnings, *said.warnings)
        return outcome_of(self.place, recipe, reached.part.cut(tuple(said.answers)), own, warnings, share)

    def _single(self, recipe: Recipe, new: tuple[tuple[int, float], ...], steps: int) -> Outcome:
        outcome = _fit_single(self.place, recipe, self.company)
        if outcome.share is None:
            return outcome
        share = outcome.share
        return outcome._replace(share=share._replace(nodes=(*new, *share.nodes), steps=steps + share.steps))

    def _checked(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Fit one of them alone where it is this hold-out's turn; all of them, where the two differ."""
        reached = self.reached
        n_checks, refusals = reached.n_checks, reached.refusals
        shared = [i for i, o in enumerate(outcomes) if o.share is not None and o.share.group == self.group]
        picked = spot(self.place, self.group, len(shared)) if shared else None
        if picked is not None:
            i = shared[picked]
            text = outcomes_differ(self.family.level, self.place, outcomes[i], fit_alone(self.place, self.unit[i]))
            n_checks += 1
            if text:
                refusals = (*refusals, Refusal(self.group, self.unit[i].name, text))
                self.place.refused.add(self.group)
                outcomes = [_fit_single(self.place, recipe, self.company) for recipe in self.unit]
        first = outcomes[0]
        first = first._replace(n_checks=first.n_checks + n_checks, refusals=(*first.refusals, *refusals))
        return [first, *outcomes[1:]]


def _route(recipe: Recipe) -> Route:
    assert recipe.route is not None
    return recipe.route


def _position(recipe: Recipe) -> int:
    return _route(recipe).position
