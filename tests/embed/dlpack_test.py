#!/usr/bin/env python3
"""Exchanges tensors with NumPy and PyTorch through DLPack capsules, both ways, by ctypes on libweft.so.

usage: dlpack_test.py LIBWEFT     exit code 77: NumPy or PyTorch is not there, and what needs it was left out
"""
import ctypes
import gc
import importlib.util
import sys
import unittest

SKIPPED = 77
has_numpy = importlib.util.find_spec("numpy") is not None
has_torch = importlib.util.find_spec("torch") is not None
if has_numpy:
    import numpy as np
if has_torch:
    import torch
    import torch.utils.dlpack

weft = ctypes.CDLL(sys.argv[1])
for function in ("weft_last_error_message", "weft_dtype_name"):
    getattr(weft, function).restype = ctypes.c_char_p
for function in ("weft_tensor_data", "weft_tensor_sizes", "weft_tensor_strides"):
    getattr(weft, function).restype = ctypes.c_void_p
weft.weft_tensor_from_blob.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32] + 5 * [ctypes.c_void_p]

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, Destructor]
Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
CPU = 1

# Names in the order of the capsule's life, and where the struct keeps its deleter.
KINDS = {False: (b"dltensor", b"used_dltensor", 56), True: (b"dltensor_versioned", b"used_dltensor_versioned", 16)}


class WeftError(Exception):
    pass


def check(status):
    if status != 0:
        raise WeftError(weft.weft_last_error_message().decode())


def call_deleter(managed, offset):
    deleter = ctypes.c_void_p.from_address(managed + offset).value
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)


@Destructor
def delete_unused(capsule):
    """What nobody took out of its capsule is deleted with it."""
    for name, _, offset in KINDS.values():
        if python.PyCapsule_IsValid(capsule, name):
            call_deleter(python.PyCapsule_GetPointer(capsule, name), offset)


