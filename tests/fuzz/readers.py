"""Every reader of the package: how to spoil a small file for it, and how to read that and use what came out."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from mutating import mutate_bytes, mutate_json_text, mutate_pages, mutate_tables, mutate_text, odd_value

import outfold as of
from outfold.data.plan import Plan
from outfold.data.predictions import Predictions
from outfold.io import reading, schema
from outfold.io.values import loads
from outfold.models import load_model
from outfold.tables import inspect, read_file
from outfold.tables.columns import read_columns
from saved_model import COLUMNS, saved_in, table


class Reader(NamedTuple):
    """`spoil` writes a file for a seed and names what to read, which `use` reads."""

    name: str
    share: float
    spoil: Callable[[Random, Path], Path]
    use: Callable[[Path], Any]


# -- predictions ----------------------------------------------------------------------------------------


def _bases() -> list[Predictions]:
    """Predictions of several kinds, with all that a header can hold."""
    rng, n = np.random.default_rng(0), 24
    folds = np.arange(n) % 3
    P = rng.random((n, 3))
    drop = {"config": "b", "repeat": 0, "fold": 1, "probability": 0.99, "compared_with": "a", "n_predictions": 8}
    entry = {
        "metric": "roc_auc",
        "observed": 0.7,
        "estimate": 0.8,
        "n_new": 9,
        "part": "new samples",
        "compatible": True,
        "when": "2026-01-01T00:00:00",
    }
    made = {
        "seed": 0,
        "specs": {"a": "A()"},
        "drops": [drop],
        "ledger": [entry],
        "n_fits": 9,
        "twins": 0,
        "test_part": {"rows": [1, 5], "n_samples": 26, "data": "d", "labels": "l", "groups": None},
    }
    binary = of.from_arrays(
        rng.choice(["no", "yes"], n),
        P,
        folds,
        ["a", "b", "c"],
        np.arange(n) // 2,
        "proba",
        params=[{"C": c} for c in range(3)],
    )
    train = {(0, k): np.flatnonzero(folds != k) for k in range(3)}
    scores = rng.random((3, 1, 3))
    binary = replace(binary, train=train, labels=rng.integers(0, 2, (1, 3, n)), provenance=made)
    binary = replace(binary, live_scores={"deviance": scores}, blocks={"fresh": replace(binary, provenance={})})
    binary = binary.selecting_by("accuracy", aggregate="fold", rule=of.select.within(1.0, complexity="C"))
    several = of.from_arrays(rng.choice(list("xyz"), n), rng.dirichlet(np.ones(3), (n, 2, 2)), np.stack([folds] * 2, 1))
    curves = rng.random((n, 2, 1, 4))
    times = np.stack([1 + rng.random(n), rng.integers(0, 2, n)], 1)
    survival = of.from_arrays(times, curves, folds, times=[1.0, 1.5, 2.0])
    plan = Plan.repeated_holdout(2, 0.25)
    values = of.from_arrays(rng.random(n), rng.random((n, 2, 2)), np.where(rng.random((n, 2)) < 0.3, 0, -1))
    return [binary, several, survival, replace(values, plan=plan)]


class Bases:
    """Good files to spoil, each made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.columns = COLUMNS.to_toml()

    @cached_property
    def oofs(self) -> list[bytes]:
        return [oof.save(self._folder / f"base{i}.oof").read_bytes() for i, oof in enumerate(_bases())]

    @cached_property
    def long(self) -> pd.DataFrame:
        return _bases()[0].to_frame("pandas")

    @cached_property
    def wide(self) -> pd.DataFrame:
        return table(40)

    @cached_property
    def of_r(self) -> dict[str, pd.DataFrame]:
        return {name: pd.read_csv(_SAMPLES / f"{name}.csv") for name in ("mlr3", "tidymodels")}

    @cached_property
    def model(self) -> Path:
        saved_in(self._folder, n=60)
        return self._folder

    @cached_property
    def about(self) -> str:
        return (self.model / "model.json").read_text()

    @cached_property
    def skops(self) -> bytes:
        return (self.model / "model.skops").read_bytes()


