"""Where each engine keeps what the harness asks: folders by name, no version in sight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from hypotree.artifact.engine import Engine


@dataclass(frozen=True)
class Adapter:
    """One engine's package."""

    package: str
    models: str
    """The folder of its model files, below the package."""
    resolvers: tuple[str, ...]
    """Files that read the draft config's aux fields, newest home first."""
    stand_in_for: dict[str, str]
    """Architectures of other formats, and the class that serves them once converted."""
    usual: tuple[str, ...]
    """Files in which to look for a class first."""
    absent_head: Literal["random", "target"] = "random"
    """What a checkpoint without lm_head gets (facts/eagle3.md section 2)."""

    @property
    def module(self) -> str:
        """The dotted name of the models' package."""
        return f"{self.package}.{self.models.replace('/', '.')}"


ADAPTERS: Final = {
    "sglang": Adapter(
        "sglang",
        "srt/models",
        (
            "srt/model_executor/model_runner_components/spec_aux_hidden_state.py",
            "srt/model_executor/model_runner.py",
        ),
        # SGLang has no reader for speculators' format; its users convert config.json by hand.
        {"speculators": "LlamaForCausalLMEagle3"},
        ("llama_eagle3.py", "llama.py"),
    ),
    "vllm": Adapter(
        "vllm",
        "model_executor/models",
        (),
        {
            "speculators": "Eagle3LlamaForCausalLM",
            "speculators:qwen3": "Eagle3Qwen3ForCausalLM",
            # Its registry's name for them (vllm 0.33.0 model_executor/models/registry.py).
            "LlamaForCausalLMEagle3": "Eagle3LlamaForCausalLM",
        },
        ("llama_eagle3.py", "llama.py", "qwen3_eagle3.py"),
        absent_head="target",
    ),
}


def find_class(engine: Engine, adapter: Adapter, name: str) -> str | None:
    """The model file that defines a class, by its text; not noted as read, since only run files count."""
    usual = [f"{adapter.models}/{file}" for file in adapter.usual]
    others = [
        file
        for file in engine.tree.names()
        if file.startswith(f"{adapter.models}/") and file.endswith(".py") and file not in usual
    ]
    statement = re.compile(rf"^class {re.escape(name)}\b".encode(), re.MULTILINE)
    for file in (*usual, *sorted(others)):
        if engine.tree.has(file):
            held = engine.tree.open(file)
            if statement.search(held.read(0, held.size)):
                return file
    return None
