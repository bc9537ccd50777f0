"""A winner that seldom led."""

import numpy as np

import outfold as of


def repeats(shares):
    """Right answers of configurations whose score is given for every repeat, (R, C)."""
    P = np.stack([[np.arange(100) < s * 100 for s in row] for row in shares]).astype(float)  # (R, C, N)
    folds = np.stack([np.arange(100) % 5] * len(shares), axis=1)
    return of.from_arrays(None, np.moveaxis(P, -1, 0).swapaxes(1, 2), folds=folds, response="pointwise")


def test_fires_with_how_often_it_led(says):
    # Running means of b: 0.60, 0.60, 0.60, 0.70; of a: 0.70, 0.68, 0.68, 0.66.
    oof = repeats([[0.70, 0.60], [0.66, 0.60], [0.68, 0.60], [0.60, 1.00]])
    assert says("OF541", oof) == "config 1 held the lead after 1 of 4 repeats; 2 configurations led in turn."


def test_silent_for_a_steady_lead_and_few_repeats(says):
    assert says("OF541", repeats([[0.60, 0.70]] * 4)) is None
    assert says("OF541", repeats([[0.70, 0.60], [0.60, 0.75], [0.60, 0.70]])) is None  # led after 2 of 3
    assert says("OF541", repeats([[0.70, 0.60], [0.60, 1.00]])) is None


def test_the_advice_fits_runs_of_models_that_nobody_trained_here():
    P = np.stack(
        [[np.arange(100) < s * 100 for s in row] for row in [[0.7, 0.6], [0.66, 0.6], [0.68, 0.6], [0.6, 1.0]]]
    )
    runs = of.from_arrays(None, np.moveaxis(P.astype(float), -1, 0).swapaxes(1, 2), response="pointwise")
    trained = repeats([[0.70, 0.60], [0.66, 0.60], [0.68, 0.60], [0.60, 1.00]])
    advice, own = (next(f.advice for f in of.check(oof) if f.code == "OF541") for oof in (trained, runs))
    auto = 'or in Python `repeats="auto"`, which adds them until the order settles.'
    assert advice == f"Add repeats: `outfold run --repeats 20`, {auto}"
    assert own.startswith("Run each configuration more often on the same samples until the order settles")