class _Whatever(str):
    """A fingerprint that is the one that a file names, whatever it names: as if its maker had computed it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return False


def spoil_tables(bases: Bases, rng: Random, folder: Path) -> Path:
    path = folder / "x.oof"
    path.write_bytes(rng.choice(bases.oofs))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        with suppress(sqlite3.Error, OverflowError), schema.transaction(db):
            mutate_tables(rng, db)
        endless = db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view'").fetchone()[0]
        if rng.random() < 0.9 and not endless:
            with suppress(sqlite3.Error, TypeError, ValueError, LookupError, AttributeError):
                _seal(db)
    reading.fingerprint = (lambda *_: _Whatever()) if rng.random() < 0.7 else _fingerprint
    return path


_fingerprint = reading.fingerprint


def _seal(db: sqlite3.Connection) -> None:
    """Compute checksums and digests again, as somebody would who knows the format."""
    rows = db.execute("SELECT id, predictions, cells.scores, labels FROM numbers JOIN cells ON id = numbers")
    for number, blob, scores, labels in rows.fetchmany(100):  # a table that was made huge stays unsealed
        with suppress(TypeError, AttributeError):
            db.execute(
                "UPDATE cells SET checksum = ? WHERE numbers = ?", (schema.checksum(blob, labels, scores), number)
            )
    with suppress(sqlite3.Error, ValueError, TypeError):
        loads(db.execute("SELECT value FROM about WHERE key = 'digest'").fetchone()[0])
        schema.seal(db, *schema.COLUMNS)


def spoil_pages(bases: Bases, rng: Random, folder: Path) -> Path:
    reading.fingerprint = _fingerprint
    path = folder / "x.oof"
    content = rng.choice(bases.oofs)
    path.write_bytes(mutate_pages(rng, content, int.from_bytes(content[16:18], "big") or 4096))
    if rng.random() < 0.1:  # a journal that somebody left
        (folder / f"x.oof-{rng.choice(['wal', 'journal'])}").write_bytes(
            mutate_bytes(rng, content[: rng.choice([40, 5000])])
        )
    return path


def use_predictions(path: Path) -> None:
    """Whatever a person may do first."""
    oof = of.load(path)
    assert oof.data.size
    repr(oof), str(oof), oof._repr_html_(), oof.drop_log, oof.completeness
    for ask in (
        oof.scores,
        oof.leaderboard,
        oof.selection,
        lambda: oof.sel(config=0, repeat=0),
        lambda: oof.to_frame("pandas"),
    ):
        with suppress(of.exceptions.OutfoldError):
            ask()
    oof.save(path.with_name("again.oof"))


# -- tables ---------------------------------------------------------------------------------------------

_TOKENS = (
    *(",", ";", "\t", '"', "'", "\n", "\r\n", "\r", " ", "\\", "#", "\0", "\ufeff", "|"),
    *(
        "",
        "nan",
        "NA",
        "inf",
        "-inf",
        "1e999",
        "1e-999",
        "-0",
        "1,5",
        "1.234,5",
        "0x10",
        "9" * 400,
        "2020-13-45",
        "31.12.1999",
    ),
    *(
        "true",
        "None",
        "b'x'",
        "\u202e",
        "é",
        "\U0001f600",
        "a" * 20_000,
        "=1+1",
        '"""',
        "yes",
        "sample",
        "prediction",
        "-1",
        "é" * 300,
    ),
)


