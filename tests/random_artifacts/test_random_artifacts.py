"""A thousand random artifacts: every public question gets a finite answer or one of our errors, and no warning."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from artifacts import KINDS, artifact
from asking import QUESTIONS, answer

import outfold as of

ARTIFACTS, PART, EACH = 1000, 50, 3


def asked(seed: int) -> list[tuple[str, str]]:
    """The questions to an artifact, and by which metric: mostly the one that fits, sometimes any."""
    oof, rng = artifact(seed), np.random.default_rng([7, seed])
    default = of.metrics.default(oof.target.task, oof.response)
    names = rng.choice(list(QUESTIONS), EACH, replace=False)
    return [(str(name), default if rng.random() < 0.85 else str(rng.choice(of.metrics.names()))) for name in names]


@pytest.mark.parametrize("start", range(0, ARTIFACTS, PART))
def test_every_question_has_an_answer_or_is_refused_in_words(start):
    answers: Counter[str] = Counter()
    for seed in range(start, start + PART):
        for question, metric in asked(seed):
            try:
                answers[answer(artifact(seed), question, metric)] += 1
            except BaseException as error:
                error.add_note(f"artifact({seed}), asked for {question!r} by {metric!r}")
                raise
    assert "an error without words" not in answers
    # Artifacts that only give errors would test nothing.
    assert answers["answered"] > 0.25 * answers.total()


def test_the_artifacts_are_as_odd_as_they_should_be():
    made = [artifact(seed) for seed in range(200)]
    assert {oof.response for oof in made} == {"proba", "score", "label", "value", "risk", "pointwise"}
    assert min(oof.n_samples for oof in made) == 2
    assert {oof.n_configs for oof in made} >= {1, 2, 3}
    assert any(oof.completeness < 1 for oof in made)
    assert any(oof.groups is not None for oof in made)
    assert any(oof.n_folds == oof.n_samples for oof in made)
    assert len(KINDS) == len(set(KINDS))
