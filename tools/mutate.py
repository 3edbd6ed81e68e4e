#!/usr/bin/env python3
"""usage: mutate.py [--count=N] [--seed=N] [--build=FOLDER] [FILE...]   Mutation testing: changes one operator or number of the
iterator or a pass at a time, in a copy of the sources, and sees whether the tests notice.

Prints each change that survives, as a diff of one line, and "N of M killed" at the end; a change that does not compile, or
compiles to the same code, is not counted.  Exit code 1 below 90 %."""
import argparse
import hashlib
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ITERATOR = ["engine/iterator/" + name for name in ("dimensions.cpp", "iterator.cpp", "iterator_given.cpp", "iterator_outputs.cpp",
                                          "iterator_parts.cpp", "iterator_types.cpp")]
LEAST = 0.9

# What stands for what; each match of a pattern is one possible change.
RULES = [
    (r"(?<![<>=!+\-*/&|])<(?![<=])(?= )", ["<="]), (r"(?<![<>\-])>(?![>=])(?= )", [">="]), (r"<=", ["<"]), (r"(?<!-)>=", [">"]),
    (r"==", ["!="]), (r"!=", ["=="]), (r"&&", ["||"]), (r"\|\|", ["&&"]),
    (r"(?<=[\w)\]] )\+(?= [\w(])", ["-"]), (r"(?<=[\w)\]] )-(?= [\w(])", ["+"]), (r"(?<=[\w)\]] )\*(?= [\w(])", ["+"]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"(?<![\w.\"])[01](?![\w.\"'])", ["2"]), (r"\breturn changed;", ["return true;"]),
    (r"\bcontinue;", [";"]), (r"\bbreak;", [";"]), (r"(?<=if \()(?=[\w.>:-]+(\([^()]*\))?\) )", ["!"]),
]


def mutants(path):
    """(line number, old line, new line) of every change of a file."""
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines()):
        code = line.split("//")[0]
        if not code.strip() or code.lstrip().startswith(("#", "template", "WEFT_CHECK", "WEFT_ASSERT", '"')) or "static_assert" in code:
            continue
        quoted = [match.span() for match in re.finditer(r'"[^"]*"', code)]
        for pattern, replacements in RULES:
            for match in re.finditer(pattern, code):
                if any(begin <= match.start() < end for begin, end in quoted):
                    continue
                for replacement in replacements:
                    yield number, line, line[:match.start()] + replacement + line[match.end():]


class Copy:
    """A copy of the sources, built once; each mutant rebuilds what it touches."""

    def __init__(self, folder):
        self.folder = folder
        self.build = folder / "build"
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
        for name in filter(None, names):
            target, source = folder / name, ROOT / name
            if source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        subprocess.run(["cmake", "-S", folder, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DWEFT_LLVM=OFF",
                        "-DWEFT_BENCH=OFF", "-DWEFT_EXAMPLES=OFF"], check=True, stdout=subprocess.DEVNULL)

    def compiles(self, target):
        return subprocess.run(["cmake", "--build", self.build, "-j1", "--target", target], capture_output=True).returncode == 0

    def passes(self, program, tests):
        """Whether the tests notice nothing; those that hang or crash do."""
        command = [self.build / "bin" / program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + tests]
        try:
            return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=300).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def program_of(path):
    """The target and the tests that are there for a file."""
    if path.startswith("ir/"):
        return "weft_tests_ir", "*"
    return "weft_tests_engine", "*Iterator*:*Loops*:seed_examples*:*Overlap*:*Dimension*:DimCounter*:CpuKernel*:EngineLayouts*:engine_copy*"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    files = arguments.files or ITERATOR + sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "ir/passes").glob("*.cpp"))
    all_mutants = [(path, *mutant) for path in files for mutant in mutants(path)]
    random.Random(arguments.seed).shuffle(all_mutants)
    copy = Copy(arguments.build.resolve())
    for target in {program_of(path)[0] for path in files}:
        if not copy.compiles(target):
            sys.exit(f"{target} does not compile without a mutant")
    for program, tests in {program_of(path) for path in files}:
        if not copy.passes(program, tests):
            sys.exit(f"{program} fails without a mutant")
    originals = {}

    def digest(program):
        return hashlib.sha256((copy.build / "bin" / program).read_bytes()).hexdigest()

    killed = survived = 0
    try:
        for path, number, old, new in all_mutants:
            if killed + survived >= arguments.count:
                break
            program, tests = program_of(path)
            originals.setdefault(program, digest(program))
            file = copy.folder / path
            text = file.read_text(encoding="utf-8")
            lines = text.split("\n")
            lines[number] = new
            file.write_text("\n".join(lines), encoding="utf-8")
            try:
                if not copy.compiles(program) or digest(program) == originals[program]:
                    continue
                if copy.passes(program, tests):
                    survived += 1
                    print(f"survived: {path}:{number + 1}\n-{old}\n+{new}", flush=True)
                else:
                    killed += 1
            finally:
                file.write_text(text, encoding="utf-8")
    except KeyboardInterrupt:
        print("interrupted")
    print(f"{killed} of {killed + survived} killed")
    return 0 if killed >= LEAST * (killed + survived) else 1


if __name__ == "__main__":
    sys.exit(main())
