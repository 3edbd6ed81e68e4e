#!/usr/bin/env python3
"""Times the workloads of weft_cuda_bench in PyTorch, torch.compile and CuPy, where Python has them.

    bench/cuda_peers.py RESULT.json [--seconds N] [--eager]    adds "peers" to the JSON that weft_cuda_bench wrote

Operands have the layouts that the JSON names; times are medians by events around ten calls.  What
would begin after N seconds (200) is left out; --eager leaves out torch.compile, which takes a second or more for each.
"""
import argparse
import json
import re
import statistics
import time

CALLS, ROUNDS = 10, 9

TORCH_EXPRESSIONS = {  # workload -> what PyTorch computes of a, b, c
    "fma": lambda t, a, b, c: a * b + c, "where": lambda t, a, b, c: t.where(a > 0.5, b, c),
    "clamp": lambda t, a: t.clamp(a, 0.2, 0.8), "exp": lambda t, a: t.exp(a), "tanh": lambda t, a: t.tanh(a),
    "sigmoid": lambda t, a: t.sigmoid(a), "silu_mul": lambda t, a, b: t.nn.functional.silu(a) * b,
    "normalize": lambda t, a: ((a.to(t.float32) / 255 - 0.45) / 0.225).contiguous(),  # from channels_last
    "sum_all": lambda t, a: t.sum(a),
    "sum_inner": lambda t, a: t.sum(a, 1), "sum_outer": lambda t, a: t.sum(a, 0), "argmax_inner": lambda t, a: t.argmax(a, 1),
    "cumsum_inner": lambda t, a: t.cumsum(a, 1), "cumsum_outer": lambda t, a: t.cumsum(a, 0), "softmax": lambda t, a: t.softmax(a, 1),
    "layer_norm": lambda t, a: t.nn.functional.layer_norm(a, a.shape[1:]),
}
ADDS = ("add", "add_bf16", "add_i8", "bcast_nchw", "bcast_nhwc", "conflict_add", "add_t", "small_inner_3")
TORCH_EXPRESSIONS.update(dict.fromkeys(ADDS, lambda t, a, b: a + b))
CASTS = {"cast_f32_bf16": "bfloat16", "cast_bf16_f32": "float32", "cast_u8_f32": "float32", "transpose_cast_f32_bf16": "bfloat16"}
TORCH_OUT = {**dict.fromkeys(ADDS, "add"), "exp": "exp", "tanh": "tanh", "sigmoid": "sigmoid"}
TORCH_DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "u8": "uint8", "i8": "int8", "u16": "int16", "c128": "complex128",
                "i64": "int64"}
CUPY_DTYPES = {"f32": "f4", "f64": "f8", "u8": "u1", "i8": "i1", "u16": "u2", "c128": "c16", "i64": "i8"}
CUPY_EXPRESSIONS = {
    **dict.fromkeys(ADDS, "cp.add(a, b, out)"), "fma": "fused_fma(a, b, c, out)",
    "where": "fused_where(a, b, c, out)", "clamp": "cp.clip(a, 0.2, 0.8, out)", "exp": "cp.exp(a, out)", "tanh": "cp.tanh(a, out)",
    "sum_all": "cp.sum(a, out=out)", "sum_inner": "cp.sum(a, axis=1, out=out)", "sum_outer": "cp.sum(a, axis=0, out=out)",
    "argmax_inner": "cp.argmax(a, axis=1, out=out)", "cumsum_inner": "cp.cumsum(a, axis=1, out=out)", "cumsum_outer": "cp.cumsum(a, axis=0, out=out)",
}
PLAIN_COPIES = ("copy", "slice", "nchw", "nhwc", "transpose_", "batched", "perm", "cast_u8")


def layout(text):
    """dtype, sizes and strides in elements of "f32[2,3]{1,2}" or "u8[1,3,4,4]:channels_last"."""
    dtype, sizes, strides, last = re.fullmatch(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)\})?(:channels_last)?", text).groups()
    sizes = [int(size) for size in sizes.split(",") if size]
    if strides:
        return dtype, sizes, [int(stride) for stride in strides.split(",")]
    order = [1, 3, 2, 0] if last else range(len(sizes) - 1, -1, -1)
    result, stride = [0] * len(sizes), 1
    for dim in order:
        result[dim], stride = stride, stride * sizes[dim]
    return dtype, sizes, result


def count_of(sizes, strides):
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))


def median_us(call, event, elapsed_ms):
    for _ in range(2):
        call()
    samples = []
    for _ in range(ROUNDS):
        begin, end = event(), event()
        begin.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        samples.append(1e3 * elapsed_ms(begin, end) / CALLS)
    return statistics.median(samples)


def compute_of(name):
    if name in CASTS:
        return lambda t, a: a.to(getattr(t, CASTS[name]))
    return TORCH_EXPRESSIONS.get(name, lambda t, a: a)


