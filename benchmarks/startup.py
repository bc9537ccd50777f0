"""CPU time to import outfold, against the import of scikit-learn's model_selection, in new processes and in turns."""

from __future__ import annotations

import resource
import subprocess
import sys

from measuring import Results, arguments


def seconds(statement: str) -> float:
    """CPU seconds of a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    statements = {
        "outfold": "import outfold",
        "sklearn.model_selection": "import sklearn.model_selection",
        "nothing": "",
    }
    args = arguments(__doc__).parse_args()
    turns = [{name: seconds(text) for name, text in statements.items()} for _ in range(2 if args.quick else 7)]
    best = {name: min(turn[name] for turn in turns) for name in statements}
    for name, value in best.items():
        print(f"{name:<28}{value:6.3f} s")
    Results("startup", args.keep).add("seconds", **best)


if __name__ == "__main__":
    main()
