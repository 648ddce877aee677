"""Special tokens that frame a turn. A reply's raw text carries them; its content must not.

trim("안녕하세요.<|im_end|>\\n")     # Trimmed(start=0, stop=6, header=False, ended=True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

END_TOKENS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|end_of_text|>",
    "<|end|>", "<|return|>", "<|call|>", "<|calls|>", "<|flush|>", "<|stop|>", "<|endofturn|>",
    "[|endofturn|]", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<eos>", "<turn|>", "<|END_OF_TURN_TOKEN|>",
    "<|user|>", "<|observation|>", "[e~[", "[EOS]", "<pad>", "<|pad|>", "[PAD]", "<｜▁pad▁｜>",
    "<|finetune_right_pad_id|>", "<start_function_response>", "<|tool_response>", "</s>",
)  # fmt: skip
"""Tokens that end a turn or fill a batch, and those at which a model stops to wait for a result."""

HEADERS = (
    "<|start_header_id|>assistant<|end_header_id|>", "<|header_start|>assistant<|header_end|>",
    "<|im_start|>assistant", "<|start_of_role|>assistant<|end_of_role|>", "<start_of_turn>model", "<|turn>model",
    "<｜Assistant｜>", "[|assistant|]", "<|assistant|>", "<|begin_of_text|>", "<|startoftext|>",
    "<｜begin▁of▁sentence｜>", "<bos>", "<s>",
)  # fmt: skip
"""What a template writes before the reply; a model that repeats it has left its format."""

_LAST = max(map(len, END_TOKENS))
_SPACE = re.compile(r"\s*+")
_INVISIBLE = re.compile(r"[\s\ufeff\u200b\u2060]*+")
"""White space, and what some tokenisers put before a text: a byte order mark, spaces without width."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    start: int
    stop: int
    header: bool = False
    ended: bool = False
    """True: the model ended its turn itself, so what stands there is whole."""


def trim(text: str) -> Trimmed:
    """Where the reply begins and ends between the tokens that frame it."""
    first = _INVISIBLE.match(text)
    start = len(first[0].rstrip()) if first else 0  # plain white space stays, it is stripped with the content
    header = False
    while True:
        begin = _SPACE.match(text, start)
        at = begin.end() if begin else start
        found = next((token for token in HEADERS if text.startswith(token, at)), None)
        if found is None:
            break
        start, header = at + len(found), True
    stop = end = len(text)
    struck = "<s>" in text[start:]
    while True:
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        token = next((t for t in END_TOKENS if text.endswith(t, max(start, stop - _LAST), stop)), None)
        # In an answer about HTML the tag closes a text that was struck through.
        if token is None or (token == "</s>" and struck):
            return Trimmed(start, stop, header, ended=end < len(text))
        stop = end = stop - len(token)
