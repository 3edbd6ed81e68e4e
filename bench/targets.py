#!/usr/bin/env python3
"""Says of each target of docs/performance.md whether weft reaches it on this machine.

  bench/targets.py RESULT.json --measure build/bin/weft_bench   measures first, a process for what is compared: some minutes
  bench/targets.py RESULT.json                                  the table
  bench/targets.py RESULT.json --avx2 OTHER.json                and what is left of it in a run with WEFT_ISA=avx2
  --only=REGEX                                                  of these workloads alone

Ends with 1 if a result of weft was wrong.  A target that is missed by less than twice the standard error of its row is "reached within noise".
A target that is not reached is "at the floor" where a loop by hand for the one case (`hand`; where there is none, `stream`, which
moves as many bytes) is not faster than weft by more than 5 %: then the machine is what it lacks.  A loop that is slower than
weft by more than 20 % shows no floor.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import report
from report import PEERS

# What is at least so many times as fast as the fastest of PEERS ("peer"), or as one variant; or takes at most so many times
# the time of another row, element for element; or at most so many ns, of an element or a call.
# `own`: the variant of weft, if it is not the usual one.
Goal = collections.namedtuple("Goal", "workload sizes against bound own", defaults=[None])
FLOORS = ["hand", "stream"]  # the first that there is
FLOOR_SPEEDS = 0.95, 1.2  # of weft, as a part of that of a loop that shows its floor
CASTS = ["cast_u8_f32", "cast_f16_f32", "cast_bf16_f32", "cast_i64_f32", "cast_f64_f32", "cast_f32_bf16", "cast_f32_i32"]

CONTIGUOUS = [Goal(workload, "1e3 1e4 1e5 1e6", "hand", 0.95) for workload in ["copy", "add", "fma", "cast_u8_f32", "cast_f32_bf16", "cast_f16_f32"]]
CONTIGUOUS += [Goal(workload, "3e7", "stream", 0.95) for workload in ["copy", "add", "fma", "cast_u8_f32", "cast_f32_bf16", "cast_f16_f32"]]
CONTIGUOUS += [
    Goal("add", "3e7", "peer", 1.3), Goal("copy", "6.7e7", "peer", 1.4), Goal("where", "1e6", "torch", 20), Goal("where", "3e7", "torch", 10),
    Goal("lt", "1e6", "peer", 1.2), Goal("cast_f32_f16", "1e6", "peer", 1.2), Goal("fresh_output", "3e7", "torch", 4),
]
CONTIGUOUS += [Goal(workload, "1e3 1e4 1e5 1e6 3e7", "peer", 1.0) for workload in ["clamp", "add_i8", "add_i16", *CASTS]]

LAYOUTS = [
    Goal("nchw_to_nhwc", "32x3x224x224", "peer", 2.3), Goal("nhwc_to_nchw", "32x3x224x224", "peer", 2.3),
    Goal("nchw_to_nhwc", "32x64x56x56", "peer", 1.25), Goal("nhwc_to_nchw", "32x64x56x56", "peer", 1.25),
    Goal("nchw_to_nhwc", "8x256x14x14", "peer", 1.2), Goal("nhwc_to_nchw", "8x256x14x14", "peer", 1.2),
    Goal("transpose_f32", "4096x4096", "peer", 1.6), Goal("transpose_f32", "512x512", "peer", 1.5),
    Goal("transpose_u16", "4096x4096", "peer", 1.6), Goal("transpose_u8", "4096x4096", "peer", 5), Goal("transpose_u8", "512x512", "peer", 10),
    Goal("transpose_f64", "4096x4096", "peer", 1.05), Goal("transpose_cast_f32_bf16", "4096x4096", "transpose_f32/auto/4096x4096", 1.2),
    Goal("batched_transpose", "8x512x1024", "transpose_f32/auto/4096x4096", 1.0),
    Goal("add_t", "1000x1000", "peer", 10), Goal("add_t", "2048x2048", "add/auto/2048x2048", 1.6), Goal("add_t", "5477x5477", "peer", 1.5),
    Goal("gt_t", "2048x2048", "lt/auto/2048x2048", 1.6), Goal("conflict_add", "4x64x64x64", "peer", 10), Goal("conflict_add", "32x64x121x121", "peer", 1.5),
    Goal("conflict_add", "4x64x64x64", "add/auto/1e6", 1.6), Goal("conflict_add", "32x64x121x121", "add/auto/3e7", 1.6),
    Goal("perm_0213", "8x128x12x64 32x512x12x64", "peer", 1.0), Goal("perm_3210", "10x10x10x10 64x48x56x40", "peer", 2.0),
    Goal("perm_6d", "4x5x6x7x8x9 12x16x14x10x18x20", "peer", 1.2), Goal("slice_2x2", "64x64 2048x2048", "peer", 2.0), Goal("slice_2x3", "64x64 2048x2048", "peer", 2.0),
    Goal("small_inner_3", "1e6", "add/auto/3e6", 1.3), Goal("normalize", "1x224x224x3", "peer", 10), Goal("normalize", "32x224x224x3", "peer", 5),
]

CALLS = [
    Goal("call_add8_out", "8", "ns", 40), Goal("call_add4d_out", "2x3x4x5", "ns", 80), Goal("call_add8_new", "8", "ns", 100), Goal("call_prepared", "8", "ns", 5),
    Goal("first_call_xbyak_binary", "1e3", "ns", 10e3), Goal("first_call_xbyak_20_ops", "1e3", "ns", 30e3), Goal("first_call_disk", "1e3", "ns", 150e3),
    Goal("compile_llvm", "1", "ns", 4e6), Goal("compile_llvm", "20", "ns", 25e6), Goal("first_engine", "1", "ns", 1e6),
]

FUNCTIONS = [Goal(workload, "1e4 1e6", "ns/element", bound)
             for workload, bound in [("exp", 0.13), ("log", 0.16), ("sin", 0.20), ("tanh", 0.20), ("erf", 0.20), ("sigmoid", 0.15), ("pow", 0.60)]]
FUNCTIONS += [Goal(workload, "1e4 1e6", "eigen", 1.0) for workload in ["sigmoid", "silu_mul", "gelu_tanh"]]
FUNCTIONS += [Goal(workload, "1e4 1e6", "eigen", 1.0, "fast") for workload in ["sigmoid", "silu_mul", "gelu_tanh"]]
FUNCTIONS += [Goal(workload, "1e4 1e6", "torch", 1.4) for workload in ["sigmoid", "silu_mul", "gelu_tanh"]]

MATRICES = "100x100 1000x1000 5477x5477"
FOLDS = [Goal(workload, "1e4 1e5 1e6 3e7", "peer", 1.0) for workload in ["sum_all", "amax_all", "argmax_all", "sum_all_squares"]]
FOLDS += [Goal(workload, MATRICES, "peer", 1.0) for workload in ["sum_inner", "amax_inner", "argmax_inner", "amax_outer", "argmax_outer"]]
FOLDS += [Goal("sum_outer", "100x100", "peer", 2.0), Goal("sum_outer", "1000x1000", "peer", 1.0), Goal("sum_outer", "5477x5477", "peer", 1.5)]
FOLDS += [Goal(workload, "1x64x12x13 8x64x44x44 32x64x121x121", "peer", 1.0) for workload in ["sum_nhw_nchw", "sum_nhw_nhwc"]]
FOLDS += [Goal("sum_middle", "4x32x784 64x256x3136", "peer", 1.0)]
FOLDS += [Goal(workload, "1e5 1e6 3e7", "stream", 0.9) for workload in ["sum_all", "amax_all"]]
FOLDS += [Goal(workload, "1000x1000 5477x5477", "stream", 0.9) for workload in ["sum_inner", "sum_outer", "amax_inner", "amax_outer"]]
FOLDS += [Goal("sum_inner_t", MATRICES, "sum_inner/auto/=", 1.3), Goal("sum_all_squares", "3e7", "stream", 0.9)]
FOLDS += [Goal("softmax", "64x128 2048x2048 8192x5120", "peer", 1.2), Goal("layer_norm", "64x128 4096x768 8192x5120", "peer", 1.2)]
FOLDS += [Goal("softmax", "2048x2048 8192x5120", "stream", 1 / 1.2), Goal("layer_norm", "4096x768 8192x5120", "stream", 1 / 1.2)]
FOLDS += [Goal(workload, MATRICES, "peer", 1.5) for workload in ["cumsum_inner", "cumsum_outer"]]
FOLDS += [Goal("cumsum_outer", "1000x1000 5477x5477", "stream", 0.7)]

THREADS = [Goal(workload, "1e6/t2", f"{workload}/auto/1e6/t1", 1 / 1.7) for workload in ["add", "copy", "clamp"]]
THREADS += [Goal(workload, "1.6e4/t2", f"{workload}/auto/1.6e4/t1", 1.0) for workload in ["add", "copy", "clamp"]]
THREADS += [Goal(workload, f"{size}/t2", f"{workload}/auto/{size}/t1", 1.05) for workload in ["add", "copy", "clamp"] for size in ["1e3", "4e3", "8e3", "3.2e4", "1e5", "3e7"]]

GOALS = {"contiguous": CONTIGUOUS, "layouts": LAYOUTS, "calls": CALLS, "functions": FUNCTIONS, "reductions and scans": FOLDS, "two threads": THREADS}

# Where AVX2 has 0.8 of the speed: calls beyond the second cache.
SMALL_BYTES = 2 << 20


class Verdict(collections.namedtuple("Verdict", "row weft wanted figure state")):
    """`state` is "reached", "at the floor", "missed" or why nothing can be said."""


def elements_of(workload, size):
    product = 3.0 if workload == "small_inner_3" else 1.0
    for part in size.split("/")[0].split("x"):
        product *= float(part)
    return product


def reference(table, goal, size):
    """Time of what the goal compares with, for as many elements, and what it is called; None where it was not measured."""
    variants = table[goal.workload, size]
    if goal.against == "peer":
        peer = report.best_peer(variants)
        return (variants[peer].ns, peer) if peer else None
    if goal.against == "ns":
        return 1.0, "ns"
    if goal.against == "ns/element":
        return elements_of(goal.workload, size), "ns an element"
    if "/" not in goal.against:
        return (variants[goal.against].ns, goal.against) if goal.against in variants else None
    workload, variant, other = goal.against.split("/", 2)
    other = size if other == "=" else other
    point = table.get((workload, other), {}).get(variant)
    return (point.ns * elements_of(goal.workload, size) / elements_of(workload, other), f"{workload} {other}") if point else None


def is_ceiling(goal):
    """Whether less is better: of times, as opposed to how many times as fast."""
    return goal.against.startswith("ns") or "/" in goal.against


def verdict(table, goal, size):
    row = " ".join(filter(None, [goal.workload, goal.own, size]))
    variants = table.get((goal.workload, size), {})
    own = goal.own or report.mine(variants)
    if own not in variants:
        return Verdict(row, "", goal.against, "", "no row of weft") if variants else None
    other = reference(table, goal, size)
    if other is None:
        return Verdict(row, report.time_text(variants[own].ns), goal.against, "", "nothing to compare with")
    ns, name = other
    point = variants[own]
    figure = point.ns / ns if is_ceiling(goal) else ns / point.ns
    lacking = figure / goal.bound if is_ceiling(goal) else goal.bound / figure
    floor = next((kind for kind in FLOORS if kind in variants), None)
    if lacking <= 1:
        state = "reached"
    elif lacking <= 1 + 2 * (point.noise or 0.0):
        state = "reached within noise"
    else:
        told = f" ({floor} {report.time_text(variants[floor].ns)})" if floor else ""
        state = ("at the floor" if floor and FLOOR_SPEEDS[0] <= variants[floor].ns / point.ns <= FLOOR_SPEEDS[1] else "missed") + told
    sign, times = ("<=", "" if goal.against.startswith("ns") else " of") if is_ceiling(goal) else (">=", " x")
    return Verdict(row, report.time_text(point.ns), f"{sign} {goal.bound:.6g}{times} {name}", f"{figure:.3g}", state)


def wanted(only):
    return {title: [goal for goal in goals if re.search(only, goal.workload)] for title, goals in GOALS.items()}


def table_of(goals, table):
    verdicts = [found for goal in goals for size in goal.sizes.split() if (found := verdict(table, goal, size))]
    lines = ["| workload | weft | wanted | is | |", "|---|--:|---|--:|---|"]
    lines += [f"| {found.row} | {found.weft} | {found.wanted} | {found.figure} | {found.state} |" for found in verdicts]
    return verdicts, "\n".join(lines)


def tables(table, only):
    told, states = [], collections.Counter()
    for title, goals in wanted(only).items():
        verdicts, text = table_of(goals, table)
        states.update(found.state.split(" (")[0] for found in verdicts)
        if verdicts:
            told.append(f"## {title}\n\n{text}\n")
    return ", ".join(f"{count} {state}" for state, count in states.most_common()) + ".\n\n" + "\n".join(told)


def narrow(table, other):
    """What WEFT_ISA=avx2 has of the speed, of calls that are larger than the second cache."""
    lines = ["## AVX2\n", "| workload | weft | with AVX2 | speed |", "|---|--:|--:|--:|"]
    for (workload, size), variants in sorted(table.items()):
        own, own_narrow = variants.get("auto"), other.get((workload, size), {}).get("auto")
        if own and own_narrow and own.rate and own.rate * own.ns > SMALL_BYTES:
            lines.append(f"| {workload} {size} | {report.time_text(own.ns)} | {report.time_text(own_narrow.ns)} | {own.ns / own_narrow.ns:.2f} |")
    return "\n".join(lines)


def groups(goals):
    """Rows that are compared with one another and so belong into one process: sizes of workloads.  What runs on several threads
    is compared with itself alone, and has no other thread's work beside it."""
    sizes, joined = collections.defaultdict(set), {}
    def top(name):
        while joined.setdefault(name, name) != name:
            name = joined[name]
        return name
    def add(workload, size):
        key = (workload, "/t" in size)
        sizes[key].add(size)
        return key
    for goal in goals:
        for size in goal.sizes.split():
            key = add(goal.workload, size)
            if "/" in goal.against and goal.against != "ns/element":
                workload, _, other = goal.against.split("/", 2)
                joined[top(add(workload, size if other == "=" else other))] = top(key)
    found = collections.defaultdict(dict)
    for key, its_sizes in sizes.items():
        found[top(key)][key[0]] = its_sizes
    return list(found.values())


