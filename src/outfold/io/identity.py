"""Whether a store belongs to the collection that opens it: what must be the same, and what to say where it is not."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from .. import formatting
from ..data.predictions import AUTO, Predictions
from ..data.splitting import fingerprint
from ..data.target import Target
from ..exceptions import StoreMismatchError

_WORDS = {
    "data": "data (X)",
    "labels": "labels (y)",
    "plan": "plan or splits",
    "groups": "groups",
    "samples": "sample names",
    "fit_params": "fit parameters",
    "drop": "dropping",
    "scorers": "scorers",
}
# What splits are drawn from: where one of these differs, other splits need no word of their own.
_DRAWN_FROM = ("labels", "groups", "seed")
# What may be given or not.
_OPTIONAL = ("groups", "samples", "fit_params", "drop", "scorers")
_LONGEST = 60


def refuse_mismatch(name: str, known: Predictions, header: Predictions, identity: Mapping[str, str]) -> None:
    """Raise `StoreMismatchError` unless the predictions in the file `name` come from a collection like this one."""
    before = known.provenance.get("identity")
    if before is None:
        problem = f"{name} does not say which call of `collect` it comes from, so it cannot be continued"
        raise StoreMismatchError(problem, remedy="Use another `store`.")
    before, now = {"response": known.response, **before}, {"response": header.response, **identity}
    differ = _identity_differences(known, header, before, now)
    old, new = known.provenance.get("specs", {}), header.provenance.get("specs", {})
    changed = [config for config in new if config in old and old[config] != new[config]]
    if changed:
        more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        how = _spec_difference(old[changed[0]], new[changed[0]])
        differ.append(f"another configuration called {changed[0]!r}{how}{more}")
    auto = now.get("repeats") == AUTO
    if not differ and not _same_splits(known, header, auto):
        differ = ["other labels or splits"]
    # Other labels or splits of the whole make every block another: say it once.
    if not differ:
        differ = [
            f"other splits of the block {key!r}"
            for key, block in header.blocks.items()
            if key in known.blocks and not _same_splits(known.blocks[key], block, auto)
        ]
    if differ:
        remedy = "To go on, give what it was made with; else use another `store`, or delete it to start anew."
        raise StoreMismatchError(f"{name} was made with {', '.join(differ)}", remedy=remedy)


def _same_splits(known: Predictions, header: Predictions, auto: bool) -> bool:
    """Whether labels and splits are the same; where repeats are added until it is enough, those that both have."""
    if not auto:
        return known.fingerprint == header.fingerprint
    n = min(known.n_repeats, header.n_repeats)
    one, other = (fingerprint(oof.target, oof.folds[:, :n]) for oof in (known, header))
    return one == other


def _identity_differences(
    known: Predictions, header: Predictions, before: Mapping[str, str], now: Mapping[str, str]
) -> list[str]:
    keys = {key: None for key in (*now, *before) if before.get(key) != now.get(key)}
    out = []
    if known.n_samples != header.n_samples:
        out.append(f"{formatting.count(known.n_samples, 'sample')} (now {header.n_samples:,})")
        for key in ("data", "plan", *_DRAWN_FROM[:2], "samples"):
            keys.pop(key, None)
        return out + [_difference(key, before.get(key), now.get(key)) for key in keys]
    meaning = _target_difference(known.target, header.target)
    out += meaning
    for key in keys:
        if key == "labels":
            out.append(_label_difference(known.target, header.target))
        elif key == "plan":
            drawn = bool(meaning) or any(other in keys for other in _DRAWN_FROM)
            out += _plan_difference(before.get(key), now.get(key), drawn, "repeats" in keys)
        else:
            out.append(_difference(key, before.get(key), now.get(key)))
    return out


def _difference(key: str, before: str | None, now: str | None) -> str:
    word = _WORDS.get(key, key.replace("_", " "))
    if key == "repeats":
        auto, fixed = f"repeats={AUTO!r}", "a fixed number of repeats"
        return f"{auto} (now {fixed})" if before == AUTO else f"{fixed} (now {auto})"
    if key == "seeds":
        return f"seeds={before or 1} (now seeds={now or 1})"
    if key == "share":
        return f"share={before or 'exact'!r} (now {now or 'exact'!r})"
    if key in _OPTIONAL and _is_none(before) != _is_none(now):
        return f"no {word} (now given)" if _is_none(before) else f"{word} (now none)"
    # Hashes and long texts tell a person nothing; a seed, a response or a rule does.
    if before is None or now is None or max(len(before), len(now)) > _LONGEST:
        return f"other {word}"
    return f"other {word}" if key in _WORDS and key != "drop" else f"{word} {before} (now {now})"


def _is_none(value: str | None) -> bool:
    return value in (None, "", "{}")


def _target_difference(known: Target, header: Target) -> list[str]:
    """What the labels are taken for, where that is another."""
    if known.task != header.task:
        return [f"the task {known.task} (now {header.task})"]
    if known.classes is None or header.classes is None or len(known.classes) != len(header.classes):
        return []
    one, other = ([str(c) for c in target.classes] for target in (known, header))  # type: ignore[union-attr]
    return [f"the positive class {one[-1]} (now {other[-1]})"] if one != other and sorted(one) == sorted(other) else []


def _label_difference(known: Target, header: Target) -> str:
    one, other = (np.asarray(target.labels) for target in (known, header))
    differs = np.array([a != b for a, b in zip(one.tolist(), other.tolist(), strict=True)], dtype=bool)
    if not differs.any():
        return "labels (y) of another type"
    return f"other labels (y) in {int(differs.sum()):,} of {formatting.count(len(differs), 'sample')}"


def _plan_difference(before: str | None, now: str | None, drawn: bool, repeats: bool) -> list[str]:
    """Which numbers of the plan differ; `drawn` where other splits of the same plan are no wonder.

    The number of `repeats` is not compared where it is open on one side only.
    """
    one, other = (_plan_words(text) for text in (before, now))
    if one is None or other is None:
        return ["other plan or splits"]
    keys = [key for key in (*one, *(k for k in other if k not in one)) if one.get(key) != other.get(key)]
    words = [f"{key} {one.get(key)} (now {other.get(key)})" for key in keys if not (repeats and key == "repeats")]
    if words:
        return ["another plan: " + ", ".join(words)]
    return [] if drawn or keys else ["other splits of the same plan"]


def _plan_words(text: str | None) -> dict[str, str] | None:
    """``kind kfold, folds 5; 1f2e`` as a dict, without the fingerprint; None where it is another text."""
    words = [part.split(" ", 1) for part in (text or "").partition(";")[0].split(", ")]
    return dict(words) if all(len(pair) == 2 for pair in words) else None


def _spec_difference(old: str, new: str) -> str:
    """The parameters in which two texts of an estimator differ, where they are the same otherwise."""
    one, other = (re.findall(r"[^,()\[\]{}]+", text) for text in (old, new))
    if len(one) != len(other):
        return ""
    pairs = [(a.strip(), b.strip()) for a, b in zip(one, other, strict=True) if a != b]
    shown = []
    for a, b in pairs[:3]:
        name, _, value = b.partition("=")
        if max(len(a), len(b)) > _LONGEST:
            return ""
        shown.append(f"{a} (now {value if value and a.startswith(f'{name}=') else b})")
    return f" with {', '.join(shown)}" if shown else ""
