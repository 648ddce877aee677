"""A model behind a server in `fcb run` and `fcb.evaluate`: order, errors, resuming, what is kept."""

import json
import logging
import random
import subprocess
import sys
import traceback
from collections import Counter
from threading import Event

import pytest
from judging_stub import Stub, serving
from judging_toys import call, cases

import fcb_toolkit as fcb
from fcb_toolkit import jsonl
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError, ModelError, UnknownName
from fcb_toolkit.models.openai_server import OpenAIServer
from fcb_toolkit.records import Generation

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def query(body):
    return body["messages"][-1]["content"]


def number_of(body):
    return int(query(body).split("번")[0])


def called(city="서울"):
    return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": call(city)}]}


def answering(handler, body, number):
    """Calls for the call cases, a question for the others."""
    if number_of(body) < 2:
        handler.say(called(), "tool_calls")
    else:
        handler.say(f"어느 도시인가요? ({number_of(body)})")


def load(server: Stub, **options):
    return fcb.load_model("openai:m", base_url=server.url, **{"retries": 0, "timeout": 120.0, **options})


def evaluate(server, out=None, count=6, **generation):
    return fcb.evaluate(load(server), cases(count), out, progress=False, **generation)


def test_replies_go_to_their_cases_whatever_the_order_in_which_they_come():
    last = Event()

    def behave(handler, body, number):
        # One of two connections waits with case 2; the other's last request comes when it has read 3 and 4.
        if number_of(body) == 2:
            last.wait(300)
        elif number_of(body) == 5:
            last.set()
        answering(handler, body, number)

    with serving(behave) as server:
        run = fcb.evaluate(load(server, concurrency=2), cases(6), progress=False)
    order = [reply.case_id for reply in run.replies]
    assert order.index("jsonl/2") > order.index("jsonl/4")
    assert {r.case_id: r.text for r in run.replies if r.case_id > "jsonl/1"} == {
        f"jsonl/{n}": f"어느 도시인가요? ({n})" for n in range(2, 6)
    }


def test_calls_are_kept_as_the_servers_message_and_usage_is_recorded(tmp_path):
    with serving(answering) as server:
        run = evaluate(server, tmp_path / "run")
        (body,) = [body for body in server.bodies if number_of(body) == 0]
    read = fcb.load_run(tmp_path / "run")
    assert read.replies == run.replies
    reply = read.reply("jsonl/0")
    assert reply.message == {"role": "assistant", **called()}
    assert (reply.prompt_tokens, reply.reply_tokens, reply.format) == (10, 5, "openai")
    assert read.verdict("jsonl/0").outcome == "pass"
    assert read.answer(reply).parse.tool_calls[0].arguments == {"city": "서울"}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["weather"]
    prompt = json.loads(read.prompts[reply.prompt_sha256])
    assert prompt == {"messages": body["messages"], "tools": body["tools"]}
    assert read.manifest["model"]["kind"] == "server"


def test_an_error_of_one_request_is_data_and_only_that_one_is_asked_again(tmp_path):
    def failing(handler, body, number):
        if number_of(body) == 3:
            handler.send(500, '{"error": {"message": "out of memory"}}')
        elif number_of(body) == 4:
            handler.send(400, '{"error": {"message": "maximum context length"}}')
        else:
            answering(handler, body, number)

    with serving(failing) as server:
        run = evaluate(server, tmp_path / "run")
        assert Counter(map(number_of, server.bodies)) == dict.fromkeys(range(6), 1)
        assert "out of memory" in run.reply("jsonl/3").notes[0]
        assert "maximum context length" in run.verdict("jsonl/4").reason
        assert (run.verdict("jsonl/3").outcome, run.missing) == ("not_scored", ())
        server.behave, server.bodies = answering, []
        again = evaluate(server, tmp_path / "run")
        assert sorted(map(number_of, server.bodies)) == [3, 4]
        assert {reply.finish_reason for reply in again.replies} == {"stop"}
        assert again.verdict("jsonl/3").outcome == "pass"
        server.bodies = []
        assert evaluate(server, tmp_path / "run").replies == again.replies
        assert server.bodies == []


