"""The page in a real browser: it works, it is readable, and it asks the network for nothing."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from report_cases import DATA, HOSTILE, IMPORTANCE, long_classes, numbers, two_classes

import outfold as of

TAB, RIGHT, ESCAPE, ENTER = "\ue004", "\ue014", "\ue00c", "\ue007"


@pytest.fixture(scope="module")
def page(small_report, tmp_path_factory):
    return small_report.save(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """50 configurations, more than the table shows at first."""
    oof = two_classes(c=50, configs=[f"{'tree' if i % 2 else 'svm'}(C={i})" for i in range(50)])
    return of.report(oof, "accuracy", n_resamples=50).save(tmp_path_factory.mktemp("many") / "report.html")


@pytest.fixture(autouse=True)
def window(browser):
    browser.show(1280)


def shown(browser, column):
    script = "return [...board.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[arguments[0]].textContent)"
    return browser.run(f"const board = document.getElementById('board'); {script}", column)


def click(browser, selector):
    browser.run("document.querySelector(arguments[0]).click()", selector)


def write(browser, words):
    script = "const f = document.getElementById('filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))"
    browser.run(script, words)


def test_the_page_loads_without_errors_and_without_requests(browser, page):
    browser.open(page)
    assert browser.logs("browser") == []
    assert browser.requested() == []
    assert browser.run("return document.querySelectorAll('figure svg').length") == 12
    assert browser.run("return document.querySelector('h1').textContent").startswith("Expect AUC ")


def test_the_table_shows_the_first_and_then_all(browser, many):
    browser.open(many)
    assert len(shown(browser, 1)) == 20
    assert browser.run("return document.getElementById('count').textContent") == "20 of 50 shown"
    click(browser, "#more")
    assert len(shown(browser, 1)) == 50
    click(browser, "#more")
    assert len(shown(browser, 1)) == 20


def test_the_table_sorts(browser, many):
    browser.open(many)
    click(browser, "#more")
    scores = [float(x) for x in shown(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    click(browser, "#board th:nth-child(3) button")
    assert [float(x) for x in shown(browser, 2)] == sorted(scores)
    assert browser.run("return document.querySelector('#board th:nth-child(3)').ariaSort") == "ascending"
    click(browser, "#board th:nth-child(3) button")
    assert [float(x) for x in shown(browser, 2)] == sorted(scores, reverse=True)
    click(browser, "#board th:nth-child(2) button")
    names = shown(browser, 1)
    assert names[:3] == ["svm(C=0)", "svm(C=2)", "svm(C=4)"]
    assert names[24:27] == ["svm(C=48)", "tree(C=1)", "tree(C=3)"]


def test_the_table_filters(browser, many):
    browser.open(many)
    write(browser, "SVM 4")
    assert sorted(shown(browser, 1)) == sorted(f"svm(C={i})" for i in range(0, 50, 2) if "4" in str(i))
    write(browser, "selected")
    assert len(shown(browser, 1)) == 1
    write(browser, "no such configuration")
    assert shown(browser, 1) == []
    write(browser, "")
    assert len(shown(browser, 1)) == 20


def test_tips_by_pointer(browser, page):
    browser.open(page)
    script = """const mark = document.querySelector('#configurations circle[data-tip]');
        mark.scrollIntoView({block: 'center'}); const at = mark.getBoundingClientRect();
        return [at.left + at.width / 2, at.top + at.height / 2, mark.dataset.tip]"""
    browser.run(script)
    browser.settle()
    x, y, words = browser.run(script)
    assert browser.run("return document.getElementById('tip').hidden")
    browser.point(x, y)
    assert not browser.run("return document.getElementById('tip').hidden")
    assert browser.run("return document.getElementById('tip').textContent") == words
    assert "cross-validation score: 0." in words
    browser.point(5, 5)
    assert browser.run("return document.getElementById('tip').hidden")


def test_tips_by_keyboard(browser, page):
    browser.open(page)
    browser.run("document.querySelector('#configurations svg').focus()")
    browser.settle()
    tips = browser.run(
        "return [...document.querySelectorAll('#configurations svg')[0].querySelectorAll('[data-tip]')].map(m => m.dataset.tip)"
    )
    for words in tips[:3]:
        browser.press(RIGHT)
        assert browser.run("return document.getElementById('tip').textContent") == words
    browser.press(ESCAPE)
    assert browser.run("return document.getElementById('tip').hidden")


def test_everything_is_reached_by_tab_and_the_focus_is_seen(browser, many):
    browser.open(many)
    script = """const all = document.querySelectorAll('a, button:not([hidden]), input, [tabindex="0"]');
        return [...all].map((e, i) => e.dataset.i = String(i))"""
    wanted = set(browser.run(script))
    seen = []
    for _ in range(len(wanted)):
        browser.press(TAB)
        script = "const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth"
        at, style = browser.run("return document.activeElement.dataset.i"), browser.run(script)
        assert style == "solid2px", at
        seen.append(at)
    assert set(seen) == wanted


def test_enter_sorts(browser, many):
    browser.open(many)
    browser.run("document.querySelector('#board th:nth-child(2) button').focus()")
    browser.press(ENTER)
    assert shown(browser, 1)[0] == "svm(C=0)"


@pytest.mark.parametrize("width", [320, 375, 800, 1280])
def test_nothing_is_wider_than_the_window(browser, page, width):
    browser.show(width)
    browser.open(page)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    size = browser.run(
        """return Math.min(...[...document.querySelectorAll('svg text')].map(t =>
        parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"""
    )
    assert size >= 9


# Luminance and contrast as WCAG 2 defines them; backgrounds are blended from the page up.
CONTRAST = """
const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length > 3 ? m : [...m.slice(0, 3), 1]; };
const over = (top, below) => below.map((b, i) => top[i] * top[3] + b * (1 - top[3]));
const light = (c) => c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => {
  const parent = e.parentElement ? behind(e.parentElement) : [255, 255, 255];
  return over(parse(getComputedStyle(e).backgroundColor), parent);
};
const heat = (e) => {
  if (!e.matches('svg .in')) return null;
  const fill = parse(getComputedStyle(e.ownerSVGElement.querySelector('.heat')).fill);
  const most = Math.max(...[...e.ownerSVGElement.querySelectorAll('.heat')].map((r) => Number(r.getAttribute('fill-opacity'))));
  return over([...fill.slice(0, 3), most], behind(e.ownerSVGElement));
};
const out = [];
document.getElementById('tip').hidden = false;
document.getElementById('tip').textContent = 'a tip';
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest('script, [hidden]')) continue;
  const style = getComputedStyle(e), svg = e.closest('svg');
  const back = svg ? heat(e) || behind(svg) : behind(e);
  const text = over(parse(svg ? style.fill : style.color), back);
  const [a, b] = [light(text), light(back)].sort((x, y) => y - x);
  out.push([(a + 0.05) / (b + 0.05), e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + e.textContent.slice(0, 30)]);
}
return [out.length, out.filter(([c]) => !(c >= 4.5))];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(browser, page, scheme):
    browser.show(1280, scheme=scheme)
    browser.open(page)
    n, poor = browser.run(CONTRAST)
    assert n > 300
    assert poor == []
    dark = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")


