"""Result files of other tools become runs, where they hold what a run needs."""

import json
import zipfile

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.runs.importers import import_results

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def call(city):
    arguments = json.dumps({"city": city}, ensure_ascii=False)
    return {
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "weather", "arguments": arguments}}
        ]
    }


def request(serial, **more):
    return {
        "serial_num": serial,
        "messages": [{"role": "user", "content": f"{serial}번 도시의 날씨는?"}],
        "tools": [TOOL],
        "temperature": 0.1,
        "tool_choice": "auto",
        "ground_truth": {"name": "weather", "arguments": '{"city": "부산"}'},
        "acceptable_arguments": None,
        **more,
    }


def judged(text):
    return {"choices": [{"message": {"content": text, "role": "assistant"}}]}


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def evaluation(serial, reply, response, word, **more):
    return {
        "model_request": request(serial, **more),
        "model_response": reply,
        "evaluate_prompt": "",
        "evaluate_response": response,
        "tsv_keys": [],
        "report_arguments": {"is_pass": word},
    }


def test_an_official_evaluation_gives_cases_replies_and_its_own_verdicts(tmp_path):
    exact = {"id": "exact-match", **judged("exact-eval\n\n\npass\npass\n"), "exact": "pass"}
    rows = [
        evaluation(1, call("부산"), exact, "pass", tools_type="exact"),
        evaluation(1, call("서울"), judged("도시가 다르다.\n\nfail"), "fail", tools_type="4_close"),
        evaluation(2, call("부산 "), judged("음"), "음", tools_type="exact"),
    ]
    run = fcb.load_run(write(tmp_path / "FunctionChat-Singlecall.gpt-4o.eval.jsonl", rows))
    assert run.model_name == "gpt-4o"
    assert [case.id for case in run.cases] == [
        "functionchat/singlecall/1/exact",
        "functionchat/singlecall/1/4_close",
        "functionchat/singlecall/2/exact",
    ]
    assert run.cases[0].cluster == run.cases[1].cluster != run.cases[2].cluster
    outcomes = {case_id: str(verdict.outcome) for (case_id, _), verdict in run.verdicts["official"].items()}
    assert list(outcomes.values()) == ["pass", "fail", "not_scored"]
    assert len(run.verdicts["rubric"]) == 2
    assert run.verdicts["rubric"][(run.cases[1].id, 0)].reason == "도시가 다르다.\n\nfail"
    # Ours stands beside theirs.
    assert str(run.verdict(run.cases[1].id).failure) == "wrong_value"
    assert run.manifest["imported"]["format"] == "FunctionChat-Bench evaluation"


def test_an_official_output_takes_its_questions_from_the_input_file_beside_it(tmp_path):
    write(
        tmp_path / "FunctionChat-Dialog.input.jsonl", [request(n, type_of_output="call") for n in (1, 2, 3)]
    )
    replies = [
        {"role": "assistant", "content": None, **call("부산")},
        {"role": "assistant", "content": "모릅니다", "tool_calls": None},
    ]
    run = fcb.load_run(write(tmp_path / "FunctionChat-Dialog.kanana.output.jsonl", replies))
    assert (run.model_name, len(run.cases), len(run.replies)) == ("kanana", 3, 2)
    assert str(run.verdict("functionchat/dialog/1").outcome) == "pass"
    assert str(run.verdict("functionchat/dialog/2").failure) == "missing_call"
    assert run.missing == ("functionchat/dialog/3",)
    assert "2 of 3 cases have a reply" in run.notes[1]


def test_a_server_error_in_an_official_output_is_not_the_models_failure(tmp_path):
    write(tmp_path / "FunctionChat-Dialog.input.jsonl", [request(1, type_of_output="call")])
    row = {"role": "assistant", "content": "", "tool_calls": [], "error": "api response is None"}
    run = fcb.load_run(write(tmp_path / "FunctionChat-Dialog.m.output.jsonl", [row]))
    assert str(run.verdict("functionchat/dialog/1").outcome) == "not_scored"


