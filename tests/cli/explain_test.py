#!/usr/bin/env python3
"""weft explain: the keys of the contract, the story, each stage."""
import json
import os
import subprocess
import unittest

from cli_case import CliTest, REQUIRED_BACKENDS, WEFT, weft


class Explain(CliTest):
    def test_cuda(self):
        """Source for devices, without any; PTX where NVRTC is."""
        words = ["explain", "a + b", "a=f32[1000,1000]", "b=f32[1000,1000]", "--backend=nvrtc", "--arch=sm_80"]
        told = self.json_of(*words, "--emit=cuda,ir")
        self.assertEqual((told["backend"], told["schedule"]), ("nvrtc", "linear"))
        self.assertGreater(told["compile_us"], 0)
        self.assertIn("Vector<f32, 4> x1[1];", told["cuda"])
        self.assertIn("weft_kernel", self.succeeds(*words, "--emit=cuda"))
        self.assertIn("256 threads for sm_80", self.succeeds(*words))
        reduction = ["explain", "sum(square(a - b), dims=[1])", *words[2:]]
        told = self.json_of(*reduction, "--emit=cuda,ir")
        self.assertEqual((told["backend"], told["schedule"]), ("nvrtc", "inner_reduce"))
        self.assertIn("fold_leaf", told["cuda"])
        self.assertIn("accumulate f32 $0 add", told["ir"])
        self.assertIn("2 lanes a thread", self.succeeds(*reduction))
        nowhere = {**os.environ, "WEFT_NVRTC": "/nonexistent/libnvrtc.so"}
        without = weft(*words, "--emit=cuda", env=nowhere)
        self.assertEqual((without.returncode, without.stderr), (0, ""))
        lacking = weft(*words, "--emit=ptx", "--json", env=nowhere)
        self.assertEqual(lacking.returncode, 1)
        error = json.loads(lacking.stdout)["error"]
        self.assertEqual(error["kind"], "compile")
        self.assertIn("CUDA toolkit", error["message"])
        if self.json_of("info")["cuda"]["nvrtc"]["reason"]:
            self.skipTest("NVRTC is not there: PTX and SASS are left out")
        self.assertIn("ld.global.v4", self.json_of(*words, "--emit=ptx")["ptx"])
        sass = weft(*words, "--emit=sass", "--json")
        told = json.loads(sass.stdout)
        if sass.returncode != 0:
            self.assertEqual(told["error"]["kind"], "unsupported")
            self.assertIn("cuda-nvdisasm", told["error"]["message"])
        else:
            self.assertIn("LDG", told["sass"])

    def test_has_the_keys_of_the_contract(self):
        # Worked example: a channels_last activation and a contiguous one that broadcasts.
        told = self.json_of("explain", "a + b", "a=f32[2,3,4,5]:channels_last", "b=f32[3,4,5]")
        self.assertEqual(told["result"], {"dtype": "f32", "sizes": [2, 3, 4, 5], "strides": [60, 1, 15, 3]})
        self.assertEqual(told["common_dtype"], "f32")
        self.assertEqual(told["fast_setup"], "none")
        self.assertEqual(told["perm"], [1, 3, 2, 0])
        self.assertEqual(told["shape"], [3, 20, 2])
        self.assertEqual(told["operands"], [
            {"name": "out", "role": "output", "dtype": "f32", "stride_bytes": [4, 12, 240]},
            {"name": "a", "role": "input", "dtype": "f32", "stride_bytes": [4, 12, 240]},
            {"name": "b", "role": "input", "dtype": "f32", "stride_bytes": [80, 4, 0]}])
        self.assertIsInstance(told["signature"], str)
        self.assertTrue(told["signature_hash"])
        self.assertIn(told["backend"], ["interp", "xbyak", "llvm"])
        self.assertIsInstance(told["schedule"], str)
        self.assertGreaterEqual(told["compile_us"], 0)

    def test_fast_setups(self):
        for layout, word in [("f32[4,5]", "contiguous"), ("f32[2,3,4,5]:channels_last", "channels_last"),
                             ("f32[4,5]{1,4}", "non_overlapping_dense"), ("f32[4,5]{10,2}", "none")]:
            told = self.json_of("explain", "a + b", f"a={layout}", f"b={layout}")
            self.assertEqual(told["fast_setup"], word, layout)

    def test_emits_each_stage_under_its_name(self):
        stages = ["iter", "signature", "ir", "llvm", "asm"]
        args = ["explain", "tanh(a*b + c)", "a=f32[8,8]", "b=f32[8,8]", "c=f32[8]"]
        told = self.json_of(*args, "--emit=" + ",".join(stages))
        for stage in stages:
            self.assertTrue(told[stage].strip(), stage)
        spaced = self.json_of("explain", "a + b", "a=f32[8,8]", "b=f32[8]", "--emit", "ir, signature")
        self.assertTrue(spaced["ir"].strip() and spaced["signature"].strip())
        added = self.json_of("explain", "a + b", "a=f32[8,8]", "b=f32[8]", "--emit=asm")
        if "xbyak" in REQUIRED_BACKENDS:
            self.assertEqual(added["backend"], "xbyak")
        if added["backend"] != "interp":
            self.assertGreater(added["asm"].count("\n"), 3, added["asm"])
        printed = self.succeeds(*args, "--emit=iter,ir", "--emit=asm")
        for stage in ["iter", "ir", "asm"]:
            self.assertIn(f"--- {stage} ---\n", printed)
        self.assertNotIn("--- llvm ---", printed)
        self.assertNotIn("ir", self.json_of(*args))

    def test_tells_the_story_by_default(self):
        args = ["explain", "a + b", "a=f32[2,3,4,5]:channels_last", "b=f32[3,4,5]"]
        told = self.succeeds(*args)
        titles = ["operands", "broadcast", "promotion", "order of dimensions", "coalescing", "signature", "schedule", "tier",
                  "thresholds", "cost"]
        places = [told.find(f"\n{title}\n") for title in titles]
        self.assertEqual(sorted(places), places, told)
        self.assertGreater(places[0], 0, told)
        self.assertIn("-> [3 (d1), 20 (d3*d2), 2 (d0)]", told)
        self.assertIn("not linear: ", told)
        self.assertIn("measured just now", told)
        self.assertNotIn("\033", told)
        story = self.json_of(*args)["story"]
        self.assertEqual([chapter["title"] for chapter in story if chapter["title"] != "code"], titles[:-1])
        self.assertTrue(all(chapter["lines"] for chapter in story))

    def test_colours_are_for_terminals(self):
        def shown_on_a_terminal(**changes):
            ours, theirs = os.openpty()
            env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | changes
            subprocess.run([WEFT, "explain", "a + 1", "a=f32[4]"], stdout=theirs, env=env, check=True)
            os.close(theirs)
            text = b""
            try:
                while part := os.read(ours, 65536):
                    text += part
            except OSError:  # nobody writes any more
                pass
            os.close(ours)
            return text
        self.assertIn(b"\033[1;36moperands", shown_on_a_terminal())
        self.assertIn(b"\033[1;36moperands", shown_on_a_terminal(NO_COLOR=""))
        self.assertNotIn(b"\033", shown_on_a_terminal(NO_COLOR="1"))

    def test_ir_before_and_after_each_pass(self):
        args = ["explain", "sigmoid(a)", "a=bf16[8,8]", "--emit=ir"]
        told = self.json_of(*args)
        steps = told["ir_passes"]
        self.assertEqual(steps[0]["name"], "as lowered")
        self.assertIn("expand_composites", [step["name"] for step in steps])
        self.assertEqual(steps[-1]["ir"], told["ir"])
        self.assertTrue(all(before["ir"] != after["ir"] for before, after in zip(steps, steps[1:])))
        printed = self.succeeds(*args)
        self.assertIn("--- ir as lowered ---\nkernel default unscheduled", printed)
        self.assertIn("--- ir after expand_composites ---\n", printed)
        self.assertTrue(printed.endswith("--- ir ---\n" + told["ir"]), printed)
        self.assertNotIn("ir_passes", self.json_of(*args[:-1]))

    @unittest.skipUnless("xbyak" in REQUIRED_BACKENDS, "needs xbyak")
    def test_machine_code_has_its_loops_marked(self):
        told = self.json_of("explain", "a + b", "a=f32[1000]", "b=f32[1000]", "--emit=asm", "--target=avx2")["asm"]
        if "; no disassembler" in told:
            self.skipTest(told)
        self.assertRegex(told, r"^; \d+ instructions\n")
        self.assertRegex(told, r"; hot loop \.L\d+ at depth 1: \d+ instructions for 32 elements\n\.L")
        self.assertRegex(told, r"(?m)^> .*vaddps ymm")
        self.assertIn("; %2 = add f32 %0, %1\n", told)

    def test_the_hot_loop_has_its_figures(self):
        told = self.json_of("explain", "a + b", "a=f32[1000]", "b=f32[1000]", "--target=avx2")
        if "hot_loop" not in told:
            self.skipTest("no machine code to read")
        hot = told["hot_loop"]
        self.assertEqual(hot["elements"], 32)
        self.assertGreater(hot["instructions"], 8)
        lines, = [chapter["lines"] for chapter in told["story"] if chapter["title"] == "code"]
        if hot["cycles"] is None:
            self.assertTrue(lines[-1].startswith("no cycles by LLVM's models: "), lines)
        else:
            # Two loads and a store a vector, of four vectors, and three loads at the most a cycle.
            self.assertGreaterEqual(hot["cycles"], 2)
            self.assertLess(hot["cycles"], hot["instructions"])
            self.assertIn(f"LLVM's model of {hot['modelled_processor']}: ", lines[-1])

    def test_reductions_show_the_loops_compiled_with_weft(self):
        told = self.json_of("explain", "sum(a)", "a=f32[1000]", "--emit=asm,ir", "--target=avx2")
        self.assertTrue(told["ir"].startswith("kernel default inner_reduce 32 {\n"), told["ir"])
        loop, = told["precompiled"]
        self.assertEqual((loop["name"], loop["instruction_set"]), ("Loops::rows of jit/fold/loops.h, add f32", "avx2"))
        self.assertTrue(told["asm"].startswith(f"; {loop['name']}: compiled with weft (avx2), {loop['purpose']}\n"), told["asm"])
        if "llvm" in REQUIRED_BACKENDS:
            self.assertIn("  ret\n", told["asm"])
        else:
            self.assertIn("; its code can't be shown: ", told["asm"])
        lines, = [chapter["lines"] for chapter in told["story"] if chapter["title"] == "tier"]
        self.assertEqual(lines, [f"{loop['name']}: compiled with weft (avx2), {loop['purpose']}"])

    @unittest.skipUnless("xbyak" in REQUIRED_BACKENDS, "needs xbyak")
    def test_reductions_of_expressions_are_one_kernel(self):
        told = self.json_of("explain", "sum(square(a - b))", "a=f32[1000]", "b=f32[1000]", "--emit=asm,ir", "--target=avx2")
        self.assertEqual(told["schedule"], "inner_reduce")
        self.assertEqual(told["ir"], told["ir_passes"][-1]["ir"])
        self.assertIn("  tree lanes 64 block 4096\n", told["ir"])
        self.assertNotIn("jit/fold/loops.h", told["asm"])

    def test_large_expressions_are_computed_in_parts(self):
        names = [f"n{i}" for i in range(100)]
        arguments = ["explain", "+".join(names), *[f"{name}=f32[4,5]" for name in names]]
        passes = self.json_of(*arguments)["passes"]
        self.assertIn("part0, as all is too much for one kernel, of f32[4, 5]: n0 + n1", passes[0])
        self.assertIn("part0", self.succeeds(*arguments))

    def test_flags(self):
        for backend in ["auto", "interp"]:
            told = self.json_of("explain", "a", "a=f32[4]", f"--backend={backend}")
            self.assertTrue(backend == "auto" or told["backend"] == backend)
        for target in ["host", "avx2", "avx512"]:
            self.json_of("explain", "a + 1", "a=f32[4]", f"--target={target}", "--emit=asm")
        for numerics in ["default", "strict", "fast"]:
            self.json_of("explain", "a * b + a", "a=bf16[4]", "b=bf16[4]", f"--numerics={numerics}")
        told = self.json_of("explain", "a", "a=u8[2,3]", "--out", "f32[2,3]{1,2}")
        self.assertEqual(told["result"], {"dtype": "f32", "sizes": [2, 3], "strides": [1, 2]})

    def test_expressions_of_the_contract(self):
        for text, dtype in [("a + b", "f32"), ("where(m, a, 0)", "f32"), ("tanh(a*b + c)", "f32"), ("copy(a)", "f32"),
                            ("cast(a, bf16)", "bf16"), ("a < b", "bool"), ("a * 2j", "c64"), ("-a", "f32"),
                            ("-a ** 2", "f32"), ("~m", "bool"), ("3", "i64")]:
            told = self.json_of("explain", text, "a=f32[2,3]", "b=f32[3]", "c=f32[]", "m=bool[2,1]")
            self.assertEqual(told["result"]["dtype"], dtype, text)

    def test_layouts(self):
        for layout, strides in [("f32[]", []), ("f32[0,3]", [3, 1]), ("f32[2,3]{1,2}@5", [1, 2])]:
            self.assertEqual(self.json_of("explain", "a", f"a={layout}")["result"]["strides"], strides, layout)
        self.assertIn("a    f32[3]{-1}@2\n", self.succeeds("explain", "a", "a=f32[3]{-1}@2"))
        self.assertIn("out  f32[3]{-1}@2, written", self.succeeds("explain", "a", "a=f32[3]", "--out", "f32[3]{-1}@2"))

    def test_deep_and_long_expressions_end_well(self):
        count = 10_000
        for text in ["(" * count + "a" + ")" * count, "+".join("a" * count), "-" * count + "a",
                     "exp(" * count + "a" + ")" * count, "(" * count]:
            done = weft("explain", text, "a=f32[4]", "--json")
            self.assertIn(done.returncode, [0, 1], done.stderr[:300])
            self.assertIsInstance(json.loads(done.stdout), dict)
            self.assertLess(len(done.stderr), 500)


if __name__ == "__main__":
    unittest.main()