def torch_times(rows, deadline, compiles):
    try:
        import torch
    except ImportError as error:
        return {"torch": {"skipped": str(error)}}
    if not torch.cuda.is_available():
        return {"torch": {"skipped": "this PyTorch sees no CUDA device"}}

    def tensor(text):
        dtype, sizes, strides = layout(text)
        numbers = torch.arange(count_of(sizes, strides), device="cuda", dtype=torch.int32) % 1021
        return numbers.to(getattr(torch, TORCH_DTYPES[dtype])).as_strided(sizes, strides)

    def timed(call):
        return median_us(call, lambda: torch.cuda.Event(enable_timing=True), lambda begin, end: begin.elapsed_time(end))

    eager, compiled = {}, {}
    for name, layouts in rows:
        if time.monotonic() > deadline:
            break
        compute = compute_of(name)
        *inputs, out = [tensor(text) for text in layouts]
        is_copy = name in CASTS or name not in TORCH_EXPRESSIONS
        if name in TORCH_OUT:  # as fast as PyTorch can be asked to do it
            eager[name] = timed(lambda: getattr(torch, TORCH_OUT[name])(*inputs, out=out))
        elif is_copy:
            eager[name] = timed(lambda: out.copy_(inputs[0]))
        else:
            eager[name] = timed(lambda: compute(torch, *inputs))  # a new result, of memory that is there
        if not compiles:
            continue
        torch._dynamo.reset()  # it takes so many compilations of one function, and no more
        try:
            if is_copy or name in TORCH_OUT:
                fused = torch.compile(lambda out, *inputs: out.copy_(compute(torch, *inputs)), dynamic=False)
            else:
                fused = torch.compile(lambda out, *inputs: compute(torch, *inputs), dynamic=False)
            compiled[name] = timed(lambda: fused(out, *inputs))
        except Exception as error:  # no compiler there, or an expression that it does not take
            compiled[name] = f"skipped: {type(error).__name__}"
    return {"torch": {"version": torch.__version__, "eager_us": eager, "compile_us": compiled}}


def cupy_times(rows, deadline):
    try:
        import cupy as cp
        cp.cuda.runtime.getDeviceCount()
    except Exception as error:  # not installed, or no device
        return {"cupy": {"skipped": str(error)}}

    @cp.fuse()
    def fma(a, b, c):
        return a * b + c

    @cp.fuse()
    def where(a, b, c):
        return cp.where(a > 0.5, b, c)

    def into(fused):
        def call(*operands):
            fused(*operands[:-1])
        return call

    scope = {"cp": cp, "fused_fma": into(fma), "fused_where": into(where)}
    times = {}
    for name, layouts in rows:
        if time.monotonic() > deadline:
            break
        expression = CUPY_EXPRESSIONS.get(name, "cp.copyto(out, a)" if name.startswith(PLAIN_COPIES) else None)
        if expression is None or any(layout(text)[0] not in CUPY_DTYPES for text in layouts):
            continue
        operands = []
        for text in layouts:
            dtype, sizes, strides = layout(text)
            base = (cp.arange(count_of(sizes, strides), dtype="i4") % 1021).astype(CUPY_DTYPES[dtype])
            operands.append(cp.lib.stride_tricks.as_strided(base, sizes, [stride * base.itemsize for stride in strides]))
        *inputs, out = operands
        code = compile(expression, name, "eval")
        names = {**scope, **dict(zip("abc", inputs)), "out": out}
        try:
            times[name] = median_us(lambda: eval(code, names), cp.cuda.Event, cp.cuda.get_elapsed_time)
        except Exception as error:
            times[name] = f"skipped: {type(error).__name__}"
        del inputs, out, operands, names
        cp.get_default_memory_pool().free_all_blocks()
    return {"cupy": {"version": cp.__version__, "us": times}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("result")
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--eager", action="store_true")
    given = parser.parse_args()
    with open(given.result, encoding="utf-8") as file:
        result = json.load(file)
    deadline = time.monotonic() + given.seconds
    rows = [(row["name"], row["layouts"]) for row in result["rows"] if "us" in row and "large" not in row["name"]]
    result["peers"] = {**cupy_times(rows, deadline - given.seconds / 2), **torch_times(rows, deadline, not given.eager)}
    with open(given.result, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    peers = result["peers"]
    for name, peer in peers.items():
        print(f"{name}: {peer.get('skipped') or peer['version']}")
    print(f"{'workload':26}{'weft us':>10}{'of memcpy':>11}{'eager':>9}{'compile':>9}{'CuPy':>9}   (peer's time over weft's)")
    for row in result["rows"]:
        if "us" not in row:
            continue
        cells = []
        for times in (peers["torch"].get("eager_us"), peers["torch"].get("compile_us"), peers["cupy"].get("us")):
            us = (times or {}).get(row["name"])
            cells.append(f"{us / row['us']:.2f}" if isinstance(us, float) else "-")
        print(f"{row['name']:26}{row['us']:10.1f}{row['fraction_of_memcpy']:11.3f}" + "".join(f"{cell:>9}" for cell in cells))


if __name__ == "__main__":
    main()
