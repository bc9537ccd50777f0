"""Files: what is saved is loaded bit for bit, and every way a file can fail is said in one clear sentence."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import tracemalloc
from contextlib import closing, suppress
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from conftest import make_predictions
from internals import (
    APPLICATION_ID,
    SCHEMA,
    Cell,
    Store,
    Target,
    cell_mask,
    database,
    inner_folds,
    save,
    strange_provenance,
)
from internals import store as store_module
from outfold import Plan, Predictions, State, collect, load
from outfold.exceptions import FileError, InputError, StoreMismatchError
from outfold.io import guard, schema
from outfold.io.ledger import append
from outfold.results import Note

FORMATS = Path(__file__).parent / "formats"
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


# -- equality, to the last bit --------------------------------------------------------------------------


def same_array(a, b) -> bool:
    if a is None or b is None:
        return a is b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "O":
        return [(type(v), repr(v)) for v in a.tolist()] == [(type(v), repr(v)) for v in b.tolist()]
    return a.tobytes() == b.tobytes()


def assert_same(a: Predictions, b: Predictions, *, but: tuple[str, ...] = ()) -> None:
    """Every field but the times is equal in type and bits, in all blocks."""
    for name in sorted({f.name for f in fields(Predictions)} - {"target", "blocks", "train", "seconds", *but}):
        left, right = getattr(a, name), getattr(b, name)
        ok = same_array(left, right) if isinstance(left, np.ndarray) else left == right
        assert ok, f"{name}: {left!r} is not {right!r}"
        if name in ("params", "provenance"):
            assert repr(left) == repr(right), name  # 1, 1.0 and True are equal but not the same
    assert a.target.task == b.target.task
    for name in ("y", "classes", "event"):
        assert same_array(getattr(a.target, name), getattr(b.target, name)), name
    assert (a.train is None) == (b.train is None)
    assert (a.train or {}).keys() == (b.train or {}).keys()
    assert all(same_array(rows, b.train[key]) for key, rows in (a.train or {}).items())
    assert a.fingerprint == b.fingerprint
    assert a.blocks.keys() == b.blocks.keys()
    for name in a.blocks:
        assert_same(a.blocks[name], b.blocks[name])


# -- any predictions there can be -----------------------------------------------------------------------

TEXT = st.text(max_size=6)
INTS = st.integers(-(2**70), 2**70)
FLOATS = st.floats(allow_nan=False)
SCALARS = st.one_of(st.none(), st.booleans(), INTS, FLOATS, TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.tuples(inner, inner), st.dictionaries(TEXT, inner, max_size=2)
    ),
    max_leaves=4,
)
FACTS = st.dictionaries(TEXT, VALUES, max_size=3)
# A fact with the name of one of ours is refused if `collect` cannot have written it; another test holds that.
OTHER_FACTS = FACTS.filter(lambda facts: strange_provenance(facts) is None)
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def names(draw, n: int, distinct: bool = True):
    """Names of `n` things, in any of the types a user may have them in."""
    kind = draw(
        st.sampled_from(["int64", "uint8", "uint64", "float64", "float32", "str", "object", "mixed", "datetime"])
    )
    element = {
        "int64": st.integers(-(2**63), 2**63 - 1),
        "uint8": st.integers(0, 255),
        "uint64": st.integers(0, 2**64 - 1),
        "float64": FINITE,
        "float32": st.floats(width=32, allow_nan=False, allow_infinity=False),
        "str": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
        "object": TEXT,
        "mixed": st.one_of(
            TEXT, st.integers(2, 2**70), FINITE.filter(lambda v: v != int(v) if abs(v) < 1e15 else False)
        ),
        "datetime": st.datetimes().map(lambda d: np.datetime64(d, "us")),
    }[kind]
    values = draw(st.lists(element, min_size=n, max_size=n, unique=distinct))
    dtype = {"mixed": object, "object": object, "datetime": "datetime64[us]"}.get(kind, kind)
    out = np.empty(n, dtype=object)
    out[:] = values
    return out if dtype is object else np.array(values, dtype=dtype)


@st.composite
def targets(draw, n: int):
    task = draw(st.sampled_from(["binary", "multiclass", "regression", "survival", "pointwise"]))
    if task in ("binary", "multiclass"):
        k = 2 if task == "binary" else draw(st.integers(3, 4))
        classes = draw(st.one_of(names(k), st.just(np.array([False, True])) if k == 2 else st.nothing()))
        return Target(
            task, np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), dtype=np.intp), classes
        )
    if task == "pointwise":
        return Target(task, np.zeros(n))
    y = np.array(draw(st.lists(FINITE, min_size=n, max_size=n)))
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))) if task == "survival" else None
    return Target(task, y, event=event)


@st.composite
def blocks(draw, target, configs, params, response, folds, n_folds, **shared):
    """Predictions on given folds, with cells in all states."""
    n, r, c = len(target), folds.shape[1], len(configs)
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    state = rng.choice(4, (c, r, n_folds), p=[0.1, 0.7, 0.1, 0.1]).astype(np.uint8)
    done = cell_mask(folds, state == State.DONE)
    multi = target.task == "multiclass" and response != "label"
    shape = (r, c, n, len(target.classes)) if multi else (r, c, n)
    if response == "label":
        data = np.where(done, rng.integers(0, len(target.classes), shape), -1).astype(np.intp)
    else:
        data = rng.dirichlet(np.ones(shape[3]), shape[:3]) if multi else rng.random(shape)
        if response != "proba":
            large, small = (1e70, 1e-60) if response in ("value", "pointwise") else (1e300, 1e-310)
            data = rng.choice([data, -data, data * large, data * small, -0.0 * data])
        data[~done] = np.nan
    labels = None
    if response in ("score", "proba") and draw(st.booleans()):
        labels = np.where(done, rng.integers(0, len(target.classes), shape[:3]), -1)
    train = None
    if draw(st.booleans()):
        train = {(j, k): np.flatnonzero(rng.random(n) < 0.5) for j in range(r) for k in range(n_folds)}
    failed = zip(*np.nonzero(state == State.FAILED), strict=True)
    return Predictions(
        target=target,
        data=data,
        folds=folds,
        state=state,
        configs=configs,
        response=response,
        params=params,
        plan=draw(st.sampled_from([Plan(n_folds + 1, r), Plan.holdout(0.25), Plan.blocked(), Plan.from_cv(3)])),
        train=train,
        threshold=draw(st.one_of(st.none(), FINITE)),
        messages={(configs[j], int(i), int(k)): draw(TEXT) for j, i, k in failed},
        notes=tuple(Note(f"OF{i}", text) for i, text in enumerate(draw(st.lists(TEXT, max_size=2)))),
        provenance=draw(OTHER_FACTS),
        labels=labels,
        **shared,
    )


@st.composite
def predictions(draw):
    n, r, c, k = draw(st.integers(2, 8)), draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    target = draw(targets(n))
    by_task = {"regression": ["value"], "survival": ["risk"], "pointwise": ["pointwise"]}
    column = st.lists(st.integers(-1, k - 1), min_size=n, max_size=n)
    folds = np.array([draw(column) for _ in range(r)], dtype=np.int32).T.copy()
    fixed = {
        "target": target,
        "configs": tuple(draw(st.lists(TEXT, min_size=c, max_size=c, unique=True))),
        "params": tuple(draw(FACTS) for _ in range(c)),
        "response": draw(st.sampled_from(by_task.get(target.task, ["label", "score", "proba", "pointwise"]))),
        "n_folds": k,
        "samples": draw(names(n)),
        "groups": draw(st.one_of(st.none(), names(n, distinct=False))),
    }
    if fixed["response"] == "pointwise" and target.task == "multiclass":
        fixed["response"] = "label"
    further = {}
    if draw(st.booleans()):
        further["inner"] = draw(blocks(folds=inner_folds(folds, k), **fixed))
    if draw(st.booleans()):
        further["fresh"] = draw(blocks(folds=folds[:, :1].copy(), **fixed))
    return replace(draw(blocks(folds=folds, **fixed)), blocks=further)


@given(predictions())
def test_what_is_saved_is_loaded_bit_for_bit(oof):
    with tempfile.TemporaryDirectory() as folder:
        path = save(oof, Path(folder) / "x.oof")
        assert_same(load(path), oof)
        assert os.listdir(folder) == ["x.oof"]


def test_numpy_scalars_become_plain_and_other_objects_their_repr(tmp_path):
    oof = make_predictions("roc_auc", c=2)
    mine = {"a": np.float64(0.1), "b": np.int32(3), "c": np.bool_(True), "d": np.str_("x"), "e": {1, 2}, "f": range(3)}
    got = load(save(replace(oof, params=(mine, {})), tmp_path / "x.oof")).params[0]
    assert got == {"a": 0.1, "b": 3, "c": True, "d": "x", "e": "{1, 2}", "f": "range(0, 3)"}
    assert [type(v) for v in got.values()] == [float, int, bool, str, str, str]


def test_a_splitter_is_kept_as_its_text(tmp_path):
    from sklearn.model_selection import KFold

    oof = make_predictions("roc_auc", folds=3)
    plan = replace(Plan.from_cv(KFold(3)), folds=3)
    got = load(save(replace(oof, plan=plan), tmp_path / "x.oof")).plan
    assert str(got) == str(plan)
    assert "KFold(n_splits=3" in str(got)


def test_bools_in_an_array_of_objects_stay_bools(tmp_path):
    groups = np.array([True, 1, 1.0, "1", None] * 8, dtype=object)
    got = load(save(replace(make_predictions("roc_auc"), groups=groups), tmp_path / "x.oof")).groups
    assert [type(v) for v in got[:5]] == [bool, int, float, str, type(None)]


def test_any_sqlite_client_can_read_it(tmp_path):
    path = save(make_predictions("roc_auc", n=20, c=2, folds=4), tmp_path / "x.oof")
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
    about = dict(db.execute("SELECT * FROM about"))
    assert about["format"].startswith("An .oof file of outfold")
    assert (about["task"], about["response"]) == ('"binary"', '"proba"')
    assert db.execute("SELECT count(*) FROM cells WHERE state = 'done'").fetchone() == (8,)
    (column,) = db.execute("SELECT fold_of_sample FROM folds").fetchone()
    (blob,) = db.execute(
        "SELECT predictions FROM cells JOIN numbers ON id = numbers WHERE repeat = 0 AND fold = 2 AND config = 1"
    ).fetchone()
    db.close()
    oof = load(path)
    assert np.array_equal(np.frombuffer(column, "<i4"), oof.folds[:, 0])
    assert np.array_equal(np.frombuffer(blob, "<f8"), oof.data[0, 1, oof.folds[:, 0] == 2])


def test_saving_replaces_a_file_and_returns_its_path(tmp_path):
    path = save(make_predictions("roc_auc", seed=1), tmp_path / "x.oof")
    oof = make_predictions("mse")
    assert save(oof, str(path)) == path
    assert_same(load(path), oof)


def test_an_error_while_saving_leaves_the_old_file(tmp_path, monkeypatch):
    oof = make_predictions("roc_auc")
    path = save(oof, tmp_path / "x.oof")

    def broken(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(FileError, match=r"x.oof could not be written, the disk is full"):
        save(make_predictions("mse"), path)
    assert_same(load(path), oof)
    assert os.listdir(tmp_path) == ["x.oof"]


def test_blocks_that_do_not_belong_are_refused(tmp_path):
    oof = make_predictions("roc_auc", c=3)
    with pytest.raises(InputError, match=r"the block 'inner' must have the samples and configurations of the whole"):
        save(replace(oof, blocks={"inner": oof.sel(config=[0])}), tmp_path / "x.oof")
    with pytest.raises(InputError, match=r"cannot be called 'oof'"):
        save(replace(oof, blocks={"oof": oof}), tmp_path / "x.oof")


def test_text_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must be valid text"):
        save(replace(make_predictions("roc_auc", c=2), configs=("a", "\ud800")), tmp_path / "x.oof")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["S", object])
def test_bytes_that_are_no_text(tmp_path, kind):
    ids = np.array([b"\xff%d" % i for i in range(40)], dtype=kind)
    oof = make_predictions("roc_auc")
    classes = np.array([b"\xe9", b"\xff"])
    oof = replace(oof, samples=ids, groups=ids, target=Target("binary", np.array(oof.target.y), classes))
    again = load(save(oof, tmp_path / "x.oof"))
    np.testing.assert_array_equal(again.target.classes, classes)
    assert again.samples.tolist() == (ids.tolist() if kind == "S" else [str(v) for v in ids])


def test_a_dict_that_looks_like_a_tuple_stays_a_dict(tmp_path):
    looks = [{"__tuple__": 5}, {"__tuple__": [1]}, {"\\__tuple__": (1, 2)}, {"\\\\__tuple__": {"__tuple__": ()}}]
    oof = replace(make_predictions("roc_auc", c=4), params=tuple({"p": value} for value in looks))
    again = load(save(oof, tmp_path / "x.oof"))
    assert [params["p"] for params in again.params] == looks
    assert repr(again.params) == repr(oof.params)


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "real.oof", tmp_path / "link.oof"
    link.symlink_to(target)
    for oof in (make_predictions("roc_auc"), make_predictions("roc_auc", seed=1)):
        assert save(oof, link) == link
        assert link.is_symlink()
        assert not target.is_symlink()
        assert_same(load(target), oof)
        assert_same(load(link), oof)
    target.unlink()
    header, identity = collection()
    with Store.open(link, header, identity):
        assert link.is_symlink()
    assert load(target).configs == header.configs


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.oof")
    (tmp_path / "link.oof").symlink_to(tmp_path / "pipe.oof")
    for name in ("pipe.oof", "link.oof"):
        with pytest.raises(FileError, match=r"pipe.oof is a device or a pipe, not a file\. Give the name of a file"):
            save(make_predictions("roc_auc"), tmp_path / name)
    assert (tmp_path / "pipe.oof").is_fifo()


def test_an_error_of_the_disk_comes_with_advice(tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    monkeypatch.setattr(database, "connect", fails)
    with pytest.raises(
        FileError,
        match=r"the disk or network drive gave an error; what was written before is kept. Check that it is connected",
    ):
        save(make_predictions("roc_auc"), tmp_path / "x.oof")


# -- older versions -------------------------------------------------------------------------------------


def test_schema_1_loads():
    oof = load(FORMATS / "v1.oof")
    assert oof.criterion.to_dict() == {"metric": None, "aggregate": "pooled", "rule": None}
    _has_the_values_of_formats(oof)


def test_schema_2_loads():
    oof = load(FORMATS / "v2.oof")
    rule = {"name": "within", "loss_percent": 2.5, "complexity": "C"}
    assert oof.criterion.to_dict() == {"metric": "roc_auc", "aggregate": "fold", "rule": rule}
    _has_the_values_of_formats(oof)


def test_schema_3_loads():
    oof = load(FORMATS / "v3.oof")
    rule = {"name": "within", "loss_percent": 2.5, "complexity": "C"}
    assert oof.criterion.to_dict() == {"metric": {"live": "deviance"}, "aggregate": "fold", "rule": rule}
    assert list(oof.live_scores) == ["deviance", "train deviance"]
    # A cell that failed or was dropped has no score, and a score may be undefined.
    expected = [[[0.5, np.nan, 0.7]], [[0.8, np.nan, np.nan]]]
    np.testing.assert_array_equal(oof.live_scores["deviance"], expected)
    np.testing.assert_array_equal(oof.live_scores["train deviance"], 2 * np.array(expected))
    _has_the_values_of_formats(oof)


def test_schema_4_loads():
    oof = load(FORMATS / "v4.oof")
    assert (oof.response, oof.configs, oof.times.tolist()) == ("survival", ("cox", "svm"), [3.0, 7.5])
    time = np.arange(1.0, 13)
    np.testing.assert_array_equal(oof.target.y, time)
    np.testing.assert_array_equal(oof.target.event, np.arange(12) % 3 > 0)
    np.testing.assert_array_equal(oof.respond("risk")[0], np.arange(12) + np.array([[100], [200]]))
    np.testing.assert_array_equal(oof.data[0, 0, :, 1:], np.exp(-np.array([3.0, 7.5]) / time[:, None]))
    assert np.isnan(oof.data[0, 1, :, 1:]).all()


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v4"])
def test_a_store_of_an_older_schema_becomes_one_of_this_schema(tmp_path, version):
    path = tmp_path / "run.oof"
    path.write_bytes((FORMATS / f"{version}.oof").read_bytes())
    before = load(path)
    db = sqlite3.connect(path, isolation_level=None)
    schema.migrate(db, before.criterion)
    assert db.execute("PRAGMA user_version").fetchone() == (5,)
    assert "survival" in db.execute("SELECT value FROM about WHERE key = 'format'").fetchone()[0]
    db.close()
    after = load(path)
    assert_same(after, before, but=("live_scores",))
    assert list(after.live_scores) == list(before.live_scores)
    assert all(same_array(after.live_scores[name], scores) for name, scores in before.live_scores.items())


def test_schema_5_loads():
    oof = load(FORMATS / "v5.oof")
    assert list(oof.live_scores) == ["deviance", "train deviance"]
    _has_the_values_of_formats(oof)
    assert load(FORMATS / "v3.oof").criterion == oof.criterion


def test_scores_that_were_changed_are_noticed(tmp_path):
    path = tmp_path / "run.oof"
    path.write_bytes((FORMATS / "v3.oof").read_bytes())
    db = sqlite3.connect(path)
    db.execute("UPDATE cells SET scores = replace(scores, '0.5', '0.9')")
    db.commit()
    db.close()
    with pytest.raises(FileError, match="have changed"):
        load(path)


def _has_the_values_of_formats(oof):
    assert oof.configs == ("logit(C=0.5)", "tree(depth=3)")
    assert oof.params == ({"C": 0.5, "penalty": None}, {"depth": 3, "shape": (2, 2), "fast": True})
    assert oof.samples[:2].tolist() == ["P00", "P01"]
    assert oof.y[:5].tolist() == ["sick", "healthy", "healthy", "healthy", "sick"]
    assert oof.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert oof.folds[:, 0].tolist() == [0, 1, 2] * 4
    assert oof.state[:, 0].tolist() == [[1, 3, 1], [1, 1, 2]]
    assert oof.data[0, 1, 3] == 0.0103
    assert np.isnan(oof.data[0, 0, 1])
    assert oof.messages == {("logit(C=0.5)", 0, 1): "ValueError: no convergence"}
    assert oof.notes == (Note("OF101", "3 folds instead of 10."),)
    assert oof.provenance["seed"] == 7
    assert oof.fingerprint == "f001922ec846162c"
    inner = oof.blocks["inner"]
    assert (inner.n_repeats, inner.n_folds) == (3, 3)
    assert inner.data[2, 1, 0] == 0.21
    assert inner.folds[:3, 2].tolist() == [0, 1, -1]


# -- files that cannot be read --------------------------------------------------------------------------


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*none.oof\.(?m:$)"):
        load(tmp_path / "none.oof")
    with pytest.raises(FileError, match=r"is a folder; an .oof file is needed\.(?m:$)"):
        load(tmp_path)
    with pytest.raises(FileError, match=r"is a folder\. Give the name of a file in it"):
        save(make_predictions("roc_auc"), tmp_path)
    with pytest.raises(FileError, match=r"the folder .*nowhere does not exist\. Make it"):
        save(make_predictions("roc_auc"), tmp_path / "nowhere" / "x.oof")


@pytest.mark.parametrize(
    "content", [b"", b"sample,config,label\n" * 200, os.urandom(5000)], ids=["empty", "text", "noise"]
)
def test_not_an_oof(tmp_path, content):
    path = tmp_path / "x.oof"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"^x.oof is not an .oof file\. Use outfold.read for tables"):
        load(path)
    with pytest.raises(FileError, match=r"^x.oof is not an .oof file"):
        Store.open(path, *collection())
    assert path.read_bytes() == content


def test_database_of_another_program(tmp_path):
    db = sqlite3.connect(tmp_path / "x.oof")
    db.execute("CREATE TABLE t (a)")
    db.close()
    with pytest.raises(FileError, match=r"^x.oof is not an .oof file"):
        load(tmp_path / "x.oof")


def test_newer_schema(tmp_path):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 7")
    db.close()
    text = r"^x.oof was made by a newer outfold \(schema 7\); this one reads up to 5\. Upgrade outfold\.(?m:$)"
    with pytest.raises(FileError, match=text):
        load(path)
    with pytest.raises(FileError, match=text):
        Store.open(path, *collection())


def test_cut_short_at_any_place(tmp_path):
    whole = save(make_predictions("roc_auc", n=200, c=30), tmp_path / "whole.oof").read_bytes()
    for size in [*range(100, len(whole), len(whole) // 50), 4096, len(whole) - 1, len(whole) - 4096]:
        path = tmp_path / "x.oof"
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"^x.oof is (damaged or cut short\. Restore|not an .oof file)"):
            load(path)


def test_damaged_pages(tmp_path):
    whole = save(make_predictions("roc_auc", n=200, c=30), tmp_path / "whole.oof").read_bytes()
    path = tmp_path / "x.oof"
    for page in range(1, len(whole) // 4096):
        path.write_bytes(whole[: page * 4096] + b"\xa5" * 4096 + whole[(page + 1) * 4096 :])
        with pytest.raises(FileError, match=r"^x.oof is damaged"):
            load(path)


def test_damaged_text_of_the_schema(tmp_path):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    whole = bytearray(path.read_bytes())
    whole[whole.find(b"tablecells") + 5] |= 0x80
    path.write_bytes(whole)
    for use in (load, lambda path: Store.open(path, *collection())):
        with pytest.raises(FileError, match=r"^x.oof is damaged"):
            use(path)


def edit(path: Path, *statements: str, sealed: bool = True) -> None:
    """Change a file as somebody would who knows the format, and `sealed` who can compute its digest."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db, schema.transaction(db):
        for statement in statements:
            db.execute(statement)
        if sealed:
            schema.seal(db, *schema.COLUMNS)