def test_of_several_samples_only_the_failed_one_is_asked_again(tmp_path):
    def failing(handler, body, number):
        if (number_of(body), body["seed"]) == (2, 1):
            handler.send(503, "{}")
        else:
            handler.say(f"{number_of(body)} {body['seed']}")

    with serving(failing) as server:
        first = evaluate(server, tmp_path / "run", 3, samples=3, temperature=1.0)
        assert len(server.bodies) == 9
        server.behave, server.bodies = lambda handler, body, number: handler.say("mended"), []
        again = evaluate(server, tmp_path / "run", 3, samples=3, temperature=1.0)
        assert [(number_of(body), body["seed"]) for body in server.bodies] == [(2, 1)]
    changed = {r.key: r.text for r in again.replies if r != first.reply(*r.key)}
    assert changed == {("jsonl/2", 1): "mended"}


def test_a_refused_key_ends_the_run_and_what_came_before_is_kept(tmp_path):
    def behave(handler, body, number):
        if number > 3:
            handler.send(401, '{"error": {"message": "expired"}}')
        else:
            answering(handler, body, number)

    with serving(behave) as server:
        model = load(server, concurrency=1)
        with pytest.raises(
            ModelError, match="m: the server refused: .*expired.*; check name, base URL and key"
        ):
            fcb.evaluate(model, cases(6), tmp_path / "run", progress=False)
        assert len(server.bodies) == 4
        assert len(fcb.load_run(tmp_path / "run").replies) == 3
        server.behave, server.bodies = answering, []
        assert evaluate(server, tmp_path / "run").missing == ()
        assert sorted(map(number_of, server.bodies)) == [3, 4, 5]


def test_a_stopped_run_keeps_what_was_on_its_way(tmp_path):
    """Ctrl-C while three requests are at the server: their answers are paid for, and are not thrown away."""
    three, release = Event(), Event()
    waiting = []

    def behave(handler, body, number):
        if number > 1:
            waiting.append(number)
            if len(waiting) == 3:
                three.set()
            release.wait(300)
        answering(handler, body, number)

    def interrupt(reply):
        assert three.wait(300)
        release.set()
        raise KeyboardInterrupt

    with serving(behave) as server:
        model = load(server, concurrency=3)
        run = fcb.evaluate(model, cases(9), tmp_path / "run", progress=False, on_reply=interrupt)
        assert len(server.bodies) == 4
    assert len(run.replies) == 4
    assert len(fcb.load_run(tmp_path / "run").replies) == 4
    assert any(note.startswith("interrupted after") for note in run.notes)