def test_an_official_output_can_take_its_questions_from_the_benchmark(tmp_path, fcb_data):
    cases = fcb.load_benchmark("functionchat/dialog", source=fcb_data / "functionchat")
    path = write(
        tmp_path / "FunctionChat-Dialog.m.output.jsonl", [{"role": "assistant", "content": "네"}] * len(cases)
    )
    run = import_results(path, source=fcb_data / "functionchat")
    assert run.cases == tuple(cases)


@pytest.mark.parametrize("name", ["dialog", "calldecision", "singlecall"])
def test_clusters_told_by_content_are_those_of_the_benchmark(name, tmp_path, fcb_data):
    cases = fcb.load_benchmark(f"functionchat/{name}", source=fcb_data / "functionchat")
    rows = []
    for case in cases:
        row = {
            "serial_num": case.serial_num,
            "messages": list(case.messages),
            "tools": list(case.tools),
            "ground_truth": case.ground_truth,
            "type_of_output": case.type_of_output,
        }
        if name == "singlecall":
            row["tools_type"] = case.condition
        if name == "calldecision":
            row["category"] = case.category
        rows.append(
            {
                "model_request": row,
                "model_response": {"tool_calls": []},
                "evaluate_response": judged("fail"),
                "report_arguments": {"is_pass": "fail"},
            }
        )
    run = import_results(write(tmp_path / "x.eval.jsonl", rows))
    assert [case.id for case in run.cases] == [case.id for case in cases]
    pairs = {(ours.cluster, theirs.cluster) for ours, theirs in zip(run.cases, cases, strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_more_replies_than_questions_are_refused(tmp_path):
    write(tmp_path / "FunctionChat-Dialog.input.jsonl", [request(1, type_of_output="call")])
    path = write(tmp_path / "FunctionChat-Dialog.m.output.jsonl", [{"role": "assistant", "content": "a"}] * 2)
    with pytest.raises(DataError, match=r"2 replies to 1 cases \(FunctionChat-Dialog\.input\.jsonl\)"):
        fcb.load_run(path)


def test_replies_without_questions_are_refused_with_the_way_out(tmp_path):
    path = write(tmp_path / "answers.jsonl", [{"role": "assistant", "content": "a"}])
    with pytest.raises(
        DataError, match=r"replies without their questions; put the tool's \*\.input\.jsonl beside it"
    ):
        fcb.load_run(path)


def dpab_row(query, score, code="x = 1", **more):
    return {
        "code": code,
        "score": score,
        "results": "{}",
        "expected": '{"functions": ["f"], "values": [1]}',
        "user_query": query,
        "functions": "def f(): ...",
        **more,
    }


def test_dpab_results_keep_the_recorded_score(tmp_path, monkeypatch):
    monkeypatch.setenv("FCB_HOME", str(tmp_path / "empty"))
    folder = tmp_path / "qwen_ollama"
    folder.mkdir()
    run = fcb.load_run(write(folder / "results.jsonl", [dpab_row("a", 1.0), dpab_row("b", 0.5)]))
    assert run.model_name == "qwen_ollama"
    strict = [str(verdict.outcome) for verdict in run.verdicts["dpab_strict_official"].values()]
    assert strict == ["pass", "fail"]
    assert run.cases[0].ground_truth == {"functions": ["f"], "values": [1]}


def test_dpab_json_mode_gives_the_dropped_rows_back_as_official_fails(tmp_path, fcb_data):
    cases = fcb.load_benchmark("dpab/json", source=fcb_data / "dpab")
    queries = [case.messages[-1]["content"] for case in cases]
    rows = []
    for query in queries[:98]:
        row = dpab_row(query, 1.0, function_calls=[])
        del row["code"]
        rows.append(row)
    run = import_results(write(tmp_path / "results.jsonl", rows), source=fcb_data / "dpab")
    strict = run.verdicts["dpab_strict_official"]
    assert len(strict) == 100
    assert sum(str(verdict.outcome) == "pass" for verdict in strict.values()) == 98
    assert str(run.verdict("dpab/json/99").outcome) == "not_scored"
    assert "2 cases have no row" in run.notes[1]


def test_a_dpab_question_from_elsewhere_is_refused(tmp_path, fcb_data):
    path = write(tmp_path / "results.jsonl", [dpab_row("지어낸 질문", 1.0)])
    with pytest.raises(DataError, match="line 1: this question is not in the benchmark's data"):
        import_results(path, source=fcb_data / "dpab")


def bfcl_data(folder):
    (folder / "possible_answer").mkdir(parents=True)
    function = {
        "name": "weather",
        "description": "",
        "parameters": {
            "type": "dict",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
    rows = [
        {"id": f"simple_{n}", "question": [[{"role": "user", "content": "q"}]], "function": [function]}
        for n in range(3)
    ]
    gold = [
        {"id": f"simple_{n}", "ground_truth": [{"weather": {"city": ["Busan", "부산"], "days": [1, ""]}}]}
        for n in range(3)
    ]
    write(folder / "BFCL_v3_simple.json", rows)
    write(folder / "possible_answer" / "BFCL_v3_simple.json", gold)
    return folder


def test_bfcl_results_are_scored_by_berkeleys_rules_and_ours(tmp_path):
    data = bfcl_data(tmp_path / "data")
    folder = tmp_path / "some-model"
    folder.mkdir()
    rows = [
        {
            "id": "simple_0",
            "result": '[weather(city="부산")]',
            "input_token_count": 12,
            "output_token_count": 5,
            "latency": 0.5,
        },
        {"id": "simple_1", "result": [{"weather": '{"city": "Busan", "days": 1}'}]},
        {"id": "simple_2", "result": '[weather(city="Seoul")]'},
    ]
    run = import_results(write(folder / "BFCL_v3_simple_result.json", rows), source=data)
    assert run.model_name == "some-model"
    assert [str(verdict.outcome) for verdict in run.verdicts["bfcl_ast"].values()] == ["pass", "pass", "fail"]
    assert [str(run.verdict(case.id).outcome) for case in run.cases] == ["pass", "pass", "fail"]
    assert run.cases[0].tools[0]["function"]["parameters"]["type"] == "object"
    assert (run.replies[0].prompt_tokens, run.replies[0].reply_tokens, run.replies[0].seconds) == (12, 5, 0.5)


def test_bfcl_results_alone_are_refused(tmp_path):
    path = write(tmp_path / "BFCL_v3_simple_result.json", [{"id": "simple_0", "result": "x"}])
    with pytest.raises(DataError, match="BFCL results hold no questions"):
        fcb.load_run(path)


def lm_row(number, text, value, **more):
    return {
        "doc_id": number,
        "doc": {"q": "2+2"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "2+2=", "arg_1": {"until": ["\n"]}}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": value,
        **more,
    }


def test_lm_eval_samples_become_a_run_with_their_metrics(tmp_path):
    folder = tmp_path / "Qwen__Qwen3-0.6B"
    folder.mkdir()
    rows = [lm_row(0, "4", 1.0), lm_row(1, "5", 0.0)]
    run = fcb.load_run(write(folder / "samples_gsm8k_2025-01-01T00-00-00.1.jsonl", rows))
    assert run.cases[0].id == "lm-eval/gsm8k/0"
    assert run.cases[0].messages == ({"role": "user", "content": "2+2="},)
    assert fcb.summarize(run, metric="exact_match").loc[0, "rate"] == 0.5
    assert [reply.text for reply in run.replies] == ["4", "5"]


def test_lm_eval_chat_prompts_and_several_generations_are_kept(tmp_path):
    chat = json.dumps([{"role": "user", "content": "hi"}])
    row = lm_row(0, "a", 1.0, resps=[["a", "b"]], arguments=[[chat, {}]])
    run = fcb.load_run(write(tmp_path / "samples_t.jsonl", [row]))
    assert run.cases[0].messages == ({"role": "user", "content": "hi"},)
    assert [(reply.sample, reply.text) for reply in run.replies] == [(0, "a"), (1, "b")]


def test_lm_eval_likelihood_tasks_are_refused(tmp_path):
    row = lm_row(0, "", 1.0, resps=[[[-1.5, False]]])
    with pytest.raises(DataError, match=r"line 1: 'resps' holds no text \(a task scored by likelihood\?\)"):
        fcb.load_run(write(tmp_path / "samples_t.jsonl", [row]))


def inspect_log(**more):
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "확인할게요"}],
        "tool_calls": [{"id": "1", "function": "weather", "arguments": {"city": "부산"}, "type": "function"}],
    }
    sample = {
        "id": "s1",
        "epoch": 1,
        "input": [{"role": "user", "content": "날씨는?"}],
        "target": "x",
        "messages": [],
        "output": {
            "model": "m",
            "choices": [{"message": message, "stop_reason": "max_tokens"}],
            "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
            "time": 1.5,
        },
        "scores": {"match": {"value": "C", "answer": "x"}, "partial": {"value": "P"}, "f1": {"value": 0.4}},
        "events": [
            {
                "event": "model",
                "tools": [{"name": "weather", "description": "d", "parameters": {"type": "object"}}],
            }
        ],
    }
    again = {**sample, "epoch": 2, "scores": {"match": {"value": "I"}}}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "openai/m"},
        "samples": [sample, again],
        **more,
    }


