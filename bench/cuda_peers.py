#!/usr/bin/env python3
"""Times the workloads of weft_cuda_bench in PyTorch, torch.compile and CuPy, where Python has them.

    bench/cuda_peers.py RESULT.json    adds "peers" to the JSON that weft_cuda_bench wrote

Operands have the layouts that the JSON names; times are medians by events around ten calls.
"""
import json
import re
import statistics
import sys

CALLS, ROUNDS = 10, 15
TORCH_EXPRESSIONS = {  # workload -> what PyTorch computes of a, b, c into out
    "copy": lambda t, a: a, "add": lambda t, a, b: a + b, "fma": lambda t, a, b, c: a * b + c,
    "add_bf16": lambda t, a, b: a + b, "add_i8": lambda t, a, b: a + b,
    "where": lambda t, a, b, c: t.where(a > 0.5, b, c), "clamp": lambda t, a: t.clamp(a, 0.2, 0.8),
    "cast_f32_bf16": lambda t, a: a.to(t.bfloat16), "cast_bf16_f32": lambda t, a: a.to(t.float32),
    "cast_u8_f32": lambda t, a: a.to(t.float32), "bcast_nchw": lambda t, a, b: a + b, "bcast_nhwc": lambda t, a, b: a + b,
    "conflict_add": lambda t, a, b: a + b, "normalize": lambda t, a: (a.to(t.float32) / 255 - 0.45) / 0.225,
    "add_t": lambda t, a, b: a + b, "transpose_cast_f32_bf16": lambda t, a: a.to(t.bfloat16), "slice_2x2": lambda t, a: a,
    "exp": lambda t, a: t.exp(a), "tanh": lambda t, a: t.tanh(a), "sigmoid": lambda t, a: t.sigmoid(a),
    "silu_mul": lambda t, a, b: t.nn.functional.silu(a) * b,
}
TORCH_DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "u8": "uint8", "i8": "int8", "u16": "int16", "c128": "complex128"}
CUPY_EXPRESSIONS = {"copy": "a", "add": "a + b", "fma": "a * b + c", "transpose_f32": "a", "transpose_f64": "a", "add_t": "a + b"}


def layout(text):
    """dtype, sizes and strides in elements of "f32[2,3]{1,2}" or "u8[1,3,4,4]:channels_last"."""
    dtype, sizes, strides, last = re.fullmatch(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)\})?(:channels_last)?", text).groups()
    sizes = [int(size) for size in sizes.split(",")]
    if strides:
        return dtype, sizes, [int(stride) for stride in strides.split(",")]
    order = [1, 3, 2, 0] if last else range(len(sizes) - 1, -1, -1)
    result, stride = [0] * len(sizes), 1
    for dim in order:
        result[dim], stride = stride, stride * sizes[dim]
    return dtype, sizes, result


def torch_times(rows):
    try:
        import torch
    except ImportError as error:
        return {"torch": {"skipped": str(error)}}
    if not torch.cuda.is_available():
        return {"torch": {"skipped": "this PyTorch sees no CUDA device"}}

    def tensor(text):
        dtype, sizes, strides = layout(text)
        count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        numbers = torch.arange(count, device="cuda", dtype=torch.int32) % 13
        return numbers.to(getattr(torch, TORCH_DTYPES[dtype])).as_strided(sizes, strides)

    def median_us(call):
        for _ in range(3):
            call()
        samples = []
        for _ in range(ROUNDS):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            samples.append(1e3 * begin.elapsed_time(end) / CALLS)
        return statistics.median(samples)

    eager, compiled = {}, {}
    for row in rows:
        compute = TORCH_EXPRESSIONS.get(row["name"], TORCH_EXPRESSIONS["copy"])
        *inputs, out = [tensor(text) for text in row["layouts"]]
        eager[row["name"]] = median_us(lambda: out.copy_(compute(torch, *inputs)))
        try:
            fused = torch.compile(lambda out, *inputs: out.copy_(compute(torch, *inputs)), dynamic=False)
            compiled[row["name"]] = median_us(lambda: fused(out, *inputs))
        except Exception as error:  # no compiler there, or an expression that it does not take
            compiled[row["name"]] = f"skipped: {type(error).__name__}"
    return {"torch": {"version": torch.__version__, "eager_us": eager, "compile_us": compiled}}


def cupy_times(rows):
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # not installed, or no device
        return {"cupy": {"skipped": str(error)}}
    times = {}
    for row in rows:
        if row["name"] not in CUPY_EXPRESSIONS:
            continue
        operands = []
        for text in row["layouts"]:
            dtype, sizes, strides = layout(text)
            kind = {"f32": "f4", "f64": "f8"}.get(dtype)
            count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
            base = cupy.arange(count, dtype=kind)
            steps = [stride * base.itemsize for stride in strides]
            operands.append(cupy.lib.stride_tricks.as_strided(base, sizes, steps))
        *inputs, out = operands
        code = compile(CUPY_EXPRESSIONS[row["name"]], row["name"], "eval")
        names = dict(zip("abc", inputs))

        def call():
            out[...] = eval(code, names)

        call()
        samples = []
        for _ in range(ROUNDS):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            samples.append(1e3 * cupy.cuda.get_elapsed_time(begin, end) / CALLS)
        times[row["name"]] = statistics.median(samples)
    return {"cupy": {"version": cupy.__version__, "us": times}}


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    rows = [row for row in result["rows"] if "us" in row]
    result["peers"] = {**torch_times(rows), **cupy_times(rows)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    for name, peer in result["peers"].items():
        print(f"{name}: {peer.get('skipped') or peer['version']}")


if __name__ == "__main__":
    main()
