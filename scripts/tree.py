"""Writes docs/tree.md: every file of the package with the first sentence of its docstring."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "tree.md"


def tree() -> str:
    lines = [
        "# Every file and what it is for",
        "",
        "Written by `python scripts/tree.py`.",
        "",
        "```",
    ]
    for path in sorted((ROOT / "fcb_toolkit").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines.append(f"{name:52} {first_sentence(path)}".rstrip())
    return "\n".join([*lines, "```", ""])


def first_sentence(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).split(". ")[0].rstrip(".:")


if __name__ == "__main__":
    TARGET.write_text(tree(), encoding="utf-8")
    sys.exit(0)