DAMAGED = r"^x.oof is damaged.*Restore it from a copy, or collect again\.(?m:$)"


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM about WHERE key = 'plan'",
        "UPDATE about SET value = 'no json' WHERE key = 'plan'",
        "UPDATE about SET value = '\"kfold\"' WHERE key = 'plan'",
        "UPDATE about SET value = json_set(value, '$.folds', 'ten') WHERE key = 'plan'",
        "UPDATE about SET value = '{\"ledger\": [3]}' WHERE key = 'provenance'",
        "UPDATE about SET value = '{\"drops\": [{}]}' WHERE key = 'provenance'",
        "UPDATE about SET value = '[[1, 2]]' WHERE key = 'notes'",
        "INSERT INTO about VALUES ('more', '1')",
        "DELETE FROM samples",
        "UPDATE samples SET label = 'other' WHERE position = 3",
        "UPDATE samples SET id = x'00' WHERE position = 3",
        "UPDATE cells SET state = 'unheard of' WHERE fold = 1",
        "UPDATE cells SET repeat = 9",
        "UPDATE cells SET seconds = -1.0",
        "UPDATE cells SET message = x'00' WHERE fold = 1",
        "UPDATE cells SET numbers = 9999 WHERE config = 2 AND fold = 1",
        "UPDATE numbers SET predictions = x'00'",
        "DELETE FROM numbers WHERE id = 3",
        "UPDATE folds SET fold_of_sample = x'0000'",
        "UPDATE folds SET fold_of_sample = x'05000000' || substr(fold_of_sample, 5)",
        "UPDATE folds SET repeat = -1",
        "UPDATE folds SET block = 'other'",
        "INSERT INTO train VALUES ('oof', 0, 0, x'ffffff7f')",
        "INSERT INTO train VALUES ('oof', 'a', 0, x'00000000')",
        "UPDATE cells SET config = -1 WHERE config = 6",
        "UPDATE cells SET fold = -1 WHERE fold = 4",
        "UPDATE numbers SET predictions = zeroblob(length(predictions)) WHERE id = 3",
        "UPDATE numbers SET labels = zeroblob(length(predictions) / 2) WHERE id = 3",
        "UPDATE cells SET checksum = checksum + 1 WHERE config = 2 AND fold = 1",
        "UPDATE samples SET position = -1 WHERE position = 0",
        "UPDATE samples SET label = 1 - label WHERE position = 3",
        "UPDATE configs SET position = 99 WHERE position = 6",
        "UPDATE configs SET params = '3'",
        "UPDATE about SET value = '1000000000000' WHERE key = 'folds'",
        "UPDATE about SET value = '1e400' WHERE key = 'folds'",
        "UPDATE about SET value = '-5' WHERE key = 'folds'",
        "UPDATE about SET value = '1000000000000' WHERE key = 'outputs'",
        "UPDATE about SET value = '\"0000\"' WHERE key = 'fingerprint'",
    ],
)
def test_contents_that_make_no_sense(tmp_path, change):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    edit(path, change)
    with pytest.raises(FileError, match=DAMAGED):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE configs SET name = 'another' WHERE position = 1",
        "UPDATE configs SET name = CAST(x'fffe' AS TEXT) WHERE position = 1",
        "UPDATE configs SET params = '{\"C\": 2}' WHERE position = 1",
        "UPDATE samples SET id = 99 WHERE position = 1",
        "UPDATE about SET value = '[[\"OF101\", \"all is well\"]]' WHERE key = 'notes'",
        "INSERT INTO train VALUES ('oof', 0, 0, x'00000000')",
    ],
)
def test_an_edited_header_is_noticed(tmp_path, change):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    edit(path, change, sealed=False)
    with pytest.raises(FileError, match=DAMAGED):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        ["DROP TABLE cells"],
        ["CREATE TABLE more (a)"],
        ["CREATE VIEW more AS SELECT 1"],
        ["CREATE INDEX more ON cells (config)"],
        ["CREATE TRIGGER more AFTER INSERT ON configs BEGIN SELECT 1; END"],
        ["CREATE VIRTUAL TABLE more USING fts5(a)"],
        ["ALTER TABLE samples ADD COLUMN more AS (position + 1)"],
        [
            "ALTER TABLE configs RENAME TO other",
            "CREATE VIEW configs AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS position, 'c' || i AS name, '{}' AS params FROM n",
        ],
    ],
    ids=["dropped", "table", "view", "index", "trigger", "virtual", "generated", "endless"],
)
def test_only_the_known_tables_are_read(tmp_path, change):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    edit(path, *change, sealed=False)
    for use in (load, lambda path: Store.open(path, *collection())):
        with pytest.raises(
            FileError, match=r"^x.oof is damaged \(it has (no table 'c|a .* that does not belong there)"
        ):
            use(path)


