"""Training packs: each conversation of a pack is read as if it stood alone after the shared tools."""

import random
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
from demo_catalog import read_functions
from demo_data import make_pack
from demo_pack import encode, layout_of, packed_attention

from fcb_toolkit.rendering import load_template

TEMPLATE = load_template(Path(__file__).parent.parent / "data" / "demo_adapter" / "chat_template.jinja")


class ByteTokenizer:
    """One token a byte, so that places are easy to see."""

    def apply_chat_template(self, messages: list[dict[str, Any]], tools: Any = None, **_given: Any) -> str:
        return TEMPLATE.render(messages, tools, add_generation_prompt=False)

    def __call__(self, text: str, **_given: Any) -> dict[str, list[int]]:
        return {"input_ids": list(text.encode())}


def tiny() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
    )
    return LlamaForCausalLM(config).eval()


def test_a_packed_conversation_gives_what_it_gives_alone() -> None:
    model = tiny()
    pack = make_pack(read_functions(), random.Random("pack"), sizes=(1,), branches=3)
    packed = encode(pack, ByteTokenizer())
    ids, segments = packed["ids"], packed["segments"]
    with torch.no_grad():
        alone = {
            number: model.model(ids[(segments == 0) | (segments == number)][None]).last_hidden_state[0]
            for number in (1, 2, 3)
        }
        AttentionInterface.register("packed", packed_attention)
        model.set_attn_implementation("packed")
        found = model.model(
            ids[None], position_ids=packed["positions"][None], pack=layout_of(segments), use_cache=False
        ).last_hidden_state[0]
    shared = int((segments == 0).sum())
    for number, expected in alone.items():
        torch.testing.assert_close(found[segments == number], expected[shared:], atol=1e-5, rtol=1e-4)


def test_only_the_assistants_turns_are_learnt() -> None:
    pack = make_pack(read_functions(), random.Random("learnt"), branches=4)
    packed = encode(pack, ByteTokenizer())
    learnt = bytes(packed["ids"][packed["learnt"]].tolist()).decode()
    answers = [m for branch in pack["branches"] for m in branch["messages"] if m["role"] == "assistant"]
    assert learnt.count("<|im_end|>") == len(answers)
    for branch in pack["branches"]:
        assert branch["messages"][0]["content"] not in learnt
    for message in answers:
        assert (message["content"] or message["tool_calls"][0]["function"]["name"]) in learnt
