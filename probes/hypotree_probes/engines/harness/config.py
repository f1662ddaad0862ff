"""A config object that watches: which fields the engine reads, which it takes a default for.

config.json's values are served as transformers would: as attributes, nested objects as dicts.
A field that config.json lacks takes the default of transformers' LlamaConfig where that has
one, since the engine is handed such an object; anything else is absent, as there.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final

#: transformers 4.57.1 and 5.8.1 models/llama/configuration_llama.py agree in these.
LLAMA_DEFAULTS: Final[dict[str, Any]] = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 2048,
    "initializer_range": 0.02, "rms_norm_eps": 1e-6, "use_cache": True, "pad_token_id": None,
    "bos_token_id": 1, "eos_token_id": 2, "pretraining_tp": 1, "tie_word_embeddings": False,
    "attention_bias": False, "attention_dropout": 0.0, "mlp_bias": False, "rope_scaling": None,
}  # fmt: skip
_ENGINE: Final = "<engine>/"


class Watch:
    """The first read of every field: what it gave, and where the engine asked."""

    def __init__(self) -> None:
        self.reads: dict[str, dict[str, Any]] = {}

    def note(self, field: str, outcome: str, value: object = None) -> None:
        """Remember a read, if it was the engine's own."""
        where = _engine_line()
        if where and field not in self.reads:
            shown = value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
            self.reads[field] = {"outcome": outcome, "value": shown, "where": where}


class WatchedDict(dict[str, Any]):
    """A nested object of the config, read as a dict."""

    def __init__(self, values: Mapping[str, Any], path: str, watch: Watch) -> None:
        super().__init__({k: _served(v, f"{path}.{k}", watch) for k, v in values.items()})
        self._path, self._watch = path, watch

    def get(self, key: str, default: Any = None) -> Any:
        """dict.get, noted."""
        self._note(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self._note(key)
            yield key

    def __deepcopy__(self, memo: dict[int, Any]) -> WatchedDict:
        return WatchedDict(copy.deepcopy(dict(self.items()), memo), self._path, self._watch)

    def _note(self, key: str) -> None:
        held = super().__contains__(key)
        value = super().__getitem__(key) if held else None
        self._watch.note(f"{self._path}.{key}", "given" if held else "absent", value)


class WatchedConfig:
    """A whole config, read by attributes."""

    def __init__(self, values: Mapping[str, Any], watch: Watch, path: str = "") -> None:
        served = {k: _served(v, f"{path}{k}", watch) for k, v in values.items()}
        self.__dict__["_values"] = served
        self.__dict__["_watch"] = watch
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        values, path = self.__dict__["_values"], self.__dict__["_path"]
        watch: Watch = self.__dict__["_watch"]
        if name in values:
            watch.note(path + name, "given", values[name])
            return values[name]
        if name in LLAMA_DEFAULTS or name in _DERIVED:
            value = _DERIVED[name](self) if name in _DERIVED else LLAMA_DEFAULTS[name]
            watch.note(path + name, "default", value)
            return value
        watch.note(path + name, "absent")
        raise AttributeError(f"the config has no {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_values"][name] = value

    def get(self, name: str, default: Any = None) -> Any:
        """Some engines treat it as a dict."""
        return getattr(self, name, default)

    def __deepcopy__(self, memo: dict[int, Any]) -> WatchedConfig:
        made = WatchedConfig({}, self.__dict__["_watch"], self.__dict__["_path"])
        made.__dict__["_values"].update(copy.deepcopy(self.__dict__["_values"], memo))
        return made


_DERIVED: Final[dict[str, Any]] = {
    "num_key_value_heads": lambda config: config.num_attention_heads,
    "head_dim": lambda config: config.hidden_size // config.num_attention_heads,
    "rope_theta": lambda _: 10000.0,
}


def text_config(values: Mapping[str, Any], watch: Watch) -> WatchedConfig:
    """A target's config: nested ones are objects of their own, as transformers makes them."""
    made = WatchedConfig(values, watch)
    for key in ("text_config", "llm_config", "language_config", "vision_config"):
        if isinstance(values.get(key), dict):
            setattr(made, key, WatchedConfig(values[key], watch, f"{key}."))
    return made


def _served(value: Any, path: str, watch: Watch) -> Any:
    if isinstance(value, dict):
        return WatchedDict(value, path, watch)
    return copy.deepcopy(value) if isinstance(value, list) else value


def _engine_line() -> str:
    """The innermost line of the engine's that led here; "" if none did."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to the caller's line
    while frame is not None:
        if frame.f_code.co_filename.startswith(_ENGINE):
            return f"{frame.f_code.co_filename.removeprefix(_ENGINE)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
