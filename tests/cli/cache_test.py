#!/usr/bin/env python3
"""weft cache."""
import json
import math
import os
import unittest

from cli_case import CliTest, npy_bytes, read_npy, weft


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
        done = weft("eval", "library_tan(a)", f"a={self.input}", "-o", self.path("out.npy"), *args,
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
        self.addCleanup(os.umask, os.umask(0o022))  # what is written here is as private as what weft writes
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
        weft("eval", "library_tan(a) + a", f"a={self.input}", "-o", self.path("out.npy"), "--backend=llvm",
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

    def test_folders_that_are_none_or_not_used(self):
        self.run_tan("--backend=llvm")
        self.cache.chmod(0o777)
        code, told = self.cache_of("verify")
        self.assertEqual(code, 1)
        self.assertIn(f"none of 1 entries is used: {self.cache} is a folder that other users can write to",
                      told["error"]["message"])
        self.cache.chmod(0o700)
        file = self.path("file", b"1")
        bundle = self.path("warm.weft")
        for words in (["stats"], ["verify"], ["clear"], ["export", bundle]):
            code, told = self.cache_of(*words, WEFT_CACHE_DIR=str(file))
            self.assertEqual((code, told["error"]["kind"]), (1, "device"), words)
            self.assertIn("is not a folder", told["error"]["message"])

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


if __name__ == "__main__":
    unittest.main()
