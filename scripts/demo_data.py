"""Synthetic Korean conversations with tools: the demo model's training data.

    rng = random.Random(0)
    pack = make_pack(read_functions(), rng)
    pack["tools"], pack["branches"][0]["messages"]

A pack is one system prompt and one tool list with several independent conversations ("branches"), so
that training computes the shared tools once. Functions are in `demo_functions.txt`:

    @ name|other name                  function
    : description|other description
    - name|other name?: label = kind   argument; `?` after it: optional; kinds are in `demo_values`
    > sentence with {slots}            request; `!` becomes a polite ending; a required slot that is
                                       absent makes it a case for asking back
    ? sentence                         request without any value
    = key:kind, key:kind               result
    < sentence with {slots}            answer from the result
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from demo_korean import WEEKDAYS, josa
from demo_numbers import iso_date
from demo_values import json_type, value_of

FUNCTIONS = Path(__file__).with_name("demo_functions.txt")
HELD_OUT_EVERY = 9
"""Each ninth function is never trained on; it measures what carries over to new tools."""

ENDINGS = (
    " 줘",
    "줘",
    " 줘",
    " 주세요",
    "주세요",
    " 줄래?",
    " 줘요",
    " 주시겠어요?",
    " 줄 수 있어?",
    " 주라",
)
OPENINGS = ("",) * 12 + ("저기, ", "음, ", "혹시 ", "있잖아, ", "부탁인데 ", "지금 ")
TOOL_COUNTS = (1, 1, 1, 1, 2, 2, 3, 4, 8)
"""Tools a list: short ones teach more a second, for the list is read anew in each pack."""
SYSTEMS = (
    "오늘은 {y}년 {m}월 {d}일 {w}요일이다. 도구를 써서 사용자를 돕는다.",
    "너는 도구를 다루는 비서야. 오늘 날짜: {iso} ({w})",
    "현재 날짜는 {iso}입니다. 필요한 값이 빠지면 되묻고, 할 수 없는 일은 할 수 없다고 하십시오.",
    "{y}년 {m}월 {d}일 {w}요일. 사용자의 부탁을 듣고 알맞은 도구를 고르시오. 값은 들은 대로 옮기시오.",
    "You are a helpful assistant. Today is {iso}.",
)
UNDATED = ("사용자의 부탁을 도구로 처리하는 도우미이다.", "You are a helpful assistant.", "")
ASK_ONE = (
    "{L|을} 먼저 말씀해 주시겠어요?",
    "진행하려면 {L|이} 더 있어야 합니다. 무엇으로 할까요?",
    "아직 {L|을} 듣지 못했습니다. 말씀해 주시겠어요?",
    "{L|은} 어떻게 할까요?",
)
ASK_MANY = (
    "{L|을} 함께 말씀해 주시겠어요?",
    "진행하려면 {L|이} 더 있어야 합니다. 말씀해 주시겠어요?",
    "아직 {L|을} 듣지 못했습니다. 각각 어떻게 할까요?",
)
REFUSALS = (
    "죄송합니다만 그 일에 맞는 도구가 저에게 없습니다.",
    "그 부탁은 지금 가진 도구로는 해 드릴 수가 없습니다. 죄송합니다.",
    "죄송합니다. 제가 쓸 수 있는 도구로는 처리하지 못하는 일입니다.",
    "아쉽지만 그런 일을 하는 도구는 갖고 있지 않습니다.",
)
STYLES = ("{label}", "{label}", "{label}", "{label}", "사용자가 말한 {label}", "{label}, 예: {example}")


@dataclass
class Argument:
    names: list[str]
    label: str
    kind: str
    required: bool

    @property
    def key(self) -> str:
        return self.names[0]


@dataclass
class Function:
    names: list[str]
    descriptions: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    @property
    def required(self) -> set[str]:
        return {argument.key for argument in self.arguments if argument.required}


@dataclass
class Offered:
    """A function as one tool list offers it: its names and schema drawn from the variants."""

    function: Function
    tool: dict[str, Any]
    renamed: dict[str, str]
    kinds: dict[str, str]


def read_functions(path: Path = FUNCTIONS) -> list[Function]:
    """All functions of the data file, in its order."""
    functions: list[Function] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], line[2:].strip()
        if mark == "@":
            functions.append(Function(rest.split("|")))
        elif mark == ":":
            functions[-1].descriptions = rest.split("|")
        elif mark == "-":
            functions[-1].arguments.append(_argument(rest))
        elif mark in (">", "?", "<"):
            {">": functions[-1].requests, "?": functions[-1].bare, "<": functions[-1].answers}[mark].append(
                rest
            )
        elif mark == "=":
            functions[-1].results = [tuple(item.strip().split(":")) for item in rest.split(",")]  # type: ignore[misc]
    return functions


def split(functions: list[Function]) -> tuple[list[Function], list[Function]]:
    """(trained on, held out)."""
    held = functions[HELD_OUT_EVERY // 2 :: HELD_OUT_EVERY]
    return [f for f in functions if f not in held], held


def sentence_frames(functions: list[Function]) -> list[str]:
    """Every sentence the data can say, with `{slots}`; for the check against other benchmarks."""
    own = [line for f in functions for line in (*f.requests, *f.bare, *f.answers)]
    return [*own, *ASK_ONE, *ASK_MANY, *REFUSALS, *SYSTEMS, *UNDATED]


def make_pack(
    functions: list[Function],
    rng: random.Random,
    targets: list[Function] | None = None,
    sizes: tuple[int, ...] = TOOL_COUNTS,
    branches: int = 8,
) -> dict[str, Any]:
    """One tool list and its branches. `targets`: the functions asked for (default: all)."""
    today = date(2024, 1, 1) + timedelta(rng.randrange(1400))
    size = rng.choice(sizes)
    first = rng.choice(targets or functions)
    pool = [f for f in functions if f is not first]
    if rng.random() < 0.35:  # neighbours in the file are of one domain: a closer choice
        at = functions.index(first) if first in functions else 0
        at = max(0, min(at - 6, len(pool) - 12))
        pool = pool[at : at + 12]
    chosen = [first, *rng.sample(pool, size - 1)]
    rng.shuffle(chosen)
    offered = [offer(f, rng) for f in chosen]
    wanted = [o for o in offered if targets is None or o.function in targets]
    outside = [f for f in functions if f not in chosen]
    made = [_branch(rng.choice(wanted), outside, today, rng) for _ in range(branches)]
    dated = (
        any("date" in o.kinds.values() or "iso_date" in o.kinds.values() for o in offered)
        or rng.random() < 0.6
    )
    system = rng.choice(SYSTEMS if dated else UNDATED)
    days = {
        "y": today.year,
        "m": today.month,
        "d": today.day,
        "w": WEEKDAYS[today.weekday()],
        "iso": today.isoformat(),
    }
    return {"system": system.format(**days), "tools": [o.tool for o in offered], "branches": made}


def offer(function: Function, rng: random.Random) -> Offered:
    """The function with names, labels and schema drawn from its variants."""
    camel = rng.random() < 0.15
    name = _case(rng.choice(function.names), camel)
    if rng.random() < 0.04:
        name = f"{rng.choice(('tool', 'func', 'action'))}_{rng.randint(1, 99)}"
    renamed, kinds, properties = {}, {}, {}
    for argument in function.arguments:
        key = renamed[argument.key] = _case(rng.choice(argument.names), camel)
        kind = argument.kind
        if kind == "date" and rng.random() < 0.55:
            kind = "iso_date"
        if kind == "time" and rng.random() < 0.55:
            kind = "clock_time"
        kinds[argument.key] = kind
        properties[key] = _schema(argument, kind, rng)
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [renamed[a.key] for a in function.arguments if a.required],
    }
    description = rng.choice(function.descriptions)
    if rng.random() < 0.5:
        description = plain_style(description)
    tool = {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }
    return Offered(function, tool, renamed, kinds)


def plain_style(sentence: str) -> str:
    """합니다 -> 한다, 찾습니다 -> 찾는다; other endings stay."""
    stem = sentence.removesuffix("니다")
    if stem == sentence or not "가" <= stem[-1] <= "힣":
        return sentence
    if stem.endswith("습"):
        return f"{stem[:-1]}는다"
    return f"{stem[:-1]}{chr(ord(stem[-1]) - 17 + 4)}다"  # the final consonant ㅂ becomes ㄴ


def _schema(argument: Argument, kind: str, rng: random.Random) -> dict[str, Any]:
    schema = json_type("date" if kind == "iso_date" else kind)
    label = argument.label
    if kind == "iso_date":
        label += rng.choice(("(YYYY-MM-DD)", "(YYYY-MM-DD 형식)", "(연-월-일, 예: 2025-03-09)"))
    elif kind == "clock_time":
        label += rng.choice(("(HH:MM)", "(24시간 HH:MM 형식)", "(시:분, 예: 17:20)"))
    elif kind.startswith("enum") and ":" in kind:
        label += f"({kind[5:-1].replace(':', '=')})"
    else:
        example = value_of(kind, rng)[1]
        label = rng.choice(STYLES).format(label=label, example=json.dumps(example, ensure_ascii=False))
    if not argument.required and rng.random() < 0.2:
        schema["default"] = value_of(argument.kind, rng)[1]
    if schema["type"] == "integer" and rng.random() < 0.2:
        schema["minimum"] = rng.choice((0, 1))
    return {"type": schema["type"], "description": label, **{k: v for k, v in schema.items() if k != "type"}}


def _branch(offered: Offered, outside: list[Function], today: date, rng: random.Random) -> dict[str, Any]:
    """One conversation: {"kind": call | ask | refuse, "messages": [...]}; the assistant's turns are learnt."""
    f = offered.function
    style = rng.random()
    if outside and style < 0.12:
        other = rng.choice(outside)
        values = {a.key: value_of(a.kind, rng) for a in other.arguments}
        text = _say(rng.choice(other.requests + other.bare), values, rng)
        return {"kind": "refuse", "messages": [_user(text), _assistant(rng.choice(REFUSALS))]}
    values = {a.key: _value(offered.kinds[a.key], today, rng) for a in f.arguments}
    asking = [r for r in f.requests + f.bare if not f.required <= _slots(r)]
    whole = [r for r in f.requests if f.required <= _slots(r)]
    if asking and style < 0.29:
        return _asking_branch(offered, rng.choice(asking), values, rng)
    request = rng.choice(whole)
    messages = [_user(_say(request, values, rng)), _call(offered, values, _slots(request))]
    if rng.random() < 0.3:
        messages += _ending(offered, request, values, rng)
    return {"kind": "call", "messages": messages}


