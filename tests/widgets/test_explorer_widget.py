"""The explorer as a widget in this process: clicks and traits, no browser."""

import json

import ipywidgets
import pytest
from widget_toys import call, case_of

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.widgets.markup import Html
from fcb_toolkit.widgets.parts import html_box, set_html


def titles(explorer):
    return [label for label, _ in explorer.list.items.options]


def choices(control):
    return [label for label, _ in control.options]


def select_label(control, start):
    control.value = next(value for label, value in control.options if label.startswith(start))


def open_item(explorer, case_id):
    explorer.open_row(explorer.table.row_of[(case_id, 0)])


def test_it_is_a_widget_that_shows_the_first_page(run):
    explorer = fcb.explore(run)
    assert isinstance(explorer, ipywidgets.Widget)
    assert len(titles(explorer)) == 20
    assert titles(explorer)[2] == "✗  wrong_value  대구 날씨 (0)"
    assert "toy/서울-0/exact" in explorer.item.head.value
    assert repr(explorer) == "Explorer(model-a: 50 of 50 items)"
    assert "40.0%" in explorer.summary.value and "20 of 50" in explorer.summary.value


def test_a_filter_is_chosen_with_its_count_and_taken_back(run):
    explorer = fcb.explore(run)
    failure = explorer.filters.facets["failure"]
    assert choices(failure) == [
        "all (4 choices)",
        "— (20)",
        "wrong_value (10)",
        "unknown_tool (10)",
        "missing_call (10)",
    ]
    failure.value = "wrong_value"
    assert "10 of 50 items" in explorer.list.status.value
    assert "toy/대구-0/exact" in explorer.item.head.value
    assert choices(explorer.filters.facets["verdict"]) == ["all (1 choice)", "fail (10)"]
    explorer.filters.reset.click()
    assert failure.value == "" and "50 of 50 items" in explorer.list.status.value


def test_the_list_opens_an_item_and_turns_its_pages(run):
    explorer = fcb.explore(run)
    explorer.list.items.value = 3
    assert explorer.state.selected == 3 and "toy/인천-0/exact" in explorer.item.head.value
    explorer.list.forward.click()
    assert (explorer.state.page, explorer.state.selected) == (1, 3)
    assert explorer.list.items.value is None, "the open item is on another page"
    explorer.list.back.click()
    assert explorer.list.items.value == 3


def test_buttons_and_keys_do_the_same(run):
    explorer = fcb.explore(run)
    explorer.buttons["next"].click()
    assert explorer.state.selected == 1
    explorer.buttons["next_failure"].click()
    assert explorer.state.selected == 2
    explorer.keyboard._received(explorer.keyboard, {"command": "previous"}, [])
    assert explorer.state.selected == 1
    for nonsense in ({"command": "delete"}, "next", None):
        explorer.keyboard._received(explorer.keyboard, nonsense, [])
    assert explorer.state.selected == 1


def test_an_empty_list_says_so_and_has_nothing_to_press(run):
    explorer = fcb.explore(run)
    explorer.filters.search.value = "없는 말"
    assert "none of 50 items passes the filters" in explorer.list.status.value
    assert "No item is open" in explorer.item.head.value
    assert explorer.buttons["next"].disabled
    explorer.press("next_failure")
    assert explorer.state.selected is None


def test_an_item_shows_gold_and_reply_with_the_difference_marked(run):
    explorer = fcb.explore(run)
    open_item(explorer, "toy/대구-0/exact")
    body = explorer.item.body.value
    assert '<ins class="fcb-new">␣</ins>' in body and "<span>&quot;대</span>" in body
    assert "<summary>Tools offered (1)</summary>" in body
    assert "<summary>Prompt as sent</summary>" in body
    assert '<span class="fcb-token">&lt;tool_call&gt;</span>' in body
    assert "prompt ? tokens · reply ? tokens" in body


