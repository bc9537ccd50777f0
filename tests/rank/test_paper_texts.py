"""Results as they are pasted into a paper: LaTeX tables with captions, paragraphs in prose."""

from __future__ import annotations

import re

import numpy as np
import pytest

import outfold as of
from internals import size_in_words

RNG = np.random.default_rng(0)
SCORES = {name: 0.7 + shift + 0.02 * RNG.normal(size=15) for name, shift in {"a_1": 0.0, "b": 0.05, "c": -0.05}.items()}


def answers(*shares):
    y = RNG.integers(2, size=200)
    right = RNG.random((200, len(shares))) < shares
    names = [f"model_{i}" for i in range(len(shares))]
    return of.from_arrays(y, np.where(right, y[:, None], 1 - y[:, None]), configs=names, response="label")


def test_the_caption_of_ranks_names_test_statistic_p_and_critical_difference():
    ranking = of.rank.nemenyi(SCORES)
    text = ranking.to_latex(caption=True)
    assert text.startswith(
        "\\begin{table}\n\\centering\n\\caption{Mean ranks of 3 algorithms over 15 data sets; 1 is best."
    )
    assert text.endswith("\\end{tabular}\n\\end{table}")
    assert ranking.to_latex() in text
    caption = text.partition(r"\caption{")[2].partition("\n")[0]
    for part in ("F = ", "df = ", "p = ", f"Critical difference {ranking.cd:.4f}"):
        assert part in caption or part.replace("F", "chi2") in caption, part


def test_the_paragraph_of_ranks_says_who_is_better():
    ranking = of.rank.nemenyi(SCORES)
    prose = ranking.to_prose()
    assert "The test of all algorithms found a difference" in prose
    assert "Mean ranks, best first: b (1.0" in prose
    assert "b was better than c" in prose
    same = of.rank.friedman({name: 0.7 + 0.1 * RNG.normal(size=8) for name in "abc"}).to_prose()
    assert "found no difference" in same


def test_a_pair_as_table_and_paragraph():
    oof = answers(0.9, 0.6)
    found = of.compare.mcnemar(oof, "accuracy", "model_0", "model_1")
    table = found.to_latex(caption=True)
    assert r"\caption{Difference in accuracy. Test: " in table
    assert r"model\_0" in table
    assert "Result: " in table
    assert "p = " in table.partition(r"\label")[0]
    prose = found.to_prose()
    first, second = (f"{score:.4f}" for score in found.scores)
    assert prose.startswith(f"The accuracy of model_0 was {first}, that of model_1 was {second}.")
    assert f"a {size_in_words(found.standardised)} effect" in prose
    assert "found a difference at the 5% level" in prose
    equal = of.compare.mcnemar(answers(0.7, 0.7), "accuracy", "model_0", "model_1").to_prose()
    assert "did not find a difference" in equal


def test_texts_for_a_paper_have_the_caveats():
    found = of.compare.mcnemar(answers(0.95, 0.6, 0.6), "accuracy", "model_0", "model_1")
    caveat = "Caveat: model_0 is selected from 3 on these predictions; the p value does not account for that choice."
    assert found.to_prose().endswith(caveat)
    assert caveat in found.to_latex(caption=True).replace(r"\_", "_").partition(r"\label")[0]
    every = of.compare.pairs(answers(0.95, 0.6, 0.6), "accuracy")
    for text in (every.to_prose(), every.to_latex(caption=True).replace(r"\_", "_")):
        assert text.count("model_0 is selected from 3 on these predictions") == 1
    assert "Caveat" not in of.compare.mcnemar(answers(0.9, 0.6), "accuracy", "model_0", "model_1").to_prose()


def test_several_pairs_as_table_and_paragraph():
    found = of.compare.pairs(answers(0.95, 0.6, 0.6), "accuracy")
    assert "P values are adjusted by Holm." in found.to_latex(caption=True)
    prose = found.to_prose()
    assert prose.startswith("We compared 3 pairs of configurations by accuracy")
    assert "2 pairs differ at the 5% level. The largest difference is that of model_0 and model_" in prose


@pytest.mark.parametrize(("size", "word"), [(0.1, "negligible"), (-0.3, "small"), (0.5, "medium"), (-2.0, "large")])
def test_sizes_in_words_follow_cohen(size, word):
    assert size_in_words(size) == word


def test_prose_says_which_hypothesis_was_tested():
    oof = answers(0.9, 0.6)
    one_sided = of.compare.mcnemar(oof, "accuracy", "model_0", "model_1", alternative="better").to_prose()
    assert re.search(r"A one-sided test \(.*\) found that model_0 is better than model_1 at the 5% level", one_sided)
    beside = of.compare.bootstrap(oof, "accuracy", "model_0", "model_1", null=0.1).to_prose()
    assert re.search(r"A test \(.*\) (found|did not find) a difference from \+0\.1000 at the 5% level", beside)
