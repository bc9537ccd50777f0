"""The commands: each loads what it is given, makes one public call, and prints the result in the format asked for."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from .. import compare, estimate, metrics, plot, rank
from ..advice import advise
from ..apps import demo
from ..apps.serving import pages_of
from ..checks import check
from ..data.criterion import LostFunction
from ..data.predictions import Predictions, State
from ..estimate._default import default_method
from ..exceptions import InputError, invalid
from ..reporting import Report, report
from ..reporting.page import serve
from ..results import (
    Advice,
    AdviceTask,
    Alternative,
    AtThreshold,
    Comparison,
    Estimate,
    Goal,
    Leaderboard,
    Ranking,
    comparison_row,
)
from .explaining import add_explain
from .inspecting import add_inspect
from .loading import load, predictions_in
from .options import (
    COLUMNS,
    CommandParser,
    add_command,
    add_draws,
    add_file,
    add_format,
    add_margins,
    add_option,
    add_selection,
    add_work_options,
    given,
    names,
    read_rule,
)
from .printing import estimate_row, for_paper, print_as
from .reading import add_export, add_read
from .running import add_run
from .using import add_using
from .writing import DRAWN, check_file, save_picture

# For each command its summary, and below it what follows the options in its help.
_COMMANDS = """
[demo] show on real data how much too high the winner's cross-validation score is (under a minute)
example:
  outfold demo --times 10
[advise] recommend how to hold out samples and what to report, with reasons, before any fit
examples:
  outfold advise 80 150
  outfold advise 5000 40 --goal compare --cost 2 --budget 3600 --jobs 4
[show] print what predictions a file holds, and how the configurations rank
example:
  outfold show out/run.oof --metric roc_auc
[estimate] estimate the performance of the selected configuration on new samples
examples:
  outfold estimate out/run.oof --metric roc_auc
  outfold estimate predictions.csv --metric accuracy --sample id --label y --prediction p --config-column model
[check] list the caveats that apply to predictions, and what to do about them
examples:
  outfold check out/run.oof
  outfold check out/run.oof --metric balanced_accuracy --ignore OF502,OF512 --strict

The exit code is 0, whatever is found; with --strict it is 1 if there is an error.
`outfold explain OF301` prints the page of a code.
[compare] test whether configurations really differ
examples:
  outfold compare out/run.oof "logit(C=1)" "tree(max_depth=3, min_samples_leaf=5)"
  outfold compare old.oof --with new.oof old_model new_model --metric roc_auc
  outfold compare out/run.oof --all --adjust holm --metric accuracy
  outfold compare out/run.oof --control "logit(C=1)" --format latex      # a table with a caption; prose: a paragraph
  outfold compare out/run.oof --all --picture differences.pdf
  outfold compare out/run.oof logit forest --by name      # each tuned inside the outer folds; needs outfold run --inner
  outfold compare out/run.oof "logit(C=0.1)" "logit(C=1)" --non-inferior 0.02      # worse by less than 0.02, if at all?

The plan of the predictions decides which test is used; --test takes another. docs/comparing.md explains them.
[rank] rank algorithms over many data sets
examples:
  outfold rank scores.csv
  outfold rank scores.csv --control baseline --picture cd.svg
  outfold rank scores.csv --format latex      # a table with a caption; prose: a paragraph

scores.csv has one row per data set and one column per algorithm. A first column of text names the data sets.
[report] write everything that predictions show to one html page
examples:
  outfold report out/run.oof
  outfold report out/run.oof --metric roc_auc -o report.html
  outfold report out/run.oof -o report.md      # the ending decides: .html, .md or .tex

The html page needs no network and no other file. To make a PDF, print it from the browser.
[open] show the report of predictions in the browser, or how far a run is
examples:
  outfold open out/              # the report of outfold run; its progress while it runs
  outfold open out/run.oof
  outfold open out/run.oof --metric roc_auc --no-browser --port 8000