def test_the_command_runs_a_model_behind_a_server_and_writes_no_key(tmp_path, capsys):
    source = tmp_path / "mine.jsonl"
    requests = [
        {
            "serial_num": case.serial_num,
            "messages": list(case.messages),
            "tools": list(case.tools),
            "ground_truth": case.ground_truth,
            "type_of_output": case.type_of_output,
        }
        for case in cases(4)
    ]
    jsonl.write_lines(source, requests)
    with serving(answering) as server:
        command = ["run", "jsonl", "--source", str(source), "--model", "openai:m", "--base-url", server.url]
        command += ["--out", str(tmp_path / "run"), "--concurrency", "2", "--requests-per-minute", "6000"]
        command += ["--timeout", "20", "--extra-body", '{"top_k": 1}', "--omit", "seed", "--quiet"]
        assert main(command) == 0
    assert "call_match" in capsys.readouterr().out
    assert all(body["top_k"] == 1 and "seed" not in body for body in server.bodies)
    assert server.keys == [f"Bearer {KEY}"] * 4
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [4, 16])
def test_a_run_killed_at_random_repeats_no_stored_reply(tmp_path, concurrency):
    source = tmp_path / "mine.jsonl"
    fixed = {"tools": [], "ground_truth": {"content": "네?"}, "type_of_output": "slot"}
    rows = (
        {"serial_num": n, "messages": [{"role": "user", "content": f"{n}번"}], **fixed} for n in range(60)
    )
    jsonl.write_lines(source, rows)
    command = [sys.executable, "-m", "fcb_toolkit", "run", "jsonl", "--source", str(source), "--quiet"]
    command += ["--model", "openai:m", "--out", str(tmp_path / "run"), "--concurrency", str(concurrency)]
    draw = random.Random(concurrency)
    with serving(answering) as server:
        command += ["--base-url", server.url]
        stored: set[int] = set()
        for _ in range(2):
            before = Counter(map(number_of, server.bodies))
            server.kill_at(len(server.bodies) + draw.randrange(1, 25))
            server.wait_and_kill(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            now = Counter(map(number_of, server.bodies))
            assert not (now - before).keys() & stored
            stored = {int(r.case_id.split("/")[1]) for r in fcb.load_run(tmp_path / "run").replies}
            in_flight = now.keys() - stored
            assert len(in_flight) <= concurrency
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        after = Counter(map(number_of, server.bodies))
    assert not (after - now).keys() & stored
    assert after.keys() == set(range(60))
    assert sum(after.values()) - 60 <= 2 * concurrency


def test_a_field_that_the_server_does_not_take_is_left_out_or_renamed_and_noted():
    def behave(handler, body, number):
        if "response_format" in body:
            handler.send(400, '{"error": {"message": "response_format is not supported"}}')
        elif "max_tokens" in body:
            handler.send(400, '{"error": {"message": "Use \'max_completion_tokens\' instead."}}')
        else:
            handler.say("네")

    with serving(behave) as server:
        model = load(server, response_format={"type": "json_object"}, concurrency=1)
        prompts = [model.prepare([{"role": "user", "content": str(n)}]) for n in range(2)]
        replies = [reply for _, reply in model.generate(prompts, Generation(max_new_tokens=9))]
    assert [reply.text for reply in replies] == ["네", "네"]
    assert replies[1].notes == ("the server refused response_format; asked without it",)
    assert len(server.bodies) == 4 and server.bodies[-1]["max_completion_tokens"] == 9


def test_calls_that_a_server_leaves_in_the_text_are_read_by_the_format_named():
    text = '<tool_call>\n{"name": "weather", "arguments": {"city": "서울"}}\n</tool_call>'
    with serving(lambda handler, body, number: handler.say(text)) as server:
        run = fcb.evaluate(load(server, format="hermes"), cases(1), progress=False)
    reply = run.replies[0]
    assert (reply.message, reply.text, reply.format) == (None, text, "hermes")
    assert run.verdict("jsonl/0").outcome == "pass"


def test_arguments_of_the_history_are_sent_as_json_text():
    history = [
        {"role": "user", "content": "0번"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"a": "서울"}}}]},
        {"role": "tool", "tool_call_id": "a", "content": "{}"},
    ]  # fmt: skip
    with serving(lambda handler, body, number: handler.say("네")) as server:
        model = load(server)
        list(model.generate([model.prepare(history, [{"name": "f", "parameters": {}}])], Generation()))
    (body,) = server.bodies
    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"a": "서울"}'
    assert body["tools"] == [{"type": "function", "function": {"name": "f", "parameters": {}}}]


def test_a_server_that_is_not_there_is_told_at_once():
    with serving(answering) as server:
        url = server.url
    with pytest.raises(
        ModelError, match=f"m: nothing answers at {url}; start the server or check the base URL"
    ):
        fcb.evaluate(fcb.load_model("openai:m", base_url=url, retries=0), cases(2), progress=False)


