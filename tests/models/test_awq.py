"""AWQ checkpoints, on a small one that the test quantises and packs (tiny_awq.py)."""

import json
import re
import shutil
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_awq

import fcb_toolkit as fcb
from fcb_toolkit.errors import MissingExtra, ModelError, UnknownName
from fcb_toolkit.models import huggingface_awq, huggingface_gptqmodel

needs_gptqmodel = pytest.mark.skipif(
    find_spec("gptqmodel") is None, reason="the extra 'awq' is not installed: gptqmodel"
)
TEXTS = [
    "서울 날씨",
    "부산은 지금 더운가요? 우산도 필요한지 알려 주세요",
    "hi",
    "내일 제주도 비행기 표를 두 장 사 줘",
]
FIRST = "model.layers.0.self_attn.q_proj."
NEAR_TIE = 0.1
"""Two tokens whose logits are nearer than this share of the logits' spread may change places."""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return tiny_awq.checkpoints(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(scope="module")
def dense(paths):
    return fcb.load_model(paths["dense"], dtype="float32")


def changed(paths, tmp_path, weights=None, config=None):
    """A copy of the AWQ checkpoint in which one thing is different."""
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "changed"
    shutil.copytree(paths["awq"], folder)
    if weights is not None:
        tensors = load_file(folder / "model.safetensors")
        weights(tensors)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if config is not None:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config(found)
        (folder / "config.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def logits(model):
    import torch

    ids = torch.tensor(
        [model.tokenizer("도구를 부른다 call the tool name arguments 서울 날씨 " * 4).input_ids]
    )
    with torch.inference_mode():
        return model.model(ids).logits.float()


def test_packed_codes_stand_for_the_dense_weights():
    import torch

    weight = torch.randn(64, 384, generator=torch.Generator().manual_seed(0))
    codes, zeros, scales = tiny_awq.quantise(weight)
    found = huggingface_gptqmodel.dense_weight(tiny_awq.pack(codes), tiny_awq.pack(zeros), scales)
    assert torch.equal(found.t(), tiny_awq.dequantise(codes, zeros, scales))
    assert (found.t() - weight).abs().max() < 0.6 * scales.max()


@needs_gptqmodel
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 0.01), ("float16", 0.01), ("bfloat16", 0.015)])
def test_logits_are_those_of_the_dequantised_weights(paths, dense, dtype, bound):
    """The kernel for CPUs multiplies in bfloat16 whatever it is given: measured 0.006 to 0.008."""
    expected = logits(dense)
    model = fcb.load_model(paths["awq"], dtype=dtype)
    assert model.describe()["dtype"] == dtype
    assert (logits(model) - expected).norm() / expected.norm() < bound
    full = logits(fcb.load_model(paths["full"], dtype="float32"))
    assert (full - expected).norm() / expected.norm() > 10 * bound  # what quantising itself changed


@needs_gptqmodel
@pytest.mark.parametrize("engine", ["prefix", "plain"])
def test_both_engines_write_the_dequantised_models_tokens_except_at_near_ties(
    paths, dense, engine, monkeypatch
):
    import torch

    model = fcb.load_model(paths["awq"], dtype="float32", engine=engine)
    assert model.engine == engine
    written, decode = [], model.tokenizer.decode
    monkeypatch.setattr(model.tokenizer, "decode", lambda ids, **k: written.append(ids) or decode(ids, **k))
    given = [model.prepare([{"role": "user", "content": text}]) for text in TEXTS]
    clear = steps = 0
    for count, (index, reply) in enumerate(model.generate(given, fcb.Generation(max_new_tokens=24))):
        read = dense.tokenizer(given[index].prompt, add_special_tokens=False).input_ids
        new = list(written[count])
        assert len(new) == reply.reply_tokens
        with torch.inference_mode():
            rows = dense.model(torch.tensor([read + new])).logits[0, len(read) - 1 : -1]
        best = rows.topk(2).values
        sure = best[:, 0] - best[:, 1] > NEAR_TIE * rows.std()
        assert torch.equal(rows.argmax(-1)[sure], torch.tensor(new)[sure])
        clear, steps = clear + int(sure.sum()), steps + len(new)
    assert len(written) == len(TEXTS) and clear > 0.5 * steps > 10


