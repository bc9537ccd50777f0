"""Makes docs/pictures/report.png: the README's predictions, their report, and a headless browser that looks at it."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reporting"))

from webdriver import Browser, installed  # noqa: E402

import outfold as of  # noqa: E402


def main() -> None:
    """Collect, report, look."""
    session = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)[0]
    scope: dict[str, object] = {}
    exec(compile(session, "README.md", "exec"), scope)
    found = installed()
    if found is None:
        sys.exit("no browser: make browser")
    browser, target = Browser(*found), ROOT / "docs" / "pictures" / "report.png"
    try:
        with tempfile.TemporaryDirectory() as folder:
            made = of.report(scope["oof"], "accuracy", title="diabetes.oof", top=8)  # type: ignore[arg-type]
            page = made.save(Path(folder) / "report.html")
            browser.show(1040)
            browser.open(page)
            browser.picture(target, 1560)
    finally:
        browser.close()
    Image.open(target).convert("RGB").quantize(96).save(target, optimize=True)
    print(f"{target.name} {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
