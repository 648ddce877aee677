"""Synthetic Korean conversations with tools: the demo model's training data.

    rng = random.Random(0)
    pack = make_pack(read_functions(), rng)
    pack["tools"], pack["branches"][0]["messages"]

A pack is one system prompt and one tool list with several independent conversations ("branches"), so
that training computes the shared tools once. The functions are in `demo_catalog`.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from demo_catalog import Function, lacking_request, slots, whole_request
from demo_korean import WEEKDAYS, WORDS, josa
from demo_made import make_function, read_parts
from demo_numbers import iso_date
from demo_tools import Offered, offer
from demo_values import value_of

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
    "사용자를 돕는 상담원이다. 기준 날짜는 {y}년 {m}월 {d}일({w}요일). 없는 값을 만들어 넣지 않는다.",
    "{iso} {w}요일에 일하는 비서입니다. 도구로 되는 일이면 도구를 부르고, 되지 않는 일이면 정중히 거절합니다.",
    "날짜: {y}년 {m}월 {d}일 {w}요일\n지침: 모르는 값은 사용자에게 물어본다. 결과를 받으면 짧게 전한다.",
    "You are a helpful assistant. Today is {iso}.",
    "You call functions for the user. Today is {iso} ({w}요일). Ask when a required value is missing.",
)
UNDATED = (
    "사용자의 부탁을 도구로 처리하는 도우미이다.",
    "주어진 도구만 쓴다. 빠진 값은 되묻는다.",
    "You are a helpful assistant.",
    "",
)
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
PARTS = read_parts()
MADE = 0.3
"""Share of the tools that are put together (`demo_made`); the others are written."""
ASK, REFUSE, DOUBLE, RESULT, ANOTHER, SMALL_TALK = 0.14, 0.05, 0.3, 0.3, 0.4, 0.12
"""Shares: of conversations that ask back and that refuse; of calls of functions that may be called for two
values at once, those that are; of calls with a result, and of these with another request after it; of
requests with a sentence about something else before them."""


@dataclass
class Scene:
    """What the conversations of a pack have in common."""

    offered: list[Offered]
    outside: list[Function]
    today: date


def sentence_frames(functions: list[Function]) -> list[str]:
    """Every written sentence of the data, with `{slots}`; for the check against other benchmarks."""
    own = [line for f in functions for line in (*f.requests, *f.bare, *f.answers)]
    return [*own, *ASK_ONE, *ASK_MANY, *REFUSALS, *SYSTEMS, *UNDATED, *WORDS["SMALL_TALK"]]


def make_pack(
    functions: list[Function],
    rng: random.Random,
    targets: list[Function] | None = None,
    sizes: tuple[int, ...] = TOOL_COUNTS,
    branches: int = 6,
) -> dict[str, Any]:
    """One tool list and its branches. `targets`: the functions asked for (default: all)."""
    today = date(2024, 1, 1) + timedelta(rng.randrange(1400))
    first = rng.choice(targets or functions)
    near = [f for f in functions if f.domain == first.domain and f is not first]
    chosen = _chosen(first, near, functions, rng.choice(sizes), rng)
    if targets is None:
        chosen = [make_function(PARTS, rng) if rng.random() < MADE else f for f in chosen]
    rng.shuffle(chosen)
    offered = [offer(f, rng) for f in chosen]
    wanted = [o for o in offered if targets is None or o.function in targets]
    outside = near if rng.random() < 0.4 else functions
    scene = Scene(wanted, [f for f in outside if f not in chosen], today)
    made = [_branch(scene, rng) for _ in range(branches)]
    dated = any(o.dated for o in offered) or rng.random() < 0.6
    return {
        "system": _system(today, dated, rng),
        "tools": [o.tool for o in offered],
        "branches": made,
    }


def _chosen(
    first: Function, near: list[Function], functions: list[Function], size: int, rng: random.Random
) -> list[Function]:
    """`first` and others; at times those of its domain, a closer choice."""
    pool = near if rng.random() < 0.35 and len(near) >= size else [f for f in functions if f is not first]
    return [first, *rng.sample(pool, size - 1)]


def _system(today: date, dated: bool, rng: random.Random) -> str:
    days = {
        "y": today.year,
        "m": today.month,
        "d": today.day,
        "w": WEEKDAYS[today.weekday()],
        "iso": today.isoformat(),
    }
    return rng.choice(SYSTEMS if dated else UNDATED).format(**days)


def _branch(scene: Scene, rng: random.Random) -> dict[str, Any]:
    """One conversation: {"kind": call | ask | refuse, "messages": [...]}; the assistant's turns are learnt."""
    style = rng.random()
    if scene.outside and style < REFUSE:
        return {"kind": "refuse", "messages": _refusal(scene, rng)}
    offered = rng.choice(scene.offered)
    request = lacking_request(offered.function, rng) if style < REFUSE + ASK else None
    if request is not None:
        return {"kind": "ask", "messages": _asking(offered, request, scene.today, rng)}
    messages = _calling(offered, scene.today, rng)
    if len(messages) > 2 and rng.random() < ANOTHER:
        other = rng.choice(scene.offered)
        messages += _calling(other, scene.today, rng)[:2]
    return {"kind": "call", "messages": messages}


