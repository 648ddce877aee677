"""The audit against what transformers alone renders, for every template at hand."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rendering_raw import ASK, RESULT_TEXT, SYSTEM, TOOLS, call, raw, result, shapes, templates

from fcb_toolkit.rendering import TemplateAudit, audit_template, describe

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, str]:
    found = templates(shared)
    assert len(found) >= 83
    return found


@pytest.fixture(scope="module")
def audits(texts: dict[str, str]) -> dict[str, TemplateAudit]:
    return {name: audit_template(text) for name, text in texts.items()}


@pytest.fixture(scope="module")
def sources(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "templates" / "SOURCES.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["file"].removesuffix(".jinja"): row for row in rows}


def differing(
    audits: dict[str, TemplateAudit], texts: dict[str, str], fact: str, check: Callable[[str], bool]
) -> list[str]:
    return [name for name, audit in audits.items() if getattr(audit, fact) != check(texts[name])]


def shows_tools(text: str) -> bool:
    for messages in ([ASK], [SYSTEM, ASK]):
        without = raw(text, messages) or raw(text, messages, []) or ""
        with_tools = raw(text, messages, TOOLS) or ""
        if "book_room" in with_tools and "book_room" not in without:
            return True
    return False


def any_call(
    text: str, messages_of: Callable[[object, bool], list[list[dict[str, object]]]], *wanted: str
) -> bool:
    """Some message shape brings all of `wanted` into the prompt."""
    for content, string in shapes():
        for messages in messages_of(content, string):
            for tools in (TOOLS, None, []):
                prompt = raw(text, messages, tools)
                if prompt and all(word in prompt for word in wanted) and "{=" not in prompt:
                    return True
    return False


def shows_calls(text: str) -> bool:
    return any_call(text, lambda c, s: [[ASK, call("부산역", content=c, string=s)]], "book_room", "부산역")


def shows_results(text: str) -> bool:
    def before(content: object, string: bool) -> list[list[dict[str, object]]]:
        plain = {"role": "assistant", "content": "네"}
        return [[ASK, call("부산역", content=content, string=string), result()], [ASK, plain, result()]]

    return any_call(text, before, RESULT_TEXT)


def accepts_parallel(text: str) -> bool:
    def two(content: object, string: bool) -> list[list[dict[str, object]]]:
        first = call("부산역", content=content, string=string)
        second = call("서울역", identity="abcdefgh2", content=content, string=string)
        both = {**first, "tool_calls": [*first["tool_calls"], *second["tool_calls"]]}
        return [[ASK, both], [ASK, both, result(), result(identity="abcdefgh2")]]

    return any_call(text, two, "부산역", "서울역")


def keeps_text(text: str) -> bool:
    return any_call(
        text, lambda c, s: [[ASK, call("부산역", content="잠시만요", string=s)]], "잠시만요", "부산역"
    )


@pytest.mark.parametrize(
    ("fact", "check"),
    [
        ("shows_tools", shows_tools),
        ("shows_calls", shows_calls),
        ("shows_results", shows_results),
        ("accepts_parallel_calls", accepts_parallel),
        ("keeps_text_beside_call", keeps_text),
    ],
)
def test_facts_agree_with_what_transformers_renders(
    audits: dict[str, TemplateAudit], texts: dict[str, str], fact: str, check: Callable[[str], bool]
) -> None:
    assert differing(audits, texts, fact, check) == []


def test_reasoning_is_prefilled_exactly_where_the_generation_prompt_holds_its_tag(
    audits: dict[str, TemplateAudit], texts: dict[str, str]
) -> None:
    def prefills(text: str) -> bool:
        base = raw(text, [ASK], []) if raw(text, [ASK]) is None else raw(text, [ASK])
        prompt = raw(text, [ASK], None, add_generation_prompt=True) or raw(
            text, [ASK], [], add_generation_prompt=True
        )
        tail = (prompt or "")[len(base or "") :]
        return "think>" in tail or "thought>" in tail

    assert differing(audits, texts, "prefills_reasoning", prefills) == []


def test_no_template_escapes_korean_with_the_filters_of_transformers(
    audits: dict[str, TemplateAudit],
) -> None:
    assert [name for name, audit in audits.items() if audit.escapes_korean] == []


def test_a_template_that_escapes_korean_is_found() -> None:
    text = CHATML.replace("{{ m.content }}", "{{ m.content | tojson(ensure_ascii=true) }}")
    audit = audit_template(text)
    assert audit.escapes_korean
    assert "korean_escaped" in {finding.code for finding in audit.findings}


def test_the_tools_column_of_the_sources_holds(
    audits: dict[str, TemplateAudit], sources: dict[str, dict[str, str]]
) -> None:
    shown = {
        name for name, row in sources.items() if row["tools"] == "y" or row["tools"].startswith("y (only")
    }
    assert {name for name, audit in audits.items() if audit.shows_tools} == shown


NOTES = [
    (r"content None raises", "content_null_refused"),
    (r"parallel calls raise", "parallel_refused"),
    (r"text beside a call lost", "beside_lost"),
    (r"(str|string) arguments raise", "calls_string_refused"),
    (r"string (arguments )?double-encoded", "calls_string_double_encoded"),
    (r"(add_generation_prompt|generation prompt) ignored|no generation prompt$", "generation_ignored"),
    (r"none after a tool result|no generation prompt after a tool", "generation_none_after_result"),
    (r"tools=None raises", "tools_none_refused"),
    (r"tools=\[\]", "tools_empty_preamble"),
    (r"\[\] loses the text|empty tool_calls loses", "tool_calls_empty_loses_text"),
    (r"null raises", "tool_calls_null_refused"),
    (r"printed (as )?(a )?python repr|as python repr", "repr"),
    (r"tool role raises", "results_refused"),
    (r"system role raises", "system_refused"),
    (r"ids must be exactly 9|9-character ids", "ids_nine"),
    (r"JSON literal", "results_literal"),
    (r"tool_calls never read", "calls_dropped"),
    (r"HTML-escaped", "tools_html"),
    (r"printed twice", "tools_twice"),
    (r"system text lost", "system_lost_after_result"),
    (r"filter .*missing in transformers|filter from_json does not exist", "missing_filter"),
    (r"JSON assembled by hand|breaks the JSON", "tools_json_unescaped"),
    (r"(?<!NOT )prefill <think>\\n", "reasoning_opened"),
]


@pytest.mark.parametrize(("note", "code"), NOTES, ids=[code for _, code in NOTES])
def test_what_the_sources_note_is_found(
    audits: dict[str, TemplateAudit], sources: dict[str, dict[str, str]], note: str, code: str
) -> None:
    noted = [name for name, row in sources.items() if re.search(note, row["notes"])]
    assert noted
    found = {name: [finding.code for finding in audits[name].findings] for name in noted}
    assert {name: codes for name, codes in found.items() if not any(code in one for one in codes)} == {}


def test_a_clean_template_has_no_findings(audits: dict[str, TemplateAudit]) -> None:
    assert audits["qwen3"].findings == ()


def test_a_template_that_cannot_render_is_a_finding_not_an_exception() -> None:
    for text in ("{{ messages | from_json }}", "{% for m in %}", "{{ raise_exception('nein') }}"):
        audit = audit_template(text)
        assert audit.mode == "none"
        assert "unusable" in {finding.code for finding in audit.findings}


def test_a_bos_printed_twice_is_found() -> None:
    audit = audit_template("{{ bos_token }}{{ bos_token }}" + CHATML)
    assert "bos_twice" in {finding.code for finding in audit.findings}


def test_the_audit_prints_as_a_table_and_as_json(audits: dict[str, TemplateAudit]) -> None:
    audit = audits["llama-3.1-8b-instruct"]
    text = describe(audit)
    assert "shows tools             yes" in text
    assert "parallel_refused: two calls in one turn make the template raise" in text
    assert audit.prompt in text
    assert json.loads(json.dumps(audit.to_dict(), ensure_ascii=False))["shows_tools"] is True
    assert {"fact", "value"} == set(audit.to_rows()[0])


def test_a_tool_costs_what_it_adds_beside_the_others(audits: dict[str, TemplateAudit]) -> None:
    cost = audits["qwen2.5-instruct"].tool_cost
    assert audits["qwen2.5-instruct"].cost_unit == "characters"
    assert cost["read_station"] > cost["read_clock"] > 0
    assert cost["instructions"] > 0


class Tokenizer:
    """A tokenizer of words, with what the audit uses of one."""

    def __init__(self, chat_template: str) -> None:
        self.chat_template = chat_template
        self.special_tokens_map = {"bos_token": "<s>", "eos_token": "</s>"}

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[str]]:
        return {"input_ids": text.split()}


def test_with_a_tokenizer_tools_are_counted_in_its_tokens(texts: dict[str, str]) -> None:
    text = texts["qwen2.5-instruct"]
    audit = audit_template(Tokenizer(text))
    assert audit.cost_unit == "tokens"
    assert 0 < audit.tool_cost["read_station"] < audit_template(text).tool_cost["read_station"]


def test_every_finding_is_explained_in_the_docs(audits: dict[str, TemplateAudit], root: Path) -> None:
    text = (root / "docs" / "rendering.md").read_text(encoding="utf-8")
    explained = re.findall(r"`([a-z_]+\*?)`", text)
    families = tuple(code[:-1] for code in explained if code.endswith("*"))
    found = {finding.code for audit in audits.values() for finding in audit.findings}
    assert {code for code in found if code not in explained and not code.startswith(families)} == set()
