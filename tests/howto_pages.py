"""The how-to pages: those of other tools read sample files, and need libraries that the tests may lack."""

from __future__ import annotations

import re
from pathlib import Path

HOWTO = Path(__file__).parents[1] / "docs" / "howto"
_SECTION = (HOWTO / "index.md").read_text().partition("## Other tools\n")[2].partition("```")[0]
OTHER_TOOLS = [HOWTO / target for target in re.findall(r"\]\((.*?\.md)\)", _SECTION)]
