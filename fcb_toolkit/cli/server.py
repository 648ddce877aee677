"""What `fcb run` and `fcb judge` share: a model by its name, in process or behind a server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

FIELDS = (
    "timeout",
    "retries",
    "concurrency",
    "requests_per_minute",
    "key_variable",
    "token_limit",
    "extra_body",
)


def server_arguments(verb: argparse.ArgumentParser) -> None:
    server = verb.add_argument_group(
        "a model behind a server that speaks OpenAI's chat completions (openai:MODEL)"
    )
    server.add_argument(
        "--base-url", help="default: OPENAI_BASE_URL, else OpenAI's own; its key: OPENAI_API_KEY"
    )
    server.add_argument("--key-variable", metavar="NAME", help="environment variable of the key")
    server.add_argument("--concurrency", type=int, help="requests at a time, default 8")
    server.add_argument("--requests-per-minute", type=float)
    server.add_argument("--timeout", type=float, help="seconds a try, default 120")
    server.add_argument("--retries", type=int, help="default 5, with back-off, or as Retry-After says")
    server.add_argument("--token-limit", metavar="FIELD", help="max_tokens or max_completion_tokens")
    server.add_argument("--extra-body", type=_object, metavar="JSON", help="fields added to each request")
    server.add_argument(
        "--omit", action="append", default=[], metavar="FIELD", help="a field that the server does not take"
    )


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is not a JSON object, as in '{{\"top_k\": 20}}'")
    return value


def load(name: str, given: argparse.Namespace, **options: Any) -> Any:
    """The model; `options` are those of the verb itself. A base URL makes any other name a server's model."""
    from fcb_toolkit.models import SERVER, load_model

    name = full_name(name, given)
    if name.startswith(SERVER):
        options |= {f: getattr(given, f) for f in FIELDS if getattr(given, f) is not None}
        if given.omit:
            options["omit"] = tuple(given.omit)
        return load_model(name, base_url=given.base_url, **options)
    return load_model(name, **options)


def full_name(name: str, given: argparse.Namespace) -> str:
    """The name with `openai:` before it where only the base URL says that a server is meant."""
    from fcb_toolkit.models import NAMED, SERVER

    return SERVER + name if given.base_url and name not in NAMED and not name.startswith(SERVER) else name
