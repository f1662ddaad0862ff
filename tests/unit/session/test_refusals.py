"""Every refusal code, reached through the public session on real files. Demand: DESIGN rules 2 to 7."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from kit import AGENT, BELIEF, CONFIG, DOUBLE, HUMAN, OFFSETS, REPAIR, TARGETS, World, dial, flip

from hypotree.model.declaration import Artifact, Binding, FixChoice, Hypothesis
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.model.verdict import Role
from hypotree.session import Session
from hypotree.session.fixing import Applied
from hypotree_probes.planting import blank, ids, mask, plant_checkpoint, safetensors_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from hypotree.model.event import Actor


def hypothesis(session: Session, **changes: Any) -> Hypothesis:
    return msgspec.structs.replace(session.hypothesis("H1"), **changes)


# -- the way through --------------------------------------------------------------------------


def test_a_confirmed_hypothesis_writes_and_its_probe_then_refutes_it(world: World) -> None:
    result = world.confirmed().apply("H1")
    assert isinstance(result, Applied)
    assert world.tensor() == OFFSETS
    assert world.open().run("H1").finding("d2t.double-subtracted").verdict == "refuted"


def test_an_undo_gives_back_every_byte(world: World) -> None:
    before = world.draft.read_bytes()
    session = world.confirmed()
    session.apply("H1")
    session.undo()
    assert world.draft.read_bytes() == before


# -- the journal and the target ---------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 100, 0.5, -200, -3])
def test_any_flipped_bit_of_the_journal_closes_the_gate(world: World, at: float) -> None:
    world.confirmed()
    size = world.journal.stat().st_size
    flip(world.journal, int(size * at) if isinstance(at, float) else at)
    size = world.journal.stat().st_size
    found = world.refusal()
    assert found.code is RefusalCode.JOURNAL_BROKEN
    assert "line " in found.found
    assert world.journal.stat().st_size == size, "a broken journal was written to"


def test_a_journal_that_breaks_under_a_living_session_closes_its_gate(world: World) -> None:
    session = world.confirmed()
    flip(world.journal, 100)
    size = world.journal.stat().st_size
    assert world.refusal(session=session).code is RefusalCode.JOURNAL_BROKEN
    assert world.journal.stat().st_size == size


def test_a_journal_cut_back_to_a_whole_line_under_a_living_session_closes_its_gate(
    world: World,
) -> None:
    session = world.confirmed()
    lines = world.journal.read_bytes().splitlines(keepends=True)
    world.journal.write_bytes(b"".join(lines[:-1]))
    found = world.refusal(session=session)
    assert found.code is RefusalCode.JOURNAL_BROKEN
    assert "gone" in found.found


def test_a_target_that_is_a_symbolic_link_is_refused_by_name(world: World) -> None:
    real = world.draft.with_name("blob")
    world.draft.rename(real)
    world.draft.symlink_to(real.name)
    found = world.refusal(session=world.confirmed())
    assert found.code is RefusalCode.UNSAFE_TARGET
    assert "symbolic link" in found.found
    assert world.draft.is_symlink()


def test_a_target_with_a_second_hard_link_is_refused_by_name(world: World) -> None:
    (world.root / "elsewhere").hardlink_to(world.draft)
    found = world.refusal(session=world.confirmed())
    assert found.code is RefusalCode.UNSAFE_TARGET
    assert "2 hard links" in found.found


# -- evidence: none, or stale -----------------------------------------------------------------


def test_without_a_run_there_is_nothing_to_write_by(world: World) -> None:
    world.declare()
    assert world.refusal().code is RefusalCode.NO_EVIDENCE


def test_evidence_of_another_node_does_not_speak_for_this_one(world: World) -> None:
    world.confirmed(H1=dict(REPAIR), H2=dict(REPAIR))
    assert world.refusal("H2").code is RefusalCode.NO_EVIDENCE


@pytest.mark.parametrize(
    "change",
    [
        {"claim": "another claim"},
        {"fault": "acme.other"},
        {"probe": "acme-stubborn"},
        {"params": {"say": "honest", "more": 1}},
        {"fix": FixChoice("d2t-to-offsets")},
        {"inputs": {"draft": Binding("draft"), "truth": Binding("map", Role.TRUTH)}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_edited_declaration_loses_its_evidence(world: World, change: dict[str, Any]) -> None:
    session = world.confirmed(H1=dial())
    session.edit("H1", hypothesis(session, **change))
    found = world.refusal()
    assert RefusalCode.STALE_HYPOTHESIS in {found.code, *found.also}
    assert world.standing() == "stale"


def test_a_claim_edited_in_the_yaml_loses_its_evidence(world: World) -> None:
    world.confirmed()
    world.declare(H1={**REPAIR, "claim": "something else"})
    assert world.refusal().code is RefusalCode.STALE_HYPOTHESIS


def test_another_place_in_the_tree_is_not_another_claim(world: World) -> None:
    session = world.confirmed(H1=dict(REPAIR), H2=dict(BELIEF))
    session.edit("H1", hypothesis(session, parent="H2"))
    assert isinstance(world.open().apply("H1"), Applied)


def test_other_probe_code_makes_evidence_stale(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypotree.digest import Digest

    session = world.confirmed(H1=dial())
    for module in ("gate_facts", "probing"):
        monkeypatch.setattr(f"hypotree.session.{module}.code_digest", lambda _: Digest.of(b"newer"))
    assert world.refusal(session=session).code is RefusalCode.STALE_PROBE
    assert world.standing() == "stale"


def test_a_newer_version_of_the_probe_makes_evidence_stale(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acme_probes import Dial

    session = world.confirmed(H1=dial())
    monkeypatch.setattr(Dial, "version", "2")
    assert world.refusal(session=session).code is RefusalCode.STALE_PROBE


def test_one_changed_byte_of_d2t_makes_evidence_stale(world: World) -> None:
    session = world.confirmed()
    flip(world.draft, -1)
    found = world.refusal(session=session)
    assert found.code is RefusalCode.STALE_ARTIFACT
    assert "d2t" in found.found


def test_one_changed_byte_of_the_truth_makes_evidence_stale(world: World) -> None:
    session = world.confirmed()
    flip(world.map, -1)
    found = world.refusal(session=session)
    assert RefusalCode.STALE_ARTIFACT in {found.code, *found.also}


def test_a_truth_that_is_gone_is_a_refusal_and_no_crash(world: World) -> None:
    session = world.confirmed()
    world.map.unlink()
    found = session.apply("H1")
    assert found.code is RefusalCode.STALE_ARTIFACT


def test_a_new_mtime_is_no_new_content(world: World) -> None:
    session = world.confirmed()
    for path in (world.draft, world.map):
        os.utime(path, (1, 1))
    assert isinstance(session.apply("H1"), Applied)


def test_a_rewritten_file_with_the_same_bytes_is_no_new_content(world: World) -> None:
    session = world.confirmed()
    copy = world.draft.with_name("copy")
    shutil.copy(world.draft, copy)
    copy.replace(world.draft)
    assert isinstance(session.apply("H1"), Applied)


def test_renaming_other_tensors_leaves_evidence_fresh(world: World) -> None:
    world.plant(ids(DOUBLE), **{"layers.0.w": blank("F32", 2)})
    session = world.confirmed()
    world.plant(ids(DOUBLE), **{"midlayer.w": blank("F32", 2)})
    assert world.standing() == "confirmed"
    assert isinstance(session.apply("H1"), Applied)


def test_a_tensor_that_would_now_be_taken_for_d2t_makes_evidence_stale(world: World) -> None:
    world.confirmed()
    world.plant(ids(DOUBLE), **{"model.d2t": ids(OFFSETS)})
    assert world.standing() == "stale"


def test_the_bytes_changed_after_an_agreed_plan_are_not_overwritten(world: World) -> None:
    world.document["policy"]["approve"] = "ask"
    session = world.confirmed()

    def agree(_: object) -> Actor:
        flip(world.draft, -1)
        return HUMAN

    refused = session.apply("H1", agree)
    assert isinstance(refused, Refusal)
    assert refused.code == "STALE_ARTIFACT"
    assert world.tensor() != OFFSETS
    assert not world.open().snapshot().writes


def test_newer_evidence_of_another_process_does_not_carry_an_older_permit(world: World) -> None:
    """Between ask and swap the truth changed and was probed again: that run is fresh, ours is not."""
    from hypotree.errors import RefusedError
    from hypotree.session import fixing

    session = world.confirmed(H1=dial())
    answer = session.plan("H1")
    world.map.write_bytes(safetensors_bytes({"d2t": ids(DOUBLE)}))
    world.open().run("H1")
    with pytest.raises(RefusedError, match="ran again meanwhile"):
        fixing._write(session._core, answer, answer.decision)
    assert world.tensor() == DOUBLE


def test_a_verdict_on_what_was_not_read_is_never_fresh(world: World) -> None:
    """A probe that opens files past its readers leaves nothing to compare with later."""
    found = world.refusal(session=world.confirmed(H1=dial("blind")))
    assert found.code is RefusalCode.STALE_ARTIFACT
    assert "draft (its probe noted no read of it), truth" in found.found


# -- verdicts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("say", "code"),
    [
        ("crash", RefusalCode.PROBE_INVALID),
        ("invalid", RefusalCode.PROBE_INVALID),
        ("forget", RefusalCode.PROBE_INVALID),
        ("twice", RefusalCode.PROBE_INVALID),
        ("made-up", RefusalCode.PROBE_INVALID),
        ("nan", RefusalCode.PROBE_INVALID),
        ("object", RefusalCode.PROBE_INVALID),
        ("not-exercised", RefusalCode.NOT_EXERCISED),
        ("inconclusive", RefusalCode.INCONCLUSIVE),
        ("not-run", RefusalCode.INCONCLUSIVE),
        ("refuted", RefusalCode.REFUTED),
        ("heuristic", RefusalCode.HEURISTIC_ONLY),
        ("authority-none", RefusalCode.HEURISTIC_ONLY),
    ],
)
def test_only_a_confirmed_verdict_by_truth_writes(
    world: World, say: str, code: RefusalCode
) -> None:
    found = world.refusal(session=world.confirmed(H1=dial(say)))
    assert found.code is code
    assert world.open().verify().state == "whole"


def test_the_incidents_belief_is_refused_with_the_numbers(world: World) -> None:
    """DESIGN 1 (b): the map was correct, and subtracting arange would have broken it."""
    world.plant(ids(OFFSETS))
    found = world.refusal(session=world.confirmed(H1=dict(BELIEF)))
    assert found.code is RefusalCode.REFUTED
    assert "every value is target id - draft id" in found.found


# -- truths -----------------------------------------------------------------------------------


def link(way: str, source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    if way == "copy":
        shutil.copy(source, target)
    elif way == "hard":
        target.hardlink_to(source)
    else:
        target.symlink_to(source)


@pytest.mark.parametrize("way", ["copy", "hard", "soft"])
def test_the_suspect_under_another_name_is_no_truth(world: World, way: str) -> None:
    link(way, world.draft, world.map)
    found = world.refusal(session=world.confirmed(H1=dial("confirmed")))
    assert found.code is RefusalCode.TRUTH_NOT_INDEPENDENT


def test_the_suspect_itself_is_no_truth(world: World) -> None:
    hypo = dial(
        "confirmed", inputs={"draft": "draft", "truth": {"artifact": "draft", "role": "truth"}}
    )
    found = world.refusal(session=world.confirmed(H1=hypo))
    assert found.code is RefusalCode.TRUTH_NOT_INDEPENDENT


def test_a_checkpoints_own_t2d_does_not_authorise_its_repair(world: World) -> None:
    """Case F03: a default map arange under the offset convention, told by t2d alone."""
    world.plant(ids(list(range(8))), t2d=mask(list(range(8)), 64))
    hypo = {**BELIEF, "inputs": {"draft": "draft"}}
    session = world.confirmed(H1=hypo)
    finding = session.snapshot().nodes[0].finding
    assert finding is not None
    assert finding.verdict == "confirmed"
    found = world.refusal(session=session)
    assert found.code is RefusalCode.TRUTH_NOT_INDEPENDENT
    assert "suspect alone" in found.found


def agent_attaches(world: World, path: str = "../other.safetensors") -> Session:
    world.open()
    (world.root / "other.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    session = world.open(AGENT)
    session.attach("other", Artifact(path, Role.TRUTH, "vocabulary-map"))
    inputs = {"draft": Binding("draft"), "truth": Binding("other")}
    session.add("H9", hypothesis(session, inputs=inputs))
    session.run("H9")
    return session


def test_a_truth_that_an_agent_attached_waits_for_a_person(world: World) -> None:
    session = agent_attaches(world)
    found = world.refusal("H9", session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "proposed by agent" in found.found
    assert {a.name: a.proposed_by for a in session.snapshot().artifacts}["other"] == "agent"


def test_a_person_may_take_over_what_an_agent_attached(world: World) -> None:
    session = agent_attaches(world)
    session.approve_artifact("other", HUMAN)
    assert isinstance(session.apply("H9"), Applied)


def test_an_approval_is_for_the_content_that_was_there(world: World) -> None:
    session = agent_attaches(world)
    session.approve_artifact("other", HUMAN)
    (world.root / "other.safetensors").write_bytes(safetensors_bytes({"d2t": ids([0] * 8)}))
    session.run("H9")
    assert RefusalCode.TRUTH_NOT_APPROVED in codes(world.refusal("H9"))


def codes(found: Any) -> set[RefusalCode]:
    return {found.code, *found.also}


def test_a_truth_swapped_after_its_declaration_waits_for_a_person(world: World) -> None:
    world.open()
    world.map.write_bytes(safetensors_bytes({"d2t": ids([*OFFSETS[:7], 50])}))
    session = world.confirmed(H1=dial())
    found = world.refusal(session=session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "nobody approved" in found.found


def test_a_truth_that_a_changed_yaml_brings_waits_for_a_person(world: World) -> None:
    world.open()
    (world.root / "other.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    world.document["artifacts"]["map"]["path"] = "../other.safetensors"
    found = world.refusal(session=world.confirmed())
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "proposed by cli" in found.found


def test_a_session_that_an_agent_opens_first_has_no_truths(world: World) -> None:
    """Rule 4: the session.yaml that a *person* opens first is a declaration."""
    world.declare()
    session = world.open(AGENT)
    session.run("H1")
    found = world.refusal(session=session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert RefusalCode.NEEDS_APPROVAL in found.also, "nor does its policy hold"


def test_an_agents_binding_makes_no_truth_of_an_observation(world: World) -> None:
    world.document["artifacts"]["seen"] = {
        "path": "../seen.safetensors", "role": "observation", "kind": "vocabulary-map",
    }  # fmt: skip
    (world.root / "seen.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    world.open()
    session = world.open(AGENT)
    inputs = {"draft": Binding("draft"), "truth": Binding("seen", Role.TRUTH)}
    session.add("H9", hypothesis(session, inputs=inputs))
    session.run("H9")
    found = world.refusal("H9", session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "declared as observation" in found.found


def test_a_persons_binding_may_say_another_role(world: World) -> None:
    world.document["artifacts"]["map"]["role"] = "observation"
    hypo = {**REPAIR, "inputs": {"draft": "draft", "truth": {"artifact": "map", "role": "truth"}}}
    assert isinstance(world.confirmed(H1=hypo).apply("H1"), Applied)


def test_a_map_written_as_a_bare_path_is_a_subject_and_no_truth(world: World) -> None:
    world.document["artifacts"]["map"] = "../map.safetensors"
    session = world.confirmed()
    session.approve_artifact("map", HUMAN)
    found = world.refusal(session=session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "declared as subject" in found.found


def test_a_shard_put_beside_the_truth_does_not_answer_in_its_place(world: World) -> None:
    """The folder's content is approved by the file that is read: no other may shadow it."""
    folder = world.root / "maps"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(safetensors_bytes({"d2t": ids(OFFSETS)}))
    (folder / "config.json").write_text("{}")
    world.document["artifacts"]["map"] = {
        "path": "../maps",
        "role": "truth",
        "kind": "vocabulary-map",
    }
    world.open()
    (folder / "aaa.safetensors").write_bytes(safetensors_bytes({"d2t": ids(TARGETS)}))
    session = world.confirmed(H1=dial())
    assert isinstance(session.apply("H1"), Applied)
    assert world.tensor() == OFFSETS


