"""Functions put together from parts: a verb, a thing, and one to five roles that sentences can say.

    made = make_function(read_parts(), random.Random(0))
    made.names, made.clauses, made.tails

Their sense is thin ("move a choir practice to ..."), but there is no end of them: nothing can be learnt by heart
but how a call follows from a schema and a sentence. Written functions are in `demo_catalog`.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from demo_catalog import Argument, Function
from demo_korean import josa

PARTS = Path(__file__).with_name("demo_made.txt")
ROLES = (1, 1, 2, 2, 2, 3, 3, 3, 4, 5)
"""Arguments a function."""
RIVALS = (
    {"site", "start_place", "branch", "town"},
    {"day", "first_day", "when"},
    {"name", "new_name", "subject"},
    {"span", "minutes", "term"},
    {"count", "item", "things", "lines"},
)
"""Roles whose clauses say the same: at most one of each group, or a sentence has two readings."""
ANSWERS = (
    "말씀하신 대로 해 두었습니다. 번호는 {number}입니다.",
    "다 되었어요. 접수 번호 {number}를 기억해 주세요.",
)


class Role(NamedTuple):
    names: list[str]
    label: str
    kind: str
    firm: bool
    """Nearly always required."""
    clauses: list[str]


@dataclass
class Parts:
    verbs: list[tuple[list[str], str, list[str]]] = field(default_factory=list)
    things: list[tuple[str, str]] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)


def read_parts(path: Path = PARTS) -> Parts:
    parts = Parts()
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, fields = line[:1], [one.strip() for one in line[2:].split(" | ")]
        if mark == "V":
            parts.verbs.append((fields[0].split(","), fields[1], fields[2:]))
        elif mark == "O":
            parts.things.append((fields[0], fields[1]))
        elif mark == "R":
            parts.roles.append(Role(fields[0].split(","), fields[1], fields[2], fields[3] == "q", fields[4:]))
    return parts


def make_function(parts: Parts, rng: random.Random) -> Function:
    verbs, description, tails = rng.choice(parts.verbs)
    english, thing = rng.choice(parts.things)
    function = Function("made", [f"{rng.choice(verbs)}_{english}"], [_of(description, thing)])
    count = rng.choice(ROLES)
    for role in _roles(parts, count, rng):
        key = rng.choice(role.names)
        required = role.firm and rng.random() < 0.9
        function.arguments.append(Argument([key], role.label, role.kind, required))
        function.clauses.append([clause.replace("{x", f"{{{key}") for clause in role.clauses])
    function.tails = [_of(tail, thing) for tail in tails]
    function.results = [("number", "code")]
    function.answers = list(ANSWERS)
    function.bare = function.tails if function.required else []
    function.doubled = [a.key for a in function.arguments if a.required and a.kind in ("place", "person")][:1]
    return function


def _roles(parts: Parts, count: int, rng: random.Random) -> list[Role]:
    chosen: list[Role] = []
    for role in rng.sample(parts.roles, len(parts.roles)):
        said = {one.names[0] for one in (*chosen, role)}
        if len(chosen) < count and not any(len(said & rivals) > 1 for rivals in RIVALS):
            chosen.append(role)
    return chosen


def _of(frame: str, thing: str) -> str:
    return re.sub(r"\{o(?:\|(\w+))?\}", lambda m: josa(thing, m[1]) if m[1] else thing, frame)
