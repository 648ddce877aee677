"""What of a conversation a prompt does not show. The same check for every template and mode.

conversation_losses(prompt, conversation)     # ("system text", "text of messages[3]")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.rendering.material import leaves
from fcb_toolkit.rendering.messages import Conversation, decoded


def conversation_losses(prompt: str, conversation: Conversation) -> tuple[str, ...]:
    """Names what is not in the prompt: system text anywhere, the other texts in their order, tool results."""
    lost = []
    at = 0
    for index, message in enumerate(conversation.messages):
        where = f"messages[{index}]"
        if message["role"] == "tool":
            if not shows_result(prompt, message["content"], at):
                lost.append(f"the tool result {where}")
            continue
        text = visible_text(message)
        if message["role"] == "system":
            if text and text not in prompt:
                lost.append("the system text")
            continue
        found = prompt.find(text, at)
        if found < 0:
            lost.append(f"the text of {where} ({message['role']})")
        else:
            at = found + len(text)
        for call in message.get("tool_calls", ()):
            if call["function"]["name"] not in prompt[at:]:
                lost.append(f"the call in {where}")
    return tuple(lost)


def visible_text(message: Mapping[str, Any]) -> str:
    """The text that must be shown: templates may leave out the reasoning of earlier turns."""
    text = str(message["content"])
    if message["role"] == "assistant" and "</think>" in text:
        text = text.rpartition("</think>")[2]
    return text.strip()


def shows_result(prompt: str, content: str, start: int = 0) -> bool:
    """A tool result is there as it is, as a JSON literal, as the object that it is, or leaf by leaf."""
    text = content.strip()
    tail = prompt[start:]
    forms = [text, json.dumps(content, ensure_ascii=False)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    if any(form in tail for form in forms):
        return True
    value = decoded(content)
    if isinstance(value, str):
        return False
    dumped = json.dumps(value, ensure_ascii=False)
    return dumped in tail or all(_shows_leaf(tail, leaf) for leaf in leaves(value))


def _shows_leaf(text: str, leaf: Any) -> bool:
    if isinstance(leaf, str):
        return leaf.strip() in text or json.dumps(leaf, ensure_ascii=False)[1:-1] in text
    return json.dumps(leaf) in text or repr(leaf) in text


def shows_call(text: str, call: Mapping[str, Any]) -> bool:
    """Name, keys and values of a call are in the text, unmangled: for templates without a parser."""
    function = call["function"]
    own = json.dumps(function["arguments"], ensure_ascii=False)
    if any(mark in text and mark not in own for mark in ('{\\"', "&#34;", "&quot;")):
        return False
    if function["name"] not in text or any(key not in text for key in function["arguments"]):
        return False
    return all(_shows_leaf(text, leaf) for leaf in leaves(function["arguments"]))


def printed_twice(prompt: str, tools: Sequence[Mapping[str, Any]]) -> bool:
    """The definition of a tool with parameters stands in the prompt more than once."""
    parameters = [
        json.dumps(tool["function"]["parameters"], ensure_ascii=False)
        for tool in tools
        if tool["function"]["parameters"]["properties"]
    ]
    return any(parameters.count(text) == 1 and prompt.count(text) > 1 for text in parameters)
