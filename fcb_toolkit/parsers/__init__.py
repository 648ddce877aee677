"""A reply's text cut into content, calls and reasoning: one module a format, wired by `FORMATS`.

    parse('<tool_call>{"name": "f", "arguments": {}}</tool_call>', "hermes").tool_calls[0].name   # "f"

`parse` never raises for what a model wrote and takes linear time on any text. What each format accepts,
and the policy where projects disagree, is in `docs/parsers.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.parsers import (
    command_r,
    deepseek_v3,
    deepseek_v31,
    deepseek_v32,
    dpab_json,
    dpab_pythonic,
    functionary_v25,
    functionary_v31,
    functionary_v32,
    functiongemma,
    gemma3_tool_code,
    gemma4,
    glm45,
    glm47,
    gpt_oss,
    granite4,
    hermes,
    hyperclovax,
    kimi_k2,
    lfm2,
    llama3_json,
    llama4_json,
    llama4_pythonic,
    minimax_m1,
    minimax_m2,
    mistral,
    mistral_v11,
    mistral_v13,
    openai,
    phi4_mini,
    plain_json,
    pythonic,
    qwen3_coder,
    qwen_bracket,
    solar_open,
    xlam,
)
from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.calls import Span, add_calls, looks_like_call
from fcb_toolkit.parsers.offered import Offered
from fcb_toolkit.parsers.pythonic import read_program
from fcb_toolkit.parsers.reading import EMPTY_FENCE, REPAIRS, Format, Reading
from fcb_toolkit.parsers.reasoning import Split, split
from fcb_toolkit.parsers.scan import TooComplex
from fcb_toolkit.parsers.special import trim
from fcb_toolkit.parsers.stripped import read_stripped
from fcb_toolkit.parsers.values import decode_escaped
from fcb_toolkit.records import Json, Parse, ParseError, Tool

FORMATS: dict[str, Format] = {
    "command_r": command_r.FORMAT,
    "functionary_v25": functionary_v25.FORMAT,
    "functionary_v32": functionary_v32.FORMAT,
    "solar_open": solar_open.FORMAT,
    "deepseek_v3": deepseek_v3.FORMAT,
    "deepseek_v31": deepseek_v31.FORMAT,
    "deepseek_v32": deepseek_v32.FORMAT,
    "dpab_json": dpab_json.FORMAT,
    "dpab_pythonic": dpab_pythonic.FORMAT,
    "functionary_v31": functionary_v31.FORMAT,
    "functiongemma": functiongemma.FORMAT,
    "gemma3_tool_code": gemma3_tool_code.FORMAT,
    "gemma4": gemma4.FORMAT,
    "glm45": glm45.FORMAT,
    "glm47": glm47.FORMAT,
    "gpt_oss": gpt_oss.FORMAT,
    "granite4": granite4.FORMAT,
    "hermes": hermes.FORMAT,
    "hyperclovax": hyperclovax.FORMAT,
    "kimi_k2": kimi_k2.FORMAT,
    "lfm2": lfm2.FORMAT,
    "llama3_json": llama3_json.FORMAT,
    "llama4_json": llama4_json.FORMAT,
    "llama4_pythonic": llama4_pythonic.FORMAT,
    "minimax_m1": minimax_m1.FORMAT,
    "minimax_m2": minimax_m2.FORMAT,
    "mistral": mistral.FORMAT,
    "mistral_v11": mistral_v11.FORMAT,
    "mistral_v13": mistral_v13.FORMAT,
    "openai": openai.FORMAT,
    "phi4_mini": phi4_mini.FORMAT,
    "plain_json": plain_json.FORMAT,
    "pythonic": pythonic.FORMAT,
    "qwen3_coder": qwen3_coder.FORMAT,
    "qwen_bracket": qwen_bracket.FORMAT,
    "xlam": xlam.FORMAT,
}
"""Every format by name. `auto` is no format: `parse` chooses one of these and says which."""

FALLBACK = "plain_json"
_SIGNS = ("<", "[", "`", ">>>", "->", "Action:")
"""Every signature holds one of these: most answers hold none."""
_SNIFFED = 100_000
"""Characters of a reply in which `auto` looks for a format's mark."""

