#!/usr/bin/env python3
"""Every file of the project that objects of the LLVM module depend on is one from which the key of the disk cache is made.

usage: code_version_test.py COMPILED LISTED, both lists with semicolons: the sources of the module, and the files of the version
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PASS = re.compile(r"^bool (\w+)\(Kernel&", re.MULTILINE)


def included(path):
    """The files of the project that one includes."""
    for bracket, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if bracket == '"':
            yield ROOT / name
        elif name.startswith("weft/"):
            yield from (layer / "include" / name for layer in map(ROOT.joinpath, ("runtime", "ir")) if (layer / "include" / name).exists())


def passes_of(paths):
    """The files of the passes that these call: the kernel's text, the rest of the key, is older than what they make of it."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    names = PASS.findall((ROOT / "ir" / "pass.h").read_text(encoding="utf-8"))
    return {ROOT / "ir" / "passes" / f"{name}.cpp" for name in names if re.search(rf"\b{name}\(", text)}


def closure(paths):
    found, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += included(path)
    return found


def main():
    compiled, listed = ({pathlib.Path(os.path.normpath(path)) for path in files.split(";")} for files in sys.argv[1:])
    # What CMake adds to the sources, such as headers compiled in advance, lies outside of them.
    own = {path for path in compiled if path.suffix == ".cpp"}
    passes = passes_of(own)
    needed = closure(own | passes)
    problems = [f"the code version misses {path.relative_to(ROOT)}" for path in sorted(needed - listed)]
    problems += [f"{path} is in the code version, and is no file" for path in sorted(listed) if not path.is_file()]
    if not passes or len(own) < 20 or len(needed) < 2 * len(own) or ROOT / "ir" / "include" / "weft" / "ops.def" not in needed:
        problems.append("hardly anything was found: the test itself is broken")
    print("\n".join(problems) or f"{len(needed)} files are needed, {len(listed)} are in the code version")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
