#!/usr/bin/env python3
"""Turns weft_bench's JSON into Markdown tables and pictures.

  bench/report.py RESULT.json                  one table of all workloads
  bench/report.py RESULT.json --compare OLD    what is faster or slower than in another run, beyond the noise of both
  bench/report.py RESULT.json --plots FOLDER   bars with limits, sizes, latency, threads, compile times as .svg (or --format=png)
  bench/report.py RESULT.json --condense       one entry a row in place of its repetitions
  bench/report.py RESULT.json --readme         puts a short table between the marks in README.md
"""
import argparse
import collections
import importlib.util
import json
import math
import pathlib
import random
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- measured: begin (bench/report.py --readme) -->", "<!-- measured: end -->")
OWN = ["auto", "fast", "xbyak", "llvm", "interp", "nvrtc"]
PEERS = ["torch", "onednn", "eigen", "xtensor"]
PYTHON_PEERS = ["numpy", "numexpr", "torch_eager", "torch_compile"]  # bench/peers.py
UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
README_ROWS = [
    ("copy", "1e3"), ("copy", "1e6"), ("add", "1e3"), ("add", "1e4"), ("add", "1e6"), ("fma", "1e6"),
    ("cast_f32_bf16", "1e6"), ("cast_u8_f32", "1e6"), ("normalize", "1x512x512x3"), ("bcast_nchw", "4x64x64x64"),
    ("conflict_add", "4x64x64x64"), ("call_add8_out", "8"), ("call_add4d_out", "2x3x4x5"), ("call_prepared", "8"),
    ("first_call_xbyak", "1e3"),
]


NO_TIMES = ("kernel_memory", "first_calls")  # rows whose time is not what they are for
PER_REPETITION = {"name", "repetition_index", "family_index", "per_family_instance_index", "iterations"}

# Of one variant of one workload at one size: ns by fast_median(), GB/s or None, and its relative standard error or None.
Point = collections.namedtuple("Point", "ns rate noise", defaults=(None, None))


class ReportError(Exception):
    """Says what is wrong with the input or is missing on the machine."""


def parts(run_name):
    """Workload, variant and size of a name; what ran on several threads has "/tN" behind its size."""
    workload, variant, size, *others = run_name.split("/")
    return workload, variant, "/".join([size, *(part for part in others if re.fullmatch(r"t\d+", part))])


def fast_median(times):
    """The median of the fastest third.  Other work on the machine makes repetitions slower and never faster, and on a shared
    one it takes half of the time for seconds at a stretch; the plain median then tells how busy the machine was."""
    return statistics.median(sorted(times)[:max(1, math.ceil(len(times) / 3))])


def noise_of(times):
    """Relative standard error of fast_median(), by drawing repetitions anew from those that there are."""
    draw = random.Random(1)
    drawn = [fast_median(draw.choices(times, k=len(times))) for _ in range(60)]
    return statistics.stdev(drawn) / statistics.mean(drawn)


def medians(result):
    """(workload, size) -> variant -> Point, and what reported an error: such rows are left out, whatever their other repetitions
    say.  Where that is `auto`, no other variant of weft stands in for it: then they are left out too."""
    runs, ready, noise, failed = collections.defaultdict(list), {}, {}, {}
    for run in result["benchmarks"]:
        name = run["run_name"]
        is_by_the_wall = name.endswith(("/real_time", "/manual_time"))
        clock = "real_time" if is_by_the_wall else "cpu_time"  # one thread: what others do on the core is not ours
        if run.get("error_occurred"):
            failed.setdefault(name, f"{name}: {run['error_message']}")
            continue
        if run.get("aggregate_name") == "cv":
            noise[name] = 1.2533 * run[clock] / math.sqrt(run.get("repetitions", 1))  # of a median
            continue
        rate = run.get("bytes_per_second")
        time_ns = run[clock] * UNIT_NS[run["time_unit"]]
        if run["run_type"] == "iteration":
            runs[name].append((time_ns, rate * time_ns if rate else None))
        elif run["aggregate_name"] == "median":
            ready[name] = (time_ns, rate / 1e9 if rate else None)
            if "noise" in run:
                noise[name] = run["noise"]
    for name, points in runs.items():  # in place of Google Benchmark's own aggregates of them
        times = [time_ns for time_ns, _ in points]
        time_ns, moved = fast_median(times), points[0][1]
        ready[name] = (time_ns, moved / time_ns / 1e9 if moved else None)
        if len(times) > 1:
            noise[name] = noise_of(times)
    without = {parts(name)[::2] for name in failed if parts(name)[1] == "auto"}
    table = collections.defaultdict(dict)
    for name, (ns, rate) in ready.items():
        workload, variant, size = parts(name)
        if name not in failed and not (variant in OWN and (workload, size) in without):
            table[workload, size][variant] = Point(ns, rate, noise.get(name))
    return table, list(failed.values())


def has_own(failed):
    """Whether weft itself is among what failed, for another reason than that a backend has no such code or the machine no memory."""
    rows = [line.split(": ", 1) for line in failed]
    return any(parts(name)[1] in OWN and not message.startswith(("unsupported: ", "impossible here: ")) for name, message in rows)


