"""A server that refuses, breaks, hangs and babbles; and a key that goes nowhere but there."""

import logging
import pickle
import random
import re
import signal
import subprocess
import sys
import traceback
from collections import Counter
from threading import Event

import pytest
from judging_stub import serving
from judging_toys import a_run

import fcb_toolkit as fcb
from fcb_toolkit import jsonl
from fcb_toolkit.cli import main
from fcb_toolkit.errors import ModelError
from fcb_toolkit.judging import JudgeOptions, judge, judged, read_batch, read_votes, write_batch
from fcb_toolkit.models.openai_server import OpenAIServer, ServerOptions
from fcb_toolkit.records import Generation

KEY = "sk-secret-0123456789abcdef"
PASS = "이유.\n판정: 합격"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def ask(url, **options):
    options = {"retries": 2, "timeout": 60.0, **options}
    model = OpenAIServer("m", url, options=ServerOptions(**options))
    prompt = model.prepare([{"role": "user", "content": "hi"}])
    return next(reply for _, reply in model.generate([prompt], Generation(max_new_tokens=7)))


def first(*wrong):
    """Behaves wrongly once for each function given, then well."""

    def behave(handler, body, number):
        if number <= len(wrong):
            wrong[number - 1](handler)
        else:
            handler.say("fine")

    return behave


def too_many(handler):
    handler.send(429, '{"error": {"message": "slow down"}}', retry_after="0.01")


def broken(handler):
    handler.send(500, "oops", retry_after="0.01")


def cut(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


def no_json(handler):
    handler.send(200, '{"choices": [')


def no_choices(handler):
    handler.send(200, '{"object": "list", "data": []}')


@pytest.mark.parametrize("wrong", [too_many, broken, cut, no_json, no_choices])
def test_a_server_that_fails_once_is_asked_again(wrong):
    with serving(first(wrong)) as server:
        reply = ask(server.url)
    assert (reply.text, reply.finish_reason, len(server.bodies)) == ("fine", "stop", 2)


def test_the_request_holds_what_was_set():
    with serving(first()) as server:
        reply = ask(server.url, response_format={"type": "json_object"})
    (body,) = server.bodies
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 7, 0.0)
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert body["response_format"] == {"type": "json_object"}
    assert (reply.prompt_tokens, reply.reply_tokens) == (10, 5)


def test_retry_after_is_waited_for():
    def wait(handler):
        handler.send(429, "{}", retry_after="1")

    with serving(first(wait)) as server:
        reply = ask(server.url)
    assert reply.text == "fine"
    assert server.times[1] - server.times[0] >= 1.0
    # The time of a reply is that of the try that gave it.
    assert reply.seconds < 1.0


@pytest.mark.parametrize(
    ("wrong", "note"),
    [
        (broken, "Error code: 500"),
        (cut, "no answer"),
        (no_json, "no chat completion"),
        (no_choices, "no chat completion"),
    ],
)
def test_a_server_that_goes_on_failing_is_an_error_and_no_exception(wrong, note):
    with serving(lambda handler, body, number: wrong(handler)) as server:
        reply = ask(server.url, retries=1)
    assert (reply.text, reply.finish_reason) == (None, "error")
    assert note in reply.notes[0]
    assert len(server.bodies) in (2, 4)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '"x"',
        "null",
        "7",
        "",
        "{}",
        '{"choices": "x"}',
        '{"choices": [7]}',
        '{"choices": [{"message": []}]}',
    ],
)
def test_an_answer_of_another_shape_is_an_error_and_no_exception(text):
    with serving(lambda handler, body, number: handler.send(200, text)) as server:
        reply = ask(server.url, retries=0)
    assert (reply.text, reply.finish_reason) == (None, "error")
    assert "no chat completion" in reply.notes[0]


def test_an_error_that_comes_as_a_success_is_told():
    with serving(
        lambda handler, body, number: handler.send(200, '{"error": {"message": "no quota"}}')
    ) as server:
        reply = ask(server.url, retries=0)
    assert reply.finish_reason == "error" and "no quota" in reply.notes[0]


def test_a_message_of_odd_fields_is_kept_as_it_came():
    odd = {"content": ["a", {"text": "b"}], "tool_calls": "x", "reasoning_content": "왜"}
    with serving(lambda handler, body, number: handler.say(odd)) as server:
        reply = ask(server.url)
    assert (reply.text, reply.message) == (None, {"role": "assistant", **odd})
    case = fcb.Case("c", "toy", ({"role": "user", "content": "x"},), type_of_output="slot")
    assert fcb.score(case, reply.message, "rubric").outcome == "not_scored"


