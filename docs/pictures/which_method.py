"""Draws the diagram of "Which method do I need?": three questions, each with an answer for few and for many samples."""

from __future__ import annotations

from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = [
    (
        ["How good is one model", "that I fixed beforehand?"],
        [["K-fold cross-validation,", "repeated if small"], ["estimate.cv"]],
        [["one hold-out"], ["estimate.holdout"]],
    ),
    (
        ["How good is the model", "that I picked of many?"],
        [["K-fold cross-validation,", "corrected for picking"], ["estimate.bbc"]],
        [["train, validation, test"], ["estimate.three_way"]],
    ),
    (
        ["Is model A better", "than model B?"],
        [["the same folds for both"], ["compare.auto"]],
        [["one test set"], ["compare.mcnemar,", "compare.cochran_q"]],
    ),
    (
        ["Is tuned algorithm A", "better than tuned B?"],
        [["nested cross-validation"], ["compare.algorithms"]],
        [["several training and", "test sets"], ["of.from_scores"]],
    ),
    (
        ["Which algorithm is best", "over many data sets?"],
        [["a table of scores"], ["rank.nemenyi, rank.holm"]],
        None,
    ),
]
LEFT, MIDDLE, RIGHT, WIDTH = 10, 255, 490, 720
BOX, HEIGHT, STEP, TOP = 220, 74, 92, 62


def lines(x: float, y: float, texts: list[str], style: str) -> str:
    """Centred lines of text."""
    return "".join(f'<text x="{x}" y="{y + 17 * i}" class="{style}">{escape(t)}</text>' for i, t in enumerate(texts))


def box(x: float, y: float, words: list[str], code: list[str], style: str) -> str:
    """A rounded box; the words above, the name of the function below."""
    texts = len(words) + len(code)
    first = y + HEIGHT / 2 + 5 - 17 * (texts - 1) / 2
    shape = f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="8" class="{style}"/>'
    centre = x + BOX / 2
    return shape + lines(centre, first, words, "word") + lines(centre, first + 17 * len(words), code, "code")


def draw() -> str:
    """The whole diagram as SVG."""
    height = TOP + STEP * len(ROWS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        "<style>text{text-anchor:middle;fill:#222}.code{font-family:monospace;fill:#0b4f8a;font-size:12.5px}",
        ".head{font-weight:bold}.ask{fill:#fff3e0;stroke:#d9822b}.few{fill:#e7f1fa;stroke:#1d6fb8}",
        ".many{fill:#eef5ec;stroke:#4c8c4a}path{stroke:#777;fill:none;marker-end:url(#tip)}</style>",
        '<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">',
        '<path d="M0,0 L6,3 L0,6 z" style="fill:#777;stroke:none;marker-end:none"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        lines(LEFT + BOX / 2, 38, ["your question"], "head"),
        lines(MIDDLE + BOX / 2, 38, ["small or medium data"], "head"),
        lines(RIGHT + BOX / 2, 29, ["large data", "(thousands of test samples)"], "head"),
    ]
    for i, (question, few, many) in enumerate(ROWS):
        y = TOP + STEP * i
        parts.append(box(LEFT, y, question, [], "ask"))
        parts.append(f'<path d="M{LEFT + BOX},{y + HEIGHT / 2} H{MIDDLE - 2}"/>')
        parts.append(box(MIDDLE, y, *few, "few"))
        if many is not None:
            parts.append(box(RIGHT, y, *many, "many"))
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    (HERE / "which_method.svg").write_text(draw())
