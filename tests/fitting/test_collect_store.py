"""Collecting into a store: cells are written as they finish, and a second call does what is missing."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from collect_estimators import (
    Crashes,
    CrashesOnce,
    Exits,
    Interrupts,
    Mute,
    Odd,
    Raises,
    Segfaults,
    Tally,
    fits,
    kill_at,
)
from internals import Plan, State, collect, grid, load
from outfold.exceptions import CollectError, FileError, InputError, StoreMismatchError

PLAN = Plan(folds=4)


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 6, random_state=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.oof"


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "fits.log")


def equal(a, b):
    assert a.configs == b.configs
    for one, other in ((a, b), *((a.blocks[k], b.blocks[k]) for k in a.blocks)):
        assert one.data.tobytes() == other.data.tobytes()
        np.testing.assert_array_equal(one.state, other.state)
        assert dict(one.messages) == dict(other.messages)
    assert a.fingerprint == b.fingerprint


def test_store_holds_what_collect_returns(data, path):
    configs = grid("tally", Tally(), scale=[0.5, 1.0]) | {"bad": Raises()}
    oof = collect(configs, *data, PLAN, store=path, inner=True)
    equal(oof, collect(configs, *data, PLAN, inner=True))
    stored = load(path)
    equal(stored, oof)
    assert stored.params == oof.params
    assert stored.notes == oof.notes
    assert dict(stored.provenance) == dict(oof.provenance)


@pytest.mark.parametrize("response", ["label", "score", "proba"])
def test_every_response_resumes(path, response):
    X, y = make_classification(60, 6, n_classes=3, n_informative=4, random_state=2)
    configs = {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)}
    collect({"a": configs["a"]}, X, y, PLAN, store=path, response=response)
    equal(collect(configs, X, y, PLAN, store=path, response=response), collect(configs, X, y, PLAN, response=response))


def test_second_call_fits_nothing(data, path, log):
    configs = {"a": Tally(1.0, log), "b": Tally(2.0, log)}
    first = collect(configs, *data, PLAN, store=path)
    assert fits(log) == 8
    second = collect(configs, *data, PLAN, store=path, n_jobs=2)
    assert fits(log) == 8
    equal(first, second)
    assert second.provenance["n_fits"] == 8
    assert second.provenance["started"] == first.provenance["started"]


def test_what_was_saved_can_be_continued(data, path, log):
    first = collect({"a": Tally(1.0, log)}, *data, PLAN)
    first.save(path)
    second = collect({"a": Tally(1.0, log), "b": Tally(2.0, log)}, *data, PLAN, store=path)
    assert fits(log) == 8
    equal(second, collect({"a": Tally(1.0), "b": Tally(2.0)}, *data, PLAN))
    with pytest.raises(StoreMismatchError, match=r"was made with seed 0 \(now 1\)"):
        collect({"a": Tally(1.0)}, *data, PLAN, store=path, rng=1)


def test_new_configurations_are_added_and_old_ones_stay(data, path, log):
    collect({"a": Tally(1.0, log)}, *data, PLAN, store=path)
    oof = collect({"b": Tally(2.0, log)}, *data, PLAN, store=path)
    assert oof.configs == ("b",)
    assert set(oof.provenance["specs"]) == {"b"}
    equal(oof, collect({"b": Tally(2.0)}, *data, PLAN))
    assert fits(log) == 8
    whole = load(path)
    assert whole.configs == ("a", "b")
    assert whole.completeness == 1.0
    assert set(whole.provenance["specs"]) == {"a", "b"}
    equal(whole, collect({"a": Tally(1.0), "b": Tally(2.0)}, *data, PLAN))


def test_the_result_has_the_order_of_the_call(data, path, log):
    configs = {name: Tally(scale, log) for name, scale in (("a", 0.5), ("b", 1.0), ("c", 2.0))}
    collect(configs, *data, PLAN, store=path, inner=True)
    before = fits(log)
    turned = {name: configs[name] for name in ("c", "a")}
    oof = collect(turned, *data, PLAN, store=path, inner=True)
    assert fits(log) == before
    equal(oof, collect(turned, *data, PLAN, inner=True))
    assert load(path).configs == ("a", "b", "c")


def test_fresh_selects_among_the_configurations_of_the_call(data, path):
    """The best of the file may be one that this call does not have."""
    better, worse = Tally(1.0), Tally(-1.0)
    collect({"better": better}, *data, PLAN, store=path)
    oof = collect({"worse": worse}, *data, PLAN, store=path, fresh="accuracy")
    assert oof.configs == ("worse",)
    assert oof.blocks["fresh"].completeness == 1.0


def test_all_failing_names_a_configuration_of_the_call(data, path):
    collect({"a": Tally(), "old": Raises()}, *data, PLAN, store=path)
    with pytest.raises(CollectError, match=r"the only configuration failed. .*4 of 4 cells, such as 'new'"):
        collect({"new": Raises()}, *data, PLAN, store=path)


def test_inner_block_can_follow_later(data, path, log):
    configs = {"a": Tally(1.0, log)}
    collect(configs, *data, PLAN, store=path)
    oof = collect(configs, *data, PLAN, store=path, inner=True)
    assert fits(log) == 4 + 6
    equal(oof, collect(configs, *data, PLAN, inner=True))


def test_failed_cells_are_tried_again_only_on_request(data, path, log, monkeypatch):
    class Moody(Tally):
        def fit(self, X, y):
            super().fit(X, y)
            if os.environ.get("MOOD") == "bad":
                raise RuntimeError("bad mood")
            return self

    configs = {"moody": Moody(1.0, log), "a": Tally()}
    monkeypatch.setenv("MOOD", "bad")
    assert np.all(collect(configs, *data, PLAN, store=path).state[0] == State.FAILED)
    monkeypatch.setenv("MOOD", "good")
    again = collect(configs, *data, PLAN, store=path)
    assert again.messages["moody", 0, 0] == "RuntimeError: bad mood"
    assert fits(log) == 4
    healed = collect(configs, *data, PLAN, store=path, retry_failed=True)
    assert fits(log) == 8
    assert healed.completeness == 1.0
    assert not healed.messages
    equal(load(path), healed)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a | {"X": a["X"] + 1}, r"other data \(X\)"),
        (lambda a: a | {"y": 1 - a["y"]}, r"other labels \(y\) in 80 of 80 samples"),
        (lambda a: a | {"y": swapped(a["y"])}, r"other labels \(y\) in 2 of 80 samples"),
        (lambda a: a | {"y": a["y"].astype(float)}, r"labels \(y\) of another type"),
        (lambda a: a | {"positive": 0}, r"the positive class 1 \(now 0\)"),
        (lambda a: a | {"X": a["X"][:60], "y": a["y"][:60]}, r"80 samples \(now 60\)"),
        (lambda a: a | {"plan": Plan(folds=5)}, r"another plan: folds 4 \(now 5\)"),
        (lambda a: a | {"plan": Plan(folds=4, repeats=2)}, r"another plan: repeats 1 \(now 2\)"),
        (lambda a: a | {"rng": 1}, r"seed 0 \(now 1\)"),
        (lambda a: a | {"rng": 1, "X": a["X"] + 1}, r"other data \(X\), seed 0 \(now 1\)"),
        (lambda a: a | {"response": "label"}, r"response proba \(now label\)"),
        (lambda a: a | {"fit_params": {"sample_weight": np.ones(80)}}, r"no fit parameters \(now given\)"),
        (
            lambda a: a | {"configs": {"a": Tally(9.0)}},
            r"another configuration called 'a' with scale=1.0 \(now 9.0\)",
        ),
        (lambda a: a | {"configs": {"a": LogisticRegression()}}, "another configuration called 'a'"),
        (
            lambda a: a | {"groups": np.arange(80) // 4},
            r"another plan: groups False \(now True\), no groups \(now given\)",
        ),
        (
            lambda a: a | {"groups": np.arange(80) // 4, "plan": Plan(folds=4, groups=False)},
            r"no groups \(now given\)",
        ),
        (lambda a: a | {"samples": [f"s{i}" for i in range(80)]}, r"no sample names \(now given\)"),
    ],
)
def test_other_arguments_are_refused(data, path, change, words):
    """It is said what differs, and nothing else."""
    arguments = {"configs": {"a": Tally()}, "X": data[0], "y": data[1], "plan": PLAN, "rng": 0}
    collect(**arguments, store=path)
    before = load(path)
    with pytest.raises(
        StoreMismatchError,
        match=f"^run.oof was made with {words}. To go on, give what it was made with; else use another store, or delete it",
    ):
        collect(**change(arguments), store=path)
    equal(load(path), before)


def swapped(y):
    """Labels of two samples changed places, so that the classes keep their sizes."""
    out, (zero, one) = y.copy(), (np.argmin(y), np.argmax(y))
    out[[zero, one]] = y[[one, zero]]
    return out


def test_a_parameter_deep_in_a_pipeline_is_named(data, path):
    def configs(c):
        return {"logit": make_pipeline(StandardScaler(), LogisticRegression(C=c)), "a": Tally(c)}

    collect(configs(1.0), *data, PLAN, store=path)
    with pytest.raises(
        StoreMismatchError, match=r"another configuration called 'logit' with C=1.0 \(now 0.5\) and 1 more\."
    ):
        collect(configs(0.5), *data, PLAN, store=path)


def test_what_is_gone_is_named_too(data, path):
    arguments = {
        "groups": np.arange(80) // 4,
        "plan": Plan(folds=4, groups=False),
        "samples": [f"s{i}" for i in range(80)],
    }
    collect(LogisticRegression(), *data, **arguments, fit_params={"sample_weight": np.ones(80)}, store=path)
    with pytest.raises(StoreMismatchError, match=r"made with groups \(now none\), fit parameters \(now none\)\."):
        collect(LogisticRegression(), *data, arguments["plan"], samples=arguments["samples"], store=path)


def test_a_mismatch_is_said_once_and_without_hashes(data, path):
    collect(Tally(), *data, PLAN, store=path, inner=True)
    with pytest.raises(StoreMismatchError) as caught:
        collect(Tally(), *data, Plan(folds=5), store=path, inner=True)
    assert str(caught.value).startswith("run.oof was made with another plan: folds 4 (now 5). To go on, give")


def test_a_splitter_without_a_text_of_its_own_can_be_continued(data, path, log):
    class Halves:
        def split(self, X, y=None, groups=None):
            order = np.arange(len(X))
            yield order[::2], order[1::2]
            yield order[1::2], order[::2]

        def get_n_splits(self, X=None, y=None, groups=None):
            return 2

    for _ in range(2):
        oof = collect(Tally(1.0, log), *data, Plan.from_cv(Halves()), store=path)
        assert fits(log) == 2
    assert "0x" not in str(oof.provenance["identity"])


def test_read_only_folder(data, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # the superuser may write anywhere but to a file system of the kernel's
        folder = Path("/sys")
        if not folder.is_dir():
            pytest.skip("this user may write anywhere")
    with pytest.raises(FileError, match="read-only"):
        collect(Tally(), *data, PLAN, store=folder / "run.oof")


def test_folder_that_is_not_there(data, tmp_path):
    with pytest.raises(FileError, match=r"does not exist\. Make it"):
        collect(Tally(), *data, PLAN, store=tmp_path / "nowhere" / "run.oof")


def test_bad_input_makes_no_file(data, path):
    with pytest.raises(InputError, match="same length"):
        collect(Tally(), data[0][:-1], data[1], PLAN, store=path)
    assert not path.exists()


# -- interruptions --------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(data, path, log):
    configs = {"a": Interrupts(1.0, log, 0.06), "b": Tally(2.0, log)}
    with pytest.raises(KeyboardInterrupt) as caught:
        collect(configs, *data, PLAN, store=path)
    (note,) = caught.value.__notes__
    kept = int(np.sum(load(path).state == State.DONE))
    assert note == f"{kept} of 8 cells are in {path}; start it again to go on."
    assert 1 <= kept < 8
    before = fits(log)
    oof = collect(configs, *data, PLAN, store=path)
    assert fits(log) - before == 8 - kept
    equal(oof, collect({"a": Tally(1.0), "b": Tally(2.0)}, *data, PLAN))


def test_ctrl_c_without_a_store(data, log):
    with pytest.raises(KeyboardInterrupt) as caught:
        collect(Interrupts(1.0, log), *data, PLAN)
    assert "Give store='run.oof' to keep what is finished next time" in caught.value.__notes__[0]


# Every crash costs two new workers, so one of them happens in one fold only.
@pytest.mark.parametrize(
    ("bad", "plan"), [(Crashes(), Plan(folds=2)), (Segfaults(), Plan.holdout())], ids=["exit", "segfault"]
)
def test_crash_of_a_worker_is_a_failed_cell_and_the_rest_goes_on(data, path, bad, plan):
    configs = grid("tally", Tally(), scale=[0.5, 1.0, 2.0]) | {"z": bad}
    oof = collect(configs, *data, plan, store=path, n_jobs=2, retry_failed=True)
    assert np.all(oof.state[:3] == State.DONE)
    assert np.all(oof.state[3] == State.FAILED)
    assert set(oof.messages.values()) == {"the worker process ended (crash or out of memory)"}
    equal(load(path), oof)
    equal(oof.sel(list(configs)[:3]), collect(grid("tally", Tally(), scale=[0.5, 1.0, 2.0]), *data, plan))


def test_a_fit_that_crashes_once_is_done_at_the_second_try(data, log):
    oof = collect({"a": CrashesOnce(1.0, log), "b": Tally()}, *data, Plan(folds=2), n_jobs=2)
    assert oof.completeness == 1.0
    equal(oof.sel("b"), collect({"b": Tally()}, *data, Plan(folds=2)))


def test_all_crashing_is_an_error_that_says_so(data):
    with pytest.raises(CollectError, match="the worker process ended"):
        collect({"z": Crashes()}, *data, Plan.holdout(), n_jobs=2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_leaving_a_fit_in_any_way_is_a_failed_cell(data, path, n_jobs):
    kinds = {"exit": SystemExit, "generator": GeneratorExit, "odd": Odd}
    configs = {name: Exits(kind=kind) for name, kind in kinds.items()} | {"a": Tally()}
    oof = collect(configs, *data, Plan(folds=2), store=path, n_jobs=n_jobs)
    assert np.all(oof.state[:3] == State.FAILED)
    assert np.all(oof.state[3] == State.DONE)
    assert {oof.messages[name, 0, 0] for name in kinds} == {f"{k.__name__}: bye" for k in kinds.values()}
    equal(load(path), oof)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Mute("x"), "Mute"),
        (ValueError("half \ud800 a pair"), "ValueError: half \\ud800 a pair"),
        (ValueError("a\0b"), "ValueError: a\\x00b"),
        (ValueError("\n\n"), "ValueError"),
    ],
)
def test_any_message_can_be_kept(data, path, error, message):
    class Fails(Tally):
        def fit(self, X, y):
            raise error

    oof = collect({"bad": Fails(), "a": Tally()}, *data, Plan(folds=2), store=path)
    assert oof.messages["bad", 0, 0] == message
    equal(load(path), oof)


_SLOW_SCRIPT = """
import sys
from collect_estimators import Tally
from sklearn.datasets import make_classification
from outfold import Plan, collect