def test_names_that_are_html_do_nothing(browser, hostile, tmp_path):
    made = of.report(hostile, "accuracy", n_resamples=50, title=HOSTILE[0], command=HOSTILE[1])
    browser.open(made.save(tmp_path / "report.html"))
    assert not browser.has_dialog()
    assert browser.logs("browser") == []
    assert browser.requested() == []
    assert browser.run("return [window.hacked === undefined, document.title]") == [True, HOSTILE[0]]
    assert HOSTILE[0] in shown(browser, 1)
    assert browser.run("return document.querySelectorAll('img, script').length") == 2
    for _ in range(4):
        browser.press(TAB)
    click(browser, "#board th:nth-child(2) button")
    browser.run("document.querySelector('#configurations svg').focus()")
    browser.press(RIGHT, RIGHT, RIGHT)
    assert browser.run("return document.getElementById('tip').childElementCount") == 0
    assert browser.run("return window.hacked === undefined")
    facts = browser.run(
        "return JSON.parse(document.getElementById('facts').textContent).configurations.map(c => c.config)"
    )
    assert sorted(facts) == sorted(HOSTILE)


def test_the_facts_can_be_taken_along(browser, page, small_report):
    browser.open(page)
    click(browser, "#json")
    path = browser.folder / "report.json"
    for _ in range(100):
        if path.exists() and not list(browser.folder.glob("*.crdownload")):
            break
        time.sleep(0.05)
    assert json.loads(path.read_text()) == json.loads(json.dumps(small_report.to_dict()))


