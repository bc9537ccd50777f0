"""Draws the picture of the front page from `outfold demo`: thirty searches on 80 patients each, and what came true."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from outfold.apps import demo

HERE = Path(__file__).resolve().parent
COLUMNS = [
    ("own", "what a grid search\nreports", "#c2410c"),
    ("honest", "Outfold's\ncorrected estimate", "#1d6fb8"),
    ("truth", "on 362 patients\nnobody had seen", "#444444"),
]


def draw(tuned: list[demo.TunedSample], path: Path) -> None:
    """Three columns of dots, each with its mean; the dashed line is the mean of the last."""
    plt.rcParams.update({"font.family": "sans-serif", "font.size": 12, "svg.hashsalt": "outfold"})
    figure, ax = plt.subplots(figsize=(7.2, 3.9), layout="constrained")
    truth = float(np.mean([one.truth for one in tuned]))
    ax.hlines(truth, -0.45, 1.75, color="#444444", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    jitter = np.random.default_rng(0).uniform(-0.13, 0.13, len(tuned))
    for x, (name, _, colour) in enumerate(COLUMNS):
        values = np.array([getattr(one, name) for one in tuned])
        ax.scatter(x + jitter, values, s=34, color=colour, alpha=0.45, linewidths=0)
        ax.hlines(values.mean(), x - 0.24, x + 0.24, color=colour, linewidth=3)
        end = (x + 0.27, values.mean())
        ax.annotate(f"{end[1]:.2f}", end, va="center", color=colour, fontweight="bold", fontsize=14)
    ax.set_xticks(range(3), [label for _, label, _ in COLUMNS])
    for tick, (_, _, colour) in zip(ax.get_xticklabels(), COLUMNS, strict=True):
        tick.set_color(colour)
    ax.set_xlim(-0.45, 2.6)
    ax.set_ylabel("accuracy")
    ax.tick_params(axis="x", length=0)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(demo.main(n_jobs=1, out=io.StringIO())[1:], HERE / "landing.svg")
