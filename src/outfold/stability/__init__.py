"""How many repeats are enough, and how far can one partition be trusted?

A stop rule adds whole repeats until it holds for every configuration that is still running: ``collect(...,
repeats="auto", stop=stability.Rank())``.

| rule | stops when |
| --- | --- |
| `Rank` | another repeat leaves the order of the samples' mean predictions as it was; the one to use |
| `KS` | the scores of even and of odd repeats have the same distribution |
| `Leader` | the lead has not changed for a number of repeats |
| `Width` | the interval of the estimate is narrow enough |
| `Fixed` | a number of repeats is reached |

`trace`, `reproducibility`, `replicability` and `flips` say how far one partition can be trusted. `variance`, `bias_variance`
and `variance_components` say what scores, errors, and scores of halves vary with.
"""

from typing import TYPE_CHECKING

from ..laziness import lazy_names

if TYPE_CHECKING:
    from ._flips import flips
    from ._parts import bias_variance, variance, variance_components
    from ._repeats import compare_plans, replicability, reproducibility, trace
    from ._stop import KS, Fixed, Leader, Rank, Stop, Width
    from ._stop import as_stop as as_stop

_LATER = {
    "_flips": "flips",
    "_parts": "bias_variance variance variance_components",
    "_repeats": "compare_plans replicability reproducibility trace",
    "_stop": "Fixed KS Leader Rank Stop Width as_stop",
}
__getattr__, __dir__ = lazy_names(__name__, _LATER)

__all__ = [
    "KS",
    "Fixed",
    "Leader",
    "Rank",
    "Stop",
    "Width",
    "bias_variance",
    "compare_plans",
    "flips",
    "replicability",
    "reproducibility",
    "trace",
    "variance",
    "variance_components",
]
