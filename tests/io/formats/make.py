"""Makes the file of the present schema, which every later version must load: python tests/io/formats/make.py.

Never make a file again whose schema has been released; add a file for the new one. Schema 1, v1.oof, held `make()`; schema 2,
v2.oof, also what selects; schema 3, v3.oof, also scores of fitted models. Schema 4, v4.oof, holds `make_curves()`;
schema 5, v5.oof, `make_scored()`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from internals import encode, inner_folds, save
from outfold import Plan, Predictions, State, from_arrays
from outfold.metrics import LiveScore
from outfold.results import Note
from outfold.select import within

N, K = 12, 3


def make() -> Predictions:
    """Two configurations, 3 folds, an inner block, a failed and a dropped cell; every number is known."""
    folds = (np.arange(N)[:, None] % K).astype(np.int32)
    params = ({"C": 0.5, "penalty": None}, {"depth": 3, "shape": (2, 2), "fast": True})
    shared = {
        "target": encode(["sick" if i % 4 == 0 else "healthy" for i in range(N)]),
        "configs": ("logit(C=0.5)", "tree(depth=3)"),
        "response": "proba",
        "params": params,
        "groups": np.arange(N) // 2,
        "samples": np.array([f"P{i:02d}" for i in range(N)]),
        "plan": Plan(folds=K, stratify=False, groups=False),
    }
    inner = replace(_block(inner_folds(folds, K), shared), plan=replace(shared["plan"], repeats=K))
    return replace(
        _block(folds, shared, {(0, 0, 1): State.FAILED, (1, 0, 2): State.DROPPED}),
        blocks={"inner": inner},
        messages={("logit(C=0.5)", 0, 1): "ValueError: no convergence"},
        notes=(Note("OF101", "3 folds instead of 10."),),
        provenance={"seed": 7, "specs": {"logit(C=0.5)": "LogisticRegression(C=0.5)"}},
    )


def _block(folds: np.ndarray, shared: dict, other: dict[tuple[int, int, int], State] | None = None) -> Predictions:
    """Every prediction is (sample + 100 configuration + 1000 repeat) / 10000."""
    r = folds.shape[1]
    state = np.full((2, r, K), State.DONE, dtype=np.uint8)
    for key, value in (other or {}).items():
        state[key] = value
    repeat, config, sample = np.ogrid[:r, :2, :N]
    data = (sample + 100 * config + 1000 * repeat) / 10000
    done = state[config, repeat, folds.T[:, None, :]] == State.DONE
    data = np.where(done & (folds.T[:, None, :] >= 0), data, np.nan)
    return Predictions(data=data, folds=folds, state=_only_planned(state, folds), **shared)


def _only_planned(state: np.ndarray, folds: np.ndarray) -> np.ndarray:
    planned = np.array([[np.any(folds[:, r] == k) for k in range(K)] for r in range(folds.shape[1])])
    return np.where(planned, state, State.PENDING).astype(np.uint8)


def make_scored() -> Predictions:
    """The same with scores of fitted models, and what selects."""
    scores = np.where(make().state == State.DONE, [[[0.5, 0.6, 0.7]], [[0.8, np.nan, 0.9]]], np.nan)
    scored = replace(make(), live_scores={"deviance": scores, "train deviance": 2 * scores})
    return scored.selecting_by(LiveScore("deviance"), aggregate="fold", rule=within(2.5, complexity="C"))


def make_curves() -> Predictions:
    """Survival times, with the risks of two configurations and the curves of one, at two times."""
    time = np.arange(1.0, N + 1)
    P = np.empty((N, 2, 1, 3))
    P[..., 0] = np.arange(N)[:, None, None] + np.array([[100], [200]])
    P[:, 0, 0, 1:] = np.exp(-np.array([3.0, 7.5]) / time[:, None])
    P[:, 1, 0, 1:] = np.nan
    y = np.stack([time, np.arange(N) % 3 > 0], axis=1)
    return from_arrays(y, P, folds=np.arange(N) % K, configs=["cox", "svm"], times=[3.0, 7.5])


if __name__ == "__main__":
    print(save(make_scored(), Path(__file__).with_name("v5.oof")))
