"""`render` through every template at hand: nothing of a conversation is lost, and each change is said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rendering_raw import templates
from transformers import PreTrainedTokenizerFast

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.parsers import FORMATS
from fcb_toolkit.records import Rendered
from fcb_toolkit.rendering import ConversationError, render

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SYSTEM = {"role": "system", "content": "너는 예약 도우미다."}
NESTED: dict[str, Any] = {
    "type": "object",
    "description": "선호",
    "properties": {"floor": {"type": "integer"}, "view": {"type": "string", "enum": ["바다", "산"]}},
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "book_room",
            "description": '방을 "예약"한다.\n하루 단위.',
            "parameters": {
                "type": "object",
                "properties": {
                    "grade": {"type": "string", "description": "등급", "enum": ["일반", "특실"]},
                    "nights": {"type": "integer", "description": "박 수", "default": None},
                    "taste": NESTED,
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["grade"],
            },
        },
    },
    {"type": "function", "function": {"name": "now", "description": "", "parameters": {}}},
]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def turn(*calls: tuple[str, str, dict[str, Any]], content: str | None = None) -> dict[str, Any]:
    made = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a, ensure_ascii=False)}}
        for i, n, a in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(identity: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": text}


BOOK = {"grade": "특실", "nights": 2, "taste": {"floor": 7, "view": "바다"}, "tags": ["조용한", "금연"]}
CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "first question": [SYSTEM, user("방 있나요")],
    "without system": [user("방 있나요")],
    "one call": [SYSTEM, user("방 있나요"), turn(("a1", "book_room", BOOK)), result("a1", "예약 끝")],
    "json result": [
        user("방 있나요"),
        turn(("a1", "book_room", BOOK)),
        result("a1", '{"번호": 17, "층": "칠"}'),
    ],
    "no arguments": [SYSTEM, user("몇 시야"), turn(("a1", "now", {})), result("a1", "세 시")],
    "text beside": [
        user("방"),
        turn(("a1", "book_room", BOOK), content="잠깐만요."),
        result("a1", "예약 끝"),
    ],
    "parallel": [
        SYSTEM,
        user("둘 다"),
        turn(("a1", "book_room", {"grade": "일반"}), ("a2", "now", {})),
        result("a2", "세 시"),
        result("a1", "예약 끝"),
    ],
    "several turns": [
        SYSTEM,
        user("방 있나요"),
        turn(("a1", "book_room", {"grade": "일반"})),
        result("a1", "예약 끝"),
        said("일반실을 잡았습니다."),
        user("특실로 바꿔 줘"),
        turn(("a2", "book_room", {"grade": "특실"})),
        result("a2", "바꿈"),
    ],
    "user after result": [
        user("방"),
        turn(("a1", "book_room", BOOK)),
        result("a1", "예약 끝"),
        user("아니 취소"),
    ],
    "equal turns": [SYSTEM, user("네"), said("특실로 할까요?"), user("네")],
    "two users": [SYSTEM, user("방 있나요"), user("내일이요")],
}


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, str]:
    return templates(shared)


def texts_of(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["content"] and message["role"] != "tool"]


def missing(rendered: Rendered, messages: list[dict[str, Any]]) -> list[str]:
    """What of the conversation is not in the prompt, by plain search."""
    found = [note for note in rendered.notes if note.startswith("not shown")]
    prompt = rendered.prompt
    found += [text for text in texts_of(messages) if text not in prompt]
    for message in messages:
        for call in message.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            words = [
                call["function"]["name"],
                *re.findall(r"[가-힣]+|\d", json.dumps(arguments, ensure_ascii=False)),
            ]
            found += [word for word in words if word not in prompt]
        if message["role"] == "tool":
            found += [word for word in re.findall(r"[가-힣0-9]+", message["content"]) if word not in prompt]
    for word in ("book_room", "now", "등급", "일반", "특실", "선호", "바다", "산", "예약", "floor", "view"):
        found += [word] if word not in prompt else []
    return found


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_nothing_of_a_conversation_is_lost_through_any_template(texts: dict[str, str], name: str) -> None:
    messages = CONVERSATIONS[name]
    rendered = {key: render(messages, TOOLS, text) for key, text in texts.items()}
    assert {key: lost for key, made in rendered.items() if (lost := missing(made, messages))} == {}
    assert {made.format for made in rendered.values()} <= set(FORMATS)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_prompt_mode_loses_nothing_either(texts: dict[str, str], language: str) -> None:
    for name, messages in CONVERSATIONS.items():
        for key, text in texts.items():
            rendered = render(messages, TOOLS, text, mode="prompt", language=language)
            assert missing(rendered, messages) == [], (name, key)
            assert (rendered.mode, rendered.format, rendered.tools) == ("prompt", "plain_json", ())


def test_a_prompt_does_not_depend_on_what_was_rendered_before(texts: dict[str, str]) -> None:
    for key in ("mistral-7b-instruct-v0.3", "llama-3.1-8b-instruct"):
        forward = [render(messages, TOOLS, texts[key]) for messages in CONVERSATIONS.values()]
        backward = [render(messages, TOOLS, texts[key]) for messages in reversed(CONVERSATIONS.values())]
        assert forward == backward[::-1]


def test_the_given_messages_and_tools_are_left_as_they_are(texts: dict[str, str]) -> None:
    before = json.dumps([CONVERSATIONS, TOOLS])
    for key in ("mistral-7b-instruct-v0.3", "deepseek-r1-distill-qwen-7b", "functiongemma-270m-it"):
        for messages in CONVERSATIONS.values():
            render(messages, TOOLS, texts[key])
    assert json.dumps([CONVERSATIONS, TOOLS]) == before


def test_no_tools_and_an_empty_list_of_tools_are_the_same(texts: dict[str, str]) -> None:
    for key, text in texts.items():
        messages = CONVERSATIONS["first question"]
        assert render(messages, [], text) == render(messages, None, text), key


def test_parallel_calls_are_split_only_where_the_template_needs_it(texts: dict[str, str]) -> None:
    messages = CONVERSATIONS["parallel"]
    split = render(messages, TOOLS, texts["llama-3.1-8b-instruct"])
    assert split.shape.endswith("fixes=split")
    assert "parallel calls are shown one after the other, each with its own result" in split.notes
    order = [split.prompt.index(word) for word in ('{"grade": "일반"}', "예약 끝", '"now"', "세 시")]
    assert order[0] < order[1] < order[3]
    assert "fixes" not in render(messages, TOOLS, texts["qwen2.5-instruct"]).shape


def test_tools_are_printed_once_even_when_two_user_turns_are_equal(texts: dict[str, str]) -> None:
    rendered = render(CONVERSATIONS["equal turns"], TOOLS, texts["mistral-7b-instruct-v0.3"])
    assert rendered.prompt.count("[AVAILABLE_TOOLS]") == 1
    assert "fixes=distinct" in rendered.shape


def test_the_system_text_survives_a_conversation_that_ends_with_a_result(texts: dict[str, str]) -> None:
    rendered = render(CONVERSATIONS["one call"], TOOLS, texts["mistral-7b-instruct-v0.3"])
    assert SYSTEM["content"] in rendered.prompt
    assert "the system text stands before the first user turn's text" in rendered.notes


def test_ids_of_nine_are_the_same_in_call_and_result(texts: dict[str, str]) -> None:
    rendered = render(CONVERSATIONS["one call"], TOOLS, texts["mistral-7b-instruct-v0.3"])
    (call_id,) = re.findall(r'"id": "(\w{9})"', rendered.prompt)
    assert f'"call_id": "{call_id}"' in rendered.prompt


def test_tools_that_need_a_system_turn_get_one(texts: dict[str, str]) -> None:
    rendered = render(CONVERSATIONS["without system"], TOOLS, texts["functiongemma.vllm"])
    assert rendered.mode == "native"
    assert "fixes=system" in rendered.shape


def test_details_that_a_template_drops_are_said_in_the_system_text() -> None:
    text = (
        "{% for t in tools %}declare {{ t.function.name }}({{ t.function.parameters | tojson }}){% endfor %}"
        + CHATML
    )
    rendered = render(CONVERSATIONS["first question"], TOOLS[:1], text)
    assert '방을 "예약"한다.' in rendered.prompt
    assert (
        "details of book_room that the template does not show are said in the system text" in rendered.notes
    )


def test_a_null_default_is_not_printed_as_the_word_none() -> None:
    walk = (
        "{% for t in tools %}{{ t.function.name }}({% for k, p in t.function.parameters.properties.items() %}"
        "{{ k }}: {{ p.type }}{% if p.default is defined %} = {{ p.default }}{% endif %}, {% endfor %}){% endfor %}"
    )
    rendered = render(CONVERSATIONS["first question"], TOOLS, walk + CHATML)
    assert "nights: integer, " in rendered.prompt
    assert '"default": null' in rendered.prompt
    assert "None" not in rendered.prompt


def test_reasoning_is_switched_where_the_template_has_a_switch(texts: dict[str, str]) -> None:
    messages = CONVERSATIONS["first question"]
    off = render(messages, TOOLS, texts["qwen3"], enable_thinking=False)
    assert off.prompt.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert render(messages, TOOLS, texts["qwen3"]).prompt.endswith("<|im_start|>assistant\n")
    on = render(messages, TOOLS, texts["deepseek-v3.1"], enable_thinking=True)
    assert on.prompt.endswith("<think>")
    none = render(messages, TOOLS, texts["qwen2.5-instruct"], enable_thinking=False)
    assert "the template has no reasoning switch: enable_thinking does nothing" in none.notes


def test_a_missing_generation_prompt_is_said(texts: dict[str, str]) -> None:
    after = render(CONVERSATIONS["one call"], TOOLS, texts["functiongemma-270m-it"])
    assert "after a tool turn the template adds no generation prompt" in after.notes
    first = render(CONVERSATIONS["first question"], TOOLS, CHATML.partition("{% if")[0])
    assert "the template adds no generation prompt" in first.notes
    for key in ("mistral-7b-instruct-v0.3", "command-r7b-12-2024.tool_use", "toolace-8b.vllm"):
        always = render(CONVERSATIONS["first question"], TOOLS, texts[key])
        assert not any("generation prompt" in note for note in always.notes), key


def test_without_a_generation_prompt_the_prompt_ends_with_the_last_turn(texts: dict[str, str]) -> None:
    rendered = render(
        CONVERSATIONS["first question"], TOOLS, texts["qwen2.5-instruct"], add_generation_prompt=False
    )
    assert rendered.prompt.endswith("방 있나요<|im_end|>\n")


def test_a_server_gets_messages_and_tools_in_the_same_shape(texts: dict[str, str]) -> None:
    native = render(CONVERSATIONS["one call"], TOOLS, texts["qwen2.5-instruct"])
    assert [tool["function"]["name"] for tool in native.tools] == ["book_room", "now"]
    assert native.messages[2]["tool_calls"][0]["function"]["arguments"] == BOOK
    prompt = render(CONVERSATIONS["one call"], TOOLS, texts["gemma-2-9b-it"])
    assert prompt.tools == ()
    assert [message["role"] for message in prompt.messages] == ["user", "assistant", "user"]


def tokenizer(chat_template: str) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    core = Tokenizer(WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2}, unk_token="<unk>"))
    core.pre_tokenizer = Whitespace()
    core.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    made.chat_template = chat_template
    return made


@pytest.mark.parametrize("start", ["{{ bos_token }}", "{{ bos_token }}{{ bos_token }}", "<s>{{ bos_token }}"])
def test_the_prompt_carries_bos_once_and_so_do_its_tokens(start: str) -> None:
    with_bos = tokenizer(start + CHATML)
    rendered = render([user("안녕")], TOOLS, with_bos)
    assert rendered.prompt.count("<s>") == 1
    assert with_bos(rendered.prompt, add_special_tokens=False)["input_ids"].count(1) == 1
    assert any("twice" in note for note in rendered.notes) == (start != "{{ bos_token }}")


def test_a_real_tokenizer_renders_as_apply_chat_template_does(texts: dict[str, str]) -> None:
    qwen = tokenizer(texts["qwen2.5-instruct"])
    messages = CONVERSATIONS["first question"]
    rendered = render(messages, TOOLS, qwen)
    theirs = qwen.apply_chat_template(
        list(rendered.messages), tools=list(rendered.tools), tokenize=False, add_generation_prompt=True
    )
    assert rendered.prompt == theirs


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "magic"}, "unknown rendering mode 'magic'. Known: auto, native, prompt"),
        ({"language": "fr"}, "unknown language 'fr'. Known: en, ko"),
    ],
)
def test_unknown_options_list_the_known_ones(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(words)):
        render([user("안녕")], [], CHATML, **options)


def test_native_mode_says_why_it_cannot_be_had() -> None:
    with pytest.raises(ConversationError, match="does not show the tools.*use mode='auto'"):
        render([user("안녕")], TOOLS, CHATML, mode="native")


def test_a_template_that_refuses_everything_is_an_error_with_its_own_words() -> None:
    with pytest.raises(
        ConversationError, match="refuses this conversation in every shape, last with: .*nein"
    ):
        render([user("안녕")], TOOLS, "{{ raise_exception('nein') }}")


def object_of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


HARD_SCHEMAS: dict[str, dict[str, Any]] = {
    "nullable": object_of(
        {"cpu": {"type": ["integer", "null"]}, "net": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    ),
    "reference": object_of(
        {"scope": {"$ref": "#/$defs/S"}}, **{"$defs": {"S": object_of({"shops": {"type": "array"}})}}
    ),
    "cycle": object_of(
        {"node": {"$ref": "#/$defs/N"}}, **{"$defs": {"N": object_of({"next": {"$ref": "#/$defs/N"}})}}
    ),
    "reserved names": object_of(
        {
            key: {"type": "string"}
            for key in ("items", "keys", "get", "type", "description", "properties", "required")
        }
    ),
    "odd names": object_of(
        {"a-b": {"type": "string"}, "한글": {"type": "integer"}, "$x": {"type": "boolean"}}
    ),
    "enums": object_of({"a": {"enum": [1, 2]}, "b": {"enum": ["가", None, True]}, "c": {"const": "고정"}}),
    "deep": object_of(
        {"a": object_of({"b": {"type": "array", "items": object_of({"c": {"enum": ["깊은값"]}})}})}
    ),
    "defaults": object_of(
        {"a": {"type": "string", "default": None}, "b": {"type": "integer", "default": 31}}
    ),
    "untyped": object_of({"a": {}, "b": {"description": "형 없음"}, "c": True}),
    "unions": object_of({"a": {"oneOf": [{"type": "string"}, object_of({"zeta": {"type": "integer"}})]}}),
}


@pytest.mark.parametrize("kind", HARD_SCHEMAS)
def test_hard_schemas_reach_the_prompt_through_any_template(texts: dict[str, str], kind: str) -> None:
    schema = HARD_SCHEMAS[kind]
    tool = {"name": "weigh", "description": '말 "x"\n`코드` </tools>', "parameters": schema}
    words = [
        *schema["properties"],
        *re.findall(r"[가-힣]+|31|shops|next|zeta", json.dumps(schema, ensure_ascii=False)),
    ]
    for key, text in texts.items():
        rendered = render(CONVERSATIONS["first question"], [tool], text)
        assert [word for word in ["weigh", *words] if word not in rendered.prompt] == [], key
        assert not [note for note in rendered.notes if note.startswith("not shown")], key


def test_a_parameter_named_like_a_word_of_json_schema_is_not_mistaken_for_it(texts: dict[str, str]) -> None:
    tool = {"name": "weigh", "parameters": HARD_SCHEMAS["reserved names"]}
    rendered = render([user("재 줘")], [tool], texts["functiongemma-270m-it"])
    assert "- properties (선택)" in rendered.prompt
    assert "tools are written into the system text" in "".join(rendered.notes)


def test_a_closing_reasoning_tag_in_an_argument_does_not_cut_the_written_call(texts: dict[str, str]) -> None:
    note = {"grade": "일반", "tags": ["앞</think>뒤"]}
    messages = [user("방"), turn(("a1", "book_room", note)), result("a1", "예약 끝")]
    rendered = render(messages, TOOLS, texts["deepseek-r1-distill-qwen-7b"])
    assert '"tags": ["앞<\\/think>뒤"]' in rendered.prompt
    assert not [note for note in rendered.notes if note.startswith("not shown")]