def test_another_checkpoint_of_the_same_training_is_an_independent_truth(world: World) -> None:
    """The config of both is the same file, byte for byte: that makes neither a copy of the other."""
    tensors = {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids(OFFSETS)}
    plant_checkpoint(world.root / "epoch1", tensors, CONFIG)
    world.document["artifacts"]["epoch1"] = {
        "path": "../epoch1/draft", "role": "truth", "kind": "checkpoint",
    }  # fmt: skip
    hypo = {
        **REPAIR, "fix": {"name": "restore-tensor", "source": "target"},
        "inputs": {"draft": "draft", "truth": "map", "target": "epoch1"},
    }  # fmt: skip
    assert isinstance(world.confirmed(H1=hypo).apply("H1"), Applied)
    assert world.tensor() == OFFSETS


def test_the_source_of_the_bytes_is_a_truth_like_any_other(world: World) -> None:
    """The finding rests on one truth; what is written comes from another, which nobody declared."""
    tensors = {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids(OFFSETS)}
    plant_checkpoint(world.root / "epoch1", tensors, CONFIG)
    world.open()
    session = world.open(AGENT)
    session.attach("epoch1", Artifact("../epoch1/draft", Role.TRUTH, "checkpoint"))
    inputs = {"draft": Binding("draft"), "truth": Binding("map"), "target": Binding("epoch1")}
    choice = FixChoice("restore-tensor", source="target")
    session.add("H9", hypothesis(session, inputs=inputs, fix=choice))
    session.run("H9")
    found = world.refusal("H9", session)
    assert found.code is RefusalCode.TRUTH_NOT_APPROVED
    assert "target" in found.found