def pattern(group, variants):
    rows = [f"{workload}/({'|'.join(variants)})/({'|'.join(re.escape(size) for size in sorted(sizes))})(/real_time|/manual_time|/iterations.*|/repeats.*)?"
            for workload, sizes in group.items()]
    return f"^({'|'.join(rows)})$"


def measure(program, path, options):
    """Runs the program for each group, and writes what all of them found as one result."""
    goals = [goal for its_goals in wanted(options.only).values() for goal in its_goals]
    if not goals:
        known = sorted({goal.workload for its_goals in GOALS.values() for goal in its_goals})
        raise report.ReportError(f"no workload matches '{options.only}'; these have targets: {', '.join(known)}")
    variants = ["auto", "fast", "xbyak", "llvm", *FLOORS, *PEERS]
    whole = None
    for group in groups(goals):
        print(f"{', '.join(group)}", file=sys.stderr)
        with tempfile.NamedTemporaryFile(suffix=".json") as part:
            rows = f"--benchmark_filter={pattern(group, variants)}"
            listed = subprocess.run([program, rows, "--benchmark_list_tests=true"], capture_output=True, text=True, check=False)
            if listed.returncode != 0 and "Failed to match" not in listed.stderr + listed.stdout:
                raise report.ReportError(f"{program} ended with {listed.returncode}: {listed.stderr.strip()}")
            if listed.returncode != 0:
                print("  has no row in this build", file=sys.stderr)
                continue
            run = subprocess.run([program, rows, f"--benchmark_repetitions={options.repetitions}", "--benchmark_min_time=0.003",
                                  "--benchmark_enable_random_interleaving=true", "--benchmark_display_aggregates_only=true",
                                  f"--benchmark_out={part.name}", "--benchmark_out_format=json"], check=False, stdout=subprocess.DEVNULL)
            try:
                result = json.loads(pathlib.Path(part.name).read_text(encoding="utf-8"))
            except ValueError as error:
                raise report.ReportError(f"{program} ended with {run.returncode} and wrote no result") from error
        if whole is None:
            whole = result
        else:
            whole["benchmarks"] += result["benchmarks"]
    if whole is None:
        raise report.ReportError("none of the rows are in this build")
    path.write_text(json.dumps(report.condensed(whole), indent=1) + "\n", encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("json", type=pathlib.Path)
    arguments.add_argument("--measure", metavar="WEFT_BENCH")
    arguments.add_argument("--avx2", type=pathlib.Path, metavar="OTHER.json")
    arguments.add_argument("--only", default="", metavar="REGEX")
    arguments.add_argument("--repetitions", type=int, default=9)
    options = arguments.parse_args()
    try:
        if options.measure:
            measure(options.measure, options.json, options)
        result, table, failed = report.read(options.json)
        print(f"# {options.json.stem}\n\n{report.heading(result)} {tables(table, options.only)}")
        if options.avx2:
            print(narrow(table, report.read(options.avx2)[1]))
        for line in failed:  # of peers too, whose rows are left out then
            print(f"no row: {line}", file=sys.stderr)
        return 1 if report.has_own(failed) else 0
    except re.error as error:
        print(f"targets.py: --only={options.only} is no regular expression: {error}", file=sys.stderr)
        return 1
    except (report.ReportError, OSError, ValueError) as error:
        print(f"targets.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
