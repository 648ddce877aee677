"""Weak spots of templates, each in a template of a few lines: what must and must not stand in the prompt."""

import re
from typing import Any

import pytest

from fcb_toolkit.rendering import ConversationError, audit_template, render

USER = {"role": "user", "content": "강릉 날씨"}
TOOL = {
    "name": "weather",
    "description": "날씨",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
LOOP = "{% for m in messages %}<|{{ m.role }}|>BODY<|end|>{% endfor %}"
TEXT = "{{ m.content }}"


def turn(*calls: tuple[str | None, Any], **more: Any) -> dict[str, Any]:
    made = []
    for identity, arguments in calls:
        call: dict[str, Any] = {"type": "function", "function": {"name": "weather", "arguments": arguments}}
        made.append(call if identity is None else {**call, "id": identity})
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def result(text: Any, identity: str | None = None) -> dict[str, Any]:
    message = {"role": "tool", "content": text}
    return message if identity is None else {**message, "tool_call_id": identity}


def prompt(body: str, *messages: dict[str, Any]) -> str:
    return render([USER, *messages], [TOOL], LOOP.replace("BODY", body)).prompt


def test_a_template_that_prints_arguments_as_they_are_gets_text_not_a_python_dict() -> None:
    body = (
        "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments }}</call>{% endfor %}"
        + TEXT
    )
    made = prompt(body, turn(("a", {"city": "강릉", "days": 2})), result("비", "a"))
    assert '<call>weather {"city": "강릉", "days": 2}</call>' in made
    assert "{'city'" not in made


def test_a_template_that_concatenates_arguments_gets_text() -> None:
    body = (
        "{% for c in m.tool_calls or [] %}{{ '<call>' + c.function.name + ' ' + c.function.arguments }}{% endfor %}"
        + TEXT
    )
    assert '<call>weather {"city": "강릉"}' in prompt(body, turn(("a", {"city": "강릉"})), result("비", "a"))


def test_a_template_that_walks_arguments_gets_an_object() -> None:
    body = (
        "{% for c in m.tool_calls or [] %}<{{ c.function.name }}{% for k in c.function.arguments %}"
        " {{ k }}={{ c.function.arguments[k] }}{% endfor %}>{% endfor %}" + TEXT
    )
    made = prompt(body, turn(("a", '{"city": "강릉", "days": 2}')), result("비", "a"))
    assert "<weather city=강릉 days=2>" in made


def test_a_template_that_silently_takes_the_first_call_only_gets_one_at_a_time() -> None:
    body = (
        "{% if m.tool_calls %}<call>{{ m.tool_calls[0].function | tojson }}</call>{% else %}"
        + TEXT
        + "{% endif %}"
    )
    messages = [
        turn(("a", {"city": "강릉"}), ("b", {"city": "속초"})),
        result("속초 맑음", "b"),
        result("강릉 비", "a"),
    ]
    made = prompt(body, *messages)
    order = [made.index(word) for word in ('"강릉"', "강릉 비", '"속초"', "속초 맑음")]
    assert order == sorted(order)


def test_a_template_that_takes_several_calls_gets_them_in_one_turn() -> None:
    body = "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}" + TEXT
    made = prompt(
        body, turn(("a", {"city": "강릉"}), ("b", {"city": "속초"})), result("비", "a"), result("맑음", "b")
    )
    assert made.count("<|assistant|>") == 1


def test_ids_of_nine_stay_apart_and_pair_call_and_result() -> None:
    body = (
        "{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}"
        "<call {{ c.id }}>{{ c.function | tojson }}{% endfor %}"
        "{% if m.role == 'tool' %}{% if m.tool_call_id | length != 9 %}{{ raise_exception('nine') }}{% endif %}"
        "<of {{ m.tool_call_id }}>{% endif %}" + TEXT
    )
    first, second = "call_" + "x" * 30 + "1", "call_" + "x" * 30 + "2"
    made = prompt(
        body,
        turn((first, {"city": "강릉"}), (second, {"city": "속초"})),
        result("비", first),
        result("맑음", second),
    )
    made = made[made.index(USER["content"]) :]
    called, answered = re.findall(r"<call (\w+)>", made), re.findall(r"<of (\w+)>", made)
    assert len(set(called)) == 2
    assert answered == called


def test_a_template_that_needs_a_name_on_results_gets_it() -> None:
    body = (
        "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}{% if m.role == 'tool' %}{{ 'of ' + m.name + ': ' }}{% endif %}"
        + TEXT
    )
    assert "of weather: 비" in prompt(body, turn((None, {"city": "강릉"})), result("비"))


@pytest.mark.parametrize("content", ["", None, ...])
def test_missing_content_is_never_printed_as_a_word(content: Any) -> None:
    body = "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}{{ '' ~ m.content }}"
    message = turn(("a", {"city": "강릉"}), content=content)
    if content is ...:
        del message["content"]
    made = prompt(
        body, message, result([{"type": "text", "text": "비"}], "a"), {"role": "assistant", "content": None}
    )
    assert "None" not in made
    assert "Undefined" not in made
    assert "비" in made


@pytest.mark.parametrize("value", [None, []])
@pytest.mark.parametrize(
    "test",
    ["m.tool_calls is defined", "'tool_calls' in m", "m.tool_calls is not none and m.tool_calls is defined"],
)
def test_a_turn_without_calls_has_no_such_key(value: Any, test: str) -> None:
    body = "{% if " + test + " %}<calls {{ m.tool_calls | length }}>{% else %}" + TEXT + "{% endif %}"
    made = prompt(body, {"role": "assistant", "content": "어느 강릉요?", "tool_calls": value}, USER)
    assert "어느 강릉요?" in made
    assert "<calls" not in made


def test_references_are_resolved_wherever_they_stand() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "one": {"$ref": "#/definitions/Place"},
            "many": {"type": "array", "items": {"$ref": "#/definitions/Place"}},
            "maybe": {"anyOf": [{"$ref": "#/definitions/Place"}, {"type": "null"}]},
            "gone": {"$ref": "#/definitions/Nowhere"},
        },
        "definitions": {"Place": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Place"}}}},
    }
    walk = (
        "{% for t in tools or [] %}{{ t.function.name }}({% for k, p in t.function.parameters.properties.items() %}"
        "{{ k }}:{{ p.type | upper }}{% if p.type == 'array' %}<{{ p['items'].type | upper }}>{% endif %};{% endfor %}){% endfor %}"
    )
    made = render(
        [USER], [{"name": "go", "parameters": parameters}], walk + LOOP.replace("BODY", TEXT)
    ).prompt
    assert "go(one:OBJECT;many:ARRAY<OBJECT>;maybe:OBJECT;gone:OBJECT;)" in made


