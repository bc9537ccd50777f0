"""Inspect: logs as .json or .eval, one for each model or prompt."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import FileError, InputError, invalid
from ._items import (
    TEXTS,
    Item,
    Missing,
    Paths,
    as_score,
    distinct,
    files_of,
    from_items,
    inside,
    one_of,
    read_json,
    reading,
)

# What Inspect's own metrics take for a letter: correct, incorrect, partial, no answer.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ZSTD = 93  # the compression of newer .eval files, which zipfile of Python before 3.14 cannot read
_LOCAL_HEADER = 30

_KIND = "a log of Inspect"
_document = fill_with(TEXTS)


@_document
def read_inspect(
    paths: Paths | Mapping[str, Paths],
    *,
    scorer: str | None = None,
    group: str | None = None,
    missing: Missing = "refuse",
) -> Predictions:
    """Scores of single samples from the logs of Inspect, with epochs as repeats.

    Correct is 1, partially correct 0.5, incorrect and no answer 0, as in Inspect's accuracy; numbers stay as they are.

    Parameters
    ----------
    paths : path, sequence of paths, or dict of str to path
        Logs (.json or .eval) or folders of logs, one log for each model or prompt. A log has the name of its model, with the
        arguments of the task where several logs are of one model. A dict names the logs itself.
    scorer : str or None
        The scorer; None if there is only one.
    {group}
        It is a key of the metadata of a sample.
    {missing}
    Returns: {predictions}

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import outfold as of
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for model, letters in {"small": "CII", "large": "CCI"}.items():
    ...     samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": v}}} for i, v in enumerate(letters)]
    ...     log = {"version": 2, "status": "success", "eval": {"model": model}, "samples": samples}
    ...     _ = (folder / f"{model}.json").write_text(json.dumps(log))
    >>> of.adapters.read_inspect(folder).scores("mean")[:, 0, 0]
    array([0.66666667, 0.33333333])
    """
    with reading(paths, "logs of Inspect"):
        by_name = paths if isinstance(paths, Mapping) else {"": paths}
        files = [(name, path) for name, given in by_name.items() for path in _logs(given)]
        logs = [(path, _read(path)) for _, path in files]
        if isinstance(paths, Mapping):
            names = distinct([name for name, _ in files], [path.stem for _, path in files])
        else:
            names = _names(logs)
        scorers = sorted({name for _, log in logs for sample in log["samples"] for name in sample.get("scores") or ()})
        chosen = one_of(scorer, scorers, "scorer", "scorers")
        return from_items(_items(names, logs, chosen, group), "Inspect", missing)


def _logs(paths: Paths) -> list[Path]:
    found = files_of(paths, "*", "logs of Inspect")
    return [path for path in found if path.suffix in (".json", ".eval")]


def _names(logs: list[tuple[Path, dict[str, Any]]]) -> list[str]:
    """The model of each log, with the arguments of its task or the name of its file where that tells logs apart."""
    facts = [log["eval"] for _, log in logs]
    args = [", ".join(f"{k}={v}" for k, v in (fact.get("task_args") or {}).items()) for fact in facts]
    return distinct([str(fact.get("model", "model")) for fact in facts], args, [path.stem for path, _ in logs])


def _items(names: list[str], logs: list[tuple[Path, dict[str, Any]]], scorer: str, group: str | None) -> Iterator[Item]:
    for name, (path, log) in zip(names, logs, strict=True):
        with reading(path, _KIND):
            for sample in log["samples"]:
                score = (sample.get("scores") or {}).get(scorer)
                if score is not None:  # else it failed, or was not scored
                    yield _item(name, sample, score["value"], scorer, group)


def _item(name: str, sample: Mapping[str, Any], value: Any, scorer: str, group: str | None) -> Item:
    cluster = None if group is None else inside(sample.get("metadata"), group)
    if group is not None and cluster is None:
        raise invalid(
            "group", "must be a key of the metadata of every sample", f"sample {sample['id']} has no {group!r}"
        )
    number = _LETTERS[value] if value in tuple(_LETTERS) else as_score(value, f"the value of {scorer!r}")
    return Item(name, str(sample["id"]), number, int(sample.get("epoch", 1)), cluster)


def _read(path: Path) -> dict[str, Any]:
    log = _read_zip(path) if path.suffix == ".eval" else read_json(path, _KIND)
    if not isinstance(log, dict) or "eval" not in log:
        raise invalid(path.name, "must be a log of Inspect", "it has no part 'eval'")
    if not log.get("samples"):
        raise InputError(
            f"{path.name} has no samples", remedy="Log them: Inspect leaves them out with `--no-log-samples`."
        )
    return log


def _read_zip(path: Path) -> dict[str, Any]:
    with reading(path, _KIND), zipfile.ZipFile(path) as archive:
        log: dict[str, Any] = json.loads(_member(path, archive, archive.getinfo("header.json")))
        samples = [info for info in archive.infolist() if info.filename.startswith("samples/")]
        log["samples"] = [json.loads(_member(path, archive, info)) for info in samples]
        return log


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != _ZSTD:
        return archive.read(info)
    try:
        import pyarrow
    except ImportError:
        remedy = "Run: pip install pyarrow; or convert the log: inspect log convert --to json."
        problem = f"reading {path.name} needs pyarrow, because it is compressed with zstd."
        raise FileError(problem, remedy=remedy, page="extras") from None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        file.seek(info.header_offset + _LOCAL_HEADER + lengths)
        packed = file.read(min(info.compress_size, path.stat().st_size))
    # By parts: a buffer of the size that is named is never made, since a damaged archive may name any size.
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        unpacked: bytes = stream.read()
    if len(unpacked) != info.file_size:
        raise zipfile.BadZipFile(f"{info.filename} has {len(unpacked):,} bytes, not {info.file_size:,}")
    return unpacked
