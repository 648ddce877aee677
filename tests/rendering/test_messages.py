"""Messages and tools in canonical form: what is mended, and what is refused with which words."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.errors import DataError
from fcb_toolkit.rendering.messages import ConversationError, check_depth, prepare, prepare_tools
from fcb_toolkit.rendering.reordered import in_call_order, split_calls
from fcb_toolkit.rendering.shapes import Shape, shaped_id

USER = {"role": "user", "content": "안녕"}


def call(name: str, arguments: object = "{}", identity: str | None = None) -> dict[str, object]:
    made: dict[str, object] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return made if identity is None else {**made, "id": identity}


def turn(*calls: dict[str, object], content: object = None) -> dict[str, object]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content: object, **more: str) -> dict[str, object]:
    return {"role": "tool", "content": content, **more}


def arguments_of(arguments: object) -> object:
    prepared = prepare([USER, turn(call("f", arguments))], None)
    return prepared.messages[1]["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize("text", [None, "", "  \n", "{}", {}])
def test_blank_arguments_are_no_arguments(text: object) -> None:
    assert arguments_of(text) == {}


def test_text_arguments_are_decoded_even_when_encoded_twice() -> None:
    assert arguments_of('{"도시": "속초"}') == {"도시": "속초"}
    assert arguments_of('"{\\"도시\\": \\"속초\\"}"') == {"도시": "속초"}


def test_broken_arguments_are_shown_empty_with_a_note() -> None:
    prepared = prepare([USER, turn(call("f", '{"a": '))], None)
    assert prepared.messages[1]["tool_calls"][0]["function"]["arguments"] == {}
    assert prepared.notes == (
        "messages[1] tool_calls[0] (f): the arguments are not JSON and are shown as {}",
    )


@pytest.mark.parametrize(("arguments", "kind"), [("[1]", "a list"), ("3", "a number"), ([1], "a list")])
def test_arguments_of_another_type_are_refused(arguments: object, kind: str) -> None:
    with pytest.raises(ConversationError, match=f"'arguments' is {kind}, expected an object"):
        arguments_of(arguments)


def test_null_and_empty_tool_calls_vanish() -> None:
    for value in (None, []):
        prepared = prepare([{"role": "assistant", "content": "네", "tool_calls": value}], None)
        assert prepared.messages == ({"role": "assistant", "content": "네"},)


def test_content_becomes_text() -> None:
    parts = [{"type": "text", "text": "가"}, {"type": "text", "text": "나"}]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant"},
        {"role": "assistant", "content": None},
    ]
    assert [message["content"] for message in prepare(messages, None).messages] == ["가나", "", ""]


def test_a_result_that_is_no_text_is_shown_as_json() -> None:
    messages = [USER, turn(call("f", identity="a")), result({"기온": 21}, tool_call_id="a")]
    assert prepare(messages, None).messages[2]["content"] == '{"기온": 21}'


def test_an_image_is_refused_by_its_place() -> None:
    with pytest.raises(ConversationError, match=r"messages\[0\] has content that is a list, expected text"):
        prepare([{"role": "user", "content": [{"type": "image_url"}]}], None)


def test_the_old_function_call_is_a_call_and_the_function_role_its_result() -> None:
    messages = [
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
        {"role": "function", "name": "f", "content": "끝"},
    ]
    prepared = prepare(messages, None).messages
    assert prepared[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}
    assert prepared[2]["role"] == "tool"
    assert prepared[2]["tool_call_id"] == prepared[1]["tool_calls"][0]["id"]


def test_missing_ids_are_made_and_pair_call_and_result() -> None:
    prepared = prepare([USER, turn(call("f"), call("g")), result("1"), result("2")], None).messages
    ids = [made["id"] for made in prepared[1]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in prepared[2:]] == ids
    assert [message["name"] for message in prepared[2:]] == ["f", "g"]


def test_an_id_that_matches_nothing_is_paired_with_the_open_call_and_noted() -> None:
    prepared = prepare([USER, turn(call("f", identity="a")), result("1", tool_call_id="b")], None)
    assert prepared.messages[2]["tool_call_id"] == "a"
    assert "matches no call" in prepared.notes[0]


def test_equal_placeholder_ids_are_paired_by_name_and_then_by_order() -> None:
    messages = [
        USER,
        turn(call("f", identity="random_id"), call("g", identity="random_id")),
        result("2", tool_call_id="random_id", name="g"),
        result("1", tool_call_id="random_id"),
    ]
    assert [message["name"] for message in prepare(messages, None).messages[2:]] == ["g", "f"]


def test_results_without_ids_are_refused_when_two_calls_of_one_tool_are_open() -> None:
    with pytest.raises(ConversationError, match="2 calls of 'f' are open; give each call an 'id'"):
        prepare([USER, turn(call("f"), call("f")), result("1"), result("2")], None)


def test_a_result_that_answers_no_call_is_kept_with_a_placeholder_name() -> None:
    prepared = prepare([USER, result("맑음")], None)
    assert prepared.messages[1]["name"] == "unknown_tool"
    assert "answers no call" in prepared.notes[0]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ("안녕", "messages is a string, expected a list"),
        ([], "the conversation is empty"),
        ([{"role": "robot"}], r"messages\[0\] has role 'robot', expected one of system, developer"),
        ([{"role": "assistant", "tool_calls": "f()"}], r"\['tool_calls'\] is a string, expected a list"),
        ([{"role": "assistant", "tool_calls": [{}]}], r"messages\[0\] tool_calls\[0\] has no name"),
    ],
)
def test_unreadable_messages_are_refused(messages: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        prepare(messages, None)  # type: ignore[arg-type]


def test_tools_get_what_templates_rely_on() -> None:
    (tool,) = prepare_tools([{"name": "f"}])
    assert tool == {
        "type": "function",
        "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
    }


def test_a_complete_tool_is_left_as_it_is() -> None:
    function = {
        "name": "f",
        "description": "설명",
        "parameters": {"properties": {"a": {"type": "string"}}, "type": "object", "required": ["a"]},
        "strict": True,
    }
    (tool,) = prepare_tools([{"type": "function", "function": function}])
    assert tool["function"] == function
    assert list(tool["function"]["parameters"]) == ["properties", "type", "required"]


def test_null_parts_of_a_schema_are_dropped() -> None:
    parameters = {"type": "object", "properties": None, "required": None}
    (tool,) = prepare_tools([{"name": "f", "description": None, "parameters": parameters}])
    assert tool["function"]["parameters"] == {"type": "object", "properties": {}}


def test_null_keywords_of_a_parameter_are_dropped_and_null_values_stay() -> None:
    properties = {
        "city": {"type": "string", "description": None, "title": None},
        "description": {"type": "string", "default": None, "enum": ["a", None]},
        "kind": {"const": None},
        "list": {"type": "array", "items": {"type": "string", "description": None}, "default": [{"a": None}]},
        "either": {"anyOf": [{"type": "null", "description": None}, {"$ref": "#/$defs/A"}]},
    }
    given = {"type": "object", "properties": properties, "$defs": {"A": {"type": "integer", "minimum": None}}}
    (tool,) = prepare_tools([{"name": "f", "parameters": given}])
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "description": {"type": "string", "default": None, "enum": ["a", None]},
            "kind": {"const": None},
            "list": {"type": "array", "items": {"type": "string"}, "default": [{"a": None}]},
            "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/A"}]},
        },
        "$defs": {"A": {"type": "integer"}},
    }
    assert properties["city"]["description"] is None, "what was given is left as it is"


def test_python_functions_and_sources_are_tools() -> None:
    def add(a: int, b: int = 0) -> int:
        """더한다."""
        return a + b

    tools = prepare_tools([add, "def mul(x: float): ..."])
    assert [tool["function"]["name"] for tool in tools] == ["add", "mul"]
    assert tools[0]["function"]["parameters"]["required"] == ["a"]


@pytest.mark.parametrize("tools", ["f", {"name": "f"}])
def test_tools_that_are_no_list_are_refused(tools: object) -> None:
    with pytest.raises(ConversationError, match="expected a list of tools"):
        prepare_tools(tools)  # type: ignore[arg-type]


def test_a_tool_without_a_name_is_refused_by_its_place() -> None:
    with pytest.raises(ConversationError, match=re.escape("tools[1] has no name")):
        prepare_tools([{"name": "f"}, {"type": "function", "function": {}}])


def test_depth_is_counted_without_recursion() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ConversationError, match="x is nested more than"):
        check_depth(value, "x")


def test_split_calls_keep_each_result_beside_its_call() -> None:
    messages = [
        USER,
        turn(call("f", identity="a"), call("f", identity="b"), content="두 번"),
        result("B", tool_call_id="b"),
        result("A", tool_call_id="a"),
    ]
    split = split_calls(list(prepare(messages, None).messages))
    assert [message["content"] for message in split] == ["안녕", "두 번", "A", "", "B"]


def test_results_are_put_into_the_order_of_their_calls() -> None:
    messages = [
        USER,
        turn(call("f", identity="a"), call("f", identity="b")),
        result("B", tool_call_id="b"),
        result("A", tool_call_id="a"),
    ]
    ordered = in_call_order(list(prepare(messages, None).messages))
    assert [message["content"] for message in ordered[2:]] == ["A", "B"]


@settings(deadline=None)
@given(st.text(min_size=1), st.text(min_size=1))
def test_ids_of_nine_are_nine_and_tell_ids_apart(first: str, second: str) -> None:
    shape = Shape(ids="nine")
    made = [shaped_id(identity, shape) for identity in (first, second)]
    assert all(len(one) == 9 and one.isascii() and one.isalnum() for one in made)
    assert (made[0] == made[1]) == (first == second)
    assert shaped_id("abcDEF123", shape) == "abcDEF123"
