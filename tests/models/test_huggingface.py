"""The in-process model, on a random one that the test makes (see tiny.py)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny

import fcb_toolkit as fcb
from fcb_toolkit.errors import ModelError, UnknownName

TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
]
QUESTIONS = [
    "서울 날씨",
    "부산은 지금 더운가요? 우산도 필요한지 알려 주세요",
    "hi",
    "내일 제주도 비행기 표를 두 장 사 줘",
]


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


@pytest.fixture(scope="module", params=["prefix", "plain"])
def model(pair, request):
    """Both engines; they must agree with one-at-a-time generation and so with each other."""
    return fcb.load_model(pair, engine=request.param)


def prompts(model, texts=QUESTIONS, tools=TOOLS):
    return [model.prepare([{"role": "user", "content": text}], tools) for text in texts]


def replies(model, prompts, **settings):
    found = {}
    for index, reply in model.generate(prompts, fcb.Generation(**{"max_new_tokens": 12, **settings})):
        found[index, reply.sample] = reply
    return found


def one_at_a_time(pair, rendered, limit):
    """transformers' own greedy loop, a token a step, without padding or batches."""
    import torch

    model, tok = pair
    ids = tok(rendered.prompt, add_special_tokens=False, return_tensors="pt").input_ids
    start = ids.shape[1]
    with torch.inference_mode():
        for _ in range(limit):
            ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], dim=1)
            if ids[0, -1].item() in (tok.eos_token_id, tok.convert_tokens_to_ids("<|im_end|>")):
                break
    return ids[0, start:].tolist()


def test_a_batch_gives_the_tokens_of_one_at_a_time_generation(pair, model):
    given = prompts(model)
    found = replies(model, given)
    for index, rendered in enumerate(given):
        expected = one_at_a_time(pair, rendered, 12)
        assert found[index, 0].reply_tokens == len(expected)
        assert found[index, 0].text == pair[1].decode(expected, skip_special_tokens=False)


def test_the_prompt_has_one_bos_and_its_tokens_are_not_the_replys(pair, model):
    given = prompts(model)
    found = replies(model, given)
    for index, rendered in enumerate(given):
        assert rendered.prompt.count("<s>") == 1
        ids = pair[1](rendered.prompt, add_special_tokens=False).input_ids
        assert found[index, 0].prompt_tokens == len(ids)
        assert 1 <= found[index, 0].reply_tokens <= 12


def test_the_turns_end_token_of_the_template_stops_the_reply(pair, model):
    """The checkpoint names only <s> as its end, as Llama 3 names <|end_of_text|>."""
    end = pair[1].convert_tokens_to_ids("<|im_end|>")
    assert end in model.stop_ids
    import torch

    biased = tiny.model(pair[1])
    biased.lm_head.register_forward_hook(
        lambda module, given, out: out.index_fill(-1, torch.tensor([end]), 1e4)
    )
    reply = replies(fcb.load_model((biased, pair[1])), prompts(model)[:1])[0, 0]
    assert (reply.text, reply.finish_reason, reply.reply_tokens) == ("<|im_end|>", "stop", 1)


def test_a_reply_cut_by_the_limit_says_length(model):
    found = replies(model, prompts(model), max_new_tokens=1)
    assert {r.finish_reason for r in found.values()} <= {"length", "stop"}
    assert all(r.reply_tokens == 1 for r in found.values())
    assert any(r.finish_reason == "length" for r in found.values())


def test_generation_settings_of_the_checkpoint_change_nothing(pair, model):
    from copy import deepcopy

    stubborn = deepcopy(pair[0])
    stubborn.generation_config.do_sample = True
    stubborn.generation_config.temperature = 5.0
    stubborn.generation_config.repetition_penalty = 3.0
    given = prompts(model)
    plain = replies(model, given)
    assert {k: r.text for k, r in replies(fcb.load_model((stubborn, pair[1])), given).items()} == {
        k: r.text for k, r in plain.items()
    }


def test_samples_are_seeded_by_request_and_not_by_batch(model):
    given = prompts(model)
    together = replies(model, given, temperature=1.0, samples=3, seed=7)
    alone = replies(model, given, temperature=1.0, samples=3, seed=7, batch_size=1)
    assert {k: r.text for k, r in together.items()} == {k: r.text for k, r in alone.items()}
    assert len({r.text for (index, _), r in together.items() if index == 1}) > 1
    other = replies(model, given, temperature=1.0, samples=3, seed=8)
    assert any(other[k].text != together[k].text for k in together)


def test_a_tiny_top_p_is_greedy(model):
    given = prompts(model)
    greedy = replies(model, given)
    narrow = replies(model, given, temperature=1.0, top_p=1e-9)
    assert {k: r.text for k, r in greedy.items()} == {k: r.text for k, r in narrow.items()}