def test_a_reply_without_a_call_and_a_gold_text_are_shown(tmp_path):
    case = case_of(
        "서울", type_of_output="completion", ground_truth={"role": "assistant", "content": "맑습니다."}
    )
    run = fcb.evaluate(ScriptedModel(["흐립니다."]), [case], progress=False)
    body = fcb.explore(run).item.body.value
    assert "맑습니다." in body.replace("</span>", "").replace("<span>", "").replace(
        '<del class="fcb-gone">', ""
    ).replace("</del>", "")
    assert "흐" in body


def test_long_texts_are_cut_until_asked_for(tmp_path):
    run = fcb.evaluate(ScriptedModel(["가" * 1_000_000]), [case_of("서울")], progress=False)
    explorer = fcb.explore(run)
    assert "980,000 more characters are not drawn" in explorer.item.body.value
    assert len(explorer.item.body.value) < 200_000
    explorer.item.whole.value = True
    assert "more characters" not in explorer.item.body.value
    assert explorer.item.body.value.count("가") >= 1_000_000


def test_everything_sent_to_the_page_is_utf_8(tmp_path):
    hostile = "\ud800 \x1b[31m \u202e <script>"
    case = case_of(
        "서울",
        messages=[{"role": "user", "content": hostile}],
        ground_truth={"name": hostile, "arguments": "{}"},
    )
    run = fcb.evaluate(ScriptedModel([hostile]), [case], tmp_path / "run", progress=False)
    explorer = fcb.explore(run)
    explorer.forms[0].note.value = hostile.replace("\ud800", "")
    for index in range(3):
        explorer.tabs.selected_index = index
    seen = 0
    waiting = [explorer]
    while waiting:
        widget = waiting.pop()
        state = widget.get_state()
        json.dumps(
            {k: v for k, v in state.items() if isinstance(v, (str, int, tuple, list)) and k[0] != "_"},
            default=str,
            ensure_ascii=False,
        ).encode("utf-8")
        assert "<script>" not in str(state.get("value", "")) or widget.__class__.__name__ != "HTML"
        waiting += list(getattr(widget, "children", ()))
        seen += 1
    assert seen > 50


def test_only_html_gets_to_the_page():
    with pytest.raises(TypeError, match="found str, expected Html"):
        set_html(html_box(), "<script>")
    box = html_box()
    set_html(box, Html("<b>x</b>"))
    assert box.value == "<b>x</b>"


def test_a_wrong_verdict_is_turned_saved_and_taken_back(run):
    explorer = fcb.explore(run, who="kim")
    open_item(explorer, "toy/대구-0/exact")
    form = explorer.forms[0]
    form.wrong.click()
    assert form.outcome.value == "pass"
    assert "42.0%" in explorer.summary.value and "40.0%" in explorer.summary.value
    assert "Corrected to" in explorer.item.head.value
    assert "corrected (1)" in choices(explorer.filters.facets["annotation"])
    assert fcb.explore(run).forms[0].notes.of(("toy/대구-0/exact", 0), "call_match").outcome == "pass"
    explorer.press("next")
    assert form.outcome.value == ""
    form.undo.click()
    assert "toy/대구-0/exact" in explorer.item.head.value, "an undo opens the item that it concerns"
    assert "no verdict changed" in explorer.summary.value
    assert form.undo.disabled


def test_a_right_kind_a_note_and_a_tag_are_saved_one_by_one(run):
    explorer = fcb.explore(run, who="kim")
    form = explorer.forms[0]
    assert form.failure.disabled
    form.outcome.value = "fail"
    form.failure.value = "wrong_value"
    form.note.value = "틀렸습니다"
    form.tag.value = "date"
    rows = [
        json.loads(line)["values"]
        for line in (run.path / "annotations.jsonl").read_text("utf-8").splitlines()
    ]
    assert rows == [
        {"outcome": "fail", "failure": None},
        {"outcome": "fail", "failure": "wrong_value"},
        {"note": "틀렸습니다"},
        {"tag": "date"},
    ]
    explorer.press("next")
    assert (form.note.value, form.tag.value) == ("", "")
    assert form.tag.options == ("date",)


