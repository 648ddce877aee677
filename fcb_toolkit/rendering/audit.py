"""`audit_template`: what a chat template does with tools, calls and results, by rendering it.

    audit = audit_template("chat_template.jinja")
    audit.shows_tools, audit.accepts_parallel_calls     # True, False
    for finding in audit.findings: print(finding.code, finding.message)
    print(describe(audit))

Every fact comes from rendered text. Facts about calls and results are stated for the message shape that
suits the template best (`audit.shape`); findings say what plain OpenAI messages would have met.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fcb_toolkit.rendering.checks import Finding, find_all
from fcb_toolkit.rendering.choice import choose_format
from fcb_toolkit.rendering.formats import FormatChoice
from fcb_toolkit.rendering.looks import Looks, look
from fcb_toolkit.rendering.material import BESIDE, RICH, SYSTEM, TOOLS, USER, call_message, result_message
from fcb_toolkit.rendering.messages import ConversationError
from fcb_toolkit.rendering.probe import probe
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.prompts import candidates, render
from fcb_toolkit.rendering.template import Template, load_template


@dataclass(frozen=True)
class TemplateAudit:
    """What one template does. Booleans are about the template itself, the rest about how it is used."""

    shows_tools: bool
    """The names of the tools given as `tools=` reach the prompt."""
    shows_calls: bool
    """Name and arguments of a call in history reach the prompt, in the best shape."""
    shows_results: bool
    """The text of a tool result reaches the prompt, in the best shape."""
    accepts_parallel_calls: bool
    """Two calls of one turn both reach the prompt."""
    keeps_text_beside_call: bool
    """Text and call of one turn both reach the prompt."""
    escapes_korean: bool
    """Hangul comes out as \\u escapes."""
    prefills_reasoning: bool
    """The generation prompt opens (or opens and closes) a reasoning block."""
    findings: tuple[Finding, ...]
    shape: str
    mode: str
    format: FormatChoice
    advice: tuple[str, ...]
    prompt: str
    """The probe conversation (system text, question, call with text beside it, result) as `render` puts it."""
    tool_cost: Mapping[str, int]
    """What each probe tool adds to the prompt, and the instructions that come with any, in `cost_unit`
    (tokens with a tokenizer, else characters)."""
    cost_unit: str
    template_sha256: str
    """Of the template's text, as `sha256sum` gives it for a .jinja file."""
    name: str = ""
    """The named template that was chosen, where there are several."""

    def to_rows(self) -> list[dict[str, str]]:
        """The audit as rows of (fact, value), findings last."""
        rows = [
            {"fact": name.replace("_", " "), "value": "yes" if getattr(self, name) else "no"}
            for name in FACTS
        ]
        rows += [
            {"fact": "mode", "value": self.mode},
            {"fact": "message shape", "value": self.shape},
            {"fact": "format", "value": f"{self.format.format}: {self.format.reason}"},
            {
                "fact": f"{self.cost_unit} per tool",
                "value": ", ".join(f"{name} {count}" for name, count in self.tool_cost.items()),
            },
        ]
        rows += [{"fact": "finding", "value": f"{found.code}: {found.message}"} for found in self.findings]
        return rows + [{"fact": "advice", "value": advice} for advice in self.advice]

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain JSON values."""
        return {**asdict(self), "tool_cost": dict(self.tool_cost)}


FACTS = (
    "shows_tools",
    "shows_calls",
    "shows_results",
    "accepts_parallel_calls",
    "keeps_text_beside_call",
    "escapes_korean",
    "prefills_reasoning",
)


def audit_template(template: Any) -> TemplateAudit:
    """Audits a tokenizer's template, Jinja text, or a path (see `load_template`).

    Of several named templates the one that `render` takes for tools is audited. A template that cannot
    render at all is a finding, never an exception; `DataError` only where there is no template.
    """
    loaded = load_template(template)
    profile = candidates(loaded, True)[0] if loaded.named else probe(loaded)
    looks = look(profile)
    tools = profile.tools or TOOLS
    plain, _ = _rendered(loaded, tools, "")
    _, prompt = _rendered(loaded, tools, BESIDE)
    choice = choose_format(loaded)
    findings = find_all(profile, looks)
    return TemplateAudit(
        shows_tools=looks.shows_tools,
        shows_calls=looks.shows_calls,
        shows_results=looks.shows_results,
        accepts_parallel_calls=looks.parallel,
        keeps_text_beside_call=looks.beside,
        escapes_korean=looks.escapes,
        prefills_reasoning=looks.prefills,
        findings=findings,
        shape=plain["shape"],
        mode=plain["mode"],
        format=choice,
        advice=_advice(profile, looks, plain["mode"], choice),
        prompt=prompt,
        tool_cost=_tool_cost(loaded, tools),
        cost_unit="tokens" if loaded.tokenizer is not None else "characters",
        template_sha256=hashlib.sha256(profile.template.text.encode("utf-8", "surrogatepass")).hexdigest(),
        name=profile.template.name,
    )


def _rendered(
    template: Template, tools: Sequence[Mapping[str, Any]], beside: str
) -> tuple[dict[str, str], str]:
    talk = [{"role": "system", "content": SYSTEM}, USER, call_message(RICH, beside), result_message()]
    try:
        rendered = render(talk, tools, template)
    except ConversationError as error:
        return {"shape": "", "mode": "none"}, str(error)
    return {"shape": rendered.shape, "mode": rendered.mode}, rendered.prompt


def _tool_cost(template: Template, tools: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What each probe tool adds beside the other, and what comes with the first tool of all."""
    messages = [{"role": "system", "content": SYSTEM}, USER]
    try:
        nothing, both, first, second = (
            _length(template, render(messages, some, template).prompt)
            for some in ((), tools, tools[:1], tools[1:])
        )
    except ConversationError:
        return {}
    names = [tool["function"]["name"] for tool in tools]
    costs = {names[0]: both - second, names[1]: both - first}
    return {**costs, "instructions": both - nothing - sum(costs.values())}


def _length(template: Template, text: str) -> int:
    if template.tokenizer is None:
        return len(text)
    return len(template.tokenizer(text, add_special_tokens=False)["input_ids"])


def _advice(profile: Profile, looks: Looks, mode: str, choice: FormatChoice) -> tuple[str, ...]:
    advice = []
    if mode == "none":
        return ("This template cannot be used under transformers; take the vendor's own file.",)
    if mode == "native":
        advice.append(
            f"Use it as it is: render(...) takes this shape by itself, replies are read by {choice.format}."
        )
    else:
        advice.append(f"Tools are written as text (prompt mode); replies are read by {choice.format}.")
    if not looks.shows_calls and looks.shows_tools:
        advice.append(
            "Calls in the history are written into the content, as the template does not read tool_calls."
        )
    if looks.prefills:
        advice.append("Parse replies with prompt=, as the generation prompt has opened the reasoning block.")
    if profile.template.tokens.get("bos_token") and str(profile.template.tokens["bos_token"]) in looks.plain:
        advice.append("The prompt carries the BOS token: tokenise it with add_special_tokens=False.")
    return tuple(advice)


def describe(audit: TemplateAudit) -> str:
    """The audit as a text table, with the rendered probe below it."""
    rows = audit.to_rows()
    width = max(len(row["fact"]) for row in rows)
    lines = [f"{row['fact']:<{width}}  {row['value']}" for row in rows]
    return "\n".join([*lines, "", "probe conversation as rendered:", audit.prompt])
