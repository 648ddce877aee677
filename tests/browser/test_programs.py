"""DPAB in a real JupyterLab: the program, its checklist, and the trace from the sandbox."""

import pytest
from playwright.sync_api import expect
from test_explorer import shot

pytestmark = pytest.mark.browser

RUN = '''
import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel
mocks = """
def find_city(name: str) -> dict:
    return {"id": 7}

def get_weather(city_id: int) -> str:
    return "맑음"
"""
case = fcb.Case(
    "dpab/pythonic/0", "dpab/pythonic", ({"role": "user", "content": "서울 날씨"},), type_of_output="code",
    ground_truth={"functions": ["find_city", "get_weather"], "values": [{"id": 7}, "맑음"]},
    category="hard", task={"mode": "pythonic", "mock_functions": mocks},
)
reply = "```python\\ncity = find_city('서울')\\nprint('<script>window.fcbPwned = 1</script>')\\n```"
run = fcb.evaluate(ScriptedModel([reply], format="dpab_pythonic"), [case], progress=False)
'''


def test_a_program_is_run_again_in_the_sandbox_with_its_trace(page):
    pytest.importorskip("pydantic_monty", reason="the sandbox is not installed: pip install '.[execution]'")
    page.open("program.ipynb", [RUN, "fcb.explore(run)"])
    expect(page.explorer.get_by_role("row", name="call of get_weather")).to_contain_text("missing")
    expect(page.explorer.get_by_role("row", name="call of find_city")).to_contain_text("found")
    page.button("Run the program in the sandbox").click()
    expect(page.explorer.get_by_text("Trace: 1 call in")).to_be_visible()
    expect(page.explorer.get_by_role("row", name='find_city(name="서울")')).to_be_visible()
    page.explorer.locator("summary", has_text="Output").click()
    expect(page.explorer.get_by_text("<script>window.fcbPwned = 1</script>", exact=True)).to_be_visible()
    assert page.page.evaluate("window.fcbPwned") is None
    shot(page, "program-light")
