"""MLflow: predictions, report and estimate as part of a run, and back."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from .. import estimate as estimates
from ..data.joining import join_predictions, with_ending
from ..data.predictions import Predictions
from ..data.stored import in_memory
from ..docstrings import fill_common
from ..estimate._default import default_method
from ..exceptions import FileError, InputError
from ..io.store import load
from ..metrics import MetricLike
from ..results import Estimate

_FILE = "predictions.oof"


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        remedy = "Run: pip install mlflow (or mlflow-skinny)."
        raise InputError("MLflow is not installed", remedy=remedy, page="extras") from None
    return mlflow


@fill_common
def log_mlflow(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    estimate: Estimate | None = None,
    report: bool = True,
    folder: str = "outfold",
) -> Estimate:
    """Log predictions, their report and the corrected estimate with the active run of MLflow; start one if there is none.

    The metrics of the run are ``outfold_estimate``, its ends ``outfold_low`` and ``outfold_high``, ``outfold_winner_score`` and
    ``outfold_optimism``. Tags name the metric, the selected configuration and the fingerprint.

    Parameters: {oof, recorded_metric}
    estimate : Estimate or None
        An estimate that is at hand; by default it is computed.
    report : bool
        Whether to log the html report.
    folder : str
        The folder of the artifacts.

    Returns
    -------
    Estimate
        The estimate that was logged.

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7, folds=10).oof
    >>> of.adapters.log_mlflow(oof, "mean")  # doctest: +SKIP
    """
    mlflow = _mlflow()
    if estimate is None:
        estimate = getattr(estimates, default_method(oof, metric, None))(oof, metric)
    low, high = estimate.interval or (None, None)
    numbers = {"estimate": estimate.value, "low": low, "high": high}
    numbers |= {"winner_score": estimate.naive, "optimism": estimate.optimism}
    mlflow.log_metrics({f"outfold_{name}": float(value) for name, value in numbers.items() if value is not None})
    tags = {"metric": estimate.metric, "selected": estimate.selected, "fingerprint": oof.fingerprint}
    mlflow.set_tags({f"outfold.{name}": str(value) for name, value in tags.items()})
    with tempfile.TemporaryDirectory() as scratch:
        mlflow.log_artifact(str(oof.save(Path(scratch) / _FILE)), folder)
        if report:
            from ..reporting import report as make_report  # here: charts take longer to load than the rest

            page = make_report(oof, metric, estimate=estimate).save(Path(scratch) / "report.html")
            mlflow.log_artifact(str(page), folder)
    return estimate


@fill_common
def read_mlflow(run_ids: str | Sequence[str], *, folder: str = "outfold") -> Predictions:
    """Predictions that `log_mlflow` logged with one run, or with several runs on the same splits.

    Parameters
    ----------
    run_ids : str or sequence of str
        The run, or the runs. Configurations of several runs are joined; names that occur twice get the run behind them.
    folder : str
        The folder of the artifacts.
    Returns: {predictions}

    Examples: {outfold}
    >>> of.adapters.read_mlflow("5e8f0c")  # doctest: +SKIP
    """
    mlflow = _mlflow()
    names = [run_ids] if isinstance(run_ids, str) else list(run_ids)
    if not names:
        raise InputError("at least one run is needed.")
    with tempfile.TemporaryDirectory() as scratch:
        loaded = [
            in_memory(load(_download(mlflow, name, f"{folder}/{_FILE}", Path(scratch, str(position)))))
            for position, name in enumerate(names)
        ]
    runs_with = Counter(config for oof in loaded for config in oof.configs)
    twice = {config for config, n in runs_with.items() if n > 1}
    first, *others = (with_ending(oof, twice, f" [{name[:8]}]") for name, oof in zip(names, loaded, strict=True))
    return reduce(join_predictions, others, first)


def _download(mlflow: Any, run_id: str, artifact: str, into: Path) -> str:
    """Where the file of a run lies now; each run needs a folder of its own, because all files have the same name."""
    into.mkdir()
    try:
        return str(mlflow.artifacts.download_artifacts(run_id=run_id, artifact_path=artifact, dst_path=str(into)))
    except Exception as error:  # MLflow has an error of its own for each kind of store
        problem = f"the run {run_id} has no {artifact} ({error})"
        raise FileError(problem, remedy="Log it with `log_mlflow`.") from error
