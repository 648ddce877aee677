"""Any server that speaks OpenAI's chat completions (vLLM, llama.cpp, `transformers serve`, OpenAI) as a `Model`.

model = OpenAIServer("gpt-4o", base_url="http://localhost:8000/v1")
model = OpenAIServer("gpt-4o", options=ServerOptions(concurrency=4, requests_per_minute=60))

The key is read from the environment when a model is made, and is kept nowhere but in the client.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fcb_toolkit import jsonl
from fcb_toolkit.errors import MissingExtra, ModelError
from fcb_toolkit.records import Generation, Message, Rendered, Reply, Tool

HIDDEN = "[key]"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """`timeout` in seconds per try; `retries` with the client's back-off, which honours Retry-After."""

    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 8
    requests_per_minute: float | None = None
    key_variable: str = "OPENAI_API_KEY"
    token_limit: str = "max_tokens"
    """Name of the request's field: OpenAI's newer models want `max_completion_tokens`."""
    response_format: Mapping[str, Any] | None = None


class OpenAIServer:
    """Raises `ModelError` where there is neither a key nor a base URL, or the server refuses the request.

    A request that fails after all retries is a reply with `finish_reason="error"`: run again to ask again.
    """

    def __init__(
        self, model: str, base_url: str | None = None, *, options: ServerOptions | None = None
    ) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "judge", "a model behind a server") from None
        self.name = model
        self.options = options or ServerOptions()
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        if "@" in urlsplit(self.base_url).netloc:
            raise ModelError("the base URL holds a user name or password; put the key into the environment")
        key = _Key(os.environ.get(self.options.key_variable, ""))
        if not key and not self.base_url:
            raise ModelError(
                f"{model}: no base URL given and {self.options.key_variable} is not set; set one of them"
            )
        # Servers on one's own machine want no key, the client wants one.
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=self.base_url or None,
            timeout=self.options.timeout,
            max_retries=self.options.retries,
        )
        self._key = key
        self._gate = _Gate(self.options.requests_per_minute)

    def __repr__(self) -> str:
        return f"OpenAIServer({self.name!r}, base_url={self.base_url or 'the default'!r})"

    def describe(self) -> dict[str, Any]:
        return {
            "id": self.name,
            "kind": "server",
            "base_url": self.base_url or "the default",
            "format": "openai",
            "response_format": self.options.response_format,
        }

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Rendered:
        prompt = jsonl.dumps({"messages": list(messages), "tools": list(tools)})
        return Rendered(prompt, "openai", (), "native", "openai", tuple(messages), tuple(tools))

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        jobs = [(index, sample) for index in range(len(prompts)) for sample in range(settings.samples)]
        pool = ThreadPoolExecutor(self.options.concurrency, thread_name_prefix="fcb-server")
        try:
            asked = {
                pool.submit(self._ask, prompts[index], settings, sample): index for index, sample in jobs
            }
            for done in as_completed(asked):
                yield asked[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def request(self, prompt: Rendered, settings: Generation, sample: int = 0) -> dict[str, Any]:
        """The body of one request, as it is sent and as a batch file holds it."""
        body: dict[str, Any] = {
            "model": self.name,
            "messages": list(prompt.messages),
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": settings.seed + sample,
            self.options.token_limit: settings.max_new_tokens,
        }
        if prompt.tools:
            body["tools"] = list(prompt.tools)
        if self.options.response_format:
            body["response_format"] = dict(self.options.response_format)
        return body

    def _ask(self, prompt: Rendered, settings: Generation, sample: int) -> Reply:
        import openai

        body = self.request(prompt, settings, sample)
        start = time.monotonic()
        found = ""
        # The client does not retry a body that is not what a server should send; we do, once.
        for _ in range(2):
            self._gate.wait()
            try:
                return reply_of(
                    self._client.chat.completions.create(**body), sample, time.monotonic() - start
                )
            except (
                openai.AuthenticationError,
                openai.PermissionDeniedError,
                openai.NotFoundError,
                openai.BadRequestError,
            ) as error:
                raise ModelError(
                    f"{self.name}: the server refused: {self._short(error)}; check name, base URL and key"
                ) from None
            except openai.APIStatusError as error:
                found = self._short(error)
                break
            except openai.APIConnectionError as error:
                found = f"no answer ({type(error).__name__})"
                break
            except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
                found = f"an answer that is no chat completion ({type(error).__name__})"
        return Reply(
            "", None, sample, "error", seconds=time.monotonic() - start, format="openai", notes=(found,)
        )

    def _short(self, error: Exception) -> str:
        text = " ".join(str(error).split())
        return (text.replace(self._key, HIDDEN) if self._key else text)[:300]


def reply_of(completion: Any, sample: int = 0, seconds: float | None = None) -> Reply:
    """A chat completion (the client's object or plain JSON) as a `Reply`. Raises `ValueError` if it is none."""
    data = completion if isinstance(completion, Mapping) else completion.model_dump(exclude_none=True)
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise ValueError("no choices[0].message")
    content = message.get("content")
    usage = data.get("usage") or {}
    return Reply(
        "",
        content if isinstance(content, str) else None,
        sample,
        "length" if choice.get("finish_reason") == "length" else "stop",
        prompt_tokens=usage.get("prompt_tokens"),
        reply_tokens=usage.get("completion_tokens"),
        seconds=seconds,
        format="openai",
        message=dict(message),
    )


class _Key(str):
    """A notebook's verbose traceback shows the `repr` of local names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN


class _Gate:
    """Lets one request through every 60 / n seconds."""

    def __init__(self, per_minute: float | None) -> None:
        self._step = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._step:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._step
        time.sleep(max(0.0, turn - now))
