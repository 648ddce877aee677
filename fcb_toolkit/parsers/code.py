"""The program in a model's reply: fenced blocks of any label, several, unclosed, or none.

    extract_code("Here:\\n```python\\nx = f()\\n```")      # "x = f()"

Blocks labelled as Python win; several are joined, as in the reference of DPAB. Without one, blocks without
a label, then any; blocks that are no Python are left out beside others that are. Without a fence the whole text is the program. A fence inside a triple-quoted string
does not end a block, and a fence inside a reasoning block does not begin one.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from fcb_toolkit.parsers.reasoning import split
from fcb_toolkit.parsers.special import trim

_FENCE = re.compile(r"(?P<indent>[ \t]*+(?:>[ \t]?)?)(?P<fence>`{3,20}|~{3,20})(?P<info>[^\n]*+)")
_ONE_LINE = re.compile(r"```(?:python3?|py)?[ \t]+(?P<code>[^`\n]{1,5000})```")
_LABEL = re.compile(r"[\s{.]*([\w+#-]*)")
_PYTHON = frozenset({"python", "python3", "py", "py3", "ipython", "pycon"})
_QUOTES = re.compile(
    r"""(?P<comment>\#[^\n]*+)|(?P<triple>\"\"\"|''')"""
    r"""|(?P<line>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*')"""
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `label` is in lower case, "" for none; `closed` is False where the text ends first."""

    label: str
    code: str
    closed: bool = True


def extract_code(text: str, prompt: str | None = None) -> str:
    """The program that `text` holds; "" for an empty reply. Linear in the text, and nothing of it is run."""
    body = answer_of(text, prompt)
    blocks = find_blocks(body)
    if not blocks:
        return body.strip("\n")
    for wanted in (lambda b: b.label in _PYTHON, lambda b: b.label == "", lambda b: True):
        chosen = [block.code for block in blocks if wanted(block) and block.code.strip()]
        if chosen:
            return _joined(chosen)
    return ""


def _joined(programs: list[str]) -> str:
    """Several blocks as one program; sample output under a Python label is left out."""
    whole = "\n".join(programs)
    if len(programs) == 1 or _parses(whole):
        return whole
    return "\n".join(filter(_parses, programs)) or whole


def _parses(code: str) -> bool:
    """Whether Python's own parser accepts the text. It builds a tree and runs nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def answer_of(text: str, prompt: str | None = None) -> str:
    """The reply without special tokens around it and without its reasoning, where an answer follows that."""
    frame = trim(text)
    body = text[frame.start : frame.stop]
    parts = split(body, prompt, ("```", "~~~"))
    return body[parts.start :]


def find_blocks(text: str) -> list[Block]:
    """Every fenced block, in order."""
    lines = text.replace("\r\n", "\n").split("\n")
    blocks: list[Block] = []
    patient = True
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        one_line = _ONE_LINE.match(lines[number].lstrip())
        if one_line:
            blocks.append(Block("python", one_line["code"].strip()))
            number += 1
            continue
        stop, closed, resolved = _closing(lines, number + 1, opening["fence"], patient)
        patient = patient and resolved  # a string that never ends is looked for once: linear work
        label = _LABEL.match(opening["info"])
        body = "\n".join(lines[number + 1 : stop])
        name = label[1].lower() if label else ""
        blocks.append(Block(name, _unindented(body, opening["indent"]).strip("\n"), closed))
        number = stop + 1
    return blocks


def _closing(lines: list[str], start: int, fence: str, patient: bool) -> tuple[int, bool, bool]:
    """(the line that closes the block, whether one does, whether every string in it ends).

    The first fence line outside of a triple-quoted string closes. Where a string never ends, or without
    patience, the first fence line does.
    """
    first, open_string = -1, ""
    for number in range(start, len(lines)):
        found = _FENCE.match(lines[number])
        if found and found["fence"].startswith(fence) and not found["info"].strip():
            if not open_string or not patient:
                return number, True, True
            first = number if first < 0 else first
        open_string = _string_after(lines[number], open_string)
    return (first, True, False) if first >= 0 else (len(lines), False, True)


def _string_after(line: str, open_string: str) -> str:
    """The triple quote that is open after `line`, "" for none."""
    pos = 0
    while pos < len(line):
        if open_string:
            end = line.find(open_string, pos)
            if end < 0:
                return open_string
            escaped = (end - len(line[:end].rstrip("\\"))) % 2 == 1
            pos = end + (1 if escaped else 3)
            open_string = open_string if escaped else ""
            continue
        found = _QUOTES.search(line, pos)
        if found is None or found["comment"]:
            return ""
        open_string = found["triple"] or ""
        pos = found.end()
    return open_string


def _unindented(code: str, indent: str) -> str:
    """A block inside a list is indented with its fence; the first line's indentation must not stay."""
    if not indent:
        return code
    lines = [line.removeprefix(indent) for line in code.split("\n")]
    first = next((line for line in lines if line.strip()), "")
    joined = "\n".join(lines)
    return textwrap.dedent(joined) if first[:1].isspace() else joined
