#!/usr/bin/env python3
"""Runs the `weft` program: the contract's JSON keys, values, and one clear line for every mistake.

Usage: cli_test.py PATH_OF_WEFT [unittest arguments]
"""
import ctypes
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

WEFT = ""
# A build that has a backend must be able to use it, as for the tests in C++ (tests/required_backends.h).
REQUIRED_BACKENDS = os.environ.get("WEFT_REQUIRED_BACKENDS", "").split(",")

CODES = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "i32": ("<i4", "i"), "u8": ("|u1", "B"), "bool": ("|b1", "?")}


def weft(*args, **options):
    return subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=300, **options)


def heed_permissions():
    """Root may write everywhere: between fork and exec, gives that up (PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)."""
    if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(24, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def npy_bytes(dtype, sizes, values, fortran=False, descr=None):
    """A version 1.0 file, written from the format's description alone."""
    code, letter = CODES[dtype]
    shape = "(" + "".join(f"{size}, " for size in sizes).rstrip() + ")"
    header = f"{{'descr': '{descr or code}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}{letter}", *values))


def read_npy(path):
    """dtype code, shape and values in the order of the file."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length].decode(), {"__builtins__": {}})  # our own output: a literal
    letter = next(letter for code, letter in CODES.values() if code[1:] == header["descr"][1:])
    body = data[10 + length:]
    values = struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body)
    return header, values


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name, data=None):
        if data is not None:
            (self.folder / name).write_bytes(data)
        return self.folder / name

    def succeeds(self, *args):
        done = weft(*args)
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")
        self.assertEqual(done.stderr, "")
        return done.stdout

    def json_of(self, *args):
        return json.loads(self.succeeds(*args, "--json"))

    def need_backend(self, name):
        """Leaves the test out where the backend can't be used; fails it if the build must be able to."""
        reason = next(row["reason"] for row in self.json_of("info")["backends"] if row["name"] == name)
        if reason:
            self.assertNotIn(name, REQUIRED_BACKENDS, reason)
            self.skipTest(reason)

    def fails(self, args, kind, *fragments, **options):
        """One line on stderr, nothing on stdout; with --json the same as an object."""
        plain = weft(*args, **options)
        self.assertEqual(plain.returncode, 1, f"{args}: {plain}")
        self.assertEqual(plain.stdout, "", args)
        self.assertTrue(plain.stderr.endswith("\n"), args)
        self.assertEqual(plain.stderr.count("\n"), 1, f"{args}: {plain.stderr}")
        told = weft(*args, "--json", **options)
        self.assertEqual(told.returncode, 1, args)
        self.assertEqual(told.stderr, plain.stderr)
        error = json.loads(told.stdout)["error"]
        self.assertEqual(set(error), {"kind", "message"})
        self.assertEqual(error["kind"], kind, f"{args}: {error}")
        for fragment in fragments:
            self.assertIn(fragment, plain.stderr, args)
        return error["message"]


class Tools(CliTest):
    def test_fuzz_and_ir_json(self):
        report = self.json_of("fuzz", "--count=20", "--seconds=60", "--seed=3", "--backend=interp")
        self.assertEqual((report["seed"], report["cases"]), (3, 20))
        self.assertEqual(report["backends"]["interp"]["compared"] + report["rejected"], 20)
        replayed = self.json_of("fuzz", "--replay=a + a", "a=f32[5]#0~neg", "--backend=interp")
        self.assertTrue(replayed["as_expected"])
        shared = self.json_of("fuzz", "--replay=a * 2", "a=f32[4]{2}@1#1", "--out=a:f32[4]{2}#0")
        self.assertTrue(shared["as_expected"])
        resized = self.json_of("fuzz", "--replay=a * 2", "a=f32[4]#1", "--out=resize:f32[2,3]#0")
        self.assertTrue(resized["as_expected"])
        kernel = self.path("kernel.weft", b"""kernel default unscheduled 64 {
  $0 out f32 [1]
  $1 in f32 [1]
  parallel
body:
  %0 = load f32 $1
  %1 = square f32 %0
  store f32 $0 %1
}
""")
        after = self.json_of("ir", kernel, "--pass=expand_composites")
        self.assertEqual(after["passes"], ["expand_composites"])
        self.assertIn("mul f32", after["ir"])
        ran = self.json_of("run-ir", kernel, "--extents=3")
        self.assertEqual((ran["backend"], ran["extents"]), ("interp", [3]))
        self.assertEqual([output["dtype"] for output in ran["outputs"]], ["f32"])
        self.fails(["ir", kernel, "--pass=nothing"], "argument", "nothing")
        self.fails(["fuzz", "--replay=a +", "a=f32[5]#0"], "argument", "expected a value")


