"""The demo adapter: merging, what is said when it does not fit, its template, and that it calls."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

import fcb_toolkit as fcb
from fcb_toolkit.errors import ModelError
from fcb_toolkit.models import demo

MODULE = "model.layers.0.self_attn.q_proj"
TOOL = {
    "type": "function",
    "function": {
        "name": "find_bakery",
        "description": "빵집을 찾는다",
        "parameters": {
            "type": "object",
            "properties": {"district": {"type": "string", "description": "동네"}},
            "required": ["district"],
        },
    },
}


def tiny(hidden: int = 16) -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=32,
            hidden_size=hidden,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
        )
    )


def write_adapter(folder: Path, module: str = MODULE) -> tuple[torch.Tensor, torch.Tensor]:
    down, up = torch.randn(4, 16), torch.randn(16, 4)
    prefix = f"base_model.model.{module}"
    save_file(
        {f"{prefix}.lora_A.weight": down, f"{prefix}.lora_B.weight": up}, folder / "adapter_model.safetensors"
    )
    (folder / "adapter_config.json").write_text(json.dumps({"r": 4, "lora_alpha": 8}))
    return down, up


def test_merging_adds_the_scaled_product_and_changes_nothing_else(tmp_path: Path) -> None:
    model = tiny()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    down, up = write_adapter(tmp_path)
    assert demo.merge_adapter(model, tmp_path) == 1
    for name, tensor in model.state_dict().items():
        expected = before[name] + 2.0 * up @ down if name == f"{MODULE}.weight" else before[name]
        torch.testing.assert_close(tensor, expected)


def test_a_merged_model_answers_as_the_base_with_the_adapter_beside_it(tmp_path: Path) -> None:
    model, ids = tiny(), torch.arange(6)[None]
    down, up = write_adapter(tmp_path)
    hook = model.get_submodule(MODULE).register_forward_hook(
        lambda module, inputs, output: output + 2.0 * inputs[0] @ down.T @ up.T
    )
    with torch.no_grad():
        beside = model(ids).logits
        hook.remove()
        demo.merge_adapter(model, tmp_path)
        torch.testing.assert_close(model(ids).logits, beside, atol=1e-5, rtol=1e-5)


def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    write_adapter(tmp_path, "model.layers.7.self_attn.q_proj")
    with pytest.raises(
        ModelError, match=r"changes model\.layers\.7\.self_attn\.q_proj, which LlamaForCausalLM"
    ):
        demo.merge_adapter(tiny(), tmp_path)
    write_adapter(tmp_path)
    with pytest.raises(
        ModelError, match=r"is \(32, 32\) in the model, but the adapter was made for \(16, 16\)"
    ):
        demo.merge_adapter(tiny(hidden=32), tmp_path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors: not found"):
        demo.merge_adapter(tiny(), tmp_path)
    with pytest.raises(ModelError, match=r"chat_template\.jinja: not found"):
        demo.load_demo(tmp_path)


def test_the_template_shows_tools_calls_and_results_and_is_read_as_hermes() -> None:
    template = demo.FOLDER / "chat_template.jinja"
    audit = fcb.audit_template(template)
    assert audit.shows_tools
    assert audit.shows_calls
    assert audit.shows_results
    assert audit.accepts_parallel_calls
    assert audit.keeps_text_beside_call
    assert not audit.escapes_korean
    rendered = fcb.render([{"role": "user", "content": "망원동 빵집 찾아 줘"}], [TOOL], template)
    assert (rendered.mode, rendered.format) == ("native", "hermes")
    assert json.dumps(TOOL["function"], ensure_ascii=False) in rendered.prompt
    assert rendered.prompt.endswith("<|im_start|>assistant\n")


def test_the_adapter_is_at_most_12_megabytes() -> None:
    assert sum(file.stat().st_size for file in demo.FOLDER.iterdir()) <= 12_000_000


@pytest.mark.slow
def test_the_demo_model_calls_a_tool_in_korean() -> None:
    case = fcb.Case.from_request(
        {
            "serial_num": 1,
            "messages": [{"role": "user", "content": "망원동 빵집 좀 찾아 줘"}],
            "tools": [TOOL],
            "ground_truth": {"name": "find_bakery", "arguments": '{"district": "망원동"}'},
            "type_of_output": "call",
        }
    )
    run = fcb.evaluate(fcb.load_model("demo"), [case], max_new_tokens=80)
    answer = fcb.parse(run.replies[0].text or "", "hermes", tools=[TOOL])
    assert answer.error is None
    assert [call.name for call in answer.tool_calls] == ["find_bakery"]
    assert run.replies[0].finish_reason == "stop"