def test_a_journal_cannot_have_another_file_deleted(tmp_path):
    """SQLite deletes the file that a journal names at its end as that of a transaction over several databases."""
    path, victim = save(make_predictions("mse"), tmp_path / "x.oof"), tmp_path / "victim"
    victim.write_text("what somebody wants to keep")
    named = str(victim).encode()
    head = JOURNAL_MAGIC + struct.pack(">5I", 1, 7, 1, 512, 4096)
    tail = struct.pack(">I", 2**18 + 1) + named + struct.pack(">2I", len(named), sum(named)) + JOURNAL_MAGIC
    (tmp_path / "x.oof-journal").write_bytes(head.ljust(512, b"\0") + tail)
    for use in (load, lambda path: Store.open(path, *collection("mse"))):
        with pytest.raises(FileError, match=r"x.oof-journal names another file, which would be deleted"):
            use(path)
    assert victim.exists()
    (tmp_path / "x.oof-journal").unlink()
    assert_same(load(path), make_predictions("mse"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_a_journal_must_be_a_plain_file(tmp_path, end):
    """SQLite waits for a pipe without end, and writes to the file behind a link."""
    path = save(make_predictions("mse"), tmp_path / "x.oof")
    journal, other = tmp_path / f"x.oof{end}", tmp_path / "other"
    other.write_text("of somebody else")
    for make in (
        lambda: os.mkfifo(journal),
        lambda: journal.symlink_to(other),
        lambda: journal.symlink_to("/dev/zero"),
    ):
        make()
        for use in (load, lambda path: Store.open(path, *collection("mse"))):
            with pytest.raises(FileError, match=rf"x.oof{end} is a link, a folder or a device"):
                use(path)
        journal.unlink()
    assert other.read_text() == "of somebody else"
    assert_same(load(path), make_predictions("mse"))


def test_the_digest_of_long_parameters_takes_little_memory():
    """It is the hash of the json of all columns, which is never made as a whole."""
    rng = random.Random(0)
    columns = [tuple(range(900)), tuple(rng.randbytes(5_000).hex() for _ in range(900)), (None, 1.5, "ü\n", b"x") * 225]
    whole = json.dumps(columns, ensure_ascii=False, default=schema._hash)
    assert schema.digest_of(columns) == hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()
    for few in ([()], [(), ()], [tuple(range(50)), tuple(range(51))]):
        assert schema.digest_of(few) == hashlib.blake2b(json.dumps(few).encode(), digest_size=16).hexdigest()
    tracemalloc.start()
    schema.digest_of(columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(whole) // 2


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    """Tables with many configurations and samples, but without predictions, announce an array of 16 GB."""
    path = save(make_predictions("mse", n=20_000, c=2), tmp_path / "x.oof")
    rows = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)"
    edit(path, f"{rows} INSERT INTO configs SELECT i, 'c' || i, '{{}}' FROM n", "DELETE FROM cells")
    # 50,000 configurations on 20,000 samples in a file of 3 MB: what is said of them can be shown.
    oof = load(path)
    assert "50,000 (config 0" in str(oof)
    with pytest.raises(FileError, match="asks for 8,000,000,000 bytes of memory, far more than it holds"):
        _ = oof.data


def test_a_type_of_text_cannot_ask_for_much_memory(tmp_path):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    edit(path, "UPDATE about SET value = replace(value, '<i8', '<U30000000') WHERE key = 'types'")
    with pytest.raises(FileError, match="asks for 240,000,000 bytes of memory, far more than it holds"):
        load(path)


def test_a_store_that_has_just_begun_may_ask_for_what_is_to_come(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "_BYTES", 1000)
    monkeypatch.setattr(guard, "_BYTES_PER_BYTE", 0)
    header, identity = collection()
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        assert store.predictions().data.shape == header.data.shape
    with pytest.raises(FileError, match=r"^x.oof asks for 2,240 bytes .* let collect go on with it first"):
        load(tmp_path / "x.oof")


# -- files whose predictions are read when they are asked for -------------------------------------------


@pytest.fixture
def at_need(monkeypatch):
    """Predictions of any size stay in the file."""
    monkeypatch.setattr(store_module, "_AT_ONCE", 0)
    monkeypatch.setattr(database, "_CHECKED_WHOLE", 0)


@pytest.mark.usefixtures("at_need")
@given(predictions())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_read_at_need_is_the_same_bit_for_bit(oof):
    with tempfile.TemporaryDirectory() as folder:
        path = save(oof, Path(folder) / "x.oof")
        late = load(path)
        assert repr(late) == repr(oof)
        assert "data" not in vars(late)
        assert_same(late, oof)


@pytest.mark.usefixtures("at_need")
@pytest.mark.parametrize("metric", ["roc_auc", "roc_auc_ovr", "mse"])
def test_a_part_is_read_alone(tmp_path, metric):
    oof = make_predictions(metric, r=3)
    late = load(save(oof, tmp_path / "x.oof"))
    chosen = late.sel(config=[4, 1]).sel(repeat=[2, 0])
    assert "data" not in vars(chosen)
    assert_same(chosen, oof.sel(config=[4, 1]).sel(repeat=[2, 0]))
    assert "data" not in vars(late.sel(config=0))
    assert_same(late.sel(repeat=[1, 1]), oof.sel(repeat=[1, 1]))  # twice the same: everything is read
    assert late.selecting_by("mse" if metric == "mse" else "accuracy").data is late.data
    assert_same(late.sel(config=[0]), oof.sel(config=[0]))
    assert_same(replace(late, notes=()), replace(oof, notes=()))
    assert not replace(late, notes=()).data.flags.writeable


@pytest.mark.usefixtures("at_need")
def test_damage_is_found_when_the_predictions_are_read(tmp_path):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    edit(path, "UPDATE numbers SET predictions = zeroblob(length(predictions)) WHERE id = 3")
    late = load(path)
    assert late.sel(config=0).data.shape == (1, 1, 40)
    with pytest.raises(FileError, match=r"^x.oof is damaged \(the predictions of 'config 2' .* have changed\)"):
        _ = late.data


@pytest.mark.usefixtures("at_need")
def test_no_damage_of_a_large_file_hides_cells(tmp_path):
    oof, path = make_predictions("accuracy"), tmp_path / "x.oof"
    whole = save(oof, path).read_bytes()
    for at in range(0, len(whole), 64):
        path.write_bytes(whole[:at] + bytes(64) + whole[at + 64 :])
        with suppress(FileError):
            assert np.array_equal(load(path).data, oof.data), at


@pytest.mark.usefixtures("at_need")
def test_a_file_that_changes_is_not_read_any_more(tmp_path):
    path = save(make_predictions("roc_auc"), tmp_path / "x.oof")
    late = load(path)
    save(make_predictions("roc_auc", seed=1), path)
    with pytest.raises(FileError, match=r"^x.oof has changed since it was loaded\. Load it again\.(?m:$)"):
        _ = late.data
    path.unlink()
    with pytest.raises(FileError, match="there is no file"):
        _ = late.data


def test_facts_that_could_not_be_read_again_are_not_written(tmp_path):
    oof = replace(make_predictions("roc_auc"), provenance={"repeats": 3})
    with pytest.raises(InputError, match="'repeats'"):
        save(oof, tmp_path / "x.oof")
    assert not (tmp_path / "x.oof").exists()


def test_no_sample_may_lie_above_the_threshold(tmp_path):
    oof = replace(make_predictions("roc_auc"), threshold=np.inf)
    assert load(save(oof, tmp_path / "x.oof")).threshold == np.inf


@pytest.mark.usefixtures("at_need")
def test_a_journal_and_a_ledger_change_no_predictions(tmp_path):
    oof = make_predictions("roc_auc")
    path = save(oof, tmp_path / "x.oof")
    killed = sqlite3.connect(path)  # as a process leaves a file that is killed: with a journal
    killed.execute("PRAGMA journal_mode = WAL")
    killed.execute("UPDATE cells SET seconds = 1.0")
    killed.commit()
    shutil.copytree(tmp_path, tmp_path / "copy")
    killed.close()
    late = load(tmp_path / "copy" / "x.oof")
    assert_same(late, replace(oof, seconds=late.seconds))
    late = load(path)
    append(path, {"metric": "roc_auc", "selected": "config 0"})
    assert np.array_equal(late.data, oof.data)


@pytest.mark.usefixtures("at_need")
def test_many_configurations_of_a_file_can_be_selected(tmp_path, monkeypatch):
    oof = make_predictions("roc_auc", r=3)
    late = load(save(oof, tmp_path / "x.oof"))
    monkeypatch.setattr("outfold.io.reading._MOST_NAMED", 1)
    assert_same(late.sel(config=[4, 1]).sel(repeat=[2, 0]), oof.sel(config=[4, 1]).sel(repeat=[2, 0]))


@pytest.mark.usefixtures("at_need")
def test_predictions_in_a_file_can_be_pickled(tmp_path):
    oof = make_predictions("roc_auc")
    assert_same(pickle.loads(pickle.dumps(load(save(oof, tmp_path / "x.oof")))), oof)


def test_pages_that_point_to_each_other_come_to_an_end(tmp_path):
    """All children of an interior page are the same leaf: a scan would go on for ever, or for very long."""
    path = save(make_predictions("mse", n=5000), tmp_path / "x.oof")
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'samples'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    whole = bytearray(path.read_bytes())
    page = memoryview(whole)[(root - 1) * size : root * size]
    assert page[0] == 5  # an interior page
    at = int.from_bytes(page[12:14], "big")
    page[at : at + 4] = root.to_bytes(4, "big")
    path.write_bytes(whole)
    with pytest.raises(FileError, match=r"^x.oof is damaged"):
        load(path)


@pytest.fixture
def closed_folder():
    """A folder in which this process may not write, even where the tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        folder, user = Path(name), os.geteuid()
        save(make_predictions("roc_auc"), folder / "old.oof")
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        if user == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(user)
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")
def test_read_only_folder(closed_folder):
    oof = make_predictions("roc_auc")
    text = r"cannot be written; the folder or the disk is read-only\. Choose a folder you may write to\.(?m:$)"
    with pytest.raises(FileError, match=rf"new.oof {text}"):
        save(oof, closed_folder / "new.oof")
    with pytest.raises(FileError, match=rf"new.oof {text}"):
        Store.open(closed_folder / "new.oof", *collection())
    with pytest.raises(FileError, match=rf"old.oof {text}"):
        Store.open(closed_folder / "old.oof", *collection())
    assert_same(load(closed_folder / "old.oof"), oof)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")
def test_unreadable_file(closed_folder):
    mine = os.geteuid()
    os.seteuid(os.getuid())
    (closed_folder / "old.oof").chmod(0o000)
    os.seteuid(mine)
    with pytest.raises(
        FileError, match=r"old.oof cannot be read\. Check that you may read the file and its folder\.(?m:$)"
    ):
        load(closed_folder / "old.oof")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer of POSIX")
def test_an_interrupt_while_a_file_is_read_stays_one():
    count = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1e9) SELECT count(*) FROM n"

    def interrupt(number, frame):
        raise KeyboardInterrupt

    def read(size):
        with closing(sqlite3.connect(":memory:")) as db, guard.bounded(db, size):
            db.execute(count).fetchone()

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(KeyboardInterrupt):
        read(1 << 40)
    signal.signal(signal.SIGALRM, before)
    with pytest.raises(sqlite3.OperationalError):
        read(1)


# -- the store ------------------------------------------------------------------------------------------

IDENTITY = {"data": "d0", "labels": "l0", "plan": "p0", "seed": "0"}


def pending(oof: Predictions) -> Predictions:
    """The same before anything was fitted."""
    state = np.zeros_like(oof.state)
    further = {name: pending(block) for name, block in oof.blocks.items()}
    fill = -1 if oof.response == "label" else np.nan
    return replace(oof, data=np.full_like(oof.data, fill), state=state, messages={}, blocks=further)


def collection(metric: str = "roc_auc", **sizes) -> tuple[Predictions, dict[str, str]]:
    """What `collect` opens a store with."""
    oof = make_predictions(metric, **sizes)
    return replace(pending(oof), provenance={"specs": {name: f"spec of {name}" for name in oof.configs}}), IDENTITY


def cells_of(oof: Predictions, block: str = "oof") -> list[Cell]:
    part = oof if block == "oof" else oof.blocks[block]
    return [
        Cell(block, name, r, k, State(part.state[c, r, k]), part.data[r, c, part.folds[:, r] == k], seconds=0.5)
        for r, k in part.splits.cells
        for c, name in enumerate(part.configs)
    ]


def test_a_transaction_that_an_interrupt_left_open_is_undone(tmp_path):
    # Ctrl-C may come after SQLite has begun a transaction and before Python knows of it.
    header, identity = collection()
    first, second = cells_of(make_predictions("roc_auc"))[:2]
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        store.write([first])
        store._db.execute("BEGIN")
        store._db.execute("DELETE FROM cells")
        store.write([second])
        store._db.execute("BEGIN")
        store.update(interrupted=True)
        assert len(states_in(store)) == 2
    assert load(tmp_path / "x.oof").provenance["interrupted"]
    assert not list(tmp_path.glob("*-wal"))


def states_in(store):
    """The state of every (block, configuration, repeat, fold) that is not pending."""
    oof = store.predictions()
    return {
        (name, block.configs[c], int(r), int(k)): State(block.state[c, r, k])
        for name, block in {"oof": oof, **oof.blocks}.items()
        for c, r, k in np.argwhere(block.state != State.PENDING)
    }


def finished(store):
    return set(states_in(store))


@pytest.mark.parametrize("metric", ["roc_auc", "mse", "concordance", "roc_auc_ovr", "mean"])
def test_cells_come_back_as_written(tmp_path, metric):
    oof, (header, identity) = make_predictions(metric, r=2), collection(metric, r=2)
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        assert finished(store) == set()
        assert not np.any(store.predictions().state)
        for cell in cells_of(oof):
            store.write([cell])
        assert finished(store) == {cell[:4] for cell in cells_of(oof)}
        assert_same(store.predictions(), oof, but=("provenance",))
    assert_same(load(tmp_path / "x.oof"), oof, but=("provenance",))
    assert os.listdir(tmp_path) == ["x.oof"]


def test_labels_come_back_as_written(tmp_path):
    P = np.array(["a", "b", "a", "c", "c", "b"])
    oof = labels_by_one_configuration(P)
    with Store.open(tmp_path / "x.oof", pending(oof), IDENTITY) as store:
        store.write(cells_of(oof))
        assert_same(store.predictions(), oof, but=("provenance",))
        with pytest.raises(InputError, match=r"usable predictions only; 'config 0' in repeat 0, fold 0 has others"):
            store.write([Cell("oof", "config 0", 0, 0, State.DONE, np.array([0, 1, 3]))])


def labels_by_one_configuration(P):
    from outfold import from_arrays

    return from_arrays(["a", "b", "c", "a", "b", "c"], P, folds=[0, 0, 0, 1, 1, 1])


def test_blocks_have_cells_of_their_own(tmp_path):
    outer = make_predictions("roc_auc", c=2, folds=3, n=12)
    oof = replace(outer, blocks={"fresh": make_predictions("roc_auc", c=2, folds=2, n=12)})
    with Store.open(tmp_path / "x.oof", pending(oof), IDENTITY) as store:
        store.write(cells_of(oof, "fresh"))
        assert finished(store) == {("fresh", f"config {c}", 0, k) for c in range(2) for k in range(2)}
        store.write(cells_of(oof))
        assert_same(store.predictions(), oof, but=("provenance",))


def test_states_messages_and_a_second_try(tmp_path):
    header, identity = collection(c=2, folds=4, n=12)
    failed = Cell("oof", "config 1", 0, 2, State.FAILED, None, "ValueError: no", 0.1)
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        store.write([failed, Cell("oof", "config 0", np.int64(0), np.int64(2), State.DROPPED)])
        assert states_in(store) == {
            ("oof", "config 1", 0, 2): State.FAILED,
            ("oof", "config 0", 0, 2): State.DROPPED,
        }
        assert store.predictions().messages == {("config 1", 0, 2): "ValueError: no"}
        store.write([Cell("oof", "config 1", 0, 2, State.DONE, np.array([0.1, 0.2, 0.3]), None, 0.1)])
        oof = store.predictions()
    assert (oof.state[1, 0, 2], dict(oof.messages)) == (State.DONE, {})


def test_write_is_all_or_nothing_and_checks_what_it_gets(tmp_path):
    oof, (header, identity) = make_predictions("roc_auc"), collection()
    good = cells_of(oof)[0]
    n = len(good.values)
    bad = {
        r"needs predictions of shape \(8,\); 'config 0' in repeat 0, fold 0 has \(3,\)": good._replace(
            values=np.zeros(3)
        ),
        r"shape \(8,\)": good._replace(values=None),
        r"usable predictions only": good._replace(values=np.full(n, np.nan)),
        r"probabilities must lie in \[0, 1\]": good._replace(values=np.full(n, 2.0)),
        r"no block 'inner'": good._replace(block="inner"),
        r"no configuration 'x'": good._replace(config="x"),
    }
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        for text, cell in bad.items():
            with pytest.raises(InputError, match=text):
                store.write([good, cell])
        assert finished(store) == set()


def test_a_fact_that_nobody_could_read_again_is_refused(tmp_path):
    oof = replace(make_predictions("mse"), provenance={"ledger": None})
    with pytest.raises(InputError, match="must have a value for 'ledger' that collect could have written"):
        save(oof, tmp_path / "x.oof")
    assert not (tmp_path / "x.oof").exists()


def test_update_adds_to_the_provenance_and_replaces_notes(tmp_path):
    header, identity = collection(c=2)
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        store.update(n_fits=3, finished="soon")
        store.update(finished="now", notes=[Note("OF103", "a warning")])
        oof = store.predictions()
    assert dict(oof.provenance) == {**header.provenance, "identity": identity, "n_fits": 3, "finished": "now"}
    assert oof.notes == (Note("OF103", "a warning"),)
    assert_same(load(tmp_path / "x.oof"), oof)


def test_a_store_that_is_gone_when_it_is_read_is_saved_elsewhere(tmp_path):
    path = tmp_path / "runs" / "run.oof"
    path.parent.mkdir()
    header, identity = collection()
    store = Store.open(path, header, identity)
    store.write(cells_of(make_predictions("roc_auc"))[:3])
    path.parent.rename(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"run\.oof is gone: .* all finished cells are saved in") as caught:
        store.predictions()
    store.close()
    copy = Path(str(caught.value).partition("saved in ")[2].partition(". Move")[0])
    assert np.sum(load(copy).state == State.DONE) == 3
    shutil.rmtree(copy.parent)


def test_a_closed_store_says_so(tmp_path):
    store = Store.open(tmp_path / "x.oof", *collection())
    store.close()
    store.close()
    with pytest.raises(FileError, match=r"x.oof has been closed\. Open the store again\.(?m:$)"):
        finished(store)


@pytest.mark.parametrize(("n", "c"), [(800, 700), (20_000, 30), (75_000, 8)])
def test_a_store_is_hardly_larger_than_its_predictions(tmp_path, n, c):
    """Cells of 640 bytes to 60 kB, in any order, as they come in from several workers."""
    oof, (header, identity) = make_predictions("mse", n=n, c=c, folds=10), collection("mse", n=n, c=c, folds=10)
    cells = cells_of(oof)
    random.Random(0).shuffle(cells)
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        for start in range(0, len(cells), 100):
            store.write(cells[start : start + 100])
    samples = 25 * n  # a row of the table of samples: position, name and label
    assert (tmp_path / "x.oof").stat().st_size - samples <= 1.2 * oof.data.nbytes


# -- opening a store again ------------------------------------------------------------------------------


def test_going_on_keeps_what_is_there(tmp_path):
    oof, (header, identity) = make_predictions("roc_auc"), collection()
    cells = cells_of(oof)
    for part in (cells[:10], cells[10:]):
        with Store.open(tmp_path / "x.oof", header, identity) as store:
            store.write(part)
    assert_same(load(tmp_path / "x.oof"), oof, but=("provenance",))


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"data": "d1"}, r"made with other data \(X\)\."),
        ({"labels": "l1"}, r"made with labels \(y\) of another type\."),
        ({"seed": "1"}, r"made with seed 0 \(now 1\)\."),
        ({"data": "d1", "plan": "p1"}, r"made with other data \(X\), other plan or splits\."),
        ({"fit_params": "weights"}, r"made with no fit parameters \(now given\)\."),
        ({"response": "score"}, r"made with response proba \(now score\)\."),
    ],
)
def test_another_identity_is_refused(tmp_path, changed, text):
    header, identity = collection()
    Store.open(tmp_path / "x.oof", header, identity).close()
    before = (tmp_path / "x.oof").read_bytes()
    with pytest.raises(StoreMismatchError, match=rf"^x.oof was {text} To go on, .* or delete it to start anew\.(?m:$)"):
        Store.open(tmp_path / "x.oof", header, identity | changed)
    assert_same(load(tmp_path / "x.oof"), replace(header, provenance={**header.provenance, "identity": identity}))
    assert len((tmp_path / "x.oof").read_bytes()) == len(before)


@pytest.mark.parametrize("level", ["equivalent", "tolerant"])
@pytest.mark.parametrize("share", ["close", "exact"])
def test_a_store_of_a_former_share_level_loads_and_is_not_continued(tmp_path, level, share):
    """What was fitted under a level that no longer exists must not be mixed with fits of another level."""
    path = tmp_path / "x.oof"
    X, y = np.arange(40.0).reshape(20, 2), np.array([0, 1] * 10)
    configs = {"near": KNeighborsClassifier(1), "far": KNeighborsClassifier(3)}
    made = collect(configs, X, y, Plan(folds=2), store=path, share=share, rng=0)
    with closing(sqlite3.connect(path, isolation_level=None)) as db, schema.changing(db):
        former = schema.provenance_of(db)
        former["identity"]["share"] = level
        schema.insert_about(db, {"provenance": former})
    assert load(path).fingerprint == made.fingerprint
    np.testing.assert_array_equal(load(path).data, made.data)
    with pytest.raises(StoreMismatchError, match=rf"share='{level}' \(now '{share}'\)"):
        collect(configs, X, y, Plan(folds=2), store=path, share=share, rng=0)


def test_other_splits_configurations_and_origin_are_refused(tmp_path):
    header, identity = collection()
    path = tmp_path / "x.oof"
    Store.open(path, replace(header, blocks={"fresh": header}), identity).close()
    with pytest.raises(StoreMismatchError, match=r"made with other labels or splits\."):
        Store.open(path, collection(seed=1)[0], identity)
    with pytest.raises(StoreMismatchError, match=r"made with other splits of the block 'fresh'\."):
        Store.open(path, replace(header, blocks={"fresh": collection(seed=1)[0]}), identity)
    specs = header.provenance["specs"] | {"config 2": "another", "config 3": "another"}
    with pytest.raises(
        StoreMismatchError, match=r"called 'config 2' with spec of config 2 \(now another\) and 1 more\."
    ):
        Store.open(path, replace(header, provenance={"specs": specs}), identity)
    saved = save(make_predictions("roc_auc"), tmp_path / "saved.oof")
    with pytest.raises(StoreMismatchError, match=r"^saved.oof does not say which call of collect"):
        Store.open(saved, header, identity)


def test_configurations_and_blocks_are_added_and_others_stay(tmp_path):
    whole = make_predictions("roc_auc", c=4)
    header, identity = collection(c=4)
    path = tmp_path / "x.oof"

    def part(*positions):
        out = header.sel(config=list(positions))
        return replace(out, provenance={"specs": {name: f"spec of {name}" for name in out.configs}})

    with Store.open(path, part(2, 0), identity) as store:
        store.write([cell for cell in cells_of(whole) if cell.config in ("config 2", "config 0")])
    fresh = part(3, 2)
    with Store.open(path, replace(fresh, blocks={"fresh": fresh}), identity) as store:
        assert {key[1] for key in finished(store)} == {"config 2", "config 0"}
        store.write([cell for cell in cells_of(whole) if cell.config == "config 3"])
        store.write([cells_of(whole)[0]._replace(block="fresh")])
        oof = store.predictions()
    assert oof.configs == ("config 2", "config 0", "config 3")
    assert set(oof.provenance["specs"]) == set(oof.configs)
    assert same_array(oof.data, whole.sel(config=[2, 0, 3]).data)
    assert oof.blocks["fresh"].state[1, 0, 0] == State.DONE
    assert oof.blocks["fresh"].state.sum() == 1


@pytest.mark.parametrize("name", ["z.csv", "z.csv.gz", "z.parquet", "z.JSON", "z.html", "z.tsv", "z.xlsx"])
def test_endings_of_other_formats_are_refused(tmp_path, name):
    oof = make_predictions("roc_auc")
    with pytest.raises(
        InputError, match=f"saved as .oof files, which {name} would not be. Use a name that ends in .oof"
    ):
        oof.save(tmp_path / name)
    with pytest.raises(InputError, match=r"saved as \.oof files"):
        Store.open(tmp_path / name, oof, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["z", "z.oof", "z.sqlite", "z.v2"])
def test_other_endings_are_allowed(tmp_path, name):
    oof = make_predictions("roc_auc")
    assert load(oof.save(tmp_path / name)).fingerprint == oof.fingerprint


def test_a_saved_copy_can_be_continued(tmp_path):
    oof, (header, identity) = make_predictions("roc_auc"), collection()
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        store.write(cells_of(oof)[:10])
    copy = save(load(tmp_path / "x.oof"), tmp_path / "copy.oof")
    with Store.open(copy, header, identity) as store:
        assert len(finished(store)) == 10
        store.write(cells_of(oof)[10:])
    assert_same(load(copy), oof, but=("provenance",))


# -- crashes, company, full disks -----------------------------------------------------------------------

WRITER = """
import sys
sys.path[:0] = {paths!r}
from test_store import *
oof, (header, identity) = make_predictions("roc_auc", n=60, c=50), collection("roc_auc", n=60, c=50)
store = Store.open({path!r}, header, identity)
for cell in cells_of(oof):
    store.write([cell])
    print("wrote", flush=True)
    {after}
sys.stdin.read()
"""


def start_writer(path: Path, after: str = "") -> subprocess.Popen[str]:
    """Another process that writes cells one by one and then waits."""
    source = Path(store_module.__file__).parents[2]
    paths = [str(folder) for folder in (source, *Path(__file__).parents[:2])]
    code = WRITER.format(paths=paths, path=str(path), after=after)
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.parametrize("count", [1, 7, 120, 249])
def test_killed_at_any_moment_nothing_written_is_lost(tmp_path, count):
    path = tmp_path / "x.oof"
    process = start_writer(path)
    for _ in range(count):
        assert process.stdout.readline() == "wrote\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    oof, (header, identity) = make_predictions("roc_auc", n=60, c=50), collection("roc_auc", n=60, c=50)
    cells = cells_of(oof)
    found = load(path)
    done = found.state == State.DONE
    assert count <= done.sum() <= len(cells)
    assert np.array_equal(found.data[0][done[:, 0][:, oof.folds[:, 0]]], oof.data[0][done[:, 0][:, oof.folds[:, 0]]])
    assert os.listdir(tmp_path) == ["x.oof"]
    with Store.open(path, header, identity) as store:
        store.write([cell for cell in cells if cell[:4] not in finished(store)])
    assert_same(load(path), oof, but=("provenance",))


def test_killed_and_continued_without_loading(tmp_path):
    path = tmp_path / "x.oof"
    process = start_writer(path)
    for _ in range(20):
        process.stdout.readline()
    stop(process)
    assert (tmp_path / "x.oof-wal").exists()
    with Store.open(path, *collection("roc_auc", n=60, c=50)) as store:
        assert len(finished(store)) >= 20
    assert os.listdir(tmp_path) == ["x.oof"]


def test_a_journal_left_behind_does_not_spoil_a_new_file(tmp_path):
    path = tmp_path / "x.oof"
    for again in (lambda: save(make_predictions("mse"), path), lambda: Store.open(path, *collection("mse")).close()):
        process = start_writer(path)
        for _ in range(20):
            process.stdout.readline()
        stop(process)
        path.unlink()  # as the message of a mismatch advises; the journal stays
        assert (tmp_path / "x.oof-wal").exists()
        again()
        assert load(path).response == "value"
        path.unlink()
    process = start_writer(path)
    process.stdout.readline()
    stop(process)
    save(make_predictions("mse"), path)
    assert_same(load(path), make_predictions("mse"))
    assert os.listdir(tmp_path) == ["x.oof"]


def test_one_process_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_LOCK_SECONDS", 0.05)
    path = tmp_path / "x.oof"
    process = start_writer(path, after="sys.stdin.read()")
    process.stdout.readline()
    text = r"^x.oof is in use by another process\. Wait until that one has finished, or use another store\.(?m:$)"
    try:
        with pytest.raises(FileError, match=text):
            Store.open(path, *collection("roc_auc", n=60, c=50))
        with pytest.raises(FileError, match=text):
            load(path)
        with pytest.raises(FileError, match=text):
            save(make_predictions("mse"), path)
    finally:
        stop(process)
    assert load(path).state.sum() == State.DONE


def test_two_that_create_the_same_store_share_one_file(tmp_path, monkeypatch):
    """The slower one goes on with the file of the quicker one."""
    oof, (header, identity) = make_predictions("roc_auc"), collection()
    path, settle = tmp_path / "x.oof", database.settle

    def overtaken(target):
        settle(target)
        monkeypatch.setattr(database, "settle", settle)
        with Store.open(path, header, identity) as quicker:
            quicker.write(cells_of(oof))

    monkeypatch.setattr(database, "settle", overtaken)
    with Store.open(path, header, identity) as store:
        assert len(finished(store)) == len(cells_of(oof))


def test_without_links_the_file_is_moved(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    Store.open(tmp_path / "x.oof", *collection()).close()
    assert os.listdir(tmp_path) == ["x.oof"]


FULL = r"^x.oof could not be written, the disk is full; what was written before is kept\. Free some space and go on\.(?m:$)"


def limit_pages(db: sqlite3.Connection, more: int) -> None:
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages + more}")


def write_one_by_one(store: Store, cells: list[Cell]) -> None:
    for cell in cells:
        store.write([cell])


def test_full_disk_while_collecting_loses_nothing(tmp_path):
    oof, (header, identity) = make_predictions("mse", n=3000, c=10), collection("mse", n=3000, c=10)
    cells, path = cells_of(oof), tmp_path / "x.oof"
    with Store.open(path, header, identity) as store:
        limit_pages(store._db, 20)
        with pytest.raises(FileError, match=FULL):
            write_one_by_one(store, cells)
        written = len(finished(store))
        assert 0 < written < len(cells)
    with Store.open(path, header, identity) as store:
        assert finished(store) == {cell[:4] for cell in cells[:written]}
        store.write(cells[written:])
    assert_same(load(path), oof, but=("provenance",))


def test_full_disk_while_saving(tmp_path, monkeypatch):
    connect = database.connect

    def small(path, mode):
        db = connect(path, mode)
        db.execute("PRAGMA max_page_count = 20")
        return db

    monkeypatch.setattr(database, "connect", small)
    with pytest.raises(FileError, match=FULL):
        save(make_predictions("mse", n=3000, c=10), tmp_path / "x.oof")
    assert os.listdir(tmp_path) == []


def test_a_store_outlives_a_fork(tmp_path):
    """Worker processes made by fork inherit the connection; their end must not let go of the lock."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    oof, (header, identity) = make_predictions("roc_auc"), collection()
    with Store.open(tmp_path / "x.oof", header, identity) as store:
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join()
        assert child.exitcode == 0
        store.write(cells_of(oof))
    assert_same(load(tmp_path / "x.oof"), oof, but=("provenance",))


# -- the page that describes the format -----------------------------------------------------------------


def test_the_page_names_every_table_column_and_fact(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
    db = sqlite3.connect(save(make_predictions("roc_auc"), tmp_path / "x.oof"))
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {name for table in tables for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    facts = {key for (key,) in db.execute("SELECT key FROM about")}
    db.close()
    assert len(tables) == 7
    assert {name for name in {*tables, *columns, *facts} if f"`{name}`" not in page} == set()


def test_the_page_reads_a_file_without_the_package(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]
    oof = make_predictions("roc_auc", r=2)
    save(oof, tmp_path / "run.oof")
    monkeypatch.chdir(tmp_path)
    seen = np.full_like(oof.data, np.nan)
    exec(
        code + "    put(name, r, rows, values)",
        {"put": lambda name, r, rows, v: seen[r, oof.config_index(name)].put(rows, v)},
    )
    assert np.array_equal(seen, oof.data)