class Explain(CliTest):
    def test_cuda(self):
        """Source for devices, without any; PTX where NVRTC is."""
        words = ["explain", "a + b", "a=f32[1000,1000]", "b=f32[1000,1000]", "--backend=nvrtc", "--arch=sm_80"]
        told = self.json_of(*words, "--emit=cuda,ir")
        self.assertEqual((told["backend"], told["schedule"]), ("nvrtc", "linear"))
        self.assertGreater(told["compile_us"], 0)
        self.assertIn("Vector<f32, 4> x1[4];", told["cuda"])
        self.assertIn("weft_kernel", self.succeeds(*words, "--emit=cuda"))
        self.assertIn("256 threads for sm_80", self.succeeds(*words))
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
                  "cost"]
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
        if told.startswith("; no disassembler"):
            self.skipTest(told)
        self.assertRegex(told, r"^; \d+ instructions\n")
        self.assertRegex(told, r"; hot loop \.L\d+ at depth 1: \d+ instructions for 32 elements\n\.L")
        self.assertRegex(told, r"(?m)^> .*vaddps ymm")
        self.assertIn("; %2 = add f32 %0, %1\n", told)

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

    def test_shapes_and_dtypes(self):
        self.fails(["explain", "a + b", "a=f32[2,3]", "b=f32[4]"], "argument", "The size of tensor", "must match")
        self.fails(["explain", "a / b", "a=f32[2]", "b=f32[2]", "--out", "i32[2]"], "argument",
                   "can't be cast to the desired output type")
        self.fails(["explain", "a + b", "a=u64[2]", "b=i64[2]"], "argument", "u64", "i64")
        self.fails(["explain", "a + b", "a=f8e5m2[2]", "b=f32[2]"], "argument", "f8e5m2")
        self.fails(["explain", "a - a", "a=bool[2]"], "argument", "bool")

    def test_layouts(self):
        self.fails(["explain", "a", "a=f31[2]"], "argument", "a: layout, column 1", "f32")
        self.fails(["explain", "a", "a=f32[2"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[2]{1,1}"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[-2]"], "argument", "a: layout, column")
        self.fails(["explain", "a", "a=f32[" + ",".join("1" * 65) + "]"], "argument", "64")
        self.fails(["explain", "a", "a=f32[4611686018427387904,4]"], "argument", "a: layout")
        self.fails(["explain", "a", "a=f32[4]", "--out", "f32[?]"], "argument", "layout, column")
        self.fails(["bench", "a", "a=f32[1000000000000]"], "device", "a: ")

    def test_operands(self):
        self.fails(["explain", "a", "f32[2]"], "argument", "expected NAME=VALUE", "f32[2]")
        self.fails(["explain", "a", "2a=f32[2]"], "argument", "expected NAME=VALUE")
        self.fails(["explain", "a", "a=f32[2]", "a=f32[2]"], "argument", "'a' is given twice")
        many = [f"n{i}=f32[2]" for i in range(100)]
        self.fails(["explain", "+".join(f"n{i}" for i in range(100)), *many], "unsupported", "at most", "tensors")

    def test_flags(self):
        a = "a=f32[2]"
        self.fails(["explain", "a", a, "--emit=iter,irr"], "argument", "irr", "signature", "asm")
        self.fails(["explain", "a", a, "--backend=gcc"], "argument", "gcc", "xbyak")
        self.fails(["explain", "a", a, "--target=sse"], "argument", "sse", "avx2")
        self.fails(["explain", "a", a, "--arch=90", "--backend=nvrtc"], "argument", "90", "sm_80", "sm_90", "sm_100")
        self.fails(["explain", "a", a, "--arch=sm_90"], "argument", "arch sm_90", "backend nvrtc", "auto")
        self.fails(["explain", "sum(a)", a, "--backend=nvrtc"], "unsupported", "reductions")
        self.fails(["explain", "sqrt(a)", "a=c64[2]", "--backend=nvrtc"], "unsupported", "real_of_sqrt")
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


