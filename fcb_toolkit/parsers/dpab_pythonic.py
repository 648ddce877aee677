"""DPAB's pythonic format: one ```python block. `Parse.content` is the program, and it is never run here.

What the program calls is known only when it runs (see `execution`), so there are no tool calls in the parse.
"""

from fcb_toolkit.parsers.code import extract_code, find_blocks
from fcb_toolkit.parsers.reading import Format, Reading


def read(reading: Reading) -> None:
    text = reading.scan.text
    blocks = find_blocks(text)
    if [(block.label, block.closed) for block in blocks] != [("python", True)]:
        reading.repair("code_fence")
    code = extract_code(text)
    if code.strip():
        reading.pieces.append(code)


FORMAT = Format("dpab_pythonic", read, "any model, in DPAB's pythonic mode", openers=("```",), bare=True)
