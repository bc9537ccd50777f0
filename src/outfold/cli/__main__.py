"""``python -m outfold.cli`` is ``outfold``."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
