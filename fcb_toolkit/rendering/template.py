"""A chat template as text, from wherever it comes, and its rendering by transformers' own Jinja environment.

template = load_template(tokenizer)                       # or Jinja text, a .jinja file, a model folder
template.render([{"role": "user", "content": "안녕"}])     # -> the prompt's text, or TemplateFailure
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError, ModelError
from fcb_toolkit.jsonl import kind_of, read_text

BARE_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
"""Stand-ins for the special tokens of bare Jinja text, which has none of its own."""


class TemplateFailure(Exception):
    """The template itself refused these messages: its own `raise_exception`, a missing filter, a type."""


@dataclass(frozen=True)
class Template:
    """One chat template, its siblings (named templates) and the special tokens it may print.

    `name` is the name among `named` ("" where there is one template only). `tokenizer` counts tokens.
    """

    text: str
    tokens: Mapping[str, Any] = field(default_factory=lambda: dict(BARE_TOKENS))
    named: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    tokenizer: Any = field(default=None, compare=False, repr=False)

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that decides what is rendered."""
        parts = [self.text, self.name, dict(self.named), {k: str(v) for k, v in self.tokens.items()}]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names that the template reads and does not set itself; empty where it does not compile."""
        return _variables(self.text)

    @cached_property
    def missing_filters(self) -> tuple[str, ...]:
        """Filters that the template uses somewhere and that transformers' environment does not have."""
        return _missing_filters(self.text)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        add_generation_prompt: bool = True,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """The text that transformers makes of these messages; `TemplateFailure` where it refuses.

        Unlike `apply_chat_template` this keeps keys whose value is None: some templates need them.
        """
        from transformers.utils.chat_template_utils import render_jinja_template

        try:
            result: Any = render_jinja_template(
                conversations=[[dict(message) for message in messages]],
                tools=None if tools is None else [dict(tool) for tool in tools],
                chat_template=self.text,
                add_generation_prompt=add_generation_prompt,
                **{**self.tokens, **(variables or {})},
            )
        # A template is foreign code: whatever it raises is a finding about it, not a fault of the program.
        except Exception as error:
            raise TemplateFailure(f"{type(error).__name__}: {error}") from None
        return str(result[0][0])

    def sibling(self, name: str) -> Template:
        """The named template `name` with the same tokens."""
        return Template(self.named[name], self.tokens, self.named, name, self.tokenizer)

    def siblings(self) -> tuple[Template, ...]:
        """All named templates, `default` first; only this one where there is one."""
        names = sorted(self.named, key=lambda name: (name != "default", name))
        return tuple(self.sibling(name) for name in names) or (self,)


def _variables(text: str) -> frozenset[str]:
    return _read(text)[0]


def _missing_filters(text: str) -> tuple[str, ...]:
    return _read(text)[1]


