"""Names of the configurations that a search makes: ``SVC(C=1, gamma=0.1)``, one line, each of them different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..fitting.configs import brief, changed_params, exact, short_names
from ..fitting.estimators import is_estimator


class _Wording(NamedTuple):
    """How a configuration is written in its name."""

    form: Callable[[Any], str]  # how a value is written
    all_changed: bool  # also what says nothing about the model, such as its seed


# From short to long: the first one under which all names differ is taken.
WORDINGS = (_Wording(brief, False), _Wording(brief, True), _Wording(exact, True))


def names_of(models: Sequence[Any], params: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each model of a search by the parameters that the search gave it; no two are equal."""
    for wording in WORDINGS:
        told = [_told(model, part, wording) for model, part in zip(models, params, strict=True)]
        short = short_names({p for _, values in told for p in values})
        names = [_written(kind, values, short, wording) for kind, values in told]
        if len(set(names)) == len(names):
            return names
    return list(_numbered(names))


def name_of(estimator: Any, params: Mapping[str, Any], wording: _Wording = WORDINGS[0]) -> str:
    """The name of one model among no others; `estimator` may be the model or what it is made from."""
    kind, values = _told(estimator, params, wording)
    return _written(kind, values, short_names(values), wording)


def _numbered(names: Sequence[str]) -> Iterator[str]:
    # The second of two equal names gets a number: a grid may hold a configuration twice, as in GridSearchCV.
    seen = Counter[str]()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} #{seen[name]}"


def _told(estimator: Any, params: Mapping[str, Any], wording: _Wording) -> tuple[str, dict[str, Any]]:
    """The class that gives the name, and the parameters to list. A pipeline is called by its last step."""
    path, last = _last_step(estimator)
    swapped = params.get(path)
    if not is_estimator(swapped):
        return type(last).__name__, dict(params)
    # The class of the new step is the name already, so that its parameters take the place of the step.
    own = {f"{path}__{p}": value for p, value in changed_params(swapped, wording.all_changed).items()}
    listed: dict[str, Any] = {}
    for name, value in params.items():
        # What the search sets is listed at its own place, with the value that it sets.
        listed |= {p: v for p, v in own.items() if p not in params} if name == path else {name: value}
    return type(swapped).__name__, listed


def _last_step(estimator: Any) -> tuple[str, Any]:
    """The last step of a pipeline, also of one inside another, and the parameter that holds it."""
    path: list[str] = []
    while hasattr(estimator, "steps") and hasattr(estimator.steps[-1][1], "fit"):
        name, estimator = estimator.steps[-1][:2]
        path.append(name)
    return "__".join(path), estimator


def _written(kind: str, params: Mapping[str, Any], short: Mapping[str, str], wording: _Wording) -> str:
    inside = ", ".join(f"{short[p]}={wording.form(value)}" for p, value in params.items())
    return f"{kind}({inside})" if inside else kind
