"""A random two-layer Llama with a tokenizer of its own, made in a second. It writes nonsense, but every
line of the real loading and generating code runs on it."""

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{{ bos_token }}{% if tools %}<|im_start|>system\n<tools>{% for t in tools %}{{ t | tojson }}\n{% endfor %}"
    '</tools>\nAnswer with <tool_call>{"name": ..., "arguments": {...}}</tool_call><|im_end|>\n{% endif %}'
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<s>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    raw.train_from_iterator(["도구를 부른다 call the tool name arguments"] * 4, trainer)
    # Like Llama's, this tokenizer adds a BOS of its own when asked to add special tokens.
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", raw.token_to_id("<s>"))]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="<s>", pad_token="<s>")
    fast.add_special_tokens({"additional_special_tokens": special[1:]})
    fast.chat_template = TEMPLATE
    return fast


def model(tok: Any, seed: int = 0, **config: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    values = {
        "vocab_size": len(tok),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "bos_token_id": tok.bos_token_id,
        "eos_token_id": tok.eos_token_id,
        "pad_token_id": tok.pad_token_id,
        "initializer_range": 0.5,
    }
    return LlamaForCausalLM(LlamaConfig(**{**values, **config})).eval()


def checkpoint(folder: Path, seed: int = 0) -> Path:
    """The pair saved as a transformers checkpoint."""
    tok = tokenizer()
    model(tok, seed).save_pretrained(folder)
    tok.save_pretrained(folder)
    return folder
