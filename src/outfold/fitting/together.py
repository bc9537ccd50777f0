"""Configurations fitted in company: on rows they share, and by families that serve several at once.

Whatever goes wrong here, the configurations concerned are fitted alone; so their results and their messages are always
those of a fit of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

from .alone import fit_alone, fit_predict, is_proved, outcome_of, prove, proved
from .data import borrow
from .limits import listening
from .recipes import Recipe
from .respond import Answer
from .routes import Route
from .sharing import Family, as_new, is_builtin
from .spot import outcomes_differ, spot
from .task import Outcome, Place, Refusal, Share
from .trunk import TRUNK, Reached, Said

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
            reached = TRUNK.reach(place, recipe, company)
            known = TRUNK.recall(recipe)
            answers = known.answers if known else _fit_model(place, recipe, reached)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return _after_all(place, recipe, start, reached)
    own = max(perf_counter() - start - sum(seconds for _, seconds in reached.new), 0.0)
    said = known or Said(answers, tuple(heard))
    if known is None:
        TRUNK.remember(recipe, said)
    new, n_legs = tuple(reached.new), len(route.legs)
    share = Share(own, new, n_legs, reached.steps, peak=reached.peak, copied=known is not None)
    outcome = _outcome_of(place, recipe, reached, said, share)
    return outcome._replace(n_checks=reached.n_checks, refusals=reached.refusals)


def _outcome_of(place: Place, recipe: Recipe, reached: Reached, said: Said, share: Share) -> Outcome:
    return outcome_of(place, recipe, said.answers, share.own, (*reached.warnings, *said.warnings), share)


def _fit_model(place: Place, recipe: Recipe, reached: Reached) -> tuple[Answer, ...]:
    model = recipe.make_model(place.seed)
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


class _Heard(NamedTuple):
    """What a model of a family said of the held-out rows, and the seconds that took."""

    said: Said
    seconds: float


class _GroupFit:
    """One fit of a family."""

    def __init__(self, place: Place, unit: Sequence[Recipe], company: Company, group: int) -> None:
        self.place, self.unit, self.company, self.group = place, unit, company, group
        self.family: Family = place.families[group]

    def outcomes(self) -> list[Outcome]:
        """What the members of the unit predict, in their order."""
        members, start = self.unit, perf_counter()
        try:
            self.reached = TRUNK.reach(self.place, members[0], self.company)
            known = [TRUNK.recall(recipe) for recipe in members]
        except KeyboardInterrupt:
            raise
        except BaseException:
            return [_after_all(self.place, recipe, start) for recipe in members]
        self.unit = [recipe for recipe, said in zip(members, known, strict=True) if said is None]
        fitted = iter(self._fitted() if self.unit else [])
        return self._counted(
            [self._copied(r, said) if said else next(fitted) for r, said in zip(members, known, strict=True)]
        )

    def _fitted(self) -> list[Outcome]:
        """What the family gives for those that no equal model on equal rows speaks for."""
        models = self._models()
        heard = self._read(models)
        outcomes = [self._outcome(i, models[i], heard[i]) for i in range(len(self.unit))]
        return self._checked(outcomes)

    def _copied(self, recipe: Recipe, said: Said) -> Outcome:
        share = self._share(recipe, 0.0, leads=False, copied=True)
        return _outcome_of(self.place, recipe, self.reached, said, share)

    def _share(self, recipe: Recipe, own: float, leads: bool, copied: bool = False) -> Share:
        """What is fitted on the way is counted later, with the first of the unit."""
        return Share(own, (), len(_route(recipe).legs), 0, self.group, leads, self.reached.peak, copied)

    def _counted(self, outcomes: list[Outcome]) -> list[Outcome]:
        """What was done on the way, counted with the first."""
        reached, first = self.reached, outcomes[0]
        if first.share is not None:
            share = first.share
            nodes, steps = (*reached.new, *share.nodes), reached.steps + share.steps
            first = first._replace(share=share._replace(nodes=nodes, steps=steps))
        n_checks, refusals = first.n_checks + reached.n_checks, (*reached.refusals, *first.refusals)
        return [first._replace(n_checks=n_checks, refusals=refusals), *outcomes[1:]]

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
            made = [recipe.make_model(place.seed) for recipe in members]
            X = borrow(part.X, all(recipe.trusted for recipe in members))
            place.start_random()
            with (
                listening() as heard,
                place.guard(members[0].name, self.reached.spent, shared=True),
                self._proved(members),
            ):
                models = list(as_new(self.family).fit(made, X, part.y, **part.fit_params))
        except KeyboardInterrupt:
            raise
        except BaseException:  # Unsuitable, or what each of the members says better
            return None
        if len(models) != len(members):
            return None
        prove(place, ("group", self.group))
        seconds = (perf_counter() - start) / len(members)
        return [_Fitted(model, seconds, (*heard, *getattr(model, "warned", ())), True) for model in models]

    def _proved(self, members: Sequence[Recipe]) -> AbstractContextManager[None]:
        """What the family fits inside need not be checked again where it is ours and was fitted before."""
        place = self.place
        known = place.setting.lean and is_builtin(self.family) and is_proved(place, ("group", self.group))
        return proved(known, known and all(_is_simple(recipe, self.reached) for recipe in members))

    def _read(self, models: Sequence[_Fitted]) -> list[_Heard | None]:
        """What the models say of the held-out rows; None where one has nothing to say."""
        there = [i for i, fitted in enumerate(models) if fitted.model is not None]
        found = [models[i].model for i in there]
        together = self._read_together(found) if is_builtin(self.family) and there else None
        heard: list[_Heard | None] = [None] * len(models)
        for i, mine in zip(there, together or self._read_each([self.unit[i] for i in there], found), strict=True):
            heard[i] = mine
        return heard

    def _read_together(self, models: Sequence[Any]) -> list[_Heard] | None:
        """What they all say; None where one of them has something against it.

        Only of families that are known: they draw no random numbers to predict, and do not write into a frame.
        """
        place, part, start = self.place, self.reached.part, perf_counter()
        try:
            with listening() as heard, place.guard(self.unit[0].name, shared=True):
                answers = [place.setting.reader.together(models, borrow(rows, True)) for rows in part.tests]
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        seconds = (perf_counter() - start) / len(models)
        return [_Heard(Said(part.cut(mine), tuple(heard)), seconds) for mine in zip(*answers, strict=True)]

    def _read_each(self, recipes: Sequence[Recipe], models: Sequence[Any]) -> list[_Heard | None]:
        """What each says by itself; all of the same rows before the next ones, since they may share what they compute."""
        place, part = self.place, self.reached.part
        heard: list[_Heard | None] = [_Heard(Said((), ()), 0.0) for _ in models]
        for rows in part.tests:
            for i, (recipe, model) in enumerate(zip(recipes, models, strict=True)):
                before, start = heard[i], perf_counter()
                if before is None:
                    continue
                try:
                    place.start_random()
                    with listening() as names, place.guard(recipe.name, shared=True):
                        answer = place.setting.reader(model, borrow(rows, False))
                except KeyboardInterrupt:
                    raise
                except BaseException:
                    heard[i] = None
                    continue
                said = Said((*before.said.answers, answer), (*before.said.warnings, *names))
                heard[i] = _Heard(said, before.seconds + perf_counter() - start)
        return [h and _Heard(Said(part.cut(h.said.answers), h.said.warnings), h.seconds) for h in heard]

    def _outcome(self, i: int, fitted: _Fitted, heard: _Heard | None) -> Outcome:
        recipe = self.unit[i]
        if heard is None:
            return _fit_single(self.place, recipe, self.company)
        share = self._share(recipe, heard.seconds + fitted.seconds, fitted.leads)
        said = Said(heard.said.answers, (*fitted.warnings, *heard.said.warnings))
        TRUNK.remember(recipe, said)
        return _outcome_of(self.place, recipe, self.reached, said, share)

    def _checked(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Fit one of them alone where it is this hold-out's turn; all of them, where the two differ."""
        shared = [i for i, o in enumerate(outcomes) if o.share is not None and o.share.group == self.group]
        picked = spot(self.place, self.group, len(shared)) if shared else None
        if picked is None:
            return outcomes
        i = shared[picked]
        refusals: tuple[Refusal, ...] = ()
        text = outcomes_differ(self.family.level, self.place, outcomes[i], fit_alone(self.place, self.unit[i]))
        if text:
            refusals = (Refusal(self.group, self.unit[i].name, text),)
            self.place.refused.add(self.group)
            TRUNK.forget_said()
            outcomes = [_fit_single(self.place, recipe, self.company) for recipe in self.unit]
        first = outcomes[0]
        first = first._replace(n_checks=first.n_checks + 1, refusals=(*first.refusals, *refusals))
        return [first, *outcomes[1:]]


def _route(recipe: Recipe) -> Route:
    assert recipe.route is not None
    return recipe.route


def _position(recipe: Recipe) -> int:
    return _route(recipe).position
