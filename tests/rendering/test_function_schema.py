"""Tool definitions from Python source, which is read and never run."""

import json
from typing import Any

import jsonschema
import pytest

from fcb_toolkit.errors import DataError
from fcb_toolkit.rendering import function_schema


def parameters(source: str) -> dict[str, Any]:
    schema = function_schema(source)["function"]["parameters"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert isinstance(schema, dict)
    return schema


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        ("str", {"type": "string"}),
        ("'int'", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("None", {"type": "null"}),
        ("Any", {}),
        ("SomeClass", {}),
        ("list", {"type": "array"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        ("typing.List[int]", {"type": "array", "items": {"type": "integer"}}),
        (
            "list[dict[str, int]]",
            {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}},
        ),
        ("dict[str, Any]", {"type": "object"}),
        ("set[str]", {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        ("tuple[int, ...]", {"type": "array", "items": {"type": "integer"}}),
        (
            "tuple[int, str]",
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ("int | None", {"type": ["integer", "null"]}),
        ("Union[int, str, None]", {"type": ["integer", "string", "null"]}),
        ("Union[str, Any]", {}),
        ("list[str] | None", {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
        ("Literal['가', '나']", {"type": "string", "enum": ["가", "나"]}),
        ("Literal[1, 'a', None]", {"type": ["integer", "string", "null"], "enum": [1, "a", None]}),
        ("Annotated[int, 'x']", {"type": "integer"}),
    ],
)
def test_hints_become_schemas(hint: str, schema: dict[str, Any]) -> None:
    assert parameters(f"def f(a: {hint}): ...")["properties"]["a"] == schema


def test_parameters_without_a_default_are_required() -> None:
    schema = parameters("def f(self, a, b: int = 3, *, c: str, d: str | None = None): ...")
    assert schema["required"] == ["a", "c"]
    assert schema["properties"]["b"]["default"] == 3
    assert schema["properties"]["d"]["default"] is None


def test_star_parameters_are_no_parameters() -> None:
    assert list(parameters("def f(a, *args, **kwargs): ...")["properties"]) == ["a"]


def test_descriptions_come_from_the_docstring() -> None:
    source = '''
    def f(a: str, b: int = 1):
        """
        첫 줄.
        둘째 줄.

        Args:
            a (str): 하나
                이어서: 둘
            b: 단계 (choices: [1, 2])

        Returns:
            아무것도
        """
    '''
    tool = function_schema(source)["function"]
    assert tool["description"] == "첫 줄.\n둘째 줄."
    assert tool["parameters"]["properties"]["a"]["description"] == "하나 이어서: 둘"
    assert tool["parameters"]["properties"]["b"]["enum"] == [1, 2]
    assert tool["parameters"]["properties"]["b"]["description"] == "단계"


def test_the_source_is_never_run() -> None:
    source = "import os\nos.abort()\ndef f(a=os.abort(), b: os.abort() = 1): ...\n"
    assert json.dumps(function_schema(source)).startswith('{"type": "function"')


def test_a_function_without_source_is_read_by_its_signature() -> None:
    space: dict[str, Any] = {}
    exec("def f(a: int, b: str = 'x'):\n    'Does.'", space)
    tool = function_schema(space["f"])["function"]
    assert tool["description"] == "Does."
    assert tool["parameters"]["properties"] == {
        "a": {"type": "integer"},
        "b": {"type": "string", "default": "x"},
    }


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(:", "is not Python"),
        ("x = 1", "holds no function; expected one `def`"),
        ("\x00", "is not Python"),
    ],
)
def test_what_is_no_function_is_refused(source: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        function_schema(source)


def test_names_that_the_source_defines_are_followed() -> None:
    source = """
from enum import Enum
from typing import Literal, TypedDict

Size = Literal["대", "소"]

class Mode(Enum):
    SLOW = "절전"
    FAST = "고속"

class Place(TypedDict, total=False):
    name: Required[str]
    floor: int
    inside: "Place"

def go(mode: Mode, size: Size | None, place: Place, many: list[Mode]): ...
"""
    properties = parameters(source)["properties"]
    mode = {"type": "string", "enum": ["절전", "고속"]}
    assert properties["mode"] == mode
    assert properties["many"] == {"type": "array", "items": mode}
    assert properties["size"] == {"anyOf": [{"type": "string", "enum": ["대", "소"]}, {"type": "null"}]}
    assert properties["place"] == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "floor": {"type": "integer"}, "inside": {}},
        "required": ["name"],
    }


def test_field_lists_are_read_too() -> None:
    source = '''
def f(a: str, b: int):
    """하는 일.

    :param a: 하나
        이어서
    :param int b: 둘
    :return: 없음
    """
'''
    tool = function_schema(source)["function"]
    assert tool["description"] == "하는 일."
    described = {name: schema["description"] for name, schema in tool["parameters"]["properties"].items()}
    assert described == {"a": "하나 이어서", "b": "둘"}


def test_hints_nested_beyond_reason_are_refused() -> None:
    with pytest.raises(DataError, match=r"nested too deeply|is not Python"):
        function_schema("def f(a: " + " | ".join(["int"] * 20_000) + "): ...")
