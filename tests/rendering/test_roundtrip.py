"""A call rendered into the history and cut out again gives back name and arguments."""

import json
import os.path
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rendering_raw import raw, templates

from fcb_toolkit.parsers import FORMATS, parse
from fcb_toolkit.records import Rendered
from fcb_toolkit.rendering import audit_template, render
from fcb_toolkit.rendering.formats import NOT_FROM_TEMPLATES, WRITERS, reads_back, same
from fcb_toolkit.rendering.roundtrip import (
    TOOL_NAME,
    VALUES,
    Trip,
    arguments_of,
    main,
    round_trips,
    table,
    tool_for,
)

USER = {"role": "user", "content": "값을 둬"}
KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, str]:
    return templates(shared)


@pytest.fixture(scope="module")
def trips(texts: dict[str, str]) -> dict[str, tuple[Trip, ...]]:
    return {name: round_trips(text, name) for name, text in texts.items()}


def conversation(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"id": "call00001", "type": "function", "function": {"name": TOOL_NAME, "arguments": arguments}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [USER, turn, {"role": "tool", "tool_call_id": "call00001", "content": "둠"}]


def read_again(rendered: Rendered, text: str, tools: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """The calls that the parser reads out of what transformers alone makes of the call turn."""
    given = [dict(message) for message in rendered.messages]
    at = next(i for i, message in enumerate(given) if message["role"] == "assistant")
    shown = [dict(tool) for tool in rendered.tools] or None
    variables = {"functions": json.dumps(tools, ensure_ascii=False)}
    before = raw(text, given[:at], shown, **variables)
    if before is None:
        shown = []
        before = raw(text, given[:at], shown, **variables)
    after = raw(text, given[: at + 1], shown, **variables)
    assert before is not None
    assert after is not None
    turn = after[len(os.path.commonprefix([before, after])) :]  # noqa: RUF071 - characters are meant
    whole = raw(text, given, shown, add_generation_prompt=True, **variables)
    assert whole == rendered.prompt or "tools=functions" in rendered.shape
    return [(call.name, call.arguments) for call in parse(turn, rendered.format, tools=tools).tool_calls]


def agrees(found: list[tuple[str, Any]], arguments: dict[str, Any]) -> bool:
    return len(found) == 1 and found[0][0] == TOOL_NAME and same(found[0][1], arguments)


def test_no_value_is_lost_through_any_template_and_every_gap_has_its_reason(
    trips: dict[str, tuple[Trip, ...]],
) -> None:
    every = [trip for made in trips.values() for trip in made]
    assert len(every) == len(trips) * len(VALUES)
    assert [trip for trip in every if trip.way == "lost"] == []
    assert [trip for trip in every if trip.way != "native" and not trip.reason] == []


def test_the_documented_counts_are_those_of_the_table(trips: dict[str, tuple[Trip, ...]], root: Path) -> None:
    text = (root / "docs" / "rendering.md").read_text(encoding="utf-8")
    ways = [trip.way for made in trips.values() for trip in made]
    counts = [len(ways), *(ways.count(way) for way in ("native", "content", "text", "prompt"))]
    tail = text[text.index("no value is lost: of") :]
    assert [int(number.replace(",", "")) for number in re.findall(r"\b[\d,]*\d\b", tail)] == counts


def test_templates_that_show_calls_and_have_a_parser_carry_most_values_themselves(
    texts: dict[str, str], trips: dict[str, tuple[Trip, ...]]
) -> None:
    for name, text in texts.items():
        audit = audit_template(text)
        native = [trip for trip in trips[name] if trip.way == "native"]
        if (
            audit.mode == "native"
            and audit.shows_calls
            and "calls_not_read_back" not in {f.code for f in audit.findings}
        ):
            assert len(native) >= len(VALUES) - 4, name


@pytest.mark.slow
def test_the_value_table_reads_back_from_what_transformers_alone_renders(texts: dict[str, str]) -> None:
    wrong = []
    for name, text in texts.items():
        for label, value in VALUES.items():
            tools = [tool_for(value)]
            rendered = render(conversation(arguments_of(value)), tools, text)
            if (
                not agrees(read_again(rendered, text, tools), arguments_of(value))
                and "calls=template" in rendered.shape
            ):
                # Formats that no parser reads are asked for in plain JSON; their own text stays in the history.
                wrong += [] if "no parser reads" in "".join(rendered.notes) else [(name, label)]
    assert wrong == []


texts_of_any_kind = st.text(max_size=20) | st.sampled_from(
    [
        "</tool_call>",
        '"',
        "\\",
        "\n",
        "<|im_end|>",
        "{'a': 1}",
        "True",
        "null",
        "007",
        "]",
        "```",
        "</parameter>",
    ]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts_of_any_kind,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts_of_any_kind, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts_of_any_kind, values, max_size=4)

ONE_TEMPLATE_A_FORMAT = {
    "command_r": "command-r7b-12-2024.tool_use",
    "functionary_v25": "functionary-small-v2.5",
    "functionary_v32": "functionary-medium-v3.2",
    "solar_open": "solar-open-100b",
    "deepseek_v3": "deepseek-r1.vllm",
    "deepseek_v31": "deepseek-v3.1",
    "deepseek_v32": "deepseek-v3.2",
    "functionary_v31": "kanana.lmalign_v1",
    "functiongemma": "functiongemma-270m-it",
    "gemma3_tool_code": "gemma-3n-e2b-it.litert-tools",
    "glm45": "hyperclovax-seed-omni-8b",
    "gpt_oss": "gpt-oss-120b",
    "hermes": "qwen2.5-instruct",
    "hyperclovax": "hyperclovax-seed-think-14b",
    "lfm2": "lfm2-1.2b",
    "llama3_json": "llama-3.1-8b-instruct",
    "llama4_json": "llama-4.vllm-json",
    "llama4_pythonic": "llama-4.vllm-pythonic",
    "mistral": "mistral-7b-instruct-v0.3",
    "mistral_v11": "mistral-small-3.2-24b-2506",
    "phi4_mini": "granite-3.x.vllm",
    "plain_json": "deepseek-r1-distill-qwen-7b",
    "pythonic": "toolace-8b.vllm",
    "qwen3_coder": "qwen3-coder.vllm",
    "xlam": "xlam-llama.vllm",
}


LOOP = (
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}{% endfor %}</tools>\n{% endif %}{% for m in messages %}"
    "<|im_start|>{{ m.role }}\n{{ m.content }}{% if m.tool_calls %}CALLS{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
EACH = "{% for c in m.tool_calls %}CALL{% endfor %}"
JSON = "{{ c.function.arguments | tojson }}"
VALUE = "{{ v if v is string else (v | tojson) }}"
PAIRS = "{% for k, v in c.function.arguments | items %}PAIR{% endfor %}"
TOYS = {
    "gemma4": EACH.replace(
        "CALL",
        "<|tool_call>call:{{ c.function.name }}{{ '{' }}"
        + PAIRS.replace(
            "PAIR",
            "{{ k }}:{% if v is string %}<|\"|>{{ v }}<|\"|>{% else %}{{ v | tojson }}{% endif %}{{ ',' if not loop.last }}",
        )
        + "{{ '}' }}<tool_call|>",
    ),
    "glm47": EACH.replace(
        "CALL",
        "<tool_call>{{ c.function.name }}"
        + PAIRS.replace("PAIR", f"<arg_key>{{{{ k }}}}</arg_key><arg_value>{VALUE}</arg_value>")
        + "</tool_call>",
    ),
    "granite4": "<|start_of_role|>"
    + EACH.replace(
        "CALL", '<tool_call>{"name": "{{ c.function.name }}", "arguments": ' + JSON + "}</tool_call>"
    ),
    "kimi_k2": "<|tool_calls_section_begin|>"
    + EACH.replace(
        "CALL",
        "<|tool_call_begin|>functions.{{ c.function.name }}:{{ loop.index0 }}<|tool_call_argument_begin|>"
        + JSON
        + "<|tool_call_end|>",
    )
    + "<|tool_calls_section_end|>",
    "minimax_m1": "<tool_calls>\n"
    + EACH.replace("CALL", '{"name": "{{ c.function.name }}", "arguments": ' + JSON + "}\n")
    + "</tool_calls>",
    "minimax_m2": "<minimax:tool_call>\n"
    + EACH.replace(
        "CALL",
        '<invoke name="{{ c.function.name }}">\n'
        + PAIRS.replace("PAIR", f'<parameter name="{{{{ k }}}}">{VALUE}</parameter>\n')
        + "</invoke>\n",
    )
    + "</minimax:tool_call>",
    "mistral_v13": EACH.replace("CALL", "[TOOL_CALLS]{{ c.function.name }}[ARGS]" + JSON),
    "qwen_bracket": EACH.replace("CALL", "[Calling tool: {{ c.function.name }}(" + JSON + ")]"),
}
"""What a call looks like in the formats of which no template is at hand, in templates of our own."""


def toy(format: str) -> str:
    calls = TOYS[format].removeprefix("<|start_of_role|>")
    text = LOOP.replace("CALLS", calls)
    return text.replace("<|im_start|>", "<|start_of_role|>") if format == "granite4" else text


@pytest.mark.parametrize("format", TOYS)
def test_formats_without_a_template_at_hand_are_read_off_one_of_our_own(format: str) -> None:
    audit = audit_template(toy(format))
    assert (audit.mode, audit.format.format) == ("native", format)
    ways = [trip.way for trip in round_trips(toy(format))]
    assert "lost" not in ways
    assert ways.count("native") >= len(VALUES) - 6


def test_every_native_format_is_in_the_property_test() -> None:
    assert set(ONE_TEMPLATE_A_FORMAT) | set(TOYS) | NOT_FROM_TEMPLATES == set(FORMATS)


def test_every_format_that_a_template_at_hand_writes_is_in_the_property_test(texts: dict[str, str]) -> None:
    chosen = {name: audit_template(text).format.format for name, text in texts.items()}
    assert {format: chosen[name] for format, name in ONE_TEMPLATE_A_FORMAT.items()} == {
        format: format for format in ONE_TEMPLATE_A_FORMAT
    }
    assert set(chosen.values()) == set(ONE_TEMPLATE_A_FORMAT)


@pytest.mark.slow
@pytest.mark.parametrize("format", [*ONE_TEMPLATE_A_FORMAT, *TOYS])
def test_any_object_as_arguments_survives_render_and_parse(texts: dict[str, str], format: str) -> None:
    text = toy(format) if format in TOYS else texts[ONE_TEMPLATE_A_FORMAT[format]]

    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(objects)
    def survives(arguments: dict[str, Any]) -> None:
        properties = {key: {"type": KINDS.get(type(value), "null")} for key, value in arguments.items()}
        function = {"name": TOOL_NAME, "parameters": {"type": "object", "properties": properties}}
        tools = [{"type": "function", "function": {**function, "description": "둔다"}}]
        rendered = render(conversation(arguments), tools, text)
        assert not [note for note in rendered.notes if note.startswith("not shown")]
        assert agrees(read_again(rendered, text, tools), arguments)

    survives()


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_what_the_toolkit_writes_into_the_content_reads_back(format: str) -> None:
    arguments = {"value": '그는 "좋아"\n', "step": 1}
    calls = conversation(arguments)[1]["tool_calls"]
    tools = [tool_for("")]
    for several in (calls, [*calls, {**calls[0], "id": "call00002"}]):
        text = WRITERS[format](several)
        # Granite 3 writes no closing tag, which Phi-4-mini's own format has.
        strict = format != "phi4_mini"
        assert reads_back(text, format, [(TOOL_NAME, arguments)] * len(several), tools, strict=strict), text


def test_json_equality_keeps_booleans_and_numbers_apart() -> None:
    assert same({"a": [5, {"b": None}]}, {"a": [5.0, {"b": None}]})
    for a, b in (
        (True, 1),
        (False, 0),
        (None, False),
        ("1", 1),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ([], {}),
    ):
        assert not same(a, b)


def test_the_command_prints_the_table_with_reasons(
    tmp_path: Path, texts: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("qwen2.5-instruct", "gemma-2-9b-it"):
        (tmp_path / f"{name}.jinja").write_text(texts[name], encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "gemma-2-9b-it: all values: the template shows no calls" in out
    assert out.strip().endswith(f"native {len(VALUES)}, prompt {len(VALUES)}")
    assert main([str(tmp_path / "qwen2.5-instruct.jinja"), "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[0]) == {
        "template": "qwen2.5-instruct",
        "value": "quotes",
        "way": "native",
        "reason": "",
    }


def test_the_command_names_a_folder_without_templates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no .jinja file; expected a folder of chat templates" in capsys.readouterr().err


def test_a_lost_value_stands_out_in_the_table() -> None:
    trips = [Trip("t", label, "native") for label in VALUES]
    trips[0] = Trip("t", "quotes", "lost", "gone")
    assert "t   ! " in table(trips)
    assert "t: quotes: gone" in table(trips)
