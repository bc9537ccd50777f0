"""Which types a model file may hold.

skops loads only types that are named. Public estimators of scikit-learn, arrays and plain values are safe for it; all others must
be in the list that ``model.json`` keeps, and must also pass the rule here. The list alone protects nobody: who forges a model
file writes its list too.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import FileError

# Classes of these packages hold the state of fitted models. Functions of theirs are never trusted: some run code.
PACKAGES = ("sklearn", "lightgbm", "xgboost", "sksurv", "outfold.learners")
# Further types that fitted models hold.
OTHERS = frozenset(
    {"numpy.dtype", "collections.OrderedDict", "collections.defaultdict", "outfold.fitting.seed_average.SeedAverage"}
)
# Modules that are no part of a model, and that do something when they are imported.
_NOT_MODELS = {"tests", "test", "conftest", "__main__", "setup"}
# A file may unpack to this many bytes, or to this many times its size: models pack some ten times, zeros a thousand times.
_ALWAYS_READ, _MOST_PACKED = 256 * 2**20, 200


def skops_io() -> Any:
    """The module ``skops.io``; an error says how to install it."""
    try:
        import skops.io
    except ImportError:
        problem = "models are saved and loaded with skops, which is missing"
        raise FileError(problem, remedy="pip install 'outfold[model]'", page="extras") from None
    return skops.io


def trusted_types(path: Path, listed: Iterable[str], trust: Iterable[str] = ()) -> list[str]:
    """The types to name to skops for this file; an error names those that may not be loaded."""
    found = untrusted_types(path)
    listed, trust = set(listed), set(trust)
    refused = [name for name in found if name not in trust and not (name in listed and is_part_of_models(name))]
    if refused:
        shown = ", ".join(refused[:5]) + (f" and {len(refused) - 5} more" if len(refused) > 5 else "")
        problem = (
            f"{path} holds types that are not trusted: {shown}. Loading them could run code of whoever made the file"
        )
        names = ", ".join(map(repr, refused))
        remedy = f"If you know who made it, and what these are, name them: `load_model(..., trust=[{names}])`."
        raise FileError(problem, remedy=remedy)
    return found


def untrusted_types(path: Path) -> list[str]:
    """The types in a file that skops does not trust by itself."""
    io = skops_io()
    if not path.is_file():
        raise FileError(f"there is no file {path}.")
    try:
        _check_sizes(path)
        return list(io.get_untrusted_types(file=path))
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # skops and zipfile raise many kinds for a damaged file
        raise FileError(f"{path} is damaged, or no file of skops ({type(error).__name__}: {error}).") from error


def _check_sizes(path: Path) -> None:
    """Refuse a file that unpacks to far more than a model does, and arrays that say they are larger than their bytes."""
    with zipfile.ZipFile(path) as parts:
        unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > max(_ALWAYS_READ, _MOST_PACKED * path.stat().st_size):
            raise ValueError(f"it would unpack to {unpacked:,} bytes")
        for part in parts.infolist():
            if part.filename.endswith(".npy"):
                with parts.open(part) as file:
                    version = np.lib.format.read_magic(file)
                    read = (
                        np.lib.format.read_array_header_1_0
                        if version == (1, 0)
                        else np.lib.format.read_array_header_2_0
                    )
                    shape, _, dtype = read(file)
                if math.prod(shape) * dtype.itemsize > part.file_size:
                    raise ValueError(f"the array {part.filename} is cut short")


def is_part_of_models(name: str) -> bool:
    """Whether this is a class by which fitted models of a known package keep their state.

    >>> is_part_of_models("sklearn.tree._tree.Tree"), is_part_of_models("posix.system")
    (True, False)
    """
    if name in OTHERS:
        return True
    module, _, attribute = name.rpartition(".")
    if not _is_inside(module):
        return False
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    # A package's module may hold classes of other packages that it has imported.
    return isinstance(found, type) and _is_inside(found.__module__)


def _is_inside(module: str) -> bool:
    """Whether this module belongs to a package of models, in a part that models are made of."""
    inside = any(module == package or module.startswith(f"{package}.") for package in PACKAGES)
    return inside and not _NOT_MODELS & set(module.split("."))