def test_a_conversation_that_the_assistant_begins_gets_an_empty_user_turn_where_it_is_needed() -> None:
    strict = (
        "{% if messages[0].role != 'user' %}{{ raise_exception('user first') }}{% endif %}"
        + LOOP.replace("BODY", TEXT)
    )
    hello = {"role": "assistant", "content": "무엇을 도와드릴까요?"}
    rendered = render([hello, USER], [], strict)
    assert "무엇을 도와드릴까요?" in rendered.prompt
    assert "fixes=between" in rendered.shape
    assert "fixes" not in render([hello, USER], [], LOOP.replace("BODY", TEXT)).shape


def test_a_later_system_turn_is_kept_where_the_template_wants_one_at_the_start_only() -> None:
    strict = (
        "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('first only') }}"
        "{% endif %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    )
    later = {"role": "system", "content": "짧게 답하라."}
    rendered = render([USER, later, USER], [], strict)
    assert "짧게 답하라." in rendered.prompt


@pytest.mark.parametrize(
    ("arguments", "kind"), [('"강릉"', "a string"), ("[]", "a list"), ("true", "a boolean")]
)
def test_arguments_of_another_json_type_are_refused_with_call_and_type(arguments: str, kind: str) -> None:
    with pytest.raises(
        ConversationError, match=rf"messages\[1\] tool_calls\[0\] \(weather\): 'arguments' is {kind}"
    ):
        prompt(TEXT, turn(("a", arguments)), result("비", "a"))


PARTS = "{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}"


@pytest.mark.parametrize("first", ["", "{{ m.content[0].type }}:"])
def test_a_template_that_reads_only_lists_of_parts_gets_them(first: str) -> None:
    source = LOOP.replace("BODY", first + PARTS)
    talk = [{"role": "system", "content": "안내원"}, USER, turn(("a", {"city": "강릉"})), result("비", "a")]
    made = render(talk, [TOOL], source)
    for text in ("안내원", "강릉 날씨", '"강릉"', "비", "weather"):
        assert text in made.prompt
    assert "text=parts" in made.shape and not [note for note in made.notes if note.startswith("not shown")]
    assert "string_content_lost" in {finding.code for finding in audit_template(source).findings}


def test_a_template_that_reads_both_gets_plain_strings() -> None:
    body = "{% if m.content is string %}{{ m.content }}{% else %}" + PARTS + "{% endif %}"
    assert "parts" not in render([USER], [TOOL], LOOP.replace("BODY", body)).shape
