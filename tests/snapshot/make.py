"""Makes the snapshot: python tests/snapshot/make.py.

The stored numbers say what the code gave when they were made. Make them again only where a change of numbers is meant, and
say in the commit which numbers change and why.

Usage: python tests/snapshot/make.py               collections and answers
       python tests/snapshot/make.py answers       answers only, of the collections that are stored
       python tests/snapshot/make.py [answers] CASE ...     the same of some cases, where the environment is that of the others
"""

from __future__ import annotations

import sys

import snapshot_files as files
from cases import CASES, run
from questions import PLAIN, asked, questions, written


def main(arguments: list[str]) -> None:
    files.DATA.mkdir(exist_ok=True)
    collecting, names = arguments[:1] != ["answers"], arguments[arguments[:1] == ["answers"] :]
    for name in names or CASES:
        oof, more = run(name)
        if collecting:
            files.store_predictions(name, oof)
        files.store_answers(f"{name} made", {key: written(value) for key, value in more.items()})
        again = files.stored_predictions(name)
        answers = {key: asked(ask) for key, ask in questions(again, CASES[name].metrics)}
        files.store_answers(name, answers)
        refused = sum("refused" in answer for answer in answers.values() if isinstance(answer, dict))
        print(f"{name}: {len(answers)} answers, of which {refused} are refusals")
    if not names:
        files.store_answers("without predictions", {key: asked(ask) for key, ask in PLAIN.items()})
        files.store_environment("answers", *(["collections"] if collecting else []))


if __name__ == "__main__":
    main(sys.argv[1:])
