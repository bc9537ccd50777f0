"""The numbers are those that were stored: what is collected, and every answer to what was collected.

Bit for bit in the environment that a part of the snapshot was made in, nearly so in any other. `make.py` makes it.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
import snapshot_files as files
from cases import CASES, run
from questions import ABOUT, PLAIN, asked, questions, written

# Predictions of another machine.
CLOSE = 1e-6
# Answers in other environments. SciPy's t quantile alone differs by 2.5e-11 between 1.13 and 1.17; subtraction adds a digit.
ELSEWHERE = 1e-9


@pytest.fixture(scope="module")
def exact_collections() -> bool:
    """Whether every bit of what is collected counts here."""
    return files.same_environment("collections")


@pytest.fixture(scope="module")
def exact() -> bool:
    """Whether every bit of an answer counts here."""
    return files.same_environment("answers")


def check_answers(now, then, exact, rel=ELSEWHERE):
    assert then
    found = files.differences(now, then, exact=exact, rel=rel)
    assert not found, f"{len(found)} numbers differ:\n" + "\n".join(found[:20])


def check_predictions(now, then, exact, steady):
    assert now.configs == then.configs
    assert now.response == then.response
    assert now.fingerprint == then.fingerprint
    assert [dict(params) for params in now.params] == [dict(params) for params in then.params]
    np.testing.assert_array_equal(now.folds, then.folds)
    np.testing.assert_array_equal(now.y, then.y)
    assert sorted(now.blocks) == sorted(then.blocks)
    if exact:
        assert now.data.dtype == then.data.dtype
        assert now.data.shape == then.data.shape
        assert now.data.tobytes() == then.data.tobytes()
    elif steady:
        np.testing.assert_allclose(now.data, then.data, rtol=CLOSE, atol=CLOSE)
    if exact or steady:
        # On another machine a last bit may decide what is dropped.
        np.testing.assert_array_equal(now.state, then.state)
        assert sorted(now.messages) == sorted(then.messages)
        about = [{name: asked(lambda ask=ask, oof=oof: ask(oof)) for name, ask in ABOUT.items()} for oof in (now, then)]
        check_answers(*about, exact, rel=CLOSE)
    for name, block in then.blocks.items():
        check_predictions(now.blocks[name], block, exact, steady)


@pytest.mark.parametrize("name", CASES)
def test_collections(name, exact_collections, exact):
    first = CASES[name].since
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < first:
        pytest.skip(f"scikit-learn before {first[0]}.{first[1]} fits or splits this collection in another way")
    oof, more = run(name)
    steady = CASES[name].steady
    check_predictions(oof, files.stored_predictions(name), exact_collections, steady)
    if more and (exact_collections or steady):
        made = {key: written(value) for key, value in more.items()}
        check_answers(made, files.stored_answers(f"{name} made"), exact_collections and exact, rel=CLOSE)


@pytest.mark.parametrize("name", CASES)
def test_questions(name, exact):
    oof = files.stored_predictions(name)
    now = {key: asked(ask) for key, ask in questions(oof, CASES[name].metrics)}
    check_answers(now, files.stored_answers(name), exact)


def test_questions_without_predictions(exact):
    check_answers({key: asked(ask) for key, ask in PLAIN.items()}, files.stored_answers("without predictions"), exact)


def test_a_changed_bit_is_found():
    then = {"p": (0.1).hex(), "draws": {"sum": (1.0).hex(), "sha256": "a"}, "name": "x"}
    assert files.differences(then, then, exact=True) == []
    near = then | {"p": float(np.nextafter(0.1, 1)).hex()}
    assert files.differences(near, then, exact=False) == []
    assert len(files.differences(near, then, exact=True)) == 1
    assert len(files.differences(then | {"p": (0.1 + 1e-9).hex()}, then, exact=False)) == 1
    assert len(files.differences(then | {"draws": {"sum": (1.0).hex(), "sha256": "b"}}, then, exact=True)) == 1
    assert len(files.differences({"p": then["p"]}, then, exact=False)) == 2