def test_an_annotation_that_cannot_be_saved_says_so(run, monkeypatch):
    explorer = fcb.explore(run)

    def full(*args, **values):
        raise DataError("annotations.jsonl: cannot be written: No space left on device")

    monkeypatch.setattr(explorer.notes[0], "edit", full)
    explorer.forms[0].wrong.click()
    assert "No space left on device" in explorer.forms[0].status.value


def test_to_frame_has_both_verdicts(run):
    fcb.explore(run, who="kim").forms[0].wrong.click()
    frame = fcb.to_frame(run).set_index("case_id")
    row = frame.loc["toy/서울-0/exact"]
    assert (row.outcome, row.corrected_outcome, row.annotated_by) == ("pass", "fail", "kim")
    rest = frame.drop("toy/서울-0/exact")
    assert (rest.outcome == rest.corrected_outcome).all()


def test_another_metric_redraws_everything(run):
    explorer = fcb.explore(run)
    explorer.filters.metric.value = "decision"
    assert "metric: decision" in explorer.summary.value
    assert explorer.state.view.metric == "decision"


def test_two_runs_are_compared(run, other):
    explorer = fcb.explore([run, other])
    explorer.tabs.selected_index = 3
    shown = [button.description for button in explorer.compare.buttons.values()]
    assert shown == [
        "both right: 10",
        "only model-a right: 10",
        "only model-b right: 30",
        "both wrong: 0",
        "not comparable: 0",
    ]
    explorer.compare.buttons["only B right"].click()
    assert (len(explorer.shown.rows), explorer.tabs.selected_index) == (30, 0)
    assert titles(explorer)[0].startswith("✗✓")
    assert "model-a against model-b" in explorer.item.body.value
    explorer.filters.run.value = 1
    assert explorer.state.view.run == 1


def test_annotations_go_to_the_run_in_view(run, other):
    explorer = fcb.explore([run, other])
    explorer.filters.run.value = 1
    explorer.forms[1].wrong.click()
    assert not (run.path / "annotations.jsonl").exists()
    assert (other.path / "annotations.jsonl").exists()


def test_a_cohort_is_drilled_into(run):
    explorer = fcb.explore(run)
    explorer.tabs.selected_index = 1
    assert "30 failures in 3 groups" in explorer.cohorts.status.value
    button = explorer.cohorts.rows.children[0].children[0]
    assert button.description == "missing_call × get_weather × call"
    button.click()
    assert (len(explorer.shown.rows), explorer.tabs.selected_index) == (10, 0)
    explorer.tabs.selected_index = 1
    explorer.cohorts.grouping.value = "tool"
    assert "10 failures in 1 group<" in explorer.cohorts.status.value


def test_suspect_gold_opens_its_item(run, other):
    explorer = fcb.explore([run, run])
    explorer.tabs.selected_index = 2
    assert "30 items whose gold may be wrong" in explorer.suspects.status.value
    explorer.suspects.rows.children[1].children[0].click()
    assert explorer.state.selected == 3
    one = fcb.explore(other)
    one.tabs.selected_index = 2
    assert "open two or more runs" in one.suspects.status.value


def ask_again(explorer):
    explorer.retry.start.click()
    assert explorer.retry.job.wait(30)