path, log, n_jobs = sys.argv[1:]
X, y = make_classification(80, 6, random_state=2)
configs = {f"quick {i}": Tally(i + 1.0) for i in range(40)}
configs |= {f"slow {i}": Tally(i + 1.0, log, 0.4) for i in range(12)}
collect(configs, X, y, Plan(folds=2), store=path, n_jobs=int(n_jobs))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_slow_fits_are_written_one_by_one_even_if_they_were_expected_to_be_quick(path, log, scripts, n_jobs):
    """Forty quick ones go first, so that the slow ones are handed out in large batches."""
    script = path.parent / "script.py"
    script.write_text(_SLOW_SCRIPT)
    kill_at([8], lambda: scripts.start(script, path, log, n_jobs), log)
    part = load(path)
    slow = [j for j, name in enumerate(part.configs) if name.startswith("slow")]
    # A fit is logged when it begins; each worker may have one going on, and one that was not written yet.
    assert np.sum(part.state[slow] == State.DONE) >= 8 - 2 * n_jobs


def test_the_time_of_every_cell_is_kept(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    path = tmp_path / "run.oof"
    oof = collect({"a": Tally(), "b": Tally(pause=0.01)}, X, y, Plan(folds=2), store=path)
    assert oof.seconds.shape == oof.state.shape
    assert (oof.seconds[1] >= 0.01).all()
    np.testing.assert_array_equal(load(path).seconds, oof.seconds)
    again = collect({"a": Tally(), "b": Tally(pause=0.01)}, X, y, Plan(folds=2), store=path)
    np.testing.assert_array_equal(again.seconds, oof.seconds)
    np.testing.assert_array_equal(oof.sel(config="b").seconds, oof.seconds[1:])
    np.testing.assert_array_equal(load(oof.save(tmp_path / "copy.oof")).seconds, oof.seconds)
