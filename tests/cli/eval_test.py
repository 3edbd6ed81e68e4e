#!/usr/bin/env python3
"""weft eval: values, files that are no arrays, outputs that cannot be written; kernels that a run dumps."""
import json
import math
import os
import pathlib
import subprocess
import unittest

from cli_case import CliTest, WEFT, heed_permissions, npy_bytes, read_npy, weft


def forget_perf_map():
    """Between fork and exec: removes what an earlier process of this number has left."""
    pathlib.Path(f"/tmp/perf-{os.getpid()}.map").unlink(missing_ok=True)


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
                                   env={**os.environ, "WEFT_PERF": "1", **environment}, preexec_fn=forget_perf_map,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        perf_map = pathlib.Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(lambda: perf_map.unlink(missing_ok=True))
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        address, size, name = perf_map.read_text().split()
        self.assertGreater(int(address, 16), 0)
        self.assertGreater(int(size, 16), 50)
        return name

    def kernels_of_softmax(self, rows):
        """The IR of what a softmax of rows of 256 numbers compiles."""
        a, dumps = self.path("a.npy", npy_bytes("f32", (rows, 256), [0.5] * (rows * 256))), self.folder / f"dumps{rows}"
        e = "exp(a - amax(a, dims=[1], keepdim=true))"
        done = weft("eval", f"{e} / sum({e}, dims=[1], keepdim=true)", f"a={a}", "-o", self.path("out.npy"),
                    env={**os.environ, "WEFT_DUMP": f"ir:{dumps}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [path.read_text() for path in sorted(dumps.rglob("*")) if path.is_file()]

    def test_blocks_of_rows_ask_for_the_next_one(self):
        self.need_backend("xbyak")
        small, large = self.kernels_of_softmax(16), self.kernels_of_softmax(16384)
        self.assertTrue(small)
        self.assertFalse([text for text in small if " ahead " in text])
        self.assertTrue([text for text in large if " ahead " in text])

    def test_profilers_learn_of_kernels(self):
        self.need_backend("xbyak")
        self.assertTrue(self.registered_kernel("x * x + 2", "--backend=xbyak").startswith("weft:mul_add.f32.linear."))

    def test_profilers_learn_of_llvm_kernels(self):
        self.need_backend("llvm")
        disk = {"WEFT_CACHE": "on", "WEFT_CACHE_DIR": str(self.folder / "cache")}
        compiled = self.registered_kernel("library_tan(x)", "--backend=llvm", **disk)
        self.assertTrue(compiled.startswith("weft:library_tan.f32.linear."), compiled)
        loaded = self.registered_kernel("library_tan(x)", WEFT_LLVM_MODULE="/nonexistent", **disk)
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

    def test_words_that_begin_with_a_minus(self):
        o = self.path("o.npy", npy_bytes("f32", (2,), [1, 2]))
        for words in [["-o*2", f"o={o}", "-o", "c.npy"], ["-o * 2", f"o={o}", "--output", "-c.npy"], ["-oc.npy", "-o * 2", f"o={o}"]]:
            done = weft("eval", *words, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            written = self.path("-c.npy" if "--output" in words else "c.npy")
            self.assertEqual(read_npy(written)[1], (-2, -4))
            written.unlink()
        self.fails(["eval", "-o + * 2", f"o={o}", "-o", "c.npy"], "argument", "column 6", cwd=self.folder)

    def test_outputs_that_cannot_be_written(self):
        a = self.path("a.npy", npy_bytes("f32", (4,), [1, 2, 3, 4]))
        self.fails(["eval", "a", f"a={a}", "-o", self.folder], "device", str(self.folder))
        self.fails(["eval", "a", f"a={a}", "-o", self.folder / "none" / "o.npy"], "device", "o.npy")
        self.fails(["eval", "a", f"a={a}", "-o", "-"], "argument", "-o - would be the standard output", cwd=self.folder)
        self.assertFalse(self.path("-").exists())
        self.path("c.npy", b"")
        self.path("link.npy").symlink_to("c.npy")
        for other in ["./c.npy", "x/../c.npy", self.folder / "c.npy", "link.npy"]:
            self.fails(["eval", "a, a + 1", f"a={a}", "-o", "c.npy", "-o", other], "argument",
                       "c.npy is given for several results", cwd=self.folder)
        first = self.path("first.npy", b"keep me")
        self.fails(["eval", "a + 5, cast(a, bf16)", f"a={a}", "-o", first, "-o", self.path("second.npy")], "unsupported",
                   "second.npy: the dtype bf16")
        self.assertEqual(first.read_bytes(), b"keep me")
        for other in (self.folder, self.folder / "none" / "o.npy"):
            self.fails(["eval", "a, a + 1", f"a={a}", "-o", first, "-o", other], "device", str(other))
            self.assertEqual(first.read_bytes(), b"keep me")
        self.assertEqual(sorted(self.folder.glob(".*")), [])
        locked = self.path("locked.npy", b"keep me")
        locked.chmod(0o444)
        as_anyone = {"preexec_fn": heed_permissions}
        self.assertEqual(subprocess.run(["test", "-w", locked], **as_anyone).returncode, 1)
        self.fails(["eval", "a", f"a={a}", "-o", locked], "device", "locked.npy", **as_anyone)
        self.assertEqual(locked.read_bytes(), b"keep me")


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


if __name__ == "__main__":
    unittest.main()
