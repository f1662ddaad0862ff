"""Wrong inputs, said early: a folder without a drafter, a target in its place, a path to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.artifact.engine import parse_engine
from hypotree.artifact.training_config import TrainingConfig
from hypotree.artifact.vocabulary_map import VocabularyMap
from hypotree.diagnosis.places import Surroundings
from hypotree.diagnosis.playbook import Subject
from hypotree.errors import MisuseError, UnreadableError


def check_given(given: Mapping[str, str]) -> None:
    """That every named path is there and, where a look is cheap, is what it was named for."""
    for name, value in given.items():
        if name == "engine":
            _, _, path = parse_engine(value)
        else:
            path = value
        if path and not Path(path).exists():
            raise MisuseError(f"reading {path} as {name}", "there is no such file or folder")
    if "truth" in given:
        VocabularyMap(given["truth"]).stored()
    if "train" in given:
        TrainingConfig(given["train"]).record()
    if "target" in given:
        Checkpoint(given["target"]).config()


def chosen_draft(named: Path, around: Surroundings) -> tuple[Path, str]:
    """The checkpoint that is meant, and a note if that is not the folder itself."""
    if not named.exists():
        raise MisuseError(f"diagnosing {named}", "there is no such file or folder", "give a folder")
    here = around.folder if named.is_dir() else named
    if _is_checkpoint(here):
        return (
            here,
            "" if here == named else f"{named} is a hub cache; its snapshot {here} is taken",
        )
    below = [path for path in around.drafters_below() if path != here and _is_checkpoint(path)]
    if len(below) == 1:
        return below[0], f"{named} holds no checkpoint itself; the one drafter below is taken"
    if below:
        names = ", ".join(str(path) for path in below[:5])
        raise MisuseError(f"diagnosing {named}", f"{len(below)} drafters lie below: {names}",
                          f"name one: hypotree diagnose {below[0]}")  # fmt: skip
    try:
        Checkpoint(str(here)).shards()
    except UnreadableError as error:
        raise MisuseError(f"diagnosing {named}", f"it is no checkpoint: {error.found}",
                          error.next_step) from error  # fmt: skip
    return here, ""


def _is_checkpoint(path: Path) -> bool:
    if not path.is_dir():
        return path.suffix == ".safetensors"
    return bool(Checkpoint(str(path)).shard_names()) or any(path.glob("*.safetensors.index.json"))


def refuse_target(draft: Path, subject: Subject, around: Surroundings) -> NoReturn:
    """`MisuseError`: a target was given as DRAFT."""
    near = (path for folder in around.ancestors for path in Surroundings(folder).drafters_below())
    drafter = next((str(path) for path in near if path != draft), "DRAFT")
    raise MisuseError(
        f"diagnosing {draft} as a drafter",
        f"by its config and tensors it is {subject.what}",
        f"name the drafter first: hypotree diagnose {drafter} --target {draft}",
    )
