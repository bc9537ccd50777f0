"""Equal rows, whatever the features are kept in, and who was held out while a twin was trained on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from extras import pd, pl
from internals import held_out_with_twin, row_codes


def kinds(rows):
    """Number of the row's kind, the plain way."""
    seen = {}
    return [seen.setdefault(row, len(seen)) for row in rows]


def same_kinds(codes, rows):
    assert kinds(codes.tolist()) == kinds(rows)


small = st.integers(-1, 2)


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=small))
def test_codes_are_equal_where_rows_are(table):
    rows = [tuple(row) for row in table.tolist()]
    for X in (
        table,
        table.astype(float),
        table.astype(np.float32),
        np.asfortranarray(table.astype(float)),
        table.astype(object),
        table.astype(str),
        sparse.csr_matrix(table),
        sparse.csc_array(table.astype(float)),
        pd.DataFrame(table),
        pd.DataFrame(table).astype(str),
        pl.DataFrame(table, schema=[str(j) for j in range(table.shape[1])]),
        table.reshape(*table.shape, 1),
    ):
        same_kinds(row_codes(X), rows)


def test_places_signs_and_large_numbers_tell_rows_apart():
    assert len(set(row_codes(np.array([[1, 2], [2, 1], [0, 3], [3, 0]])).tolist())) == 4
    assert len(set(row_codes(np.array([[2**60], [2**60 + 1]])).tolist())) == 2
    assert len(set(row_codes(np.array([[0.0], [-0.0]])).tolist())) == 1
    assert len(set(row_codes(np.array([[np.nan, 1], [np.nan, 1]])).tolist())) == 1
    stored_zero = sparse.csr_matrix((np.array([0.0, 1.0, 1.0]), ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    assert len(set(row_codes(stored_zero).tolist())) == 1
    assert len(set(row_codes(np.array(["a text", "another", "a text"])).tolist())) == 2
    # Round numbers differ in few bits; their hashes must not.
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(set(row_codes(grid).tolist())) == 40**3


def test_blocks_of_rows_give_the_same(monkeypatch):
    table = np.random.default_rng(0).integers(0, 3, (50, 4)).astype(float)
    whole = row_codes(table)
    monkeypatch.setattr("outfold.data.duplicates._BLOCK", 12)
    np.testing.assert_array_equal(row_codes(table), whole)


@pytest.mark.parametrize("X", [None, [[1, 2]], {"a": 1}, np.array(1.0)])
def test_other_things_have_no_rows(X):
    assert row_codes(X) is None


@given(st.data())
def test_held_out_with_twin_is_the_plain_definition(data):
    n = data.draw(st.integers(2, 12))
    codes = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    folds = data.draw(hnp.arrays(np.int32, (n, data.draw(st.integers(1, 3))), elements=st.integers(-1, 3)))
    train = None
    if data.draw(st.booleans()):
        cells = [(r, k) for r in range(folds.shape[1]) for k in range(4)]
        some = st.lists(st.integers(0, n - 1), unique=True)
        train = {(r, k): np.array([i for i in data.draw(some) if folds[i, r] != k], dtype=np.intp) for r, k in cells}
    expected = np.zeros(n, dtype=bool)
    for r in range(folds.shape[1]):
        for i in range(n):
            k = folds[i, r]
            if k >= 0:
                others = [j for j in range(n) if folds[j, r] != k] if train is None else train[r, k]
                expected[i] |= any(codes[j] == codes[i] for j in others)
    np.testing.assert_array_equal(held_out_with_twin(codes, folds, train), expected)
