"""Code blocks of the Markdown pages: fenced ones by their language, indented ones by their first line."""
import dataclasses
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]


@dataclasses.dataclass
class Block:
    page: str
    line: int      # of the page, from 1
    language: str  # of the fence; "" if it is indented
    text: str

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def blocks(page):
    """The blocks of a page in order."""
    found, current = [], None
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if current is not None and current.language:
            if line.startswith("```"):
                current = None
            else:
                current.text += line + "\n"
        elif line.startswith("```"):
            current = Block(page, number, line[3:].strip() or "text", "")
            found.append(current)
        elif line.startswith("    ") and (current is not None or not lines[number - 2].strip()):
            if current is None:
                current = Block(page, number, "", "")
                found.append(current)
            current.text += line[4:] + "\n"
        elif not line and current is not None:
            current.text += "\n"
        else:
            current = None
    for block in found:
        block.text = textwrap.dedent(block.text).rstrip("\n") + "\n"
    return found


def all_blocks():
    return [block for page in PAGES for block in blocks(page)]


def programs():
    """Blocks of C++, whole programs and fragments of functions."""
    return [block for block in all_blocks() if block.language == "cpp"]


def is_program(block):
    return re.search(r"^int main\(", block.text, re.M) is not None
