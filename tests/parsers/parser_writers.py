"""How each format writes calls: the fixture of the conformance suite, one writer a format.

Arguments are JSON objects. A writer follows the format's documented form, not what a parser accepts.
`CANNOT_HOLD` says which values a format has no way to write, so that they come back as they were.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

Call = tuple[str, dict[str, Any]]
Writer = Callable[[Sequence[Call]], str]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(name: str, arguments: dict[str, Any], key: str = "arguments") -> str:
    return dumps({"name": name, key: arguments})


def _list(calls: Sequence[Call], key: str = "arguments") -> str:
    return dumps([{"name": name, key: arguments} for name, arguments in calls])


def _bare(value: Any) -> str:
    """Text without types: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def _python(calls: Sequence[Call]) -> str:
    written = [
        f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})" for name, arguments in calls
    ]
    return "[" + ", ".join(written) + "]"


def _lines(calls: Sequence[Call], one: Callable[[str, dict[str, Any]], str], between: str = "\n") -> str:
    return between.join(one(name, arguments) for name, arguments in calls)


def _qwen3_coder(name: str, arguments: dict[str, Any]) -> str:
    body = "".join(f"<parameter={k}>\n{_bare(v)}\n</parameter>\n" for k, v in arguments.items())
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def _glm(name: str, arguments: dict[str, Any], line: str) -> str:
    body = line.join(
        f"<arg_key>{k}</arg_key>{line}<arg_value>{_bare(v)}</arg_value>" for k, v in arguments.items()
    )
    return f"<tool_call>{name}{line}{body}{line if body else ''}</tool_call>"


def _minimax_m2(name: str, arguments: dict[str, Any]) -> str:
    body = "".join(f'<parameter name="{k}">{_bare(v)}</parameter>\n' for k, v in arguments.items())
    return f'<invoke name="{name}">\n{body}</invoke>\n'


def _dsml(name: str, arguments: dict[str, Any]) -> str:
    body = "".join(
        f'<｜DSML｜parameter name="{k}" string="{str(isinstance(v, str)).lower()}">{_bare(v)}</｜DSML｜parameter>\n'
        for k, v in arguments.items()
    )
    return f'<｜DSML｜invoke name="{name}">\n{body}</｜DSML｜invoke>\n'


def _braces(value: Any, mark: str, marked_keys: bool = False) -> str:
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    if isinstance(value, list):
        return "[" + ",".join(_braces(item, mark, True) for item in value) + "]"
    if isinstance(value, dict):
        key = (lambda k: f"{mark}{k}{mark}") if marked_keys else (lambda k: k)
        return "{" + ",".join(f"{key(k)}:{_braces(v, mark, True)}" for k, v in value.items()) + "}"
    return dumps(value)


def _kimi(calls: Sequence[Call]) -> str:
    body = "".join(
        f"<|tool_call_begin|>functions.{name}:{i}<|tool_call_argument_begin|>{dumps(a)}<|tool_call_end|>"
        for i, (name, a) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{body}<|tool_calls_section_end|>"


def _deepseek(calls: Sequence[Call], one: Callable[[str, str], str]) -> str:
    body = "\n".join(
        f"<｜tool▁call▁begin｜>{one(name, dumps(arguments))}<｜tool▁call▁end｜>" for name, arguments in calls
    )
    return f"<｜tool▁calls▁begin｜>{body}<｜tool▁calls▁end｜>"


def _harmony(calls: Sequence[Call]) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumps(arguments)}<|call|>"
        for name, arguments in calls
    )


def _command_r(calls: Sequence[Call]) -> str:
    written = [
        {"tool_call_id": str(i), "tool_name": name, "parameters": arguments}
        for i, (name, arguments) in enumerate(calls)
    ]
    return json.dumps(written, ensure_ascii=False, indent=4)


def _solar(name: str, arguments: dict[str, Any]) -> str:
    return f"<|tool_call:begin|>a1b2<|tool_call:name|>{name}<|tool_call:args|>{dumps(arguments)}<|tool_call:end|>"


def _openai(calls: Sequence[Call]) -> str:
    written = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return dumps({"role": "assistant", "content": None, "tool_calls": written})


