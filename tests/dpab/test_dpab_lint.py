"""What the linter finds in DPAB problems."""

from collections import defaultdict

import pytest

from fcb_toolkit.benchmarks import dpab
from fcb_toolkit.records import Case
from fcb_toolkit.scoring.dpab_lint import CODES, findings


def problem(mocks, functions=("f",), values=(), schema=None, stub=None, cluster=""):
    return Case(
        id="dpab/pythonic/0",
        benchmark="dpab/pythonic",
        messages=({"role": "system", "content": "Level 9"}, {"role": "user", "content": "Level 2, please"}),
        ground_truth={"functions": list(functions), "values": list(values)},
        type_of_output="code",
        cluster=cluster,
        serial_num=0,
        task={
            "mode": "pythonic",
            "mock_functions": mocks,
            "function_schema_python": stub or mocks,
            "function_schema_json": schema
            or [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}],
        },
    )


F = "def f(x: str) -> str:\n    return f'Hello {x}'\n"


@pytest.mark.parametrize(
    ("case", "codes"),
    [
        (problem(F, values=["Hello 하람"]), []),
        (problem(F, values=["Level 2"]), []),
        (problem(F, values=["Level 9"]), ["impossible_value"]),
        (problem(F, functions=["g"]), ["unknown_function"]),
        (problem("def f(x: str):\n    return {'a': 'bc'}\n", values=[{"a": "bc"}]), []),
        (
            problem("def f(x: str):\n    return 1\n", values=[[1, "Level 2"]], functions=["f", "f"]),
            ["wrapped_results"],
        ),
        (problem("def f(x: str):\n    import random\n    return random.random()\n"), ["random_mock"]),
        (problem("def f(x: str):\n    return list(set(x) - {'a'})\n"), ["random_mock"]),
        (problem("def f(x: str):\n    s = set(x)\n    return list(s)\n"), ["random_mock"]),
        (problem("def f(x: str):\n    return re.findall(x, x)\n"), ["undefined_name"]),
        (problem("def f(x: str):\n    def g():\n        return x\n    return g()\n"), []),
        (problem("def f(x: tuple):\n    return 1\n"), ["schema_type"]),
        (problem("def f(y: str):\n    return 1\n"), ["schema_names"]),
        (
            problem("def f(x: str) -> bool:\n    return True\n", stub="def f(x: str) -> str:\n    pass\n"),
            ["schema_returns"],
        ),
        (problem("def f(x:\n"), ["mock_not_python"]),
        (problem(F, cluster="row-3"), ["duplicate_problem"]),
    ],
)
def test_each_fault_has_its_code(case, codes):
    assert [code for code, _ in findings(case)] == codes
    assert set(codes) <= set(CODES)


def test_a_required_parameter_with_a_default():
    schema = [{"name": "f", "parameters": {"properties": {"x": {"type": "string"}}, "required": ["x"]}}]
    ((code, message),) = findings(problem("def f(x: str = 'a'):\n    return 1\n", schema=schema))
    assert code == "schema_required" and "'x' is required by the schema and has a default" in message


def test_the_published_problems(fcb_data):
    rows = defaultdict(list)
    for case in dpab.load(fcb_data / "dpab", "pythonic"):
        for code, _ in findings(case):
            rows[code].append(case.serial_num)
    assert set(rows["impossible_value"]) == {93, 96} and rows["wrapped_results"] == [91]
    assert set(rows["value_from_unlisted_function"]) == {63} and rows["hidden_constant"] == [27]
    assert rows["random_mock"] == [32] and rows["undefined_name"] == [45]
    assert rows["schema_type"] == [29, 64, 65] and rows["schema_returns"] == [24]
    assert len(rows["schema_required"]) == 19 and rows["duplicate_problem"] == [57, 58]
