"""Run the tests in several environments: oldest and newest dependencies, no extras, every supported Python.

Each environment is a virtual environment of its own below `.matrix/`, made by uv. The script prints a table at the end and
returns 1 if one of the environments fails. An interpreter that this machine lacks is reported, and is not a failure; with
`--strict` it is one.

Examples::

    python tools/matrix.py                       all environments, all tests
    python tools/matrix.py --quick               all environments, a few minutes of tests
    python tools/matrix.py oldest bare           two environments
    python tools/matrix.py oldest -- tests/io    one environment, one folder of tests
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# A few tests of every layer.
QUICK = (
    "tests/test_import.py",
    "tests/test_select.py",
    "tests/test_intervals.py",
    "tests/data",
    "tests/io",
    "tests/metrics",
    "tests/stats",
    "tests/estimate",
    "tests/snapshot",
)


@dataclass(frozen=True)
class Environment:
    """One row of the table: an interpreter, and which versions of the dependencies to install."""

    name: str
    python: str
    about: str
    extras: bool = True
    resolution: str = "highest"

    def install_command(self, uv: str, python: Path) -> list[str]:
        """The command that installs the package, its dependencies and what the tests need."""
        package = f"{ROOT}[all]" if self.extras else str(ROOT)
        group = "test-most" if self.extras else "test-core"
        command = [uv, "pip", "install", "--quiet", "--python", str(python), "--resolution", self.resolution]
        return [*command, "--upgrade", "--group", f"{ROOT / 'pyproject.toml'}:{group}", "--editable", package]


ENVIRONMENTS = (
    Environment("oldest", "3.11", "the oldest supported version of each dependency", resolution="lowest-direct"),
    Environment("newest", "3.11", "the newest version of each dependency"),
    Environment("bare", "3.11", "newest dependencies, no extras: no numba, pandas, pyarrow, matplotlib", extras=False),
    *(Environment(f"py{v.replace('.', '')}", v, "newest dependencies") for v in PYTHONS if v != "3.11"),
)


def find_uv() -> str:
    """The path of uv, which is installed below `.matrix/` if this machine has none."""
    found = shutil.which("uv")
    if found:
        return found
    own = FOLDER / "uv"
    if not (own / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
        subprocess.run([str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", "uv"], check=True)
    return str(own / "bin" / "uv")


def find_python(version: str, uv: str) -> str | None:
    """The path of an interpreter of this version, or None; uv may download it where the network allows that."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    candidates += [f"python{version}"]
    for candidate in candidates:
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        try:
            answer = subprocess.run([candidate, "-c", asked], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        if answer.stdout.strip() == version:
            return candidate
    installed = subprocess.run([uv, "python", "install", "--quiet", version], capture_output=True, check=False)
    if installed.returncode:
        return None
    command = [uv, "python", "find", "--managed-python", version]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions(python: Path) -> str:
    """The versions that matter most, as one line."""
    names = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
    code = (
        "import importlib.metadata as m\n"
        f"for name in {names!r}:\n"
        "    try: print(name, m.version(name), end=', ')\n"
        "    except m.PackageNotFoundError: pass"
    )
    answer = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return answer.stdout.strip().rstrip(",")


def run(environment: Environment, uv: str, tests: list[str], workers: str) -> tuple[str, str]:
    """Make one environment, run the tests in it; the result as one word, and what there is to say about it."""
    interpreter = find_python(environment.python, uv)
    if interpreter is None:
        return "MISSING", f"no Python {environment.python} on this machine, and uv could not download it"
    folder = FOLDER / environment.name
    python = folder / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", interpreter, str(folder)], check=True)
    if subprocess.run(environment.install_command(uv, python), check=False).returncode:
        return "FAILED", "the dependencies could not be installed"
    print(f"\n== {environment.name}: Python {environment.python}, {versions(python)}", flush=True)
    log = FOLDER / f"{environment.name}.log"
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-n", workers, *tests]
    started = time.monotonic()
    with log.open("w") as file:
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    text = log.read_text()
    summary = re.findall(r"^=*\s*(\d.* in [\d.]+s.*?)\s*=*$", text, re.M)
    if code:
        print("\n".join(re.findall(r"^(?:FAILED|ERROR) .*", text, re.M)[:40]))
    seconds = time.monotonic() - started
    about = summary[-1] if summary else f"pytest ended with code {code} after {seconds:.0f} s"
    return ("ok" if code == 0 else "FAILED"), f"{about}; see {log.relative_to(ROOT)}" if code else about


def main(arguments: list[str]) -> int:
    """Run the environments that were named; 0 if none of them failed."""
    arguments, tests = (
        (arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :])
        if "--" in arguments
        else (arguments, [])
    )
    names = [environment.name for environment in ENVIRONMENTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"environments to run, of {', '.join(names)}; all by default")
    parser.add_argument("--quick", action="store_true", help="run a few tests of every layer")
    parser.add_argument("--strict", action="store_true", help="an interpreter that is missing is a failure")
    parser.add_argument("--workers", default="2", help="processes that run tests (default 2)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"no environment {', '.join(unknown)}; there are {', '.join(names)}")
    tests = tests or [test for test in QUICK if options.quick and (ROOT / test).exists()]
    FOLDER.mkdir(exist_ok=True)
    uv = find_uv()
    rows = []
    for environment in ENVIRONMENTS:
        if options.names and environment.name not in options.names:
            continue
        result, about = run(environment, uv, tests, options.workers)
        rows.append((environment, result, about))
        print(f"{environment.name}: {result}, {about}", flush=True)
    print(f"\n{'environment':<12} {'python':<7} {'result':<8} about")
    for environment, result, about in rows:
        print(f"{environment.name:<12} {environment.python:<7} {result:<8} {environment.about}; {about}")
    bad = {"FAILED", "MISSING"} if options.strict else {"FAILED"}
    return int(any(result in bad for _, result, _ in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
