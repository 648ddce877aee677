"""Where a chat template comes from: tokenizers, Jinja text, files, folders, named templates."""

import json
from pathlib import Path
from typing import Any

import pytest

from fcb_toolkit.errors import DataError, ModelError
from fcb_toolkit.rendering import TemplateFailure, load_template, render

PLAIN = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
TOOLS_TOO = (
    "{{ bos_token }}{{ tools | tojson }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
)
USER = {"role": "user", "content": "안녕"}
TOOL = {"name": "f", "description": "설명", "parameters": {"properties": {"a": {"type": "string"}}}}


class Tokenizer:
    """What `load_template` and `render` use of a transformers tokenizer."""

    name_or_path = "toy"

    def __init__(self, chat_template: Any) -> None:
        self.chat_template = chat_template
        self.special_tokens_map = {"bos_token": "<BOS>", "eos_token": "<EOS>"}

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": list(range(len(text.split())))}


def test_a_tokenizer_gives_its_template_and_its_tokens() -> None:
    assert load_template(Tokenizer(PLAIN)).render([USER]) == "<BOS><user>안녕"


def test_a_tokenizer_without_a_template_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="the tokenizer 'toy' has no chat template; give one as Jinja text"):
        load_template(Tokenizer(None))


def test_bare_text_gets_stand_in_tokens_or_given_ones() -> None:
    assert load_template(PLAIN).render([USER]) == "<s><user>안녕"
    assert load_template(PLAIN, bos_token="<B>").render([USER]) == "<B><user>안녕"


def test_files_folders_and_configs_give_their_template(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(PLAIN, encoding="utf-8")
    config = {"bos_token": {"content": "<B>"}, "eos_token": None}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert load_template(tmp_path / "chat_template.jinja").render([USER]) == "<s><user>안녕"
    assert load_template(str(tmp_path)).render([USER]) == "<B><user>안녕"
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "tokenizer_config.json").write_text(
        json.dumps({**config, "chat_template": PLAIN}), encoding="utf-8"
    )
    assert load_template(inner).text == PLAIN
    assert load_template(inner / "tokenizer_config.json").text == PLAIN


def test_of_named_templates_the_one_that_shows_tools_is_used_for_tools(tmp_path: Path) -> None:
    listed = [{"name": "default", "template": PLAIN}, {"name": "tool_use", "template": TOOLS_TOO}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": listed}), encoding="utf-8")
    for template in (listed, {"default": PLAIN, "tool_use": TOOLS_TOO}, tmp_path, Tokenizer(listed)):
        assert render([USER], [], template).shape.startswith("template=default,")
        rendered = render([USER], [TOOL], template)
        assert rendered.shape.startswith("template=tool_use,")
        assert '"name": "f"' in rendered.prompt


def test_additional_templates_of_a_folder_are_named_templates(tmp_path: Path) -> None:
    more = tmp_path / "additional_chat_templates"
    more.mkdir()
    (tmp_path / "chat_template.jinja").write_text(PLAIN, encoding="utf-8")
    (more / "tool_use.jinja").write_text(TOOLS_TOO, encoding="utf-8")
    assert dict(load_template(tmp_path).named) == {"default": PLAIN, "tool_use": TOOLS_TOO}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (3, "template is int, expected a tokenizer, Jinja text, or the path"),
        (Path("nowhere.jinja"), "nowhere.jinja: does not exist; expected a .jinja file"),
        ("nowhere/model", "nowhere/model: does not exist"),
        ([{"name": "default"}], "'chat_template' is a list, expected text or a list of"),
    ],
)
def test_what_is_no_template_is_refused(template: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_template(template)


def test_folders_and_configs_without_a_template_say_what_they_lack(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no chat template: expected chat_template.jinja"):
        load_template(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=r"the key 'chat_template' is missing"):
        load_template(config)
    config.write_text("[1", encoding="utf-8")
    with pytest.raises(DataError, match=r"not JSON: .*; expected a tokenizer_config.json"):
        load_template(config)
    config.write_text("[1]", encoding="utf-8")
    with pytest.raises(DataError, match=r"found a list, expected an object"):
        load_template(config)


def test_whatever_a_template_raises_is_a_template_failure() -> None:
    for text in (
        "{{ raise_exception('nein') }}",
        "{{ 1 / 0 }}",
        "{{ x | nofilter }}",
        "{% if %}",
        "{{ a.b.c }}",
    ):
        with pytest.raises(TemplateFailure):
            load_template(text).render([USER])


def test_a_template_cannot_reach_out_of_its_sandbox() -> None:
    with pytest.raises(TemplateFailure, match="SecurityError"):
        load_template("{{ ''.__class__.__mro__ }}").render([USER])


def test_null_keys_reach_the_template() -> None:
    text = "{{ 'null' if messages[0].content is none else 'text' }}"
    assert load_template(text).render([{"role": "user", "content": None}]) == "null"


def test_variables_that_a_template_reads_are_known() -> None:
    text = "{% generation %}{{ enable_thinking }}{% endgeneration %}{% set a = 1 %}{{ a }}{{ messages }}"
    assert load_template(text).variables == {"enable_thinking", "messages"}
    assert load_template("{% if %}").variables == frozenset()
