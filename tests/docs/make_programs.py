#!/usr/bin/env python3
"""Writes one C++ file that holds every C++ block of the pages as a function, and a main() that calls them all.

Fragments see `engine`, a tensor `x` of eight floats, and a function run()."""
import pathlib
import re
import sys

from blocks import is_program, programs

HEADER = """// Made of the pages' code blocks by tests/docs/make_programs.py.
#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/iterator.h>
#include <weft/loops.h>
#include <weft/npy.h>
#include <cstdio>
#include <iostream>
"""
FRAGMENT = """int main() {{
  using namespace weft;
  [[maybe_unused]] Tensor x = arange(0, 8, 1, DType::f32);
  [[maybe_unused]] const auto run = [&] {{ Engine().eval(Expr(x) + 1); }};
  {{
{text}  }}
  return 0;
}}
"""


def main(target):
    includes, functions, calls = [], [], []
    for number, block in enumerate(programs()):
        text = block.text if is_program(block) else FRAGMENT.format(text=block.text)
        includes += re.findall(r"^#include .*$", text, re.M)
        body = re.sub(r"^#include .*\n", "", text, flags=re.M)
        body = body.rstrip().removesuffix("}") + "  return 0;\n}\n"  # which only the real main() may leave out
        functions.append(f"namespace block_{number} {{\n#line {block.line} \"{block.page}\"\n{body}}}\n")
        calls.append(f'  if (block_{number}::main() != 0) return std::fprintf(stderr, "{block.place} returned no 0\\n"), 1;\n')
    text = "".join([HEADER, *(include + "\n" for include in dict.fromkeys(includes)), *functions, "int main() {\n", *calls, "}\n"])
    path = pathlib.Path(target)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


main(sys.argv[1])
