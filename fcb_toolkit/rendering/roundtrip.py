"""Calls through a template and back: rendered into the history, cut out again, read by the chosen parser.

    python -m fcb_toolkit.rendering.roundtrip FOLDER_OR_FILE... [--json]

prints a table of template x value. `=` the template's own call text reads back exactly; `c` the call is
written into the content in the template's format; `t` tools are text, the call reads back; `p` prompt mode;
`-` the template shows no calls; `!` the value is lost (never, so far). Each gap has its reason below.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import FcbError
from fcb_toolkit.parsers import parse
from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.history import call_turn
from fcb_toolkit.rendering.material import USER, result_message
from fcb_toolkit.rendering.messages import ConversationError
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.prompts import candidates, render
from fcb_toolkit.rendering.template import Template, TemplateFailure, load_template

VALUES: dict[str, Any] = {
    "quotes": '그는 "좋아" 라고 했다',
    "apostrophe": "it's",
    "backslash": "C:\\새 폴더\\n.txt",
    "newline": "첫 줄\n둘째 줄\n",
    "tab": "가\t나",
    "braces": "}{ {{x}} {% y %}",
    "brackets": "a[0]] (b), c=[1",
    "tool_call tag": "끝 </tool_call> <tool_call>",
    "other tags": "</parameter></function> ``` [/TOOL_CALLS] <escape> <｜tool▁call▁end｜> <|call|>",
    "turn tags": "<|im_end|> <|eot_id|> <end_of_turn> </s>",
    "think tag": "<think>속말</think>",
    "html": "&lt;b&gt; & <b>&#34;</b>",
    "emoji": "👩‍👩‍👧‍👦🇰🇷",
    "NFC": unicodedata.normalize("NFC", "한글 각"),
    "NFD": unicodedata.normalize("NFD", "한글 각"),
    "separators": "가\u2028나\u00a0다\ufeff",
    "spaces": "  양끝  ",
    "empty text": "",
    "digits": "007",
    "word true": "true",
    "word null": "null",
    "JSON text": '{"a": [1, "b"]}',
    "integer": 3,
    "negative": -12,
    "big integer": 9007199254740993,
    "float": 2.5,
    "tiny float": 1e-07,
    "true": True,
    "false": False,
    "null": None,
    "list": ["가", "나, 다", 3],
    "nested list": [[1, [2]], [], [{"ㄱ": None}]],
    "object": {"이름": "값", "b": {"c": [True, None]}},
    "empty list": [],
    "empty object": {},
    "no arguments": ...,
}
"""The nasty values; `...` is a call without any arguments."""

TOOL_NAME = "save_value"


@dataclass(frozen=True)
class Trip:
    """One value through one template. `way`: native, content, text, prompt, none or lost."""

    template: str
    value: str
    way: str
    reason: str = ""


SYMBOLS = {"native": "=", "content": "c", "text": "t", "prompt": "p", "none": "-", "lost": "!"}


def arguments_of(value: Any) -> dict[str, Any]:
    """Two arguments, as some templates lose what stands between them; `...` has none."""
    return {} if value is ... else {"value": value, "step": 1}


def tool_for(value: Any) -> dict[str, Any]:
    """A tool whose parameter has the value's type."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    kind: Any = kinds.get(type(value), ["string", "null"])
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    if value is not ...:
        parameters["properties"] = {"value": {"type": kind}, "step": {"type": "integer"}}
    return {
        "type": "function",
        "function": {"name": TOOL_NAME, "description": "값을 둔다.", "parameters": parameters},
    }


def round_trips(template: Any, name: str = "") -> tuple[Trip, ...]:
    """Every value of `VALUES` through one template."""
    loaded = load_template(template)
    profile = candidates(loaded, True)[0]
    return tuple(_trip(loaded, profile, name, label, value) for label, value in VALUES.items())


