"""Run scikit-learn's own tests of its searches on ours, and compare the failures with a list of known ones.

The tests are those of the installed scikit-learn; none is copied. A test counts if it makes one of our searches. The run fails
if a test fails that is not listed, if a listed one passes, or if a listed one does not exist. The list holds for one version
of scikit-learn; with another one, the differences are printed, and the run does not fail.

Arguments go to pytest::

    python tests/sklearn_suite/run.py
    python tests/sklearn_suite/run.py --tb=short -k refit
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LIST = FOLDER / "known_failures.toml"


@dataclass(frozen=True)
class KnownFailures:
    """The tests known to fail with one version of scikit-learn, each with its reason."""

    version: str
    reasons: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> KnownFailures:
        """The list in a file; a test may be listed once."""
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        listed = [(test, cause["reason"]) for cause in found.get("cause", []) for test in cause["tests"]]
        twice = [test for test, n in Counter(test for test, _ in listed).items() if n > 1]
        if twice:
            raise ValueError(f"{path.name} lists {', '.join(twice)} twice.")
        return cls(found["scikit_learn"], dict(listed))


def differences(known: KnownFailures, collected: list[str], outcomes: dict[str, str]) -> list[str]:
    """One sentence for each test whose result is not what the list says; `outcomes` are of tests that touch a search."""
    found = []
    for test, outcome in outcomes.items():
        if outcome == "failed" and test not in known.reasons:
            found.append(f"{test} fails and is not listed.")
        if outcome == "passed" and test in known.reasons:
            found.append(f"{test} passes and is listed: {known.reasons[test]}")
    exist = set(collected)
    return found + [f"{test} is listed and does not exist." for test in known.reasons if test not in exist]


def summary(version: str, known: KnownFailures, outcomes: dict[str, str]) -> str:
    """The closing line."""
    counts = Counter(outcomes.values())
    listed = sum(test in known.reasons for test in outcomes)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    ends = f"{counts['passed']} pass, {counts['failed']} fail{skipped}"
    return (
        f"scikit-learn {version}: {len(outcomes)} tests touch a search: {ends}; {listed} are listed as known failures."
    )


def verdict(version: str, known: KnownFailures, found: list[str]) -> tuple[int, list[str]]:
    """What a run returns, and what it says about the list."""
    if version == known.version:
        return int(bool(found)), found
    of_list = f"The list was made for scikit-learn {known.version}, and this is {version}: differences do not count."
    return 0, [*found, of_list]


def main(arguments: list[str]) -> int:
    """Run the tests, print differences and counts; 0 if all is as listed."""
    # Worker processes unpickle our searches, so they must find them too.
    paths = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path[:1] = paths[:1]
    # On small arrays, several threads wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import pytest
    import sklearn.model_selection

    from sklearn_suite.plugin import Suite

    tests = Path(sklearn.model_selection.__file__).parent / "tests" / "test_search.py"
    if not tests.exists():
        print(f"scikit-learn {sklearn.__version__} was installed without its tests: there is no {tests}.")
        return 1
    suite = Suite()
    quiet = ["-q", "--tb=no", "--no-header", "-rN", "--disable-warnings"]
    options = ["-c", str(FOLDER / "pytest.ini"), "-p", "no:cacheprovider", "-p", "no:xdist", *quiet, *arguments]
    code = pytest.main([*options, str(tests)], plugins=[suite])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return int(code)
    outcomes = {test: outcome for test, outcome in suite.outcomes.items() if test in suite.touching}
    known = KnownFailures.read(LIST)
    result, said = verdict(sklearn.__version__, known, differences(known, suite.collected, outcomes))
    print(*said, summary(sklearn.__version__, known, outcomes), sep="\n")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