WRITERS: dict[str, Writer] = {
    "command_r": lambda calls: f"<|START_ACTION|>{_command_r(calls)}<|END_ACTION|>",
    "deepseek_v3": lambda calls: _deepseek(
        calls, lambda n, a: f"function<｜tool▁sep｜>{n}\n```json\n{a}\n```"
    ),
    "deepseek_v31": lambda calls: _deepseek(calls, lambda n, a: f"{n}<｜tool▁sep｜>{a}"),
    "deepseek_v32": lambda calls: (
        f"<｜DSML｜function_calls>\n{_lines(calls, _dsml, '')}</｜DSML｜function_calls>"
    ),
    "dpab_json": lambda calls: f"```json\n{_list(calls, 'args')}\n```",
    "functionary_v31": lambda calls: _lines(calls, lambda n, a: f"<function={n}>{dumps(a)}</function>", ""),
    "functionary_v25": lambda calls: _lines(
        calls, lambda n, a: f"<|reserved_special_token_249|>{n}\n{dumps(a)}", ""
    ),
    "functionary_v32": lambda calls: _lines(calls, lambda n, a: f">>>{n}\n{dumps(a)}", ""),
    "functiongemma": lambda calls: _lines(
        calls, lambda n, a: f"<start_function_call>call:{n}{_braces(a, '<escape>')}<end_function_call>", ""
    ),
    "gemma3_tool_code": lambda calls: f"```tool_code\n{_python(calls)}\n```",
    "gemma4": lambda calls: _lines(
        calls, lambda n, a: f"<|tool_call>call:{n}{_braces(a, '<|' + chr(34) + '|>')}<tool_call|>", ""
    ),
    "glm45": lambda calls: _lines(calls, lambda n, a: _glm(n, a, "\n")),
    "glm47": lambda calls: _lines(calls, lambda n, a: _glm(n, a, "")),
    "gpt_oss": _harmony,
    "granite4": lambda calls: _lines(calls, lambda n, a: f"<tool_call>{_object(n, a)}</tool_call>"),
    "hermes": lambda calls: _lines(calls, lambda n, a: f"<tool_call>\n{_object(n, a)}\n</tool_call>"),
    "hyperclovax": lambda calls: f" -> tool/function_call\n{_list(calls)}",
    "kimi_k2": _kimi,
    "lfm2": lambda calls: f"<|tool_call_start|>{_python(calls)}<|tool_call_end|>",
    "llama3_json": lambda calls: _lines(calls, lambda n, a: _object(n, a, "parameters"), "; "),
    "llama4_json": lambda calls: _lines(calls, lambda n, a: _object(n, a, "parameters"), "; "),
    "llama4_pythonic": _python,
    "minimax_m1": lambda calls: f"<tool_calls>\n{_lines(calls, _object)}\n</tool_calls>",
    "minimax_m2": lambda calls: f"<minimax:tool_call>\n{_lines(calls, _minimax_m2, '')}</minimax:tool_call>",
    "mistral": lambda calls: f"[TOOL_CALLS] {_list(calls)}",
    "mistral_v11": lambda calls: _lines(calls, lambda n, a: f"[TOOL_CALLS]{n}{dumps(a)}", ""),
    "mistral_v13": lambda calls: _lines(calls, lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{dumps(a)}", ""),
    "openai": _openai,
    "phi4_mini": lambda calls: f"<|tool_call|>{_list(calls)}<|/tool_call|>",
    "plain_json": lambda calls: f"```json\n{_list(calls)}\n```",
    "pythonic": _python,
    "qwen3_coder": lambda calls: _lines(calls, _qwen3_coder),
    "qwen_bracket": lambda calls: _lines(calls, lambda n, a: f"[Calling tool: {n}({dumps(a)})]"),
    "solar_open": lambda calls: f"<|tool_calls|>{_lines(calls, _solar, '')}<|calls|>",
    "xlam": _list,
}
"""`dpab_pythonic` is not here: what a program calls is known only when it runs."""

UNESCAPED = {
    "qwen3_coder": re.compile(r"</?parameter|</?function|</tool_call"),
    "glm45": re.compile(r"</arg_value>|<arg_key>|</tool_call>"),
    "glm47": re.compile(r"</arg_value>|<arg_key>|</tool_call>"),
    "minimax_m2": re.compile(r"</?parameter|</?invoke|</minimax:tool_call>"),
    "deepseek_v32": re.compile(r"｜DSML｜"),
    "functiongemma": re.compile(r"<escape>"),
    "gemma4": re.compile(r'<\|"\|>'),
}
"""Formats that escape nothing, and the marks that a value of theirs may not hold in every place."""


def tools_for(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Tools whose schemas give each parameter the type of its value."""
    tools: dict[str, dict[str, Any]] = {}
    for name, arguments in calls:
        properties = tools.setdefault(name, {})
        for key, value in arguments.items():
            kinds = properties.setdefault(key, {"type": []})["type"]
            if kind_of(value) not in kinds:
                kinds.append(kind_of(value))
    return [
        {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": p}}}
        for n, p in tools.items()
    ]


def kind_of(value: Any) -> str:
    for kind, types in (
        ("boolean", bool),
        ("integer", int),
        ("number", float),
        ("string", str),
        ("array", list),
    ):
        if isinstance(value, types):
            return kind
    return "null" if value is None else "object"
