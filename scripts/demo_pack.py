"""A pack as one sequence: its tokens, and attention that knows which conversation each belongs to.

AttentionInterface.register("packed", packed_attention)
model.set_attn_implementation("packed")
packed = encode(pack, tokenizer)
model.model(packed["ids"][None], position_ids=packed["positions"][None], pack=layout_of(packed["segments"]))
"""

from __future__ import annotations

import re
from typing import Any

import torch

LEARNT = re.compile(r"(?<=<\|im_start\|>assistant\n).*?<\|im_end\|>", re.DOTALL)


def encode(pack: dict[str, Any], tokenizer: Any) -> dict[str, torch.Tensor]:
    """ids, positions, segment of each token (0: shared), and whether the token is learnt; each (tokens,)."""
    system = [{"role": "system", "content": pack["system"]}]
    shared = tokenizer.apply_chat_template(system, tools=pack["tools"], tokenize=False)
    ids = tokenizer(shared, add_special_tokens=False)["input_ids"]
    start = len(ids)
    positions, segments, learnt = list(range(start)), [0] * start, [False] * start
    for number, branch in enumerate(pack["branches"], 1):
        text = tokenizer.apply_chat_template(branch["messages"], tokenize=False)
        for piece, learn in _pieces(text):
            new = tokenizer(piece, add_special_tokens=False)["input_ids"]
            ids += new
            segments += [number] * len(new)
            learnt += [learn] * len(new)
        positions += range(start, start + segments.count(number))
    return {
        "ids": torch.tensor(ids),
        "positions": torch.tensor(positions),
        "segments": torch.tensor(segments),
        "learnt": torch.tensor(learnt),
    }


def _pieces(text: str) -> list[tuple[str, bool]]:
    pieces, at = [], 0
    for match in LEARNT.finditer(text):
        pieces += [(text[at : match.start()], False), (match[0], True)]
        at = match.end()
    return [*pieces, (text[at:], False)]


def layout_of(segments: torch.Tensor) -> dict[str, Any]:
    """Where each conversation lies in the pack, as rows for attention.

    `shared`: tokens of the shared part; `index` and `real`, both (rows, longest): each row's tokens, padded
    with 0 where not real; `mask` (rows, 1, longest, shared + longest): what a token sees.
    """
    shared = int((segments == 0).sum())
    rows = [(segments == number).nonzero()[:, 0] for number in range(1, int(segments.max()) + 1)]
    index = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    real = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True).bool()
    own = torch.ones(index.shape[1], index.shape[1], dtype=torch.bool).tril() & real[:, None, :]
    mask = torch.cat([torch.ones(*index.shape, shared, dtype=torch.bool), own], dim=2)[:, None]
    return {"shared": shared, "index": index, "real": real, "mask": mask}


def packed_attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, _mask: None, **given: Any
) -> tuple[torch.Tensor, None]:
    """Attention within a pack (transformers' `AttentionInterface`): tensors (1, heads, tokens, width).

    The shared part sees itself, a conversation the shared part and itself. One dense mask over the pack says the
    same and takes 7 times the work, more than all the rest of a step.
    """
    attend = torch.nn.functional.scaled_dot_product_attention
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    pack, shared = given["pack"], given["pack"]["shared"]
    first = attend(*(x[:, :, :shared] for x in (query, key, value)), is_causal=True)
    own_q, own_k, own_v = (x[0][:, pack["index"]].transpose(0, 1) for x in (query, key, value))
    rows = len(pack["index"])
    seen_k, seen_v = (
        torch.cat([x[:, :, :shared].expand(rows, -1, -1, -1), own], dim=2)
        for x, own in ((key, own_k), (value, own_v))
    )
    mask = torch.zeros_like(pack["mask"], dtype=own_q.dtype).masked_fill_(~pack["mask"], float("-inf"))
    rest = attend(own_q, seen_k, seen_v, attn_mask=mask).transpose(1, 2)[pack["real"]]
    return torch.cat([first.transpose(1, 2), rest[None]], dim=1), None
