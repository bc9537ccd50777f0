"""The simulations of ``make calibrate``, with what they measure kept in studies/results/calibration.json.

The tests in tests/calibration simulate with a known truth, and fail if a claim does not hold. Here they also write down their
numbers; tests/test_claims.py compares the pages with them.

Usage: python studies/calibration.py [PYTEST ARGUMENTS]     such as ``-k tied_set``; all of them take about 20 minutes
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "studies" / "results" / "calibration.json"


def main() -> int:
    command = [sys.executable, "-m", "pytest", "-m", "calibration", "tests/calibration", *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"OUTFOLD_RECORD": str(RESULT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
