"""`<invoke name="...">` blocks with `<parameter name="...">` inside: MiniMax-M2 and DeepSeek-V3.2.

    <minimax:tool_call>
    <invoke name="get_weather">
    <parameter name="city">서울</parameter>
    </invoke>
    </minimax:tool_call>

Values stand directly between the tags and are never escaped; white space in them is theirs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.tags import Markup, Pair, converted, read_arguments
from fcb_toolkit.parsers.values import decode, read_value


@dataclass(frozen=True, slots=True)
class Invoke:
    """The tags of one format: `blocks` are the (opening, closing) pairs around the invocations."""

    blocks: tuple[tuple[str, str], ...]
    invoke: re.Pattern[str]
    close: str
    parameter: Markup

    @property
    def openers(self) -> tuple[str, ...]:
        return tuple(opening for opening, _ in self.blocks)


def invoke_tags(prefix: str, blocks: tuple[tuple[str, str], ...]) -> Invoke:
    """The tags with `prefix` before each name: "" for MiniMax, "｜DSML｜" for DeepSeek."""
    ends = "|".join(re.escape(closing) for _, closing in blocks)
    close, invoke_close = f"</{prefix}parameter>", f"</{prefix}invoke>"
    return Invoke(
        blocks=blocks,
        invoke=re.compile(rf"""<{prefix}invoke\s+name=["']?(?P<name>[^"'>\n]{{1,200}})["']?\s*+>"""),
        close=invoke_close,
        parameter=Markup(
            opening=re.compile(
                rf"""<{prefix}parameter\s+name=["'](?P<name>[^"'\n]{{1,200}})["']"""
                r"""(?:\s+string=["'](?P<string>true|false)["'])?\s*+>"""
            ),
            close=close,
            after=re.compile(
                rf"\s*+(?:<{prefix}parameter\s|{invoke_close}(?!\s*+(?:{ends})?\s*+{close})|{ends}|\Z)"
            ),
            end=re.compile(f"{invoke_close}|{ends}"),
        ),
    )


def read_invokes(reading: Reading, tags: Invoke, *, flags: bool) -> None:
    """Reads every block. `flags`: each parameter says whether it is text or JSON."""
    scan = reading.scan
    pos = 0
    while (found := scan.search(tags.invoke, pos)) is not None:
        opened, is_open = _block_before(reading, pos, found.start(), tags)
        reading.text(pos, opened)
        if not is_open:
            reading.repair("missing_open")
        pos = _read_block(reading, opened, found, tags, flags)
    at, mark = scan.find_first(tags.openers, pos)
    if at >= 0:
        reading.text(pos, at)
        reading.error("malformed_call", f"no call follows {mark}", at, scan.end)
        return
    reading.text(pos, scan.end)


def _block_before(reading: Reading, start: int, stop: int, tags: Invoke) -> tuple[int, bool]:
    """Where the block of the invocation at `stop` opens: at its opening tag, if only space lies between."""
    scan = reading.scan
    for opening, _ in tags.blocks:
        window = max(start, stop - len(opening) - 80)
        at = scan.text.rfind(opening, window, stop)
        if at >= 0 and scan.skip(at + len(opening)) == stop:
            return at, True
    return stop, False


def _read_block(reading: Reading, opened: int, found: re.Match[str], tags: Invoke, flags: bool) -> int:
    """All invocations of one block and its closing tag; returns the position after it."""
    scan = reading.scan
    invoke: re.Match[str] | None = found
    pos = found.start()
    while invoke is not None:
        begin = pos
        try:
            pos = scan.skip(_read_invoke(reading, invoke, tags, flags))
        except Unreadable as unreadable:
            at = max(invoke.end(), min(unreadable.at, scan.end))
            stop = _end_of_block(reading, at, tags)
            reading.error(unreadable.code, f"the call cannot be read: {unreadable}", min(opened, begin), stop)
            return stop
        opened = pos
        invoke = scan.match(tags.invoke, pos)
    for _, closing in tags.blocks:
        if scan.at(closing, pos):
            return pos + len(closing)
    reading.repair("missing_close")
    return pos


def _end_of_block(reading: Reading, at: int, tags: Invoke) -> int:
    stop, mark = reading.scan.find_first(tuple(closing for _, closing in tags.blocks), at)
    return stop + len(mark) if stop >= 0 else reading.scan.end


def _read_invoke(reading: Reading, invoke: re.Match[str], tags: Invoke, flags: bool) -> int:
    scan = reading.scan
    name = invoke["name"].strip()
    first = scan.skip(invoke.end())
    if scan.at("{", first):
        return _json_body(reading, name, first, tags)
    body = read_arguments(reading, invoke.end(), tags.parameter, reading.offered.properties(name))
    closed = scan.at(tags.close, body.end)
    if not closed:
        at_end = (
            reading.scan.ended if body.end >= scan.end else any(scan.at(c, body.end) for _, c in tags.blocks)
        )
        if not (at_end and body.pairs):
            raise Unreadable("malformed_call", f"the call of {name!r} does not end", body.end)
        reading.repair("missing_close")
    arguments = converted(reading, name, body.pairs)
    if flags:
        arguments.update(_flagged(reading, body.pairs))
    reading.call(name, arguments, scan.slice(invoke.end(), body.end))
    return body.end + (len(tags.close) if closed else 0)


def _json_body(reading: Reading, name: str, pos: int, tags: Invoke) -> int:
    value = read_value(reading.scan, pos, closers=(tags.close,))
    arguments = object_of(reading, value.value, name)
    if isinstance(arguments, str):
        raise Unreadable("malformed_call", arguments, value.end)
    reading.repair("foreign_form", *value.repairs)
    reading.call(name, arguments, reading.scan.slice(pos, value.end))
    stop = reading.scan.skip(value.end)
    return stop + len(tags.close) if reading.scan.at(tags.close, stop) else stop


def _flagged(reading: Reading, pairs: tuple[Pair, ...]) -> dict[str, object]:
    """Values whose flag says what they are; without a flag, or with a false one, the schema says it."""
    values: dict[str, object] = {}
    for pair in pairs:
        if pair.string is None:
            reading.repair("missing_mark")
        elif pair.string == "true":
            values[pair.name] = pair.text
        else:
            decoded = decode(pair.text)
            if decoded is not None:
                values[pair.name] = decoded.value
                reading.repair(*decoded.repairs)
            else:
                reading.repair("missing_mark")
    return values
