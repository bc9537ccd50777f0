"""The search in waves: it changes no number, can be stopped at any moment, and knows how long it will take."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.apps.answer_time import AnswerTime
from outfold.apps.anytime import AnytimeSearch, Found, words_for_stop
from outfold.apps.costs import Costs, Spent, WaveTimes, kind_of_model
from outfold.apps.stopping import Stop
from outfold.apps.waves import Waves
from outfold.exceptions import CollectError
from outfold.fitting.configs import Configs

X, y = make_classification(160, 8, n_informative=3, flip_y=0.2, random_state=0)


@pytest.fixture
def space():
    out = of.grid("logit", LogisticRegression(), C=[0.01, 1.0, 100.0])
    out |= of.grid("bayes", GaussianNB(), var_smoothing=[1e-9, 1.0, 100.0])
    return out | of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 3, 8], min_samples_leaf=[1, 20])


@pytest.fixture
def blocks(space):
    names = list(space)
    return [names[:3], names[3:6], names[6:10], names[10:]]


def collecting(store, calls, drop=None):
    def collect(configs, tell):
        calls.append(list(configs))
        plan = of.Plan(folds=5)
        return of.collect(configs, X, y, plan, store=store, drop=drop, progress=tell, metric="roc_auc")

    return collect


@pytest.mark.parametrize("drop", [None, of.drop.Bootstrap(threshold=0.9, min_predictions=30)])
def test_waves_change_no_number(space, blocks, tmp_path, drop):
    calls = []
    search = AnytimeSearch(space, blocks, collecting(tmp_path / "waves.oof", calls, drop))
    search.clock = lambda: 0.0  # no time passes, so the waves are as small as they can be
    found = search.run()
    whole = of.collect(space, X, y, of.Plan(folds=5), drop=drop, progress=False, metric="roc_auc")
    assert len(calls) > 2
    assert (found.left, found.stopped) == ((), None)
    assert found.oof.configs == whole.configs
    np.testing.assert_array_equal(found.oof.state, whole.state)
    np.testing.assert_array_equal(found.oof.data, whole.data)
    assert found.oof.drop_log.equals(whole.drop_log)
    assert whole.drop_log.empty == (drop is None)
    assert of.estimate.bbc(found.oof, n_resamples=50).value == of.estimate.bbc(whole, n_resamples=50).value


def test_one_of_each_kind_comes_first_and_the_first_one_alone(space, blocks):
    waves = Waves(space, blocks)
    assert waves.take(1.0, lambda name: None) == ["logit(C=0.01)"]
    rest = [*waves.take(1.0, lambda name: None), *waves.take(1.0, lambda name: None)]
    assert [kind_of_model(space[name]) for name in rest] == ["GaussianNB", "DecisionTreeClassifier"]
    assert set(waves.left) == set(space) - {"logit(C=0.01)", *rest}


def test_a_wave_has_whole_blocks_as_the_time_allows(space, blocks):
    waves = Waves(space, blocks)
    for _ in range(3):
        waves.take(1.0, lambda name: 1.0)
    assert len(waves.take(4.0, lambda name: 1.0)) == 4  # two of logit, two of bayes
    assert len(waves.take(0.5, lambda name: 1.0)) == 3  # a block that takes longer comes whole
    assert len(waves.take(9.0, lambda name: 1.0)) == 4
    assert not waves


def test_what_an_earlier_call_began_comes_first(space, blocks):
    begun = ["tree(max_depth=8, min_samples_leaf=20)", "of another space"]
    waves = Waves(space, blocks, ["logit(C=1)"], ["logit(C=1)", *begun])
    assert waves.take(1.0, lambda name: None) == ["logit(C=1)"]
    assert waves.take(1.0, lambda name: None) == begun[:1]
    assert waves.take(1.0, lambda name: None) == ["bayes(var_smoothing=1e-09)"]


@pytest.mark.parametrize("end", ["budget", "interrupt", "terminate"])
def test_the_answer_is_for_the_finished_waves(space, blocks, tmp_path, end):
    store, calls = tmp_path / "s.oof", []
    collect = collecting(store, calls)

    def slow(configs, tell):
        if len(configs) > 4:
            if end != "budget":
                number = signal.SIGINT if end == "interrupt" else signal.SIGTERM
                threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
            time.sleep(20)
        return collect(configs, tell)

    begin = time.monotonic()
    found = AnytimeSearch(space, blocks, slow, budget=1.0 if end == "budget" else None).run()
    assert time.monotonic() - begin < 10
    assert found.stopped == end
    assert 1 <= len(found.oof.configs) <= 4
    assert set(found.left) == set(space) - set(found.oof.configs)
    assert found.oof.completeness == 1.0
    whole = of.collect(space, X, y, of.Plan(folds=5), progress=False, metric="roc_auc")
    np.testing.assert_array_equal(found.oof.data, whole.sel(config=list(found.oof.configs)).data)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_what_a_wave_has_finished_when_it_is_cut_off_is_not_lost(space, blocks, tmp_path):
    store, calls = tmp_path / "s.oof", []
    collect = collecting(store, calls)

    def cut_off(configs, tell):
        if len(calls) < 3:
            return collect(configs, tell)
        if len(calls) == 3:
            last = list(configs)[-1]
            collect(of.Configs({name: configs[name] for name in configs if name != last}, configs.params), tell)
            raise KeyboardInterrupt
        return collect(configs, tell)

    stored = lambda: list(of.load(store).configs)  # noqa: E731
    found = AnytimeSearch(space, blocks, cut_off, stored=stored).run()
    assert found.stopped == "interrupt"
    assert set(found.oof.configs) == set(calls[3]) == set(calls[4]) > set(calls[2])
    assert set(found.left) == set(space) - set(found.oof.configs)
    assert found.oof.completeness == 1.0


def test_a_process_that_ignores_ctrl_c_still_has_a_budget(space, blocks, tmp_path):
    """As one in the background of a script does."""
    collect = collecting(tmp_path / "s.oof", [])

    def slow(configs, tell):
        if len(configs) > 4:
            os.kill(os.getpid(), signal.SIGINT)  # ignored
            time.sleep(20)
        return collect(configs, tell)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = AnytimeSearch(space, blocks, slow, budget=1.0).run()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped == "budget"


def test_a_budget_too_short_for_anything_gives_the_first_configuration(space, blocks, tmp_path):
    found = AnytimeSearch(space, blocks, collecting(tmp_path / "s.oof", []), budget=1e-6).run()
    assert found.oof.configs == ("logit(C=0.01)",)
    assert found.stopped == "budget"


def test_others_are_tried_when_the_first_configuration_fails(space, tmp_path):
    broken = of.grid("broken", LogisticRegression(), C=[-1.0, -2.0])
    both = broken | space
    names = list(both)
    calls = []
    found = AnytimeSearch(both, [names[:2], names[2:]], collecting(tmp_path / "run.oof", calls)).run()
    assert calls[0] == names[:1]
    assert found.left == ()
    assert found.oof.selection().name not in broken
    with pytest.raises(CollectError, match="all 2 configurations failed"):
        AnytimeSearch(broken, [list(broken)], collecting(tmp_path / "no.oof", [])).run()


def test_ctrl_c_before_there_is_an_answer_is_ctrl_c(space, blocks):
    def interrupted(configs, tell):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AnytimeSearch(space, blocks, interrupted).run()


def test_the_time_left_is_about_right_after_the_first_tenth():
    """A simulated search: fits of a kind take alike, kinds differ by a factor of 100, and the machine has two workers."""
    cost = {"LogisticRegression": 0.02, "GaussianNB": 0.01, "DecisionTreeClassifier": 1.0}
    space = of.grid("logit", LogisticRegression(), C=np.logspace(-3, 3, 40))
    space |= of.grid("bayes", GaussianNB(), var_smoothing=np.logspace(-9, 0, 20))
    space |= of.grid("tree", DecisionTreeClassifier(), max_depth=range(1, 41))
    names = list(space)
    blocks = [names[:40], names[40:60], *(names[i : i + 10] for i in range(60, 100, 10))]
    rng, clock, done = np.random.default_rng(0), [0.0], {}
    guesses = []

    def collect(configs, tell):
        new = [name for name in configs if name not in done]
        for i, name in enumerate(new):
            done[name] = cost[kind_of_model(configs[name])] * rng.uniform(0.5, 2)
            clock[0] += done[name] / 2
            tell(i + 1, len(new))
        seconds = np.array([done[name] for name in configs]).reshape(-1, 1, 1)
        state = np.full(seconds.shape, of.State.DONE)
        return type("Made", (), {"configs": tuple(configs), "seconds": seconds, "state": state})()

    def watch(standing):
        guesses.append((clock[0], standing.seconds_left))

    answer = AnswerTime()
    answer.saw_work(wall=3.0, cpu=2.0)
    search = AnytimeSearch(space, blocks, collect, watch, clock=lambda: clock[0], answer=answer)
    search.run()
    total = clock[0] + 3.0 + 1.5  # the answer: what takes a time that is known, and a fit
    later = [(at, left) for at, left in guesses if at > 0.1 * total]
    assert len(later) > 20
    assert max(at for at, _ in later) == clock[0]  # the last seconds too
    for at, left in later:
        assert (total - at) / 3 < left < 3 * (total - at), (at, left, total)


class Machine:
    """Fits that take a known time, by a clock of its own, which also ends the search."""

    def __init__(self, seconds):
        self.seconds, self.now, self.done, self.deadline = seconds, 0.0, {}, np.inf
        machine = self

        class Clocked(Stop):
            def after(self, seconds):
                self.reason = "budget"
                machine.deadline = machine.now + seconds

        self.stop = Clocked

    def collect(self, configs, tell):
        new = [name for name in configs if name not in self.done]
        for i, name in enumerate(new):
            self.now += self.seconds[kind_of_model(configs[name])]
            if self.now > self.deadline:
                self.now = self.deadline
                raise KeyboardInterrupt
            self.done[name] = self.seconds[kind_of_model(configs[name])]
            tell(i + 1, len(new))
        seconds = np.array([self.done[name] for name in configs]).reshape(-1, 1, 1)
        state = np.full(seconds.shape, of.State.DONE)
        return type("Made", (), {"configs": tuple(configs), "seconds": seconds, "state": state})()


@pytest.mark.parametrize(
    ("budget", "forests"), [(20.0, 0), (60.0, 0), (100.0, 0), (120.0, 0), (150.0, 1), (250.0, 3), (600.0, 3)]
)
def test_a_budget_holds_and_is_not_spent_on_one_dear_model(monkeypatch, budget, forests):
    """Seconds as of a hold-out of 200,000 rows: a forest takes most of a minute, and as long again if it is the best."""
    from sklearn.ensemble import RandomForestClassifier

    space = of.grid("logit", LogisticRegression(), C=np.logspace(-3, 3, 10))
    space |= of.grid("forest", RandomForestClassifier(), max_features=[0.2, 0.5, 1.0])
    space |= of.grid("tree", DecisionTreeClassifier(), max_depth=range(1, 11))
    names = list(space)
    machine = Machine({"LogisticRegression": 0.8, "DecisionTreeClassifier": 1.6, kind_of_model(space[names[10]]): 36.0})
    monkeypatch.setattr("outfold.apps.anytime.Stop", machine.stop)
    expected, answer = [], AnswerTime()
    search = AnytimeSearch(
        space,
        [names[:10], names[10:13], names[13:]],
        machine.collect,
        lambda standing: expected.append(standing.n_expected),
        budget,
        clock=lambda: machine.now,
        answer=answer,
    )
    found = search.run()
    assert sum(name.startswith("forest") for name in found.oof.configs) == forests
    assert machine.now + answer.expected <= budget
    assert found.stopped == (None if forests == 3 else "budget")
    if budget >= 60:
        assert set(names[:10] + names[13:]) <= set(found.oof.configs)
        told = [n for n in expected if n is not None]
        assert told[0] == pytest.approx(20 + forests, abs=1)  # a good guess after the first of them
        assert told[-1] == 20 + forests


def test_a_block_for_which_there_is_no_time_is_cut(space, blocks):
    waves = Waves(space, blocks)
    waves.take(1.0, lambda name: None)
    wave = waves.take(1.0, lambda name: 2.0, 8.5)
    assert wave == ["bayes(var_smoothing=1e-09)"]  # one of each kind comes first
    assert waves.take(1.0, lambda name: 2.0, 8.5) == ["tree(max_depth=1, min_samples_leaf=1)"]
    assert waves.take(1.0, lambda name: 2.0, 8.5) == ["logit(C=1)", "logit(C=100)"]
    assert waves.take(1.0, lambda name: 2.0, 3.0) == ["bayes(var_smoothing=1)"]
    assert len(waves.left) == len(space) - 6


def test_one_dropped_configuration_does_not_make_its_kind_cheap():
    def expected(*configs):
        spent = Spent(n_cells=10)
        for seconds, n_fitted in configs:
            spent.add(seconds, n_fitted)
        return spent.expected

    dropped, whole = (3.0, 3), (10.0, 10)
    assert expected(whole, whole) == 10.0
    assert expected(dropped) == pytest.approx(10 * (0.3 + 1) / 2)
    assert expected(*[dropped] * 12) == pytest.approx(10 * (0.3 * 12 + 1) / 13)
    assert expected((0.0, 0)) == 0.0


def test_what_a_wave_does_beside_its_fits_is_no_part_of_their_cost(space):
    """To read a large file takes as long for one configuration as for ten."""
    names = list(space)[:3]
    seconds = np.full((3, 1, 5), 0.2)
    made = type(
        "Made", (), {"configs": tuple(names), "seconds": seconds, "state": np.full(seconds.shape, of.State.DONE)}
    )
    costs = Costs(space)
    costs.learn(
        made, names, WaveTimes(wall=6.5, n_fitted=15, between=1.3, n_first=1)
    )  # two workers: 3 s of fits in 1.5 s
    assert costs.overhead == 0.0  # the first wave makes the file too
    assert costs.of(names[:2]) == pytest.approx(1.0)
    costs.learn(made, names, WaveTimes(wall=5.0, n_fitted=15, between=0.0, n_first=15))  # one shared fit gave them all
    assert costs.overhead == pytest.approx(2.0)
    assert costs.of(names[:2]) == pytest.approx(2 * 4.5 / 6)


def test_an_answer_takes_longer_on_a_machine_with_other_work():
    answer = AnswerTime(n_further_fits=3)
    assert answer.expected == 2.0
    answer.saw_work(wall=4.0, cpu=1.0)
    answer.saw_work(wall=0.01, cpu=0.001)  # too short to tell
    assert answer.expected == 8.0
    for _ in range(30):  # the other work has ended
        answer.saw_look(wall=0.3, cpu=0.3)
    assert answer.slowness == pytest.approx(1.0, abs=0.01)
    answer.saw_fit(1.0)
    assert answer.expected == pytest.approx(2.0 + 10 * 0.3 + 4 * 1.5, rel=0.01)
    assert answer.reserve > answer.expected
    assert 100 - answer.expected > answer.latest(now=0.0, end=100.0, share=1.0) > 0


def test_words_for_a_search_that_was_stopped(space):
    oof = of.collect(Configs({"logit": LogisticRegression()}), X, y, of.Plan(folds=3), progress=False)
    assert words_for_stop(Found(oof), None) == ""
    text = words_for_stop(Found(oof, ("a", "b"), "budget"), 90)
    assert text == "the budget of 1 min 30 s is spent; the answer covers the 1 of 3 configurations that are finished"


def test_a_stop_that_comes_after_the_end_does_no_harm():
    stop = Stop()
    with stop:
        stop.after(0.05)
    time.sleep(0.1)  # were the timer not cancelled, it would interrupt here
    assert (stop.due, stop.reason) == (False, "interrupt")


def test_a_budget_in_another_thread_leaves_the_main_thread_alone(space, blocks, tmp_path):
    collect, results = collecting(tmp_path / "s.oof", []), []

    def slow(configs, tell):
        for i in range(100 if len(configs) > 4 else 0):
            time.sleep(0.1)
            tell(i, 100)
        return collect(configs, tell)

    thread = threading.Thread(target=lambda: results.append(AnytimeSearch(space, blocks, slow, budget=1.0).run()))
    thread.start()
    thread.join(timeout=20)  # an interrupt would arrive here
    assert results[0].stopped == "budget"


def test_what_came_from_the_store_took_no_time(space, blocks, tmp_path):
    """Else a search that goes on would take all that is left for quick."""
    collect = collecting(tmp_path / "s.oof", [])
    AnytimeSearch(space, blocks, collect).run()
    again = AnytimeSearch(space, blocks, collect, finished=list(space))
    again.run()
    slow = sum(again.costs.of_config(name) for name in space)
    stored = of.load(tmp_path / "s.oof").seconds
    assert slow == pytest.approx(float(np.median(stored, axis=(1, 2)).sum() * stored[0].size), rel=1e-6)
