"""Makes the pictures of docs/pictures.md by the code that stands there: every block that ends in a picture draws it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

DOCS = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n!\[[^\]]*\]\(pictures/([\w.]+)\)\n)?", re.M | re.S)


def save(ax: object, path: Path) -> None:
    """A small file: few colours are enough."""
    from PIL import Image

    figure = np.ravel(ax)[0].figure
    figure.savefig(path, dpi=100)
    Image.open(path).convert("RGB").quantize(128, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def main(wanted: set[str]) -> None:
    """Run all blocks in order, and save the axes each leaves behind; `wanted` names some pictures only."""
    import matplotlib.pyplot as plt

    scope: dict[str, object] = {}
    for code, picture in BLOCK.findall((DOCS / "pictures.md").read_text()):
        if wanted and picture and picture not in wanted and "ax = " in code:
            continue
        exec(compile(code, "pictures.md", "exec"), scope)
        if picture.endswith(".png"):
            path = DOCS / "pictures" / picture
            save(scope["ax"], path)
            print(f"{path.name} {path.stat().st_size / 1000:.0f} kB")
        plt.close("all")


if __name__ == "__main__":
    main(set(sys.argv[1:]))
