"""Power of five tests, after Figures 6 and 7 of Wang et al. (2014), as pictures.

The paper does not say how its figures leave the null hypothesis. Its tests are of "the difference is mu_0" (eq. 5.1) and its two
settings stay fixed, so here mu_0 moves away from the true difference, and the share of data sets in which it is refused is drawn.
Data sets without a p value (the difference is the same in both halves of a two-fold) do not count as refused.

Usage: python studies/power_curves.py [N_DATA_SETS] [FOLDER]     writes studies/results/power_curves.json and the pictures
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gaussians import PLANS, SETTINGS, TESTS, pvalues, simulate

DRAWN = [
    ("t_kfold", "2-fold"),
    ("t_corrected_kfold", "2-fold"),
    ("t_5x2cv", "5x2"),
    ("f_5x2cv", "5x2"),
    ("t_blocked_3x2", "blocked 3x2"),
]
# Distance of mu_0 from the true difference, as far as the strongest test needs to reach full power.
REACH = {"simulation 1": 0.16, "simulation 2": 0.06}
POINTS = 9
RESULT = Path(__file__).parent / "results" / "power_curves.json"


def power(n: int, errors: dict[str, np.ndarray], reach: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Distances from the true difference, and the share refused at each by every test."""
    distances = np.linspace(0, reach, POINTS)
    curves = {}
    for test, plan in DRAWN:
        true = float((errors[plan][:, 0] - errors[plan][:, 1]).mean())
        shares = [
            np.mean(pvalues(TESTS[test, plan][0], errors[plan], PLANS[plan], n, true + x) <= 0.05) for x in distances
        ]
        curves[test] = np.array(shares)
    return distances, curves


def page_rows(curves: dict[str, list[float]]) -> Iterator[str]:
    """The lines of the table of one simulation, as the page has them."""
    titles = [f"`{name}`" if name != "distance" else name for name in curves]
    yield f"| {' | '.join(titles)} |"
    yield "|" + " --- |" * len(titles)
    for x, *shares in zip(*curves.values(), strict=True):
        yield f"| {x:.4f} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


def draw(name: str, distances: np.ndarray, curves: dict[str, np.ndarray], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "outfold"
    figure, axes = plt.subplots(figsize=(6.4, 4))
    for (test, shares), style in zip(curves.items(), ("-", "--", "-.", ":", "-"), strict=True):
        axes.plot(distances, shares, style, marker="o", markersize=3, label=test)
    axes.axhline(0.05, color="grey", linewidth=0.8)
    n, _ = SETTINGS[name]
    axes.set(xlabel="distance of mu_0 from the true difference", ylabel="share of data sets", ylim=(0, 1))
    axes.set_title(f"Power in {name} (n = {n}), alpha = 0.05")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1] / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    plans, found = {plan: PLANS[plan] for _, plan in DRAWN}, {}
    for name, (n, s) in SETTINGS.items():
        distances, curves = power(n, simulate(n, s, n_sets, plans, progress=True), REACH[name])
        found[name] = {"distance": distances.round(6).tolist()} | {
            test: c.round(4).tolist() for test, c in curves.items()
        }
        print(f"\n{name}", *page_rows(found[name]), sep="\n")
        path = folder / f"power_{name.replace(' ', '_')}.svg"
        draw(name, distances, curves, path)
        print(f"\ndrawn: {path.name}", flush=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "simulations": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
