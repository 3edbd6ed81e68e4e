#!/usr/bin/env python3
"""The pages show programs exactly as they are compiled, and the README's stays an example of about twenty lines."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = [("README.md", "cpp", "examples/quick_look.cpp"), ("docs/embedding.md", "c", "tests/embed/example.c")]


def text(name):
    return (root / name).read_text(encoding="utf-8")


for page, language, program in SHOWN:
    blocks = [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", text(page), re.S)]
    if text(program).strip() not in blocks:
        sys.exit(f"{page} does not show {program} as it is; paste it into the ```{language} block")
    print(f"{page} shows {program}")
sources = "".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*_test.cpp"))
tests = re.findall(r"`(\w+)\.(\w+)`", "".join(line for line in text("docs/security.md").splitlines() if line.startswith("|")))
if not tests:
    sys.exit("no test is found in the tables of docs/security.md")
for suite, test in tests:
    if not re.search(rf"TEST(_F|_P)?\({suite}, {test}\)|TYPED_TEST\({suite}, {test}\)", sources):
        sys.exit(f"docs/security.md names a test {suite}.{test}, which there is not")
print(f"the {len(tests)} tests that docs/security.md names are there")
lines = len(text("examples/quick_look.cpp").strip().splitlines())
if lines > 25:
    sys.exit(f"examples/quick_look.cpp has {lines} lines; the README promises about twenty")
