"""Finds phrases that readers stumble over, in the pages and in what the code says: `python tools/style.py`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A phrase, and what to write instead.
PHRASES = {
    r"hangs? on\b": "depends on",
    r"stands? in (?!for\b)": "is in",
    r"\ba row a\b": "one row for each",
    r"winner's own score": "winner's cross-validation score",
    r"takes? the flattery": "corrects for picking the best",
    r"so many (?:samples|configurations|folds)\b": "that many, or the number",
    r"believes? it\b": "does not check",
    r"who looks at a p value": "if you look at a p value",
}
PATTERNS = [(re.compile(phrase, re.IGNORECASE), instead) for phrase, instead in PHRASES.items()]
SKIPPED = {"_build", "gallery", "studies"}  # made by the build, or by the studies from their result files


def texts() -> Iterator[tuple[Path, int, str]]:
    """Lines of the pages without code, and the texts of the code: file, line, text."""
    pages = [*ROOT.glob("*.md"), *(p for p in (ROOT / "docs").rglob("*.md") if not SKIPPED & set(p.parts))]
    for page in pages:
        text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), page.read_text(), flags=re.M | re.S)
        yield from ((page, number, line) for number, line in enumerate(text.splitlines(), start=1))
    for module in [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").glob("*.py")]:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield module, node.lineno, " ".join(node.value.split())


def findings() -> list[str]:
    """Where such a phrase is, and what to write instead."""
    return [
        f'{path.relative_to(ROOT)}:{line}: "{found[0]}"; write "{instead}"'
        for path, line, text in texts()
        for pattern, instead in PATTERNS
        if (found := pattern.search(text))
    ]


if __name__ == "__main__":
    print("\n".join(found := findings()) or "No phrase that readers stumble over.")
    sys.exit(bool(found))
