"""Every reference of a result has a BibTeX entry."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from report_cases import two_classes

import outfold as of
from internals import _PAPER, TESTS, _entries, keys_of
from outfold.exceptions import InputError

SOURCE = Path(of.__file__).parent
FIELDS = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title", "year", "eprint"},
    "phdthesis": {"author", "title", "school", "year"},
    "techreport": {"author", "title", "institution", "year"},
}


def test_entries_are_complete_and_in_order():
    text = (SOURCE / "references.bib").read_text()
    assert list(_entries()) == sorted(_entries())
    assert text.count("@") == len(_entries())
    for key, entry in _entries().items():
        kind = entry[1 : entry.index("{")]
        assert set(re.findall(r"^  (\w+) +=", entry, re.M)) >= FIELDS[kind], key
        assert entry.count("{") == entry.count("}"), key
        assert key[-4:] in entry, key


def test_every_reference_in_the_code_has_an_entry():
    """Strings that are nothing but references, such as "Efron 1987" or "McNemar 1947; Tango 1998"."""
    one = r"[A-Z][\w'-]+(?: et al\.| (?:&|and) [A-Z][\w-]+|, [A-Z]\w+ & [A-Z]\w+)? (?:18|19|20)\d\d(?:, [^;\"]*)?"
    whole = re.compile(rf'"((?:after )?{one}(?:; {one})*)"')
    found = {text for path in SOURCE.rglob("*.py") for text in whole.findall(path.read_text())}
    assert len(found) > 40
    for text in found:
        assert keys_of(text), text


def test_every_test_has_an_entry():
    for test in TESTS.values():
        assert of.cite(test.reference).startswith("@"), test.name


def test_results_are_cited():
    oof = two_classes()
    assert keys_of(of.estimate.bbc(oof, "accuracy", n_resamples=20)) == ("tsamardinos2018",)
    assert keys_of(of.estimate.tt(oof, "accuracy")) == ("tibshirani2009", "tsamardinos2015")
    assert keys_of(of.compare.pairs(oof, "accuracy")) == ("nadeau2003", "bengio2004", "holm1979")
    assert keys_of(of.compare.pairs(oof, "accuracy", adjust="none")) == ("nadeau2003", "bengio2004")
    one_set = of.from_arrays(None, np.random.default_rng(0).random((60, 4)) < 0.7, response="pointwise")
    assert keys_of(of.compare.auto(one_set)) == ("cochran1950", "raschka2018", "mcnemar1947", "tango1998", "holm1979")
    assert keys_of(of.rank.friedman(np.random.default_rng(0).random((8, 3))))[0] == "friedman1937"
    assert keys_of([of.estimate.bbc(oof, "accuracy", n_resamples=20), "Efron 1987"]) == ("tsamardinos2018", "efron1987")


def test_the_documentation_shows_the_entry():
    shown = (SOURCE.parents[1] / "docs" / "report.md").read_text()
    assert f"\n```\n{of.cite('Tsamardinos 2018, Alg. 5')}\n```\n" in shown


def test_names_in_all_spellings():
    assert keys_of("Demšar 2006; Waudby-Smith & Ramdas 2024") == ("demsar2006", "waudbysmith2024")
    assert _PAPER.findall("after Wang et al. 2014, Table 1") == [("Wang", "2014")]


def test_what_has_no_reference_is_refused():
    with pytest.raises(InputError, match="result must have a reference"):
        of.cite(3)
    with pytest.raises(InputError, match="no BibTeX entry for nobody1999"):
        of.cite("Nobody 1999")


@pytest.mark.parametrize("words", ["", "nobody 1999", "Holm"])
def test_words_that_name_no_paper_are_refused(words):
    with pytest.raises(InputError, match="a name and a year"):
        of.cite(words)
