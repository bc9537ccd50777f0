"""Scripts that a test starts, ends by force and starts again, each in a process of its own.

A new process spends most of its time on importing scikit-learn. So one process, the server, imports it once. For each script, it
makes a copy of itself by ``fork``. The copy runs the script as ``__main__`` and ends as any Python process does.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMPORTS = (
    "pytest",  # for scripts that import a test
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "outfold.fitting.api",
    "outfold.fitting.sharing.executor",
    "outfold.apps.run",
    "outfold.cli",
)


class Script:
    """A script that was started."""

    def __init__(self, server: ScriptServer, pid: int, output: Path | None) -> None:
        self.server, self.pid, self.output = server, pid, output
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, as `subprocess` gives it, or None while the script runs."""
        if self.returncode is None:
            self.returncode = self.server.ask("poll", self.pid)
        return self.returncode

    def wait(self, seconds: float = 300.0) -> int:
        """The exit code, as soon as the script has ended."""
        until = time.monotonic() + seconds
        while (code := self.poll()) is None:
            assert time.monotonic() < until, f"the script has not ended after {seconds:g} s\n{self.stacks()}"
            time.sleep(0.02)
        return code

    def stacks(self) -> str:
        """What the script has printed, and where all its threads are; it is ended then."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(1.0)
        os.killpg(self.pid, signal.SIGKILL)
        return "" if self.output is None else self.output.with_name(f"{self.output.name}.err").read_text()


class ScriptServer:
    """The process that scripts are copies of, as the tests see it."""

    def __init__(self) -> None:
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
        command = [sys.executable, str(Path(__file__).resolve())]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, *request: object) -> int | None:
        """What the server answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def start(self, path: os.PathLike[str] | str, *args: object, output: Path | None = None) -> Script:
        """Run a script in a session of its own; what it prints goes to `output` with the endings .out and .err."""
        pid = self.ask("start", str(path), [str(arg) for arg in args], None if output is None else str(output))
        assert pid is not None
        return Script(self, pid, output)

    def run(self, path: os.PathLike[str] | str, *args: object) -> None:
        """Run a script to its end, which must be a good one."""
        assert self.start(path, *args).wait() == 0

    def warm_up(self, path: os.PathLike[str] | str) -> None:
        """Import a module into the server, with the folder it is in, and call its ``warm_up``: scripts find all that imported."""
        assert self.ask("warm up", str(path)) == 0

    def close(self) -> None:
        """End the server; scripts that run go on."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


# -- in the server --------------------------------------------------------------------------------------


def serve() -> None:
    """Answer one request after the other. A copy leaves the loop: it runs its script instead."""
    for name in IMPORTS:
        import_module(name)
    gc.freeze()  # a copy that ends need not look through what the server has imported
    for line in sys.stdin:
        word, *given = json.loads(line)
        if word == "start":
            answer = os.fork()
            if answer == 0:
                become(*given)
                return
        elif word == "warm up":
            answer = warm_up(*given)
        else:
            answer = ended(*given)
        print(json.dumps(answer), flush=True)


def ended(pid: int) -> int | None:
    """The exit code of a copy, None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def warm_up(path: str) -> int:
    """Import a module and call its ``warm_up``."""
    sys.path.insert(0, os.path.dirname(path))
    import_module(Path(path).stem).warm_up()
    gc.freeze()
    return 0


def become(path: str, args: list[str], output: str | None) -> None:
    """Run the script as ``__main__``, in a session of its own, with an output of its own."""
    os.setsid()
    faulthandler.register(signal.SIGUSR1)  # a script that hangs is asked where
    for descriptor, ending in ((1, ".out"), (2, ".err")):
        if output is not None:
            target = os.open(output + ending, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, descriptor)
        elif descriptor == 1:  # the server's own answers go there
            os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [path, *args]
    sys.path.insert(0, os.path.dirname(path))
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    serve()
