"""Changes to the turns of one conversation that a template may need, each said in a note.

split_calls(messages)      # parallel calls one after the other, each with its own result
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Messages = list[dict[str, Any]]

FIXES = {
    "split": "parallel calls are shown one after the other, each with its own result",
    "join": "neighbouring turns of one role are joined by a blank line",
    "between": "empty turns stand between a tool result and the user's next turn, or before the assistant's first",
    "distinct": "equal user turns are told apart by a key that is not shown",
    "system": "an empty system message was added, without which the tools are not shown",
    "beside": "the text beside a call is a turn of its own before the call",
    "move_system": "the system text stands before the first user turn's text",
    "nine": "call ids are mapped to nine letters and digits",
}
"""Changes to a conversation that a template may need, in the words of a note."""


def split_calls(messages: Messages) -> Messages:
    """One call and its own result a turn; the text beside the calls stays with the first."""
    out: Messages = []
    index = 0
    while index < len(messages):
        message = messages[index]
        calls = message.get("tool_calls", [])
        index += 1
        if len(calls) < 2:
            out.append(message)
            continue
        results: Messages = []
        while index < len(messages) and messages[index]["role"] == "tool":
            results.append(messages[index])
            index += 1
        for i, call in enumerate(calls):
            out.append({**message, "content": message["content"] if i == 0 else "", "tool_calls": [call]})
            own = next((r for r in results if r["tool_call_id"] == call["id"]), None)
            if own is not None:
                results.remove(own)
                out.append(own)
        out.extend(results)
    return out


def in_call_order(messages: Messages) -> Messages:
    """Tool results in the order of the calls that they answer."""
    out: Messages = []
    order: list[str] = []
    for message in messages:
        if message["role"] == "tool" and out and out[-1]["role"] == "tool":
            out.append(message)
            start = len(out) - 1
            while start and out[start - 1]["role"] == "tool":
                start -= 1
            out[start:] = sorted(
                out[start:],
                key=lambda m: order.index(m["tool_call_id"]) if m["tool_call_id"] in order else len(order),
            )
            continue
        if message.get("tool_calls"):
            order = [call["id"] for call in message["tool_calls"]]
        out.append(message)
    return out


def text_apart(messages: Messages) -> Messages:
    """The text beside a call becomes a turn of its own, before the call."""
    out: Messages = []
    for message in messages:
        if message.get("tool_calls") and message["content"]:
            out.append({"role": "assistant", "content": message["content"]})
            message = {**message, "content": ""}
        out.append(message)
    return out


def fixed_turns(messages: Messages, fixes: Sequence[str]) -> Messages:
    if "join" in fixes:
        messages = _joined(messages)
    if "between" in fixes:
        messages = _with_empty_turns(messages)
    if "distinct" in fixes:
        # A template that compares whole messages takes an earlier equal turn for the last one.
        messages = [{**m, "turn": i} if m["role"] == "user" else m for i, m in enumerate(messages)]
    return messages


def _joined(messages: Messages) -> Messages:
    """Neighbouring turns of one role (user; assistant without calls; system) become one."""
    out: Messages = []
    for message in messages:
        last = out[-1] if out else None
        plain = message["role"] != "tool" and "tool_calls" not in message
        if last and plain and last["role"] == message["role"] and "tool_calls" not in last:
            text = "\n\n".join(part for part in (last["content"], message["content"]) if part)
            out[-1] = {**last, "content": text}
        else:
            out.append(message)
    return out


def _with_empty_turns(messages: Messages) -> Messages:
    """An empty assistant turn between a tool result (or a call) and a user turn; an empty user turn before a
    conversation that the assistant begins."""
    out: Messages = []
    for message in messages:
        after_tool = out and (out[-1]["role"] == "tool" or "tool_calls" in out[-1])
        if message["role"] == "user" and after_tool:
            out.append({"role": "assistant", "content": ""})
        if message["role"] in ("assistant", "tool") and (not out or out[-1]["role"] == "system"):
            out.append({"role": "user", "content": ""})
        out.append(message)
    return out