# -- what is held for true is not written to ---------------------------------------------------


def test_a_fix_does_not_write_into_a_truth(world: World) -> None:
    world.document["artifacts"]["reference"] = {
        "path": "../reference/draft", "role": "truth", "kind": "checkpoint",
    }  # fmt: skip
    plant_checkpoint(
        world.root / "reference",
        {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids(DOUBLE)},
        CONFIG,
    )
    world.open()
    session = world.open(AGENT)
    for role in (None, Role.SUBJECT):
        inputs = {"draft": Binding("reference", role), "truth": Binding("map")}
        session.add(f"H{role}", hypothesis(session, inputs=inputs))
        session.run(f"H{role}")
        found = world.refusal(f"H{role}", session)
        assert found.code is RefusalCode.UNSAFE_TARGET
        assert "declared as truth" in found.found


def test_a_truth_under_a_second_name_is_not_written_to_either(world: World) -> None:
    plant_checkpoint(
        world.root / "reference",
        {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids(DOUBLE)},
        CONFIG,
    )
    world.document["artifacts"]["reference"] = {
        "path": "../reference/draft", "role": "truth", "kind": "checkpoint",
    }  # fmt: skip
    world.open()
    session = world.open(AGENT)
    session.attach("mine", Artifact("../reference/draft", Role.SUBJECT, "checkpoint"))
    session.add(
        "H9", hypothesis(session, inputs={"draft": Binding("mine"), "truth": Binding("map")})
    )
    session.run("H9")
    found = world.refusal("H9", session)
    assert found.code is RefusalCode.UNSAFE_TARGET
    assert "reference, which is held for true" in found.found


