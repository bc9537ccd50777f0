"""How long it takes from the end of a search to its answer: the last fit, the estimate, the report and the files."""

from __future__ import annotations

# Seconds of the processor for what no table makes longer: libraries that are loaded, pictures, files.
_ALWAYS = 2.0
# The estimate and the report take about this many times as long as the look at an estimate so far, which has fewer draws.
_LOOKS = 10.0
# A fit on all rows takes about this many times as long as one on a training part.
_ALL_ROWS = 1.5
# A machine that was slower than this had to load libraries from a slow disk, which it does once.
_SLOWEST = 10.0
# Less work than this tells little. The newest work counts for half of what is known, or less if it was shorter than this.
_LEAST_MEASURED, _LONG, _NEWEST = 0.03, 0.1, 0.5
# A budget keeps this much more than is expected, and a second.
_SPARE, _ONE_MORE = 1.25, 1.0


class AnswerTime:
    """The seconds that an answer is expected to take, from what was measured on the way to it.

    `n_further_fits` is how often the selected configuration is fitted beside the fit on all rows.
    """

    def __init__(self, n_further_fits: int = 0) -> None:
        self.n_fits = 1 + n_further_fits
        self.slowness = 1.0  # seconds on the clock for a second of work: more if the machine has other work
        self._fit = self._look = 0.0
        self._wall = self._cpu = 0.0  # work that was too short to tell

    def saw_work(self, wall: float, cpu: float) -> None:
        """Work of this process alone took this long: seconds on the clock, and of the processor."""
        self._wall, self._cpu = self._wall + wall, self._cpu + cpu
        if self._cpu < _LEAST_MEASURED:
            return
        now = min(max(self._wall / self._cpu, 1.0), _SLOWEST)
        # Old measurements count less, and short ones too.
        weight = 1.0 if self.slowness == 1.0 else min(self._cpu / _LONG, _NEWEST)
        self.slowness += weight * (now - self.slowness)
        self._wall = self._cpu = 0.0

    def saw_fit(self, seconds: float) -> None:
        """The longest fit so far took this long."""
        self._fit = seconds

    def saw_look(self, wall: float, cpu: float) -> None:
        """A look at the estimate so far took this long."""
        self._look = max(self._look, cpu)
        self.saw_work(wall, cpu)

    @property
    def longest_fit(self) -> float:
        """Seconds of the longest fit so far."""
        return self._fit

    @property
    def fits_per_fit(self) -> float:
        """How many fits on a training part take as long as all fits of the answer."""
        return self.n_fits * _ALL_ROWS

    @property
    def expected(self) -> float:
        """Seconds on the clock."""
        return self._without_fits() + self.fits_per_fit * self._fit

    @property
    def reserve(self) -> float:
        """What a budget keeps for the answer."""
        return _SPARE * self.expected + _ONE_MORE

    def latest(self, now: float, end: float, share: float) -> float:
        """When a fit that begins now must be finished, if this share of its time is that of one fit.

        Should it be the best, it is fitted again for the answer, which must be there at the `end`.
        """
        rest = end - _SPARE * self._without_fits() - _ONE_MORE - now
        return now + rest / (1 + _SPARE * self.fits_per_fit * share)

    def _without_fits(self) -> float:
        return self.slowness * (_ALWAYS + _LOOKS * self._look)
