"""How many repeats are enough, and how far can one partition be trusted?

A stop rule adds whole repeats until it holds for every configuration that is still running: ``collect(...,
repeats="auto", stop=stability.Rank())``.

| rule | stops when |
| --- | --- |
| `Rank` | another repeat leaves the order of the samples' mean predictions as it was; the one to use |
| `KS` | the scores of even and of odd repeats have the same distribution |
| `Leader` | the lead has not changed for so many repeats |
| `Width` | the interval of the estimate is narrow enough |
| `Fixed` | a number of repeats is reached |
"""

from ._flips import flips
from ._repeats import compare_plans, replicability, reproducibility, trace
from ._stopping import KS, Fixed, Leader, Rank, Stop, Width
from ._stopping import as_stop as as_stop
from ._variance import variance

__all__ = [
    "KS",
    "Fixed",
    "Leader",
    "Rank",
    "Stop",
    "Width",
    "compare_plans",
    "flips",
    "replicability",
    "reproducibility",
    "trace",
    "variance",
]