__all__ = ["FALLBACK", "FORMATS", "REPAIRS", "Format", "matching_formats", "parse", "sniff"]


def parse(
    text: str | Mapping[str, Json] | None,
    format: str,
    tools: Iterable[Tool] | None = None,
    strict: bool = False,
    prompt: str | None = None,
) -> Parse:
    """Content, tool calls and reasoning of one reply.

    `text` is the reply as generated, special tokens included, or an OpenAI message as a dict; None is a
    reply that never came. `tools` are those offered: formats without types take them from the schemas.
    `prompt` is what preceded the text; a template may have opened a reasoning block at its end.

    Lenient (the default): text outside the format with one sensible reading gives exactly that reading.
    `strict`: such text is an error, without calls and with the whole text as content. Text that has no
    sensible reading as a call is an error in both modes, and stays in the content. `Parse.raw` is always
    the text as it came. Raises `UnknownName` for a format that does not exist, and nothing else.
    """
    if format != "auto" and format not in FORMATS:
        raise UnknownName("parser format", format, [*FORMATS, "auto"])
    offered = Offered(tools)
    if isinstance(text, Mapping):
        return _parse_message(text, offered, strict)
    if text is None:
        return Parse(format="" if format == "auto" else format)
    reply: object = text  # a caller without a type checker may hand over anything
    if not isinstance(reply, str):
        message = f"the reply is {type(reply).__name__}, expected text or a message"
        return Parse(error=ParseError("not_text", message), format=format)
    chosen = FORMATS[(sniff(text) or FALLBACK) if format == "auto" else format]
    return _parse_text(text, chosen, offered, strict, prompt)


def sniff(text: str) -> str | None:
    """The name of the format whose mark comes first in `text`; None where no format's mark is in it."""
    return next(iter(matching_formats(text)), None)


def matching_formats(text: str) -> list[str]:
    """Names of the formats whose marks are in `text`: the mark that begins first leads, the longest of
    those that begin together. Formats without a mark (bare JSON) are never in it."""
    if not any(sign in text for sign in _SIGNS):
        return []
    found: list[tuple[int, int, str]] = []
    for name, format in FORMATS.items():
        match = format.signature.search(text, 0, _SNIFFED) if format.signature else None
        if match:
            found.append((match.start(), -len(match[0]), name))
    return [name for _, _, name in sorted(found, key=lambda item: item[:2])]


def _parse_message(message: Mapping[str, Json], offered: Offered, strict: bool) -> Parse:
    reading = Reading("", offered)
    openai.read_message(reading, message)
    raw = _raw_message(message)
    if reading.open_reasoning and not reading.calls:
        _judge_open_reasoning(reading, Split(None, 0))
    return _built(reading, "openai", raw, Split(None, 0), strict)


def _raw_message(message: Mapping[str, Json]) -> str:
    from fcb_toolkit.jsonl import dumps

    try:
        return dumps(message)
    except (TypeError, ValueError, RecursionError):
        return ""


def _parse_text(text: str, format: Format, offered: Offered, strict: bool, prompt: str | None) -> Parse:
    frame = trim(text)
    body = text[frame.start : frame.stop]
    parts = Split(None, 0)
    reading = Reading(body, offered, prompt)
    try:
        if format.splits_reasoning:
            parts = split(body, prompt, format.openers, format.signature)
            reading = Reading(body[parts.start :], offered, prompt)
        if frame.header and not format.reads_headers:
            reading.repair("header_token")
        reading.scan.ended = frame.ended
        begins_bare = reading.scan.text.lstrip()[:1] in ("{", "[")
        # JSON inside another format's marks is that format's call, not a bare one beside stray marks.
        if not format.bare or begins_bare or not _read_foreign(reading, format):
            format.read(reading)
            if not reading.calls and not reading.errors:
                _read_otherwise(reading, format)
    except TooComplex:
        reading = Reading(body[parts.start :], offered, prompt)
        reading.error("too_complex", "the reply has too many openings that lead nowhere", 0, reading.scan.end)
    if not parts.closed or reading.open_reasoning:
        _judge_open_reasoning(reading, parts)
    return _built(reading, format.name, text, parts, strict)