Only this computer can see the page. Press Ctrl-C to end.
"""
_ENTRY = re.compile(r"^\[(\w+)\] (.*)\n((?s:.*?))\n(?=\[|\Z)", re.MULTILINE)
_HELP = {name: texts for name, *texts in _ENTRY.findall(_COMMANDS)}


def add_commands(commands: Any) -> CommandParser:
    """Add all commands, in the order of the help; the parser of ``outfold run`` is returned."""
    _add_demo(commands)
    _add_advise(commands)
    add_inspect(commands)
    run_parser = add_run(commands)
    add_read(commands)
    for add in (_add_show, _add_estimate, _add_check, _add_compare, _add_rank, _add_report, _add_open):
        add(commands)
    add_export(commands)
    add_using(commands)
    add_explain(commands)
    return run_parser


# -- files in, results out ----------------------------------------------------------------------------------


def _selecting(args: argparse.Namespace) -> Predictions:
    """The predictions of the file, recording what the options say of the selection."""
    return load(args).selecting_by(args.metric, aggregate=args.aggregate, rule=read_rule(args))


# -- before there are predictions: demo, advise, run --------------------------------------------------------


def _add_demo(commands: Any) -> None:
    parser = add_command(commands, "demo", _demo, *_HELP["demo"])
    add_option(parser, "--samples", type=int, default=80, metavar="N", help="number of patients to tune on")
    add_option(parser, "--times", type=int, default=30, metavar="N", help="number of repetitions")
    add_work_options(parser)


def _demo(args: argparse.Namespace) -> None:
    demo.main(args.samples, args.times, seed=args.seed, n_jobs=args.n_jobs)


def _add_advise(commands: Any) -> None:
    parser = add_command(commands, "advise", _advise, *_HELP["advise"])
    add_option(parser, "samples", library="n_samples", type=int, help="number of samples")
    add_option(parser, "configs", library="n_configs", type=int, help="number of configurations you want to try")
    goal = "select one of many configurations; estimate, with nested cross-validation as a second opinion; or compare"
    add_option(parser, "--goal", choices=get_args(Goal), default="select", help=goal)
    add_option(parser, "--task", choices=get_args(AdviceTask), default="binary", help="what you predict")
    add_option(parser, "--cost", type=float, metavar="S", help="seconds that one fit takes")
    add_option(parser, "--budget", type=float, metavar="S", help="seconds you can spend; needs --cost")
    add_option(parser, "--jobs", dest="n_jobs", type=int, default=1, metavar="N", help="number of workers")
    enough = "advise one test set if its interval for an accuracy is at most ± this"
    add_option(parser, "--precision", type=float, default=0.01, metavar="W", help=enough)
    add_format(parser)


def _advise(args: argparse.Namespace) -> None:
    options = given(args, "task", "goal", "cost", "budget", "n_jobs", "precision")
    found = advise(args.samples, args.configs, **options)
    print_as(args.format, f"{found}{_run_command(found)}", found.to_dict, lambda: [_advice_row(found)])


def _run_command(advice: Advice) -> str:
    """The command that follows the advice, where there is one."""
    plan = advice.plan
    if plan.kind != "kfold" or advice.task == "survival":
        return ""
    return f"\non a table:  outfold run data.csv --target COLUMN --folds {plan.folds} --repeats {plan.repeats}"


def _advice_row(advice: Advice) -> dict[str, Any]:
    facts = advice.to_dict()
    expected = facts.pop("expected_optimism")
    facts["optimism"] = None if expected is None else expected["value"]
    return facts | {"plan": str(advice.plan), "reasons": " ".join(advice.reasons)}


# -- on stored predictions: show, estimate, check -----------------------------------------------------------


def _add_show(commands: Any) -> None:
    parser = add_command(commands, "show", _show, *_HELP["show"])
    add_file(parser)
    add_selection(parser, "rank the configurations by it (default: the one that the file records)")
    add_format(parser)


def _show(args: argparse.Namespace) -> None:
    oof = _selecting(args)
    asked = given(args, "metric", "aggregate", "rule")
    try:
        board = oof.leaderboard()
    except InputError:  # nothing can be ranked yet: what there is can still be shown
        if asked:
            raise
        board = None
    text = str(oof) if board is None else f"{oof}\n\n{board}\n\n{_next_step(args, oof.criterion.rule, board)}"
    rows = board.to_dict()["configurations"] if board is not None and asked else _config_rows(oof)
    print_as(args.format, text, lambda: _facts(oof, board), lambda: rows)


def _next_step(args: argparse.Namespace, rule: Any, board: Leaderboard) -> str:
    if isinstance(rule, LostFunction) and len(board) > 1:
        asked = f"The rule {rule.name!r} is a function, which cannot be given on the command line."
        return f"{asked}\nFor a corrected estimate, give it in Python:  estimate.bbc(oof, rule=...)"
    words = [args.file]
    for option in COLUMNS:
        values = getattr(args, option)
        for value in [values] if isinstance(values, str) else values or []:
            words += [f"--{option.replace('_', '-')}", value]
    for option in ("metric", "aggregate", "rule", "complexity", "loss_percent"):
        if getattr(args, option) is not None:
            words += [f"--{option.replace('_', '-')}", str(getattr(args, option))]
    command = f"outfold estimate {shlex.join(words)}"
    if len(board) < 2:
        return f"For an interval:  {command}"
    optimistic = f"The first score is optimistic: it was picked as the best of {len(board):,}."
    return f"{optimistic}\nFor a corrected estimate:  {command}"


def _facts(oof: Predictions, board: Leaderboard | None) -> dict[str, Any]:
    out = {
        "samples": oof.n_samples,
        "task": oof.target.task,
        "classes": oof.target.classes,
        "groups": None if oof.group_codes is None else len(set(oof.group_codes.tolist())),
        "plan": str(oof.plan),
        "repeats": oof.n_repeats,
        "folds": oof.n_folds,
        "response": oof.response,
        "completeness": oof.completeness,
        "blocks": list(oof.blocks),
        "fingerprint": oof.fingerprint,
        "notes": [{"code": n.code, "text": n.text} for n in oof.notes],
        "provenance": {k: v for k, v in oof.provenance.items() if k != "specs"},
        "configurations": _config_rows(oof),
    }
    return out if board is None else out | {"leaderboard": board.to_dict()}


def _config_rows(oof: Predictions) -> list[dict[str, Any]]:
    states = oof.state[:, oof.planned]
    return [
        {"config": name} | {s.name.lower(): int((states[i] == s).sum()) for s in State}
        for i, name in enumerate(oof.configs)
    ]


# Options that only some methods have.
_METHOD_OPTIONS = (
    *("rule", "aggregate", "n_resamples", "confidence_level", "stratify", "rng", "config", "threshold", "selected_by"),
)
_CUT = "where to cut probabilities: youden, f1, sensitivity=0.9, cost=5:1 or a number"


def _add_estimate(commands: Any) -> None:
    parser = add_command(commands, "estimate", _estimate, *_HELP["estimate"])
    add_file(parser)
    such_as = "such as roc_auc, accuracy, r2, or any scikit-learn scorer"
    add_selection(parser, f"{such_as} (default: the one that the file records)")
    parser.add_argument(
        "--method", choices=estimate.__all__, help="method (default: bbc; for scores of folds bbc_f or tt)"
    )
    add_draws(parser, 1000)
    add_option(parser, "--stratify", action="store_true", default=None, help="draw within classes")
    add_option(parser, "--config", metavar="NAME", help="a configuration you named beforehand, for methods such as cv")
    add_option(parser, "--threshold", metavar="T", help=f"{_CUT}, for the method at_threshold")
    selects = "for the method bbc: select by this metric, and report --metric"
    add_option(parser, "--selected-by", metavar="M", help=selects)
    shown = "write the estimate beside the winner's score as .svg, .png or .pdf"
    add_option(parser, "--picture", metavar="FILE", help=shown)
    add_format(parser)


def _estimate(args: argparse.Namespace) -> None:
    if args.picture is not None:
        check_file("picture", Path(args.picture), *DRAWN)
        if args.threshold is not None or args.method == "at_threshold":
            raise InputError("--picture shows one estimate; it does not go with a threshold.")
    oof = load(args)
    chosen = args.method or ("at_threshold" if args.threshold is not None else None)
    method = getattr(estimate, chosen or default_method(oof, args.metric, read_rule(args)))
    options = _method_options(args, method)
    result: Estimate | AtThreshold = method(oof, args.metric, **options)
    try:  # the picture comes first: whoever reads the text may close the pipe
        if args.picture is not None and isinstance(result, Estimate):
            save_picture(args.picture, lambda: plot.optimism(result))
    finally:
        print_as(args.format, result, result.to_dict, lambda: _estimate_rows(result))


def _estimate_rows(result: Estimate | AtThreshold) -> list[dict[str, Any]]:
    if isinstance(result, Estimate):
        return [estimate_row(result.to_dict())]
    columns = result._columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _method_options(args: argparse.Namespace, method: Callable[..., Any]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    options = given(args, *_METHOD_OPTIONS)
    for option in options:
        if option not in known:
            takes = ", ".join(f"`{name}`" for name in _METHOD_OPTIONS if name in known)
            raise invalid(option, f"is not an option of {method.__name__}, which takes {takes}")
    rule = read_rule(args)
    return options if rule is None else options | {"rule": rule}


def _add_check(commands: Any) -> None:
    parser = add_command(commands, "check", _check, *_HELP["check"])
    add_file(parser)
    add_selection(parser)
    add_option(parser, "--ignore", type=names, default=[], metavar="A,B", help="codes to leave out")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there is an error")
    add_format(parser)


def _check(args: argparse.Namespace) -> int:
    found = check(_selecting(args), ignore=args.ignore)
    print_as(args.format, found, found.to_dict, lambda: [finding._asdict() for finding in found])
    if found:
        print(f"note: outfold explain {found[0].code} says more", file=sys.stderr)
    return 1 if args.strict and not found.ok else 0


# -- compare, rank ------------------------------------------------------------------------------------------


def _add_compare(commands: Any) -> None:
    parser = add_command(commands, "compare", _compare, *_HELP["compare"])
    add_file(parser)
    parser.add_argument(
        "configs", nargs="*", metavar="CONFIG", help="the two configurations; more with --all; algorithms with --by"
    )
    parser.add_argument("--with", dest="other", metavar="FILE", help="predictions of the same splits in another file")
    add_option(
        parser, "--metric", metavar="M", help="such as accuracy or roc_auc (default: the one that the file records)"
    )
    tests = [name for name in compare.__all__ if name in compare.TESTS]
    add_option(parser, "--test", choices=["auto", *tests], default="auto", help="test; auto chooses by the plan")
    parser.add_argument("--all", action="store_true", help="compare all pairs of the configurations")
    add_option(parser, "--control", metavar="CONFIG", help="compare all others with this one")
    tuned = "compare algorithms tuned by nested CV: 'name' groups logit(C=1), logit(C=10), ... as logit; or a parameter"
    add_option(parser, "--by", metavar="NAME", help=tuned)
    adjusted = "how p values of many pairs are adjusted (default: holm)"
    add_option(parser, "--adjust", choices=compare.ADJUSTMENTS, help=adjusted)
    better = "test whether the first one is better, or worse (default: two-sided)"
    add_option(parser, "--alternative", choices=get_args(Alternative), help=better)
    add_option(parser, "--rope", type=float, metavar="W", help="differences up to this size do not matter")
    null = "test this difference, the first minus the second (default: 0)"
    add_option(parser, "--null", type=float, metavar="D", help=null)
    add_margins(parser)
    add_draws(parser, draws="bootstrap or permutation draws")
    add_option(parser, "--picture", metavar="FILE", help="write the differences with intervals as .svg, .png or .pdf")
    add_format(parser, "latex", "prose")


# What says otherwise what is tested.
_NOT_WITH_MARGIN = ("all", "control", "by", "adjust", "alternative", "rope", "null", "picture")


def _compare(args: argparse.Namespace) -> None:
    if args.picture is not None:
        check_file("picture", Path(args.picture), *DRAWN)
    if given(args, "non_inferior", "equivalent"):
        _compare_within_margin(args)
        return
    many = args.all or args.control is not None or args.by is not None
    if args.by is not None and len(args.configs) not in (0, 2):
        raise InputError(f"--by compares two algorithms, or all if you name none; got {len(args.configs)}.")
    if not many and len(args.configs) != 2:
        raise InputError(f"give the two configurations to compare, or --all or --control; got {len(args.configs)}.")
    if not many and args.adjust is not None:
        raise InputError("--adjust goes with --all, --control or --by only.")
    oof, configs = _joined(args)
    options = given(args, "alternative", "confidence_level", "rope", "null", "n_resamples", "rng")
    if args.by is not None:
        options |= given(args, "adjust", "control", "by")
        found: Any = compare.algorithms(oof, args.metric, *configs, test=args.test, **options)
    elif many:
        options |= given(args, "adjust", "control")
        found = compare.pairs(oof, args.metric, test=args.test, configs=configs or None, **options)
    elif args.test == "auto":
        found = compare.auto(oof, args.metric, *configs, **options)
    else:
        # `pairs` refuses options that the test does not have, for one pair as for many.
        found = compare.pairs(oof, args.metric, test=args.test, configs=configs, adjust="none", **options)[0]
    pairs = [found] if isinstance(found, Comparison) else found
    try:  # the picture comes first: whoever reads the text may close the pipe
        if args.picture is not None:
            save_picture(args.picture, lambda: plot.difference(found))
    finally:
        print_as(args.format, found, found.to_dict, lambda: map(comparison_row, pairs), for_paper(found))


def _compare_within_margin(args: argparse.Namespace) -> None:
    """Whether the first is as good as the second, within the margin."""
    margins = given(args, "non_inferior", "equivalent")
    asked = " and ".join(f"--{name.replace('_', '-')}" for name in margins)
    others = [f"--{name}" for name in _NOT_WITH_MARGIN if getattr(args, name) not in (None, False)]
    if len(margins) > 1:
        raise InputError(f"{asked} ask two questions", remedy="Give one of them.")
    if others:
        raise InputError(f"{asked} says what is tested; it does not go with {', '.join(others)}.")
    if len(args.configs) != 2:
        raise InputError(f"{asked} needs the two configurations to compare; got {len(args.configs)}.")
    oof, configs = _joined(args)
    options = given(args, "n_resamples", "rng")
    if args.confidence_level is not None:
        options["alpha"] = round(1 - args.confidence_level, 12)
    ((name, margin),) = margins.items()
    found = getattr(compare, name)(oof, args.metric, *configs, margin=margin, test=args.test, **options)
    rows = [{key: values[0] for key, values in found._columns().items()}]
    if args.format == "prose":
        raise InputError("--format prose has no text for margins", remedy="Use text or latex.")
    print_as(args.format, found, found.to_dict, lambda: rows, {"latex": found.to_latex})


def _joined(args: argparse.Namespace) -> tuple[Predictions, list[str]]:
    """The predictions of one file or of two, and the configurations by the names they have there."""
    first = load(args)
    second = None if args.other is None else load(argparse.Namespace(**{**vars(args), "file": args.other}))
    there = {name for oof in (first, second) if oof is not None for name in oof.configs}
    for name in args.configs:
        if name in metrics.names() and name not in there:
            raise InputError(f"{name!r} is a metric, not a configuration", remedy=f"Use --metric {name}.")
    if args.metric in there and args.metric not in metrics.names():
        raise invalid("metric", "must be a metric, such as accuracy", f"got the configuration {args.metric!r}")
    if second is None:
        return first, list(args.configs)
    if len(args.configs) == 2 and not (args.all or args.control is not None or args.by is not None):
        # The first configuration is in the first file, the second in the other one, whatever else the files hold.
        first, second = first.sel(config=args.configs[0]), second.sel(config=args.configs[1])
    shared = set(first.configs) & set(second.configs)
    if shared and predictions_in(args.file).samefile(predictions_in(args.other)):
        remedy = "Name another file with --with, or two different configurations."
        raise InputError(f"both sides are {first.configs[0]!r} of the same file, {args.file}.", remedy=remedy)
    endings = [f" [{Path(name).name}]" for name in (args.file, args.other)]
    if endings[0] == endings[1]:
        endings = [f" [{name}]" for name in (args.file, args.other)]
    joined = first.join(second, suffixes=(endings[0], endings[1]) if shared else None)
    one_each = len(joined.configs) == 2 and args.by is None
    return joined, list(joined.configs) if one_each else list(args.configs)


# Tests of several algorithms; those of two are for the library.
_RANK_TESTS = ("bonferroni_dunn", "friedman", "holm", "nemenyi")


def _add_rank(commands: Any) -> None:
    parser = add_command(commands, "rank", _rank, *_HELP["rank"])
    parser.add_argument("scores", help="a .csv, .csv.gz or .parquet table of scores")
    add_option(parser, "--datasets", metavar="COL", help="the column with the names of the data sets")
    add_option(parser, "--algorithms", type=names, metavar="A,B", help="the columns to compare (default: all)")
    add_option(parser, "--control", metavar="NAME", help="compare all others with this algorithm only")
    parser.add_argument(
        "--test", choices=_RANK_TESTS, help="test (default: nemenyi for all pairs, holm with --control)"
    )
    parser.add_argument("--lower-is-better", action="store_true", help="the scores are losses")
    drop = "drop: leave out data sets that lack a score"
    add_option(parser, "--missing", choices=["refuse", "drop"], default="refuse", help=drop)
    add_option(parser, "--alpha", type=float, default=0.05, metavar="A", help="level of the tests")
    add_option(parser, "--picture", metavar="FILE", help="write the diagram of the ranks as .svg, .png, .pdf or .tex")
    add_format(parser, "latex", "prose")


def _rank(args: argparse.Namespace) -> None:
    if args.picture is not None:
        check_file("picture", Path(args.picture), *DRAWN, ".tex")
    test = args.test or ("nemenyi" if args.control is None else "holm")
    if args.control is None and test == "bonferroni_dunn":
        raise InputError("--test bonferroni_dunn needs --control, the algorithm that all others are compared with.")
    if args.control is not None and test not in ("holm", "bonferroni_dunn"):
        raise InputError(f"--control goes with --test holm or bonferroni_dunn; {test} compares all with all.")
    options = given(args, "control", "datasets", "algorithms", "alpha", "missing")
    found: Ranking = getattr(rank, test)(Path(args.scores), **options, greater_is_better=not args.lower_is_better)
    try:  # the picture comes first: whoever reads the text may close the pipe
        if args.picture is not None:
            texts = {".svg": found.to_svg, ".tex": found.to_tikz}  # these need no matplotlib
            save_picture(args.picture, lambda: plot.critical_difference(found), texts)
    finally:
        print_as(args.format, found, found.to_dict, lambda: found.to_dict()["algorithms"], for_paper(found))


# -- report, open -------------------------------------------------------------------------------------------


def _add_report(commands: Any) -> None:
    parser = add_command(commands, "report", _report, *_HELP["report"])
    _add_report_options(parser)
    add_option(parser, "-o", "--out", default="report.html", metavar="FILE", help="the page: .html, .md or .tex")


def _add_open(commands: Any) -> None:
    parser = add_command(commands, "open", _open, *_HELP["open"])
    _add_report_options(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    add_option(parser, "--port", type=int, default=0, metavar="N", help="port of the page (default: any free one)")


def _add_report_options(parser: CommandParser) -> None:
    add_file(parser)
    add_selection(parser)
    add_option(parser, "--title", metavar="TEXT", help="title of the page (default: the file's name)")
    add_option(parser, "--threshold", metavar="T", help=f"{_CUT} (default: as the models do)")
    add_draws(parser, 1000)


def _make_report(args: argparse.Namespace) -> Report:
    options = given(args, "n_resamples", "confidence_level", "rng", "threshold")
    title = args.title or Path(args.file).absolute().name  # "." has no name
    return report(_selecting(args), title=title, command=args.typed, **options)


def _report(args: argparse.Namespace) -> None:
    check_file("out", Path(args.out), ".html", ".md", ".tex")
    made = _make_report(args)
    path = made.save(args.out)
    print(made)
    print(f"written to {path}", file=sys.stderr)


def _open(args: argparse.Namespace) -> None:
    folder = Path(args.file)
    page = pages_of(folder) if folder.is_dir() else _make_report(args).to_html()
    browser = not args.no_browser
    serve(page, args.port, browser=browser, say=lambda address: print(f"{address}   (Ctrl-C ends)", flush=True))