def test_a_slow_answer_is_given_up_after_the_timeout():
    release = Event()
    with serving(lambda handler, body, number: release.wait(300) and None) as server:
        reply = ask(server.url, timeout=0.1, retries=0)
        release.set()
    assert reply.finish_reason == "error"
    assert "APITimeoutError" in reply.notes[0]


def test_every_try_keeps_the_rate():
    with serving(first(too_many)) as server:
        model = OpenAIServer("m", server.url, options=ServerOptions(requests_per_minute=1200))
        prompts = [model.prepare([{"role": "user", "content": str(number)}]) for number in range(3)]
        replies = [reply for _, reply in model.generate(prompts, Generation())]
    assert len(replies) == 3 and len(server.times) == 4
    # 50 ms apart; a request may be a little late, and the next one then seems early.
    assert server.times[-1] - server.times[0] >= 0.14


def test_a_wrong_key_is_told_at_once_and_the_key_is_in_no_text(capfd, caplog):
    caplog.set_level(logging.DEBUG)

    def refuse(handler, body, number):
        sent = handler.headers["Authorization"]
        handler.send(401, f'{{"error": {{"message": "wrong key {sent}"}}}}')

    with serving(refuse) as server, pytest.raises(ModelError) as caught:
        ask(server.url)
    assert server.keys == [f"Bearer {KEY}"]
    error = caught.value
    told = "".join(traceback.format_exception(error)) + caplog.text + "".join(capfd.readouterr())
    assert "the server refused" in str(error) and "[key]" in str(error)
    assert KEY not in told


def test_no_key_in_any_file_or_output_of_a_judging(tmp_path, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    a_run(tmp_path / "run")
    with serving(lambda handler, body, number: handler.say(PASS)) as server:
        command = ["judge", str(tmp_path / "run"), "--judge", "m", "--base-url", server.url]
        assert main(command) == 0
        model = OpenAIServer("m", server.url)
    assert server.keys == [f"Bearer {KEY}"] * 3
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"votes.jsonl", "rubric.jsonl"} <= {path.name for path in files}
    assert all(KEY.encode() not in path.read_bytes() for path in files)
    told = caplog.text + "".join(capfd.readouterr()) + repr(model) + str(model.describe())
    assert KEY not in told
    with pytest.raises(Exception) as caught:
        pickle.dumps(model)
    assert KEY not in str(caught.value)


def test_a_url_with_a_password_and_a_missing_key_are_refused(monkeypatch):
    with pytest.raises(ModelError, match="holds a user name or password") as caught:
        OpenAIServer("m", "http://me:pw@localhost/v1")
    assert "pw" not in str(caught.value).replace("password", "")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match="no base URL given and OPENAI_API_KEY is not set"):
        OpenAIServer("m")


def test_an_error_of_the_server_is_not_scored_not_kept_and_asked_again(tmp_path):
    run = a_run(tmp_path / "run", 3)
    options = ServerOptions(retries=0)
    with serving(lambda handler, body, number: broken(handler)) as server:
        verdict = judge(run, OpenAIServer("m", server.url, options=options))["jsonl/2", 0]
        assert verdict.outcome == "not_scored"
        assert "Error code: 500" in verdict.reason
        assert read_votes(tmp_path / "run") == ()
        server.behave = lambda handler, body, number: handler.say(PASS)
        assert judge(run, OpenAIServer("m", server.url, options=options))["jsonl/2", 0].outcome == "pass"


def test_a_verdict_in_prose_is_read_and_a_structured_one_too():
    def behave(handler, body, number):
        call = "Criteria" in body["messages"][0]["content"] and "real call" in body["messages"][0]["content"]
        handler.say(
            "In the end the reply does not pass." if call else '{"reasoning": "ok", "verdict": "pass"}'
        )

    with serving(behave) as server:
        verdicts = judge(a_run(), OpenAIServer("m", server.url), JudgeOptions(language="en"))
    assert [verdicts[f"jsonl/{n}", 0].outcome for n in range(4)] == ["pass", "fail", "pass", "pass"]


def judge_command(folder, server, concurrency):
    command = [sys.executable, "-m", "fcb_toolkit", "judge", str(folder), "--judge", "m"]
    return [*command, "--base-url", server.url, "--concurrency", str(concurrency)]


def asked(server):
    """How often each case of the toy run was asked of."""
    queries = (re.search(r"([0-9]+)번: 서울", body["messages"][0]["content"]) for body in server.bodies)
    return Counter(f"jsonl/{query[1]}" for query in queries)


