#!/usr/bin/env python3
"""weft bench: rows, progress, pictures."""
import importlib.util
import json
import os
import pty
import struct
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from cli_case import CliTest, REQUIRED_BACKENDS, WEFT, heed_permissions, weft

CALL = ["bench", "where(a < 1, a & 7, a)", "a=i32[10,10]"]


class Bench(CliTest):
    def test_rows(self):
        told = self.json_of("bench", "a * b + 1", "a=f32[64,64]", "b=f32[64]")
        self.assertEqual(told["bytes"], 4 * (64 * 64 * 2 + 64))
        variants = {row["variant"]: row for row in told["rows"]}
        for row in told["rows"]:
            self.assertGreater(row["ns"], 0)
            self.assertAlmostEqual(row["gbps"], told["bytes"] / row["ns"], delta=1e-6 * row["gbps"])
        skipped = {row["variant"]: row["reason"] for row in told["skipped"]}
        for variant in ["naive", "memcpy", "interp", *filter(None, REQUIRED_BACKENDS)]:
            self.assertIn(variant, variants)
        for variant in ["xbyak", "llvm", "this shape", "nvrtc"]:
            self.assertNotEqual(variant in variants, variant in skipped, variant)
            self.assertNotIn("differs", skipped.get(variant, ""))

    def test_layouts_numerics_and_threads(self):
        for text, layout in [("a", "u8[3,5]{-1,3}@7"), ("a + 0.5", "bf16[16]"), ("a ** 2", "i32[0,4]"),
                             ("cast(a, f32) / 255", "u8[2,3,4,5]:channels_last"), ("a * 2", "c64[]")]:
            told = self.json_of("bench", text, f"a={layout}", "--threads=2", "--numerics=strict")
            self.assertIn("naive", [row["variant"] for row in told["rows"]], told["skipped"])
            for row in told["skipped"]:
                self.assertNotIn("differs", row["reason"], text)
        # What no plan can be prepared of is called instead.
        for text, layouts in [("sum(a)", ["a=f32[10000]"]), ("a - sum(a, dims=[1], keepdim=true)", ["a=f32[10,100]"]),
                              ("cumsum(a, dim=0)", ["a=f32[100]"]), ("a // b", ["a=i32[10]", "b=i32[10]"])]:
            told = self.json_of("bench", text, *layouts)
            rows = {row["variant"]: row for row in told["rows"]}
            self.assertEqual(rows["interp"]["ratio_to_interp"], 1, text)
            self.assertGreater(rows["memcpy"]["ratio_to_interp"], 0, text)
            left_out = {entry["variant"]: entry["reason"] for entry in told["skipped"]}
            if "naive" not in rows:
                self.assertIn("folds nothing", left_out["naive"])
        # A given output: transposed, with gaps, of a wider dtype.
        for out in ["f32[20,30]", "f32[20,30]{40,1}", "f64[20,30]{1,20}"]:
            told = self.json_of("bench", "a", "a=f32[20,30]{1,20}", f"--out={out}")
            self.assertEqual(told["bytes"], 20 * 30 * (12 if "64" in out else 8))
            variants = [row["variant"] for row in told["rows"]]
            self.assertIn("interp", variants)
            self.assertIn("naive", variants, told["skipped"])
            for row in told["skipped"]:
                self.assertNotIn("differs", row["reason"], out)
        self.fails(["bench", "a", "a=f32[20,30]", "--out=f32[20,31]"], "argument",
                   "out: the sizes of f32[20,31] are [20, 31], those of the result [20, 30]")
        self.fails(["bench", "a", "a=f32[20,30]", "--out=bogus"], "argument", "expected a dtype")
        printed = self.succeeds("bench", "-a", "a=f32[1000]")
        self.assertIn("of memcpy", printed)

    def test_progress_is_for_terminals(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([WEFT, *CALL, "--json"], stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):  # all the time: a terminal that nobody reads holds 8 KB, and then its writer
                shown += part
        except OSError:  # nobody writes any more
            pass
        os.close(ours)
        told, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        json.loads(told)
        self.assertIn(b"1 of 8: the interpreter's result", shown)
        self.assertIn(b"8 of 8: memcpy, 100 %", shown)
        self.assertTrue(shown.endswith(b"\r\033[K"), shown)


class Plot(CliTest):
    def test_svg(self):
        picture = self.path("bench.svg")
        told = self.json_of(*CALL, f"--plot={picture}")
        root = ElementTree.parse(picture).getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in root.iter(space + "text")]
        self.assertIn("where(a < 1, a & 7, a): 800 bytes a call, 1 thread", texts)
        # The first rectangle is the paper; the bars are as long as the rows are fast.
        widths = [float(bar.get("width")) for bar in list(root.iter(space + "rect"))[1:]]
        speeds = [row["gbps"] for row in told["rows"]]
        self.assertEqual(len(widths), len(speeds))
        for row, width in zip(told["rows"], widths):
            self.assertAlmostEqual(width, 420 * row["gbps"] / max(speeds), delta=0.1)
            self.assertIn(row["variant"], texts)
        self.assertEqual([line.get("stroke") for line in root.iter(space + "line") if line.get("stroke-dasharray")], ["#cc3311"])

    def test_nothing_to_move(self):
        picture = self.path("bench.svg")
        self.succeeds("bench", "a + 1", "a=f32[0,4]", f"--plot={picture}")
        ElementTree.parse(picture)

    def test_png(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not there")
        picture = self.path("bench.png")
        self.succeeds(*CALL, f"--plot={picture}")
        data = picture.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertGreater(min(width, height), 100)

    def test_png_without_its_painter(self):
        """No python3 at all, then one without matplotlib."""
        tools = self.path("tools")
        tools.mkdir()
        for missing in ["python3, which can't be started", "matplotlib, which is not there"]:
            self.fails([*CALL, f"--plot={self.path('bench.png')}"], "unsupported", missing, "python3-matplotlib", ".svg",
                       env={**os.environ, "PATH": str(tools)})
            self.assertFalse(self.path("bench.png").exists())
            (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
            (tools / "python3").chmod(0o755)

    def test_a_painter_that_fails(self):
        tools = self.path("tools")
        tools.mkdir()
        (tools / "python3").write_text("#!/bin/sh\ncase \"$2\" in *find_spec*) exit 0;; esac\necho no fonts\nexit 1\n")
        (tools / "python3").chmod(0o755)
        self.fails([*CALL, f"--plot={self.path('bench.png')}"], "device", "matplotlib failed: no fonts",
                   env={**os.environ, "PATH": str(tools)})
        self.assertFalse(self.path("bench.png").exists())

    def test_files_that_cannot_be_written_are_told_before_anything_runs(self):
        locked = self.path("locked.svg", b"keep me")
        locked.chmod(0o444)
        # Nothing is measured: the operand would not fit into any address space, whatever the system promises.
        huge = ["bench", "a", "a=f32[100000000000000]"]
        as_anyone = {"preexec_fn": heed_permissions}
        self.fails([*huge, f"--plot={self.folder}/none/a.svg"], "device", "none/a.svg", "No such file")
        self.fails([*huge, f"--plot={locked}"], "device", "locked.svg", **as_anyone)
        self.fails([*huge, "--plot=picture.pdf"], "argument", "picture.pdf", ".svg nor .png")
        folder = self.path("folder.svg")
        folder.mkdir()
        self.fails([*huge, f"--plot={folder}"], "device", "it is a folder")
        self.assertEqual(locked.read_bytes(), b"keep me")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["folder.svg", "locked.svg"])


class Errors(CliTest):
    def test_json_is_valid_whatever_goes_wrong(self):
        for args in [["a +", "a=f32[2]"], ["a + b", "a=f32[2]", "b=f32[3]"], ["\udcff", "a=f32[2]"], ["a // b", "a=i32[2]"],
                     ["a", "a=f32[2]", "--numerics=wild"], ["a", "a=f32[2]", "--threads=many"], [],
                     ["a", "a=f32[2]", "--plot"], ["a", "a=f32[99999999999999]"]]:
            done = weft("bench", *args, "--json", errors="surrogateescape")
            self.assertEqual(done.returncode, 1, args)
            self.assertEqual(set(json.loads(done.stdout)["error"]), {"kind", "message"}, args)


if __name__ == "__main__":
    unittest.main()
