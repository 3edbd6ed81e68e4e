#!/usr/bin/env python3
"""Exchanges .npy and .npz files with NumPy, both ways, by ctypes on libweft.so.

usage: npz_test.py LIBWEFT     exit code 77: NumPy is not there
"""
import ctypes
import importlib.util
import os
import struct
import sys
import tempfile
import unittest
import zipfile

SKIPPED = 77
if importlib.util.find_spec("numpy") is None:
    print("SKIPPED: NumPy is not there", file=sys.stderr)
    sys.exit(SKIPPED)
import numpy as np

weft = ctypes.CDLL(sys.argv[1])
weft.weft_last_error_message.restype = ctypes.c_char_p
# weft_dtype by NumPy's name
CODES = {"bool": 0, "uint8": 1, "uint16": 2, "uint32": 3, "uint64": 4, "int8": 5, "int16": 6, "int32": 7, "int64": 8,
         "float16": 9, "float32": 13, "float64": 14, "complex64": 16, "complex128": 17}


class Named(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.c_void_p)]


def check(status):
    if status != 0:
        raise RuntimeError(weft.weft_last_error_message().decode())


def read(path, name=None):
    """(dtype, sizes, strides in elements, bytes of the whole memory) of an array that weft reads."""
    handle = ctypes.c_void_p()
    if name is None:
        check(weft.weft_npy_read(path.encode(), ctypes.byref(handle)))
    else:
        check(weft.weft_npz_read(path.encode(), name.encode(), ctypes.byref(handle)))
    for function in ("weft_tensor_data", "weft_tensor_sizes", "weft_tensor_strides"):
        getattr(weft, function).restype = ctypes.c_void_p
    ndim = weft.weft_tensor_ndim(handle)
    dims = [list((ctypes.c_int64 * ndim).from_address(getattr(weft, f"weft_tensor_{what}")(handle)))
            for what in ("sizes", "strides")]
    dtype = next(name for name, code in CODES.items() if code == weft.weft_tensor_dtype(handle))
    count = int(np.prod(dims[0])) * np.dtype(dtype).itemsize
    data = ctypes.string_at(weft.weft_tensor_data(handle), count) if count else b""
    weft.weft_tensor_destroy(handle)
    return dtype, dims[0], dims[1], data


def lend(array):
    handle = ctypes.c_void_p()
    sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    check(weft.weft_tensor_from_blob(ctypes.c_void_p(array.ctypes.data), CODES[array.dtype.name], array.ndim, sizes,
                                     strides, None, None, ctypes.byref(handle)))
    return handle


class Exchange(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "x.npz")
        values = np.arange(24).reshape(2, 3, 4)
        self.arrays = {name: (values % 2 if name == "bool" else values).astype(name) for name in CODES}
        self.arrays |= {"fortran": np.asfortranarray(values), "scalar": np.array(7.0), "empty": np.zeros((0, 3), "f4"),
                        "strided": values[::-1, :, ::2], "larger": np.arange(200000), "Größe": np.ones(3, "f4")}

    def assert_read(self, name, array):
        dtype, sizes, strides, data = read(self.path, name)
        self.assertEqual((dtype, sizes), (array.dtype.name, list(array.shape)), name)
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        self.assertEqual(data, array.tobytes(order), name)
        if name == "fortran":
            self.assertEqual(strides, [1, 2, 6])

    def test_numpy_to_weft(self):
        for save in (np.savez, np.savez_compressed):
            save(self.path, **self.arrays)
            for name, array in self.arrays.items():
                self.assert_read(name, array)

    def test_weft_to_numpy(self):
        for is_compressed in (0, 1):
            handles = {name: lend(array) for name, array in self.arrays.items()}
            names = (Named * len(handles))(*(Named(name.encode(), handle.value) for name, handle in handles.items()))
            check(weft.weft_npz_write(self.path.encode(), ctypes.c_size_t(len(names)), names, is_compressed))
            for handle in handles.values():
                weft.weft_tensor_destroy(handle)
            with zipfile.ZipFile(self.path) as archive:
                self.assertIsNone(archive.testzip())
            with np.load(self.path) as loaded:
                self.assertEqual(list(loaded), list(self.arrays))
                for name, array in self.arrays.items():
                    self.assertEqual(loaded[name].dtype, array.dtype)
                    self.assertEqual(loaded[name].flags.f_contiguous and not loaded[name].flags.c_contiguous,
                                     name == "fortran")
                    np.testing.assert_array_equal(loaded[name], array)

    def test_npy(self):
        array = self.arrays["strided"]
        path = self.path.replace("npz", "npy")
        handle = lend(array)
        check(weft.weft_npy_write(path.encode(), handle))
        weft.weft_tensor_destroy(handle)
        np.testing.assert_array_equal(np.load(path), array)
        np.save(path, self.arrays["float16"])
        self.assertEqual(read(path)[3], self.arrays["float16"].tobytes())

    def test_number_of_members_at_the_edge_of_16_bits(self):
        for count in (65535, 65536):
            with zipfile.ZipFile(self.path, "w") as archive:
                with archive.open("last.npy", "w") as member:
                    np.save(member, np.arange(3))
                for i in range(count - 1):
                    archive.writestr(str(i), b"")
            self.assertEqual(read(self.path, "last")[3], np.arange(3).tobytes(), count)

    def test_members_that_share_their_bytes(self):
        np.savez(self.path, a=np.zeros(1 << 12))
        with open(self.path, "rb") as file:
            archive = file.read()
        first, end = archive.index(b"PK\1\2"), archive.index(b"PK\5\6")
        entry = archive[first:end]
        entries = b"".join(entry.replace(b"a.npy", b"%c.npy" % name) for name in b"abcdefgh")
        tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 8, 8, len(entries), first, 0)
        with open(self.path, "wb") as file:
            file.write(archive[:first] + entries + tail)
        with self.assertRaisesRegex(RuntimeError, "members lie over each other"):
            read(self.path, "b")

    def test_errors(self):
        np.savez(self.path, a=np.ones(3))
        with self.assertRaisesRegex(RuntimeError, "no array 'b' in the archive; it has a"):
            read(self.path, "b")
        with open(self.path, "r+b") as file:
            file.truncate(100)
        with self.assertRaisesRegex(RuntimeError, "not an .npz archive"):
            read(self.path, "a")
        self.assertEqual(weft.weft_npz_write(None, ctypes.c_size_t(0), None, 0), 1)
        self.assertEqual(weft.weft_npy_read(None, None), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