def test_wrong_options_are_told():
    with pytest.raises(UnknownName, match="unknown option of a model behind a server 'device'"):
        fcb.load_model("openai:m", base_url="http://localhost:1/v1", device="cpu")
    with pytest.raises(DataError, match="server option concurrency is 0, expected 1 or more"):
        fcb.load_model("openai:m", base_url="http://localhost:1/v1", concurrency=0)
    with pytest.raises(ModelError, match="no model named after 'openai:'"):
        fcb.load_model("openai:", base_url="http://localhost:1/v1")
    model = fcb.load_model("openai:m", base_url="http://localhost:1/v1")
    with pytest.raises(
        ModelError, match="constrain and stop_after_calls are not for a model behind a server"
    ):
        fcb.evaluate(model, cases(1), progress=False, constrain="tools")


SECRET_URLS = [
    f"http://me:{KEY}@localhost:1/v1",
    f"http://{KEY}@localhost:1/v1",
    f"http://localhost:1/v1?key={KEY}",
    f"http://localhost:1/v1#{KEY}",
    f"http://localhost:1/{KEY}/v1",
    f"me:{KEY}@localhost:1/v1",
    f"http:/me:{KEY}@localhost:1/v1",
    f"http://[{KEY}/v1",
]


@pytest.mark.parametrize("url", SECRET_URLS)
@pytest.mark.parametrize("way", ["option", "variable", "class"])
def test_a_base_url_that_holds_a_key_is_refused_and_shown_nowhere(monkeypatch, url, way):
    if way == "variable":
        monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(ModelError, match="the base URL ") as caught:
        if way == "class":
            OpenAIServer("m", url)
        else:
            fcb.load_model("openai:m", **({"base_url": url} if way == "option" else {}))
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in trace.stack if "fcb_toolkit" in frame.filename]
    assert ours and KEY not in "".join(str(frame.locals) for frame in ours)
    assert KEY not in str(caught.value)


def test_a_key_with_a_line_break_at_its_end_is_mended(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    with serving(answering) as server:
        evaluate(server, count=1)
    assert server.keys == [f"Bearer {KEY}"]


def test_a_key_that_no_header_carries_is_refused_and_shown_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX")
    with pytest.raises(
        ModelError, match="OPENAI_API_KEY holds characters that no HTTP header carries"
    ) as caught:
        fcb.load_model("openai:m", base_url="http://localhost:1/v1")
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert KEY not in "".join(trace.format())


def test_a_key_given_as_an_option_is_sent_and_shown_nowhere():
    given = "sk-given-0123456789abcdef"
    with serving(answering) as server:
        model = load(server, api_key=given)
        fcb.evaluate(model, cases(1), progress=False)
    assert server.keys == [f"Bearer {given}"]
    assert given not in f"{model!r} {vars(model)!r} {model.describe()}"


def test_a_key_that_the_server_repeats_is_in_no_log_note_or_reply(caplog, tmp_path):
    caplog.set_level(logging.DEBUG)

    def behave(handler, body, number):
        sent = handler.headers["Authorization"]
        if number_of(body) == 0:
            handler.send(500, json.dumps({"error": {"message": f"bad {sent}"}}), X_Sent=sent)
        else:
            handler.say(f"your header was {sent}")

    with serving(behave) as server:
        run = evaluate(server, tmp_path / "run", 2)
    assert "[key]" in run.reply("jsonl/0").notes[0]
    assert run.reply("jsonl/1").text == "your header was Bearer [key]"
    assert "X-Sent" in caplog.text and KEY not in caplog.text
    assert all(KEY not in p.read_text() for p in (tmp_path / "run").rglob("*") if p.is_file())


def test_the_settings_of_a_server_are_part_of_the_run(tmp_path):
    with serving(answering) as server:
        evaluate(server, tmp_path / "run", 1)
        with pytest.raises(DataError, match="model.extra_body is None there and"):
            model = load(server, extra_body={"top_k": 1})
            fcb.evaluate(model, cases(1), tmp_path / "run", progress=False)
