"""Transformers and families that count, fail or misbehave on purpose; importable by worker processes."""

from __future__ import annotations

import ctypes
import os
import signal
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from internals import answers, compare_arrays, fit_by_family
from outfold.fitting.sharing import Family, Unsuitable, View


class Shift(TransformerMixin, BaseEstimator):
    """Takes the mean off, adds `by`, and appends a byte to `log` at every fit."""

    def __init__(self, by=0.0, log=None):
        self.by = by
        self.log = log

    def fit(self, X, y=None):
        if self.log is not None:
            with open(self.log, "ab") as file:
                file.write(b"s")
        self.mean_ = np.asarray(X).mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_ + self.by


class Weighted(Shift):
    """Takes its rows' weights into account."""

    def fit(self, X, y=None, weight=None):
        super().fit(X, y)
        if weight is not None:
            self.mean_ = np.average(X, axis=0, weights=weight)
        return self

    def fit_transform(self, X, y=None, weight=None):
        return self.fit(X, y, weight).transform(X)


class ShiftInPlace(Shift):
    """Changes the rows it is given."""

    def transform(self, X):
        X -= self.mean_
        return X


class FailsIn(Shift):
    """Fails in `fit` or in `transform` of held-out rows."""

    def __init__(self, by=0.0, log=None, where="fit"):
        super().__init__(by, log)
        self.where = where

    def fit(self, X, y=None):
        if self.where == "fit":
            raise RuntimeError(f"cannot fit by {self.by}")
        return super().fit(X, y)

    def fit_transform(self, X, y=None):
        return super().fit(X, y).transform(X) if self.where == "fit" else self.fit(X, y)._moved(X)

    def _moved(self, X):
        return super().transform(X)

    def transform(self, X):
        if self.where == "transform":
            raise RuntimeError(f"cannot transform by {self.by}")
        return super().transform(X)


class DrawingShift(Shift):
    """Draws from the global generator, so that what comes after it draws something else."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.mean_ = self.mean_ + np.random.random()  # noqa: NPY002
        return self


class WritesIntoFrames(Shift):
    """Gives new rows, but changes the frame it is fitted on."""

    def fit(self, X, y=None):
        super().fit(X, y)
        X["a"] = 0.0
        return self

    def transform(self, X):
        return np.asarray(X) - self.mean_


class Restless(Shift):
    """Gives something else at every fit, and draws from nowhere that could be seen."""

    n_fits = 0

    def fit(self, X, y=None):
        super().fit(X, y)
        Restless.n_fits += 1
        self.mean_ = self.mean_ + Restless.n_fits
        return self


class Warns(Shift):
    """Warns of the rows it is fitted on and of those it transforms."""

    def fit(self, X, y=None):
        warnings.warn("of the fit", UserWarning, stacklevel=2)
        return super().fit(X, y)

    def transform(self, X):
        warnings.warn("of the rows", RuntimeWarning, stacklevel=2)
        return super().transform(X)


class Slow(Shift):
    """Takes its time."""

    def fit(self, X, y=None):
        time.sleep(0.3)
        return super().fit(X, y)


class Scales(Family):
    """All scales of a `Tally` from one fit."""

    estimator = "collect_estimators.Tally"
    varies = frozenset({"scale"})

    def fit(self, members, X, y, **fit_params):
        shared = clone(members[0]).fit(X, y, **fit_params)
        out = []
        for member in members:
            member.classes_, member.means_ = shared.classes_, shared.means_
            out.append(member)
        return out


class ViewedScales(Scales):
    """The same with views."""

    def fit(self, members, X, y, **fit_params):
        return [TallyView(model) for model in super().fit(members, X, y, **fit_params)]


class TallyView(View):
    def __init__(self, model):
        super().__init__(model, model.classes_)

    def predict_proba(self, X):
        return self.member.predict_proba(X)

    def predict(self, X):
        return self.member.predict(X)


class WholeScales(Scales):
    """What a member predicts depends on how many there are, a little."""

    whole = True
    level = "close"

    def fit(self, members, X, y, **fit_params):
        models = super().fit(members, X, y, **fit_params)
        for model in models:
            model.means_ = model.means_ + 1e-4 * len(members)
        return models


class BadScales(Scales):
    """A family that is wrong in one of several ways."""

    def __init__(self, way):
        self.way = way

    def fit(self, members, X, y, **fit_params):
        if self.way == "unsuitable":
            raise Unsuitable
        if self.way == "raises":
            raise RuntimeError("not today")
        if self.way == "slow":
            time.sleep(1.0)
        if self.way == "stuck":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            ctypes.PyDLL(None).sleep(60)
        if self.way == "crashes":
            os._exit(3)
        if self.way == "one fails" and any(m.scale == 2.0 for m in members):
            raise RuntimeError("2 is too much")
        models = super().fit(members, X, y, **fit_params)
        if self.way == "too few":
            return models[1:]
        if self.way in ("nan", "shape", "values"):
            return [BadView(model, self.way) for model in models]
        return models


class BadView(TallyView):
    def __init__(self, model, way):
        super().__init__(model)
        self.way = way

    def predict_proba(self, X):
        p = super().predict_proba(X)
        if self.way == "nan":
            p[0] = np.nan
        if self.way == "shape":
            return p[1:]
        if self.way == "values":
            return 0.5 + 0.9 * (p - 0.5)
        return p


def check_company(family, members, X, y, *, X_test=None, sample_weight=None, rng=0, subsets=3):
    """What a member predicts must not depend, in any bit, on its fellows or their order.

    Some members alone, and `subsets` random ones in random order, against all members together.
    """
    X_test = X if X_test is None else X_test
    fit_params = {} if sample_weight is None else {"sample_weight": sample_weight}
    draw = np.random.default_rng(rng)
    picks = [draw.permutation(len(members))[: draw.integers(1, len(members) + 1)] for _ in range(subsets)]
    picks += [np.array([i]) for i in draw.permutation(len(members))[:subsets]]
    together = [answers(model, X_test) for model in fit_by_family(family, members, X, y, **fit_params)]
    for pick in picks:
        some = fit_by_family(family, [members[i] for i in pick], X, y, **fit_params)
        for i, model in zip(pick, some, strict=True):
            for method, got in answers(model, X_test).items():
                compare_arrays(f"among fewer members, {method} of {members[i]!r}", together[i][method], got)