def _asking_branch(
    offered: Offered, request: str, values: dict[str, Any], rng: random.Random
) -> dict[str, Any]:
    f, given = offered.function, _slots(request)
    missing = [a for a in f.arguments if a.required and a.key not in given]
    labels = [re.sub(r"\(.*?\)", "", a.label).strip() for a in missing]
    joined = (
        labels[0] if len(labels) == 1 else ", ".join([*labels[:-2], f"{josa(labels[-2], '와')} {labels[-1]}"])
    )
    question = fill(rng.choice(ASK_ONE if len(labels) == 1 else ASK_MANY), {"L": (joined, joined)})
    messages = [_user(_say(request, values, rng)), _assistant(question)]
    if rng.random() < 0.5:
        told = ", ".join(values[a.key][0] for a in missing)
        tail = rng.choice(("", "", "야", "로 부탁해")) if len(missing) == 1 else ""
        messages.append(
            _user(josa(told, tail) if tail == "야" else josa(told, "로") + tail[1:] if tail else told)
        )
        messages.append(_call(offered, values, given | {a.key for a in missing}))
    return {"kind": "ask", "messages": messages}


def _ending(
    offered: Offered, request: str, values: dict[str, Any], rng: random.Random
) -> list[dict[str, Any]]:
    """The tool's result and the answer made of it, where the answer needs no value the request lacks."""
    f = offered.function
    results = {key: value_of(kind, rng) for key, kind in f.results}
    answer = rng.choice(f.answers)
    if not _slots(answer) <= _slots(request) | set(results):
        return []
    content = json.dumps({key: value for key, (_, value) in results.items()}, ensure_ascii=False)
    return [{"role": "tool", "content": content}, _assistant(fill(answer, {**values, **results}))]


