#!/usr/bin/env python3
"""The README shows examples/quick_look.cpp exactly as it is compiled, and it stays an example of about twenty lines."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
example = (root / "examples" / "quick_look.cpp").read_text(encoding="utf-8").strip()
shown = [block.strip() for block in re.findall(r"```cpp\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)]
if example not in shown:
    sys.exit("README.md does not show examples/quick_look.cpp as it is; paste it into the ```cpp block")
if len(example.splitlines()) > 25:
    sys.exit(f"examples/quick_look.cpp has {len(example.splitlines())} lines; the README promises about twenty")
print("README.md shows examples/quick_look.cpp")
