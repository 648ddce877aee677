"""The prefix engine: same answers, fewer tokens, memory that runs out."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny

import fcb_toolkit as fcb
from fcb_toolkit.errors import ModelError
from fcb_toolkit.models import prefix_tree
from fcb_toolkit.records import Rendered


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


def family(count, seed=0):
    """Prompts like a benchmark's: one system text, a few tool lists, some queries each, odd lengths."""
    pick = random.Random(seed)
    words = ["날씨", "city", "도구", "call", "3", "{", "}", '"', "\\", "부산", "tomorrow"]
    text = lambda n: " ".join(pick.choice(words) for _ in range(n))  # noqa: E731
    system = text(20)
    lists = [text(pick.randint(5, 60)) for _ in range(max(1, count // 4))]
    return [Rendered(f"{system}\n{pick.choice(lists)}\n{text(pick.randint(1, 15))}") for _ in range(count)]


def texts(model, prompts, **settings):
    options = fcb.Generation(**{"max_new_tokens": 10, **settings})
    return {
        (i, r.sample): (r.text, r.finish_reason, r.prompt_tokens) for i, r in model.generate(prompts, options)
    }


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_it_gives_the_plain_engines_replies(pair, batch_size):
    prompts = [*family(30), *family(30)[:5], Rendered("x")]
    plain = texts(fcb.load_model(pair, engine="plain"), prompts)
    assert texts(fcb.load_model(pair, engine="prefix"), prompts, batch_size=batch_size) == plain


def test_rows_that_end_early_leave_and_the_others_go_on(pair):
    """With sampling at a high temperature rows end at many different steps."""
    prompts = family(12, seed=2)
    settings = {"temperature": 2.0, "samples": 2, "max_new_tokens": 60}
    plain = texts(fcb.load_model(pair, engine="plain"), prompts, **settings)
    assert len({reason for _, reason, _ in plain.values()}) == 2
    assert texts(fcb.load_model(pair, engine="prefix"), prompts, batch_size=7, **settings) == plain


def test_memory_that_runs_out_while_reading_or_writing_changes_no_reply(pair, monkeypatch):
    import torch

    from fcb_toolkit.models.huggingface_cache import Rows

    prompts = family(16, seed=3)
    expected = texts(fcb.load_model(pair, engine="prefix"), prompts)
    read, step, refused = Rows.read, Rows.step, []

    def short_read(self, model, segments):
        if len(segments) > 3:
            refused.append(("read", len(segments)))
            raise torch.OutOfMemoryError("CUDA out of memory")
        return read(self, model, segments)

    def short_step(self, model, tokens):
        if len(tokens) <= 3:
            return step(self, model, tokens)
        refused.append(("step", len(tokens)))
        inner = model.model.layers[1].forward

        def full(*arguments, **keywords):
            raise MemoryError("not enough memory")

        # The first layer has been written when the memory ends.
        model.model.layers[1].forward = full
        try:
            return step(self, model, tokens)
        finally:
            model.model.layers[1].forward = inner

    monkeypatch.setattr(Rows, "read", short_read)
    monkeypatch.setattr(Rows, "step", short_step)
    model = fcb.load_model(pair, engine="prefix")
    model.__dict__["engine_note"] = ""
    assert texts(model, prompts) == expected
    assert {kind for kind, _ in refused} == {"read", "step"}


def test_a_shared_prefix_is_read_once(pair):
    from fcb_toolkit.models.huggingface_batch import Prompt
    from fcb_toolkit.models.huggingface_prefix import PrefixEngine

    model = fcb.load_model(pair, engine="prefix")
    prompts = family(40, seed=4)
    ids = [pair[1](p.prompt, add_special_tokens=False)["input_ids"] for p in prompts]
    engine = PrefixEngine(
        model,
        [Prompt(i, 0, x, p) for i, (x, p) in enumerate(zip(ids, prompts, strict=True))],
        fcb.Generation(max_new_tokens=2),
    )
    assert len(list(engine.run())) == 40
    least = prefix_tree.distinct_tokens(ids)
    assert engine.counts.read <= 1.15 * least < 0.5 * sum(map(len, ids))


@pytest.mark.parametrize(
    ("prompts", "least", "read"),
    [
        ([[1, 2, 3]], 1, 3),
        ([[1, 2, 3], [1, 2, 3]], 1, 4),
        ([[1, 2, 3], [1, 2, 3, 4, 5]], 1, 6),
        ([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 9]], 1, 6),
        ([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 9]], 3, 8),
        ([[1], [1], [2]], 1, 3),
    ],
)
def test_the_tree_holds_each_prompt_whole(prompts, least, read):
    found = {}

    def walk(nodes, before):
        for node in nodes:
            path = [*before, *node.edge]
            if node.leaf is not None:
                assert len(node.edge) >= 1 and not node.children
                found[node.leaf] = path
            walk(node.children, path)

    tree = prefix_tree.build(prompts, least)
    walk(tree, [])
    assert [found[i] for i in range(len(prompts))] == prompts
    assert prefix_tree.tokens(tree) == read


def sliding(tok):
    from transformers import MistralConfig, MistralForCausalLM

    return MistralForCausalLM(
        MistralConfig(
            vocab_size=len(tok), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, sliding_window=16, eos_token_id=0, pad_token_id=0,
        )
    ).eval()  # fmt: skip


def state_space(tok):
    from transformers import MambaConfig, MambaForCausalLM

    return MambaForCausalLM(
        MambaConfig(
            vocab_size=len(tok), hidden_size=32, num_hidden_layers=2, state_size=4,
            eos_token_id=0, pad_token_id=0, bos_token_id=0,
        )
    ).eval()  # fmt: skip


@pytest.mark.parametrize(("make", "reason"), [(sliding, "a sliding window of 16"), (state_space, "")])
@pytest.mark.filterwarnings("ignore")  # the libraries' advice to install kernels
def test_a_model_whose_cache_cannot_be_shared_takes_the_plain_engine_and_says_so(pair, make, reason):
    import torch

    torch.manual_seed(0)
    odd = make(pair[1])
    model = fcb.load_model((odd, pair[1]))
    assert model.engine == "plain"
    assert reason in model.engine_note and model.describe()["notes"] == [model.engine_note]
    with pytest.raises(ModelError, match="engine='prefix' cannot serve it: .*; use 'plain'"):
        _ = fcb.load_model((odd, pair[1]), engine="prefix").engine


def test_a_model_that_ignores_positions_or_masks_is_found_by_trying(pair):
    """A wrapper that drops the positions, as a model with absolute positions of its own would."""
    import torch

    class Deaf(type(pair[0])):
        def forward(self, *arguments, position_ids=None, **keywords):
            return super().forward(*arguments, position_ids=None, **keywords)

    torch.manual_seed(0)
    deaf = Deaf(pair[0].config).eval()
    assert "trial" in fcb.load_model((deaf, pair[1])).engine_note


def test_other_model_families_are_served_and_agree(pair):
    """Rotary, learned and ALiBi positions; experts; the answer is right or the plain engine is taken."""
    import torch
    from transformers import AutoModelForCausalLM, GPT2Config, GPTNeoXConfig, Qwen2Config, Qwen3MoeConfig

    common = {"vocab_size": len(pair[1]), "eos_token_id": 0, "pad_token_id": 0, "bos_token_id": 0}
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    configs = [
        Qwen2Config(**common, **small, num_key_value_heads=2),
        GPT2Config(**common, n_embd=32, n_layer=2, n_head=4, n_positions=1024),
        GPTNeoXConfig(**common, **small),
        Qwen3MoeConfig(
            **common,
            **small,
            num_key_value_heads=2,
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=16,
            head_dim=8,
        ),
    ]
    prompts = family(10, seed=5)
    for config in configs:
        torch.manual_seed(1)
        built = AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            for parameter in built.parameters():
                parameter.normal_(std=0.3) if parameter.dim() > 1 else None
        model = fcb.load_model((built, pair[1]))
        assert texts(model, prompts) == texts(fcb.load_model((built, pair[1]), engine="plain"), prompts), (
            config.model_type
        )


@pytest.mark.parametrize(
    ("draws", "fits"),
    [
        ([[0.1, 0.4, 0.1, 0.1], [0.1, 0.1, 0.2, 0.1], [0.1, 0.1, 0.1, 0.5]], True),
        ([[0.1, 0.4, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1], [0.1, 0.9, 0.1, 0.1]], False),
        ([[0.1, 0.1, 0.1, float("inf")], [0.1, 0.1, 0.1, float("inf")], [0.1, 0.1, 0.1, 0.1]], False),
    ],
)
def test_one_draw_that_rounding_moves_does_not_end_the_trial(pair, monkeypatch, draws, fits):
    from fcb_toolkit.models import huggingface_trial

    monkeypatch.setattr(huggingface_trial, "_differences", lambda model, vocabulary, seed: draws[seed])
    assert (huggingface_trial.why_not(pair[0]) is None) is fits
