"""Small runs for the widgets."""

from pathlib import Path

import pytest
from widget_toys import CITIES, call, case_of, reply_of

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel


@pytest.fixture
def cases() -> list[fcb.Case]:
    return [case_of(city, number) for number in range(10) for city in CITIES]


@pytest.fixture
def run(cases: list[fcb.Case], tmp_path: Path) -> fcb.Run:
    """50 cases, 20 right: one run on disk."""
    model = ScriptedModel(reply_of, name="model-a", format="hermes")
    return fcb.evaluate(model, cases, tmp_path / "model-a", progress=False)


@pytest.fixture
def other(cases: list[fcb.Case], tmp_path: Path) -> fcb.Run:
    """The same cases by a model that is right about everything but Seoul."""

    def script(messages: list, tools: list) -> str:
        city = next(name for name in CITIES if name in messages[-1]["content"])
        return "모르겠어요." if city == "서울" else call("get_weather", city=city)

    model = ScriptedModel(script, name="model-b", format="hermes")
    return fcb.evaluate(model, cases, tmp_path / "model-b", progress=False)
