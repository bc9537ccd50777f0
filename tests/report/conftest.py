"""Reports, and a browser to look at them with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from report_cases import HOSTILE, two_classes
from webdriver import Browser, installed

import outfold as of


@pytest.fixture(scope="session")
def made() -> of.Report:
    """A report with every picture but that of dropping."""
    return of.report(two_classes(r=3), "roc_auc", n_resamples=200)


@pytest.fixture(scope="session")
def hostile() -> of.Predictions:
    """Predictions whose names try to get out of the page."""
    return two_classes(c=len(HOSTILE), configs=HOSTILE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless browser for all tests that need it."""
    found = installed()
    if found is None:
        pytest.skip("no browser: `make browser` installs Chromium and its driver, or says how")
    opened = Browser(*found)
    yield opened
    opened.close()
