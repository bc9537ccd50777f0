"""Inspect: logs as .json or .eval, one for each model or prompt."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import FileError, InputError, invalid
from ..io.untrusted import check_zip, refuse_special
from ._items import (
    TEXTS,
    Item,
    Missing,
    Paths,
    as_score,
    files_of,
    from_items,
    inside,
    one_of,
    read_json,
    reading,
)

# What Inspect's own metrics take for a letter: correct, incorrect, partial, no answer.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
_ZSTD = 93  # the compression of newer .eval files, which zipfile of Python before 3.14 cannot read
_LOCAL_HEADER = 30
_LONGEST = 40  # characters of a setting in the name of a model
_START, _STOPPED = "_journal/start.json", "stopped"  # what an evaluation leaves behind that was stopped before its end
# A part of a large sample, which newer .eval files keep in several parts; its scores are in the part sample.json.
_PART = re.compile(r"(samples/.+_epoch_\d+)/(.+)")

# Bytes, and times the size of the file: logs repeat what was said before.
_MOST_PACKED = 16_000_000, 200

_KIND = "a log of Inspect"
_document = fill_with(TEXTS)


@_document
def read_inspect(
    paths: Paths | Mapping[str, Paths],
    *,
    task: str | None = None,
    scorer: str | None = None,
    group: str | None = None,
    missing: Missing = "refuse",
) -> Predictions:
    """Scores of single samples from the logs of Inspect, with epochs as repeats.

    Correct is 1, partially correct 0.5, incorrect and no answer 0, as in Inspect's accuracy; numbers stay as they are.

    Parameters
    ----------
    paths : path, sequence of paths, or dict of str to these
        Logs (.json or .eval) or folders of logs, one log for each model or prompt. A log has the name of its model, with the
        settings that differ where several logs are of one model. A dict names the logs itself; several logs of one name and one
        task are epochs.
    task : str or None
        The task; None reads all tasks that are there. If there are several, items are named by task and number.
    scorer : str or None
        The scorer; None if there is only one. Where a scorer gives several values, add the name of one: ``"grader.style"``.
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
        by_name = paths if isinstance(paths, Mapping) else {None: paths}
        logs = [_Log(name, path, content) for name, given in by_name.items() for path, content in _contents(given)]
        logs = _of_task(_last_tries(logs), task)
        _refuse_empty(logs)
        names = [str(log.given) for log in logs] if isinstance(paths, Mapping) else _names(logs)
        scorers = sorted({name for log in logs for sample in log.samples for name in _values(sample)})
        if not scorers:
            failed = next((log for log in logs if log.content.get("status") == "error"), None)
            hint = "Score them: `inspect score`."
            if failed is not None:
                hint = f"The evaluation in {failed.path.name} failed; run it again."
            raise InputError("no sample in these logs has a score", remedy=hint)
        chosen = one_of(scorer, scorers, "scorer", "scorers")
        return from_items(_items(_placed(names, logs), chosen, group), names, "Inspect", missing)


@dataclass(frozen=True)
class _Log:
    """One log, and the name that it was given, if it was given one."""

    given: str | None
    path: Path
    content: dict[str, Any]

    @property
    def facts(self) -> dict[str, Any]:
        return self.content["eval"]  # type: ignore[no-any-return]

    @property
    def task(self) -> str:
        return str(self.facts.get("task") or "task")

    @property
    def samples(self) -> list[dict[str, Any]]:
        return self.content["samples"]  # type: ignore[no-any-return]


# -- which logs ---------------------------------------------------------------------------------------------------


