import io
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from internals import demo as demo_app
from outfold.exceptions import InputError


@pytest.fixture(scope="module")
def small():
    return of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 5]) | of.grid(
        "tree", DecisionTreeClassifier(), max_depth=[1, 3]
    )


def demo(configs, **options):
    out, err = io.StringIO(), io.StringIO()
    cases = demo_app.main(40, 3, configs=configs, folds=4, quick_folds=3, n_jobs=1, out=out, err=err, **options)
    return cases, out.getvalue(), err.getvalue()


def case(own, honest, truth, interval=(0.5, 0.9)):
    estimate = SimpleNamespace(naive=own, value=honest, interval=interval, confidence_level=0.95)
    return demo_app.TunedSample(estimate, truth)


def test_prints_what_it_computed(small):
    cases, text, err = demo(small)
    assert len(cases) == 4
    first = cases[0]
    for value in (first.own, first.honest, first.truth):
        assert f"{value:.4f}" in text
    assert first.estimate.selected in small
    assert "402 kept" in text
    assert f"mean {np.mean([c.own for c in cases[1:]]):.3f}" in text
    assert " ".join(demo_app.conclusion(cases[1:]).split()) in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert err == ""  # no terminal, no progress line


def test_same_seed_same_text_another_seed_another(small):
    assert demo(small)[1] == demo(small)[1]
    assert demo(small)[1] != demo(small, seed=1)[1]


def test_progress_line_on_a_terminal(small):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out, err = io.StringIO(), Terminal()
    demo_app.main(40, 2, configs=small, folds=3, quick_folds=3, n_jobs=1, out=out, err=err)
    assert "sample 1/2" in err.getvalue()
    assert err.getvalue().endswith("\r\033[K")


def test_the_task_is_balanced_and_the_space_has_150_configurations():
    X, y = demo_app.patients()
    assert X.shape == (442, 10)
    assert abs(y.mean() - 0.5) < 0.01
    assert len(demo_app.space()) == 150


def test_conclusion_follows_the_numbers():
    flattering = demo_app.conclusion([case(0.8, 0.7, 0.69), case(0.9, 0.7, 0.71)])
    assert "above the truth in 2 of 2 samples, and on average 0.150 too high" in flattering
    assert "closer: on average right to 0.001" in flattering
    assert "95% interval held the truth in 2 of 2" in flattering
    modest = demo_app.conclusion([case(0.7, 0.6, 0.71, interval=(0.5, 0.65))])
    assert "above the truth in 0 of 1 samples, and on average 0.010 too low" in modest
    assert "no closer this time: on average 0.110 too low" in modest
    assert "held the truth in 0 of 1" in modest
    assert "as far off: on average right to 0.001" in demo_app.conclusion([case(0.7, 0.7, 0.7)])


def test_picture_has_a_common_axis_and_fits():
    values = {"one": [0.61, 0.70, 0.70], "two": [0.70, 0.81]}
    lines = demo_app.picture(values, "accuracy", 80).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert "mean 0.670" in lines[0]
    assert "mean 0.755" in lines[1]
    position = lines[2].index("0.70")
    assert lines[0][position] == "█"
    assert lines[1][position] == "▄"
    assert "█" not in lines[1]


def test_picture_in_little_room_and_without_unicode():
    values = {"one": [0.2, 0.5, 0.9], "two": [0.5, 0.5]}
    plain = demo_app.picture(values, "accuracy", 40, blocks=False)
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 40
    assert "@" in plain
    assert "mean 0.500" in demo_app.picture({"same": [0.5, 0.5]}, "accuracy", 20)


def test_a_stream_that_cannot_show_blocks_gets_plain_signs(small):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    demo_app.main(40, 2, configs=small, folds=3, quick_folds=3, n_jobs=1, out=out, err=io.StringIO())
    out.flush()
    assert b"winner's score" in out.buffer.getvalue()


@pytest.mark.parametrize(
    ("samples", "times", "says"), [(10, 2, "between 20 and 342"), (400, 2, "kept"), (80, 0, "1 or more")]
)
def test_sizes_that_make_no_sense(samples, times, says):
    with pytest.raises(InputError, match=says):
        demo_app.main(samples, times)


def test_a_long_name_of_the_winner_is_cut_to_the_page(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    long = of.Configs({"tree " + "of a very long name " * 5: DecisionTreeClassifier(max_depth=1)})
    text = demo(long)[1]
    assert "tree of a very" in text
    assert max(map(len, text.splitlines())) <= 70
    ascii_page = demo_app.Page(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert ascii_page.shorten("abcdefghijklmnopqrstuvwxyz", 13) == "abcdef..vwxyz"
