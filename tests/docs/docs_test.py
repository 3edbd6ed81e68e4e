#!/usr/bin/env python3
"""Runs the commands of README.md and docs/, parses their IR, and compares what they are said to print.  (The C++ of the pages is
compiled and run by weft_tests_docs.)  A block of a kind that nothing here knows fails."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from blocks import PAGES, ROOT, all_blocks, programs

SHOWN_FEATURES = "avx512+vbmi+bf16+fp16"  # of the machine on which the pages were written
TOOLS = re.compile(r"(\./)?(tools|bench)/\S+|cmake |ctest |WEFT_BLESS=1 |git diff|mkdir |cd |pip |build/bin/weft_\w+ |WEFT_PERF=1 perf ")
RUN = re.compile(r"(WEFT_\w+=\S+ )*(build/bin/)?weft ")


def kind_of(block, before):
    first = block.text.split("\n", 1)[0]
    if block.language == "cpp":
        return "program"
    if block.language:
        return "fenced " + block.language
    if first.startswith("kernel "):
        return "kernel"
    if first.startswith("WEFT_OP("):
        return "row"
    if "at::" in first:
        return "needs PyTorch"
    if RUN.match(first):
        return "usage" if re.search(r"\[--|FILE|EXPR|NAME", block.text) else "command"
    if TOOLS.match(first):
        return "tool"
    return "output" if before in ("command", "output") else "unknown"


def kinds():
    before, result = None, []
    for block in all_blocks():
        before = kind_of(block, before)
        result.append((before, block))
    return result


def command_lines(block):
    """Lines with what they continue, comments behind two spaces left out."""
    text = re.sub(r"\\\n\s*", " ", block.text)
    return [re.sub(r"  +#.*", "", line) for line in text.splitlines() if line.strip()]


def run(line, folder):
    env = {**os.environ, "WEFT_CACHE_DIR": str(folder / "cache"), "NO_COLOR": "1",
           "WEFT_TUNE": str(folder / "tuning")}
    line = line.replace("/tmp/", f"{folder}/").replace("build/bin/weft", WEFT)
    if line.startswith("weft "):
        line = WEFT + line[4:]
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, env=env, timeout=300)


def stable(text):
    """Without what differs between runs and machines: times, speeds, sizes of caches."""
    text = re.sub(r"(?m)\ncost\n(  .*\n)*", "\ncost\n", text + "\n")
    text = re.sub(r"(?m)\nthresholds\n(  .*\n)*", "\nthresholds\n", text)
    text = re.sub(r"(?m)^ *LLVM's model of .*\n( {6}.*\n)*", "", text)
    text = re.sub(r"compiles it in \S+ us", "compiles it in T us", text)
    text = re.sub(r"compile  .*", "compile", text)
    return re.sub(r"past them is for .* and more", "past them is for more", text).rstrip()


def headings(page):
    return re.findall(r"(?m)^#+ (.*)", page.read_text(encoding="utf-8"))


def anchor_of(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_block_is_of_a_known_kind(self):
        unknown = [f"{block.place}: {block.text[:60]!r}" for kind, block in kinds() if kind == "unknown"]
        self.assertEqual(unknown, [], "say in tests/docs/docs_test.py how these are checked")
        self.assertGreater(sum(kind == "command" for kind, _ in kinds()), 3)
        self.assertGreater(len(programs()), 3)

    def test_commands_do_what_the_pages_say(self):
        info = json.loads(run("weft info --json", self.folder).stdout)
        has_all = all(backend["available"] for backend in info["backends"] if backend["name"] in ("xbyak", "llvm"))
        compares = has_all and info["cpu"]["features"] == SHOWN_FEATURES
        has_nvrtc = bool(info["cuda"]["nvrtc"]["path"])
        printed, skipped, compared = {}, [], 0  # page -> what its commands have printed
        for kind, block in kinds():
            with self.subTest(block.place):
                for line in command_lines(block) if kind == "command" else []:
                    if re.search(r"--emit=\S*(ptx|sass)", line) and not has_nvrtc:
                        skipped.append(block.page)
                        continue
                    done = run(line, self.folder)
                    self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
                    printed[block.page] = printed.get(block.page, "") + done.stdout
                if kind == "output" and compares and block.page not in skipped:
                    self.assertIn(stable(block.text), stable(printed[block.page]))
                    compared += 1
        for page in skipped:
            print(f"SKIPPED: commands of {page} need NVRTC", file=sys.stderr)
        if compared == 0:
            print(f"SKIPPED: the pages show what all backends make for {SHOWN_FEATURES}, and this is {info['cpu']['features']}",
                  file=sys.stderr)

    def test_usage_names_commands_that_there_are(self):
        for kind, block in kinds():
            for command in re.findall(r"(?m)^weft (\w+)", block.text) if kind == "usage" else []:
                self.assertEqual(run(f"weft {command} --help", self.folder).returncode, 0, f"{block.place}: {command}")

    def test_tools_are_there(self):
        for kind, block in kinds():
            for tool in re.findall(r"(?m)^\s*(?:\./)?((?:tools|bench)/\S+)", block.text) if kind == "tool" else []:
                self.assertTrue((ROOT / tool).is_file(), f"{block.place}: {tool}")

    def test_kernels_are_read_by_weft_ir(self):
        for kind, block in kinds():
            if kind != "kernel" or not block.text.rstrip().endswith("}"):
                continue
            with self.subTest(block.place):
                done = subprocess.run([WEFT, "ir", "-"], input=block.text, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, block.text)

    def test_rows_are_those_of_the_table(self):
        table = (ROOT / "ir/include/weft/ops.def").read_text(encoding="utf-8")
        for kind, block in kinds():
            if kind == "row":
                self.assertIn(block.text.strip(), table, block.place)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            text = (ROOT / page).read_text(encoding="utf-8")
            for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
                if link.startswith("http"):
                    continue
                target = (ROOT / page).parent.joinpath(link) if link else ROOT / page
                self.assertTrue(target.exists(), f"{page}: {link}")
                if anchor:
                    self.assertIn(anchor, map(anchor_of, headings(target)), f"{page}: {link}#{anchor}")

    def test_all_decisions_are_listed(self):
        listed = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
        for page in sorted((ROOT / "docs/decisions").glob("*.md")):
            self.assertIn(f"](decisions/{page.name})", listed)
            for heading in headings(page)[1:]:
                self.assertIn(f"- [{heading}](decisions/{page.name}#{anchor_of(heading)})\n", listed)

    def test_named_tests_are_there(self):
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.cpp"))
        there = {".".join(names) for names in re.findall(r"\b(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", sources)}
        for page in PAGES:
            for name in re.findall(r"`([A-Z]\w*\.[A-Z]\w{9,})`", (ROOT / page).read_text(encoding="utf-8")):
                self.assertTrue(name in there, f"{page} names {name}")


if __name__ == "__main__":
    WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