def _contents(paths: Paths) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Logs with their paths; folders may hold other .json files, such as those that describe a set of evaluations."""
    given = {Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)}
    files = [path for path in files_of(paths, "*", "logs of Inspect") if path.suffix in (".json", ".eval")]
    files = [path for path in files if not _is_shard(path, given)]
    found = [(path, _read(path)) for path in files]
    logs = [(path, content) for path, content in found if path in given or _is_log(content)]
    if not logs:
        raise FileError(f"{', '.join(sorted(map(str, given)))} holds no logs of Inspect (.eval or .json).")
    for path, content in logs:
        if not _is_log(content):
            raise invalid(path.name, "must be a log of Inspect", "it has no part 'eval'")
        yield path, content


def _is_shard(path: Path, given: set[Path]) -> bool:
    """Whether a file lies in a folder of shards, which Inspect writes beside the log that it puts together from them."""
    return any(part.suffix == ".shards" and given & {*part.parents} for part in path.parents)


def _is_log(content: Any) -> bool:
    return isinstance(content, dict) and "eval" in content


def _last_tries(logs: list[_Log]) -> list[_Log]:
    """The logs without those that stopped early and were run again to their end, as by ``inspect eval-retry``."""
    ended = {
        log.facts["task_id"] for log in logs if log.content.get("status") == "success" and log.facts.get("task_id")
    }
    return [
        log for log in logs if log.facts.get("task_id") not in ended or log.content.get("status") in ("success", None)
    ]


def _refuse_empty(logs: list[_Log]) -> None:
    for log in logs:
        if log.content.get("status") == _STOPPED:
            problem = f"{log.path.name} has no header.json, which Inspect writes when an evaluation ends"
            raise FileError(problem, remedy="Let it end, or run it again: `inspect eval-retry`.")
        if not log.content.get("samples"):
            remedy = "Log them: Inspect leaves them out with `--no-log-samples`."
            raise InputError(f"{log.path.name} has no samples", remedy=remedy)


def _of_task(logs: list[_Log], wanted: str | None) -> list[_Log]:
    if wanted is None:
        return logs
    chosen = one_of(wanted, sorted({log.task for log in logs}), "task", "tasks")
    return [log for log in logs if log.task == chosen]


# -- names --------------------------------------------------------------------------------------------------------


def _names(logs: list[_Log]) -> list[str]:
    """The model of each log; where several logs of a task are of one model, with the settings that tell them apart."""
    models = [str(log.facts.get("model", "model")) for log in logs]
    alike: dict[tuple[str, str], list[_Log]] = {}
    for model, log in zip(models, logs, strict=True):
        alike.setdefault((model, log.task), []).append(log)
    names = []
    for model, log in zip(models, logs, strict=True):
        others = alike[model, log.task]
        texts = [_differences(log, others)] if len(others) > 1 else []
        if texts and sum(_differences(other, others) == texts[0] for other in others) > 1:
            texts.append(log.path.stem)
        more = ", ".join(text for text in texts if text)
        names.append(f"{model} ({more})" if more else model)
    return names


def _differences(log: _Log, others: list[_Log]) -> str:
    """The settings of a log in which it differs from other logs."""
    settings = [_settings(other) for other in others]
    names = dict.fromkeys(name for part in settings for name in part)
    varied = [name for name in names if any(part.get(name) != settings[0].get(name) for part in settings)]
    own = _settings(log)
    texts = {name: str(own.get(name)) for name in varied}
    return ", ".join(f"{name}={text[:_LONGEST]}{'...' * (len(text) > _LONGEST)}" for name, text in texts.items())


def _settings(log: _Log) -> dict[str, Any]:
    facts = log.facts
    parts = [facts.get(part) or {} for part in ("task_args", "solver_args", "model_args", "model_generate_config")]
    parts.append((log.content.get("plan") or {}).get("config") or {})  # what the command line says: --temperature
    given = {name: value for part in reversed(parts) for name, value in part.items() if value is not None}
    return {"solver": facts.get("solver")} | given


def _placed(names: list[str], logs: list[_Log]) -> Iterator[tuple[str, _Log, str, int]]:
    """Each log with its name, what comes before the names of its items, and the number of epochs in earlier logs."""
    tasks: dict[str, set[str]] = {}
    models: dict[str, set[str]] = {}
    for name, log in zip(names, logs, strict=True):
        tasks.setdefault(name, set()).add(log.task)
        models.setdefault(name, set()).add(str(log.facts.get("model")))
    for name, found in models.items():
        if len(found) > 1:
            problem = f"the logs that you name {name!r} are of several models: {', '.join(sorted(found))}"
            raise InputError(problem, remedy="Give each model its own name.")
    # Whoever names prompts may have written each one as a task; else another task means other items.
    several = any(len(found) > 1 for found in tasks.values())
    several |= all(log.given is None for log in logs) and len({log.task for log in logs}) > 1
    epochs: dict[tuple[str, str], int] = {}
    for name, log in zip(names, logs, strict=True):
        before = epochs.get((name, log.task), 0)
        epochs[name, log.task] = before + max(int(sample.get("epoch", 1)) for sample in log.samples)
        yield name, log, f"{log.task}:" if several else "", before


# -- samples ------------------------------------------------------------------------------------------------------


def _items(placed: Iterator[tuple[str, _Log, str, int]], scorer: str, group: str | None) -> Iterator[Item]:
    for name, log, prefix, before in placed:
        with reading(log.path, _KIND):
            for sample in log.samples:
                value = _values(sample).get(scorer)
                if value is None or sample.get("invalidation"):  # it failed, was not scored, or does not count
                    continue
                cluster = None if group is None else inside(sample.get("metadata"), group)
                if group is not None and cluster is None:
                    needed = "must be a key of the metadata of every sample"
                    raise invalid("group", needed, f"sample {sample['id']} has no {group!r}")
                epoch = before + int(sample.get("epoch", 1))
                yield Item(name, f"{prefix}{sample['id']}", _number(value, scorer), epoch, cluster)


def _values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a sample by scorer; those of a scorer that gives several also have names of their own."""
    out: dict[str, Any] = {}
    for name, score in (sample.get("scores") or {}).items():
        value = score["value"]
        if isinstance(value, Mapping):
            out |= {f"{name}.{key}": part for key, part in value.items()}
        else:
            out[name] = value
    return out


def _number(value: Any, scorer: str) -> float:
    """A value as Inspect's own metrics count it."""
    if isinstance(value, str):
        if value in _LETTERS:
            return _LETTERS[value]
        word = value.lower()
        if word in _WORDS:
            return _WORDS[word]
        if re.fullmatch(_DECIMAL, word):
            return float(word)
    return as_score(value, f"the value of {scorer!r}")


# -- files --------------------------------------------------------------------------------------------------------


def _read(path: Path) -> Any:
    return _read_zip(path) if path.suffix == ".eval" else read_json(path, _KIND)


def _read_zip(path: Path) -> dict[str, Any]:
    refuse_special(path)
    check_zip(path, _MOST_PACKED, "If you trust it, convert it: inspect log convert --to json.")
    with reading(path, _KIND), zipfile.ZipFile(path) as archive:
        last = {info.filename: info for info in archive.infolist()}  # what was written again counts

        def content(name: str) -> Any:
            return json.loads(_member(path, archive, last[name]))

        if "header.json" not in last:
            begun: dict[str, Any] = content(_START) if _START in last else {"eval": {}}
            return begun | {"status": _STOPPED, "samples": []}
        log: dict[str, Any] = content("header.json")
        log["samples"] = []
        for name in last:
            part = _PART.fullmatch(name)
            if part and part[2] == "sample.json":
                beside = f"{part[1]}/metadata.json"
                log["samples"].append(content(name) | ({"metadata": content(beside)} if beside in last else {}))
            elif part is None and name.startswith("samples/"):
                log["samples"].append(content(name))
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
