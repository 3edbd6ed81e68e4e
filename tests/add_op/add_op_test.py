#!/usr/bin/env python3
"""Adds two operators to a copy of the sources, builds it, and runs them on every backend through the program.

A composite takes one line of one file; a primitive one line in each of at most three files.  Slow: it builds everything.

Usage: add_op_test.py SOURCE_FOLDER [cmake arguments]
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

FOLDERS = ["runtime", "ir", "jit", "engine", "cmake"]

# file -> (the text before which the line goes, the line)
COMPOSITE = {
    "ir/include/weft/ops.def": ("// Complex numbers.\n",
                                "WEFT_OP(my_op, 1, real_floating, same, composite, x * x + T(1))\n"),
}
PRIMITIVE = {
    "ir/include/weft/ops.def": ("// Complex numbers.\n",
                                "WEFT_OP(my_primitive, 2, real_floating, same, primitive, x - y)\n"),
    "jit/xbyak/rows.cpp": ("    WEFT_X86(add, f32, ",
                           "    WEFT_X86(my_primitive, f32, avx2, code.vsubps(out, x, y)),\n"),
    "jit/llvm/operators.def": ("WEFT_LLVM(add, ",
                               "WEFT_LLVM(my_primitive, is_wide_float, builder.CreateFSub(args[0], args[1]))\n"),
}


def add(tree, lines):
    for name, (anchor, line) in lines.items():
        path = tree / name
        text = path.read_text()
        assert text.count(anchor) == 1, f"{name}: {anchor!r} is there {text.count(anchor)} times"
        path.write_text(text.replace(anchor, line + anchor))


def write_npy(path, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}f", *values))


def read_npy(path):
    data = path.read_bytes()
    body = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(body) // 4}f", body))


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    assert len(COMPOSITE) == 1 and len(PRIMITIVE) <= 3
    assert all(line.count("\n") == 1 for _, line in [*COMPOSITE.values(), *PRIMITIVE.values()])
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "weft"
        for name in FOLDERS:
            shutil.copytree(source / name, tree / name)
        shutil.copy(source / "CMakeLists.txt", tree)
        add(tree, COMPOSITE)
        add(tree, PRIMITIVE)
        build = pathlib.Path(folder) / "build"
        subprocess.run(["cmake", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DWEFT_TESTS=OFF",
                        "-DWEFT_BENCH=OFF", "-DWEFT_EXAMPLES=OFF", *sys.argv[2:]], check=True)
        subprocess.run(["cmake", "--build", build, "--parallel", "2"], check=True)
        weft = build / "bin" / "weft"

        a, b = [-2.0, 0.5, 3.0] * 9, [1.0, 0.25, -4.0] * 9
        write_npy(build / "a.npy", a)
        write_npy(build / "b.npy", b)
        backends = json.loads(subprocess.run([weft, "info", "--json"], check=True, capture_output=True).stdout)["backends"]
        usable = [entry["name"] for entry in backends if not entry.get("reason")]
        assert "interp" in usable, backends
        for backend in usable:
            subprocess.run([weft, "eval", "my_primitive(my_op(a), b)", f"a={build}/a.npy", f"b={build}/b.npy",
                            "-o", build / "out.npy", f"--backend={backend}"], check=True)
            result = read_npy(build / "out.npy")
            assert result == [x * x + 1 - y for x, y in zip(a, b)], (backend, result)
            subprocess.run([weft, "fuzz", "--replay=my_primitive(my_op(a), b) + my_op(b)", "a=f32[7,33]{33,-1}@32#0",
                            "b=f32[33]#0", f"--backend={backend}"], check=True)
        print("one line added my_op, and", len(PRIMITIVE), "lines my_primitive; they run on", ", ".join(usable))


if __name__ == "__main__":
    main()
