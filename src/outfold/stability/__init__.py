"""How many repeats are enough, and how far can one partition be trusted?

A stop rule adds whole repeats until it holds for every configuration that is still running: ``collect(...,
repeats="auto", stop=stability.Rank())``.

| rule | stops when |
| --- | --- |
| `Rank` | another repeat leaves the order of the samples' mean predictions as it was; the one to use |
| `KS` | the scores of even and of odd repeats have the same distribution |
| `Width` | the interval of the estimate is narrow enough |
| `Fixed` | a number of repeats is reached |

`trace`, `reproducibility` and `replicability` say how far one partition can be trusted. `bias_variance` and
`variance_components` say what errors, and scores of halves, vary with.
"""

from ._parts import bias_variance, variance_components
from ._repeats import compare_plans, replicability, reproducibility, trace
from ._stop import KS, Fixed, Rank, Stop, Width
from ._stop import as_stop as as_stop

__all__ = [
    "KS",
    "Fixed",
    "Rank",
    "Stop",
    "Width",
    "bias_variance",
    "compare_plans",
    "replicability",
    "reproducibility",
    "trace",
    "variance_components",
]
