"""Checks of single arguments."""

import numpy as np
import pytest

from internals import as_seed, check_alpha, check_choice, check_confidence_level, check_count
from outfold.exceptions import InputError


def test_an_int_is_the_seed_and_so_is_the_entropy_of_a_fresh_sequence():
    assert as_seed(0) == 0
    assert as_seed(np.int64(7)) == as_seed(np.random.SeedSequence(7)) == 7


def test_spawned_sequences_have_seeds_of_their_own_and_keep_them():
    first, second = np.random.SeedSequence(7).spawn(2)
    assert as_seed(first) == as_seed(first) != as_seed(second)
    assert as_seed(np.random.SeedSequence([1, 2])) == as_seed(np.random.SeedSequence([1, 2])) != as_seed(1)


def test_a_generator_is_advanced():
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    seeds = [as_seed(one), as_seed(one)]
    assert seeds == [as_seed(other), as_seed(other)]
    assert seeds[0] != seeds[1]


def test_none_gives_a_new_seed_each_time():
    assert as_seed(None) != as_seed(None)


@pytest.mark.parametrize("rng", [-1, 1.0, "x", True, [1]])
def test_anything_else_is_no_seed(rng):
    with pytest.raises(
        InputError, match=r"rng must be None, a whole number from 0, a numpy.random.Generator or a"
    ) as error:
        as_seed(rng)
    assert error.value.argument == "rng"


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (lambda: check_count(1.5, "n"), "n must be a whole number of at least 1; got 1.5."),
        (lambda: check_count(True, "n", 0), "n must be a whole number of at least 0; got True."),
        (lambda: check_confidence_level(95), "confidence_level must lie between 0 and 1, such as 0.95; got 95."),
        (lambda: check_alpha(0), "alpha must lie between 0 and 1, such as 0.05; got 0."),
        (lambda: check_choice("c", ["a", "b"], "x"), "x must be 'a' or 'b'; got 'c'."),
        (lambda: check_choice(["a"], ["a"], "x"), "x must be 'a'; got ['a']."),
        (
            lambda: check_choice("pair", ["pairs", "all"], "x"),
            "x must be 'pairs' or 'all'; got 'pair'. Did you mean 'pairs'?",
        ),
    ],
)
def test_a_refusal_says_what_is_needed_and_what_was_given(check, words):
    with pytest.raises(InputError) as error:
        check()
    assert str(error.value) == words