def _read_otherwise(reading: Reading, format: Format) -> None:
    """A reply without a call in its own format: nothing but JSON, or another format's marks."""
    if not format.bare:
        unopened = (
            "</tool_call>" in reading.scan.text
        )  # the closing tag alone makes the JSON before it a call
        if _take_over(reading, lambda again: read_bare(again, 0, replace(_UNMARKED, whole=not unopened))):
            reading.repair("unmarked")
            return
    if format.name in _ONLY_THEIR_OWN or _read_foreign(reading, format) or _read_encoded(reading):
        return
    if _take_over(reading, read_stripped):
        return
    if _take_over(reading, lambda again: read_program(again, again.scan.skip(0))):
        reading.repair("foreign_form")


def _read_foreign(reading: Reading, format: Format) -> bool:
    """Calls of offered tools in the marks of another format, at the end of the reply."""
    if format.name in _ONLY_THEIR_OWN:
        return False
    for name in matching_formats(reading.scan.text)[:3]:
        other = FORMATS[name]
        if name != format.name and not other.reads_headers and _take_over(reading, other.read):
            reading.repair("foreign_form")
            return True
    return False


def _read_encoded(reading: Reading) -> bool:
    """A reply that is nothing but calls of offered tools, written as a JSON string or as the inside of one."""
    head = reading.scan.text[:4].split("\\")[0].strip()
    if head not in ('"{', '"[', '"[{', "{", "[", "[{"):
        return False
    value = decode_escaped(reading.scan.text)
    if value is None or not looks_like_call(value, reading.offered, strictly=True):
        return False
    again = Reading("", reading.offered)
    if add_calls(again, value, Span(0, 0)) is not None:
        return False
    reading.pieces, reading.calls = [], again.calls
    reading.repair("double_encoded", *(repair.code for repair in again.repairs))
    return True


_ONLY_THEIR_OWN = frozenset({"dpab_pythonic", "dpab_json", "openai"})
_UNMARKED = Bare(list_too=True, fence=True)


def _take_over(reading: Reading, read: Callable[[Reading], object]) -> bool:
    """Reads the same text another way; kept if it gives calls of offered tools only, and no text after them."""
    again = Reading(reading.scan.text, reading.offered, reading.prompt)
    again.scan.ended = reading.scan.ended
    read(again)
    last = again.pieces[-1] if again.pieces else ""
    at_end = isinstance(last, tuple) and last[1] == again.scan.end
    after = again.scan.text[last[0] : last[1]].strip(" \n`") if isinstance(last, tuple) and at_end else ""
    if not again.calls or again.errors or after:
        return False
    if any(call.name not in reading.offered for call in again.calls):
        return False
    reading.pieces, reading.calls = again.pieces, again.calls
    reading.repairs += again.repairs
    return True


def _judge_open_reasoning(reading: Reading, parts: Split) -> None:
    if reading.calls:
        reading.repair("unclosed_reasoning")
    elif not reading.errors:
        message = "the reasoning block is never closed: the reply has no answer"
        reading.errors.append(ParseError("unclosed_reasoning", message))


def _built(reading: Reading, format: str, raw: str, parts: Split, strict: bool) -> Parse:
    content = reading.content()
    if reading.calls and content is not None and EMPTY_FENCE.fullmatch(content):
        content = None  # the fence stood around the calls
        reading.repair("code_fence")
    reasoning = "\n".join(filter(None, [parts.reasoning, *map(str.strip, reading.reasoning)])) or None
    error = reading.errors[0] if reading.errors else None
    if strict and reading.repairs:
        first = reading.repairs[0]
        error = error or ParseError(first.code, f"outside the format {format}: {first.message}")
    if strict and error is not None:
        content = reading.scan.text.strip() or reading.content()
        return Parse(content, (), reasoning, error, raw, format)
    return Parse(content, tuple(reading.calls), reasoning, error, raw, format)
