#!/usr/bin/env python3
"""usage: coverage.py SOURCES BUILD   Adds up what gcov says of the objects in BUILD: a line counts as run if any of them ran it.
Prints each layer's share and the files that lack most; exit code 1 if a layer has less than 90 %."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

LAYERS = ["runtime", "ir", "jit", "engine"]
LEAST = 0.9
SHOWN = 25  # files


def counts_of(root, build):
    """{path from the root: {line: times run}}"""
    lines = collections.defaultdict(dict)
    for data in sorted(build.rglob("*.gcda")):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", str(data)], cwd=folder, check=True, capture_output=True)
            for result in pathlib.Path(folder).glob("*.gcov.json.gz"):
                for file in json.loads(gzip.decompress(result.read_bytes()))["files"]:
                    path = pathlib.Path(file["file"])
                    if not path.is_absolute() or not path.is_relative_to(root):
                        continue
                    name = path.relative_to(root).as_posix()
                    for line in file["lines"]:
                        number = line["line_number"]
                        lines[name][number] = max(lines[name].get(number, 0), line["count"])
    return lines


def share(files):
    total = sum(len(lines) for lines in files)
    return sum(count > 0 for lines in files for count in lines.values()), total


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    lines = counts_of(root, build)
    is_enough = True
    for layer in LAYERS:
        files = {name: counts for name, counts in lines.items() if name.startswith(layer + "/")}
        run, total = share(files.values())
        is_enough &= total > 0 and run >= LEAST * total
        print(f"{layer:8} {run:6} of {total:6} lines: {100 * run / max(total, 1):5.1f} %")
    missing = {name: share([counts]) for name, counts in lines.items() if name.split("/")[0] in LAYERS}
    print("\nlines that were not run:")
    for name, (run, total) in sorted(missing.items(), key=lambda item: item[1][0] - item[1][1])[:SHOWN]:
        print(f"{total - run:6} of {total:6}  {name}")
    return 0 if is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