@lru_cache(maxsize=512)
def _read(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """(variables that the template reads, filters that do not exist); nothing where it does not parse."""
    import jinja2.ext
    import jinja2.meta
    import jinja2.nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(extensions=[jinja2.ext.loopcontrols])
    for tag in ("generation", "endgeneration"):
        text = _without_tag(text, tag)
    try:
        tree = environment.parse(text)
        used = {node.name for node in tree.find_all(jinja2.nodes.Filter)}
        missing = tuple(sorted(used - set(environment.filters)))
        # Without a stand-in jinja2.meta refuses the whole template.
        environment.filters.update(dict.fromkeys(missing, str))
        return frozenset(jinja2.meta.find_undeclared_variables(tree)), missing
    except (jinja2.TemplateError, RecursionError):
        return frozenset(), ()


def _without_tag(text: str, tag: str) -> str:
    for spelled in (f"{{% {tag} %}}", f"{{%- {tag} -%}}", f"{{%- {tag} %}}", f"{{% {tag} -%}}"):
        text = text.replace(spelled, "")
    return text


def load_template(template: Any, *, bos_token: str | None = None, eos_token: str | None = None) -> Template:
    """A `Template` from a tokenizer, Jinja text, a .jinja file, a model folder or a tokenizer_config.json.

    `bos_token` and `eos_token` are for bare Jinja text, which has no tokens of its own (`<s>` and
    `</s>` stand in for them). Raises `DataError` for a path without a template and `ModelError` for a
    tokenizer without one.
    """
    given = {k: v for k, v in (("bos_token", bos_token), ("eos_token", eos_token)) if v is not None}
    if isinstance(template, Template):
        return template
    if hasattr(template, "chat_template"):
        return _from_tokenizer(template, given)
    if isinstance(template, Path) or (isinstance(template, str) and _looks_like_path(template)):
        return _from_path(Path(template), given)
    if isinstance(template, (Mapping, list, tuple)):
        return _named(template, {**BARE_TOKENS, **given}, None, "the given templates")
    if isinstance(template, str):
        return Template(template, {**BARE_TOKENS, **given})
    raise DataError(
        f"template is {type(template).__name__}, expected a tokenizer, Jinja text, or the path of a "
        ".jinja file, a tokenizer_config.json or a model folder"
    )


def _looks_like_path(text: str) -> bool:
    if "{" in text or "\n" in text or not text.strip() or len(text) > 1024:
        return False
    return text.endswith((".jinja", ".jinja2", ".json")) or "/" in text or Path(text).exists()


def _from_tokenizer(tokenizer: Any, given: Mapping[str, str]) -> Template:
    if tokenizer.chat_template is None:
        raise ModelError(
            f"the tokenizer {getattr(tokenizer, 'name_or_path', '') or type(tokenizer).__name__!r} has no "
            "chat template; give one as Jinja text or as a path"
        )
    tokens = {**getattr(tokenizer, "special_tokens_map", {}), **given}
    return _named(tokenizer.chat_template, tokens, tokenizer, "the tokenizer")


def _named(value: Any, tokens: Mapping[str, Any], tokenizer: Any, where: str) -> Template:
    """`value`: text, {name: text}, or transformers' list of {"name", "template"}."""
    if isinstance(value, str):
        return Template(value, tokens, tokenizer=tokenizer)
    try:
        named = dict(value) if isinstance(value, Mapping) else {i["name"]: i["template"] for i in value}
    except (TypeError, KeyError):
        named = {}
    if not named or not all(isinstance(text, str) for text in named.values()):
        raise DataError(
            f"{where}: 'chat_template' is {kind_of(value)}, expected text or a list of "
            '{"name": ..., "template": ...}'
        )
    first = "default" if "default" in named else next(iter(named))
    return Template(named[first], tokens, named, first, tokenizer)


def _from_path(path: Path, given: Mapping[str, str]) -> Template:
    if not path.exists():
        raise DataError(
            f"{path}: does not exist; expected a .jinja file, a tokenizer_config.json or a model folder"
        )
    if path.is_dir():
        return _from_folder(path, given)
    if path.suffix == ".json":
        return _from_config(path, given)
    return Template(read_text(path), {**BARE_TOKENS, **given})


def _from_folder(folder: Path, given: Mapping[str, str]) -> Template:
    config = folder / "tokenizer_config.json"
    tokens = {**BARE_TOKENS, **(_tokens(_read_config(config)) if config.exists() else {}), **given}
    more = {
        path.stem: read_text(path) for path in sorted((folder / "additional_chat_templates").glob("*.jinja"))
    }
    single = folder / "chat_template.jinja"
    if single.exists():
        text = read_text(single)
        return Template(text, tokens, {"default": text, **more} if more else {}, "default" if more else "")
    if config.exists() and "chat_template" in _read_config(config):
        return _from_config(config, given)
    found = sorted(folder.glob("*.jinja"))
    if len(found) == 1:
        return Template(read_text(found[0]), tokens)
    raise DataError(
        f"{folder}: no chat template: expected chat_template.jinja, or 'chat_template' in "
        "tokenizer_config.json" + (f"; found {len(found)} .jinja files, name one" if found else "")
    )


def _from_config(path: Path, given: Mapping[str, str]) -> Template:
    config = _read_config(path)
    if "chat_template" not in config:
        raise DataError(f"{path}: the key 'chat_template' is missing; give the template's .jinja file")
    return _named(config["chat_template"], {**BARE_TOKENS, **_tokens(config), **given}, None, str(path))


def _read_config(path: Path) -> Mapping[str, Any]:
    try:
        config = json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}; expected a tokenizer_config.json") from None
    if not isinstance(config, Mapping):
        raise DataError(f"{path}: found {kind_of(config)}, expected an object with the key 'chat_template'")
    return config


def _tokens(config: Mapping[str, Any]) -> dict[str, str]:
    """The special tokens of a tokenizer_config.json, which are text or {"content": text}."""
    tokens = {}
    for key, value in config.items():
        text = value.get("content") if isinstance(value, Mapping) else value
        if key.endswith("_token") and isinstance(text, str):
            tokens[key] = text
    return tokens
