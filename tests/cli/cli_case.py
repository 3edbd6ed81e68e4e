"""What the tests of the `weft` program share: running it, reading its JSON and its errors, .npy files.

Usage of each test program: NAME_test.py PATH_OF_WEFT [unittest arguments]
"""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

WEFT = sys.argv.pop(1)
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
