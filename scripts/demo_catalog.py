"""The functions of the demo model's training data, and the sentences that ask for them.

    function = read_functions()[0]
    frame, given = function.requests[0], slots(function.requests[0])

They are in `demo_functions/*.txt`, a file a domain:

    @ name|other name                  function
    : description|other description
    - name|other name?: label = kind   argument; `?` after it: optional; kinds are in `demo_values`
    > sentence with {slots}            request; `!` becomes a polite ending; a required slot that is
                                       absent makes it a case for asking back
    ? sentence                         request without any value
    + clause | other clause            says one argument or two; shuffled, and followed by
    ~ tail | other tail                the end of the sentence
    & name                             the request may be made for two values of this argument: two calls
    = key:kind, key:kind               result
    < sentence with {slots}            answer from the result
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

FUNCTIONS = Path(__file__).with_name("demo_functions")
HELD_OUT_EVERY = 9
"""Each ninth function is never trained on; it measures what carries over to new tools."""


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
    domain: str
    names: list[str]
    descriptions: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    clauses: list[list[str]] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    @property
    def required(self) -> set[str]:
        return {argument.key for argument in self.arguments if argument.required}


def read_functions(folder: Path = FUNCTIONS) -> list[Function]:
    """All functions, file by file in the order of their names."""
    return [function for file in sorted(folder.glob("*.txt")) for function in _read(file)]


def _read(file: Path) -> list[Function]:
    functions: list[Function] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], line[2:].strip()
        if mark == "@":
            functions.append(Function(file.stem, rest.split("|")))
        elif mark not in ("", "#"):
            _add(functions[-1], mark, rest)
    return functions


def _add(function: Function, mark: str, rest: str) -> None:
    if mark == ":":
        function.descriptions = rest.split("|")
    elif mark == "-":
        function.arguments.append(_argument(rest))
    elif mark == "+":
        function.clauses.append(rest.split(" | "))
    elif mark == "=":
        function.results = [tuple(item.strip().split(":")) for item in rest.split(",")]  # type: ignore[misc]
    elif mark == "~":
        function.tails += rest.split(" | ")
    elif mark == "&":
        function.doubled += rest.split()
    else:
        {">": function.requests, "?": function.bare, "<": function.answers}[mark].append(rest)


def _argument(line: str) -> Argument:
    names, _, rest = line.partition(":")
    label, _, kind = rest.rpartition(" = ")
    names = names.strip()
    return Argument(names.removesuffix("?").split("|"), label.strip(), kind.strip(), not names.endswith("?"))


def split(functions: list[Function]) -> tuple[list[Function], list[Function]]:
    """(trained on, held out)."""
    held = functions[HELD_OUT_EVERY // 2 :: HELD_OUT_EVERY]
    return [f for f in functions if f not in held], held


def slots(frame: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", frame))


def whole_request(function: Function, rng: random.Random) -> str:
    """A frame that says every required value: a written sentence, or clauses in any order."""
    written = [r for r in function.requests if function.required <= slots(r)]
    if function.clauses and (not written or rng.random() < 0.5):
        return _composed(function, function.clauses, rng)
    return rng.choice(written)


def lacking_request(function: Function, rng: random.Random) -> str | None:
    """A frame that lacks a required value; None where the function requires none."""
    if not function.required:
        return None
    written = [r for r in function.requests + function.bare if not function.required <= slots(r)]
    needed = [line for line in function.clauses if slots(line[0]) & function.required]
    if len(needed) > 1 and (not written or rng.random() < 0.5):
        dropped = rng.sample(needed, rng.randint(1, len(needed) - 1))
        return _composed(function, [line for line in function.clauses if line not in dropped], rng)
    return rng.choice(written) if written else None


def _composed(function: Function, clauses: list[list[str]], rng: random.Random) -> str:
    said = [rng.choice(line) for line in clauses if slots(line[0]) & function.required or rng.random() < 0.4]
    rng.shuffle(said)
    tail = rng.choice(function.tails)
    if len(said) > 1 and rng.random() < 0.12:
        return f"{' '.join(said[:-1])} {tail}. {said[-1]}"
    return " ".join([*said, tail])
