#!/usr/bin/env python3
"""Reads every include and checks the rules of the layers: engine -> jit -> ir -> runtime, of the engine's folders, and who may see which library."""
import pathlib
import re
import sys

LAYERS = ["runtime", "ir", "jit", "engine"]  # each may include itself and what stands left of it
ENGINE_FOLDERS = {  # of those that are told here, what each may include of the engine besides itself
    "messages": [], "tensor": ["messages"], "exchange": ["messages", "tensor"], "iterator": ["messages", "tensor"],
    "overlap": ["messages", "tensor", "iterator"], "expression": ["messages", "tensor"],
}
ENGINE_TOP = ["explain", "fuzz", "cli", "c"]  # included by nobody else
ONLY_BELOW = {  # third-party headers and the places that may include them
    r"xbyak/": ["jit/xbyak/"],
    r"(llvm|llvm-c)/": ["jit/llvm/"],
    r"zlib\.h": ["engine/exchange/zip_"],
    r"(cuda|nvrtc|nvJitLink)\w*\.h": ["jit/nvrtc/", "runtime/cuda_driver."],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def engine_folder(path):
    """The folder within the engine, "" for what lies in none of them, or None outside the engine."""
    parts = path.split("/")
    return None if parts[0] != "engine" else parts[1] if len(parts) > 2 else ""


def breaks_engine_order(path, name):
    """The rule that is broken where a file of the engine includes another one of another folder."""
    of, named = engine_folder(path), engine_folder(name)
    if of == named or of is None or named is None:
        return None
    if of in ENGINE_FOLDERS and named not in ENGINE_FOLDERS[of]:
        return f"engine/{of} must not know engine/{named}"
    return f"nobody knows engine/{named}" if named in ENGINE_TOP else None


def violations(sources):
    """`sources` maps a path to its text; the answer is one line a broken rule."""
    owner = {path.split("/include/")[1]: path.split("/")[0] for path in sources if "/include/weft/" in path}
    found = []
    for path, text in sorted(sources.items()):
        layer = path.split("/")[0]
        is_public = "/include/weft/" in path
        is_outer = path.startswith(("engine/cli/", "engine/python/"))
        for bracket, name in INCLUDE.findall(text):
            said = f"{path}: #include {bracket}{name}{'>' if bracket == '<' else bracket}: "
            target = owner.get(name) if name.startswith("weft/") else name.split("/")[0] if bracket == '"' else None
            if name.startswith("weft/") and (target is None or bracket == '"'):
                found.append(said + "public headers are <weft/...> and lie in */include/weft/")
            elif bracket == '"' and name not in sources:
                found.append(said + "private headers are named from the root of the repository")
            elif bracket == '"' and is_public:
                found.append(said + "a public header includes no private one")
            elif bracket == '"' and is_outer and not name.startswith(path.rsplit("/", 1)[0]):
                found.append(said + "only <weft/...> is for programs on top of the engine")
            elif target and LAYERS.index(target) > LAYERS.index(layer):
                found.append(said + f"{layer} must not know {target}")
            elif bracket == '"' and (above := breaks_engine_order(path, name)):
                found.append(said + above)
            elif is_public and target is None and re.search(r"[./]", name):
                found.append(said + "a public header needs nothing but the standard library")
            for pattern, places in ONLY_BELOW.items():
                if bracket == "<" and re.match(pattern, name) and not path.startswith(tuple(places)):
                    found.append(said + f"only {' and '.join(places)} may")
        if not is_outer and re.search(r"(?<!secure_)getenv\(", text):
            found.append(f"{path}: the library asks secure_getenv(), which programs with more rights than their caller ignore")
    return found


# A tree in which every line but the first of each file (and the last file but one) breaks one rule, so that a rule that stopped working is noticed.
BAD = {
    "runtime/include/weft/low.h": "#include <cstdint>\n#include <weft/high.h>\n#include <png.h>",
    "engine/include/weft/high.h": '#include <weft/low.h>\n#include "engine/own.h"\n#include <weft/nowhere.h>',
    "engine/own.h": '#include <weft/low.h>\n#include "own.h"\n#include <xbyak/xbyak.h>\n#include "weft/low.h"',
    "engine/cli/weft.cpp": '#include <weft/high.h>\n#include "engine/own.h"',
    "engine/tensor/own.h": '#include <weft/low.h>\n#include "engine/plan/own.h"',
    "engine/plan/own.h": '#include "engine/tensor/own.h"\n#include "engine/explain/own.h"',
    "engine/explain/own.h": '#include "engine/plan/own.h"',
    "jit/quick.cpp": 'const char* const level = std::getenv("LEVEL");',
}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    files = [path for layer in LAYERS for path in (root / layer).rglob("*") if path.suffix in (".h", ".cpp", ".def")]
    sources = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}
    assert len(violations(BAD)) == 11, "the rules themselves are broken: " + "\n".join(violations(BAD))
    found = violations(sources)
    print("\n".join(found) or f"{len(sources)} files keep the layers apart")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
