"""Where the snapshot is kept, the environment it was made in, and how two answers are compared."""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import math
import platform
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of

DATA = Path(__file__).parent / "data"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")


def _path(name: str, ending: str) -> Path:
    return DATA / f"{name.replace(' ', '_').replace('-', '_')}.{ending}"


def store_predictions(name: str, oof: of.Predictions) -> None:
    """An .oof file, compressed, for it is mostly empty."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.oof"
        oof.save(file)
        _path(name, "oof.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def stored_predictions(name: str) -> of.Predictions:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.oof"
        file.write_bytes(gzip.decompress(_path(name, "oof.gz").read_bytes()))
        return of.load(file)


def store_answers(name: str, answers: dict[str, Any]) -> None:
    lines = (f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in answers.items())
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    _path(name, "json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def stored_answers(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress(_path(name, "json.gz").read_bytes()))


# -- the environment ----------------------------------------------------------------------------------------


def environment() -> dict[str, Any]:
    """What the last bits of a number depend on."""
    return {
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": platform.machine(),
        "processor": _processor(),
        "features": sorted(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> list[str]:
    """Maker, family and model, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return [platform.processor()]
    wanted = ("vendor_id", "cpu family", "model", "model name")
    facts = dict.fromkeys(wanted, "")
    for line in info.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in facts and not facts[key.strip()]:
            facts[key.strip()] = value.strip()
    return list(facts.values())


def _environments() -> dict[str, Any]:
    path = DATA / "environment.json"
    return json.loads(path.read_text()) if path.exists() else {}


def store_environment(*parts: str) -> None:
    """The environment in which these parts, collections or answers, were made."""
    (DATA / "environment.json").write_text(
        json.dumps(_environments() | dict.fromkeys(parts, environment()), indent=1) + "\n"
    )


def same_environment(part: str) -> bool:
    """Whether collections, or answers, were made in an environment like this."""
    return environment() == _environments()[part]


# -- comparing ----------------------------------------------------------------------------------------------


def differences(now: Any, then: Any, *, exact: bool, rel: float = 1e-12, where: str = "") -> list[str]:
    """Where two answers differ; the empty list where they are equal.

    With `exact` every bit counts. Else numbers may differ by `rel`, and hashes are not compared.
    """
    if isinstance(then, dict) and isinstance(now, dict):
        found = [f"{where}: {key} is {'new' if key in now else 'gone'}" for key in sorted(set(now) ^ set(then))]
        for key in then:
            if key in now and (exact or key != "sha256"):
                found += differences(now[key], then[key], exact=exact, rel=rel, where=f"{where} / {key}")
        return found
    if isinstance(then, list) and isinstance(now, list) and len(now) == len(then):
        pairs = enumerate(zip(now, then, strict=True))
        return [line for i, (x, y) in pairs for line in differences(x, y, exact=exact, rel=rel, where=f"{where} [{i}]")]
    if now == then:
        return []
    numbers = _number(now), _number(then)
    if not exact and None not in numbers and math.isclose(*numbers, rel_tol=rel, abs_tol=rel):
        return []
    shown = [value if number is None else number for value, number in zip((now, then), numbers, strict=True)]
    return [f"{where}: {shown[0]!r} now, {shown[1]!r} then"]


def _number(value: Any) -> float | None:
    """A float as it is stored, by `float.hex`."""
    if not isinstance(value, str) or not (value.lstrip("-").startswith("0x") or value in ("nan", "inf", "-inf")):
        return None
    return float.fromhex(value)