def test_an_inspect_log_becomes_a_run(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(), indent=1))
    run = fcb.load_run(path)
    assert (run.model_name, [case.id for case in run.cases]) == ("openai/m", ["inspect/t/s1"])
    assert [reply.sample for reply in run.replies] == [0, 1]
    reply = run.replies[0]
    assert (reply.finish_reason, reply.prompt_tokens, reply.reply_tokens, reply.seconds) == (
        "length",
        7,
        3,
        1.5,
    )
    assert run.answer(reply).parse.tool_calls[0].arguments == {"city": "부산"}
    assert run.cases[0].tools[0]["function"]["name"] == "weather"
    outcomes = {
        name: [str(verdict.outcome) for verdict in rows.values()] for name, rows in run.verdicts.items()
    }
    assert outcomes == {"match": ["pass", "fail"], "partial": ["not_scored"], "f1": ["not_scored"]}


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_packed_inspect_log_is_read(how, tmp_path):
    log = inspect_log()
    samples = log.pop("samples")
    with zipfile.ZipFile(tmp_path / "log.eval", "w", how) as file:
        file.writestr("header.json", json.dumps(log))
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    assert len(fcb.load_run(tmp_path / "log.eval").replies) == 2


def test_an_inspect_log_packed_with_zstandard_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    log = inspect_log()
    samples = log.pop("samples")
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr("header.json", json.dumps(log))
        packed = pyarrow.compress(json.dumps(samples[0]).encode(), codec="zstd", asbytes=True)
        file.writestr("samples/s1_epoch_1.json", packed)
    # The zip as Inspect writes it: method 93 and the real size, in both headers of the entry.
    raw, size = bytearray(path.read_bytes()), len(json.dumps(samples[0]).encode()).to_bytes(4, "little")
    local = raw.index(b"PK\x03\x04", 1)
    central = raw.index(b"PK\x01\x02", raw.index(b"PK\x01\x02") + 1)
    for method, length in ((local + 8, local + 22), (central + 10, central + 24)):
        raw[method : method + 2], raw[length : length + 4] = (93).to_bytes(2, "little"), size
    path.write_bytes(bytes(raw))
    assert len(fcb.load_run(path).replies) == 1


def test_a_log_without_samples_is_refused(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(samples=None, results={})))
    with pytest.raises(DataError, match="the log holds no samples"):
        fcb.load_run(path)


def test_a_broken_package_is_refused(tmp_path):
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(DataError, match="not a whole Inspect log"):
        fcb.load_run(tmp_path / "log.eval")


def test_an_unknown_file_is_refused_with_the_known_formats(tmp_path):
    path = write(tmp_path / "x.jsonl", [{"a": 1, "b": 2}])
    with pytest.raises(
        DataError,
        match=r"a row with the keys a, b; expected one of: FunctionChat-Bench evaluation, .*Inspect log",
    ):
        fcb.load_run(path)


def test_two_replies_to_one_case_are_refused(tmp_path):
    row = evaluation(1, call("부산"), judged("fail"), "fail", tools_type="exact")
    with pytest.raises(DataError, match="two replies to functionchat/singlecall/1/exact sample 0"):
        fcb.load_run(write(tmp_path / "x.eval.jsonl", [row, row]))
