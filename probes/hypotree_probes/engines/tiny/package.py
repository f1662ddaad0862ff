"""Write the small engine into a folder, with changes if some are wanted.

Its modules are where SGLang's are and import what SGLang's import, so that the harness treats
both alike. Its release number is one that SGLang never had.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hypotree_probes.engines.tiny.draft_source import DRAFT
from hypotree_probes.engines.tiny.target_source import LLAMA, RUNNER, WRAPPER

VERSION: Final = "0.0.9"
MODEL_FILE: Final = "srt/models/llama_eagle3.py"
WRAPPER_FILE: Final = "srt/models/kimi_k25.py"

_LOADER: Final = """
def default_weight_loader(param, loaded_weight):
    assert param.size() == loaded_weight.size(), (param.size(), loaded_weight.size())
    param.data.copy_(loaded_weight)
"""
_UTILS: Final = """
def add_prefix(name, prefix):
    return f"{prefix}.{name}" if prefix else name
"""
#: Played by stand-ins: that they are there is all that matters.
_LEAVES: Final = (
    "activation", "layernorm", "linear", "logits_processor", "radix_attention",
    "rotary_embedding", "vocab_parallel_embedding",
)  # fmt: skip
_FILES: Final = {
    "srt/utils.py": _UTILS,
    "srt/distributed.py": '"""One rank."""\n',
    "srt/model_loader/weight_utils.py": _LOADER,
    "srt/model_executor/model_runner.py": RUNNER,
    MODEL_FILE: DRAFT,
    "srt/models/llama.py": LLAMA,
    WRAPPER_FILE: WRAPPER,
    **{f"srt/layers/{name}.py": '"""A leaf layer."""\n' for name in _LEAVES},
}

Change = tuple[str, str]


def plant_engine(
    folder: Path, changes: Mapping[str, Change] | None = None, *, version: str = VERSION
) -> str:
    """Write the package; each change replaces a text in one file. Returns its engine spec."""
    root = folder / "engine" / "sglang"
    for name, text in _FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        old, new = (changes or {}).get(name, ("", ""))
        if old not in text:
            message = f"{name} of the small engine has no {old!r}"
            raise ValueError(message)
        path.write_text(text.replace(old, new) if old else text, "utf-8")
    (root / "version.py").write_text(f'__version__ = "{version}"\n', "utf-8")
    return f"sglang:{root}"
