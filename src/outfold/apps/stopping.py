"""What ends a search or an answer before its time: Ctrl-C, SIGTERM, and the end of a budget."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

Reason = Literal["budget", "interrupt", "terminate"]

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """A context in which SIGTERM and the end of a budget arrive as `KeyboardInterrupt`, as Ctrl-C does.

    Signals need the main thread; in another one, `due` says that the budget is over.
    """

    reason: Reason = "interrupt"

    def __init__(self) -> None:
        self.due = False
        self._timer: threading.Timer | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._open, self._lock = False, threading.RLock()

    def __enter__(self) -> Stop:
        self._open = True
        if threading.current_thread() is threading.main_thread():
            handlers = {signal.SIGINT: self._on_interrupt, signal.SIGTERM: lambda *_: self._interrupt("terminate")}
            self._before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._open = False
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def after(self, seconds: float) -> None:
        """Interrupt the search after this time, instead of at an earlier one that was set."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(max(seconds, 0.0), self._interrupt, ("budget",))
        self._timer.daemon = True
        self._timer.start()

    def _on_interrupt(self, number: int, frame: Any) -> None:
        """Ctrl-C does what it did before; a process in the background may ignore it, but not the end of its budget."""
        before = self._before.get(signal.SIGINT)
        if self.due:
            if self._open:
                raise KeyboardInterrupt
        elif before is signal.default_int_handler:
            raise KeyboardInterrupt
        elif callable(before):
            before(number, frame)

    def _interrupt(self, reason: Reason) -> None:
        with self._lock:
            if not self._open:
                return
            self.reason, self.due = reason, True
            main = threading.main_thread().ident
            if not self._before or main is None:
                return  # `due` is looked at whenever a fit is done
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main, signal.SIGINT)  # it waits where interrupts are held back
            else:
                _thread.interrupt_main()


class Finishing:
    """A context in which an answer is written: the first Ctrl-C or SIGTERM calls `warn`, the second is a `KeyboardInterrupt`.

    People press Ctrl-C twice to end a search. Signals need the main thread; in another one, nothing changes.
    """

    def __init__(self, warn: Callable[[], None]) -> None:
        self._warn = warn
        self._n_signals = 0
        self._held = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Finishing:
        if threading.current_thread() is threading.main_thread():
            # A process in the background may ignore Ctrl-C, and goes on to do so.
            watched = [number for number in _NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._on_signal) for number in watched}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing ends what is done here, which must be short: the answer is there then."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def _on_signal(self, number: int, frame: Any) -> None:
        if self._held:
            return
        self._n_signals += 1
        if self._n_signals > 1:
            raise KeyboardInterrupt
        with suppress(RuntimeError):  # the signal came while the same stream was written to
            self._warn()
