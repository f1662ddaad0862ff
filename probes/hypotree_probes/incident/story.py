"""The founding incident as a story: what was believed, what was done, what was so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hypotree.model.story import Step, Story

_SESSION: Final = ("--session", ".")
_COPY: Final = "by-hand"
_DRAFT: Final = "output_10k/4"
_TRUTH: Final = "vocab_mapping/d2t.pt"


def _make(folder: Path) -> None:
    from hypotree_probes.incident.make import make_incident

    make_incident(folder)


def _subtract_by_hand(folder: Path) -> None:
    """What an agent did in the incident: load all, subtract arange, save all."""
    import shutil

    import torch
    from safetensors.torch import load_file, save_file  # noqa: TID251 - this is the mistake itself

    shutil.copytree(folder / _DRAFT, folder / _COPY)
    file = folder / _COPY / "model.safetensors"
    tensors = load_file(file)
    tensors["d2t"] = tensors["d2t"] - torch.arange(len(tensors["d2t"]))
    save_file(tensors, file, metadata={"format": "pt"})


STORY: Final = Story(
    name="kimi-k25-zero-acceptance",
    title="accept len 1.05: three guesses, of which one is plausible and wrong",
    make=_make,
    steps=(
        Step(
            "A drafter for a 163,840-token target is served, and almost nothing is accepted. Nothing "
            "raises. First the symptom: what the server logged, and a recorded sample replayed through "
            "the served path.",
            ("probe", "run", *_SESSION, "symptom"),
            1,
        ),
        Step(
            "Guess 1: the engine drops the decoder layer's keys. Its probe asks what this engine "
            "accepts.",
            ("probe", "run", *_SESSION, "H1"),
            1,
        ),
        Step(
            "Confirmed, so its fix may write; a person agrees. The symptom is measured again at once.",
            ("fix", "apply", *_SESSION, "H1"),
            0,
            as_person=True,
        ),
        Step(
            "True, fixed, and the symptom has not moved. Guess 2, the plausible one: d2t holds absolute "
            "ids (twenty leading zeros, 20,954 unique values of 32,000). The map that training used "
            "decides it.",
            ("probe", "run", *_SESSION, "H2"),
            0,
        ),
        Step(
            "Refuted. Whoever asks for its fix all the same, person or agent, gets this:",
            ("fix", "apply", *_SESSION, "H2"),
            4,
            as_person=True,
        ),
        Step(
            "In the incident nobody asked: a script subtracted arange from d2t. Here it is, on a copy.",
            ("probe", "run", "d2t-format", "--draft", _COPY, "--truth", _TRUTH),
            1,
            by_hand=_subtract_by_hand,
            hand=f"cp -r {_DRAFT} {_COPY}; load all tensors, d2t - arange(len(d2t)), save_file",
        ),
        Step(
            "The tool knows that damage, and the truth to restore it from.",
            ("new", f"{_COPY}-session", "--draft", _COPY, "--truth", _TRUTH, "--approve", "auto"),
        ),
        Step("", ("add", f"{_COPY}-session", "--fault", "d2t.double-subtracted")),
        Step("", ("probe", "run", "--session", f"{_COPY}-session", "H1"), 1),
        Step("", ("fix", "apply", "--session", f"{_COPY}-session", "H1")),
        Step("", ("probe", "run", "d2t-format", "--draft", _COPY, "--truth", _TRUTH)),
        Step(
            "Guess 3: the drafter was trained on three hidden states and is handed one. The trace of the "
            "running engine decides it.",
            ("probe", "run", *_SESSION, "H3"),
            1,
        ),
        Step(
            "And why is it handed one? The engine's own source is run, not read: its resolver on the "
            "draft's config, its wrapper's setter on the target's.",
            ("probe", "run", *_SESSION, "H4"),
            1,
        ),
        Step(
            "That is the cause. The proof: the same repaired file, the same sample, with the three "
            "states handed over and fused.",
            (
                "probe", "run", "draft-replay", "--draft", _DRAFT, "--target", "target",
                "--hidden-states", "sample.pt", "--engine", "sglang:engine", "--param", "start=32",
            ),
        ),
        Step("Where the session stands, and its report:", ("show", ".")),
        Step("", ("report", "export", ".", "-o", "report.md")),
        Step("", ("journal", "verify", ".")),
    ),
    ending="Next in real life: give the target's wrapper a capture setter that sets, and measure again.",
)  # fmt: skip
