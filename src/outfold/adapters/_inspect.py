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
from ._items import TEXTS, Item, Missing, Paths, as_score, distinct, files_of, from_items, inside, one_of, read_json

# What Inspect's own metrics take for a letter: correct, incorrect, partial, no answer.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ZSTD = 93  # the compression of newer .eval files, which zipfile of Python before 3.14 cannot read
_LOCAL_HEADER = 30

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
    if isinstance(paths, Mapping):
        files = [(name, path) for name, given in paths.items() for path in _logs(given)]
        logs = [_read(path) for _, path in files]
        names = distinct([name for name, _ in files], [path.stem for _, path in files])
    else:
        found = _logs(paths)
        logs = [_read(path) for path in found]
        facts = [log.get("eval", {}) for log in logs]
        args = [", ".join(f"{k}={v}" for k, v in (fact.get("task_args") or {}).items()) for fact in facts]
        names = distinct([str(fact.get("model", "model")) for fact in facts], args, [path.stem for path in found])
    scorers = sorted(
        {name for log in logs for sample in log.get("samples") or () for name in sample.get("scores") or ()}
    )
    chosen = one_of(scorer, scorers, "scorer", "scorers")
    return from_items(_items(names, logs, chosen, group), "Inspect", missing)


def _logs(paths: Paths) -> list[Path]:
    found = files_of(paths, "*", "logs of Inspect")
    return [path for path in found if path.suffix in (".json", ".eval")]


def _items(names: list[str], logs: list[dict[str, Any]], scorer: str, group: str | None) -> Iterator[Item]:
    for name, log in zip(names, logs, strict=True):
        for sample in log.get("samples") or ():
            score = (sample.get("scores") or {}).get(scorer)
            if score is None:  # it failed, or was not scored
                continue
            cluster = None if group is None else inside(sample.get("metadata"), group)
            if group is not None and cluster is None:
                raise invalid(
                    "group", "must be a key of the metadata of every sample", f"sample {sample['id']} has no {group!r}"
                )
            value = score["value"]
            number = _LETTERS[value] if value in tuple(_LETTERS) else as_score(value, f"the value of {scorer!r}")
            yield Item(name, str(sample["id"]), number, int(sample.get("epoch", 1)), cluster)


def _read(path: Path) -> dict[str, Any]:
    log = _read_zip(path) if path.suffix == ".eval" else read_json(path, "a log of Inspect")
    if not isinstance(log, dict) or "eval" not in log:
        raise invalid(path.name, "must be a log of Inspect", "it has no part 'eval'")
    if not log.get("samples"):
        raise InputError(
            f"{path.name} has no samples", remedy="Log them: Inspect leaves them out with `--no-log-samples`."
        )
    return log


def _read_zip(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            log: dict[str, Any] = json.loads(_member(path, archive, archive.getinfo("header.json")))
            samples = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            log["samples"] = [json.loads(_member(path, archive, info)) for info in samples]
    except (zipfile.BadZipFile, KeyError) as error:
        raise FileError(f"{path.name} could not be read as a log of Inspect ({error}).") from None
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
        packed = file.read(info.compress_size)
    unpacked: bytes = pyarrow.decompress(packed, decompressed_size=info.file_size, codec="zstd", asbytes=True)
    return unpacked