def fill(frame: str, values: dict[str, tuple[str, Any]]) -> str:
    """The frame with its slots said; the particles after them follow the last sound."""

    def put(match: re.Match[str]) -> str:
        said = values[match[1]][0]
        return josa(said, match[2]) if match[2] else said

    frame = re.sub(r"\}(?:으로|로)(?=[\s,.?!는]|$)", "|로}", frame)
    frame = re.sub(r"\}(?:이)?(라고|라는|랑|야)(?=[\s,.?!]|$)", r"|\1}", frame)
    return re.sub(r"\{(\w+)(?:\|(\w+))?\}", put, frame)


def _say(frame: str, values: dict[str, tuple[str, Any]], rng: random.Random) -> str:
    ending = rng.choice(ENDINGS)
    frame = frame.replace("줘!!", rng.choice(("줘", "주세요", "줄래?")))
    frame = re.sub(r"!", ending, frame).replace("?.", "?").replace("?,", ",")
    text = re.sub(r"(오늘|내일|모레|글피)에", r"\1", rng.choice(OPENINGS) + fill(frame, values))
    return text if text.endswith("?") else text + rng.choice(("", "", "", ".", "."))


def _value(kind: str, today: date, rng: random.Random) -> tuple[str, Any]:
    return iso_date(rng, today) if kind == "iso_date" else value_of(kind, rng)


def _slots(frame: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", frame))


def _call(offered: Offered, values: dict[str, Any], given: set[str]) -> dict[str, Any]:
    arguments = {
        offered.renamed[a.key]: values[a.key][1] for a in offered.function.arguments if a.key in given
    }
    call = {"name": offered.tool["function"]["name"], "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": call}]}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _argument(line: str) -> Argument:
    names, _, rest = line.partition(":")
    label, _, kind = rest.rpartition(" = ")
    names = names.strip()
    return Argument(names.removesuffix("?").split("|"), label.strip(), kind.strip(), not names.endswith("?"))


def _case(name: str, camel: bool) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest) if camel else name