def condensed(result):
    """The same result with one entry a row in place of its repetitions, and its counters."""
    rows = {}
    for run in result["benchmarks"]:
        if run["run_type"] == "iteration":
            rows.setdefault(run["run_name"], []).append(run)
    entries = [run for run in result["benchmarks"] if run["run_type"] != "iteration" and run["run_name"] not in rows]
    for name, runs in rows.items():
        wrong = [run for run in runs if run.get("error_occurred")]
        if wrong:
            entries.append(wrong[0])
            continue
        entry = {**runs[0], "run_type": "aggregate", "aggregate_name": "median", "repetitions": len(runs)}
        for clock in ("real_time", "cpu_time"):
            entry[clock] = fast_median([run[clock] for run in runs])
        clock = "real_time" if name.endswith(("/real_time", "/manual_time")) else "cpu_time"
        if "bytes_per_second" in entry:
            entry["bytes_per_second"] *= runs[0][clock] / entry[clock]
        if len(runs) > 1:
            entry["noise"] = noise_of([run[clock] for run in runs])
        entries.append({key: value for key, value in entry.items() if key not in PER_REPETITION})
    # Where it was built and the machine's name say nothing of the measurement.
    context = {key: value for key, value in result.get("context", {}).items() if key != "host_name"}
    if "executable" in context:
        context["executable"] = pathlib.PurePath(context["executable"]).name
    return {**result, "context": context, "benchmarks": entries}


def time_text(ns):
    for limit, unit, digits in ((1e3, "ns", 1), (1e6, "us", 2), (1e9, "ms", 2)):
        if ns < limit:
            return f"{ns / limit * 1e3:.{digits}f} {unit}"
    return f"{ns / 1e9:.2f} s"


def ratio(variants, of, to):
    """How many times faster `of` is than `to`."""
    return f"{variants[to].ns / variants[of].ns:.2f}" if of in variants and to in variants else ""


def mine(variants):
    return next((name for name in ("auto", "xbyak", "llvm") if name in variants), None)


def best_peer(variants):
    peers = [name for name in PEERS if name in variants]
    return min(peers, key=lambda name: variants[name].ns) if peers else None


