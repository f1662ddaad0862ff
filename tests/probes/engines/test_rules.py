"""The rule files: they load, their ranges do not overlap, and a release finds its rule."""

from __future__ import annotations

from itertools import pairwise

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from hypotree_probes.engines.rules import RULE_FILES, rule_set, rules_for

DRAFT = "LlamaForCausalLMEagle3"


@pytest.mark.parametrize("engine", RULE_FILES)
def test_every_release_that_was_read_lies_in_its_rules_range(engine: str) -> None:
    for rule in rule_set(engine).rules:
        assert rule.read
        for releases in rule.read.values():
            for release in releases.split():
                assert Version(release) in SpecifierSet(rule.versions), rule.name


@pytest.mark.parametrize("engine", RULE_FILES)
def test_one_model_file_never_stands_under_two_rules_for_one_class(engine: str) -> None:
    seen: set[tuple[str, str]] = set()
    for rule in rule_set(engine).rules:
        for digest in rule.read:
            # The qwen3 class arrived beside an unchanged llama file: there two rules share it,
            # and differ in which checkpoints come to it.
            for architecture in rule.architectures:
                key = (digest, architecture)
                assert key not in seen or rule.model_class == "Eagle3LlamaForCausalLM"
                seen.add(key)


@pytest.mark.parametrize("architecture", [DRAFT, "speculators:qwen3"])
def test_each_release_of_sglang_has_exactly_one_rule(architecture: str) -> None:
    ours = [r for r in rule_set("sglang").rules if architecture in r.architectures]
    for release in ("0.4.6", "0.4.9", "0.5.1.post3", "0.5.2", "0.5.11", "0.5.12.post1", "0.5.23"):
        assert sum(Version(release) in SpecifierSet(r.versions) for r in ours) == 1
    assert [a.name for a, b in pairwise(ours) if a.versions == b.versions] == []


@pytest.mark.parametrize(
    ("engine", "release", "name", "is_inside"),
    [
        ("sglang", "0.4.8", "llama-midlayer-inherited-loader", True),
        ("sglang", "0.5.11", "llama-midlayer", True),
        ("sglang", "0.5.12", "llama-layers", True),
        ("sglang", "0.5.17", "llama-layers-input-norm", True),
        ("sglang", "0.5.24", "llama-layers-input-norm", False),
        ("sglang", "0.3.0", "llama-midlayer-inherited-loader", False),
        ("vllm", "0.20.2", "llama-three-states", True),
        ("vllm", "0.21.0", "llama-three-states", False),
        ("vllm", "0.33.0", "llama-optional-map", True),
    ],
)
def test_a_release_finds_its_rule_or_the_nearest(
    engine: str, release: str, name: str, is_inside: bool
) -> None:
    match = rules_for(engine, release, DRAFT)
    assert match.rule.name == name
    assert match.is_inside is is_inside


@pytest.mark.parametrize(
    ("engine", "release", "architecture", "reason"),
    [
        ("trtllm", "1.0", DRAFT, "no parameter rules"),
        ("sglang", "", DRAFT, "is not known"),
        ("sglang", "main", DRAFT, "is not known"),
        ("sglang", "0.5.9", "", "names no architecture"),
        ("sglang", "0.5.9", "MysteryForCausalLM", "cover no class"),
    ],
)
def test_where_there_is_no_rule_the_reason_is_told(
    engine: str, release: str, architecture: str, reason: str
) -> None:
    match = rules_for(engine, release, architecture)
    assert match.rule is None
    assert reason in match.why


def test_the_digest_is_that_of_the_shipped_file() -> None:
    assert rule_set("sglang").digest != rule_set("vllm").digest
