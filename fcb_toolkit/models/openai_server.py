"""Any server that speaks OpenAI's chat completions (vLLM, llama.cpp, `transformers serve`, OpenAI) as a `Model`.

model = fcb.load_model("openai:gpt-4o")                                   # OPENAI_BASE_URL, OPENAI_API_KEY
model = fcb.load_model("openai:NAME", base_url="http://localhost:8000/v1", concurrency=4)

The server applies its own chat template, so that a prompt is known only as the messages and tools that are
sent. The key is read when a model is made, and is kept nowhere but in memory.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError, MissingExtra, ModelError
from fcb_toolkit.models import openai_messages as wire
from fcb_toolkit.models.base import Wanted
from fcb_toolkit.models.openai_threads import Gate, Threads
from fcb_toolkit.models.secrets import Secret, guard, mask, read_key, wrong_url
from fcb_toolkit.parsers import FORMATS
from fcb_toolkit.records import Generation, Message, Rendered, Reply, Tool

STRUCTURED = "the server refused response_format; asked without it"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """`timeout` in seconds per try; `retries` with the client's back-off, which honours Retry-After.

    `requests_per_minute` counts every try. `extra_body` is added to each request (`{"top_k": 20}`), `omit`
    names fields that the server does not take (`("temperature", "seed")` for reasoning models of OpenAI).
    `format` reads replies whose calls the server leaves in the text; `openai`: it parses them itself.
    """

    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 8
    requests_per_minute: float | None = None
    key_variable: str = "OPENAI_API_KEY"
    token_limit: str = "max_tokens"
    """Name of the request's field: OpenAI's newer models want `max_completion_tokens`."""
    response_format: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    omit: tuple[str, ...] = ()
    format: str = "openai"

    def __post_init__(self) -> None:
        rate = self.requests_per_minute
        checks = {
            "timeout": (self.timeout > 0, "above 0"),
            "retries": (self.retries >= 0, "0 or more"),
            "concurrency": (self.concurrency >= 1, "1 or more"),
            "requests_per_minute": (rate is None or rate > 0, "above 0, or None"),
            "format": (self.format in FORMATS, f"one of {', '.join(sorted(FORMATS))}"),
            "extra_body": (isinstance(self.extra_body, Mapping), "an object"),
        }
        for name, (right, expected) in checks.items():
            if not right:
                raise DataError(f"server option {name} is {getattr(self, name)!r}, expected {expected}")


class OpenAIServer:
    """Raises `ModelError` where there is neither a key nor a base URL, the server refuses the key or the model,
    or nothing answers at all.

    Any other request that fails after all retries is a reply with `finish_reason="error"`: run again to ask it
    again.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        options: ServerOptions | None = None,
    ) -> None:
        # Hidden first: a traceback may show this frame's names.
        api_key = None if api_key is None else Secret(api_key)
        base_url = Secret(base_url or os.environ.get("OPENAI_BASE_URL") or "")
        try:
            import openai  # noqa: F401
        except ImportError:
            raise MissingExtra("openai", "judge", "a model behind a server") from None
        self.name = model
        self.base_url = ""
        self.options = options or ServerOptions()
        self._key = read_key(api_key, self.options.key_variable)
        wrong = wrong_url(base_url, self._key)
        if wrong:
            raise ModelError(f"the base URL {wrong}")
        self.base_url = str(base_url)
        if not self._key and not self.base_url:
            raise ModelError(
                f"{model}: no base URL given and {self.options.key_variable} is not set; set one of them"
            )
        guard(self._key)
        self._gate = Gate(self.options.requests_per_minute)
        self._refused: set[str] = set()
        self._has_answered = False
        # Made once here too, so that a wrong setting is told now.
        self._connect(threading.Event()).close()

    def __repr__(self) -> str:
        return f"OpenAIServer({self.name!r}, base_url={self.base_url or 'the default'!r})"

    def describe(self) -> dict[str, Any]:
        given = self.options
        return {
            "id": self.name,
            "kind": "server",
            "base_url": self.base_url or "the default",
            "format": given.format,
            "response_format": given.response_format,
            **({"extra_body": dict(given.extra_body)} if given.extra_body else {}),
            **({"omit": list(given.omit)} if given.omit else {}),
        }

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] | None = ()) -> Rendered:
        tools = tools or ()
        sent, offered = wire.messages_to_send(messages), wire.tools_to_send(tools)
        prompt = jsonl.dumps({"messages": list(sent), "tools": list(offered)})
        return Rendered(prompt, "openai", (), "native", self.options.format, sent, offered)

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        return self.generate_wanted(Wanted(prompts, settings, lambda index, reply: None))

    def generate_wanted(self, wanted: Wanted) -> Iterator[tuple[int, Reply]]:
        """Replies as they come. Stopped early, it waits some seconds for what is on its way."""
        if wanted.settings.constrain or wanted.settings.stop_after_calls:
            raise ModelError(
                f"{self.name}: constrain and stop_after_calls are not for a model behind a server"
            )
        jobs = deque(
            (index, sample)
            for index in range(len(wanted.prompts))
            for sample in range(wanted.settings.samples)
            if (index, sample) not in wanted.have
        )
        count = len(jobs)
        if not count:
            return
        stopped = threading.Event()
        client = self._connect(stopped)
        threads = Threads(partial(self._ask, client, wanted), wanted.keep, jobs, stopped)
        threads.start(min(self.options.concurrency, count))
        try:
            for _ in range(count):
                index, got = threads.arrived.get()
                if isinstance(got, BaseException):
                    raise got
                yield index, got
        finally:
            threads.stop()
            client.close()

    def request(self, prompt: Rendered, settings: Generation, sample: int = 0) -> dict[str, Any]:
        """The body of one request, as it is sent and as a batch file holds it."""
        body: dict[str, Any] = {
            "model": self.name,
            "messages": list(prompt.messages),
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": settings.seed + sample,
            self._token_limit: settings.max_new_tokens,
        }
        if prompt.tools:
            body["tools"] = list(prompt.tools)
        if self.options.response_format and "response_format" not in self._refused:
            body["response_format"] = dict(self.options.response_format)
        body |= self.options.extra_body
        return {name: value for name, value in body.items() if name not in self.options.omit}

    @property
    def _token_limit(self) -> str:
        return "max_completion_tokens" if "max_tokens" in self._refused else self.options.token_limit

    def _connect(self, stopped: threading.Event) -> Any:
        import openai

        def before_each_try(request: Any) -> None:
            self._gate.wait(stopped)
            if stopped.is_set():
                raise RuntimeError("stopped")
            _clock.started = time.monotonic()

        return openai.OpenAI(
            # Servers on one's own machine want no key, the client wants one.
            api_key=self._key or "none",
            base_url=self.base_url or None,
            timeout=self.options.timeout,
            max_retries=self.options.retries,
            http_client=openai.DefaultHttpxClient(event_hooks={"request": [before_each_try]}),
        )

    def _ask(self, client: Any, wanted: Wanted, index: int, sample: int) -> Reply:
        """One reply; `ModelError` for what every other request would meet too."""
        found = ""
        for attempt in range(2 + len(_CHANGEABLE)):
            # Another key each time that we ask anew; the client's own retries keep it.
            headers = {"Idempotency-Key": f"{wanted.ids[index]}-{sample}-{attempt}"} if wanted.ids else {}
            body = self.request(wanted.prompts[index], wanted.settings, sample)
            _clock.started = time.monotonic()
            try:
                # Not `chat.completions.create`: its types drop nulls, and know no field but OpenAI's own.
                data = client.post(
                    "/chat/completions", body=body, cast_to=object, options={"headers": headers}
                )
                reply = wire.reply_of(self._masked(data), sample, self.options.format)
                self._has_answered = True
                return wire.timed(reply, time.monotonic() - _clock.started, self._notes(body))
            except Exception as error:
                # Only its text leaves this block: the error's own frames hold headers.
                found, again, fatal = self._read_error(error, body)
            if fatal:
                raise ModelError(f"{self.name}: {found}")
            if not again:
                break
        seconds = time.monotonic() - _clock.started
        return Reply("", None, sample, "error", seconds=seconds, format=self.options.format, notes=(found,))

    def _read_error(self, error: Exception, body: Mapping[str, Any]) -> tuple[str, bool, bool]:
        """What went wrong in words, whether to ask once more, and whether all else would fail too."""
        import openai

        text = mask(" ".join(str(error).split()), self._key)[:300]
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            if status == 401 or (status in (403, 404) and not self._has_answered):
                return f"the server refused: {text}; check name, base URL and key", False, True
            return text, status in (400, 422) and self._change(text, body), False
        if isinstance(error, openai.APIConnectionError):
            if type(error.__cause__).__name__ == "ConnectError" and not self._has_answered:
                where = self.base_url or "OpenAI's server"
                return f"nothing answers at {where}; start the server or check the base URL", False, True
            return f"no answer ({type(error).__name__})", False, False
        if isinstance(error, UnicodeEncodeError):
            return "the request holds a lone surrogate, which UTF-8 cannot carry", False, False
        # The client does not retry a body that is not what a server should send; we do, once.
        told = f": {text}" if isinstance(error, wire.NoCompletion) else ""
        return f"an answer that is no chat completion ({type(error).__name__}){told}", True, False

    def _change(self, text: str, body: Mapping[str, Any]) -> bool:
        """Remembers a field that the server says it does not take; whether the next try differs."""
        for name, words in _CHANGEABLE.items():
            if name in body and name not in self.options.extra_body and any(word in text for word in words):
                self._refused.add(name)
                return True
        return False

    def _notes(self, body: Mapping[str, Any]) -> tuple[str, ...]:
        refused = bool(self.options.response_format) and "response_format" not in body
        return (STRUCTURED,) if refused and "response_format" in self._refused else ()

    def _masked(self, data: Any) -> Any:
        """An answer that repeats the key, as some gateways' do, is kept without it."""
        return wire.without(data, self._key)


_CHANGEABLE = {
    "response_format": ("response_format", "json_schema", "guided", "structured"),
    "max_tokens": ("max_completion_tokens",),
}
"""Fields that are left out or renamed where a server's error names one of these words."""
_clock = threading.local()
