"""aux-layers: the layers that the engine would capture, against those that training used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.training_config import TrainingConfig
from hypotree.model.evidence import Finding, Table
from hypotree.model.verdict import Authority, Role, Verdict
from hypotree.probe import Case, Fault, Input, Probe, ProbeContext
from hypotree_probes.engines.aux_ids import NESTED, Trained, shift, trained_layers, words
from hypotree_probes.engines.capturing import Capture, NoCapture, capture, places

SHIFTED: Final = "aux.ids-shifted"
DIFFER: Final = "aux.ids-differ"
DEFAULTED: Final = "aux.ids-defaulted"
_CODES: Final = (SHIFTED, DIFFER, DEFAULTED)
_ADVICE: Final = f"set {NESTED} to the numbers by which this engine means the layers of training"


class AuxLayers(Probe):
    """Runs the engine's resolver and setter, and compares physical layers, never raw ids."""

    name = "aux-layers"
    title = "Which layer outputs the engine captures, and which the draft was trained on"
    version = "1"
    takes = (
        Input("draft", "checkpoint", Role.SUBJECT, "the draft checkpoint", is_required=True),
        Input("engine", "engine", Role.TRUTH, "the engine's source, e.g. sglang:PATH"),
        Input("target", "checkpoint", Role.TRUTH, "the target: its config.json is enough"),
        Input("train", "training-config", Role.TRUTH, "the config that training used"),
    )
    decides = (
        Fault(SHIFTED, "every captured layer is off by the same number", needs=("engine",),
              explains=("acceptance.at-floor",), advice=_ADVICE),
        Fault(DIFFER, "the captured layers are not those of training", needs=("engine",),
              explains=("acceptance.at-floor",), advice=_ADVICE),
        Fault(DEFAULTED, "the engine finds no ids and takes its default, not training's layers",
              needs=("engine",), explains=("acceptance.at-floor",), advice=_ADVICE),
    )  # fmt: skip

    def run(self, context: ProbeContext) -> Sequence[Finding]:
        """Three findings, of which at most one is confirmed."""
        found = capture(context)
        if isinstance(found, NoCapture):
            context.summary = found.why
            return found.findings(*_CODES)
        if found.outcome != "set":
            why = f"nothing is captured ({found.outcome}): see aux.delegation-missing"
            context.summary = why
            return [Finding(c, Verdict.NOT_EXERCISED, Authority.NONE, why) for c in _CODES]
        trained, authority = _trained(context, found)
        if trained is None:
            why = "nothing says which layers training used"
            return [Finding(c, Verdict.INCONCLUSIVE, Authority.NONE, why) for c in _CODES]
        _show(context, found, trained)
        return _decide(context, found, trained, authority)

    def cases(self) -> Sequence[Case]:
        """F06 with its twin N8, ids in another key, and ids that differ."""
        from hypotree_probes.engines.capture_cases import AUX_LAYER_CASES

        return AUX_LAYER_CASES


def _trained(context: ProbeContext, found: Capture) -> tuple[Trained | None, Authority]:
    """By the training config; else by what the draft's own config.json says of its producer."""
    train = context.get("train", TrainingConfig)
    if train is not None:
        return trained_layers(train.mapping(), found.count), Authority.SOURCE_OF_TRUTH
    config = context.need("draft", Checkpoint).config()
    # One checkpoint's files are no truth for each other: worth showing, opens no gate.
    return trained_layers(config, found.count), Authority.HEURISTIC


def _decide(
    context: ProbeContext, found: Capture, trained: Trained, authority: Authority
) -> list[Finding]:
    served = found.layers
    source = f"ids {list(found.ids)}" if found.ids is not None else "its default"
    both = f"{found.engine} captures {words(served)} of {found.target_class} by {source}"
    both = f"{both}; training used {words(trained.layers)} ({trained.said})"
    by = shift(served, trained.layers)
    confirmed = ""
    if served != trained.layers:
        confirmed = DEFAULTED if found.ids is None else SHIFTED if by else DIFFER
    if confirmed == SHIFTED:
        both = f"{both}: every capture is {abs(by or 0)} layer{'s' if abs(by or 0) > 1 else ''} "
        both += "too late" if (by or 0) > 0 else "too early"
    if not confirmed and found.ids is None:
        both = f"{both}: the default coincides"
    context.summary = both
    truth = ("engine", "target") + (("train",) if authority is Authority.SOURCE_OF_TRUTH else ())
    return [
        Finding(
            code,
            Verdict.CONFIRMED if code == confirmed else Verdict.REFUTED,
            authority,
            both if code == confirmed or not confirmed else f"another fault explains it: {both}",
            places(found, NESTED) if code == confirmed else (),
            truth,
        )
        for code in _CODES
    ]


def _show(context: ProbeContext, found: Capture, trained: Trained) -> None:
    rows = (
        ("training", words(trained.layers), trained.said),
        ("captured", words(found.layers), f"{found.file}, ids read in {found.read_in}"),
        ("default", words(found.default), f"{found.target_class} without ids"),
    )
    context.show(Table("Layer outputs", ("what", "layers", "by"), rows))
