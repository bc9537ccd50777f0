"""Logs of evaluations of language models: what is read, and that everything works on it.

``samples/lm_eval`` was written by lm-evaluation-harness 0.4.13 (paths shortened), ``samples/inspect*`` by Inspect 0.3.285 (the
.json logs without events), both with stand-ins for the models. ``samples/promptfoo.json`` and ``samples/helm`` have the
documented form.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from outfold.adapters import read_helm, read_inspect, read_lm_eval, read_lm_eval_results, read_promptfoo
from outfold.cli import main
from outfold.exceptions import FileError, InputError

SAMPLES = Path(__file__).parent / "samples"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- lm-evaluation-harness ---------------------------------------------------------------------------------------------


def test_scores_of_lm_eval_are_those_of_its_results():
    oof = read_lm_eval(SAMPLES / "lm_eval", metric="acc")
    assert oof.configs == ("acme/large", "acme/medium", "acme/small")
    assert (oof.n_samples, oof.response) == (30, "pointwise")
    for name, score in zip(oof.configs, oof.scores("mean")[:, 0, 0], strict=True):
        (results,) = (SAMPLES / "lm_eval" / name.replace("/", "__")).glob("results_*.json")
        assert score == pytest.approx(json.loads(results.read_text())["results"]["sums"]["acc,none"])


def test_several_files_of_one_name_are_epochs_and_groups_are_keys_of_documents():
    files = {name: next((SAMPLES / "lm_eval" / f"acme__{name}").glob("samples_*.jsonl")) for name in ("small", "large")}
    oof = read_lm_eval(
        {"both": [files["small"], files["large"]], "large": [files["large"]] * 2}, metric="acc", group="passage"
    )
    assert oof.n_repeats == 2
    assert len(set(oof.groups.tolist())) == 10
    assert oof.scores("mean")[1, 0, 0] == oof.scores("mean")[1, 1, 0] == oof.scores("mean")[0, 1, 0]
    with pytest.raises(InputError, match="every document; item 0 has no 'chapter'"):
        read_lm_eval(files, metric="acc", group="chapter")


def test_metric_filter_and_task_must_be_told_where_there_are_several(tmp_path):
    with pytest.raises(InputError, match="metric must name one of the scores: acc, acc_norm; there are several"):
        read_lm_eval(SAMPLES / "lm_eval")
    path = next((SAMPLES / "lm_eval" / "acme__small").glob("samples_*.jsonl"))
    rows = [
        row | {"filter": name, "doc_id": row["doc_id"]} for row in lines_of(path) for name in ("strict", "flexible")
    ]
    (tmp_path / "samples_sums_2026-01-01T00-00-00.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match="filter must name one of the filters: flexible, strict"):
        read_lm_eval(tmp_path, metric="acc")
    assert read_lm_eval(tmp_path, metric="acc", filter="strict").n_samples == 30
    shutil.copy(path, tmp_path / "samples_other_2026-01-01T00-00-00.jsonl")
    both = read_lm_eval({"m": tmp_path}, metric="acc", filter="strict")
    assert both.n_samples == 30  # the other task has another filter
    one = read_lm_eval({"m": tmp_path}, task="other", metric="acc")
    assert one.samples[0] == "0"
    with pytest.raises(InputError, match="task must be one of the tasks"):
        read_lm_eval(tmp_path, task="nothing")


def test_a_metric_that_the_lines_have_but_do_not_list(tmp_path):
    rows = [{"doc_id": i, "acc": i % 2, "f1": 0.5} for i in range(4)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    oof = read_lm_eval({"a": tmp_path / "a.jsonl"}, metric="acc")
    assert oof.data[0, 0].tolist() == [0, 1, 0, 1]
    for metric in (None, "bleu"):
        with pytest.raises(InputError, match=r"^metric must name one of the scores; there are none\.(?m:$)"):
            read_lm_eval({"a": tmp_path / "a.jsonl"}, metric=metric)


def test_filters_of_tasks_without_the_metric_are_not_asked_for(tmp_path):
    def rows(metric, *filters):
        return [{"doc_id": i, "metrics": [metric], metric: 1, "filter": name} for name in filters for i in range(2)]

    for task, found in (("arc", rows("acc", "none")), ("gsm8k", rows("exact_match", "strict", "flexible"))):
        path = tmp_path / "m" / f"samples_{task}_2026-01-01T00-00-00.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(json.dumps, found)))
    assert read_lm_eval(tmp_path, metric="acc").samples.tolist() == ["arc:0", "arc:1"]
    with pytest.raises(InputError, match="filter must name one of the filters: flexible, strict; there are several"):
        read_lm_eval(tmp_path, metric="exact_match")


def test_numbers_of_numpy_that_the_harness_wrote_as_text(tmp_path):
    path = tmp_path / "samples_t_2026-01-01T00-00-00.jsonl"
    for text, score in (("0.25", 0.25), ("True", 1), ("False", 0)):
        rows = [{"doc_id": i, "metrics": ["f1"], "f1": value} for i, value in enumerate([1, text])]
        path.write_text("\n".join(map(json.dumps, rows)))
        assert read_lm_eval({"m": path}).data[0, 0].tolist() == [1, score]
    for text in ("good", "1_0"):
        path.write_text(json.dumps({"doc_id": 0, "metrics": ["f1"], "f1": text}))
        with pytest.raises(InputError, match=f"the score 'f1' must be one number for each item; it is '{text}'"):
            read_lm_eval({"m": path})


def test_results_beside_the_samples_are_read_once(tmp_path, monkeypatch):
    shutil.copytree(SAMPLES / "lm_eval" / "acme__small", tmp_path / "logs")
    (path,) = (tmp_path / "logs").glob("samples_*.jsonl")
    for task in ("sums2", "sums3"):
        shutil.copy(path, path.with_name(path.name.replace("sums", task)))
    read, opened = Path.read_text, []
    monkeypatch.setattr(Path, "read_text", lambda path, **how: opened.append(path.name) or read(path, **how))
    oof = read_lm_eval(tmp_path / "logs", metric="acc")
    assert (oof.configs, oof.n_samples) == (("acme/small",), 90)
    assert len([name for name in opened if name.startswith("results_")]) == 1


def test_several_logs_of_one_model_are_refused_in_a_folder(tmp_path):
    path = next((SAMPLES / "lm_eval" / "acme__small").glob("samples_*.jsonl"))
    for day in (1, 2):
        shutil.copy(path, tmp_path / f"samples_sums_2026-01-0{day}T00-00-00.jsonl")
    with pytest.raises(InputError, match=r"several logs of the task 'sums'.*Give one of them; or name them in a dict"):
        read_lm_eval(tmp_path, metric="acc")


def test_results_of_tasks_make_a_table_for_ranks(tmp_path):
    for model, shift in (("a", 0.0), ("b", 0.05), ("c", -0.02)):
        results = {f"task{i}": {"acc,none": 0.5 + i / 50 + shift, "acc_stderr,none": 0.01} for i in range(8)}
        (tmp_path / f"results_{model}.json").write_text(json.dumps({"model_name": model, "results": results}))
    table = read_lm_eval_results(tmp_path, metric="acc")
    assert table["b"][1] == pytest.approx(0.57)
    assert of.rank.nemenyi(table, datasets="task").order == ("b", "a", "c")
    with pytest.raises(
        InputError, match=r"one of the scores that each task has \('task0', .* and 3 more: acc,none\); got 'f1'"
    ):
        read_lm_eval_results(tmp_path, metric="f1")


def test_tasks_with_different_scores_are_listed_and_can_be_named(tmp_path):
    scores = {"arc": {"acc,none": 0.5, "acc_norm,none": 0.6}, "piqa": {"acc,none": 0.7, "acc_norm,none": 0.8}}
    scores |= {"gsm8k": {"exact_match,strict": 0.3, "exact_match,flexible": 0.4}, "empty": {"alias": "empty"}}
    (tmp_path / "results_1.json").write_text(json.dumps({"model_name": "small", "results": scores}))
    with pytest.raises(InputError) as told:
        read_lm_eval_results(tmp_path, metric="acc")
    assert str(told.value).startswith(
        "metric must name one of the scores that each task has ('arc', 'piqa': acc,none, acc_norm,none; "
        "'gsm8k': exact_match,strict, exact_match,flexible; 'empty': none); got 'acc'. "
        "A dict names the score of each task, and leaves out all other tasks: "
        "metric={'arc': 'acc,none', 'gsm8k': 'exact_match,strict'}."
    )
    found = read_lm_eval_results(tmp_path, metric={"arc": "acc", "gsm8k": "exact_match,flexible"})
    assert found == {"task": ["arc", "gsm8k"], "small": [0.5, 0.4]}
    with pytest.raises(InputError, match="must name one of the scores that each task has"):
        read_lm_eval_results(tmp_path, metric={"gsm8k": "exact_match"})
    with pytest.raises(InputError, match="there is no task 'gsm'"):
        read_lm_eval_results(tmp_path, metric={"gsm": "exact_match"})


def test_groups_of_tasks_are_no_rows_and_a_dict_names_the_models(tmp_path):
    scores = {"mmlu": {"acc,none": 0.5}, "mmlu_law": {"acc,none": 0.4}, "mmlu_art": {"acc,none": 0.6}}
    groups = {"mmlu": ["mmlu_law", "mmlu_art"], "mmlu_law": []}
    content = json.dumps({"model_name": "k3x", "results": scores, "group_subtasks": groups})
    (tmp_path / "results_1.json").write_text(content)
    found = read_lm_eval_results({"small": tmp_path, "same": tmp_path / "results_1.json"})
    assert found == {"task": ["mmlu_law", "mmlu_art"], "small": [0.4, 0.6], "same": [0.4, 0.6]}


# -- Inspect -----------------------------------------------------------------------------------------------------------


def test_scores_of_inspect_are_those_of_its_results():
    oof = read_inspect(SAMPLES / "inspect", group="passage")
    assert sorted(oof.configs) == ["mockllm/bad", "mockllm/fair", "mockllm/good"]
    assert (oof.n_samples, oof.n_repeats, len(set(oof.groups.tolist()))) == (24, 2, 8)
    for name, scores in zip(oof.configs, oof.scores("mean"), strict=True):
        log = json.loads((SAMPLES / "inspect" / f"{name.removeprefix('mockllm/')}.json").read_text())
        assert scores.mean() == pytest.approx(log["results"]["scores"][0]["metrics"]["accuracy"]["value"])


def test_an_eval_file_is_read_as_the_json_log():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (outfold[frames])")
    packed, plain = read_inspect(SAMPLES / "inspect_bad.eval"), read_inspect(SAMPLES / "inspect" / "bad.json")
    order = [plain.samples.tolist().index(name) for name in packed.samples]
    assert np.array_equal(packed.data, plain.data[:, :, order])


def test_logs_of_one_model_are_told_apart_by_their_arguments(tmp_path):
    log = json.loads((SAMPLES / "inspect" / "fair.json").read_text())
    for prompt in ("short", "long"):
        log["eval"]["task_args"] = {"prompt": prompt}
        (tmp_path / f"{prompt}.json").write_text(json.dumps(log))
    assert read_inspect(tmp_path).configs == ("mockllm/fair (prompt=long)", "mockllm/fair (prompt=short)")
    named = read_inspect({"first": tmp_path / "short.json", "second": tmp_path / "long.json"})
    assert named.configs == ("first", "second")


def inspect_log(path, scores, *, status="success", **facts):
    """A log with one sample for each score of the scorer ``s``."""
    samples = [{"id": i, "epoch": 1, "scores": {"s": score} if score else {}} for i, score in enumerate(scores)]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"status": status, "eval": {"model": "m", "task": "t"} | facts, "samples": samples}))
    return path


def values(*numbers):
    return [{"value": number} for number in numbers]


def test_the_folder_of_a_set_of_evaluations(tmp_path):
    inspect_log(tmp_path / "a.json", values(1, 0), model="a")
    inspect_log(tmp_path / "b.json", values(0, 0), model="b")
    # What `inspect eval-set` writes beside the logs.
    (tmp_path / "eval-set.json").write_text('{"eval_set_id": "x", "tasks": []}')
    (tmp_path / "logs.json").write_text('{"a.json": {"status": "success"}}')
    assert read_inspect(tmp_path).configs == ("a", "b")
    with pytest.raises(InputError, match=r"eval-set.json must be a log of Inspect; it has no part 'eval'"):
        read_inspect(tmp_path / "eval-set.json")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "logs.json").write_text("{}")
    with pytest.raises(FileError, match=r"others holds no logs of Inspect \(.eval or .json\)"):
        read_inspect(tmp_path / "others")


def test_items_of_several_tasks_are_not_mixed_up(tmp_path):
    for model, shift in (("a", 0), ("b", 1)):
        for task, score in (("sums", 4), ("words", 6)):
            inspect_log(tmp_path / f"{model}-{task}.json", values(score, score + shift), model=model, task=task)
    oof = read_inspect(tmp_path)
    assert oof.configs == ("a", "b")
    assert oof.samples.tolist() == ["sums:0", "sums:1", "words:0", "words:1"]
    assert oof.data[0].tolist() == [[4, 4, 6, 6], [4, 5, 6, 7]]
    assert read_inspect(tmp_path, task="words").samples.tolist() == ["0", "1"]
    with pytest.raises(InputError, match="task must name one of the tasks: sums, words; got 'other'"):
        read_inspect(tmp_path, task="other")
    named = {name: [tmp_path / f"{name}-{task}.json" for task in ("sums", "words")] for name in "ab"}
    assert np.array_equal(read_inspect(named).data, oof.data)


def test_prompts_that_are_tasks_answer_the_same_items_if_a_dict_names_them(tmp_path):
    logs = {name: inspect_log(tmp_path / f"{name}.json", values(1, 0), task=name) for name in ("short", "long")}
    oof = read_inspect(logs)
    assert (oof.configs, oof.samples.tolist()) == (("short", "long"), ["0", "1"])
    rows = [{"doc_id": i, "metrics": ["acc"], "acc": 1} for i in range(2)]
    for name in logs:
        logs[name] = tmp_path / f"samples_{name}_2026-01-01T00-00-00.jsonl"
        logs[name].write_text("\n".join(map(json.dumps, rows)))
    oof = read_lm_eval(logs)
    assert (oof.configs, oof.samples.tolist()) == (("short", "long"), ["0", "1"])


def test_several_logs_of_one_name_are_epochs_of_inspect(tmp_path):
    logs = [inspect_log(tmp_path / f"{i}.json", values(i, 1)) for i in range(3)]
    oof = read_inspect({"m": logs})
    assert oof.data[:, 0].tolist() == [[0, 1], [1, 1], [2, 1]]
    assert read_inspect(logs).configs == ("m (0)", "m (1)", "m (2)")
    other = inspect_log(tmp_path / "other.json", values(1, 1), model="n")
    with pytest.raises(InputError, match="the logs that you name 'm' are of several models: m, n"):
        read_inspect({"m": [*logs, other]})


def test_an_evaluation_that_was_run_again_counts_once(tmp_path):
    inspect_log(tmp_path / "first.json", [{"value": 1}, None], status="error", task_id="x")
    inspect_log(tmp_path / "again.json", values(1, 0), task_id="x")
    assert read_inspect(tmp_path).configs == ("m",)
    (tmp_path / "again.json").unlink()
    with pytest.raises(InputError, match="'m' has no score for item 1"):
        read_inspect([tmp_path / "first.json", inspect_log(tmp_path / "b.json", values(1, 1), model="b")])


def test_logs_of_one_model_are_named_by_the_settings_that_differ(tmp_path):
    same = {"task_args": {"n": 5}, "solver": "generate"}
    for name, warm in (("cold", 0), ("warm", 1)):
        inspect_log(tmp_path / f"{name}.json", values(1), **same, model_generate_config={"temperature": warm})
    assert read_inspect(tmp_path).configs == ("m (temperature=0)", "m (temperature=1)")


def test_settings_of_the_command_line_and_long_ones_are_in_the_names(tmp_path):
    """``inspect eval --temperature`` is in the plan only; what is not given is null in one place or the other."""
    long = "You are a teacher of geography who answers in one word."
    for name, temperature in (("cold", 0.0), ("warm", 1.0)):
        inspect_log(tmp_path / f"{name}.json", values(1, 0), model_generate_config={"temperature": None, "top_p": None})
        log = json.loads((tmp_path / f"{name}.json").read_text())
        log["plan"] = {"config": {"temperature": temperature, "system_message": f"{long} Think {name}."}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    cut = f"system_message={long[:40]}..."
    assert read_inspect(tmp_path).configs == (f"m (temperature=0.0, {cut})", f"m (temperature=1.0, {cut})")


def test_a_model_without_a_score_does_not_vanish(tmp_path):
    good = inspect_log(tmp_path / "a.json", values(1, 0), model="a")
    bad = inspect_log(tmp_path / "b.json", [None, None], model="b", status="error")
    for missing in ("refuse", "drop"):
        with pytest.raises(InputError, match=r"'b' has no item with this score. Score it, or run it again; or leave"):
            read_inspect([good, bad], missing=missing)
    with pytest.raises(
        InputError, match=r"no sample in these logs has a score. The evaluation in b.json failed; run it"
    ):
        read_inspect(bad)
    rows = {"a": [{"doc_id": 0, "metrics": ["acc"], "acc": 1}], "b": [{"doc_id": 0, "metrics": ["bleu"], "bleu": 3}]}
    for name, lines in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(InputError, match="'b' has no item with this score"):
        read_lm_eval({name: tmp_path / f"{name}.jsonl" for name in rows}, metric="acc")
    (tmp_path / "items.csv").write_text("model,id,acc\na,0,1\nb,0,\n")
    with pytest.raises(InputError, match="'b' has no item with this score"):
        read_helm(tmp_path / "items.csv", missing="drop")


def test_one_of_several_values_of_a_scorer(tmp_path):
    log = inspect_log(tmp_path / "log.json", [{"value": {"style": "C", "facts": i, "odd": None}} for i in range(3)])
    assert read_inspect(log, scorer="s.facts").data[0, 0].tolist() == [0, 1, 2]
    assert read_inspect(log, scorer="s.style").data[0, 0].tolist() == [1, 1, 1]
    with pytest.raises(InputError, match=r"scorer must name one of the scorers: s.facts, s.odd, s.style"):
        read_inspect(log)


def test_samples_without_a_score_and_invalid_ones_are_missing(tmp_path):
    log = inspect_log(tmp_path / "log.json", values(float("nan"), 1, 1, 1))
    content = json.loads(log.read_text())
    content["samples"][1]["invalidation"] = {"author": "me"}
    log.write_text(json.dumps(content))
    assert read_inspect(log, missing="drop").samples.tolist() == ["2", "3"]
    none = inspect_log(tmp_path / "none.json", [None, None])
    with pytest.raises(InputError, match="no sample in these logs has a score"):
        read_inspect(none)


def test_an_eval_file_that_was_written_to_twice_or_not_to_its_end(tmp_path):
    path = tmp_path / "log.eval"
    first, second = (json.dumps({"id": 1, "scores": {"s": {"value": score}}}) for score in (0, 1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", first)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("samples/1_epoch_1.json", second)
        archive.writestr("header.json", EVAL)
    assert read_inspect(path).data.tolist() == [[[1]]]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", EVAL)
    with pytest.raises(FileError, match=r"log.eval has no header.json, which Inspect writes when an evaluation ends"):
        read_inspect(path)


def test_an_eval_file_that_was_stopped_and_run_again_is_left_out(tmp_path):
    """A crash leaves no header.json; the file stays beside that of `inspect eval-retry`."""
    start = {"version": 2, "eval": {"model": "m", "task": "t", "task_id": "x"}}
    with zipfile.ZipFile(tmp_path / "first.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(start))
        archive.writestr("samples/0_epoch_1.json", json.dumps({"id": 0, "scores": {"s": {"value": 0}}}))
    with pytest.raises(FileError, match=r"first.eval has no header.json"):
        read_inspect(tmp_path)
    inspect_log(tmp_path / "failed.json", [], status="error", task_id="x")
    inspect_log(tmp_path / "again.json", values(1, 0), task_id="x")
    oof = read_inspect(tmp_path)
    assert (oof.configs, oof.data[0, 0].tolist()) == (("m",), [1, 0])


def test_large_samples_are_kept_in_parts(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 3, "eval": {"model": "m"}}))
        for name, score in (("a/b", 1), ("c", 0)):
            sample = {"id": name, "epoch": 1, "scores": {"s": {"value": score}}}
            archive.writestr(f"samples/{name}_epoch_1/sample.json", json.dumps(sample))
            archive.writestr(f"samples/{name}_epoch_1/metadata.json", json.dumps({"passage": f"of {name}"}))
            archive.writestr(f"samples/{name}_epoch_1/messages/0.json", "[{}]")
            archive.writestr(f"samples/{name}_epoch_1/events/stats.json", "{}")
        whole = {"id": "d/e", "epoch": 1, "scores": {"s": {"value": 0.5}}, "metadata": {"passage": "of d/e"}}
        archive.writestr("samples/d/e_epoch_1.json", json.dumps(whole))
    oof = read_inspect(tmp_path, group="passage")
    assert (oof.samples.tolist(), oof.data[0, 0].tolist()) == (["a/b", "c", "d/e"], [1, 0, 0.5])
    assert oof.groups.tolist() == ["of a/b", "of c", "of d/e"]


def test_shards_of_a_log_are_not_read_beside_it(tmp_path):
    inspect_log(tmp_path / "log.json", values(1, 0))
    (tmp_path / "log.shards").mkdir()
    shard = inspect_log(tmp_path / "log.shards" / "0" / "part.json", values(1))
    assert read_inspect(tmp_path).configs == ("m",)
    assert read_inspect(shard).n_samples == read_inspect(tmp_path / "log.shards").n_samples == 1


def test_letters_numbers_and_what_is_neither(tmp_path):
    samples = [{"id": i, "epoch": 1, "scores": {"s": {"value": v}}} for i, v in enumerate(["C", "P", "N", True, 0.25])]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    assert read_inspect(path).data[0, 0].tolist() == [1, 0.5, 0, 1, 0.25]
    words = ["yes", "NO", "True", "0.75", "-1e2"]
    log = inspect_log(tmp_path / "words.json", [{"value": word} for word in words])
    assert read_inspect(log).data[0, 0].tolist() == [1, 0, 1, 0.75, -100]
    for value in ([1, 0], "good", "nan"):
        log = inspect_log(tmp_path / "other.json", [{"value": value}])
        with pytest.raises(InputError, match="the value of 's' must be one number for each item"):
            read_inspect(log)
    path.write_text(json.dumps({"eval": {"model": "m"}}))
    with pytest.raises(InputError, match=r"log.json has no samples"):
        read_inspect(path)
    with pytest.raises(FileError, match="there is no file"):
        read_inspect(tmp_path / "nothing.json")


def test_items_that_failed_are_refused_or_left_out(tmp_path):
    for name in ("good", "bad"):
        log = json.loads((SAMPLES / "inspect" / f"{name}.json").read_text())
        if name == "bad":
            log["samples"][5]["scores"] = {}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    with pytest.raises(InputError, match=r"'mockllm/bad' has no score for item q.*missing='drop'.* 1 of 24 items"):
        read_inspect(tmp_path)
    oof = read_inspect(tmp_path, missing="drop")
    assert (oof.n_samples, oof.provenance["items_left_out"]) == (23, 1)


# -- HELM and promptfoo --------------------------------------------------------------------------------------------------


def test_runs_of_helm():
    oof = read_helm(SAMPLES / "helm")
    assert set(oof.configs) == {"acme/small", "acme/large"}
    assert (oof.n_samples, oof.n_repeats) == (15, 2)
    assert oof.leaderboard("mean").configs[0] == "acme/large"


def helm_run(folder, subject: str, model: str, scores: list[float]) -> None:
    """A run folder as HELM 0.5 names and writes it, here of one subject of MMLU."""
    name = f"mmlu:subject={subject},method=multiple_choice_joint,model={model.replace('/', '_')}"
    run = folder / name
    run.mkdir(parents=True)
    spec = {"name": name, "scenario_spec": {"args": {"subject": subject}}, "adapter_spec": {"model": model}}
    (run / "run_spec.json").write_text(json.dumps(spec))
    stats = [
        {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": score, "mean": score} for score in scores
    ]
    rows = [{"instance_id": f"id{i}", "train_trial_index": 0, "stats": [stat]} for i, stat in enumerate(stats)]
    (run / "per_instance_stats.json").write_text(json.dumps(rows))


def test_runs_of_helm_on_several_scenarios(tmp_path):
    for subject, scores in (
        ("anatomy", {"a/small": [1, 0], "b/large": [1, 1]}),
        ("physics", {"a/small": [0], "b/large": [1]}),
    ):
        for model, of_items in scores.items():
            helm_run(tmp_path, subject, model, [float(score) for score in of_items])
    oof = read_helm(tmp_path)
    assert [oof.scores("mean")[oof.config_index(name)].item() for name in ("a/small", "b/large")] == [1 / 3, 1]
    assert oof.samples.tolist() == [
        "mmlu:subject=anatomy,method=multiple_choice_joint:id0",
        "mmlu:subject=anatomy,method=multiple_choice_joint:id1",
        "mmlu:subject=physics,method=multiple_choice_joint:id0",
    ]
    one = read_helm(tmp_path, task="mmlu:subject=physics")
    assert one.samples.tolist() == ["id0"]
    assert one.scores("mean").ravel().tolist() == [0, 1]
    assert read_helm(tmp_path, task="mmlu").n_samples == 3
    with pytest.raises(InputError, match=r"task must be one of the scenarios mmlu:subject=anatomy,.*; got 'gsm'"):
        read_helm(tmp_path, task="gsm")


def test_a_table_of_items(tmp_path):
    rows = ["model,instance_id,subject,exact_match,f1"]
    rows += [f"{m},q{i},s{i // 2},{int(i % k == 0)},{i / 10}" for m, k in (("a", 2), ("b", 3)) for i in range(8)]
    (tmp_path / "items.csv").write_text("\n".join(rows))
    oof = read_helm(tmp_path / "items.csv", metric="exact_match", group="subject")
    assert oof.scores("mean")[:, 0, 0].tolist() == [0.5, 0.375]
    assert len(set(oof.groups.tolist())) == 4
    with pytest.raises(InputError, match="metric must name one of the columns of numbers: exact_match, f1"):
        read_helm(tmp_path / "items.csv", group="subject")
    (tmp_path / "items.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="has no column 'model' or 'model_name'"):
        read_helm(tmp_path / "items.csv")


def test_an_underscore_makes_a_name_in_a_table_of_items(tmp_path):
    (tmp_path / "items.csv").write_text("model,item,version,gain\na,x,1_0,1\na,y,1_1,2\n")
    assert read_helm(tmp_path / "items.csv").data[0, 0].tolist() == [1, 2]
    with pytest.raises(InputError, match="column 'version' must hold numbers; it holds '1_0'"):
        read_helm(tmp_path / "items.csv", metric="version")


def test_a_table_of_items_with_negative_scores_and_empty_cells(tmp_path):
    (tmp_path / "items.csv").write_text("model,item,gain\na,x,-1\na,y,2\na,z,\na,w\n")
    assert read_helm(tmp_path / "items.csv", missing="drop").data[0, 0].tolist() == [-1, 2]


def test_prompts_of_promptfoo_with_repeats_and_topics():
    oof = read_promptfoo(SAMPLES / "promptfoo.json", group="topic")
    assert oof.configs == ("short", "polite", "long")
    assert (oof.n_samples, oof.n_repeats, len(set(oof.groups.tolist()))) == (16, 2, 4)
    rows = json.loads((SAMPLES / "promptfoo.json").read_text())["results"]["results"]
    for name, scores in zip(oof.configs, oof.scores("mean"), strict=True):
        assert scores.mean() == pytest.approx(np.mean([row["score"] for row in rows if row["prompt"]["label"] == name]))
    assert np.array_equal(read_promptfoo(SAMPLES / "promptfoo.json", score="correct").data, oof.data)
    with pytest.raises(InputError, match=r"score must be score, success or a named score \(correct\); got 'speed'"):
        read_promptfoo(SAMPLES / "promptfoo.json", score="speed")


def test_lines_of_promptfoo_and_two_providers(tmp_path):
    rows = json.loads((SAMPLES / "promptfoo.json").read_text())["results"]["results"]
    other = [row | {"provider": {"id": "acme:x"}} for row in rows]
    (tmp_path / "out.jsonl").write_text("\n".join(map(json.dumps, rows + other)))
    oof = read_promptfoo(tmp_path / "out.jsonl")
    assert oof.n_configs == 6
    assert "acme:x | polite" in oof.configs
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(InputError, match=r"bad.json must hold results of promptfoo"):
        read_promptfoo(tmp_path / "bad.json")


def promptfoo_row(prompt, test, score, **more):
    names = {"provider": {"id": "acme:x"}, "prompt": {"label": "short", "raw": f"raw {prompt}"}}
    return {"promptIdx": prompt, "testIdx": test, **names, "vars": {"q": test}, "score": score} | more


def read_rows(path, rows, **options):
    path.write_text(json.dumps({"results": {"version": 3, "results": rows}, "runtimeOptions": options}))
    return read_promptfoo(path)


def test_columns_of_promptfoo_with_equal_names_are_different_configurations(tmp_path):
    rows = [promptfoo_row(p, t, p) for t in range(4) for p in range(3)]
    oof = read_rows(tmp_path / "out.json", rows)
    assert oof.configs == ("acme:x", "acme:x #2", "acme:x #3")
    assert (oof.n_samples, oof.n_repeats) == (4, 1)
    assert oof.scores("mean")[:, 0, 0].tolist() == [0, 1, 2]
    named = [row | {"prompt": {"label": ["long", "long", "long #2"][row["promptIdx"]]}} for row in rows]
    oof = read_rows(tmp_path / "out.json", named)
    assert sorted(zip(oof.configs, oof.scores("mean")[:, 0, 0].tolist(), strict=True)) == [
        ("long", 0),
        ("long #2", 2),
        ("long #3", 1),
    ]


def test_prompts_of_promptfoo_without_a_label_are_one_configuration_each(tmp_path):
    rows = [promptfoo_row(p, t, p) | {"prompt": {"raw": f"Answer {t}"}} for t in range(4) for p in range(2)]
    oof = read_rows(tmp_path / "out.json", rows)
    assert (oof.n_configs, oof.n_samples) == (2, 4)


def test_equal_test_cases_of_promptfoo_are_different_samples(tmp_path):
    rows = [promptfoo_row(p, t, t, vars={"q": max(t, 1)}) for t in range(4) for p in range(2)]
    oof = read_rows(tmp_path / "out.json", rows)
    assert (oof.n_samples, oof.n_repeats) == (4, 1)
    assert oof.data[0, 0].tolist() == [0, 1, 2, 3]
    twice = [promptfoo_row(0, t, t, vars={"q": t % 2}) for t in range(4)]
    assert read_rows(tmp_path / "out.json", twice, repeat=1).n_samples == 4


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ([{}, {}, {}, {}], {"repeat": 2}),
        ([{"repeatIndex": r} for r in (0, 1, 0, 1)], {}),
        ([{"repeatIndex": r, "testIdx": t} for t in (0, 1) for r in (0, 1)], {}),
        ([{"testCase": {"options": {"repeat": 2}}}] * 4, {"repeat": 1}),
    ],
    ids=["of all", "in rows with numbers of their own", "in rows with one number", "of one test case"],
)
def test_repeats_of_equal_test_cases_of_promptfoo(tmp_path, more, options):
    rows = [promptfoo_row(0, t, t, vars={"q": 0}) | part for t, part in enumerate(more)]
    oof = read_rows(tmp_path / "out.json", rows, **options)
    assert oof.data[:, 0].T.tolist() == [[0, 1], [2, 3]]


def test_repeats_of_promptfoo_are_found_where_some_test_cases_are_equal(tmp_path):
    asked = ["a", "a", "b", "b", "a", "a"]
    rows = [promptfoo_row(0, t, t, vars={"q": q}) for t, q in enumerate(asked)]
    assert read_rows(tmp_path / "out.json", rows).data[:, 0].T.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_rows_of_promptfoo_whose_provider_failed_have_no_score(tmp_path):
    rows = [promptfoo_row(0, t, t) for t in range(5)]
    rows[1] |= {"error": "Expected output to contain x", "failureReason": 1}  # an answer that is wrong
    rows[2] |= {"error": "429 Too many requests", "failureReason": 2}
    rows[3] |= {"error": "Expected output to contain x", "gradingResult": {"pass": False}}  # files of older versions
    rows[4] |= {"error": "429 Too many requests"}
    with pytest.raises(InputError, match=r"'acme:x' has no score .* leave out the 2 of 5 items"):
        read_rows(tmp_path / "out.json", [*rows, *(row | {"promptIdx": 1, "failureReason": 0} for row in rows)])
    oof = read_promptfoo(tmp_path / "out.json", missing="drop")
    assert oof.data[0, 0].tolist() == [0, 1, 3]


def test_a_provider_of_promptfoo_that_always_failed_does_not_vanish(tmp_path):
    rows = [
        {"promptIdx": at, "testIdx": 0, "provider": {"id": name}, "prompt": {"label": "p"}, "vars": {"q": 1}, **more}
        for at, (name, more) in enumerate({"up": {"score": 1}, "down": {"score": 0, "failureReason": 2}}.items())
    ]
    (tmp_path / "r.json").write_text(json.dumps({"results": {"version": 3, "results": rows}}))
    with pytest.raises(InputError, match="'down' has no item with this score"):
        read_promptfoo(tmp_path / "r.json", missing="drop")
    (tmp_path / "r.csv").write_text("word,[e1] p\napple,[PASS] x\n")
    with pytest.raises(
        InputError, match=r"r.csv must be a .json or .jsonl file of promptfoo; it ends in .csv. Write one"
    ):
        read_promptfoo(tmp_path / "r.csv")


def test_prompts_of_older_promptfoo_are_named_as_displayed(tmp_path):
    prompts = {0: {"raw": "Be short: 1+1", "display": "Be short: {{q}}"}, 1: {"raw": "1+1", "display": "{{q}}"}}
    rows = [{"prompt": prompts[p], "vars": {"q": t}, "success": True, "score": p} for t in range(2) for p in (0, 1)]
    assert read_rows(tmp_path / "out.json", rows).configs == ("Be short: {{q}}", "{{q}}")


def test_two_runs_of_promptfoo_are_repeats(tmp_path):
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in files:
        read_rows(path, [promptfoo_row(p, t, t) for t in range(3) for p in range(2)], repeat=1)
    oof = read_promptfoo(files)
    assert (oof.n_configs, oof.n_samples, oof.n_repeats) == (2, 3, 2)


# -- files that are not what the tools write -----------------------------------------------------------------------------


def zipped(header, sample):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", header)
        archive.writestr("samples/1.json", sample)
    return packed.getvalue()


EVAL = '{"eval": {"model": "m"}}'
NO_ID = {"eval": {"model": "m"}, "samples": [{"scores": {"s": {"value": 1}}}]}
NO_STATS = [{"instance_id": "a"}]


@pytest.mark.parametrize(
    ("read", "files", "match"),
    [
        (read_inspect, {"log.eval": zipped("{", "{}")}, "log.eval could not be read as a log of Inspect"),
        (read_inspect, {"log.eval": zipped(EVAL, "[")}, "log.eval could not be read as a log of Inspect"),
        (read_inspect, {"log.eval": b"PK"}, "log.eval could not be read as a log of Inspect"),
        (read_inspect, {"log.json": NO_ID}, r"log.json could not be read as a log of Inspect \(there is no 'id'\)"),
        (read_inspect, {"log.json": {"eval": {}, "samples": [1]}}, "could not be read as logs of Inspect"),
        (read_lm_eval, {"samples_a.jsonl": b"\xff"}, r"samples_a.jsonl could not be read .* encoding UTF-8\."),
        (
            read_lm_eval,
            {"results_a.json": [], "samples_a.jsonl": {"doc_id": 1}},
            "results_a.json could not be read as results of lm-evaluation-harness",
        ),
        (read_lm_eval_results, {"results_a.json": []}, "results_a.json could not be read as results of lm-eval"),
        (read_lm_eval_results, {"results_a.json": b"[" * 200_000}, "results_a.json could not be read as results"),
        (
            read_promptfoo,
            {"results.json": {"results": [{"prompt": "p", "provider": 3, "score": 1}]}},
            "could not be read as results of promptfoo",
        ),
        (
            read_helm,
            {"per_instance_stats.json": NO_STATS, "run_spec.json": {}},
            r"per_instance_stats.json could not be read as a run of HELM \(there is no 'stats'\)",
        ),
        (
            read_helm,
            {"per_instance_stats.json": []},
            r"run_spec.json could not be read as a run of HELM \(No such file or directory\)",
        ),
    ],
    ids=[
        *("header of an .eval", "sample of an .eval", "no archive", "no id", "no samples", "bytes that are no text"),
        *("a list beside samples", "a list as results", "levels below levels", "a number as provider"),
        *("no stats", "no run_spec.json"),
    ],
)
def test_other_content_is_refused_with_the_name_of_the_file_and_the_tool(tmp_path, read, files, match):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(FileError, match=match):
        read(tmp_path)


def test_a_row_with_too_many_cells_is_refused(tmp_path):
    (tmp_path / "items.csv").write_text("model,item,score\na,x,1\na,y,1,0\n")
    with pytest.raises(InputError, match=r"items.csv must have a name for each column; line 3 has more cells"):
        read_helm(tmp_path / "items.csv")


def test_files_are_named_however_they_are_given(tmp_path):
    logs = [tmp_path / f"{name}.json" for name in "abcd"]
    for path in logs:
        path.write_text(json.dumps({"eval": {}, "samples": [1]}))
    for given, names in (
        (logs, r"a.json, b.json, c.json, \.\.\."),
        ({"m": logs[1:2], "n": logs[0]}, "b.json, a.json"),
        (tmp_path, tmp_path.name),
        (5, "5"),
    ):
        with pytest.raises(FileError, match=f"^{names} could not be read as logs of Inspect"):
            read_inspect(given)


# -- what people ask then ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "logs",
    [
        lambda: read_lm_eval(SAMPLES / "lm_eval", metric="acc", group="passage"),
        lambda: read_inspect(SAMPLES / "inspect", group="passage"),
        lambda: read_promptfoo(SAMPLES / "promptfoo.json", group="topic"),
        lambda: read_promptfoo(SAMPLES / "promptfoo.json"),
        lambda: read_helm(SAMPLES / "helm"),
    ],
    ids=["lm-eval", "inspect", "promptfoo", "promptfoo without groups", "helm"],
)
def test_the_questions_about_an_evaluation_are_answered(logs):
    oof = logs()
    corrected = of.estimate.bbc(oof, "mean", n_resamples=200)
    assert corrected.naive == pytest.approx(oof.leaderboard("mean").scores[0])
    assert corrected.interval.low < corrected.value < corrected.interval.high
    assert abs(corrected.optimism) < 0.1
    tied = of.compare.tied_set(oof, "mean", n_resamples=200)
    assert corrected.selected in tied
    pair = of.compare.auto(oof, "mean", oof.configs[0], oof.configs[-1])
    assert pair.interval.low < pair.difference < pair.interval.high
    alone = of.estimate.cv(oof, "mean", config=oof.configs[0])
    assert alone.interval.low < alone.value < alone.interval.high


def test_clusters_widen_the_interval_of_items_that_agree():
    oof = read_lm_eval(SAMPLES / "lm_eval", metric="acc", group="passage")
    right = np.repeat(np.random.default_rng(0).integers(2, size=10), 3)
    together, apart = (
        of.from_arrays(None, right[:, None], groups=groups, response="pointwise", configs=["m"])
        for groups in (oof.groups, None)
    )
    wide, narrow = (of.estimate.cv(o, "mean", config="m").interval for o in (together, apart))
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def test_the_command_line_reads_logs(tmp_path, capsys):
    out = tmp_path / "models.oof"
    assert main(["read", str(SAMPLES / "inspect"), "--from", "inspect", "--group", "passage", "-o", str(out)]) == 0
    assert "mockllm/good" in capsys.readouterr().out
    assert of.load(out).n_repeats == 2
    assert main(["tied", str(out), "--resamples", "100"]) == 0
    assert main(["read", str(SAMPLES / "inspect"), "--from", "inspect", "--filter", "x", "-o", str(out)]) == 2
    assert (
        "--filter is not an option of --from inspect, which takes --task, --scorer, --group, --missing"
        in capsys.readouterr().err
    )
