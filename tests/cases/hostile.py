"""Z: hostile inputs: no crash, no hang, nothing run; a clear message, exit 2 or a finding."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

from cases import drafts as d
from cases.case import TRUE, Case, Inputs, faulty, healthy, refused

MARKER = "ran-by-a-pickle"


class _Payload:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.marker}",)


def pickled(folder: Path) -> Inputs:
    path = folder / "d2t.pt"
    path.write_bytes(pickle.dumps(_Payload(folder / MARKER)))
    return Inputs(d.draft().write(folder), {"vocab-map": str(path)})


def pickled_nearby(folder: Path) -> Inputs:
    """Not named: discovery looks into it, and nothing runs."""
    pickled(folder)
    return Inputs(str(folder / "draft"))


def with_header(make_header):
    def make(folder: Path) -> Inputs:
        path = d.draft().write(folder)
        Path(path, "model.safetensors").write_bytes(make_header())
        return Inputs(path)

    return make


def raw(text: bytes, length: int | None = None, body: bytes = b"") -> bytes:
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def past_the_end() -> bytes:
    return raw(b"{}", 1 << 40)


def huge() -> bytes:
    return raw(b"{" + b" " * (100 * 1024 * 1024 - 2) + b"}")


def twice() -> bytes:
    entry = b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    return raw(b'{"a":' + entry + b',"a":' + entry + b"}", body=b"\0" * 4)


def overlapping() -> bytes:
    header = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
              "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}  # fmt: skip
    return raw(json.dumps(header).encode(), body=b"\0" * 12)


def backwards() -> bytes:
    header = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}
    return raw(json.dumps(header).encode(), body=b"\0" * 4)


def nested() -> bytes:
    return raw(b'{"a":' * 10_000 + b"1" + b"}" * 10_000)


def escaping_index(folder: Path) -> Inputs:
    path = d.draft().write_sharded(folder)
    index = Path(path, "model.safetensors.index.json")
    document = json.loads(index.read_text())
    document["weight_map"]["fc.weight"] = "../../etc/passwd"
    index.write_text(json.dumps(document))
    return Inputs(path)


def deep_config(folder: Path) -> Inputs:
    path = d.draft().write(folder)
    Path(path, "config.json").write_text('{"a":' * 10_000 + "1" + "}" * 10_000)
    return Inputs(path)


def expanding_yaml(folder: Path) -> Inputs:
    text = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for one, other in zip("bcdefghi", "abcdefgh", strict=True):
        text += f"{one}: &{one} [{','.join([f'*{other}'] * 9)}]\n"
    return Inputs(d.draft().write(folder), {"train-config": d.lines(folder, "train.yaml", text)})


def expanding_yaml_nearby(folder: Path) -> Inputs:
    return Inputs(expanding_yaml(folder).draft)


def one_line(folder: Path) -> Inputs:
    path = folder / "server.log"
    with path.open("wb") as file:
        file.write(b"accept len: ")
        file.truncate(200 * 1024 * 1024)
    return Inputs(d.draft().write(folder), {"log": str(path)})


def painted(folder: Path) -> Inputs:
    made = d.draft()
    for name in ("[red]bold[/red]", "a\x1b[31mred", "two\nlines", "\u202egnol", "<script>"):
        made.tensors[f"{name}.weight"] = d.weight(4, 4)
    return Inputs(made.write(folder, "dr\x1b[31maft"), {"engine": "sglang@0.5.10"})


def broken_playbook(folder: Path) -> Inputs:
    path = d.lines(folder, "mine.yaml", "playbook: 1", "title: x", "verdict: healthy")
    return Inputs(d.draft().write(folder), {"playbook": path})


_HEADER = ("file.truncated",)

CASES = (
    refused("Z01", "a pickle that runs code, as map", pickled, "d2t.pt"),
    healthy("Z01b", "the same, found nearby", pickled_nearby),
    faulty("Z02", "header length past the file", with_header(past_the_end), "file.bad-header",
           may=_HEADER, roots=()),
    faulty("Z03", "a header of 100 MB", with_header(huge), "file.bad-header", may=_HEADER, roots=()),
    faulty("Z04", "duplicate header keys", with_header(twice), "file.bad-header", roots=()),
    faulty("Z05", "offsets that overlap", with_header(overlapping), "file.bad-header", roots=()),
    faulty("Z06", "offsets that run backwards", with_header(backwards), "file.bad-header", roots=()),
    faulty("Z07", "a header nested 10,000 deep", with_header(nested), "file.bad-header", roots=()),
    Case("Z08", "an index path that leaves the folder", escaping_index,
         {"file.index-mismatch": TRUE}, may=("file.index-missing-shard",)),
    Case("Z09", "a config nested 10,000 deep", deep_config, verdict="inconclusive",
         says=("nested more than",)),
    refused("Z10", "YAML aliases without end, as training config", expanding_yaml, "values"),
    healthy("Z10b", "the same, found nearby", expanding_yaml_nearby),
    Case("Z11", "a log of one line of 200 MB", one_line, verdict="inconclusive"),
    Case("Z12", "tensor names with markup, escapes, line ends, marks", painted,
         {"params.dropped": TRUE}, ("params.dropped",), may=("file.bad-header",)),
    refused("Z13", "a playbook that sets a verdict", broken_playbook, "verdict"),
)  # fmt: skip
