"""What the .632+ bootstrap gives by round on noise, where the truth is the loss without information, and on a signal.

The papers leave open what becomes of a round whose loss out of the bag is above that without information, g. With e0 the loss
of the round's model on all samples, e1 its loss out of the bag, and w = 0.632 / (1 - 0.368 R):

- ``published``: e1 uncapped in .632, min(e1, g) in R and in the correction (Efron and Tibshirani 1997, eq. 31 and 32);
- ``capped``: (1 - w) e0 + w min(e1, g) with R within 0 and 1;
- ``weighted``: (1 - w) e0 + w e1 with R within 0 and 1;
- ``unbounded``: (1 - w) e0 + w e1 with R as it comes (Raschka 2018, eq. 35 to 37; mlxtend);
- ``one weight``: (1 - w) e0 + w e1, the one R, within 0 and 1, from the means over all rounds. This is what Outfold does.

``not by round`` is the published estimate, of the model fitted on all samples; ``out of bag`` is the mean of e1. Classes are
of equal size, so that the expected loss on noise is 0.5 + 0.5 / (n - 1) out of the bag. The ``lean`` of a reading on noise is
its mean minus 0.5, with what chance does to e1 taken out by regression.

Usage: python studies/point632.py [N_DATA_SETS]     writes studies/results/point632.json; 400 take about seven minutes
(and a quarter as many with a signal)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

RESULT = Path(__file__).parent / "results" / "point632.json"
N_ROUNDS, N_FEATURES, N_NEW = 30, 5, 1000
SIZES = (60, 200, 800)
# How far apart the means of the two classes lie.
SHIFTS = {"noise": 0.0, "signal": 1.5}
Floats = NDArray[np.float64]


class Nearest:
    """The label of the nearest training sample."""

    def fit(self, X: Floats, y: NDArray[np.intp]) -> Nearest:  # noqa: D102
        self.X, self.y = X, y
        return self

    def predict(self, X: Floats) -> NDArray[np.intp]:  # noqa: D102
        distances = np.sum(self.X**2, axis=1) - 2 * X @ self.X.T
        return self.y[np.argmin(distances, axis=1)]


LEARNERS = {"1-NN": Nearest(), "tree": DecisionTreeClassifier(random_state=0)}


def weight(rate: Floats) -> Floats:
    return 0.632 / (1 - 0.368 * rate)


def rate_of(e0: Floats, e1: Floats, g: Floats) -> Floats:
    """R within 0 and 1."""
    capped = np.minimum(e1, g)
    return np.where(capped > e0, (capped - e0) / np.where(g > e0, g - e0, 1.0), 0.0)


def published(e0: Floats, e1: Floats, g: Floats) -> Floats:
    rate = rate_of(e0, e1, g)
    return 0.368 * e0 + 0.632 * e1 + (np.minimum(e1, g) - e0) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)


def capped(e0: Floats, e1: Floats, g: Floats) -> Floats:
    w = weight(rate_of(e0, e1, g))
    return (1 - w) * e0 + w * np.minimum(e1, g)


def weighted(e0: Floats, e1: Floats, g: Floats) -> Floats:
    w = weight(rate_of(e0, e1, g))
    return (1 - w) * e0 + w * e1


def unbounded(e0: Floats, e1: Floats, g: Floats) -> Floats:
    w = weight((e1 - e0) / (g - e0))
    return (1 - w) * e0 + w * e1


def one_weight(e0: Floats, e1: Floats, g: Floats) -> Floats:
    w = weight(rate_of(e0.mean(), e1.mean(), g.mean()))
    return (1 - w) * e0 + w * e1


BY_ROUND: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "published": published,
    "capped": capped,
    "weighted": weighted,
    "unbounded": unbounded,
    "one weight": one_weight,
}


def without_information(y: NDArray[np.intp], said: NDArray[np.intp]) -> float:
    return float(y.mean() * (1 - said.mean()) + (1 - y.mean()) * said.mean())


def draw(n: int, shift: float, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, N_FEATURES))
    X[:, 0] += shift * y
    return X, y


def estimates(learner: object, n: int, shift: float, rng: np.random.Generator) -> dict[str, float]:
    """Every estimate of one data set, and the true loss of the model fitted on all of it."""
    X, y = draw(n, shift, rng)
    e0, e1, g = np.empty((3, N_ROUNDS))
    wrong, times = np.zeros(n), np.zeros(n)
    for b in range(N_ROUNDS):
        rows = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), rows)
        said = learner.fit(X[rows], y[rows]).predict(X)  # type: ignore[attr-defined]
        e0[b], e1[b], g[b] = np.mean(said != y), np.mean(said[left] != y[left]), without_information(y, said)
        wrong[left] += said[left] != y[left]
        times[left] += 1
    model = learner.fit(X, y)  # type: ignore[attr-defined]
    said, new, truth = model.predict(X), *draw(N_NEW, shift, rng)
    seen = times > 0
    whole = [np.mean(said != y), np.mean(wrong[seen] / times[seen]), without_information(y, said)]
    out = {name: float(np.mean(combine(e0, e1, g))) for name, combine in BY_ROUND.items()}
    out["out of bag"] = float(e1.mean())
    out["not by round"] = float(published(*map(np.asarray, whole)))
    out["truth"] = 0.5 if shift == 0 else float(np.mean(model.predict(new) != truth))
    return out


def summary(values: Floats, truth: Floats) -> dict[str, float]:
    gaps = values - truth
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return {"mean": rounded(values.mean()), "se": rounded(error), "rmse": rounded(np.sqrt(np.mean(gaps**2)))}


def lean(values: Floats, control: Floats, n: int) -> dict[str, float]:
    """How far the mean is from 0.5, and its standard error, if the loss out of the bag were what it is on average."""
    known = 0.5 + 0.5 / (n - 1)
    slope, at_known = np.polyfit(control - known, values, 1)
    rest = values - at_known - slope * (control - known)
    return {"lean": rounded(at_known - 0.5), "lean_se": rounded(rest.std(ddof=2) / np.sqrt(len(values)))}


def rounded(value: float) -> float:
    return round(float(value), 4)


def study(n_data_sets: int) -> dict[str, dict[str, dict[str, float]]]:
    found = {}
    for data, shift in SHIFTS.items():
        for name, learner in LEARNERS.items():
            for n in SIZES:
                times = n_data_sets if data == "noise" else n_data_sets // 4
                seeds = np.random.SeedSequence(n, spawn_key=(len(name), data == "noise")).spawn(times)
                rows = [estimates(learner, n, shift, np.random.default_rng(seed)) for seed in seeds]
                key, truth = f"{data}, {name}, {n}", np.array([row["truth"] for row in rows])
                found[key] = {"truth": {"mean": round(float(truth.mean()), 4)}}
                control = np.array([row["out of bag"] for row in rows])
                for reading in [*BY_ROUND, "not by round", "out of bag"]:
                    values = np.array([row[reading] for row in rows])
                    found[key][reading] = summary(values, truth) | ({} if shift else lean(values, control, n))
                print(key, {k: v["mean"] for k, v in found[key].items()}, flush=True)
    return found


def main() -> None:
    n_data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    found = study(n_data_sets)
    RESULT.write_text(json.dumps({"data_sets": n_data_sets, "rounds": N_ROUNDS, "settings": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
