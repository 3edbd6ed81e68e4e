#!/usr/bin/python3
"""Measures NumPy, numexpr and PyTorch in Python on the workloads of a result of weft_bench, and adds their rows to it.

  bench/peers.py RESULT.json [--repetitions=N] [--min-time=SECONDS]

One thread on one core, outputs made before the clock starts, every result compared before it is timed, repetitions of all rows in
random order: as weft_bench has it.  Libraries that are not there are named, and RESULT.json says which.
"""
import argparse
import importlib
import json
import math
import os
import pathlib
import random
import sys
import time

NAMES = {"numpy": "numpy", "numexpr": "numexpr", "torch_eager": "torch", "torch_compile": "torch"}

# Workload -> how it is written in NumPy, numexpr and PyTorch, over a, b, c and `out`; None where a library has nothing for it.
# PyTorch's and NumPy's are functions of `m`, the module.
WORKLOADS = {
    "copy": (lambda m, out, a: m.copyto(out, a), "a", lambda m, out, a: out.copy_(a)),
    "add": (lambda m, out, a, b: m.add(a, b, out=out), "a + b", lambda m, out, a, b: m.add(a, b, out=out)),
    "fma": (lambda m, out, a, b, c: m.add(m.multiply(a, b, out=out), c, out=out), "a * b + c",
            lambda m, out, a, b, c: m.addcmul(c, a, b, out=out)),
    "lt": (lambda m, out, a, b: m.less(a, b, out=out), "a < b", lambda m, out, a, b: m.lt(a, b, out=out)),
    "clamp": (lambda m, out, a: m.clip(a, -1, 1, out=out), None, lambda m, out, a: m.clamp(a, -1, 1, out=out)),
    "sqrt": (lambda m, out, a: m.sqrt(a, out=out), "sqrt(a)", lambda m, out, a: m.sqrt(a, out=out)),
    "exp": (lambda m, out, a: m.exp(a, out=out), "exp(a)", lambda m, out, a: m.exp(a, out=out)),
    "log": (lambda m, out, a: m.log(a, out=out), "log(a)", lambda m, out, a: m.log(a, out=out)),
    "sin": (lambda m, out, a: m.sin(a, out=out), "sin(a)", lambda m, out, a: m.sin(a, out=out)),
    "tanh": (lambda m, out, a: m.tanh(a, out=out), "tanh(a)", lambda m, out, a: m.tanh(a, out=out)),
    "sigmoid": (lambda m, out, a: m.divide(1, 1 + m.exp(-a), out=out), "1 / (1 + exp(-a))",
                lambda m, out, a: m.sigmoid(a, out=out)),
    "silu_mul": (lambda m, out, a, b: m.multiply(a / (1 + m.exp(-a)), b, out=out), "a / (1 + exp(-a)) * b",
                 lambda m, out, a, b: m.mul(m.nn.functional.silu(a), b, out=out)),
    "pow": (lambda m, out, a, b: m.power(a, b, out=out), "a ** b", lambda m, out, a, b: m.pow(a, b, out=out)),
    "bcast_nchw": (lambda m, out, a, b: m.add(a, b, out=out), "a + b", lambda m, out, a, b: m.add(a, b, out=out)),
    "transpose_f32": (lambda m, out, a: m.copyto(out, a.T), None, lambda m, out, a: out.copy_(a.T)),
    "add_t": (lambda m, out, a, b: m.add(a, b.T, out=out), None, lambda m, out, a, b: m.add(a, b.T, out=out)),
    "slice_2x2": (lambda m, out, a: m.copyto(out, a[::2, ::2]), None, lambda m, out, a: out.copy_(a[::2, ::2])),
    "sum_all": (lambda m, out, a: m.sum(a, out=out), "sum(a)", lambda m, out, a: out.copy_(m.sum(a))),
    "sum_inner": (lambda m, out, a: m.sum(a, axis=1, out=out), None, lambda m, out, a: m.sum(a, dim=1, out=out)),
    "sum_outer": (lambda m, out, a: m.sum(a, axis=0, out=out), None, lambda m, out, a: m.sum(a, dim=0, out=out)),
    "amax_inner": (lambda m, out, a: m.amax(a, axis=1, out=out), None, lambda m, out, a: m.amax(a, dim=1, out=out)),
    "argmax_inner": (lambda m, out, a: m.argmax(a, axis=1, out=out), None, lambda m, out, a: m.argmax(a, dim=1, out=out)),
    "cumsum_inner": (lambda m, out, a: m.cumsum(a, axis=1, out=out), None, lambda m, out, a: m.cumsum(a, dim=1, out=out)),
    "softmax": (lambda m, out, a: m.divide(e := m.exp(a - a.max(1, keepdims=True)), e.sum(1, keepdims=True), out=out), None,
                lambda m, out, a: out.copy_(m.softmax(a, 1))),
    "layer_norm": (lambda m, out, a: m.divide(a - a.mean(1, keepdims=True), m.sqrt(a.var(1, keepdims=True) + 1e-5), out=out), None,
                   lambda m, out, a: out.copy_(m.nn.functional.layer_norm(a, a.shape[1:]))),
    "call_add8_out": (lambda m, out, a, b: m.add(a, b, out=out), None, lambda m, out, a, b: m.add(a, b, out=out)),
}
NUM_INPUTS = {"fma": 3, **dict.fromkeys(["add", "lt", "silu_mul", "pow", "bcast_nchw", "add_t", "call_add8_out"], 2)}