@needs_gptqmodel
def test_describe_and_the_manifest_name_the_quantisation(paths, dense, tmp_path):
    model = fcb.load_model(paths["awq"], dtype="float32")
    facts = model.describe()
    assert facts["quantization"] == "awq"
    assert facts["quantization_details"] == {
        "bits": 4,
        "group_size": 128,
        "zero_point": True,
        "layout": "gemm",
        "layers": 14,
        "kernel": "TorchAtenAwqLinear",
        "package": huggingface_gptqmodel.named("gptqmodel"),
    }
    assert facts["parameters"] == dense.describe()["parameters"]
    assert dense.describe()["quantization"] == ""
    cases = fcb.load_benchmark("sample/korean")[:3]
    run = fcb.evaluate(model, cases, out=tmp_path / "run", max_new_tokens=4)
    assert len(run.replies) == 3 and not run.missing
    kept = fcb.load_run(tmp_path / "run").manifest["model"]
    assert kept["quantization"] == "awq" and kept["quantization_details"] == facts["quantization_details"]


@needs_gptqmodel
@pytest.mark.slow
def test_loading_prints_nothing_and_leaves_the_environment_alone(paths):
    """In a fresh process gptqmodel prints a banner and sets HF_HOME."""
    import os
    import subprocess

    program = (
        "import os; before = dict(os.environ)\n"
        "import torch, transformers; from torch._inductor import config\n"  # set variables of their own
        "import fcb_toolkit as fcb; before |= {k: v for k, v in os.environ.items() if k not in ('HF_HOME',)}\n"
        f"fcb.load_model({str(paths['awq'])!r})\n"
        "assert dict(os.environ) == before, set(os.environ.items()) ^ set(before.items())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"}
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "GPT" not in done.stderr and "gptqmodel" not in done.stderr.lower()


def test_without_the_extra_the_error_says_what_was_found_and_what_to_install(paths, monkeypatch):
    monkeypatch.setattr(huggingface_gptqmodel, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        fcb.load_model(paths["awq"])
    assert str(caught.value) == (
        "tiny-awq: an AWQ checkpoint (4 bits in groups of 128, GEMM layout) needs the package 'gptqmodel', which "
        "is not installed: pip install 'fcb-toolkit[awq]'"
    )


def test_a_gptqmodel_that_cannot_be_imported_is_named_with_its_reason(paths, monkeypatch):
    whole = huggingface_gptqmodel.importlib.import_module

    def refuse(name, package=None):
        if name == "gptqmodel":
            raise ImportError("No module named 'logbar'")
        return whole(name, package)

    monkeypatch.setattr(huggingface_gptqmodel, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr(huggingface_gptqmodel.importlib, "import_module", refuse)
    with pytest.raises(
        ModelError, match=r"gptqmodel.* cannot be imported: ImportError: No module named 'logbar'"
    ):
        fcb.load_model(paths["awq"])


@needs_gptqmodel
@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ({"version": "gemv"}, "4 bits in groups of 128, GEMV layout"),
        ({"version": "GEMV_FAST"}, "4 bits in groups of 128, GEMV_FAST layout"),
        ({"version": "marlin"}, "4 bits in groups of 128, MARLIN layout"),
        ({"version": "no-such"}, "4 bits in groups of 128, NO-SUCH layout"),
        ({"backend": "llm-awq"}, "4 bits in groups of 128, LLM-AWQ layout"),
        ({"bits": 3}, "3 bits in groups of 128, GEMM layout"),
        ({"group_size": 48}, "4 bits in groups of 48, GEMM layout"),
    ],
)
def test_a_layout_without_a_kernel_says_which_it_is_and_what_runs(paths, tmp_path, setting, found):
    folder = changed(paths, tmp_path, config=lambda c: c["quantization_config"].update(setting))
    with pytest.raises(ModelError) as caught:
        fcb.load_model(folder)
    text = str(caught.value)
    assert text.startswith(f"changed: an AWQ checkpoint of {found}; gptqmodel")
    assert "has no kernel for it on cpu" in text
    assert text.endswith("What runs everywhere: 4 bits in groups of 16, 32, 64 or 128, GEMM layout")


def test_a_configuration_that_says_no_layout_is_an_error(paths, tmp_path):
    folder = changed(paths, tmp_path, config=lambda c: c["quantization_config"].update(bits="four"))
    with pytest.raises(ModelError, match="says bits 'four' and group_size 128; expected whole numbers"):
        fcb.load_model(folder)


