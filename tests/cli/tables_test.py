#!/usr/bin/env python3
"""weft info and weft ops; weft fuzz, ir and run-ir as programs read them."""
import json
import os
import unittest

from cli_case import CliTest, REQUIRED_BACKENDS, weft


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


class Tools(CliTest):
    def test_fuzz_and_ir_json(self):
        report = self.json_of("fuzz", "--count=20", "--seconds=60", "--seed=3", "--backend=interp")
        self.assertEqual((report["seed"], report["cases"]), (3, 20))
        self.assertEqual(report["backends"]["interp"]["compared"] + report["rejected"], 20)
        replayed = self.json_of("fuzz", "--replay=a + a", "a=f32[5]#0~neg", "--backend=interp")
        self.assertEqual(replayed, {"backend": "interp", "as_expected": True})
        shared = self.json_of("fuzz", "--replay=a * 2", "a=f32[4]{2}@1#1", "--out=a:f32[4]{2}#0")
        # Without --backend it is what fuzzing compares: all that can be used.
        usable = [row["name"] for row in self.json_of("info")["backends"] if not row["reason"]]
        self.assertTrue(shared["as_expected"])
        self.assertEqual(sorted(shared["backends"]), sorted(usable))
        lines = self.succeeds("fuzz", "--replay=a + a", "a=f32[5]#0").splitlines()
        self.assertEqual(sorted(lines), sorted(f"{name}: as expected" for name in usable))
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
        golden = kernel.read_bytes().replace(b"  store", b";---\n  store")
        for words, given in ((["run-ir", self.path("golden.weft", golden)], None), (["run-ir", "-"], golden)):
            cut = weft(*words, input=given and given.decode())
            self.assertEqual(cut.returncode, 1)
            self.assertIn("not the end of the text", cut.stderr)
        for command in ("ir", "run-ir"):
            self.fails([command, str(self.folder)], "device", f"cannot read '{self.folder}'")

    def test_kernels_written_by_hand_agree_or_are_refused(self):
        shifted = self.path("shifted.weft", b"""kernel default linear 64 {
  $0 out f16 [1]
  $1 in u32 [1]
  vector 16 x2
hoisted:
  %0 = constant u32 0x10
body:
  %1 = load u32 $1
  %2 = bitwise_right_shift u32 %1, %0
  %3 = cast f16 %2
  store f16 $0 %3
}
""")
        halves = self.path("halves.weft", b"""kernel default linear 64 {
  $0 out c32 [1]
  $1 in c32 [1]
  vector 16 x2
body:
  %0 = load c32 $1
  %1 = mul c32 %0, %0
  %2 = add c32 %1, %0
  store c32 $0 %2
}
""")
        rounded = self.path("rounded.weft", b"""kernel default scalar 0 {
  $0 out c32 [1]
  $1 in f16 [1]
  $2 in f16 [1]
  parallel
body:
  %0 = load f16 $1
  %1 = load f16 $2
  %2 = mul f16 %0, %1
  %3 = add f16 %2, %1
  %4 = cast c32 %3
  store c32 $0 %4
}
""")
        twice = self.path("twice.weft", b"""kernel default linear 32 {
  $0 out c64 [1]
  $1 in f32 [1]
  $2 in f32 [1]
  vector 4 x2
body:
  %0 = load f32 $1
  %1 = load f32 $2
  %2 = mul f32 %0, %1
  %3 = cast bf16 result %2
  %4 = cast f32 result %3
  %5 = complex f32 %4, %1
  store c64 $0 %5
}
""")
        for backend in filter(None, REQUIRED_BACKENDS):
            for kernel in shifted, halves, rounded, twice:
                result = weft("run-ir", kernel, "--backend", backend)
                self.assertTrue(result.returncode == 0 or "no backend can compile" in result.stderr, result.stderr)


if __name__ == "__main__":
    unittest.main()