def test_killed_and_restarted_no_call_is_paid_for_twice(tmp_path):
    """The stub answers five calls, then holds the sixth: the process is killed while it waits for that one."""
    a_run(tmp_path / "run", 12)
    answered: Counter[str] = Counter()
    stuck, killed = Event(), Event()

    def behave(handler, body, number):
        if number == 6:
            stuck.set()
            killed.wait(300)
            return
        answered[body["messages"][0]["content"]] += 1
        handler.say(PASS)

    with serving(behave) as server:
        command = judge_command(tmp_path / "run", server, 1)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert stuck.wait(300)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed.set()
        # With one call at a time, the sixth was sent after the fifth vote was on the disk.
        kept = len(read_votes(tmp_path / "run"))
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert kept == 5
    assert len(answered) == 11 and set(answered.values()) == {1}
    assert {v.outcome for v in fcb.load_run(tmp_path / "run").verdicts["rubric"].values()} == {"pass"}


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [4, 16])
def test_killed_at_random_only_the_calls_in_flight_are_asked_again(tmp_path, concurrency):
    """The guarantee: no stored vote is asked for again, and what is asked twice was in flight at a kill, of which
    there are at most `concurrency`. A server that honours Idempotency-Key is paid once even for those."""
    a_run(tmp_path / "run", 61)
    draw = random.Random(concurrency)
    paid: Counter[str] = Counter()

    def behave(handler, body, number):
        key = handler.headers["Idempotency-Key"]
        with handler.server.lock:
            paid[body["messages"][0]["content"]] += key not in handler.server.ids[: number - 1]
        handler.say(PASS)

    stored: set[str] = set()
    in_flight: Counter[str] = Counter()
    with serving(behave) as server:
        command = judge_command(tmp_path / "run", server, concurrency)
        for _ in range(3):
            before = asked(server)
            server.kill_at(len(server.bodies) + draw.randrange(1, 18))
            server.wait_and_kill(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            new = (asked(server) - before).keys()
            assert not new & stored
            stored = {vote.case_id for vote in read_votes(tmp_path / "run")}
            assert len(new - stored) <= concurrency
            in_flight.update(new - stored)
        before = asked(server)
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        assert not (asked(server) - before).keys() & stored
        times = asked(server)
    assert len(times) == 60 == len(read_votes(tmp_path / "run"))
    assert times == Counter(times.keys()) + in_flight
    assert set(paid.values()) == {1} and len(paid) == 60


def test_the_same_run_judged_in_another_folder_is_another_call(tmp_path):
    ids = []
    for name in ("one", "two"):
        with serving(lambda handler, body, number: handler.say(PASS)) as server:
            judge(a_run(tmp_path / name, 3), OpenAIServer("m", server.url, options=ServerOptions(retries=0)))
        ids.append(set(server.ids))
    assert all(len(some) == 2 for some in ids) and not ids[0] & ids[1]


def test_every_try_of_one_call_has_one_idempotency_key():
    with serving(first(too_many, broken)) as server:
        judge(a_run(count=3), OpenAIServer("m", server.url, options=ServerOptions(concurrency=1)))
    assert len(server.ids) == 4 + 2 and len(set(server.ids[:3])) == 1


def test_a_batch_is_written_and_its_results_are_votes(tmp_path):
    run = a_run(tmp_path / "run")
    models = [OpenAIServer("m", "http://localhost:1/v1")]
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    assert write_batch(run, models, JudgeOptions(), batch) == 3
    rows = [row for _, row in jsonl.read(batch)]
    assert {row["url"] for row in rows} == {"/v1/chat/completions"}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": PASS}}
    good = [
        {"custom_id": r["custom_id"], "response": {"status_code": 200, "body": {"choices": [choice]}}}
        for r in rows
    ]
    good[2]["response"] = {"status_code": 500, "body": {}}
    jsonl.write_lines(results, good)
    read = read_batch(run, models, JudgeOptions(), results)
    assert (read.taken, read.failed) == (2, 1)
    assert write_batch(run, models, JudgeOptions(), batch) == 1
    jsonl.write_lines(results, [{"custom_id": "other"}])
    with pytest.raises(fcb.errors.DataError, match="custom_id 'other' is of no call of this judging"):
        read_batch(run, models, JudgeOptions(), results)


def test_the_verdicts_of_a_server_are_written_beside_the_run(tmp_path):
    run = a_run(tmp_path / "run")
    with serving(lambda handler, body, number: handler.say(PASS)) as server:
        done = judged(run, OpenAIServer("m", server.url), JudgeOptions(votes=3))
    assert len(server.bodies) == 9
    assert len({body["seed"] for body in server.bodies}) == 3
    assert fcb.load_run(tmp_path / "run").verdicts["rubric"] == done.verdicts["rubric"]


def test_a_traceback_with_local_names_shows_no_key(monkeypatch):
    import openai

    monkeypatch.setattr(openai, "OpenAI", lambda **given: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        OpenAIServer("m", "http://localhost:1/v1")
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "api_key" in told
    assert KEY not in told
