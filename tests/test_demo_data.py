"""The demo model's training data: what it says, and that it shares nothing with what it is tested on."""

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import fcb_toolkit as fcb

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import demo_catalog
import demo_data
from demo_catalog import read_functions, split
from demo_data import make_pack
from demo_korean import josa
from demo_made import read_parts
from demo_tools import cased, plain_style
from demo_values import json_type, value_of

FUNCTIONS = read_functions()


def packs(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield make_pack(FUNCTIONS, random.Random(f"test/{number}"))


def all_names() -> set[str]:
    names = {name for function in FUNCTIONS for name in function.names}
    return names | {cased(name, camel=True) for name in names}


def as_pattern(frame: str) -> re.Pattern[str]:
    """What a frame can say: any words in its slots, any ending, any opening."""
    openings = "(?:" + "|".join(re.escape(opening) for opening in set(demo_data.OPENINGS)) + ")"
    return re.compile(openings + literal(frame, ".+") + "[.?]?")


def literal(frame: str, slot: str) -> str:
    endings = "(?:" + "|".join(re.escape(ending) for ending in set(demo_data.ENDINGS)) + ")"
    return slot.join(re.escape(part).replace("!", endings) for part in re.split(r"\{[^}]*\}", frame))


def composed_alike(text: str) -> list[str]:
    """Functions whose clauses, in any order, and one of whose tails make up `text`."""
    found = []
    for function in FUNCTIONS:
        for tail in function.tails:
            end = re.search(rf"(?:^|\s){literal(tail, '.+')}[.?]?$", text)
            if end and spent(text[: end.start()].strip(), function):
                found.append(f"{function.names[0]}: {tail}")
    return found


def spent(text: str, function: demo_catalog.Function) -> bool:
    """Whether nothing is left of `text` when the clauses of `function` are taken off its end, one by one."""
    if not text:
        return True
    # A clause that is nothing but its value fits every text.
    clauses = [c for line in function.clauses for c in line if re.sub(r"\{[^}]*\}", "", c).strip()]
    begins = [
        found.start()
        for clause in clauses
        if (found := re.search(rf"(?:^|(?<=\s)){literal(clause, '[^ ]+(?: [^ ]+)?')}$", text))
    ]
    return any(spent(text[:begin].strip(), function) for begin in begins)


def sentences(text: str) -> set[str]:
    return {text.strip(), *re.split(r"(?<=[.?!])\s+", text.strip())}


def spoken(cases: list[fcb.Case]) -> set[str]:
    """Every text of user, assistant and system, and each of its sentences."""
    texts = [
        m["content"] for case in cases for m in case.messages if m["role"] != "tool" and m.get("content")
    ]
    for case in cases:
        gold = case.ground_truth
        if isinstance(gold, dict) and gold.get("content"):
            texts.append(gold["content"])
    return {sentence for text in texts for sentence in sentences(text)}


def shared_frames(cases: list[fcb.Case]) -> list[tuple[str, str]]:
    said = spoken(cases)
    frames = demo_data.sentence_frames(FUNCTIONS)
    return [(frame, text) for frame in frames for text in said if as_pattern(frame).fullmatch(text)]


def tool_names(cases: list[fcb.Case]) -> set[str]:
    return {tool["function"]["name"] for case in cases for tool in case.tools}


def test_there_are_at_least_60_functions_with_names_of_their_own() -> None:
    names = [name for function in FUNCTIONS for name in function.names]
    assert len(FUNCTIONS) >= 60
    assert len(set(names)) == len(names)


def test_every_line_of_the_catalogue_can_be_used() -> None:
    for function in FUNCTIONS:
        keys, results = {a.key for a in function.arguments}, {key for key, _ in function.results}
        assert any(function.required <= demo_catalog.slots(r) for r in function.requests), function.names
        for line in [*function.requests, *(c for clauses in function.clauses for c in clauses)]:
            assert demo_catalog.slots(line) <= keys, (function.names, line)
        for line in function.answers:
            assert demo_catalog.slots(line) <= keys | results, (function.names, line)
        said = [slot for line in function.clauses for slot in demo_catalog.slots(line[0])]
        for line in function.clauses:
            assert len({frozenset(demo_catalog.slots(c)) for c in line}) == 1, (function.names, line)
        if function.clauses:
            assert function.tails, function.names
            assert all(said.count(key) == 1 for key in function.required), function.names
        for argument in function.arguments:
            said_as, value = value_of(argument.kind, random.Random(0))
            assert said_as
            jsonschema.validate(value, json_type(argument.kind))
        for key in function.doubled:
            kind = next(a.kind for a in function.arguments if a.key == key and a.required)
            assert json_type(kind)["type"] == "string", (function.names, key)


def test_the_sample_shares_no_function_name_and_no_sentence_frame() -> None:
    cases = fcb.load_benchmark("sample/korean")
    assert not tool_names(cases) & all_names()
    assert shared_frames(cases) == []
    assert [alike for text in spoken(cases) for alike in composed_alike(text)] == []


def test_the_sample_knows_nothing_of_the_functions_put_together_from_parts() -> None:
    """Every tail names its thing, so that a sentence without it shares no frame."""
    cases, parts = fcb.load_benchmark("sample/korean"), read_parts()
    names = {f"{verb}_{thing}" for verbs, _, _ in parts.verbs for verb in verbs for thing, _ in parts.things}
    assert not tool_names(cases) & (names | {cased(name, camel=True) for name in names})
    assert all("{o" in tail for _, _, tails in parts.verbs for tail in tails)
    assert [text for text in spoken(cases) if any(thing in text for _, thing in parts.things)] == []


def test_the_check_finds_a_sentence_that_clauses_make_up() -> None:
    function = next(f for f in FUNCTIONS if "walking_route" in f.names)
    said = "시청 쪽으로 큰나루길 12에서 걸어가는 길 알려 줘"
    assert composed_alike(said) == ["walking_route: 걸어가는 길 알려!"]
    assert composed_alike("걸어서 얼마나 걸려?") == [f"walking_route: {function.tails[1]}"]
    assert composed_alike("시청 말고 큰나루길 걸어서 얼마나 걸려?") == []


def test_the_check_finds_a_frame_that_is_shared() -> None:
    function = next(f for f in FUNCTIONS if "reserve_table" in f.names)
    said = demo_data.fill(
        function.requests[0].replace("!", " 줘"), {"restaurant": ("바다식당", 0), "people": ("3명", 3)}
    )
    case = fcb.Case.from_request(
        {"serial_num": 1, "messages": [{"role": "user", "content": f"안녕? {said}"}]}
    )
    assert {frame for frame, _ in shared_frames([case])} == {function.requests[0]}


def test_no_sentence_or_tool_description_of_functionchat_is_in_the_data(fcb_data: Path) -> None:
    cases = [
        case
        for name in ("singlecall", "dialog", "calldecision")
        for case in fcb.load_benchmark(f"functionchat/{name}", fcb_data / "functionchat")
    ]
    long = {text for text in spoken(cases) if len(text) >= 12}
    own = "\n".join(f.read_text(encoding="utf-8") for f in sorted(demo_catalog.FUNCTIONS.glob("*.txt")))
    assert [text for text in long if text in own] == []
    described = {tool["function"].get("description", "") for case in cases for tool in case.tools}
    ours = {description for function in FUNCTIONS for description in function.descriptions}
    assert not described & (ours | {plain_style(d) for d in ours})


def test_every_call_fits_the_schema_of_an_offered_tool() -> None:
    counts = set()
    for pack in packs(150):
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in pack["tools"]}
        assert 1 <= len(tools) == len(pack["tools"]) <= 8
        for branch in pack["branches"]:
            for message in branch["messages"]:
                for call in message.get("tool_calls", ()):
                    arguments = call["function"]["arguments"]
                    jsonschema.validate(arguments, tools[call["function"]["name"]])
                    counts.add(len(arguments))
    assert counts >= {0, 1, 2, 3}


