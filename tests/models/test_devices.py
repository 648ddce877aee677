"""Models spread over several devices: the disk for real, several GPUs pretended (pretended.py)."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import pretended
import tiny
import tiny_awq
import torch

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import huggingface_awq, huggingface_devices
from fcb_toolkit.models.huggingface_gptqmodel import Layout

TEXTS = [
    "서울 날씨",
    "부산은 지금 더운가요? 우산도 필요한지 알려 주세요",
    "hi",
    "내일 제주도 비행기 표를 두 장 사 줘",
]
TWO = {
    "model.embed_tokens": "cuda:0",
    "model.layers.0": "cuda:0",
    "model.layers.1": "cuda:1",
    "model.norm": "cuda:1",
    "model.rotary_emb": "cuda:1",
    "lm_head": "cuda:1",
}


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


def texts(model, **settings):
    given = [model.prepare([{"role": "user", "content": text}]) for text in TEXTS]
    options = fcb.Generation(**{"max_new_tokens": 12, **settings})
    return {(index, reply.sample): reply.text for index, reply in model.generate(given, options)}


def test_pretended_devices_refuse_to_be_mixed():
    with pretended.Devices():
        a, b = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
        with pytest.raises(RuntimeError, match="expected all tensors on one device, found cuda:0, cuda:1"):
            a + b
        with pytest.raises(RuntimeError, match="found cuda:0, cuda:1"):
            a[torch.tensor([1], device="cuda:1")]
        moved = b.to("cuda:0")
        assert (moved.device, b.device, (a + moved).device) == (a.device, torch.device("cuda:1"), a.device)


@pytest.mark.parametrize("engine", ["prefix", "plain"])
def test_a_model_over_two_gpus_writes_what_it_writes_on_one(pair, engine, monkeypatch):
    """Prompts, caches, masks and prefixes lie where the layer that meets them does, or mixing would be refused."""
    from accelerate import dispatch_model

    # Rows end at different steps, so that some are taken out of caches on both devices.
    settings = {"temperature": 2.0, "samples": 2, "max_new_tokens": 40}
    expected = texts(fcb.load_model(pair, engine=engine), **settings)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**33, 2**34))
    with pretended.Devices():
        spread = tiny.model(pair[1])
        dispatch_model(spread, TWO, skip_keys=spread._skip_keys_device_placement)
        spread.hf_device_map = TWO
        assert {str(p.device) for p in spread.parameters()} == {"cuda:0", "cuda:1"}
        model = fcb.load_model((spread, pair[1]), engine=engine)
        assert model.engine == engine and model.describe()["device"] == "cuda:0, cuda:1"
        assert texts(model, **settings) == expected


@pytest.mark.parametrize("engine", ["prefix", "plain"])
@pytest.mark.parametrize(("memory", "places"), [("50KB", "disk"), ("120KB", "cpu, disk"), ("1GB", "cpu")])
def test_layers_that_do_not_fit_the_memory_are_read_from_the_disk(pair, tmp_path, engine, memory, places):
    folder = tiny.checkpoint(tmp_path / "tiny")
    options = {"device_map": "auto", "max_memory": {"cpu": memory}, "dtype": "float32"}
    model = fcb.load_model(folder, engine=engine, **options)
    assert model.engine == engine and model.describe()["device"] == places
    assert texts(model) == texts(fcb.load_model(pair, engine=engine))


@pytest.mark.skipif(find_spec("gptqmodel") is None, reason="the extra 'awq' is not installed: gptqmodel")
@pytest.mark.parametrize(("memory", "places"), [("400KB", "cpu, disk"), ("300KB", "disk")])
def test_packed_layers_are_read_from_the_disk_too(tmp_path, memory, places):
    folder = tiny_awq.checkpoints(tmp_path)["awq"]
    spread = fcb.load_model(folder, dtype="float32", device_map="auto", max_memory={"cpu": memory})
    assert spread.describe()["device"] == places
    assert texts(spread) == texts(fcb.load_model(folder, dtype="float32"))


def test_on_a_gpu_the_kernel_is_chosen_for_the_gpu(monkeypatch):
    """Loaded first and moved later, the layers would keep the kernel for a CPU."""
    seen = {}
    monkeypatch.setattr(huggingface_awq, "import_gptqmodel", lambda *a: None)
    monkeypatch.setattr(
        huggingface_awq, "pick_kernel", lambda shown, layout, device, kw: (seen.update(kw) or "auto", ())
    )
    monkeypatch.setattr(
        huggingface_awq, "load_weights", lambda shown, folder, kw, packed: seen.update(loaded=kw)
    )
    monkeypatch.setattr(huggingface_awq, "check_sound", lambda shown, model: None)
    layout = Layout(4, 128, "gemm", True, "float16")
    where = huggingface_awq.Where(torch.device("cuda:1"), {"dtype": "auto"})
    huggingface_awq.load_awq("x", "x", layout, where)
    assert seen["device_map"] == seen["loaded"]["device_map"] == {"": "cuda:1"}
    where = huggingface_awq.Where(torch.device("cuda"), {"device_map": "auto", "max_memory": None})
    huggingface_awq.load_awq("x", "x", layout, where)
    assert seen["loaded"]["device_map"] == "auto"


def test_prompts_go_where_the_model_runs():
    at = huggingface_devices.input_device
    assert at(SimpleNamespace(device=torch.device("cpu"))) == torch.device("cpu")
    # What lies in main memory or on the disk beside a GPU runs on the GPU.
    assert at(SimpleNamespace(hf_device_map={"a": "cpu", "b": "disk", "c": "cuda:1"})) == torch.device(
        "cuda:1"
    )
    assert at(SimpleNamespace(hf_device_map={"": "disk"}, device=torch.device("meta"))) == torch.device("cpu")
    assert (
        huggingface_devices.places(SimpleNamespace(hf_device_map={"a": "cuda:1", "b": "disk"}))
        == "cuda:1, disk"
    )


def test_free_memory_over_several_devices_is_what_the_fullest_allows(monkeypatch):
    """Three quarters of the weights on the first, and as much of the cache."""
    free = {"cuda:0": 600, "cuda:1": 300}
    monkeypatch.setattr(huggingface_devices, "_free", lambda device: free[str(device)])
    with pretended.Devices() as devices:
        large, small = devices.put(torch.zeros(3), "cuda:0"), devices.put(torch.zeros(1), "cuda:1")
        model = SimpleNamespace(
            hf_device_map={"a": "cuda:0", "b": "cuda:1"}, parameters=lambda: [large], buffers=lambda: [small]
        )
        assert huggingface_devices.free_bytes(model) == 800
        free["cuda:1"] = 100
        assert huggingface_devices.free_bytes(model) == 400


def test_a_bound_on_memory_without_a_map_is_an_error(pair):
    with pytest.raises(
        DataError, match="max_memory is given without device_map; expected device_map='auto' beside"
    ):
        fcb.load_model(pair, max_memory={"cpu": "1GB"})
