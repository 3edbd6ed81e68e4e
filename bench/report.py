#!/usr/bin/env python3
"""Turns weft_bench's JSON into Markdown tables and pictures.

  bench/report.py RESULT.json                  one table of all workloads
  bench/report.py RESULT.json --compare OLD    what is faster or slower than in another run, beyond the noise of both
  bench/report.py RESULT.json --plots FOLDER   bars with limits, sizes, latency, threads, compile times as .svg (or --format=png)
  bench/report.py RESULT.json --readme         puts a short table between the marks in README.md
"""
import argparse
import collections
import importlib.util
import json
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- measured: begin (bench/report.py --readme) -->", "<!-- measured: end -->")
PEERS = ["torch", "onednn", "eigen", "xtensor"]
UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
README_ROWS = [
    ("copy", "1e3"), ("copy", "1e6"), ("add", "1e3"), ("add", "1e4"), ("add", "1e6"), ("fma", "1e6"),
    ("cast_f32_bf16", "1e6"), ("cast_u8_f32", "1e6"), ("normalize", "1x512x512x3"), ("bcast_nchw", "4x64x64x64"),
    ("conflict_add", "4x64x64x64"), ("call_add8_out", "8"), ("call_add4d_out", "2x3x4x5"), ("call_prepared", "8"),
    ("first_call_xbyak", "1e3"),
]


# Of one variant of one workload at one size: median ns, GB/s or None, and the relative standard deviation or None.
Point = collections.namedtuple("Point", "ns rate noise", defaults=(None, None))


class ReportError(Exception):
    """Says what is wrong with the input or is missing on the machine."""


def parts(run_name):
    """Workload, variant and size of a name; what ran on several threads has "/tN" behind its size."""
    workload, variant, size, *others = run_name.split("/")
    return workload, variant, "/".join([size, *(part for part in others if re.fullmatch(r"t\d+", part))])


def medians(result):
    """(workload, size) -> variant -> Point; benchmarks that reported an error are left out."""
    runs, ready, noise, failed = collections.defaultdict(list), {}, {}, []
    for run in result["benchmarks"]:
        name = run["run_name"]
        is_by_the_wall = name.endswith(("/real_time", "/manual_time"))
        clock = "real_time" if is_by_the_wall else "cpu_time"  # one thread: what others do on the core is not ours
        if run.get("error_occurred"):
            failed.append(f"{name}: {run['error_message']}")
            continue
        if run.get("aggregate_name") == "cv":
            noise[name] = run[clock]
            continue
        rate = run.get("bytes_per_second")
        point = (run[clock] * UNIT_NS[run["time_unit"]], rate / 1e9 if rate else None)
        if run["run_type"] == "iteration":
            runs[name].append(point)
        elif run["aggregate_name"] == "median":
            ready[name] = point
    for name, points in runs.items():
        rates, times = [rate for _, rate in points if rate], [ns for ns, _ in points]
        ready.setdefault(name, (statistics.median(times), statistics.median(rates) if rates else None))
        if len(times) > 1:
            noise.setdefault(name, statistics.stdev(times) / statistics.mean(times))
    table = collections.defaultdict(dict)
    for name, (ns, rate) in ready.items():
        workload, variant, size = parts(name)
        table[workload, size][variant] = Point(ns, rate, noise.get(name))
    return table, failed


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
    lines = ["| workload | size | weft | GB/s | " + " | ".join(f"x {name}" for name in columns) + " | x best peer |",
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
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    text = rows(medians(result)[0], README_ROWS, ["naive", "interp", "hand", "memcpy"])
    return f"{before}{MARKS[0]}\n{heading(result)}\n\n{text}\n{MARKS[1]}{after}"


def flat(table):
    """"add/auto/1e6" -> Point."""
    return {f"{workload}/{variant}/{size}": point for (workload, size), variants in table.items() for variant, point in variants.items()}


def comparison(old, new):
    """Markdown: how two runs agree, and the rows that differ by more than both their noise explains."""
    before, after = flat(old), flat(new)
    both = [name for name in after if name in before]
    if not both:
        raise ReportError("the two results have no row in common")
    ratios = {name: before[name].ns / after[name].ns for name in both}
    agree = sum(1 / 1.1 <= ratio <= 1.1 for ratio in ratios.values())
    lines = [f"{len(both)} rows are in both; {agree} ({agree / len(both):.0%}) agree within 10 %; "
             f"the median row is {statistics.median(ratios.values()):.3f} times as fast as before.",
             f"Left out: {len(before) - len(both)} of the old run alone, {len(after) - len(both)} of the new.", ""]
    differing = []
    for name in both:
        # Two standard deviations of the difference; without repetitions what a shared machine is known for.
        spread = math.hypot(*(0.05 if point.noise is None else point.noise for point in (before[name], after[name])))
        allowed = max(0.05, 2 * spread)
        if abs(math.log(ratios[name])) > math.log1p(allowed):
            differing.append((ratios[name], name, allowed))
    if not differing:
        return "\n".join([*lines, "No row differs by more than its noise."])
    lines += ["| row | before | after | times as fast | noise |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {name} | {time_text(before[name].ns)} | {time_text(after[name].ns)} | "
              f"{ratio:.2f} {'faster' if ratio > 1 else 'slower'} | {allowed:.0%} |" for ratio, name, allowed in sorted(differing)]
    return "\n".join(lines)


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
        return result, *medians(result)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a result of weft_bench ({type(error).__name__}: {error})") from error


def tables(options, result, table):
    present = [name for name in ["naive", "interp", "xbyak", "llvm", "hand", "stream", "memcpy", *PEERS]
               if any(name in variants for variants in table.values())]
    lacking = [name for name in PEERS if name not in present]
    note = f"Peers that were not found when it was built: {', '.join(lacking)}.\n" if lacking else ""
    return (f"# {options.json.stem}\n\n{heading(result)}\n`x NAME`: how many times as fast as NAME; weft is `auto` where it was "
            f"measured.\n{note}\n{rows(table, table, present)}")


def run(options):
    result, table, failed = read(options.json)
    if options.readme:
        readme = ROOT / "README.md"
        readme.write_text(with_table(readme.read_text(encoding="utf-8"), result), encoding="utf-8")
    elif options.compare:
        print(comparison(read(options.compare)[1], table))
    elif options.plots:
        write_plots(result, table, options.plots, options.format)
    else:
        print(tables(options, result, table))
    for line in failed:
        print(f"error: {line}", file=sys.stderr)
    return 1 if failed else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("json", type=pathlib.Path)
    arguments.add_argument("--readme", action="store_true")
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
