"""A function of the catalogue as one tool list offers it: name, descriptions and schema drawn from its variants.

offered = offer(function, random.Random(0))
offered.tool["function"]["name"], offered.renamed, offered.kinds
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from demo_catalog import Argument, Function
from demo_values import json_type, value_of

STYLES = ("{label}", "{label}", "{label}", "{label}", "사용자가 말한 {label}", "{label}, 예: {example}")
DATE_FORMS = ("(YYYY-MM-DD)", "(YYYY-MM-DD 형식)", "(연-월-일, 예: 2025-03-09)")
TIME_FORMS = ("(HH:MM)", "(24시간 HH:MM 형식)", "(시:분, 예: 17:20)")


@dataclass
class Offered:
    function: Function
    tool: dict[str, Any]
    renamed: dict[str, str]
    """Argument by its key in the catalogue: its name in the schema, in the schema's order."""
    kinds: dict[str, str]

    @property
    def dated(self) -> bool:
        return bool({"date", "iso_date"} & set(self.kinds.values()))


def offer(function: Function, rng: random.Random) -> Offered:
    camel = rng.random() < 0.15
    name = cased(rng.choice(function.names), camel)
    if rng.random() < 0.04:
        name = f"{rng.choice(('tool', 'func', 'action'))}_{rng.randint(1, 99)}"
    arguments = list(function.arguments)
    if rng.random() < 0.25:
        rng.shuffle(arguments)
    renamed, kinds, properties = {}, {}, {}
    for argument in arguments:
        key = renamed[argument.key] = cased(rng.choice(argument.names), camel)
        kind = argument.kind
        if kind == "date" and rng.random() < 0.6:
            kind = "iso_date"
        if kind == "time" and rng.random() < 0.6:
            kind = "clock_time"
        kinds[argument.key] = kind
        properties[key] = _schema(argument, kind, rng)
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [renamed[a.key] for a in arguments if a.required],
    }
    description = rng.choice(function.descriptions)
    if rng.random() < 0.5:
        description = plain_style(description)
    return Offered(
        function,
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters},
        },
        renamed,
        kinds,
    )


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
        label += rng.choice(DATE_FORMS)
    elif kind == "clock_time":
        label += rng.choice(TIME_FORMS)
    elif kind.startswith("enum") and ":" in kind:
        label += f"({kind[5:-1].replace(':', '=')})"
    else:
        example = value_of(kind, rng)[1]
        label = rng.choice(STYLES).format(label=label, example=json.dumps(example, ensure_ascii=False))
    if not argument.required and rng.random() < 0.3:
        schema["default"] = value_of(argument.kind, rng)[1]
    return {"type": schema["type"], "description": label, **schema, **_bounds(schema, kind, rng)}


def _bounds(schema: dict[str, Any], kind: str, rng: random.Random) -> dict[str, int]:
    """Keywords that no call may copy. Wide enough for every value of the kind."""
    if schema["type"] == "array" and rng.random() < 0.4:
        return rng.choice(
            ({"minItems": 1}, {"minItems": 1, "maxItems": 10}, {"maxItems": rng.randint(5, 20)})
        )
    if schema["type"] in ("integer", "number") and rng.random() < 0.3:
        lower = -10 if kind.startswith("shift") else rng.choice((0, 1))
        upper = {"percent": 100, "people": 30, "hour": 24, "minutes": 600}.get(kind)
        return {"minimum": lower, **({"maximum": upper} if upper and rng.random() < 0.6 else {})}
    if schema["type"] == "string" and "enum" not in schema and rng.random() < 0.03:
        return {"minLength": 1}
    return {}


def cased(name: str, camel: bool) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest) if camel else name
