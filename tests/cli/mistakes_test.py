#!/usr/bin/env python3
"""One clear line, and an object with --json, for every mistake on the command line."""
import os
import subprocess
import unittest

from cli_case import CliTest, WEFT, weft


class Mistakes(CliTest):
    def test_expressions(self):
        a = "a=f32[2,3]"
        message = self.fails(["explain", "a + * b", a], "argument", "column 5: expected a value, found '*'")
        self.assertTrue(message.endswith("\n  a + * b\n      ^"), message)
        self.fails(["explain", "a + x", a], "argument", "column 5: unknown name 'x'", "a")
        self.fails(["explain", "tahn(a)", a], "argument", "unknown function 'tahn'", "tanh")
        self.fails(["explain", "where(a)", a], "argument", "where takes 3 arguments")
        self.fails(["explain", "sum(a, dims=[2])", a], "argument", "Dimension out of range")
        self.fails(["explain", "a & a", a], "argument", "column 3", "bitwise_and")
        self.fails(["explain", "", a], "argument", "the expression is empty")
        for command in ("explain", "bench"):
            self.fails([command, "aminmax(a)", a], "argument", "two results, and one is read here: write amin or amax")
            self.fails([command, "sum(a), amax(a)", a], "argument", "column 7: one expression is read here")

    def test_what_a_terminal_would_obey_is_not_printed(self):
        told = weft("explain", "a", "a=f32[2]", "--backend=\x1b[31mred\x7f")
        self.assertEqual(told.returncode, 1)
        self.assertIn("'\\x1b[31mred\\x7f'", told.stderr)

    def test_shapes_and_dtypes(self):
        self.fails(["explain", "a + b", "a=f32[2,3]", "b=f32[4]"], "argument", "The size of tensor", "must match")
        self.fails(["explain", "a / b", "a=f32[2]", "b=f32[2]", "--out", "i32[2]"], "argument",
                   "can't be cast to the desired output type")
        self.fails(["explain", "a + b", "a=u64[2]", "b=i64[2]"], "argument", "u64", "i64")
        self.fails(["explain", "a + b", "a=f8e5m2[2]", "b=f32[2]"], "argument", "f8e5m2")
        self.fails(["explain", "a - a", "a=bool[2]"], "argument", "bool")

    def test_counts_below_zero(self):
        for option in ("--seed=-3", "--seed= -3", "--first=-1", "--count=-1"):
            told = weft("fuzz", option)
            self.assertNotEqual(told.returncode, 0, option)
            self.assertIn(option.split("=")[0] + ": expected a number from 0 on, got -", told.stderr)

    def test_a_case_is_no_number_of_cases(self):
        for option in ("--first=3", "--count=2", "--seconds=1"):
            told = weft("fuzz", "--replay", "a + a", "a=f32[3]", option)
            self.assertNotEqual(told.returncode, 0, option)
            self.assertIn("excludes", told.stderr)
        told = weft("fuzz", "--numerics=fast", "--count=1")
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("--numerics requires --replay", told.stderr)

    def test_empty_words_are_not_taken_for_what_is_not_given(self):
        a = "a=f32[3]"
        for words in (["fuzz", "--replay", ""], ["explain", "a", a, "--html", ""], ["explain", "a", a, "--out", ""],
                      ["bench", "a", a, "--out", ""], ["eval", "a", "a=none.npy", "--output", ""]):
            told = weft(*words)
            self.assertNotEqual(told.returncode, 0, words)
            self.assertIn(f"{words[-2]}: expected a text, got none", told.stderr, words)

    def test_layouts(self):
        self.fails(["explain", "a", "a=f31[2]"], "argument", "a: layout, column 1", "f32")
        self.fails(["explain", "a", "a=f32[2"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[2]{1,1}"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[-2]"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[" + ",".join("1" * 65) + "]"], "argument", "64")
        self.fails(["explain", "a", "a=f32[4611686018427387904,4]"], "argument", "a: layout")
        self.fails(["explain", "a", "a=f32[4]", "--out", "f32[?]"], "argument", "out: layout, column")
        self.fails(["bench", "a", "a=f32[100000000000000]"], "device", "a: ")

    def test_operands(self):
        self.fails(["explain", "a", "f32[2]"], "argument", "expected NAME=VALUE", "f32[2]")
        self.fails(["explain", "a", "2a=f32[2]"], "argument", "expected NAME=VALUE")
        self.fails(["explain", "a", "a=f32[2]", "a=f32[2]"], "argument", "'a' is given twice")

    def test_flags(self):
        a = "a=f32[2]"
        self.fails(["explain", "a", a, "--emit=iter,irr"], "argument", "irr", "signature", "asm")
        self.fails(["explain", "a", a, "--backend=gcc"], "argument", "gcc", "xbyak")
        self.fails(["explain", "a", a, "--target=sse"], "argument", "sse", "avx2")
        self.fails(["explain", "a", a, "--arch=90", "--backend=nvrtc"], "argument", "90", "sm_80", "sm_90", "sm_100")
        self.fails(["explain", "a", a, "--arch=sm_90"], "argument", "arch sm_90", "backend nvrtc", "auto")
        self.fails(["explain", "sum(a, numerics=exact)", a, "--backend=nvrtc"], "unsupported", "no kernel for", "without rounding")
        self.fails(["explain", "a", a, "--numerics=wild"], "argument", "wild", "strict")
        self.fails(["explain", "a", a, "--nonsense"], "argument", "--nonsense")
        self.fails(["bench", "a", a, "--threads=0"], "argument", "--threads: Value 0 not in range 1 to")
        self.fails(["nosuch", "a", a], "argument", "unknown command 'nosuch'")
        self.fails(["eval", "a", "a=x.npy"], "argument", "--output")
        self.fails(["explain"], "argument", "EXPR")
        self.fails(["nonsense"], "argument")
        self.fails([], "argument")
        self.fails(["cache", "burn"], "argument", "burn", "verify")

    def test_isa_in_the_environment(self):
        done = weft("info", env={**os.environ, "WEFT_ISA": "pentium"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("WEFT_ISA", done.stderr)

    def test_a_full_disk_behind_stdout(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([WEFT, "info"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
