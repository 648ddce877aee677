"""Several devices on a machine that has one: values stay in main memory, where each tensor lies is kept beside
it, and mixing two devices is refused as CUDA refuses it."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakTensorKeyDictionary

MOVES = (torch.Tensor.to, torch.Tensor.copy_, torch.Tensor.__setitem__)
"""What takes tensors of two devices."""


class Devices(TorchFunctionMode):
    """While entered, `tensor.to("cuda:1")`, `device=` and `.device` mean pretended devices; memory that is not
    known lies on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[int, torch.device] = {}
        self._empty = WeakTensorKeyDictionary()

    def of(self, tensor: Any) -> torch.device:
        memory = tensor.untyped_storage().data_ptr()
        found = self._places.get(memory) if memory else self._empty.get(tensor)
        return found or torch.device("cpu")

    def put(self, tensor: Any, device: Any) -> Any:
        memory = tensor.untyped_storage().data_ptr()
        if memory:
            self._places[memory] = torch.device(device)
        else:
            self._empty[tensor] = torch.device(device)
        return tensor

    def __enter__(self) -> "Devices":
        super().__enter__()
        return self

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func == torch.Tensor.device.__get__:  # a new wrapper each time
            return self.of(args[0])
        asked = kwargs.pop("device", None)
        if func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], (str, torch.device)):
            asked, args = args[1], (args[0], *args[2:])
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        places = list(dict.fromkeys(self.of(tensor) for tensor in given if tensor.dim()))
        if func is torch.Tensor.__getitem__:  # an index may come from the CPU
            places = [self.of(args[0]), *(p for p in places if p.type != "cpu")]
            places = list(dict.fromkeys(places))
        if len(places) > 1 and func not in MOVES:
            raise RuntimeError(
                f"{func}: expected all tensors on one device, found {', '.join(map(str, places))}"
            )
        if func is torch.Tensor.to and asked is not None and torch.device(asked) != self.of(args[0]):
            return self.put(
                args[0].clone() if len(args) == 1 and not kwargs else func(*args, **kwargs).clone(), asked
            )
        out = func(*args, **kwargs)
        where = torch.device(asked) if asked is not None else places[0] if places else torch.device("cpu")
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.put(leaf, where)
        return out
