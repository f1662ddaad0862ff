"""torch's own loader with `weights_only=True`, for what the closed unpickler does not know.

The only caller of torch.load. Before torch 2.10 that switch could be got round
(CVE-2025-32434: code execution up to 2.5.1; CVE-2026-24747: memory corruption up to 2.9.1),
so an older torch is not asked.
"""

from __future__ import annotations

import io
import re
import warnings
from math import prod
from typing import TYPE_CHECKING, Any, Final

from hypotree.artifact.byte_stream import ByteStream
from hypotree.artifact.plain import plain
from hypotree.artifact.tensor import DTYPE_BITS, TensorValue
from hypotree.artifact.torch_globals import DTYPES
from hypotree.artifact.torch_values import Budget, TorchValue
from hypotree.errors import UnreadableError

if TYPE_CHECKING:
    from hypotree.artifact.files import ByteFile

_SAFE_SINCE: Final = (2, 10)
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
#: Sentences that tell the reader to switch the guard off, or where to read how.
_ADVICE: Final = re.compile(
    r"weights.only|safe_globals|allowlist|trust|arbitrary|option|file an issue|https?:|\.html",
    re.IGNORECASE,
)
_SAVE: Final = "save the tensors alone, with torch.save or as safetensors"


def load_with_torch(file: ByteFile, asked: str, reason: str) -> TorchValue:
    """What torch makes of `file`; `UnreadableError` with its words, cleaned, if it refuses.

    `reason` says what the closed unpickler met. Nothing in the file is executed.
    """
    import torch

    if _version(torch.__version__) < _SAFE_SINCE:
        found = (
            f"it holds {plain(reason)}, and torch {plain(str(torch.__version__))} can be tricked"
        )
        raise UnreadableError(asked, found, "install torch 2.10 or later, or save it again")
    stream = io.BufferedReader(ByteStream(file, asked, file.size))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = torch.load(stream, map_location="cpu", weights_only=True)  # noqa: TID251 - the single caller
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its refusal
        found = f"it holds {plain(reason)}, and torch refuses it: {library_words(str(error))}"
        raise UnreadableError(asked, found, _SAVE) from None
    return _convert(loaded, Budget(file.size, asked), 0)


def library_words(text: str) -> str:
    """What an error text of torch says about the file: no escape codes, no advice, one line."""
    sentences = re.split(r"(?<=[.!?:])\s+|\n", _ESCAPES.sub("", text))
    kept = [sentence.strip() for sentence in sentences if not _ADVICE.search(sentence)]
    return plain(" ".join(filter(None, kept)), 300) or "it gives no reason"


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


def _convert(value: Any, budget: Budget, depth: int) -> TorchValue:
    """torch's value as ours, bounded; `UnreadableError` for objects of other types."""
    import torch

    budget.take_node(depth)
    if isinstance(value, torch.Tensor):
        return _tensor(value, budget)
    if value is None or isinstance(value, (str, int, float, bytes)):
        return value
    if isinstance(value, dict) and all(isinstance(key, (str, int)) for key in value):
        return {key: _convert(item, budget, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_convert(item, budget, depth + 1) for item in value]
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value)
    found = f"it holds a {plain(type(value).__name__)}"
    raise UnreadableError(budget.asked, found, _SAVE)


def _tensor(value: Any, budget: Budget) -> TensorValue:
    """The bytes of a dense tensor on the CPU."""
    import torch

    dtype = DTYPES.get(str(value.dtype))
    if dtype is None or value.layout != torch.strided or value.device.type != "cpu":
        found = f"it holds a {value.dtype} tensor in {value.layout} on {value.device.type}"
        raise UnreadableError(budget.asked, found, _SAVE)
    shape = tuple(value.shape)
    budget.take_bytes(DTYPE_BITS[dtype] // 8 * prod(shape))
    # A fresh tensor, since one element may keep a stride of 2 even through contiguous().
    dense = torch.empty(value.numel(), dtype=value.dtype)
    dense.copy_(value.detach().reshape(-1))
    return TensorValue(dtype, shape, dense.view(torch.uint8).numpy().tobytes())
