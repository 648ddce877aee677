"""transformers' own response parser, for tokenizers that carry a `response_template`.

    reader = ResponseReader(tokenizer.response_template)
    reader.read(reply, rendered).message      # {"role": "assistant", "content": ..., "tool_calls": [...]}

The message is stored with the reply, as a server's is, and `fcb.parse(message, "openai", tools)` reads it
again without tokenizer and transformers. The raw text stays beside it. Where the template's parser fails,
takes too long or loses something that our parser of the format finds, there is no message: the text is read
by ours, and a note of the reply says why.

The parser runs in a process of its own. Its patterns come with the model and are searched over whatever the
model wrote: an everyday `\\s*<tool_call>` takes minutes over a long run of spaces, and nothing in this
process could stop it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import selectors
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fcb_toolkit.models.response_choice import message_of, why_ours
from fcb_toolkit.parsers import FALLBACK, parse
from fcb_toolkit.records import Rendered, Reply

SECONDS = 2.0
"""For one reply. An ordinary one takes under a millisecond."""
START_SECONDS = 60.0
MOST_FAILURES = 3
"""Processes that were killed or died; after these the parser is not asked again."""
TYPED = ("json", "python-call-list")
"""Contents that have types of their own. A schema laid over them would turn a model's "3" into the 3 that it
should have written, and a wrong type would pass."""
_CHILD = "fcb_toolkit.models.huggingface_response_child"


class ResponseReader:
    """One template and the process that applies it, started with the first reply."""

    def __init__(self, template: Any) -> None:
        self.template = template
        self.given_up = ""
        self._failures = 0
        self._child: _Child | None = None

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        text = json.dumps(self.template, sort_keys=True, default=repr)
        return {
            "response_template_sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            "parser": "transformers' parse_response by the tokenizer's response_template; "
            "the parser of `format` where that fails or loses something",
        }

    def start(self) -> None:
        """Starts the process, so that it loads while the model generates."""
        if self._child is not None or self.given_up:
            return
        try:
            self._child = _Child(json.dumps(self.template))
        except (OSError, TypeError, ValueError, RecursionError) as error:
            self.given_up = f"it could not be started ({type(error).__name__}: {error})"[:300]

    def read(self, reply: Reply, rendered: Rendered) -> Reply:
        """The reply with its `message`, or with a note on why our parser reads it."""
        if reply.text is None or reply.finish_reason == "error":
            return reply
        if rendered.mode == "prompt":
            # The prompt asked for our own form of a call, which the model's template does not know.
            return reply
        tools = [tool for tool in rendered.tools if isinstance(tool, Mapping)]
        found = self._ask(reply.text, rendered.prompt, tools)
        if isinstance(found, str):
            return _with_note(reply, found)
        message = message_of(found, tools)
        # Without a format read off the template, ours is a guess; it is believed where the reply was cut.
        sure = rendered.format != FALLBACK or reply.finish_reason == "length"
        ours = parse(reply.text, rendered.format, tools=tools, prompt=rendered.prompt)
        why = why_ours(ours, parse(message, "openai", tools=tools), sure)
        return _with_note(reply, why) if why else replace(reply, message=message)

    def _ask(self, text: str, prompt: str, tools: Sequence[Any]) -> dict[str, Any] | str:
        """The message, or a sentence on why there is none."""
        self.start()
        if self._child is None:
            return self.given_up
        try:
            request = json.dumps(
                {"text": text, "prefix": prompt, "tools": tools if self._untyped() else None}
            )
            answer = self._child.ask(request)
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._failed(error)
            return str(error)
        message = answer.get("message")
        if isinstance(message, dict):
            return message
        return f"it raised {answer['error']}" if "error" in answer else "it gave no message"

    def _untyped(self) -> bool:
        fields = self.template.get("fields") if isinstance(self.template, Mapping) else None
        calls = fields.get("tool_calls") if isinstance(fields, Mapping) else None
        return not (isinstance(calls, Mapping) and calls.get("content") in TYPED)

    def _failed(self, error: Exception) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self.given_up = f"it was given up after {self._failures} failures, the last: {error}"


def _with_note(reply: Reply, why: str) -> Reply:
    return replace(
        reply, notes=(*reply.notes, f"read as {reply.format}, not by transformers' parser: {why}"[:500])
    )


class _Child:
    """The process; raises `OSError` with a sentence where it is late or gone."""

    def __init__(self, template: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # The toolkit may be on this process's path only.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the run
        )
        self.kill = weakref.finalize(self, _end, self._process)
        self._ready = False
        self._write(template)

    def ask(self, request: str) -> Mapping[str, Any]:
        if not self._ready:
            self._line(START_SECONDS)
            self._ready = True
        self._write(request)
        answer = json.loads(self._line(SECONDS))
        if not isinstance(answer, dict):
            raise ValueError("its process answered nonsense")
        return answer

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise OSError("its process died") from None

    def _line(self, seconds: float) -> bytes:
        assert self._process.stdout is not None
        handle, deadline, parts = self._process.stdout.fileno(), time.monotonic() + seconds, [b""]
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while not parts[-1].endswith(b"\n"):
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise OSError(f"it took more than {seconds:g} s")
                parts.append(os.read(handle, 2**16))
                if not parts[-1]:
                    raise OSError("its process died")
        return b"".join(parts)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
