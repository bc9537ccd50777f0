"""Runs a study: ``python studies/run.py fold-number`` for a quick part, ``--full`` for the page; ``--help`` has the rest."""

from __future__ import annotations

import sys

from harness.command import main

if __name__ == "__main__":
    sys.exit(main())