def test_conversations_call_ask_back_refuse_and_answer_from_results() -> None:
    branches = [branch for pack in packs(100) for branch in pack["branches"]]
    kinds = {branch["kind"] for branch in branches}
    roles = [[m["role"] for m in branch["messages"]] for branch in branches]
    calls = [len(m["tool_calls"]) for branch in branches for m in branch["messages"] if m.get("tool_calls")]
    assert kinds == {"call", "ask", "refuse"}
    assert ["user", "assistant", "tool", "assistant"] in roles
    assert ["user", "assistant", "user", "assistant"] in roles
    assert ["user", "assistant", "tool", "assistant", "user", "assistant"] in roles
    assert set(calls) == {1, 2}
    values = [
        value
        for branch in branches
        for message in branch["messages"]
        for call in message.get("tool_calls", ())
        for value in call["function"]["arguments"].values()
    ]
    assert {type(value) for value in values} == {str, int, float, bool, list}


def test_nothing_is_left_unfilled() -> None:
    for pack in packs(100):
        for text in (m["content"] for branch in pack["branches"] for m in branch["messages"] if m["content"]):
            if not text.startswith("{"):
                assert not re.search(r"[{}|]|!(?!\S)", text), text


def test_a_pack_depends_on_its_seed_alone() -> None:
    first, again = (json.dumps(make_pack(FUNCTIONS, random.Random("x"))) for _ in range(2))
    assert first == again


def test_held_out_functions_are_not_trained_on() -> None:
    trained, held = split(FUNCTIONS)
    assert len(held) >= 10
    assert not {n for f in trained for n in f.names} & {n for f in held for n in f.names}


@pytest.mark.parametrize(
    ("word", "particle", "expected"),
    [
        ("김밥", "을", "김밥을"),
        ("커피", "을", "커피를"),
        ("서울", "로", "서울로"),
        ("부산", "로", "부산으로"),
        ("제주", "로", "제주로"),
        ("민수", "랑", "민수랑"),
        ("지훈", "랑", "지훈이랑"),
        ("3", "은", "3은"),
        ("2", "은", "2는"),
    ],
)
def test_particles_follow_the_last_sound(word: str, particle: str, expected: str) -> None:
    assert josa(word, particle) == expected


@pytest.mark.parametrize(
    ("polite", "plain"),
    [("합니다", "한다"), ("찾습니다", "찾는다"), ("줍니다", "준다"), ("계좌 송금", "계좌 송금")],
)
def test_descriptions_come_in_plain_style_too(polite: str, plain: str) -> None:
    assert plain_style(polite) == plain
