"""Broken files of other tools are refused with a `DataError`, whatever stands in them."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fcb_toolkit.errors import DataError
from fcb_toolkit.runs import Run
from fcb_toolkit.runs.importers import import_results

from .test_importers import bfcl_data, call, dpab_row, evaluation, inspect_log, judged, lm_row

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
VALID = {
    "x.eval.jsonl": [evaluation(1, call("부산"), judged("fail"), "fail", tools_type="exact")],
    "FunctionChat-Dialog.m.output.jsonl": [{"role": "assistant", "content": None, **call("부산")}],
    "results.jsonl": [dpab_row("질문", 1.0)],
    "BFCL_v3_simple_result.json": [
        {"id": "simple_0", "result": [{"weather": '{"city": "Busan"}'}], "latency": 1}
    ],
    "samples_t.jsonl": [lm_row(0, "4", 1.0)],
    "log.json": [inspect_log()],
}


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(value, path, new):
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return value


@pytest.mark.parametrize("name", sorted(VALID))
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_junk_in_any_place_gives_a_run_or_a_data_error(name, data, tmp_path, monkeypatch):
    monkeypatch.setenv("FCB_HOME", str(tmp_path / "none"))
    source = tmp_path / "data"
    if name.startswith("BFCL") and not source.exists():
        bfcl_data(source)
    row = VALID[name][0]
    path = data.draw(st.sampled_from([place for place in places(row) if place]))
    broken = put(row, path, data.draw(JUNK))
    file = tmp_path / name
    file.write_text(json.dumps(broken) + "\n")
    if "output" in name:
        request = VALID["x.eval.jsonl"][0]["model_request"] | {"type_of_output": "call"}
        (tmp_path / "FunctionChat-Dialog.input.jsonl").write_text(json.dumps(request) + "\n")
    try:
        run = import_results(file, source=source if name.startswith("BFCL") else None)
    except DataError as error:
        assert str(error)
    else:
        assert isinstance(run, Run)
