"""``outfold run --cluster``: the address, and the same answer as on this machine."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import outfold as of
from cluster_searches import X, y
from internals import main, run
from outfold.exceptions import InputError


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "train.csv"
    rows = [",".join([*(f"x{i}" for i in range(4)), "y"])]
    rows += [
        ",".join([*(f"{v:.6f}" for v in row[:4]), str(label)]) for row, label in zip(X[:120], y[:120], strict=True)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def few(X, y, task):
    from sklearn.linear_model import LogisticRegression

    return of.grid("logit", LogisticRegression(), C=[0.01, 1.0, 100.0])


def test_local_cluster_gives_the_same_answer(table, tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed (outfold[dask])")
    seen = []
    for name, cluster in (("here", None), ("there", "local:1")):
        run.run(table, "y", tmp_path / name, space=few, folds=3, repeats=1, cluster=cluster, progress=False)
        seen.append(of.load(tmp_path / name / "run.oof"))
    assert np.array_equal(seen[0].state, seen[1].state)
    assert np.array_equal(seen[0].data, seen[1].data, equal_nan=True)  # what was dropped is NaN in both
    assert (tmp_path / "there" / "report.html").exists()


@pytest.mark.parametrize("address", ["local:0", "local", "localhost:8786", "http://a:1", "ray://", ""])
def test_another_address_is_refused_before_the_work(table, tmp_path, address):
    with pytest.raises(InputError, match=r"cluster must be tcp://host:8786 \(Dask\), ray://host:10001"):
        run.run(table, "y", tmp_path / "out", cluster=address)
    assert not (tmp_path / "out").exists()


def test_the_command_line_names_its_option(table, tmp_path, capsys):
    assert main(["run", str(table), "--target", "y", "-o", str(tmp_path / "out"), "--cluster", "far"]) == 2
    assert "--cluster must be tcp://host:8786" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "address", "extra"), [("distributed", "local:1", "dask"), ("ray", "ray://a:1", "ray")]
)
def test_a_library_that_is_not_there_is_named(table, tmp_path, monkeypatch, module, address, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        InputError, match=rf"cluster needs {extra} for this address; .*pip install 'outfold\[{extra}\]'"
    ):
        run.run(table, "y", tmp_path / "out", space=few, cluster=address, progress=False)


def test_a_scheduler_that_does_not_answer_is_named(table, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="distributed is not installed (outfold[dask])")
    monkeypatch.setattr("outfold.apps.clusters._SCHEDULER_SECONDS", 0.5)
    with pytest.raises(InputError, match=r"names a Dask scheduler that does not answer; tcp://127.0.0.1:9"):
        run.run(table, "y", tmp_path / "out", space=few, cluster="tcp://127.0.0.1:9", progress=False)
