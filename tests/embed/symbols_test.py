#!/usr/bin/env python3
"""The shared library exports names that public headers have and the C functions of weft.h, the LLVM module the functions
of module.h, and neither anything else.

usage: symbols_test.py NM LIBWEFT [MODULE]
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What classes and exceptions need in other objects has names of its own.
OURS = re.compile(r"((typeinfo|typeinfo name|vtable|guard variable|non-virtual thunk) (for|to) )?weft::|weft_\w+$")
# No public header has names of these, and those of templates are long.
INTERNAL = re.compile(r"weft::(ir|jit)::")
# What a name begins with, behind namespaces that are open to private headers, too.
OUTERMOST = re.compile(r"\bweft::(?:detail::)?(\w+)")
MODULE_FUNCTIONS = {f"weft_llvm_{name}" for name in ("compile", "disassemble", "disassemble_function", "get_interface", "get_version", "release",
                                                      "throughput")}


def exported(nm, library):
    output = subprocess.run([nm, "-D", "-C", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split(" ", 2)[2].strip() for line in output.splitlines()}


def declared():
    """The functions of weft.h."""
    text = (ROOT / "engine" / "include" / "weft.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"\b(weft_\w+)\(", code))


def public_words():
    return {word for header in ROOT.glob("*/include/weft/*") for word in re.findall(r"\w+", header.read_text(encoding="utf-8"))}


def main():
    nm, library, *modules = sys.argv[1:]
    names = exported(nm, library)
    foreign = sorted(name for name in names if not OURS.match(name) or INTERNAL.match(name))
    c_names = {name for name in names if re.fullmatch(r"weft_\w+", name)}
    problems = [f"{library} exports {name}" for name in foreign]
    words = public_words()
    problems += [f"no public header has a name of {name}" for name in sorted(names - c_names)
                 if (found := OUTERMOST.search(name)) and found[1] not in words and " std::" not in name]
    problems += [f"weft.h declares {name}, {library} lacks it" for name in sorted(declared() - c_names)]
    problems += [f"{library} exports {name}, weft.h does not declare it" for name in sorted(c_names - declared())]
    if len(declared()) < 40 or not any(name.startswith("weft::Engine::eval(") for name in names):
        problems.append("hardly anything was found: the test itself is broken")
    for module in modules:
        of_module = exported(nm, module)
        if of_module != MODULE_FUNCTIONS:
            problems.append(f"{module} should export {sorted(MODULE_FUNCTIONS)}, not {sorted(of_module)[:20]}")
    print("\n".join(problems[:20]) or f"{len(names)} names of weft, {len(c_names)} of them for C")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
