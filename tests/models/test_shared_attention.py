"""Attention over shared prefixes gives what whole rows give, whatever the kernel, and leaves the model as it was."""

import random
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

import tiny

import fcb_toolkit as fcb
from fcb_toolkit.models import huggingface_attention as attention
from fcb_toolkit.models.huggingface_attention import EMPTY
from fcb_toolkit.models.huggingface_cache import Rows, merge
from fcb_toolkit.records import Rendered

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


def whole(model, ids):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0, -1]


def drawn(length, seed):
    pick = random.Random(seed)
    return [pick.randrange(250) for _ in range(length)]


@pytest.mark.parametrize("flash", [True, False])
def test_rows_under_several_prefixes_of_two_levels_get_the_logits_of_whole_rows(pair, monkeypatch, flash):
    if not flash:  # as on an accelerator
        monkeypatch.setattr(attention, "_has_flash", lambda *_: False)
    model = pair[0]
    top = drawn(70, 1)
    root = Rows.below(EMPTY, 1, CPU).read(model, [top]).as_prefix(0)
    middles = [drawn(40, 2), drawn(13, 3)]
    inner = Rows.below(root, 2, CPU).read(model, middles)
    leaves = [[drawn(n, 10 * n + g) for n in (9, 1, 30)] for g in range(2)]
    parts = [Rows.below(inner.as_prefix(g), 3, CPU).read(model, leaves[g]) for g in range(2)]
    alone = Rows.below(EMPTY, 1, CPU).read(model, [drawn(5, 9)])
    rows = merge([parts[0], alone, parts[1]])
    texts = [*([*top, *middles[0], *leaf] for leaf in leaves[0]), drawn(5, 9)]
    texts += [[*top, *middles[1], *leaf] for leaf in leaves[1]]
    for step in range(70):  # beyond the room that the cache keeps
        logits = rows.step(model, [step] * len(texts))
        texts = [[*text, step] for text in texts]
    kept = rows.select([0, 3, 5])
    logits = kept.step(model, [7, 8, 9])
    for row, (i, token) in enumerate(((0, 7), (3, 8), (5, 9))):
        torch.testing.assert_close(logits[row], whole(model, [*texts[i], token]), atol=1e-3, rtol=1e-4)
    assert len(kept.groups) == 3 and [count for _, count in rows.groups] == [3, 1, 3]


def test_the_models_own_attention_is_back_afterwards(pair):
    model = pair[0]
    before = model.config._attn_implementation
    rows = Rows.below(EMPTY, 1, CPU).read(model, [[1, 2, 3]])
    assert model.config._attn_implementation == before
    with pytest.raises(IndexError):
        rows.step(model, [10**6])
    assert model.config._attn_implementation == before and before != attention.NAME
    assert rows.columns == 3 and rows.cache.get_seq_length() == 3


def test_attention_that_wants_more_than_this_one_does_takes_the_plain_engine(pair):
    from transformers import Gemma2Config, Gemma2ForCausalLM

    torch.manual_seed(0)
    config = Gemma2Config(
        vocab_size=len(pair[1]), hidden_size=32, intermediate_size=64, num_hidden_layers=2, head_dim=8,
        num_attention_heads=4, num_key_value_heads=2, eos_token_id=0, pad_token_id=0, bos_token_id=0,
        layer_types=["full_attention"] * 2, attn_logit_softcapping=5.0,
    )  # fmt: skip
    model = fcb.load_model((Gemma2ForCausalLM(config).eval(), pair[1]))
    assert model.engine == "plain" and "softcap" in model.engine_note


def test_the_first_replies_come_before_all_prompts_are_read(pair, monkeypatch):
    model = fcb.load_model(pair, engine="prefix")
    assert model.engine == "prefix"
    read, whole_read = [], Rows.read

    def counted(self, model, segments):
        read.append(len(segments))
        return whole_read(self, model, segments)

    monkeypatch.setattr(Rows, "read", counted)
    # Nothing is shared, so every prompt is read on its own or with neighbours.
    prompts = [Rendered(" ".join(str(random.Random(i).random()) for _ in range(30))) for i in range(200)]
    replies = model.generate(prompts, fcb.Generation(max_new_tokens=2))
    next(replies)
    assert sum(read) < 100
    assert len(list(replies)) == 199


def in_room(pair, prompts, monkeypatch):
    """A run of the prefix engine, with room for so many tokens: (texts, counts)."""
    from fcb_toolkit.models import huggingface_prefix
    from fcb_toolkit.models.huggingface_batch import Prompt

    ids = [pair[1](p.prompt, add_special_tokens=False)["input_ids"] for p in prompts]
    listed = [Prompt(i, 0, x, p) for i, (x, p) in enumerate(zip(ids, prompts, strict=True))]
    model = fcb.load_model(pair, engine="prefix")

    def run(room):
        monkeypatch.setattr(huggingface_prefix, "tokens_that_fit", lambda _model: room)
        engine = huggingface_prefix.PrefixEngine(model, listed, fcb.Generation(max_new_tokens=8))
        return {p.index: reply.text for p, reply in engine.run()}, engine.counts

    return run


def test_memory_that_is_short_makes_batches_smaller(pair, monkeypatch):
    prompts = [Rendered(f"{'공통 ' * 40}{i} {'질문 ' * (i % 7)}") for i in range(60)]
    run = in_room(pair, prompts, monkeypatch)
    wide, narrow = run(10**9), run(1200)
    assert wide[0] == narrow[0] and len(narrow[0]) == 60
    assert narrow[1].most_rows < wide[1].most_rows
    assert narrow[1].most_held < wide[1].most_held


def test_one_long_row_among_short_ones_does_not_widen_them_all(pair, monkeypatch):
    """A batch is as wide as its widest row; what it takes with its padding stays within the room."""
    prompts = [Rendered(f"{i} {'질문 ' * (200 if i % 12 == 5 else 2)}") for i in range(60)]
    run = in_room(pair, prompts, monkeypatch)
    free, most = run(10**9)
    room = most.widest // 2
    texts, counts = run(room)
    assert texts == free
    assert counts.widest <= room
