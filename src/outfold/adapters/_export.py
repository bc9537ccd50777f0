"""One long table of everything that `Predictions` hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..arguments import check_choice
from ..data.predictions import Predictions
from ..docstrings import fill_common
from ..exceptions import FileError, InputError, invalid
from ..formatting import json_ready

_BACKENDS = ("pandas", "polars", "pyarrow")
_ENDINGS = (".parquet", ".csv")


@fill_common
def to_table(oof: Predictions, backend: str | None = None) -> Any:
    """A long table with the predictions of all blocks, and the parameters of each configuration.

    Parameters: {oof}
    backend : str or None
        ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the first of the former two that is installed.

    Returns
    -------
    DataFrame or Table
        The columns of `Predictions.to_frame`, with ``block`` (``oof``, ``inner``, ...) before them and ``params``, a json text,
        behind them.

    Examples: {outfold}
    >>> import pandas
    >>> oof = of.from_arrays([0, 1], [[0.1, 0.4], [0.8, 0.7]], configs=["a", "b"], params=[{"C": 1}, {"C": 2}])
    >>> of.adapters.to_table(oof, "pandas")[["block", "config", "params"]].iloc[3].tolist()
    ['oof', 'b', '{"C": 2}']
    """
    import narwhals as nw

    if backend is not None:
        check_choice(backend, _BACKENDS, "backend")
    if oof.response == "none":
        raise InputError("these are scores of folds, without predictions; `oof.scores()` has them.")
    parts = {"oof": oof, **oof.blocks}
    tables = [
        nw.from_native(part.to_frame(backend), eager_only=True).with_columns(nw.lit(name).alias("block"))
        for name, part in parts.items()
    ]
    whole: nw.DataFrame[Any] = nw.concat(tables, how="diagonal")
    texts = {name: json.dumps(json_ready(dict(params))) for name, params in zip(oof.configs, oof.params, strict=True)}
    params = nw.col("config").replace_strict(list(texts), list(texts.values()), return_dtype=nw.String)
    rest = [name for name in whole.columns if name != "block"]
    return whole.with_columns(params.alias("params")).select("block", *rest, "params").to_native()


@fill_common
def write_table(oof: Predictions, path: str | Path) -> Path:
    """Write the table of `to_table` to one .parquet or .csv file.

    Parameters: {oof}
    path : path
        The file.

    Returns
    -------
    Path
        The file that was written.

    Examples: {outfold}
    >>> import pandas, pathlib, tempfile
    >>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])
    >>> path = of.adapters.write_table(oof, pathlib.Path(tempfile.mkdtemp()) / "all.csv")
    >>> pandas.read_csv(path).shape
    (4, 8)
    """
    import narwhals as nw

    path = Path(path)
    if path.suffix not in _ENDINGS:
        raise invalid("path", f"must end in {' or '.join(_ENDINGS)}", f"got {path.name!r}")
    if not path.parent.is_dir():
        raise FileError(f"the folder {path.parent} does not exist", remedy="Make it, or write to another one.")
    table = nw.from_native(to_table(oof), eager_only=True)
    try:
        if path.suffix == ".csv":
            table.write_csv(path)
        else:
            table.write_parquet(path)
    except ImportError:
        remedy = "Run: pip install 'outfold[frames]'."
        raise FileError("writing .parquet needs pyarrow", remedy=remedy, page="extras") from None
    except OSError as error:
        raise FileError(f"{path} could not be written ({error.strerror or error}).") from error
    return path
