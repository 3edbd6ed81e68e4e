#!/usr/bin/env python3
"""Turns weft_bench's JSON into Markdown tables.

  bench/report.py RESULT.json            one table of all workloads, and one of calls
  bench/report.py --readme RESULT.json   puts a short table between the marks in README.md
"""
import argparse
import collections
import json
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


def parts(run_name):
    """Workload, variant and size of a name; what ran on several threads has "/tN" behind its size."""
    workload, variant, size, *others = run_name.split("/")
    return workload, variant, "/".join([size, *(part for part in others if re.fullmatch(r"t\d+", part))])


def medians(result):
    """(workload, size) -> variant -> (ns, GB/s or None); benchmarks that reported an error are left out."""
    runs, ready, failed = collections.defaultdict(list), {}, []
    for run in result["benchmarks"]:
        name = run["run_name"]
        is_by_the_wall = name.endswith(("/real_time", "/manual_time"))
        clock = "real_time" if is_by_the_wall else "cpu_time"  # one thread: what others do on the core is not ours
        if run.get("error_occurred"):
            failed.append(f"{name}: {run['error_message']}")
            continue
        rate = run.get("bytes_per_second")
        point = (run[clock] * UNIT_NS[run["time_unit"]], rate / 1e9 if rate else None)
        if run["run_type"] == "iteration":
            runs[name].append(point)
        elif run["aggregate_name"] == "median":
            ready[name] = point
    for name, points in runs.items():
        rates = [rate for _, rate in points if rate]
        ready.setdefault(name, (statistics.median(ns for ns, _ in points), statistics.median(rates) if rates else None))
    table = collections.defaultdict(dict)
    for name, point in ready.items():
        workload, variant, size = parts(name)
        table[workload, size][variant] = point
    return table, failed


def time_text(ns):
    for limit, unit, digits in ((1e3, "ns", 1), (1e6, "us", 2), (1e9, "ms", 2)):
        if ns < limit:
            return f"{ns / limit * 1e3:.{digits}f} {unit}"
    return f"{ns / 1e9:.2f} s"


def ratio(variants, of, to):
    """How many times faster `of` is than `to`."""
    return f"{variants[to][0] / variants[of][0]:.2f}" if of in variants and to in variants else ""


def mine(variants):
    return next((name for name in ("auto", "xbyak", "llvm") if name in variants), None)


def best_peer(variants):
    peers = [name for name in PEERS if name in variants]
    return min(peers, key=lambda name: variants[name][0]) if peers else None


def rows(table, keys, columns):
    """Speeds relative to other variants: above 1 is faster than they are."""
    lines = ["| workload | size | weft | GB/s | " + " | ".join(f"x {name}" for name in columns) + " | x best peer |",
             "|---" * 2 + "|--:" * (len(columns) + 3) + "|"]
    for key in keys:
        variants = table.get(key, {})
        own = mine(variants)
        if own is None:
            continue
        ns, rate = variants[own]
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


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("json", type=pathlib.Path)
    arguments.add_argument("--readme", action="store_true")
    options = arguments.parse_args()
    result = json.loads(options.json.read_text(encoding="utf-8"))
    table, failed = medians(result)

    if options.readme:
        readme = ROOT / "README.md"
        readme.write_text(with_table(readme.read_text(encoding="utf-8"), result), encoding="utf-8")
    else:
        present = [name for name in ["naive", "interp", "xbyak", "llvm", "hand", "stream", "memcpy", *PEERS]
                   if any(name in variants for variants in table.values())]
        print(f"# {options.json.stem}\n\n{heading(result)}\n`x NAME`: how many times as fast as NAME; weft is `auto` where it was measured.\n")
        print(rows(table, table, present))
    for line in failed:
        print(f"error: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