def _spoilt_table(rng: Random, frame: pd.DataFrame, folder: Path, endings: tuple[str, ...], name: str = "x") -> Path:
    path = folder / f"{name}{rng.choice(endings)}"
    if path.suffix == ".parquet":
        path.write_bytes(_parquet(rng, frame))
        return path
    content = mutate_text(rng, frame.to_csv(index=False), _TOKENS).encode(
        rng.choice(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"]), "replace"
    )
    if rng.random() < 0.3:
        content = mutate_bytes(rng, content)
    if path.suffix == ".gz":
        content = gzip.compress(content, 1)
        content = mutate_bytes(rng, content) if rng.random() < 0.5 else content
    path.write_bytes(content)
    return path


def spoil_long(bases: Bases, rng: Random, folder: Path) -> Path:
    return _spoilt_table(rng, bases.long, folder, (".csv", ".csv", ".csv.gz"))


def spoil_long_parquet(bases: Bases, rng: Random, folder: Path) -> Path:
    return _spoilt_table(rng, bases.long, folder, (".parquet",))


def spoil_wide(bases: Bases, rng: Random, folder: Path) -> Path:
    return _spoilt_table(rng, bases.wide, folder, (".csv", ".tsv", ".txt", ".csv.gz"))


def spoil_wide_parquet(bases: Bases, rng: Random, folder: Path) -> Path:
    return _spoilt_table(rng, bases.wide, folder, (".parquet",))


def _parquet(rng: Random, frame: pd.DataFrame) -> bytes:
    """A file with columns of odd types and values, or with other bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.Table.from_pandas(frame, preserve_index=rng.random() < 0.2)
    n = len(made)
    odd = {
        "lists": pa.array([[1, 2]] * n),
        "records": pa.array([{"a": 1, "b": "x"}] * n),
        "nothing": pa.nulls(n),
        "bytes": pa.array([b"\xff\0"] * n),
        "decimals": pa.array([1] * n, pa.decimal128(20, 3)),
        "times": pa.array([2**40] * n, pa.timestamp("ms", "UTC")),
        "days": pa.array([3] * n, pa.date32()),
        "spans": pa.array([3] * n, pa.duration("ns")),
        "codes": pa.array(["a"] * n).dictionary_encode(),
        "infinite": pa.array([rng.choice([np.nan, np.inf, 1e308, -0.0, 5e-324]) for _ in range(n)]),
        "large": pa.array([2**63 + i for i in range(n)], pa.uint64()),
        "half": pa.array(np.arange(n, dtype=np.float16)),
        "one": pa.array(["x"] * n),
        "truth": pa.array([rng.choice([True, False, None]) for _ in range(n)]),
        "mixed": pa.array([str(odd_value(rng)) for _ in range(n)]),
    }
    for _ in range(rng.choice([0, 1, 2])):
        i = rng.randrange(made.num_columns)
        made = made.set_column(i, made.column_names[i], rng.choice(list(odd.values())))
    if rng.random() < 0.2:
        made = made.append_column(rng.choice([*made.column_names, "", "\0"]), rng.choice(list(odd.values())))
    if rng.random() < 0.1:
        made = made.slice(0, rng.choice([0, 1, 2]))
    stream = io.BytesIO()
    try:
        pq.write_table(made, stream)
    except pa.ArrowException:
        return b"PAR1"
    return mutate_bytes(rng, stream.getvalue()) if rng.random() < 0.5 else stream.getvalue()


def use_long(path: Path) -> None:
    oof = of.read(path)
    str(oof), oof.to_frame("pandas")


def use_wide(path: Path) -> None:
    found = read_file(path)
    str(found), str(inspect(found.frame)), inspect(found.frame).to_toml()


_ARFF = """% a comment
@relation 'patients'
@attribute age numeric
@attribute "blood pressure" real
@attribute site {A, 'B, or C', 'D'}
@attribute seen date "yyyy-MM-dd"
@attribute note string
@data
30,120.5,A,2020-01-02,'well, yes'
41,?,'B, or C',2020-02-03,no
52,99,'D',?,'a \\' b'
"""


def spoil_arff(bases: Bases, rng: Random, folder: Path) -> Path:
    path = folder / "x.arff"
    words = (
        "@attribute x numeric\n",
        "@data\n",
        "{",
        "}",
        "?",
        "%",
        "@attribute x {a,a}\n",
        "numeric",
        "date",
        "{1 2}",
    )
    content = mutate_text(rng, _ARFF, (*_TOKENS, *words * 3)).encode("utf-8", "replace")
    path.write_bytes(mutate_bytes(rng, content) if rng.random() < 0.2 else content)
    return path


def spoil_columns(bases: Bases, rng: Random, folder: Path) -> Path:
    path = folder / "columns.toml"
    words = (
        "=",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'''",
        "#",
        "role",
        '"target"',
        "1e999",
        "nan",
        "true",
        "[columns]",
        "missing_values = [1, []]",
        "2020-01-01",
    )
    content = mutate_text(rng, bases.columns, words).encode("utf-8", "replace")
    path.write_bytes(mutate_bytes(rng, content) if rng.random() < 0.2 else content)
    return path


def use_columns(path: Path) -> None:
    found = read_columns(path)
    str(found), found.to_toml(), inspect(table(20), given=found)


# -- saved models ---------------------------------------------------------------------------------------


def _model_folder(bases: Bases, folder: Path, about: str, skops: bytes) -> Path:
    (folder / "model.json").write_text(about, encoding="utf-8", errors="replace")
    (folder / "model.skops").write_bytes(skops)
    return folder


def spoil_about(bases: Bases, rng: Random, folder: Path) -> Path:
    about = bases.about
    for _ in range(rng.choice([1, 1, 2])):
        about = mutate_json_text(rng, about)
    return _model_folder(bases, folder, about, bases.skops)


def use_model(path: Path) -> None:
    model, rows = load_model(path), table(8, seed=1)
    repr(model), str(model), model.describe(), model.about.to_dict()
    model.check(rows), model.predict(rows), model.table(rows)


def spoil_skops(bases: Bases, rng: Random, folder: Path) -> Path:
    skops = _skops(rng, bases.skops)
    about = json.loads(bases.about) | {"sha256": sha256(skops).hexdigest()}
    return _model_folder(bases, folder, json.dumps(about), skops)


def _skops(rng: Random, content: bytes) -> bytes:
    """The archive with other json or arrays in it, with members that are lacking, or with other bytes."""
    if rng.random() < 0.25:
        return mutate_bytes(rng, content)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        spoilt = "schema.json" if rng.random() < 0.6 else rng.choice(names)
        for name in names:
            part = old.read(name)
            if name == spoilt:
                if rng.random() < 0.05:
                    continue
                text = name.endswith(".json")
                part = (
                    mutate_json_text(rng, part.decode()).encode("utf-8", "replace")
                    if text
                    else mutate_bytes(rng, part, 16)
                )
            new.writestr(name, part)
    return out.getvalue()


def use_skops(path: Path) -> None:
    """Load alone: the compiled code of a forged model is not checked, as SECURITY.md says."""
    load_model(path)


# -- logs and tables of other tools -----------------------------------------------------------------------

_SAMPLES = Path(__file__).parents[1] / "adapters" / "samples"
_ITEMS = "model,instance_id,trial,topic,exact_match\n" + "".join(
    f"{model},q{i},{trial},t{i // 2},{i % 2}\n" for model in ("a", "b") for trial in (0, 1) for i in range(6)
)


def _spoilt_log(rng: Random, content: bytes, ending: str) -> bytes:
    """A log with one value of one record changed, or with other bytes."""
    if rng.random() < 0.15:
        return mutate_bytes(rng, content)
    text = content.decode()
    if ending == ".jsonl":
        lines = text.splitlines()
        i = rng.randrange(len(lines))
        lines[i] = mutate_json_text(rng, lines[i])
        return "\n".join(lines).encode("utf-8", "replace")
    return mutate_json_text(rng, text).encode("utf-8", "replace")


def _spoilt_folder(rng: Random, name: str, folder: Path) -> Path:
    """The sample logs of a tool, one of them spoilt or gone."""
    copy = shutil.copytree(_SAMPLES / name, folder / name)
    path = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    if rng.random() < 0.05:
        path.unlink()
    else:
        path.write_bytes(_spoilt_log(rng, path.read_bytes(), path.suffix))
    return copy


def _use_items(oof: Predictions) -> None:
    str(oof), oof.scores("mean"), oof.to_frame("pandas")


def spoil_lm_eval(bases: Bases, rng: Random, folder: Path) -> Path:
    return _spoilt_folder(rng, "lm_eval", folder)


def use_lm_eval(path: Path) -> None:
    with suppress(of.exceptions.OutfoldError):
        of.adapters.read_lm_eval_results(path, metric="acc")
    _use_items(of.adapters.read_lm_eval(path, metric="acc", group="passage"))


def spoil_inspect(bases: Bases, rng: Random, folder: Path) -> Path:
    """A folder of logs, the archive that Inspect wrote, or an archive with other json in it."""
    kind = rng.randrange(3)
    if kind == 0:
        return _spoilt_folder(rng, "inspect", folder)
    path = folder / "log.eval"
    if kind == 1:
        path.write_bytes(mutate_bytes(rng, (_SAMPLES / "inspect_bad.eval").read_bytes()))
        return path
    log = json.loads((_SAMPLES / "inspect" / "bad.json").read_text())
    members = {f"samples/{i}.json": json.dumps(sample) for i, sample in enumerate(log.pop("samples"))}
    members["header.json"] = json.dumps(log)
    spoilt = rng.choice(["header.json", *members])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, _spoilt_log(rng, text.encode(), ".json") if name == spoilt else text)
    return path


def use_inspect(path: Path) -> None:
    _use_items(of.adapters.read_inspect(path, group="passage"))


def spoil_promptfoo(bases: Bases, rng: Random, folder: Path) -> Path:
    path = folder / f"results{rng.choice(['.json', '.jsonl'])}"
    text = (_SAMPLES / "promptfoo.json").read_text()
    if path.suffix == ".jsonl":
        text = "\n".join(map(json.dumps, json.loads(text)["results"]["results"]))
    path.write_bytes(_spoilt_log(rng, text.encode(), path.suffix))
    return path


def use_promptfoo(path: Path) -> None:
    _use_items(of.adapters.read_promptfoo(path, group="topic"))


def spoil_helm(bases: Bases, rng: Random, folder: Path) -> Path:
    if rng.random() < 0.5:
        return _spoilt_folder(rng, "helm", folder)
    path = folder / f"items{rng.choice(['.csv', '.csv.gz'])}"
    content = mutate_text(rng, _ITEMS, _TOKENS).encode("utf-8", "replace")
    content = mutate_bytes(rng, content) if rng.random() < 0.2 else content
    if path.suffix == ".gz":
        content = gzip.compress(content, 1)
        content = mutate_bytes(rng, content) if rng.random() < 0.3 else content
    path.write_bytes(content)
    return path


def use_helm(path: Path) -> None:
    group = None if path.is_dir() else "topic"
    _use_items(of.adapters.read_helm(path, group=group))


def spoil_r(bases: Bases, rng: Random, folder: Path) -> Path:
    name = rng.choice(["mlr3", "tidymodels"])
    return _spoilt_table(rng, bases.of_r[name], folder, (".csv", ".csv", ".csv.gz", ".parquet"), name)


def use_r(path: Path) -> None:
    read = of.adapters.read_mlr3 if path.name.startswith("mlr3") else of.adapters.read_tidymodels
    oof = read(path)
    str(oof), oof.params, oof.to_frame("pandas")


def spoil_weka(bases: Bases, rng: Random, folder: Path) -> Path:
    path = folder / f"weka{rng.choice(['.csv', '.arff'])}"
    text = (_SAMPLES / path.name).read_text()
    content = mutate_text(rng, text, (*_TOKENS, "?", "@data\n", "@attribute\n", "%")).encode("utf-8", "replace")
    path.write_bytes(mutate_bytes(rng, content) if rng.random() < 0.2 else content)
    return path


def use_weka(path: Path) -> None:
    with suppress(of.exceptions.OutfoldError):
        of.adapters.read_weka_table(path)
    oof = of.adapters.read_weka(path, dataset="iris")
    str(oof), oof.scores()


def readers(bases: Bases) -> list[Reader]:
    """All of them, with their share of the files."""

    def of_bases(spoil: Callable[[Bases, Random, Path], Path]) -> Callable[[Random, Path], Path]:
        return lambda rng, folder: spoil(bases, rng, folder)

    return [
        Reader("oof tables", 0.29, of_bases(spoil_tables), use_predictions),
        Reader("oof bytes", 0.21, of_bases(spoil_pages), use_predictions),
        Reader("csv of predictions", 0.07, of_bases(spoil_long), use_long),
        Reader("parquet of predictions", 0.05, of_bases(spoil_long_parquet), use_long),
        Reader("csv to train on", 0.06, of_bases(spoil_wide), use_wide),
        Reader("parquet to train on", 0.04, of_bases(spoil_wide_parquet), use_wide),
        Reader("arff", 0.04, of_bases(spoil_arff), use_wide),
        Reader("columns.toml", 0.04, of_bases(spoil_columns), use_columns),
        Reader("model.json", 0.04, of_bases(spoil_about), use_model),
        Reader("model.skops", 0.04, of_bases(spoil_skops), use_skops),
        Reader("logs of lm-eval", 0.02, of_bases(spoil_lm_eval), use_lm_eval),
        Reader("logs of Inspect", 0.02, of_bases(spoil_inspect), use_inspect),
        Reader("results of promptfoo", 0.02, of_bases(spoil_promptfoo), use_promptfoo),
        Reader("runs of HELM", 0.02, of_bases(spoil_helm), use_helm),
        Reader("tables of R", 0.02, of_bases(spoil_r), use_r),
        Reader("results of WEKA", 0.02, of_bases(spoil_weka), use_weka),
    ]


def emptied(folder: Path) -> Path:
    """The folder without the files of the last round."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