# -- the canary -------------------------------------------------------------------------------


@pytest.mark.parametrize("probe", ["acme-no-cases", "acme-cannot-fail", "acme-bad-case"])
def test_a_probe_that_has_not_shown_that_it_can_fail_opens_no_gate(
    world: World, probe: str
) -> None:
    found = world.refusal(session=world.confirmed(H1=dial(probe=probe)))
    assert found.code is RefusalCode.PROBE_CANNOT_FAIL


def test_a_canary_speaks_for_the_code_that_ran_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acme_probes import Dial

    session = world.confirmed(H1=dial())
    session.plan("H1")
    monkeypatch.setattr(Dial, "cases", lambda _: ())
    from hypotree.digest import Digest

    for module in ("session.gate_facts", "session.probing", "probe.runner"):
        monkeypatch.setattr(f"hypotree.{module}.code_digest", lambda _: Digest.of(b"newer"))
    session.run("H1")
    assert world.refusal(session=session).code is RefusalCode.PROBE_CANNOT_FAIL


# -- policy, scope, flip ----------------------------------------------------------------------


def test_under_rivals_tested_an_untested_rival_holds_the_fix(world: World) -> None:
    world.document["policy"]["rivals"] = "tested"
    session = world.confirmed(H1={**REPAIR, "rivals": ["H2"]}, H2=dict(BELIEF))
    found = world.refusal(session=session)
    assert found.code is RefusalCode.RIVAL_OPEN
    assert "H2" in found.found
    session.run("H2")
    assert isinstance(session.apply("H1"), Applied)