class Tensor:
    """A weft_tensor*, with what Python's protocol of DLPack asks for."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        weft.weft_tensor_destroy(self.handle)

    @classmethod
    def from_dlpack(cls, capsule):
        is_versioned = bool(python.PyCapsule_IsValid(id(capsule), KINDS[True][0]))
        name, used_name, _ = KINDS[is_versioned]
        managed = ctypes.c_void_p(python.PyCapsule_GetPointer(id(capsule), name))
        handle = ctypes.c_void_p()
        suffix = "_versioned" if is_versioned else ""
        check(getattr(weft, "weft_tensor_from_dlpack" + suffix)(managed, ctypes.byref(handle)))
        python.PyCapsule_SetName(capsule, used_name)  # from now on it is weft that deletes it
        return cls(handle)

    def __dlpack__(self, stream=None, max_version=None, **_):
        is_versioned = max_version is not None and max_version[0] >= 1
        managed = ctypes.c_void_p()
        suffix = "_versioned" if is_versioned else ""
        check(getattr(weft, "weft_tensor_to_dlpack" + suffix)(self.handle, ctypes.byref(managed)))
        return python.PyCapsule_New(managed.value, KINDS[is_versioned][0], delete_unused)

    def __dlpack_device__(self):
        return (CPU, 0)

    def dims(self, function):
        ndim = weft.weft_tensor_ndim(self.handle)
        address = getattr(weft, function)(self.handle)
        return list((ctypes.c_int64 * ndim).from_address(address))

    @property
    def sizes(self):
        return self.dims("weft_tensor_sizes")

    @property
    def strides(self):
        return self.dims("weft_tensor_strides")

    @property
    def data(self):
        return weft.weft_tensor_data(self.handle)

    @property
    def dtype(self):
        return weft.weft_dtype_name(weft.weft_tensor_dtype(self.handle)).decode()


class Engine:
    def __init__(self):
        self.handle = ctypes.c_void_p()
        check(weft.weft_engine_create(None, ctypes.byref(self.handle)))

    def __del__(self):
        weft.weft_engine_destroy(self.handle)

    def binary(self, op, a, b):
        out = ctypes.c_void_p()
        check(weft.weft_binary(self.handle, op.encode(), a.handle, b.handle, ctypes.byref(out)))
        return Tensor(out)

    def copy(self, destination, source):
        check(weft.weft_copy(self.handle, destination.handle, source.handle))


def borrowed(values, released):
    """A tensor on the memory of a ctypes array; `released` gets a line when that is let go."""
    release = Release(lambda data, context: released.append(data))
    released_by.append(release)  # C holds its address only
    sizes = (ctypes.c_int64 * 1)(len(values))
    handle = ctypes.c_void_p()
    check(weft.weft_tensor_from_blob(ctypes.addressof(values), 13, 1, sizes, None, release, None, ctypes.byref(handle)))
    return Tensor(handle)


released_by = []


@unittest.skipUnless(has_numpy, "NumPy is missing")
class WithNumpy(unittest.TestCase):
    DTYPES = {"i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64",
              "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}

    def test_dtypes_go_both_ways(self):
        for descr, name in self.DTYPES.items():
            array = np.arange(6).astype(descr).reshape(2, 3)
            tensor = Tensor.from_dlpack(array.__dlpack__())
            self.assertEqual(tensor.dtype, name)
            self.assertEqual(tensor.data, array.ctypes.data)
            back = np.from_dlpack(tensor)
            self.assertEqual(back.dtype, array.dtype)
            self.assertEqual(back.ctypes.data, array.ctypes.data)
            np.testing.assert_array_equal(back, array)

    def test_strides_and_offsets(self):
        whole = np.arange(60, dtype="f4").reshape(3, 4, 5)
        for view in (whole.T, whole[1:, ::2, 3], whole[::-1, :, ::-2], np.broadcast_to(whole[0], (7, 4, 5)).copy()[2:],
                     whole[0, 0, :1].reshape(()), whole[:, 4:]):
            tensor = Tensor.from_dlpack(view.__dlpack__())
            self.assertEqual(tensor.sizes, list(view.shape))
            if view.size > 0:
                self.assertEqual(tensor.data, view.ctypes.data)
                self.assertEqual([s * 4 for s, n in zip(tensor.strides, tensor.sizes) if n > 1],
                                 [s for s, n in zip(view.strides, view.shape) if n > 1])
            np.testing.assert_array_equal(np.from_dlpack(tensor), view)

    def test_results_and_writes_are_shared(self):
        engine = Engine()
        a, b = np.arange(12, dtype="f4").reshape(3, 4), np.ones((4,), "f4")
        total = engine.binary("add", Tensor.from_dlpack(a.__dlpack__()), Tensor.from_dlpack(b.__dlpack__()))
        np.testing.assert_array_equal(np.from_dlpack(total), a + b)
        target = np.zeros((4, 3), "i4")
        engine.copy(Tensor.from_dlpack(target.T.__dlpack__()), total)
        np.testing.assert_array_equal(target, (a + b).T)

    def test_deletes_once(self):
        array = np.zeros(3, "f4")
        references = sys.getrefcount(array)
        tensor = Tensor.from_dlpack(array.__dlpack__())
        self.assertEqual(sys.getrefcount(array), references + 1)
        del tensor
        self.assertEqual(sys.getrefcount(array), references)

    def test_a_refused_capsule_stays_numpys(self):
        array = np.zeros(4, "f4").view("u1")[1:13].view("f4")  # not aligned
        references = sys.getrefcount(array)
        capsule = array.__dlpack__()
        with self.assertRaisesRegex(WeftError, "multiple of 4 bytes"):
            Tensor.from_dlpack(capsule)
        del capsule
        self.assertEqual(sys.getrefcount(array), references)

    def test_lent_memory_lives_as_long_as_the_array(self):
        values, released = (ctypes.c_float * 3)(1, 2, 3), []
        tensor = borrowed(values, released)
        array = np.from_dlpack(tensor)
        del tensor
        self.assertEqual(released, [])
        np.testing.assert_array_equal(array, [1, 2, 3])
        del array
        gc.collect()
        self.assertEqual(released, [ctypes.addressof(values)])

    def test_a_capsule_that_nobody_takes_deletes_itself(self):
        values, released = (ctypes.c_float * 3)(1, 2, 3), []
        for version in (None, (1, 1)):
            tensor = borrowed(values, released)
            capsule = tensor.__dlpack__(max_version=version)
            del tensor
            self.assertEqual(len(released), 0)
            del capsule
            self.assertEqual(len(released), 1)
            released.clear()

    def test_versioned_capsules(self):
        array = np.arange(3, dtype="f4")
        tensor = Tensor.from_dlpack(array.__dlpack__())
        again = Tensor.from_dlpack(tensor.__dlpack__(max_version=(1, 1)))
        self.assertEqual(again.data, array.ctypes.data)
        try:
            capsule = array.__dlpack__(max_version=(1, 1))
        except TypeError:
            return  # a NumPy before 2.1 makes none
        self.assertEqual(Tensor.from_dlpack(capsule).data, array.ctypes.data)
        array.flags.writeable = False
        locked = Tensor.from_dlpack(array.__dlpack__(max_version=(1, 1)))
        self.assertEqual(weft.weft_tensor_is_read_only(locked.handle), 1)
        with self.assertRaisesRegex(WeftError, "reading only"):
            Engine().copy(locked, tensor)


@unittest.skipUnless(has_torch, "PyTorch is missing")
class WithTorch(unittest.TestCase):
    def test_dtypes_go_both_ways(self):
        for name, dtype in {"u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
                            "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
                            "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128}.items():
            source = torch.arange(6).to(dtype).view(2, 3)
            tensor = Tensor.from_dlpack(torch.utils.dlpack.to_dlpack(source))
            self.assertEqual(tensor.dtype, name)
            self.assertEqual(tensor.data, source.data_ptr())
            back = torch.utils.dlpack.from_dlpack(tensor.__dlpack__())
            self.assertEqual(back.dtype, dtype)
            self.assertEqual(back.data_ptr(), source.data_ptr())
            self.assertTrue(torch.equal(back, source))

    def test_strides_and_offsets(self):
        whole = torch.arange(60, dtype=torch.float32).view(3, 4, 5)
        for view in (whole.permute(2, 0, 1), whole[1:, ::2, 3], whole[0, 0, 0], whole[:, 4:],
                     whole[:, :1].expand(3, 6, 5)):
            tensor = Tensor.from_dlpack(torch.utils.dlpack.to_dlpack(view))
            self.assertEqual(tensor.sizes, list(view.shape))
            back = torch.utils.dlpack.from_dlpack(tensor.__dlpack__())
            self.assertEqual(back.shape, view.shape)
            self.assertTrue(torch.equal(back, view))
            if view.numel() > 0:
                self.assertEqual(back.data_ptr(), view.data_ptr())
                self.assertEqual([s for s, n in zip(back.stride(), back.shape) if n > 1],
                                 [s for s, n in zip(view.stride(), view.shape) if n > 1])

    def test_results_agree(self):
        engine = Engine()
        a = torch.randn(4, 3, 8, 8).to(memory_format=torch.channels_last)
        b = torch.randn(3, 1, 1)
        product = engine.binary("mul", *(Tensor.from_dlpack(torch.utils.dlpack.to_dlpack(x)) for x in (a, b)))
        back = torch.utils.dlpack.from_dlpack(product.__dlpack__())
        self.assertTrue(torch.equal(back, a * b))
        self.assertEqual(back.stride(), (a * b).stride())

    @unittest.skipUnless(has_numpy, "NumPy is missing")
    def test_deletes_once(self):
        array = np.zeros(3, "f4")
        references = sys.getrefcount(array)
        source = torch.from_numpy(array)
        tensor = Tensor.from_dlpack(torch.utils.dlpack.to_dlpack(source))
        del source
        gc.collect()
        self.assertEqual(sys.getrefcount(array), references + 1, "weft keeps what PyTorch lent")
        del tensor
        self.assertEqual(sys.getrefcount(array), references)

    def test_lent_memory_lives_as_long_as_the_tensor(self):
        values, released = (ctypes.c_float * 3)(1, 2, 3), []
        source = borrowed(values, released)
        tensor = torch.utils.dlpack.from_dlpack(source.__dlpack__())
        del source
        tensor += 1
        self.assertEqual(list(values), [2, 3, 4])
        self.assertEqual(released, [])
        del tensor
        gc.collect()
        self.assertEqual(released, [ctypes.addressof(values)])

    def test_versioned_capsules(self):
        source = torch.arange(6, dtype=torch.float32).view(2, 3)
        try:
            capsule = source.t().__dlpack__(max_version=(1, 1))
        except TypeError:
            self.skipTest("this PyTorch makes none")
        self.assertTrue(python.PyCapsule_IsValid(id(capsule), KINDS[True][0]))
        tensor = Tensor.from_dlpack(capsule)
        self.assertEqual((tensor.data, tensor.sizes, tensor.strides), (source.data_ptr(), [3, 2], [1, 3]))
        back = torch.from_dlpack(tensor)
        self.assertEqual(back.data_ptr(), source.data_ptr())
        self.assertTrue(torch.equal(back, source.t()))


if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if not (has_numpy and has_torch):
        print(f"SKIPPED: of NumPy {has_numpy} and PyTorch {has_torch} one is not there", file=sys.stderr)
        sys.exit(SKIPPED)
