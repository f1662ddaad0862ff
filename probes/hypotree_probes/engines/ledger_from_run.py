"""The ledger of param-coverage from what the engine's own `load_weights` did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hypotree.artifact.engine import Engine
from hypotree.digest import digest_file
from hypotree_probes.engines.adapters import ADAPTERS
from hypotree_probes.engines.coverage import HEAD, Ledger, Misshapen, Unwritten
from hypotree_probes.engines.layout import SizedSlot, SlotLayout
from hypotree_probes.engines.renaming import renames
from hypotree_probes.engines.rules import Rule, Unexpected
from hypotree_probes.engines.sizes import DraftSizes

_STACKED: Final = (
    (".q_proj", ".qkv_proj"), (".k_proj", ".qkv_proj"), (".v_proj", ".qkv_proj"),
    (".gate_proj", ".gate_up_proj"), (".up_proj", ".gate_up_proj"),
)  # fmt: skip
#: Only training's, or computed anew by every engine.
_USELESS: Final = ("t2d", "rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")
_LOSES: Final = {
    "q_norm": "the normalisation of queries and keys that Qwen3-style layers were trained with",
    "k_norm": "the normalisation of queries and keys that Qwen3-style layers were trained with",
    "_proj.bias": "the biases that the attention or MLP was trained with",
    "input_norm": "the normalisation of the joined hidden states before fc",
    "fc_norm": "the normalisation of each hidden state before fc",
    "lm_head": "the head that the draft was trained with",
}

Shapes = Mapping[str, tuple[int, ...]]


def rule_from_run(engine: Engine, found: Mapping[str, Any]) -> Rule:
    """What the findings say about the class, as the run showed it."""
    coverage, file = found["coverage"], found["file"]
    lines = next((r[2] for r in found["lines"] if r[1].endswith("load_weights")), "")
    return Rule(
        name="run", versions="", architectures=(), model_class=coverage["class"], file=file,
        lines=f"load_weights {lines}",
        read={digest_file(engine.tree.open(file)).hex: engine.version()},
        layer=_layer(coverage["accepts"]), slots=(), stacked=_STACKED, prefix="as-is-then-model",
        unexpected=_fate(coverage, is_stacked=False),
        unexpected_stacked=_fate(coverage, is_stacked=True), loses=_LOSES,
        absent_head=ADAPTERS[engine.name].absent_head,
    )  # fmt: skip


def _layer(accepts: Mapping[str, Any]) -> str:
    """What the class calls its first decoder layer, with `{n}` for a number."""
    owners = [name.partition(".self_attn.")[0] for name in accepts if ".self_attn." in name]
    first = min(owners, default="")
    head, _, last = first.rpartition(".")
    return f"{head}.{{n}}" if last.isdigit() else first


def _fate(coverage: Mapping[str, Any], *, is_stacked: bool) -> Unexpected:
    """The worst that became of a tensor without a parameter."""

    def concerns(name: str) -> bool:
        return any(part in name for part, _ in _STACKED) == is_stacked

    if any(concerns(stop[0]) and stop[3] is None for stop in coverage["raised"]):
        return "raises"
    return "warned" if any(map(concerns, coverage["warned"])) else "silent"


def ledger_from_run(
    shapes: Shapes, rule: Rule, coverage: Mapping[str, Any], sizes: DraftSizes
) -> Ledger:
    """Account for every tensor of the file, as the engine did."""
    coverage = dict(coverage)
    if coverage["embedding"] is None and rule.absent_head == "target":
        # vLLM shares what is absent (facts/eagle3.md section 2), where the widths agree.
        coverage["embedding"] = not sizes.owns_embedding
    is_shared = rule.absent_head == "target" and "reduced" not in sizes.switches
    coverage["head_shared"] = is_shared
    used = {tensor: names[0] for tensor, names in coverage["fills"].items()}
    misshapen = _misshapen(shapes, coverage)
    used |= {item.tensor: parameter for item, parameter in misshapen.items()}
    maps = tuple(name for name in coverage["kept"] if name in shapes and name not in used)
    rest = [name for name in shapes if name not in used and name not in maps]
    skipped = {name: why for name in rest if (why := _why_skipped(name, coverage))}
    empty = [
        name for name in coverage["parameters"]
        if name not in coverage["whole"] and name not in misshapen.values()
    ]  # fmt: skip
    excused = {name: why for name in empty if (why := _excuse(name, coverage))}
    gaps = {name: _missing(name, coverage) for name in empty if name not in excused}
    layout = _layout(rule, coverage)
    lost = [slot for missing in gaps.values() for slot in missing]
    renamed = renames(rest, lost, shapes, layout)
    return Ledger(
        used=used, maps=maps, skipped=skipped,
        dropped=tuple(name for name in rest if name not in skipped),
        unwritten=tuple(Unwritten(n, slots) for n, slots in gaps.items() if n != HEAD),
        excused=excused, misshapen=tuple(misshapen), lacks_head=HEAD in gaps,
        parameters=len(coverage["parameters"]), renames=renamed.names,
        is_ambiguous=renamed.is_ambiguous,
    )  # fmt: skip


def _misshapen(shapes: Shapes, coverage: Mapping[str, Any]) -> dict[Misshapen, str]:
    return {
        Misshapen(tensor, shapes[tensor], tuple(wanted)): parameter
        for tensor, _, parameter, wanted in coverage["raised"]
        if wanted is not None and tuple(wanted) != shapes[tensor]
    }


def _why_skipped(name: str, coverage: Mapping[str, Any]) -> str:
    if any(part in name for part in _USELESS):
        return "the engine has no use for it"
    if name.endswith("embed_tokens.weight") and coverage["embedding"]:
        return "the engine takes the target's embeddings anyway"
    is_tied = HEAD not in coverage["parameters"]
    return "tied: the engine takes the embeddings for the head" if is_tied and name == HEAD else ""


def _excuse(name: str, coverage: Mapping[str, Any]) -> str:
    """Why it is right that no tensor fills a parameter; "" if it is not."""
    if name.endswith("embed_tokens.weight") and coverage["embedding"]:
        return "shared with the target"
    if name == HEAD and coverage["head_from_target"]:
        return "draft_vocab_size is null, so the engine takes the target's head"
    if name == HEAD and coverage["head_shared"]:
        return "shared with the target, whose vocabulary is the draft's"
    if name.endswith("draft_id_to_target_id"):
        return "the draft-to-target map, which d2t-format judges"
    if name in coverage.get("idle", ()):
        return "not used on this layer"
    # 0.4.6 to 0.4.8 build fc with a bias whatever the config says (rules/sglang.yaml).
    if name.endswith("fc.bias") and not coverage.get("asks_bias", False):
        return "no checkpoint has it"
    return ""


def _missing(parameter: str, coverage: Mapping[str, Any]) -> tuple[str, ...]:
    """The accepted names of a parameter that no tensor of the file came for."""
    names = [name for name, (owner, _) in coverage["accepts"].items() if owner == parameter]
    came = [t for t, owners in coverage["fills"].items() if parameter in owners]
    ends = {".".join(tensor.split(".")[-2:]) for tensor in came}
    return tuple(n for n in names if ".".join(n.split(".")[-2:]) not in ends) or tuple(names)


def _layout(rule: Rule, coverage: Mapping[str, Any]) -> SlotLayout:
    slots = {
        name: SizedSlot(
            parameter, tuple(shape), "shared" if _is_shared(name, coverage) else "fault"
        )
        for name, (parameter, shape) in coverage["accepts"].items()
    }
    return SlotLayout(rule, slots, {})


def _is_shared(name: str, coverage: Mapping[str, Any]) -> bool:
    return name.endswith("embed_tokens.weight") and bool(coverage["embedding"])