def test_rivalry_holds_in_either_direction(world: World) -> None:
    world.document["policy"]["rivals"] = "tested"
    session = world.confirmed(H1=dict(REPAIR), H2={**BELIEF, "rivals": ["H1"]})
    assert world.refusal(session=session).code is RefusalCode.RIVAL_OPEN


def test_an_agent_cannot_talk_a_rival_away(world: World) -> None:
    world.document["policy"]["rivals"] = "tested"
    world.confirmed(H1={**REPAIR, "rivals": ["H2"]}, H2=dict(BELIEF))
    session = world.open(AGENT)
    session.edit("H1", hypothesis(session, rivals=()))
    assert world.refusal(session=session).code is RefusalCode.RIVAL_OPEN
    world.declare(H1=dict(REPAIR), H2=dict(BELIEF))
    assert world.refusal().code is RefusalCode.RIVAL_OPEN, "nor can an edited session.yaml"


def test_a_change_beyond_the_declared_edits_is_out_of_scope(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stage that renames one tensor more than it was told to."""
    from hypotree.fix.stage import stage
    from hypotree.model.edit import RenameTensors

    more = RenameTensors({"lm_head.weight": "gone"})
    monkeypatch.setattr(
        "hypotree.session.staging.stage", lambda s, edits, a: stage(s, (*edits, more), a)
    )
    found = world.refusal(session=world.confirmed())
    assert found.code is RefusalCode.OUT_OF_SCOPE
    assert "lm_head.weight" in found.found


def test_edits_of_tensors_that_the_evidence_does_not_name_are_out_of_scope(world: World) -> None:
    fix = {"name": "rename-tensors", "names": {"lm_head.weight": "head.weight"}}
    found = world.refusal(session=world.confirmed(H1={**REPAIR, "fix": fix}))
    assert found.code is RefusalCode.OUT_OF_SCOPE
    assert "head.weight" in found.found


def test_a_fix_that_leaves_the_fault_is_refused(world: World) -> None:
    world.plant(ids([*OFFSETS[:6], OFFSETS[7], OFFSETS[6]]))
    hypo = {**REPAIR, "fault": "d2t.disagrees-with-source", "fix": "d2t-to-offsets"}
    found = world.refusal(session=world.confirmed(H1=hypo))
    assert found.code is RefusalCode.FIX_DOES_NOT_FLIP
    assert "still confirmed" in found.found


def test_a_fix_that_its_own_probe_never_believes_is_refused(world: World) -> None:
    hypo = dial(probe="acme-stubborn", params={"stubborn": True})
    found = world.refusal(session=world.confirmed(H1=hypo))
    assert found.code is RefusalCode.FIX_DOES_NOT_FLIP
    assert "still confirmed" in found.found


def test_advice_writes_nothing(world: World) -> None:
    found = world.refusal(session=world.confirmed(H1={**REPAIR, "fix": "advice"}))
    assert found.code is RefusalCode.FIX_DOES_NOT_FLIP
    assert "writes nothing" in found.found


WITNESS = {
    "claim": "the map is right", "fault": "acme.witness", "probe": "acme-witness",
    "inputs": {"draft": "draft"},
}  # fmt: skip


def broken_by_the_fix(world: World, artifact: str = "draft") -> Session:
    values = [0, 1, 3, 6, *OFFSETS[4:]]
    world.map.write_bytes(safetensors_bytes({"d2t": ids(values)}))
    world.document["artifacts"]["twin"] = {
        "path": "../draft",
        "role": "subject",
        "kind": "checkpoint",
    }
    session = world.confirmed(H1=dial(inputs={"draft": artifact, "truth": "map"}), H2=dict(WITNESS))
    session.run("H2")
    return session


def test_a_fix_that_makes_another_fault_is_refused(world: World) -> None:
    found = world.refusal(session=broken_by_the_fix(world))
    assert found.code is RefusalCode.FIX_BREAKS_OTHER
    assert "acme.witness" in found.found


@pytest.mark.parametrize("path", ["../draft", "../draft/model.safetensors", "../draft/../draft/"])
def test_a_second_name_for_the_same_files_hides_no_breakage(world: World, path: str) -> None:
    world.document["artifacts"]["other_name"] = {
        "path": path,
        "role": "subject",
        "kind": "checkpoint",
    }
    found = world.refusal(session=broken_by_the_fix(world, "other_name"))
    assert found.code is RefusalCode.FIX_BREAKS_OTHER


def test_what_was_never_compared_before_is_revealed_and_refuses_nothing(world: World) -> None:
    session = broken_by_the_fix(world)
    changed = msgspec.structs.replace(session.hypothesis("H2"), claim="its evidence is stale now")
    session.edit("H2", changed)
    assert isinstance(session.apply("H1"), Applied)


# -- approval ---------------------------------------------------------------------------------


def test_auto_does_not_speak_for_a_subject_that_an_agent_named(world: World) -> None:
    """A person agreed to writes into their own checkpoint, not into whatever is called so later."""
    tensors = {"lm_head.weight": blank("BF16", 8, 4), "d2t": ids(DOUBLE)}
    plant_checkpoint(world.root / "elsewhere", tensors, CONFIG)
    world.open()
    session = world.open(AGENT)
    session.attach("draft", Artifact("../elsewhere/draft", Role.SUBJECT, "checkpoint"))
    session.run("H1")
    found = world.refusal(session=session)
    assert found.code is RefusalCode.NEEDS_APPROVAL
    assert "draft is only proposed (by agent)" in found.found
    session.approve_artifact("draft", HUMAN)
    assert isinstance(session.apply("H1"), Applied)


def asking(world: World) -> Session:
    world.document["policy"]["approve"] = "ask"
    return world.confirmed()


def test_under_ask_nothing_is_written_before_a_person_agreed(world: World) -> None:
    session = asking(world)
    found = world.refusal(session=session)
    assert found.code is RefusalCode.NEEDS_APPROVAL
    assert found.also == ()
    session.approve_plan("H1", HUMAN)
    assert isinstance(session.apply("H1"), Applied)


def test_an_agreement_is_for_one_write(world: World) -> None:
    """A person agreed, saw it, and took it back: the same plan asks again."""
    session = asking(world)
    session.plan("H1")
    session.approve_plan("H1", HUMAN)
    session.apply("H1")
    session.undo()
    session.run("H1")
    assert world.refusal(session=session).code is RefusalCode.NEEDS_APPROVAL


def test_an_agreement_is_for_the_plan_that_was_seen(world: World) -> None:
    from hypotree.errors import RefusedError

    world.document["policy"]["approve"] = "ask"
    session = world.confirmed(H1=dial())
    seen = session.plan("H1").plan
    assert seen is not None
    flip(world.draft, -60)
    session.run("H1")
    session.plan("H1")
    with pytest.raises(RefusedError, match="meanwhile"):
        session.approve_plan("H1", HUMAN, seen.digest())


def test_an_answer_cannot_be_turned_into_an_agreement(world: World) -> None:
    answer = asking(world).plan("H1")
    assert not [name for name in dir(answer) if "agree" in name or "approve" in name]


# -- order and shape --------------------------------------------------------------------------


def test_the_first_code_answers_and_the_others_are_listed_in_order(world: World) -> None:
    world.document["policy"] = {"approve": "ask", "rivals": "tested"}
    session = world.confirmed(
        H1=dial(probe="acme-no-cases", rivals=["H2"], fix="advice"), H2=dict(BELIEF)
    )
    session.edit("H1", hypothesis(session, claim="edited"))
    flip(world.map, -1)
    flip(world.draft, -1)
    found = world.refusal(session=session)
    everything = [found.code, *found.also]
    order = list(RefusalCode)
    assert everything == sorted(everything, key=order.index)
    assert everything[:2] == [RefusalCode.STALE_HYPOTHESIS, RefusalCode.STALE_ARTIFACT]
    assert {"TRUTH_NOT_APPROVED", "RIVAL_OPEN", "FIX_DOES_NOT_FLIP", "NEEDS_APPROVAL"} <= set(
        everything
    )


def test_every_refusal_is_journaled_and_shown(world: World) -> None:
    session = world.confirmed(H1=dial("heuristic"))
    world.refusal(session=session)
    (node,) = session.snapshot().nodes
    assert [r.code for r in node.refusals] == [RefusalCode.HEURISTIC_ONLY]