def test_the_old_form_with_a_file_of_its_own_is_named(paths, tmp_path):
    folder = changed(paths, tmp_path, config=lambda c: c.pop("quantization_config"))
    (folder / "quant_config.json").write_text('{"w_bit": 4, "q_group_size": 128}', encoding="utf-8")
    with pytest.raises(ModelError, match="AutoAWQ's old form: quant_config.json, and no quantization_config"):
        fcb.load_model(folder)


@needs_gptqmodel
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda w: w.pop(FIRST + "qzeros"), "1 are missing (model.layers.0.self_attn.q_proj.qzeros)"),
        (
            lambda w: [w.pop(name) for name in list(w) if name.endswith("qweight")],
            "14 are missing (model.layers.0.mlp.down_proj.qweight, model.layers.0.mlp.gate_proj.qweight, "
            "model.layers.0.mlp.up_proj.qweight, ...)",
        ),
        (
            lambda w: w.update({FIRST + "qweight": w[FIRST + "qweight"][:64].contiguous()}),
            "1 are of another shape (model.layers.0.self_attn.q_proj.qweight)",
        ),
        (
            lambda w: w[FIRST + "scales"].fill_(float("nan")),
            FIRST + "scales holds values that are no finite numbers",
        ),
        (lambda w: w["model.norm.weight"].fill_(float("inf")), "logits that are no finite numbers"),
    ],
)
def test_corrupt_weights_are_an_error_that_names_them(paths, tmp_path, damage, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        fcb.load_model(changed(paths, tmp_path, weights=damage), dtype="float32")


@needs_gptqmodel
def test_a_file_cut_short_is_an_error_with_the_checkpoints_name(paths, tmp_path):
    folder = changed(paths, tmp_path)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-1000])
    with pytest.raises(
        ModelError, match="changed, an AWQ checkpoint of 4 bits .*: cannot be loaded: Safetensor"
    ):
        fcb.load_model(folder)


def test_dense_weights_that_are_missing_are_an_error_too(paths, tmp_path):
    """They would be random: transformers only warns."""
    folder = changed(paths, tmp_path, config=lambda c: c.pop("quantization_config"))
    with pytest.raises(
        ModelError, match=r"of the tensors that the model needs 14 are missing \(model.layers.0"
    ):
        fcb.load_model(folder)


@needs_gptqmodel
@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        (lambda self, x: x * 0, "TorchAtenAwqLinear: its output is off by 1 of its size"),
        (lambda self, x: x @ "no", "TorchAtenAwqLinear: TypeError: "),
    ],
)
def test_a_kernel_that_computes_wrong_here_is_passed_over_and_the_manifest_says_so(
    paths, dense, monkeypatch, forward, reason
):
    huggingface_gptqmodel.import_gptqmodel("x", huggingface_awq.read_layout(str(paths["awq"]), "x"))
    from gptqmodel.nn_modules.qlinear.torch_aten_kernel_awq import TorchAtenAwqLinear

    monkeypatch.setattr(TorchAtenAwqLinear, "forward", forward)
    model = fcb.load_model(paths["awq"], dtype="float32")
    assert model.describe()["quantization_details"]["kernel"] == "AwqTorchLinear"
    assert model.describe()["notes"][0].startswith(f"AWQ kernel AwqTorchLinear, because {reason}")
    expected = logits(dense)
    assert (logits(model) - expected).norm() / expected.norm() < 0.002


def test_pythons_regular_expressions_stand_in_for_pypcre(monkeypatch):
    """pypcre has no wheel: without a compiler it cannot be installed."""
    monkeypatch.delitem(sys.modules, "pcre", raising=False)
    monkeypatch.setattr(huggingface_gptqmodel, "find_spec", lambda name: None)
    huggingface_gptqmodel._stand_in_for_pcre()
    pcre = sys.modules.pop("pcre")
    assert pcre.compile("^B", flags=pcre.Flag.MULTILINE | pcre.Flag.CASELESS).findall("a\nb") == ["b"]
    assert isinstance(pcre.compile("a"), pcre.Pattern) and pcre.escape(".") == r"\."


# autoawq


AUTOAWQ = """
from transformers import AutoModelForCausalLM
calls = []
class AutoAWQForCausalLM:
    @classmethod
    def from_quantized(cls, folder, **keywords):
        calls.append((folder, keywords))
        if keywords["max_memory"] == {}:
            raise TypeError("qwen9 isn't supported yet.")
        self = cls.__new__(cls)
        self.model = AutoModelForCausalLM.from_pretrained(folder.replace("tiny-awq", "tiny-dense"))
        return self
"""