def _trip(template: Template, profile: Profile, name: str, label: str, value: Any) -> Trip:
    call = {
        "id": "call00001",
        "type": "function",
        "function": {"name": TOOL_NAME, "arguments": arguments_of(value)},
    }
    tool = tool_for(value)
    turn = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = result_message("1", "call00001", TOOL_NAME)
    try:
        rendered = render([USER, turn, result], [tool], template)
    except ConversationError as error:
        return Trip(name, label, "lost", str(error))
    lost = [note for note in rendered.notes if note.startswith("not shown")]
    if lost:
        return Trip(name, label, "lost", "; ".join(lost))
    by_template = "calls=template" in rendered.shape
    if rendered.mode == "native":
        way = "native" if by_template else "content"
    else:
        way = "text" if by_template else "prompt"
    return Trip(name, label, way, "" if way == "native" else _reason(profile, call, tool, rendered.notes))


def _reason(profile: Profile, call: dict[str, Any], tool: dict[str, Any], notes: Sequence[str]) -> str:
    """Why the template's own text was not used for this value."""
    if not profile.calls.some:
        return "the template shows no calls"
    if not profile.format.format:
        return profile.format.reason
    try:
        text = call_turn(profile, profile.shape, json.dumps([call]), False)
    except TemplateFailure as failure:
        return f"the template raises {failure}"
    wanted = [(TOOL_NAME, call["function"]["arguments"])]
    if formats.reads_back(text, profile.format.format, wanted, [tool]):
        return notes[0] if notes else ""
    found = parse(text, profile.format.format, tools=[tool])
    if found.error is not None:
        return f"the template prints {text.strip()!r}: {found.error.message}"
    read = [(made.name, made.arguments) for made in found.tool_calls]
    return f"the template prints {text.strip()!r}, which reads as {read}"


def table(trips: Sequence[Trip]) -> str:
    """The trips as text: one line a template, one column a value, reasons below."""
    names = list(dict.fromkeys(trip.template for trip in trips))
    labels = list(VALUES)
    width = max(map(len, names), default=0)
    lines = [f"{i:>3} {label}" for i, label in enumerate(labels, 1)]
    lines += ["", f"{'':<{width}}  " + " ".join(f"{i:>2}" for i in range(1, len(labels) + 1))]
    for name in names:
        ways = {trip.value: SYMBOLS[trip.way] for trip in trips if trip.template == name}
        lines.append(f"{name:<{width}}  " + " ".join(f"{ways[label]:>2}" for label in labels))
    lines += ["", *_reasons(trips)]
    counts = {way: sum(trip.way == way for trip in trips) for way in SYMBOLS}
    return "\n".join([*lines, "", ", ".join(f"{way} {count}" for way, count in counts.items() if count)])


def _reasons(trips: Sequence[Trip]) -> list[str]:
    """Each gap's reason, values with one reason together."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for trip in trips:
        if trip.reason:
            grouped.setdefault((trip.template, trip.reason), []).append(trip.value)
    return [
        f"{name}: {'all values' if len(values) == len(VALUES) else ', '.join(values)}: {reason}"
        for (name, reason), values in grouped.items()
    ]


def templates_in(path: Path) -> list[Path]:
    """The .jinja files of a folder, or the file itself."""
    return sorted(path.glob("*.jinja")) if path.is_dir() else [path]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit status 2 for a path without templates."""
    reader = argparse.ArgumentParser(
        prog="python -m fcb_toolkit.rendering.roundtrip", description="Calls through templates and back."
    )
    reader.add_argument("paths", nargs="+", type=Path, help="folders with .jinja files, or files")
    reader.add_argument("--json", action="store_true", help="one JSON object a line")
    given = reader.parse_args(arguments)
    try:
        files = [file for path in given.paths for file in templates_in(path)]
        if not files:
            raise FcbError(f"{given.paths[0]}: no .jinja file; expected a folder of chat templates")
        trips = [trip for file in files for trip in round_trips(file, file.stem)]
    except FcbError as error:
        print(error, file=sys.stderr)
        return 2
    if given.json:
        print("\n".join(json.dumps(asdict(trip), ensure_ascii=False) for trip in trips))
    else:
        print(table(trips))
    return 1 if any(trip.way == "lost" for trip in trips) else 0


if __name__ == "__main__":
    sys.exit(main())