def rows(table, keys, columns):
    """Speeds relative to other variants: above 1 is faster than they are."""
    lines = ["| workload | size | weft | GB/s | " + " | ".join(f"x {name}" for name in columns) + " | x best C++ peer |",
             "|---" * 2 + "|--:" * (len(columns) + 3) + "|"]
    for key in keys:
        variants = table.get(key, {})
        own = mine(variants)
        if own is None:
            continue
        ns, rate, _ = variants[own]
        peer = best_peer(variants)
        cells = [*key, time_text(ns), f"{rate:.1f}" if rate else ""]
        cells += [ratio(variants, own, name) for name in columns]
        cells.append(f"{ratio(variants, own, peer)} {peer}" if peer else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def heading(result):
    context = result["context"]
    caches = ", ".join(f"L{cache['level']} {cache['size'] >> 10} KiB" for cache in context["caches"] if cache["type"] != "Instruction")
    return f"{context['num_cpus']} CPUs at {context['mhz_per_cpu']} MHz ({caches}), one pinned thread, medians, {context['date'][:10]}."


def with_table(page, result):
    """The page with the short table of this result between its marks."""
    before, has_begin, rest = page.partition(MARKS[0])
    _, has_end, after = rest.partition(MARKS[1])
    if not has_begin or not has_end:
        raise ReportError(f"README.md has no lines {MARKS[0]} and {MARKS[1]} for the table to go between")
    table = medians(result)[0]
    lacking = [f"{workload} {size}" for workload, size in README_ROWS if mine(table.get((workload, size), {})) is None]
    if lacking:
        raise ReportError(f"README.md's table has rows that are not in this result: {', '.join(lacking)}")
    text = rows(table, README_ROWS, ["naive", "interp", "hand", "memcpy"])
    return f"{before}{MARKS[0]}\n{heading(result)}\n\n{text}\n{MARKS[1]}{after}"


def flat(table):
    """"add/auto/1e6" -> Point."""
    return {f"{workload}/{variant}/{size}": point for (workload, size), variants in table.items() for variant, point in variants.items()}


def drift_between(ratios):
    """How many times as fast the machine was, by the rows in which nothing of weft runs."""
    others = [ratio for name, ratio in ratios.items() if name.split("/")[1] not in OWN]
    return statistics.median(others) if others else 1.0


def comparison(old, new):
    """Markdown: how two runs agree, and a mark for each row whose medians differ by more than 10 %: whether noise explains it."""
    before, after = flat(old), flat(new)
    both = [name for name in after if name in before]
    if not both:
        raise ReportError("the two results have no row in common")
    ratios = {name: before[name].ns / after[name].ns for name in both}
    drift = drift_between(ratios)
    ratios = {name: ratio / drift for name, ratio in ratios.items()}
    differing = sorted((ratio, name) for name, ratio in ratios.items() if not is_agreeing(ratio))
    agreeing = len(both) - len(differing)
    lines = [f"The machine was {drift:.3f} times as fast as before, by what ran without weft; that is taken out of what follows.",
             f"{len(both)} rows are in both; {agreeing} ({agreeing / len(both):.0%}) agree within 10 %; "
             f"the median row is {statistics.median(ratios.values()):.3f} times as fast as before.",
             f"Left out: {len(before) - len(both)} of the old run alone, {len(after) - len(both)} of the new.", ""]
    if not differing:
        return "\n".join([*lines, "No row differs by more than 10 %."])
    lines += ["| row | before | after | times as fast | noise | |", "|---|--:|--:|--:|--:|---|"]
    for ratio, name in differing:
        # Without repetitions what a shared machine is known for.
        errors = (0.05 if point.noise is None else point.noise for point in (before[name], after[name]))
        allowed = 2 * math.hypot(*errors)
        mark = "within noise" if abs(math.log(ratio)) <= math.log1p(allowed) else "faster" if ratio > 1 else "slower"
        lines.append(f"| {name} | {time_text(before[name].ns)} | {time_text(after[name].ns)} | {ratio:.2f} | {allowed:.0%} | {mark} |")
    lines += ["", "noise: twice the standard error of the difference, from the spread of the repetitions."]
    return "\n".join(lines)


def is_agreeing(ratio):
    return 1 / 1.1 <= ratio <= 1.1


def write_plots(result, table, folder, file_format):
    """Writes what the result has data for; says what was written and what not."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ReportError("plots are drawn by matplotlib, which is not there; Debian's package is python3-matplotlib")
    import plots
    caches = [(f"L{cache['level']}", cache["size"]) for cache in result["context"]["caches"] if cache["type"] != "Instruction"]
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in plots.draw_all(table, caches, mine, best_peer).items():
        if figure is None:
            print(f"{name}: nothing in this result")
            continue
        path = folder / f"{name}.{file_format}"
        figure.savefig(path)
        print(path)


def read(path):
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        heading(result)  # has all that it tells
        return result, *medians(result)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ReportError(f"{path}: not a result of weft_bench ({type(error).__name__}: {error})") from error


def missing_peers(result, present):
    """Lines that name each peer without a row, so that none is left out in silence."""
    built_with = result["context"].get("peers")
    lacking = [name for name in PEERS if built_with is not None and name not in built_with.split()]
    lines = [f"Peers that were not found when it was built: {', '.join(lacking)}."] if lacking else []
    reasons = result["context"].get("missing_peers", {})
    lacking = [name for name in PYTHON_PEERS if name not in present]
    if lacking:
        told = [f"{name} ({reasons[name]})" if name in reasons else name for name in lacking]
        lines.append(f"Peers in Python that are missing: {', '.join(told)}; bench/peers.py adds those that are installed.")
    return "".join(line + "\n" for line in lines)


def tables(options, result, table):
    present = [name for name in ["naive", "interp", "xbyak", "llvm", "hand", "stream", "memcpy", *PEERS, *PYTHON_PEERS]
               if any(name in variants for variants in table.values())]
    timed = [key for key in sorted(table) if not key[0].startswith(NO_TIMES)]
    return (f"# {options.json.stem}\n\n{heading(result)}\n`x NAME`: how many times as fast as NAME; weft is `auto` where it was "
            f"measured.\n{missing_peers(result, present)}\n{limits(table)}{rows(table, timed, present)}")


def limits(table):
    """What the machine moves at each level of its memory; empty if that was not measured."""
    found = {workload: variants for (workload, _), variants in table.items() if workload.startswith("limit_")}
    if not found:
        return ""
    told = [f"{workload.removeprefix('limit_')} {max(point.rate for point in variants.values()):.0f}" for workload, variants in found.items()]
    return f"The machine copies, in GB/s read and written: {', '.join(told)}.\n\n"


def run(options):
    result, table, failed = read(options.json)
    if options.readme:
        readme = ROOT / "README.md"
        readme.write_text(with_table(readme.read_text(encoding="utf-8"), result), encoding="utf-8")
    elif options.condense:  # what failed is told with the table
        options.json.write_text(json.dumps(condensed(result), indent=1) + "\n", encoding="utf-8")
        return 0
    elif options.compare:
        print(comparison(read(options.compare)[1], table))
    elif options.plots:
        write_plots(result, table, options.plots, options.format)
    else:
        print(tables(options, result, table))
    for line in failed:
        print(f"error: {line}", file=sys.stderr)
    return 1 if has_own(failed) else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("json", type=pathlib.Path)
    arguments.add_argument("--readme", action="store_true")
    arguments.add_argument("--condense", action="store_true")
    arguments.add_argument("--compare", type=pathlib.Path, metavar="OLD.json")
    arguments.add_argument("--plots", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--format", choices=["svg", "png"], default="svg")
    try:
        return run(arguments.parse_args())
    except (ReportError, OSError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