def test_the_page_prints(browser, page):
    browser.show(1280, scheme="dark", media="print")
    browser.open(page)
    shown = "return ['nav', '.tools input', '.button', '#count'].map(s => document.querySelector(s).checkVisibility())"
    assert browser.run(shown) == [False, False, False, True]  # how many rows of the table are printed is said
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = browser.cdp("Page.printToPDF", printBackground=True)["data"]
    assert len(printed) > 50_000


# -- the parts that `outfold run` fills: on a phone, a tablet and a desk, light, dark and on paper ----------------


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    names = [
        f"pipeline(scale=standard, select=univariate(alpha=0.05), model=logit(C={i}, penalty=l2))" for i in range(8)
    ]
    options = {"data": DATA, "importance": IMPORTANCE, "threshold": "cost=5:1", "description": "A logistic regression."}
    made = of.report(two_classes(r=2, configs=names), "roc_auc", n_resamples=100, **options)
    return made.save(tmp_path_factory.mktemp("full") / "report.html")


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    made = of.report(numbers(), "rmse", n_resamples=50, importance=IMPORTANCE)
    return made.save(tmp_path_factory.mktemp("regression") / "report.html")


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    made = of.report(long_classes(), "accuracy", n_resamples=50)
    return made.save(tmp_path_factory.mktemp("classes") / "report.html")


# Cells of tables, and texts of pictures, that are not wholly between the left and the right end of the window.
OUTSIDE = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll('td, th, dd, h1, h2, li, figcaption, svg text')].filter((e) => {
  const at = e.getBoundingClientRect();
  return at.width > 0 && (at.left < -0.5 || at.right > width + 0.5);
}).map((e) => e.tagName + ' ' + e.textContent.slice(0, 40));
"""


@pytest.mark.parametrize("look", ["light", "dark", "print"])
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("which", ["full", "regression", "classes"])
def test_every_column_is_on_the_screen(browser, request, which, width, look):
    browser.show(width, scheme="dark" if look == "dark" else "light", media="print" if look == "print" else "")
    browser.open(request.getfixturevalue(which))
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run(OUTSIDE) == []
    hidden = browser.run(
        "return [...document.querySelectorAll('tbody tr:not([hidden]) td:not(.none):not(:empty)')]"
        ".filter((e) => !e.checkVisibility()).length"
    )
    assert hidden == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["full", "regression"])
@pytest.mark.parametrize("width", [390, 1280])
def test_all_text_of_the_new_parts_has_contrast(browser, request, which, scheme, width):
    browser.show(width, scheme=scheme)
    browser.open(request.getfixturevalue(which))
    n, poor = browser.run(CONTRAST)
    assert n > 150
    assert poor == []


def test_a_phone_names_every_cell(browser, full):
    browser.show(390)
    browser.open(full)
    script = "return [...document.querySelectorAll('#thresholds tbody tr:first-child td[data-l]')].map((e) => "
    labels = browser.run(script + "getComputedStyle(e, '::before').content)")
    assert labels == ['"threshold"', '"sensitivity"', '"specificity"', '"PPV"', '"NPV"']
    board = "return [...document.querySelectorAll('#board tbody tr:first-child td:not(.name)')].map((e) => "
    assert browser.run(board + "getComputedStyle(e, '::before').content)")[:3] == ['"rank"', '"score"', '"se"']
    click(browser, "#board th:nth-child(3) button")  # sorting is at hand
    assert browser.run("return document.querySelector('#board th:nth-child(3) button').checkVisibility()")


def test_a_caution_leads_to_its_check(browser, tmp_path):
    correct = np.random.default_rng(0).random((80, 150)) < 0.7
    made = of.report(of.from_arrays(None, correct, response="pointwise"), n_resamples=200)
    browser.open(made.save(tmp_path / "report.html"))
    assert browser.run("return document.querySelector('.cautions').getBoundingClientRect().top") < 500
    click(browser, ".cautions a")
    browser.settle()
    target = "return document.querySelector(':target')"
    assert browser.run(f"{target}.id") == "check-OF531"
    assert browser.run(f"{target}.checkVisibility()")