def test_out_of_memory_halves_the_batch_and_goes_on(pair, model, monkeypatch):
    import torch

    given = prompts(model)
    expected = replies(model, given)
    sizes = []
    whole = pair[0].generate

    def generate(ids, **keywords):
        sizes.append(len(ids))
        if len(ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3 GiB")
        return whole(ids, **keywords)

    monkeypatch.setattr(pair[0], "generate", generate)
    found = replies(fcb.load_model(pair, engine="plain"), given)
    assert sizes == [4, 2, 1, 1, 2, 1, 1]
    assert {k: r.text for k, r in found.items()} == {k: r.text for k, r in expected.items()}


def test_one_prompt_that_does_not_fit_the_memory_is_a_reply_that_ended_in_an_error(pair, monkeypatch):
    import torch

    def generate(ids, **keywords):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(pair[0], "generate", generate)
    model = fcb.load_model(pair, engine="plain")
    found = replies(model, prompts(model)[:2])
    assert [r.finish_reason for r in found.values()] == ["error", "error"]
    assert "out of memory with one prompt of" in found[0, 0].notes[0]


def test_another_runtime_error_is_not_taken_for_out_of_memory(pair, monkeypatch):
    def generate(ids, **keywords):
        raise RuntimeError("shape mismatch")

    monkeypatch.setattr(pair[0], "generate", generate)
    model = fcb.load_model(pair, engine="plain")
    with pytest.raises(RuntimeError, match="shape mismatch"):
        replies(model, prompts(model)[:2])


def test_a_prompt_longer_than_the_model_takes_is_said_and_the_others_go_on(pair):
    short = fcb.load_model((tiny.model(pair[1], max_position_embeddings=400), pair[1]))
    given = prompts(short, ["짧다", "길다 " * 300])
    found = replies(short, given)
    assert found[0, 0].finish_reason != "error"
    assert found[1, 0].finish_reason == "error"
    assert "but the model takes 400 in all" in found[1, 0].notes[0]


def test_a_saved_checkpoint_is_the_pair_it_was_saved_from(pair, model, tmp_path):
    folder = tiny.checkpoint(tmp_path / "tiny-llama")
    loaded = fcb.load_model(folder, dtype="float32")
    assert loaded.name == "tiny-llama"
    given = prompts(model)
    assert {k: r.text for k, r in replies(loaded, given).items()} == {
        k: r.text for k, r in replies(model, given).items()
    }
    facts = loaded.describe()
    assert facts["dtype"] == "float32" and facts["architecture"] == "LlamaForCausalLM"
    assert facts["revision"].startswith("local-") and len(facts["template_sha256"]) == 64


def test_two_checkpoints_with_other_weights_have_other_revisions(tmp_path):
    one = fcb.load_model(tiny.checkpoint(tmp_path / "a", seed=1)).describe()["revision"]
    two = fcb.load_model(tiny.checkpoint(tmp_path / "b", seed=2)).describe()["revision"]
    assert one != two


def test_a_model_that_does_not_exist_is_said_at_once(tmp_path):
    with pytest.raises(ModelError, match="no-such/model: not in the local cache, and HF_HUB_OFFLINE is set"):
        fcb.load_model("no-such/model")
    with pytest.raises(ModelError, match=r"missing\.gguf: no such file or folder"):
        fcb.load_model(str(tmp_path / "missing.gguf"))
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        fcb.load_model(tmp_path)
    with pytest.raises(ModelError, match="not a hub id"):
        fcb.load_model("a b c")


def test_without_a_network_a_hub_id_fails_at_once_instead_of_retrying(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"not in the local cache, and 127\.0\.0\.1 cannot be reached"):
        fcb.load_model("no-such/model")


def test_a_broken_checkpoint_is_an_error_with_its_name(tmp_path):
    folder = tiny.checkpoint(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match="broken: cannot be loaded: "):
        fcb.load_model(folder)


def test_a_wrong_option_lists_the_right_ones(pair):
    with pytest.raises(UnknownName, match="unknown model option 'devise'. Did you mean 'device'?"):
        fcb.load_model(pair, devise="cpu")
    with pytest.raises(UnknownName, match="unknown dtype 'int3'"):
        fcb.load_model(pair, dtype="int3")
    with pytest.raises(ModelError, match=r"a pair of \(int, int\)"):
        fcb.load_model((1, 2))


@pytest.mark.slow
def test_the_embedded_model_loads_from_its_gguf_and_says_that_its_template_drops_tools():
    model = fcb.load_model("embedded")
    assert model.describe()["parameters"] == 134_515_008
    rendered = prompts(model, ["서울 날씨 어때?"])[0]
    assert rendered.mode == "prompt"
    assert "weather" in rendered.prompt
    assert any("tools" in note or "도구" in note for note in rendered.notes)
    reply = replies(model, [rendered])[0, 0]
    assert reply.reply_tokens >= 1 and reply.text
