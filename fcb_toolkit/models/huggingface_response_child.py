"""The child process that runs transformers' response parser; see `huggingface_response`.

First line in: the tokenizer's response template. Then one request a line, one answer a line:

{"text": "...", "prefix": "...", "tools": null}  ->  {"message": {"role": "assistant", ...}} or {"error": "ValueError: ..."}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

LONGEST_ERROR = 300
"""Characters; the library's errors quote the whole reply."""


def answer(request: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """What `tokenizer.parse_response` gives for one reply, or what it raised."""
    from transformers.utils.chat_parsing import parse_response

    try:
        message = parse_response(
            request["text"], dict(template), prefix=request["prefix"], tools=request["tools"]
        )
        json.dumps(message)
    except Exception as error:  # patterns and transforms are the template's: they may raise anything
        said = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {said}"[:LONGEST_ERROR]}
    return {"message": message}


def main() -> None:
    """Answers until its input ends, which it does when the parent is gone."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # a library may print; the answers must stand alone
    template = json.loads(sys.stdin.readline())
    import transformers.utils.chat_parsing  # noqa: F401  # before "ready": its time is not a reply's

    print("ready", file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), template)), file=out, flush=True)


if __name__ == "__main__":
    main()
