"""The nouns: frozen records that flow from a benchmark's row to a figure.

    row -> Case -> Rendered -> Reply -> Parse -> Verdict -> row of a DataFrame

Records hold plain JSON values (dict, list, str, int, float, bool, None). They are never changed
after they are made; use `dataclasses.replace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = Any
Message = Mapping[str, Any]
"""One chat message in OpenAI form: `role`, `content`, and `tool_calls` or `tool_call_id`."""
Tool = Mapping[str, Any]
"""One tool in OpenAI form: `{"type": "function", "function": {"name", "description", "parameters"}}`."""


class Outcome(StrEnum):
    """The three outcomes. `NOT_SCORED` is counted beside a rate, never inside it."""

    PASS = "pass"
    FAIL = "fail"
    NOT_SCORED = "not_scored"


class FailureKind(StrEnum):
    """Why a case failed: a closed list. A verdict carries the first that applies, in this order."""

    NO_REPLY = "no_reply"
    TRUNCATED = "truncated"
    MALFORMED_CALL = "malformed_call"
    MISSING_CALL = "missing_call"
    UNEXPECTED_CALL = "unexpected_call"
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_TOOL = "wrong_tool"
    WRONG_CALL_COUNT = "wrong_call_count"
    MISSING_ARGUMENT = "missing_argument"
    EXTRA_ARGUMENT = "extra_argument"
    WRONG_TYPE = "wrong_type"
    WRONG_VALUE = "wrong_value"
    MISSING_QUESTION = "missing_question"
    INCOMPLETE_QUESTION = "incomplete_question"
    REDUNDANT_QUESTION = "redundant_question"
    FALSE_CLAIM = "false_claim"
    WRONG_LANGUAGE = "wrong_language"
    UNFAITHFUL_ANSWER = "unfaithful_answer"
    EXECUTION_ERROR = "execution_error"
    BLOCKED_CODE = "blocked_code"
    MISSING_VALUE = "missing_value"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model made. `raw_arguments` is the text of the arguments as the model wrote it."""

    name: str
    arguments: dict[str, Json]
    id: str | None = None
    raw_arguments: str | None = None


@dataclass(frozen=True, slots=True)
class ParseError:
    """What was wrong with the text of a call. `code` is short and stable, `message` is a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Parse:
    """A reply's text, cut into its parts. `raw` is the text as it came; nothing of it is lost."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    error: ParseError | None = None
    raw: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One item of a benchmark: what the model is given, and what a right answer is.

    `ground_truth` and `acceptable_arguments` stay in the benchmark's own form, so that the official
    scorers see exactly what they would see in the official tool; `scoring.gold` reads them for ours.
    """

    id: str
    benchmark: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    ground_truth: Json = None
    acceptable_arguments: Json = None
    type_of_output: str = "call"
    """call, completion, slot, relevance (FunctionChat-Bench's words) or code (DPAB)."""
    category: str = ""
    """What results are broken down by: call, completion, slot, relevance, reject, slot-all, slot-some, ..."""
    condition: str = ""
    """The tool list offered: exact, 4_random, 4_close, 8_random, 8_close; empty where there is one only."""
    cluster: str = ""
    """Cases with one cluster are not independent (same query, dialog or tool list); see `statistics`."""
    serial_num: int | None = None
    tool_choice: Json = "auto"
    temperature: float | None = None
    task: Mapping[str, Json] = field(default_factory=dict)
    """What only one benchmark has (DPAB: mock functions, checklist, difficulty)."""

    @classmethod
    def from_request(cls, request: Mapping[str, Json], *, benchmark: str = "jsonl") -> Case:
        """A Case from one request in the official FunctionChat-Bench form.

        Keys: `serial_num, messages, tools, temperature, tool_choice, ground_truth,
        acceptable_arguments, type_of_output`, with `tools_type` or `category` where they apply.
        Absent keys take the official tool's defaults. Raises `DataError` on a wrong shape.
        """
        from fcb_toolkit.requests import case_from_request

        return case_from_request(request, benchmark=benchmark)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What is sent to a model. `prompt` is the whole text, special tokens included.

    `shape` names the message shape that was used, `mode` is `native` (the template's own `tools=`)
    or `prompt` (tools written into the system message), `notes` say what was done and why.
    `format` is the parser that reads the reply. `messages` are as given to the template, `tools` are
    those offered (a server gets these two instead of the text).
    """

    prompt: str
    shape: str = ""
    notes: tuple[str, ...] = ()
    mode: str = "native"
    format: str = "plain_json"
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings of generation; greedy by default. `samples` > 1 needs a temperature above 0."""

    max_new_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    samples: int = 1
    batch_size: int | None = None
    """None: chosen from the memory that the real lengths need."""
    constrain: str | None = None
    """None, or "tools": the reply must be a valid call of one of the tools, or plain text."""
    stop_after_calls: bool = False
    """True: a reply ends with the mark that closes its format's calls, where the format has one and it is one
    token of the model. What the model would have written after it is lost, to the strict check as well."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model gave back for one case and sample.

    `text` is raw, special tokens included, without the prompt. `finish_reason` is `stop`, `length`
    or `error`. Token counts are of the model's own tokenizer; the prompt's are never in the reply's.
    `message` is set where the source gave an OpenAI message instead of text (`format` is `openai`), or where
    transformers' own parser made one of the text; it is then what is scored.
    """

    case_id: str
    text: str | None
    sample: int = 0
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float | None = None
    prompt_sha256: str = ""
    format: str = ""
    message: Mapping[str, Json] | None = None
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        return self.case_id, self.sample


@dataclass(frozen=True, slots=True)
class Answer:
    """What a metric sees of a reply: its parse, its raw text, and why it ended.

    `message` is the reply as an OpenAI message: as given, or made from the parse (None: no reply).
    """

    parse: Parse
    text: str | None
    finish_reason: str = "stop"
    message: Json = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one metric on one reply. `reason` shows expected and found in one sentence."""

    outcome: Outcome
    failure: FailureKind | None = None
    reason: str = ""
    metric: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def passed(cls, reason: str = "", **details: Json) -> Verdict:
        return cls(Outcome.PASS, None, reason, details=details)

    @classmethod
    def failed(cls, failure: FailureKind, reason: str, **details: Json) -> Verdict:
        return cls(Outcome.FAIL, failure, reason, details=details)

    @classmethod
    def not_scored(cls, reason: str, **details: Json) -> Verdict:
        return cls(Outcome.NOT_SCORED, None, reason, details=details)


@dataclass(frozen=True, slots=True)
class ExecutionError:
    """`code` is timeout, memory, blocked, syntax or the exception's class name."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Execution:
    """What a program did: `calls` in the order executed, `variables` it ended with, its output."""

    calls: tuple[ToolCall, ...] = ()
    variables: Mapping[str, Json] = field(default_factory=dict)
    stdout: str = ""
    error: ExecutionError | None = None
    executor: str = ""
    """`monty` (sandbox interpreter) or `subprocess` (CPython child)."""
    seconds: float = 0.0


def tool_name(tool: Tool) -> str:
    """The tool's name, of the OpenAI form or of a bare function object; "" where there is none."""
    function = tool.get("function", tool)
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def tool_parameters(tool: Tool) -> Mapping[str, Json]:
    """The tool's JSON Schema of parameters; {} where it has none."""
    function = tool.get("function", tool)
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    return parameters if isinstance(parameters, Mapping) else {}
