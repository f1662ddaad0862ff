"""Build the engine's draft class, and put tensors through its own `load_weights`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn

from hypotree_probes.engines.harness.config import Watch, WatchedConfig
from hypotree_probes.engines.harness.lines import Lines
from hypotree_probes.engines.harness.provenance import Provenance, covered, storage, written
from hypotree_probes.engines.harness.standins import Stacked

#: What producers call the parts of a stacked parameter (facts/eagle3.md section 2).
PART_NAMES: Final[dict[str, dict[Any, str]]] = {
    "qkv_proj": {"q": "q_proj", "k": "k_proj", "v": "v_proj"},
    "gate_up_proj": {0: "gate_proj", 1: "up_proj"},
}
_MAX_RETRIES: Final = 64

#: How an engine builds its class from a config.
Make = Callable[[type, Any], nn.Module]
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Stop:
    """A tensor that the engine would not load."""

    tensor: str
    message: str
    parameter: str = ""
    """The parameter that was being filled, if it came so far."""
    wanted: tuple[int, ...] | None = None


@dataclass
class Loading:
    """What one run of load_weights did."""

    fills: dict[str, dict[str, list[tuple[int, int]]]] = field(default_factory=dict)
    """Parameter to tensor to element ranges."""
    kept: dict[str, str] = field(default_factory=dict)
    """Tensor to the attribute that was made of it."""
    raised: dict[str, Stop] = field(default_factory=dict)
    """Tensors whose loading stopped the engine."""
    warned: set[str] = field(default_factory=set)


class Draft:
    """One draft class of the engine, built anew for every question."""

    def __init__(
        self, model_class: type, config: Mapping[str, Any], watch: Watch, make: Make | None = None
    ) -> None:
        self.model_class, self._config, self.watch = model_class, config, watch
        self._make = make or (lambda kind, held: kind(held))

    def smaller(self, rows: int) -> Draft:
        """The same with another vocabulary: for when the target's table is played anyway."""
        return Draft(self.model_class, {**self._config, "vocab_size": rows}, self.watch, self._make)

    def build(self, device: str = "meta", dtype: torch.dtype = torch.float32) -> nn.Module:
        """An instance, with the start values that fresh layers have."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with torch.device(device), torch.no_grad():
                made: nn.Module = self._make(
                    self.model_class, WatchedConfig(self._config, self.watch)
                )
        finally:
            torch.set_default_dtype(before)
        return made.eval()

    def fill(self, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
        """Load real tensors with the engine's own load_weights."""
        with torch.no_grad():
            model.load_weights(iter(tensors.items()))  # type: ignore[operator]

    def load(self, shapes: Shapes, lines: Lines | None = None) -> Loading:
        """Load tensors of these shapes; one that stops the engine is noted and left out."""
        raised: dict[str, Stop] = {}
        for _ in range(_MAX_RETRIES):
            model = self.build()
            left = {name: shape for name, shape in shapes.items() if name not in raised}
            loading, stopped = _load_once(model, left, lines)
            if stopped is None:
                break
            raised[stopped.tensor] = stopped
        loading.raised = raised
        return loading


def parameters(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter once, by its first name."""
    return dict(model.named_parameters())


def _load_once(
    model: nn.Module, shapes: Shapes, lines: Lines | None
) -> tuple[Loading, Stop | None]:
    follow, heard = Provenance(), _Heard()
    current = [""]

    def weights() -> Iterator[tuple[str, Tensor]]:
        for name, shape in shapes.items():
            current[0] = name
            yield name, follow.mark(torch.empty(shape, device="meta"), name)

    logging.getLogger().addHandler(heard)
    stopped: Stop | None = None
    try:
        with torch.device("meta"), torch.no_grad(), follow:
            if lines is None:
                model.load_weights(weights())  # type: ignore[operator]
            else:
                with lines.watching():
                    model.load_weights(weights())  # type: ignore[operator]
    except Exception as error:
        if not current[0]:
            raise
        stopped = _stop(model, current[0], error, follow)
    finally:
        logging.getLogger().removeHandler(heard)
    return _account(model, follow, heard, shapes), stopped


def _account(model: nn.Module, follow: Provenance, heard: _Heard, shapes: Shapes) -> Loading:
    loading = Loading()
    for name, parameter in parameters(model).items():
        found = written(parameter, follow.writes)
        # A loader may also put the loaded tensor itself in the parameter's place.
        for source in follow.names_of(parameter):
            found.setdefault(source, [(0, parameter.numel())])
        if found:
            loading.fills[name] = found
    own = {storage(parameter) for parameter in parameters(model).values()}
    for path, module in model.named_modules():
        for attribute, value in vars(module).items():
            if isinstance(value, Tensor) and storage(value) not in own:
                for source in follow.names_of(value):
                    loading.kept[source] = f"{path}.{attribute}".lstrip(".")
    words = {word.removeprefix("model.") for text in heard.texts for word in text.split()}
    loading.warned = {name for name in shapes if name in words}
    return loading


def _stop(model: nn.Module, tensor: str, error: Exception, follow: Provenance) -> Stop:
    """What was being filled, by the innermost call's argument `param`, the engines' name for it.

    A loader that gathers all tensors first stops long after the last one was handed to it: so the
    tensor is the innermost variable that was made of exactly one.
    """
    trace, found, name = error.__traceback__, None, ""
    own = {storage(parameter): path for path, parameter in parameters(model).items()}
    while trace is not None:
        frame = trace.tb_frame
        for held in frame.f_locals.values():
            names = follow.names_of(held) if isinstance(held, Tensor) else frozenset()
            if len(names) == 1 and storage(held) not in own:
                (tensor,) = names
        # An argument, not a variable: in a loop that may still be the one before.
        arguments = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        value = frame.f_locals.get("param") if "param" in arguments else None
        found = tuple(value.shape) if isinstance(value, Tensor) else None
        if isinstance(value, Tensor):
            name = own.get(storage(value), name)
        trace = trace.tb_next
    return Stop(tensor, f"{type(error).__name__}: {error}"[:500], name, found)


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def candidates(model: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Names under which a file would hold every parameter: parameter and shape for each.

    Made of the engine's own parameter names; which of them it really accepts is then asked.
    """
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    modules = dict(model.named_modules())
    for name, parameter in parameters(model).items():
        owner, _, leaf = name.rpartition(".")
        module = modules[owner]
        label = owner.rpartition(".")[2]
        shape = tuple(parameter.shape)
        if isinstance(module, Stacked) and label in PART_NAMES:
            for shard, (_, rows) in module.places.items():
                part = owner.removesuffix(label) + PART_NAMES[label][shard]
                found[f"{part}.{leaf}".removeprefix("model.")] = (name, (rows, *shape[1:]))
        else:
            found[name.removeprefix("model.")] = (name, shape)
    return found


def fully(parameter: Tensor, fills: Mapping[str, list[tuple[int, int]]]) -> tuple[int, int]:
    """How many elements of a parameter were written, and how many more than once."""
    del parameter
    return covered(span for spans in fills.values() for span in spans)