def test_the_model_is_asked_again_with_an_edited_prompt_and_the_variant_is_kept(run):
    def script(messages, tools):
        return call("get_weather", city="광주") if messages[0]["content"] == "바로 호출" else "어느 날인가요?"

    explorer = fcb.explore(run, model=ScriptedModel(script, name="m", format="hermes"), who="kim")
    open_item(explorer, "toy/광주-0/exact")
    retry = explorer.retry
    assert (retry.system.value, retry.user.value) == ("도우미입니다.", "광주 날씨 (0)")
    ask_again(explorer)
    assert "changed: nothing" in retry.result.value and "missing_call" in retry.result.value
    retry.system.value = "바로 호출"
    ask_again(explorer)
    assert "changed: system prompt" in retry.result.value and "✓ pass" in retry.result.value
    retry.keep.click()
    assert retry.keep.disabled and "Variants kept (1)" in retry.variants.value
    row = json.loads((run.path / "variants.jsonl").read_text("utf-8"))
    assert (row["who"], row["changes"], row["verdicts"][0]["outcome"]) == ("kim", ["system prompt"], "pass")
    assert len(fcb.load_run(run.path).replies) == 50, "the run itself is as it was"


def test_a_tools_description_and_schema_are_edited(run):
    seen = []

    def script(messages, tools):
        seen.append(tools[0]["function"])
        return "네"

    explorer = fcb.explore(run, model=ScriptedModel(script, format="hermes"))
    retry = explorer.retry
    retry.description.value = "새 설명"
    retry.parameters.value = '{"type": "object", "properties": {}}'
    retry.settings["max_new_tokens"].value = 7
    ask_again(explorer)
    assert seen[-1]["description"] == "새 설명" and seen[-1]["parameters"]["properties"] == {}
    assert "description of get_weather, schema of get_weather, max_new_tokens" in retry.result.value
    retry.parameters.value = "{"
    retry.start.click()
    assert "schema of get_weather: not JSON" in retry.status.value
    retry.reset.click()
    assert '"city"' in retry.parameters.value


def test_a_replay_answers_what_was_asked_before_and_says_what_it_cannot(run):
    explorer = fcb.explore(run)
    ask_again(explorer)
    assert "✓ pass" in explorer.retry.result.value
    explorer.retry.user.value = "전혀 다른 질문"
    ask_again(explorer)
    assert "no recorded reply to this conversation" in explorer.retry.status.value


def test_a_kept_variant_can_be_replayed(run):
    explorer = fcb.explore(run, model=ScriptedModel(lambda messages, tools: "두 번째 답", format="hermes"))
    explorer.retry.user.value = "새 질문"
    ask_again(explorer)
    explorer.retry.keep.click()
    replay = fcb.explore(run)
    replay.retry.user.value = "새 질문"
    ask_again(replay)
    assert "두 번째 답" in replay.retry.result.value


def test_the_items_of_the_list_are_asked_again_together(run):
    explorer = fcb.explore(
        run, model=ScriptedModel(lambda m, t: call("get_weather", city="광주"), format="hermes")
    )
    explorer.filters.search.value = "광주"
    explorer.retry.scope.value = explorer.retry.scope.options[1]
    ask_again(explorer)
    assert "10 fail → pass" in explorer.retry.result.value
    assert explorer.retry.bar.value == 10


def test_a_failing_model_is_told_on_the_page(run):
    def script(messages, tools):
        raise RuntimeError("CUDA out of memory")

    explorer = fcb.explore(run, model=ScriptedModel(script))
    ask_again(explorer)
    assert "failed: CUDA out of memory" in explorer.retry.status.value
    assert not explorer.retry.start.disabled


def test_nothing_to_explore_is_an_error():
    with pytest.raises(DataError, match="no runs given"):
        fcb.explore([])
    with pytest.raises(DataError, match="explore: found str, expected a Run or a list of Runs"):
        fcb.explore("runs/first")


def test_an_interrupted_run_is_explored_with_what_it_has(cases, tmp_path):
    stop = iter([False, False, True])
    run = fcb.evaluate(
        ScriptedModel(["네"]), cases, tmp_path / "r", progress=False, should_stop=lambda: next(stop)
    )
    explorer = fcb.explore(run)
    assert "stopped on request" in explorer.summary.value
    select_label(explorer.filters.facets["verdict"], "no reply")
    assert "47 of 50 items" in explorer.list.status.value
    assert "No reply: the run was stopped before it." in explorer.item.body.value
