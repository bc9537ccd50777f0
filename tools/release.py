"""Build a release, check what is in it, and try it in clean virtual environments. Nothing is uploaded.

The steps:

1. The version of pyproject.toml, `outfold.__version__`, CITATION.cff and CHANGELOG.md is the same.
2. `python -m build` makes the source distribution and the wheel in `dist/`.
3. `twine check` reads their metadata as the package index would.
4. Both contain every file that the library reads, and nothing that was only lying around.
5. Each is installed into an empty virtual environment, without extras, and used: import, collect, estimate, report, command line.

The script ends by printing the command that a maintainer would run to upload the files.

Examples::

    python tools/release.py               all steps
    python tools/release.py --no-version  a trial build in the middle of development
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# Files of the package that are no Python code, and that it does not work without.
DATA_FILES = {"py.typed", "references.bib", "style.css", "page.js", "template.html"}
SOURCE_FILES = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
GARBAGE = re.compile(r"__pycache__|\.pyc$|\.nb[ic]$|\.hypothesis|\.DS_Store|\.orig$|~$|(^|/)\.venv/|(^|/)out/|\.log$")
WHEEL_LIMIT, SDIST_LIMIT = 2e6, 12e6  # bytes

SMOKE = """
import sys, tempfile
from pathlib import Path
import numpy as np
from sklearn.linear_model import LogisticRegression
import outfold as of

assert of.__version__ == sys.argv[1], of.__version__
assert "site-packages" in of.__file__, of.__file__
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
oof = of.collect(of.grid("logit", LogisticRegression(), C=[0.1, 1.0, 10.0]), X, y, plan=of.Plan(folds=5), rng=0)
estimate = of.estimate.bbc(oof, "roc_auc", n_resamples=100)
assert 0.5 < estimate.value < 1, estimate
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "run.oof"
    oof.save(file)
    assert of.load(file).fingerprint == oof.fingerprint
    page = Path(folder) / "report.html"
    of.report(oof, "roc_auc", n_resamples=100).save(page)
    assert page.stat().st_size > 10_000
assert "@" in of.cite(estimate)
print(estimate)
"""


class ReleaseError(Exception):
    """Something that must be put right before a release."""


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a command and give what it prints; a failure ends the release."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def project_version() -> str:
    """The version that pyproject.toml states."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def check_versions(version: str) -> None:
    """Refuse a release whose files state different versions."""
    stated = {
        "src/outfold/_version.py": r'__version__ = "([^"]+)"',
        "CITATION.cff": r"^version: (\S+)",
        "CHANGELOG.md": r"^## \[(\d[^\]]*)\]",
    }
    for name, pattern in stated.items():
        found = re.search(pattern, (ROOT / name).read_text(), re.M)
        if found is None or found[1] != version:
            given = found[1] if found else "none"
            raise ReleaseError(f"{name} states version {given}; pyproject.toml states {version}. Make them equal.")


def names_in(path: Path) -> set[str]:
    """The files in a wheel or source distribution; those of the latter without its first folder."""
    if path.suffix == ".whl":
        return set(zipfile.ZipFile(path).namelist())
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def check_contents(path: Path) -> str:
    """Refuse a file that lacks what the library needs or carries what it does not; a line on it otherwise."""
    names = names_in(path)
    missing = DATA_FILES - {Path(name).name for name in names}
    if path.suffix == ".whl":
        code = {f"outfold/{file.relative_to(ROOT / 'src' / 'outfold')}" for file in python_files()}
        missing |= code - names
        strangers = {name for name in names if not name.startswith(("outfold/", f"outfold-{project_version()}."))}
        limit = WHEEL_LIMIT
    else:
        missing |= {str(file.relative_to(ROOT)) for file in python_files()} - names
        missing |= SOURCE_FILES - names
        strangers = names - tracked_files() - {"PKG-INFO"}
        limit = SDIST_LIMIT
    strangers |= {name for name in names if GARBAGE.search(name)}
    if missing:
        raise ReleaseError(f"{path.name} lacks {', '.join(sorted(missing)[:10])}")
    if strangers:
        raise ReleaseError(f"{path.name} contains files that do not belong there: {', '.join(sorted(strangers)[:10])}")
    if path.stat().st_size > limit:
        raise ReleaseError(f"{path.name} has {path.stat().st_size:,} bytes; at most {limit:,.0f} are expected")
    return f"{path.name}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB"


def python_files() -> list[Path]:
    """The code of the package."""
    return [ROOT / name for name in tracked_files() if name.startswith("src/outfold/") and name.endswith(".py")]


def tracked_files() -> set[str]:
    """The files that git knows."""
    return set(run("git", "ls-files").splitlines())


def try_out(path: Path, version: str) -> str:
    """Install one file into an empty virtual environment and use it; what the smoke test prints."""
    with tempfile.TemporaryDirectory() as folder:
        environment, elsewhere = Path(folder) / "venv", Path(folder) / "elsewhere"
        elsewhere.mkdir()
        run(sys.executable, "-m", "venv", environment)
        python = environment / "bin" / "python"
        run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", path)
        script = elsewhere / "smoke.py"
        script.write_text(SMOKE)
        printed = run(python, script, version, cwd=elsewhere)
        answer = run(environment / "bin" / "outfold", "--version", cwd=elsewhere)
        if version not in answer:
            raise ReleaseError(f"outfold --version of {path.name} prints {answer!r}")
        return printed.splitlines()[0]


def main(arguments: list[str]) -> int:
    """Run all steps; 0 if the files in `dist/` may be uploaded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-version", action="store_true", help="do not compare the versions that the files state")
    options = parser.parse_args(arguments)
    version = project_version()
    try:
        if not options.no_version:
            check_versions(version)
            if run("git", "status", "--porcelain"):
                raise ReleaseError("there are changes that are not committed; commit them, or use --no-version")
        shutil.rmtree(DIST, ignore_errors=True)
        print(f"Building outfold {version} ...", flush=True)
        run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
        files = sorted(DIST.iterdir())
        if [path.suffix for path in files] != [".whl", ".gz"]:
            raise ReleaseError(f"expected one wheel and one source distribution in dist/, found {files}")
        run(sys.executable, "-m", "twine", "check", "--strict", *files)
        for path in files:
            print(check_contents(path), flush=True)
        for path in files:
            print(f"{path.name} in an empty environment: {try_out(path, version)}", flush=True)
    except ReleaseError as error:
        print(f"Not ready: {error}", file=sys.stderr)
        return 1
    print("\nReady. Nothing was uploaded. To upload:\n    python -m twine upload dist/*")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
