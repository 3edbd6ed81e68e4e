#!/usr/bin/env python3
"""The page that weft explain --html writes: complete, well-formed, without the network, and alive in Chromium where it is installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CALLS = [
    ["a * b + 1", "a=f32[2,3,4,5]:channels_last", "b=f32[3,4,5]"],
    ["where(a < b, a & b, 7)", "a=i32[64,64]", "b=i32[64,64]{1,64}"],
    ["sum(a * a, dims=[0])", "a=f32[1000,64]"],
    ["argmax(a, dim=1)", "a=f32[100,64]"],
    ["cumsum(a, dim=1)", "a=f64[100,64]"],
    ["copy(a)", "a=u8[1,3,224,224]:channels_last", "--out", "f32[1,3,224,224]"],
    ["a", "a=f32[]"],
    ["a + 1", "a=f32[0,4]"],
    ["exp(a)", "a=f64[100]", "--backend=interp"],
]


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "page.html"

    def write(self, args):
        subprocess.run([WEFT, "explain", *args, f"--html={self.file}"], check=True, stdout=subprocess.DEVNULL)
        return self.file.read_text(encoding="utf-8")

    def test_is_one_well_formed_file_that_asks_for_nothing(self):
        for args in CALLS:
            with self.subTest(args[0]):
                page = self.write(args)
                self.assertLess(len(page), 1_000_000)
                root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
                for element in root.iter():
                    self.assertNotIn(element.tag, ["link", "img", "iframe", "object", "embed", "base", "form"])
                    self.assertFalse({"src", "href", "style"} & set(element.attrib), element.attrib)
                    self.assertFalse([name for name in element.attrib if name.startswith("on")])
                self.assertNotRegex(page, r"(?i)https?:|//[a-z]|@import|url\(")

    def test_shows_layouts_merges_code_and_roof(self):
        root = ElementTree.fromstring(self.write(CALLS[0]).removeprefix("<!DOCTYPE html>\n"))
        headings = [heading.text for heading in root.iter("h2")]
        self.assertEqual(headings, ["Memory", "Dimensions", "What happened, and why", "Code", "Roofline"])
        operands = [div for div in root.iter("div") if div.get("class") == "operand"]
        self.assertEqual(len(operands), 3)  # out, a, b
        # a is channels_last: along the columns of its first grid memory goes in steps of the 3 channels.
        cells = [text.text for text in operands[1].iter("text")]
        self.assertEqual(len(cells), 2 * 3 * 4 * 5)
        self.assertEqual(cells[:6], ["0", "3", "6", "9", "12", "15"])
        rows = [[loop.text for loop in row] for row in root.iter("div") if row.get("class") == "loops"]
        self.assertEqual([row[0] for row in rows], ["3"] * len(rows))
        self.assertEqual(rows[-1], ["3", "20", "2"])
        values = [[span.get("data-v") for span in pre.iter("span") if span.get("data-v")] for pre in root.iter("pre")
                  if pre.get("id")]
        self.assertGreater(len(values[0]), 3)
        if len(values) == 2 and values[1]:
            self.assertLessEqual(set(values[1]), set(values[0]))
        self.assertEqual(len(list(root.iter("circle"))), 1)

    def test_loops_compiled_with_weft_are_on_the_page(self):
        page = self.write(["cumsum(a, dim=1)", "a=f64[100,64]"])
        self.assertIn("run_scan of jit/fold/scans.h, add f64: compiled with weft", page)
        code = page[page.index('<pre id="asm">'):]
        self.assertIn("run_scan of jit/fold/scans.h, add f64", code)

    def test_names_of_the_expression_stay_text(self):
        page = self.write(CALLS[1])
        self.assertIn("a &lt; b, a &amp; b", page)

    def test_a_file_that_cannot_be_written(self):
        done = subprocess.run([WEFT, "explain", "a", "a=f32[2]", "--html=/dev/null/page.html"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write '/dev/null/page.html'", done.stderr)

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed: nobody has looked at the page")
    def test_lines_light_up_in_chromium(self):
        page = self.write(["a * b + 1", "a=f32[2,3,4,5]", "b=f32[2,3,4,5]"])
        value = re.search(r'data-v="(\d+)">[^<]*= mul', page).group(1)
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom",
                 f"file://{self.file}#v{value}"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        lit = re.findall(rf'<span[^>]*data-v="(\d+)"[^>]*class="(?:hot )?on"|<span class="(?:hot )?on" data-v="(\d+)"', done.stdout)
        self.assertGreaterEqual(len(lit), 1, done.stdout[-3000:])
        self.assertEqual({first or second for first, second in lit}, {value})


if __name__ == "__main__":
    if not CHROMIUM:
        print("SKIPPED: the page is not looked at, since Chromium is not installed", file=sys.stderr)
    WEFT = sys.argv.pop(1)
    unittest.main()