class Dumps(CliTest):
    def run_with(self, dump):
        a = self.path("a.npy", npy_bytes("f32", (4,), [1, 2, 3, 4]))
        return weft("eval", "a + a * 2", f"a={a}", "-o", os.path.join(self.folder, "out.npy"),
                    env={**os.environ, "WEFT_DUMP": dump})

    def test_each_kernel_is_written_under_its_signature(self):
        folder = os.path.join(self.folder, "dumps", "deep")
        for _ in range(2):
            done = self.run_with(f"signature,ir,asm:{folder}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = sorted(os.listdir(folder))
        told = self.json_of("explain", "a + a * 2", "a=f32[4]", "--emit=ir")
        expected = [f"{told['signature_hash']}.{end}" for end in ["ir", "signature"] + (["xbyak.asm"] if told["backend"] == "xbyak" else [])]
        self.assertEqual(names, expected)
        with open(os.path.join(folder, expected[0]), encoding="utf-8") as file:
            self.assertEqual(file.read(), told["ir"])

    def test_faults_are_told_once_and_stop_nothing(self):
        for dump, message in [("ir:/dev/null/nowhere", "cannot write"), ("ir", "expected STAGES:FOLDER"),
                              ("ir:", "expected STAGES:FOLDER"), (f"objects:{self.folder}", "unknown stage 'objects'")]:
            done = self.run_with(dump)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(message, done.stderr)
        self.assertEqual(self.run_with("").stderr, "")


class Eval(CliTest):
    def test_values_of_c_and_fortran_order(self):
        values = [0.5, -1.0, 2.0, 3.5, 0.25, -8.0]
        a = self.path("a.npy", npy_bytes("f32", (2, 3), values))
        # The same matrix with its columns stored one after the other.
        columns = [values[row * 3 + column] for column in range(3) for row in range(2)]
        b = self.path("b.npy", npy_bytes("f32", (2, 3), columns, fortran=True))
        m = self.path("m.npy", npy_bytes("bool", (3,), [True, False, True]))
        out = self.path("out.npy")
        for backend in ["auto", "interp"]:
            self.succeeds("eval", "where(m, a * b + 1, -a)", f"a={a}", f"b={b}", f"m={m}", "-o", out,
                          f"--backend={backend}")
            header, result = read_npy(out)
            self.assertEqual((header["descr"], header["shape"]), ("<f4", (2, 3)))
            expected = [x * x + 1 if i % 3 != 1 else -x for i, x in enumerate(values)]
            if header["fortran_order"]:
                expected = [expected[row * 3 + column] for column in range(3) for row in range(2)]
            self.assertEqual(list(result), expected)

    def registered_kernel(self, expression, *args, **environment):
        """The name of the one kernel of a run that profilers are told of."""
        x, out = self.path("x.npy", npy_bytes("f32", (64,), [1.0] * 64)), self.path("out.npy")
        process = subprocess.Popen([WEFT, "eval", expression, f"x={x}", "-o", out, *args],
                                   env={**os.environ, "WEFT_PERF": "1", **environment},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        perf_map = pathlib.Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(lambda: perf_map.unlink(missing_ok=True))
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        address, size, name = perf_map.read_text().split()
        self.assertGreater(int(address, 16), 0)
        self.assertGreater(int(size, 16), 50)
        return name

    def test_profilers_learn_of_kernels(self):
        self.need_backend("xbyak")
        self.assertTrue(self.registered_kernel("x * x + 2", "--backend=xbyak").startswith("weft:mul_add.f32.linear."))

    def test_profilers_learn_of_llvm_kernels(self):
        self.need_backend("llvm")
        disk = {"WEFT_CACHE": "on", "WEFT_CACHE_DIR": str(self.folder / "cache")}
        compiled = self.registered_kernel("tan(x)", "--backend=llvm", **disk)
        self.assertTrue(compiled.startswith("weft:tan.f32.linear."), compiled)
        loaded = self.registered_kernel("tan(x)", WEFT_LLVM_MODULE="/nonexistent", **disk)
        self.assertEqual(loaded, compiled)

    def test_every_small_shape(self):
        for sizes in [(), (0,), (1,), (7,), (2, 0, 3), (2, 1, 3)]:
            count = math.prod(sizes)
            a = self.path("a.npy", npy_bytes("i32", sizes, list(range(count))))
            self.succeeds("eval", "a * 2 - 1", f"a={a}", "-o", self.path("o.npy"))
            header, result = read_npy(self.path("o.npy"))
            self.assertEqual(header["shape"], sizes)
            self.assertEqual(list(result), [2 * i - 1 for i in range(count)])

    def test_numbers_keep_their_precision(self):
        a = self.path("a.npy", npy_bytes("f64", (1,), [3.0]))
        self.succeeds("eval", "a * (1/3) + -0.1", f"a={a}", "-o", self.path("o.npy"))
        self.assertEqual(read_npy(self.path("o.npy"))[1], (3.0 * (1 / 3) + -0.1,))

    def test_repeat_prints_a_time(self):
        a = self.path("a.npy", npy_bytes("f32", (4,), [1, 2, 3, 4]))
        args = ["eval", "-a", f"a={a}", "-o", self.path("o.npy"), "--repeat=5"]
        self.assertIn("ns per call", self.succeeds(*args))
        told = self.json_of(*args)
        self.assertGreater(told["ns"], 0)
        self.assertEqual(told["result"], {"dtype": "f32", "sizes": [4], "strides": [1]})
        self.assertEqual(read_npy(self.path("o.npy"))[1], (-1, -2, -3, -4))

    def test_the_output_may_be_an_input(self):
        a = self.path("a.npy", npy_bytes("u8", (3,), [1, 2, 255]))
        self.succeeds("eval", "a + 1", f"a={a}", "-o", a)
        self.assertEqual(read_npy(a)[1], (2, 3, 0))

    def test_bad_files(self):
        good = npy_bytes("f32", (4,), [1, 2, 3, 4])
        before = b"what was there before"
        out = self.path("out.npy", before)

        def refused(name, data, kind, *fragments):
            path = self.path(name, data)
            self.fails(["eval", "a + a", f"a={path}", "-o", out], kind, "a: ", *fragments)
            self.assertEqual(out.read_bytes(), before)

        missing = weft("eval", "a", f"a={self.folder}/missing.npy", "-o", out, "--json")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("missing.npy", missing.stderr)
        self.assertIn(json.loads(missing.stdout)["error"]["kind"], ["argument", "device"])
        refused("short.npy", good[:-1], "argument", "short.npy")
        refused("header.npy", good[:20], "argument", "header.npy")
        refused("empty.npy", b"", "argument", "empty.npy")
        refused("text.npy", b"hello, world; this is no array at all", "argument", "text.npy")
        refused("big.npy", npy_bytes("f32", (4,), [0] * 4, descr=">f4"), "unsupported", "big.npy", "endian")
        refused("huge.npy", npy_bytes("f32", (1 << 62, 4), []), "argument", "huge.npy")
        self.assertEqual(out.read_bytes(), before)

    def test_errors_leave_the_output_file_alone(self):
        before = b"what was there before"
        out = self.path("out.npy", before)
        a = self.path("a.npy", npy_bytes("i32", (4,), [1, 2, 3, 4]))
        b = self.path("b.npy", npy_bytes("i32", (3,), [0, 1, 2]))
        self.fails(["eval", "a + b", f"a={a}", f"b={b}", "-o", out], "argument", "must match")
        self.fails(["eval", "b // b", f"b={b}", "-o", out], "arithmetic", "division by zero")
        self.fails(["eval", "a +", f"a={a}", "-o", out], "argument", "column 4")
        nowhere = {**os.environ, "WEFT_CUDA_DRIVER": "/nonexistent/libcuda.so"}
        self.fails(["eval", "a", f"a={a}", "-o", out, "--backend=nvrtc"], "unsupported", "the CUDA driver is not found", env=nowhere)
        self.assertEqual(out.read_bytes(), before)

    def test_outputs_that_cannot_be_written(self):
        a = self.path("a.npy", npy_bytes("f32", (4,), [1, 2, 3, 4]))
        self.fails(["eval", "a", f"a={a}", "-o", self.folder], "device", str(self.folder))
        self.fails(["eval", "a", f"a={a}", "-o", self.folder / "none" / "o.npy"], "device", "o.npy")
        locked = self.path("locked.npy", b"keep me")
        locked.chmod(0o444)
        as_anyone = {"preexec_fn": heed_permissions}
        self.assertEqual(subprocess.run(["test", "-w", locked], **as_anyone).returncode, 1)
        self.fails(["eval", "a", f"a={a}", "-o", locked], "device", "locked.npy", **as_anyone)
        self.assertEqual(locked.read_bytes(), b"keep me")


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
        for variant in ["xbyak", "llvm", "nvrtc"]:
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
        printed = self.succeeds("bench", "-a", "a=f32[1000]")
        self.assertIn("of memcpy", printed)


class Cache(CliTest):
    """The kernel cache on disk, as processes see it."""

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.env = {**os.environ, "WEFT_CACHE": "on", "WEFT_CACHE_DIR": str(self.cache)}
        self.need_backend("llvm")
        self.input = self.path("a.npy", npy_bytes("f32", [3], [0.0, 1.0, 2.0]))
        self.expected = [0.0, math.tan(1), math.tan(2)]

    def cache_of(self, *args, **more):
        done = weft("cache", *args, "--json", env={**self.env, **more})
        return done.returncode, json.loads(done.stdout)

    def run_tan(self, *args, **more):
        """Computes tan, and returns what was logged, kernels that were looked up in memory left out."""
        done = weft("eval", "tan(a)", f"a={self.input}", "-o", self.path("out.npy"), *args,
                    env={**self.env, "WEFT_LOG": "cache,compile", **more})
        self.assertEqual(done.returncode, 0, done.stderr)
        for actual, expected in zip(read_npy(self.path("out.npy"))[1], self.expected, strict=True):
            self.assertAlmostEqual(actual, expected, 5)
        lines = done.stderr.splitlines(keepends=True)
        looked_up = [line for line in lines if line.startswith("weft cache: miss: ")]
        self.assertEqual(len(looked_up), 1, done.stderr)
        return "".join(line for line in lines if line not in looked_up)

    def entries(self):
        return sorted(self.cache.glob("w-*.weft"))

    def test_a_second_process_needs_no_llvm(self):
        self.assertEqual(self.cache_of("stats"), (0, {"folder": str(self.cache), "mode": "on", "entries": 0,
                                                      "bytes": 0, "max_bytes": 256 << 20, "unfinished": 0}))
        self.run_tan("--backend=llvm")
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(self.cache_of("verify"), (0, {"entries": 1, "damaged": 0}))
        # Where there is no LLVM at all, its code still comes from the disk.
        self.assertIn("weft compile: llvm", self.run_tan(WEFT_LLVM_MODULE="/nonexistent"))
        self.assertNotIn("weft compile: llvm", self.run_tan(WEFT_LLVM_MODULE="/nonexistent", WEFT_CACHE="off"))

    def test_damaged_entries_are_made_anew(self):
        self.run_tan("--backend=llvm")
        entry, = self.entries()
        whole = entry.read_bytes()
        aside = self.path("aside", whole)
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 4
        older = bytearray(whole)
        older[8] = 0

        def link():
            entry.symlink_to(aside)

        damages = {"length": lambda: entry.write_bytes(whole[:-1]), "header": lambda: entry.write_bytes(b""),
                   "checksum": lambda: entry.write_bytes(flipped), "another version": lambda: entry.write_bytes(older),
                   "symbolic link": link, "no file": entry.mkdir,
                   "another user": lambda: (entry.write_bytes(whole), entry.chmod(0o666))}
        for fault, damage in damages.items():
            with self.subTest(fault):
                entry.unlink()
                damage()
                plain = weft("cache", "verify", env=self.env)
                self.assertEqual(plain.returncode, 1)
                self.assertIn(fault, plain.stderr)
                told = self.run_tan("--backend=llvm")
                self.assertEqual(told.count("weft cache: "), 1, told)
                self.assertIn(fault, told)
                self.assertEqual(entry.read_bytes(), whole)
                self.assertFalse(entry.is_symlink())
                self.assertEqual(self.cache_of("verify")[0], 0)

    def test_check_compares_with_what_is_made_now(self):
        self.run_tan("--backend=llvm")
        self.assertNotIn("weft cache: ", self.run_tan("--backend=llvm", WEFT_CACHE="check"))
        # A sound entry in the place of another one.
        other = self.cache / "other"
        weft("eval", "tan(a) + a", f"a={self.input}", "-o", self.path("out.npy"), "--backend=llvm",
             env={**self.env, "WEFT_CACHE_DIR": str(other)})
        self.entries()[0].write_bytes(next(other.glob("w-*.weft")).read_bytes())
        self.assertIn("belongs to another key", self.run_tan("--backend=llvm"))

    def test_read_only(self):
        self.run_tan("--backend=llvm", WEFT_CACHE="read")
        self.assertFalse(self.cache.exists())
        self.run_tan("--backend=llvm")
        self.assertIn("weft compile: llvm", self.run_tan(WEFT_CACHE="read", WEFT_LLVM_MODULE="/nonexistent"))
        bundle = self.path("warm.weft")
        for mode in ("read", "off"):
            self.assertEqual(self.cache_of("export", bundle, WEFT_CACHE=mode), (0, {"exported": 1}))
            for action in (["clear"], ["import", bundle]):
                code, told = self.cache_of(*action, WEFT_CACHE=mode)
                self.assertEqual((code, told["error"]["kind"]), (1, "unsupported"))
                self.assertIn(f"its mode is '{mode}'", told["error"]["message"])
        self.assertEqual(len(self.entries()), 1)

    def test_no_folder(self):
        without = {key: value for key, value in self.env.items()
                   if key not in ("HOME", "XDG_CACHE_HOME", "WEFT_CACHE_DIR")}
        self.env = without
        self.run_tan("--backend=llvm")
        done = weft("cache", "stats", env=without)
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither WEFT_CACHE_DIR nor HOME", done.stderr)
        self.env = {**without, "HOME": "/proc/nowhere"}
        self.assertIn("can't be written", self.run_tan("--backend=llvm"))

    def test_bundles(self):
        self.run_tan("--backend=llvm")
        bundle = self.path("warm.weft")
        self.assertEqual(self.cache_of("export", bundle), (0, {"exported": 1}))
        self.assertEqual(self.cache_of("clear"), (0, {"removed": 1}))
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.cache_of("import", bundle), (0, {"imported": 1}))
        self.assertIn("weft compile: llvm", self.run_tan(WEFT_LLVM_MODULE="/nonexistent"))
        bundle.write_bytes(bundle.read_bytes()[:-1])
        code, told = self.cache_of("import", bundle)
        self.assertEqual(code, 1)
        self.assertIn("damaged bundle", told["error"]["message"])
        self.fails(["cache", "import"], "argument", "takes the name of a file")
        self.fails(["cache", "clear", "all"], "argument", "takes no file")


class Tables(CliTest):
    def test_info(self):
        told = self.json_of("info")
        self.assertEqual([row["name"] for row in told["backends"]], ["interp", "xbyak", "llvm", "nvrtc"])
        for row in told["backends"]:
            self.assertEqual(row["available"], row["reason"] == "")
        self.assertTrue(told["backends"][0]["available"])
        self.assertEqual(list(told["cuda"]), ["nvrtc", "driver"])
        for library in told["cuda"].values():
            self.assertEqual(library["path"] == "", library["reason"] != "")
            self.assertEqual(library["version"] == "", library["reason"] != "")
        elsewhere = {"WEFT_NVRTC": "/nonexistent/libnvrtc.so", "WEFT_CUDA_DRIVER": "/nonexistent/libcuda.so"}
        lacking = json.loads(weft("info", "--json", env={**os.environ, **elsewhere}).stdout)["cuda"]
        self.assertIn("/nonexistent/libnvrtc.so", lacking["nvrtc"]["reason"])
        self.assertIn("CUDA toolkit", lacking["nvrtc"]["reason"])
        self.assertIn("/nonexistent/libcuda.so", lacking["driver"]["reason"])
        self.assertGreaterEqual(told["threads"], 1)
        self.assertIn(told["version"], self.succeeds("--version"))
        there = json.loads(weft("info", "--json", env={**os.environ, "XDG_CACHE_HOME": "/there"}).stdout)
        self.assertEqual(there["cache_folder"], "/there/weft")
        without = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        home = json.loads(weft("info", "--json", env={**without, "HOME": "/me"}).stdout)
        self.assertEqual(home["cache_folder"], "/me/.cache/weft")
        self.assertIn("cache folder", self.succeeds("info"))

    def test_ops(self):
        rows = {row["name"]: row for row in self.json_of("ops")["ops"]}
        self.assertEqual(rows["where"]["arity"], 3)
        self.assertEqual(rows["sqrt"]["form"], "primitive")
        self.assertEqual(rows["exp"]["form"], "composite")
        self.assertEqual(rows["sigmoid"]["form"], "composite")
        printed = self.succeeds("ops")
        for name in rows:
            self.assertIn(name, printed)

    def test_registry(self):
        printed = self.succeeds("ops", "--registry")
        self.assertIn("weft::add(Tensor x, Tensor y) -> Tensor\n", printed)
        self.assertIn("weft::copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)\n", printed)

    def test_matrix(self):
        rows = self.json_of("ops", "--matrix")["ops"]
        for row in rows:
            self.assertIn(row["backends"]["interp"], ["native", "composite"], row["name"])

    def test_help(self):
        for args in [["--help"], ["explain", "--help"], ["eval", "-h"], ["bench", "--help"]]:
            self.assertIn("--help", self.succeeds(*args))


if __name__ == "__main__":
    WEFT = sys.argv.pop(1)
    unittest.main()
