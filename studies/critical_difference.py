"""The picture of docs/ranking.md: Demsar's four variants of C4.5 over 14 data sets, as a critical difference diagram."""

from __future__ import annotations

from pathlib import Path

import outfold as of

# AUC, Demsar (2006), Table 6; in "voting" the last digit tells apart what the paper ranks apart.
SCORES = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.94, 0.619, 0.972, 0.957],
    "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
    "C4.5+cf": [0.771, 0.59, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.97501, 0.946],
    "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.97],
}


def picture() -> str:
    return of.rank.nemenyi(SCORES, alpha=0.1).to_svg()


def main() -> None:
    path = Path(__file__).parents[1] / "docs" / "pictures" / "critical_difference.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(picture())
    print(path)


if __name__ == "__main__":
    main()
