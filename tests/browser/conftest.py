"""A real JupyterLab and a real Chromium (see `harness`), and two recorded runs to look at."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import Lab, Page, find_chromium, make_home, need_chromium, running_chromium, running_lab

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_chromium(find_chromium())
    return make_home(tmp_path_factory.mktemp("browser") / "home")


@pytest.fixture(scope="package")
def lab(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(home, tmp_path_factory.mktemp("notebooks")) as lab:
        yield lab


# Ended with this folder's tests: Playwright keeps an event loop in this thread while it runs.
@pytest.fixture(scope="package")
def browser(home: Path) -> Iterator[object]:
    with running_chromium(home) as browser:
        yield browser


@pytest.fixture
def page(browser: object, lab: Lab) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1360, "height": 1500}, locale="en-US")
    page = Page(context.new_page(), lab)
    try:
        yield page
        page.close()
    finally:
        context.close()


TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "지정한 도시의 날씨를 알려 줍니다.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "도시 이름"},
                "day": {"type": "string", "description": "언제인지", "enum": ["오늘", "내일"]},
            },
            "required": ["city"],
        },
    },
}
CITIES = ("서울", "부산", "대구", "인천", "광주", "대전", "울산", "세종")
HOSTILE = (
    "<script>window.fcbPwned = 1</script><img src=x onerror='window.fcbPwned = 2'>"
    "\x1b[31mred\x1b[0m \u202etxet sdrawkcab\u202c \ud800 </pre></textarea><svg onload='window.fcbPwned = 3'>"
    + "가나다라"
    * 250_000
)


def reply_to(messages: list, tools: list) -> str:
    """What the scripted model of these tests says: right for the first cities, then one fault each."""
    text = messages[-1]["content"]
    city = next(name for name in CITIES if name in text)
    call = '<tool_call>{"name": "%s", "arguments": %s}</tool_call>'
    answers = {
        "대구": call % ("get_weather", '{"city": "대 구 시", "day": "내일"}'),
        "인천": call % ("get_news", '{"city": "인천"}'),
        "광주": call % ("get_weather", '{"city": "광주", "day": "오늘"}'),
        "대전": "어느 날짜의 날씨를 알려 드릴까요?",
        "울산": HOSTILE,
    }
    system = str(messages[0].get("content")) if messages[0]["role"] == "system" else ""
    if "묻지 말고" in system or city not in answers:
        return call % ("get_weather", json.dumps({"city": city, "day": "내일"}, ensure_ascii=False))
    return answers[city]


def cases() -> list[fcb.Case]:
    return [
        fcb.Case.from_request(
            {
                "id": f"{city}-{number}",
                "messages": [{"role": "user", "content": f"내일 {city} 날씨 어때? ({number})"}],
                "tools": [TOOL],
                "ground_truth": {
                    "name": "get_weather",
                    "arguments": json.dumps({"city": city, "day": "내일"}),
                },
                "type_of_output": "call",
                "tools_type": ("exact", "4_close")[number % 2],
            },
            benchmark="toy",
        )
        for number in range(6)
        for city in CITIES
    ]


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs on disk over the same 48 cases: one with every fault, one without."""
    folder = tmp_path_factory.mktemp("runs")
    model = ScriptedModel(reply_to, name="model-a", format="hermes")
    fcb.evaluate(model, cases(), folder / "model-a", progress=False)
    better = ScriptedModel(
        lambda messages, tools: (
            reply_to([{"role": "system", "content": "묻지 말고"}, *messages], tools)
            if "세종" not in messages[-1]["content"]
            else "모르겠어요."
        ),
        name="model-b",
        format="hermes",
    )
    fcb.evaluate(better, cases(), folder / "model-b", progress=False)
    return folder / "model-a", folder / "model-b"


@pytest.fixture
def runs(recorded: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy for one test, since annotations are written beside a run."""
    return tuple(Path(shutil.copytree(path, tmp_path / path.name)) for path in recorded)
