"""Headers in the exact form that safetensors' own writer gives them, read in one regex pass.

This reader can only say yes: it returns a header's contents when each byte is as the writer puts
it and every rule of the format holds, and None for all else, sound or not. The strict reader in
safetensors_layout then decides and words the fault. On 208,000 tensors it takes a third of the
time of json plus checks, and less than the library itself.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from math import prod
from operator import itemgetter, sub
from typing import Final

from hypotree.artifact.safetensors_values import TensorLayout
from hypotree.artifact.tensor import DTYPE_BITS

#: One tensor as serde writes it (`TensorInfo` in tensor.rs of 0.8.0), its comma included.
#: 18 digits, so that no number can leave 64 bits.
_ENTRY: Final = re.compile(
    r'"([^"\\\x00-\x1f]*)":\{"dtype":"([A-Z0-9_]+","shape":\[[0-9,]*)\],'
    r'"data_offsets":\[(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17})\]\},'
)
_GROUPS: Final = 5  # what split() gives for each entry: the text before it and its four groups
_DIMENSIONS: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:,(?:0|[1-9][0-9]{0,17}))*|")
_SIZE: Final = itemgetter(2)
_METADATA: Final = '{"__metadata__":'


def read_canonical(
    raw: bytes, file_size: int
) -> tuple[dict[str, TensorLayout], dict[str, str]] | None:
    """Tensors and metadata of a sound header in the writer's own form; None for any other."""
    found = _entries(raw)
    if found is None:
        return None
    tensors = _lay_out(found[0], 8 + len(raw), file_size)
    return None if tensors is None else (tensors, found[1])


def canonical_names(raw: bytes, file_size: int) -> tuple[str, ...] | None:
    """The tensors' names alone, in order, as strictly read: layouts of 200,000 tensors cost as much as the rest."""
    found = _entries(raw)
    if found is None or _kinds(found[0], 8 + len(raw), file_size) is None:
        return None
    names = tuple(found[0][1::_GROUPS])
    unique = set(names)
    return names if len(unique) == len(names) and "__metadata__" not in unique else None


def _entries(raw: bytes) -> tuple[list[str], dict[str, str]] | None:
    """The split entries and the metadata; None unless all is as the writer puts it."""
    try:
        metadata, body = _split_metadata(raw.decode("utf-8").rstrip(" "))
    except (ValueError, RecursionError):
        return None
    pieces = _ENTRY.split(body)
    return None if any(pieces[::_GROUPS]) else (pieces, metadata)


def _split_metadata(text: str) -> tuple[dict[str, str], str]:
    """The metadata in front, and all entries with a comma after each; `ValueError` if not so."""
    metadata: dict[str, str] = {}
    opening, at = "{", 1
    if text.startswith(_METADATA):
        decoder = json.JSONDecoder(object_pairs_hook=_texts)
        metadata, at = decoder.raw_decode(text, len(_METADATA))
        opening, at = ",", at + 1
    if text[at - 1 :] == "}" or text == "{}":
        return metadata, ""
    if not text[at - 1 :].startswith(opening) or text[-1] != "}" or not isinstance(metadata, dict):
        message = "not the writer's form"
        raise ValueError(message)
    return metadata, text[at:-1] + ","


def _texts(pairs: list[tuple[str, object]]) -> dict[str, str]:
    """The pairs as a mapping of text to text; `ValueError` for anything else."""
    found = {key: value for key, value in pairs if isinstance(value, str)}
    if len(found) != len(pairs):
        message = "metadata is not text, or one key is there twice"
        raise ValueError(message)
    "".join([*found, *found.values()]).encode()  # lone surrogates are a ValueError here
    return found


def _lay_out(pieces: list[str], start: int, file_size: int) -> dict[str, TensorLayout] | None:
    """The layouts of the split entries, if each fits its dtype and shape and all fit the file."""
    names = pieces[1::_GROUPS]
    found = _kinds(pieces, start, file_size)
    if found is None:
        return None
    kinds, begins, ends = found
    new = tuple.__new__  # the named tuple's own constructor is a Python call more
    tensors = {
        name: new(TensorLayout, (kind[0], kind[1], start + begin, start + end))
        for name, kind, begin, end in zip(names, kinds, begins, ends, strict=True)
    }
    sound = len(tensors) == len(names) and "__metadata__" not in tensors
    return tensors if sound else None


def _kinds(
    pieces: list[str], start: int, file_size: int
) -> tuple[list[tuple[str, tuple[int, ...], int]], list[int], list[int]] | None:
    """Kind, begin and end of every entry; None unless each fits its kind and all fit the file."""
    forms = pieces[2::_GROUPS]
    begins, ends = list(map(int, pieces[3::_GROUPS])), list(map(int, pieces[4::_GROUPS]))
    known = {form: kind for form in set(forms) if (kind := _kind(form))}
    if not known.keys() >= set(forms) or not _cover(begins, ends, file_size - start):
        return None
    kinds = list(map(known.__getitem__, forms))
    if list(map(sub, ends, begins)) != list(map(_SIZE, kinds)):
        return None
    return kinds, begins, ends


def _kind(form: str) -> tuple[str, tuple[int, ...], int] | None:
    """Dtype, shape and byte length of `F32","shape":[2,3`; None if they are not the format's."""
    dtype, _, dimensions = form.partition('","shape":[')
    bits = DTYPE_BITS.get(dtype)
    if bits is None or not _DIMENSIONS.fullmatch(dimensions):
        return None
    shape = tuple(map(int, dimensions.split(","))) if dimensions else ()
    total = bits * prod(shape)
    # A zero can hide a product beyond 64 bits, which the library refuses: for the strict reader.
    sound = total % 8 == 0 and (total > 0 or (len(shape) <= 3 and max(shape) < 2**16))
    return (dtype, shape, total // 8) if sound else None


def _cover(begins: list[int], ends: list[int], length: int) -> bool:
    """Whether the ranges follow each other from 0 to `length`, in the order of their offsets."""
    if begins[1:] != ends[:-1]:
        spans = sorted(zip(begins, ends, strict=True))
        if any(end != begin for (_, end), (begin, _) in pairwise(spans)):
            return False
        begins, ends = [spans[0][0]], [spans[-1][1]]
    return begins[:1] == [0] * bool(begins) and (ends[-1] if ends else 0) == length