def operands(np, workload, size):
    """NumPy arrays: the inputs, and an output of the right shape."""
    shape = tuple(int(float(part)) for part in size.split("x"))
    numbers = np.random.default_rng(12345)
    read = tuple(2 * extent for extent in shape) if workload == "slice_2x2" else shape
    inputs = [numbers.uniform(0.125, 8, read).astype(np.float32) for _ in range(NUM_INPUTS.get(workload, 1))]
    if workload == "bcast_nchw":
        inputs[1] = inputs[1][0, :, :1, :1].copy()
    if workload == "transpose_f32":
        shape = shape[::-1]
    axes = {"sum_all": (), "sum_outer": shape[1:]}
    axes.update(dict.fromkeys(["sum_inner", "amax_inner", "argmax_inner"], shape[:1]))
    dtype = {"lt": np.bool_, "argmax_inner": np.int64}.get(workload, np.float32)
    return inputs, np.zeros(axes.get(workload, shape), dtype)


def prepared(np, workload, size):
    """The inputs, an output, and what that must hold, computed in f64: the same for all libraries."""
    inputs, out = operands(np, workload, size)
    expected = np.zeros(out.shape, np.float64 if out.dtype == np.float32 else out.dtype)
    WORKLOADS[workload][0](np, expected, *(array.astype(np.float64) for array in inputs))
    return inputs, out, expected


def runner(library, module, np, workload, inputs, out):
    """A function without arguments that fills in `out`; None where the library has nothing."""
    in_numpy, in_numexpr, in_torch = WORKLOADS[workload]
    if library == "numpy":
        return lambda: in_numpy(np, out, *inputs)
    if library == "numexpr":
        if in_numexpr is None:
            return None
        names = dict(zip("abc", inputs))
        casting = "same_kind" if workload == "sum_all" else "safe"
        return lambda: module.evaluate(in_numexpr, local_dict=names, out=out, casting=casting)
    given, to = [module.from_numpy(array) for array in inputs], module.from_numpy(out)
    function = module.compile(in_torch, dynamic=False) if library == "torch_compile" else in_torch
    return lambda: function(module, to, *given)


def timed(run, iterations):
    """Nanoseconds of the thread, so that what others do on the core is not counted."""
    begin = time.thread_time_ns()
    for _ in range(iterations):
        run()
    return time.thread_time_ns() - begin


def find_libraries(np):
    """Modules by the names of their rows, and why those that lack do."""
    found, missing = {}, {}
    for name, module_name in NAMES.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            missing[name] = str(error)
            continue
        if name == "torch_compile" and not hasattr(module, "compile"):
            missing[name] = f"PyTorch {module.__version__} has no torch.compile"
            continue
        found[name] = module
    if "numexpr" in found:
        found["numexpr"].set_num_threads(1)
    if "torch_eager" in found:
        found["torch_eager"].set_num_threads(1)
    return found, missing


class Row:
    def __init__(self, name, run):
        self.name, self.run, self.iterations, self.times_ns = name, run, 1, []

    def measure(self, min_time_ns):
        """One repetition; the first finds out how many iterations fill the time."""
        spent = timed(self.run, self.iterations)
        while not self.times_ns and spent < min_time_ns:
            self.iterations = max(self.iterations + 1, math.ceil(self.iterations * min(10, 1.4 * min_time_ns / max(spent, 1))))
            spent = timed(self.run, self.iterations)
        self.times_ns.append(spent / self.iterations)

    def entries(self):
        for index, time_ns in enumerate(self.times_ns):
            yield {"name": self.name, "run_name": self.name, "run_type": "iteration", "repetitions": len(self.times_ns),
                   "repetition_index": index, "iterations": self.iterations, "real_time": time_ns, "cpu_time": time_ns,
                   "time_unit": "ns"}


def make_rows(np, libraries, wanted):
    rows, wrong = [], []
    for workload, size in wanted:
        inputs, out, expected = prepared(np, workload, size)
        for name, module in libraries.items():
            row = f"{workload}/{name}/{size}"
            try:
                run = runner(name, module, np, workload, inputs, out)
                if run is None:
                    continue
                out.fill(0)
                run()
            except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
                wrong.append((row, f"{type(error).__name__}: {error}"))
                continue
            if not np.allclose(out, expected, rtol=1e-4, atol=1e-5):
                wrong.append((row, "wrong result"))
                continue
            rows.append(Row(row, run))
    return rows, wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("json", type=pathlib.Path)
    arguments.add_argument("--repetitions", type=int, default=9)
    arguments.add_argument("--min-time", type=float, default=0.004)
    options = arguments.parse_args()
    try:
        result = json.loads(options.json.read_text(encoding="utf-8"))
        measured = {tuple(row["run_name"].split("/")[::2][:2]) for row in result["benchmarks"]}
        context = result["context"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"peers.py: {options.json}: not a result of weft_bench ({type(error).__name__}: {error})", file=sys.stderr)
        return 1
    try:
        import numpy as np
    except ImportError as error:
        print(f"peers.py: no peers in Python: {error}; Debian's package is python3-numpy", file=sys.stderr)
        context["missing_peers"] = dict.fromkeys(NAMES, str(error))
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return 0
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    libraries, missing = find_libraries(np)
    for name, reason in missing.items():
        print(f"peers.py: {name} is missing: {reason}", file=sys.stderr)
    rows, wrong = make_rows(np, libraries, sorted(pair for pair in measured if pair[0] in WORKLOADS))
    for _ in range(options.repetitions):
        for row in random.sample(rows, len(rows)):
            row.measure(options.min_time * 1e9)
    ours = {f"/{name}/" for name in NAMES}
    result["benchmarks"] = [row for row in result["benchmarks"] if not any(name in row["run_name"] for name in ours)]
    for row in rows:
        result["benchmarks"] += row.entries()
    for name, message in wrong:
        print(f"peers.py: {name}: {message}", file=sys.stderr)
    context["missing_peers"] = missing
    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} rows of {', '.join(libraries)} are in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