def _refusal(scene: Scene, rng: random.Random) -> list[dict[str, Any]]:
    other = rng.choice(scene.outside)
    values = {a.key: value_of(a.kind, rng) for a in other.arguments}
    frame = rng.choice((whole_request(other, rng), rng.choice(other.requests + other.bare)))
    return [_user(_say(frame, values, rng)), _assistant(rng.choice(REFUSALS))]


def _calling(offered: Offered, today: date, rng: random.Random) -> list[dict[str, Any]]:
    """Request and call, at times followed by the tool's result and the answer made of it."""
    f = offered.function
    values = {a.key: _value(offered.kinds[a.key], today, rng) for a in f.arguments}
    request = whole_request(f, rng)
    given = slots(request)
    if f.doubled and f.doubled[0] in given and rng.random() < DOUBLE:
        return _doubled(offered, request, values, today, rng)
    messages = [_user(_say(request, values, rng)), _calls(offered, [values], given)]
    if rng.random() < RESULT:
        messages += _ending(offered, request, values, rng)
    return messages


def _doubled(
    offered: Offered, request: str, values: dict[str, Any], today: date, rng: random.Random
) -> list[dict[str, Any]]:
    """One request for two values of an argument: two calls."""
    key = offered.function.doubled[0]
    second = next(
        other for _ in range(50) if (other := _value(offered.kinds[key], today, rng))[1] != values[key][1]
    )
    one, two = values[key][0], second[0]
    joined = rng.choice((f"{josa(one, '랑')} {two}", f"{josa(one, '와')} {two}", f"{one}하고 {two}"))
    if re.search(rf"\{{{key}\}}(?:\s|$)", request):
        joined += rng.choice(("", "", " 둘 다"))
    text = _say(request, {**values, key: (joined, None)}, rng)
    return [_user(text), _calls(offered, [values, {**values, key: second}], slots(request))]


def _asking(offered: Offered, request: str, today: date, rng: random.Random) -> list[dict[str, Any]]:
    f, given = offered.function, slots(request)
    values = {a.key: _value(offered.kinds[a.key], today, rng) for a in f.arguments}
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
        messages.append(_calls(offered, [values], given | {a.key for a in missing}))
    return messages


def _ending(
    offered: Offered, request: str, values: dict[str, Any], rng: random.Random
) -> list[dict[str, Any]]:
    """The tool's result and the answer made of it, where the answer needs no value the request lacks."""
    f = offered.function
    results = {key: value_of(kind, rng) for key, kind in f.results}
    answer = rng.choice(f.answers)
    if not slots(answer) <= slots(request) | set(results):
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
    frame = re.sub(r"!", ending, frame).replace("?.", "?").replace("?,", ",")
    text = re.sub(r"(오늘|내일|모레|글피)에(?=\s|$)", r"\1", rng.choice(OPENINGS) + fill(frame, values))
    if rng.random() < SMALL_TALK:
        text = f"{rng.choice(WORDS['SMALL_TALK'])} {text}"
    return text if text.endswith("?") else text + rng.choice(("", "", "", ".", "."))


def _value(kind: str, today: date, rng: random.Random) -> tuple[str, Any]:
    return iso_date(rng, today) if kind == "iso_date" else value_of(kind, rng)


def _calls(offered: Offered, values: list[dict[str, Any]], given: set[str]) -> dict[str, Any]:
    name = offered.tool["function"]["name"]
    calls = []
    for one in values:
        arguments = {renamed: one[key][1] for key, renamed in offered.renamed.items() if key in given}
        calls.append({"type": "function", "function": {"name": name, "arguments": arguments}})
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}