@pytest.fixture
def autoawq(tmp_path, monkeypatch):
    """A stand-in for the package: it deals out the dequantised model."""
    (tmp_path / "awq.py").write_text(AUTOAWQ, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("awq", None)


def test_without_autoawq_the_error_names_the_extra(paths):
    with pytest.raises(
        MissingExtra, match=r"awq_backend='autoawq' needs the package 'autoawq', .*\[autoawq\]"
    ):
        fcb.load_model(paths["awq"], awq_backend="autoawq")


def test_autoawq_beside_a_transformers_that_is_too_new_says_which_it_needs(paths, autoawq):
    (autoawq / "awq.py").write_text("from transformers.activations import NoLonger\n", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        fcb.load_model(paths["awq"], awq_backend="autoawq")
    text = str(caught.value)
    assert (
        "cannot be imported beside transformers 5" in text
        and "ImportError: cannot import name 'NoLonger'" in text
    )
    assert text.endswith("awq_backend='gptqmodel' (extra 'awq') loads the same checkpoints")


def test_autoawq_without_a_gpu_or_ipex_says_so(paths, autoawq):
    with pytest.raises(
        ModelError, match="runs on a CUDA GPU, or on a CPU with intel_extension_for_pytorch; the "
    ):
        fcb.load_model(paths["awq"], awq_backend="autoawq", device="cpu")


def test_autoawq_gives_the_model_inside_its_own(paths, dense, autoawq):
    import torch

    (autoawq / "intel_extension_for_pytorch.py").write_text("", encoding="utf-8")
    model = fcb.load_model(paths["awq"], awq_backend="autoawq", device="cpu", dtype="float32")
    assert torch.equal(logits(model), logits(dense))
    folder, keywords = sys.modules["awq"].calls[0]
    assert folder == str(paths["awq"])
    assert keywords["fuse_layers"] is False and keywords["use_ipex"] is True
    assert keywords["device_map"] == {"": "cpu"} and keywords["trust_remote_code"] is False


def test_what_autoawq_raises_is_said_with_the_way_out(paths, autoawq):
    (autoawq / "intel_extension_for_pytorch.py").write_text("", encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"cannot load it: TypeError: qwen9 isn't supported yet\..*'gptqmodel'"
    ):
        fcb.load_model(paths["awq"], awq_backend="autoawq", device="cpu", device_map="auto", max_memory={})


def test_a_wrong_backend_lists_the_right_ones(paths):
    with pytest.raises(UnknownName, match="unknown awq_backend 'exllama'.* Known: autoawq, gptqmodel"):
        fcb.load_model(paths["awq"], awq_backend="exllama")


# the recipe


@needs_gptqmodel
@pytest.mark.slow
def test_the_documented_recipe_compares_the_two_runs(paths, root, tmp_path, monkeypatch, capsys):
    """docs/awq.md, with the small checkpoints in place of the hub ids and 12 cases."""
    from fcb_toolkit.cli import main

    text = (root / "docs" / "awq.md").read_text(encoding="utf-8")
    block = text.partition("<!-- recipe -->")[2].partition("```bash\n")[2].partition("```")[0]
    commands = [line.partition("#")[0].split() for line in block.splitlines() if line.startswith("fcb ")]
    assert [command[1] for command in commands] == ["run", "run", "compare", "report"]
    monkeypatch.chdir(tmp_path)
    names = {"Qwen/Qwen2.5-7B-Instruct": "full", "Qwen/Qwen2.5-7B-Instruct-AWQ": "awq"}
    for command in commands:
        command = [str(paths[names[word]]) if word in names else word for word in command[1:]]
        small = ["--limit", "12", "--max-new-tokens", "8", "--quiet"] if command[0] == "run" else []
        assert main([*command, *small]) == 0, command
    printed = capsys.readouterr().out
    assert re.search(r"^a +tiny-full$", printed, re.MULTILINE)
    assert re.search(r"^b +tiny-awq$", printed, re.MULTILINE)
    assert "mcnemar_p" in printed
    full, awq = (fcb.load_run(tmp_path / "runs" / name) for name in ("full", "awq"))
    assert full.manifest["model"]["quantization"] == "" and awq.manifest["model"]["quantization"] == "awq"
    found = fcb.compare(full, awq)
    assert found.n + found.not_scored_a == 12
