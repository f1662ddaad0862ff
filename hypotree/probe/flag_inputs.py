"""The inputs that a person can name by a flag, or discovery can find."""

from __future__ import annotations

from collections.abc import Mapping

from hypotree.model.verdict import Role

#: What a flag of the command line binds: input name, artifact kind, role.
FLAG_INPUTS: Mapping[str, tuple[str, Role]] = {
    "draft": ("checkpoint", Role.SUBJECT),
    "truth": ("vocabulary-map", Role.TRUTH),
    "engine": ("engine", Role.TRUTH),
    "target": ("checkpoint", Role.TRUTH),
    "log": ("log", Role.OBSERVATION),
    "trace": ("trace", Role.OBSERVATION),
    "sample": ("sample", Role.OBSERVATION),
    "train": ("training-config", Role.TRUTH),
}
