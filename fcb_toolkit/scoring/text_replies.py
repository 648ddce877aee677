"""What the metrics of text replies share: is there a text at all, whole, without a call, in Korean?

wrong_form(answer, "a question") -> Verdict of the first that applies, or None: the text can be read
"""

from __future__ import annotations

import re

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.verdicts import empty_verdict
from fcb_toolkit.text import has_hangul, language

_OPEN_END = re.compile(
    r"[,:;(\[{<·/]$|(?:[가-힣](?:은|는|을|를|에서|에게|으로|와|과|이며|하고|지만|면서|거나)|(?:및|그리고|또는|하지만|그래서))$"
)
_LIST_LINE = re.compile(r"^\s*(?:[-*•·]|\d{1,3}[.)])\s")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def text_of(answer: Answer) -> str:
    return (answer.parse.content or "").strip()


def wrong_form(answer: Answer, wanted: str) -> Verdict | None:
    """no_reply, truncated, malformed_call or unexpected_call; None if there is a text and no call."""
    empty = empty_verdict(answer, wanted)
    if empty is not None:
        return empty
    parse = answer.parse
    if answer.finish_reason == "length":
        return Verdict.failed(
            FailureKind.TRUNCATED, f"expected {wanted}, found a reply cut off at the token limit"
        )
    if parse.error is not None:
        found = f"a call that cannot be read: {parse.error.message}"
        return Verdict.failed(FailureKind.MALFORMED_CALL, f"expected {wanted}, found {found}")
    if parse.tool_calls:
        names = ", ".join(call.name[:60] for call in parse.tool_calls[:3])
        return Verdict.failed(FailureKind.UNEXPECTED_CALL, f"expected {wanted}, found a call of {names}")
    return None


def wrong_language(case: Case, text: str) -> Verdict | None:
    """Fails a reply in another language, where the user writes Korean."""
    if not user_writes_korean(case):
        return None
    found = language(text)
    if found in ("ko", ""):
        return None
    return Verdict.failed(
        FailureKind.WRONG_LANGUAGE, f"expected Korean, found a reply in another language: {quote(text)}"
    )


def user_writes_korean(case: Case) -> bool:
    texts = [m.get("content") for m in case.messages if m.get("role") == "user"]
    return any(isinstance(text, str) and has_hangul(text) for text in texts)


def gold_text(case: Case) -> str:
    """The text of the ground truth; "" where there is none."""
    truth = case.ground_truth
    content = truth.get("content") if isinstance(truth, dict) else truth
    return content.strip() if isinstance(content, str) else ""


def cut_off(text: str) -> str | None:
    """Where a text looks cut off though its finish reason is `stop`; None if it looks whole."""
    if text.count("```") % 2:
        return "a code block that is not closed"
    last = text.rstrip().splitlines()[-1] if text.strip() else ""
    bare = last.rstrip("*_`\"' ")
    unclosed = _unclosed(re.sub(r"```.*?```", "", text, flags=re.S))
    if unclosed:
        return f"a {unclosed!r} that is not closed"
    if not _LIST_LINE.match(last) and _OPEN_END.search(bare):
        return f"no sentence end: {bare[-20:]!r}"
    return None


def _unclosed(text: str) -> str:
    """The innermost bracket left open at the end; a closing one without an opening (1), :)) is ignored."""
    stack: list[str] = []
    for character in text:
        if character in "([{":
            stack.append(character)
        elif character in _PAIRS and stack and stack[-1] == _PAIRS[character]:
            stack.pop()
    return stack[-1] if stack else ""


def quote(text: str, limit: int = 80) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= limit else flat[: limit - 1] + "…")
