"""A session over time: standings, undo and redo, crashes, several processes, what it may be told."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml
from kit import AGENT, BELIEF, DOUBLE, HUMAN, OFFSETS, REPAIR, World, dial

from hypotree.errors import HypotreeError, MisuseError, RefusedError, UnknownNameError
from hypotree.model.declaration import Artifact, Binding
from hypotree.model.event import Actor, SwapStarted
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.model.verdict import Role
from hypotree.session.fixing import Applied
from hypotree.session.recovery import sibling_tag
from hypotree_probes.planting import ids

if TYPE_CHECKING:
    from hypotree.session import Session


def edited(session: Session, node: str = "H1", **changes: Any) -> None:
    session.edit(node, msgspec.structs.replace(session.hypothesis(node), **changes))


# -- standing ---------------------------------------------------------------------------------


def test_a_node_goes_from_untested_to_fixed_and_back(world: World) -> None:
    world.declare()
    seen = [world.standing()]
    session = world.open()
    session.run("H1")
    seen.append(world.standing())
    session.apply("H1")
    seen.append(world.standing())
    session.undo()
    seen.append(world.standing())
    session.run("H1")
    seen.append(world.standing())
    assert seen == [
        "untested", "confirmed", "fixed, symptom not re-measured", "stale", "confirmed",
    ]  # fmt: skip


def test_a_fault_that_is_back_after_a_fix_is_not_shown_as_fixed(world: World) -> None:
    session = world.confirmed()
    session.apply("H1")
    world.plant(ids(DOUBLE))
    assert world.standing() == "stale"
    session.run("H1")
    assert world.standing() == "confirmed"


def measured(world: World) -> Session:
    world.document["symptom"] = {
        "what": "slow", "probe": "acceptance-log", "inputs": {"log": "log"},
    }  # fmt: skip
    log(world, 1.05)
    session = world.confirmed()
    session.measure()
    return session


def log(world: World, length: float) -> None:
    line = "Decode batch, #running-req: 1, accept len: {0}, accept rate: 0.21, cuda graph: True"
    world.log.write_text("\n".join([line.format(f"{length:.2f}")] * 60) + "\n")


@pytest.mark.parametrize(
    ("length", "standing"),
    [
        (2.41, "fixed, symptom moved"),
        (1.06, "fixed, symptom unmoved"),
        (None, "fixed, symptom not re-measured"),
    ],
)
def test_a_new_log_says_whether_the_symptom_moved(
    world: World, length: float | None, standing: str
) -> None:
    session = measured(world)
    session.apply("H1")
    if length is not None:
        log(world, length)
    session.measure()
    assert world.standing() == standing
    assert session.snapshot().measurements[-1].is_new == (length is not None)


# -- undo and redo ----------------------------------------------------------------------------


def test_undo_and_redo_alternate_as_often_as_one_likes(world: World) -> None:
    session = world.confirmed()
    session.apply("H1")
    for _ in range(2):
        session.undo()
        assert world.tensor() == DOUBLE
        session.redo()
        assert world.tensor() == OFFSETS
    with pytest.raises(MisuseError, match="nothing is undone"):
        session.redo()
    session.undo()
    with pytest.raises(MisuseError, match="no fix is in force"):
        session.undo()


def test_an_undo_over_somebody_elses_change_is_refused(world: World) -> None:
    session = world.confirmed()
    session.apply("H1")
    world.plant(ids([*OFFSETS[:7], 50]))
    with pytest.raises(RefusedError, match="not as that change left it"):
        session.undo()
    assert world.tensor() == [*OFFSETS[:7], 50]


def test_under_ask_an_agent_does_not_bring_back_what_a_person_took_back(world: World) -> None:
    world.document["policy"]["approve"] = "ask"
    session = world.confirmed()
    session.apply("H1", lambda _: HUMAN)
    session.undo()
    agent = world.open(AGENT)
    for again in (agent.redo, lambda: agent.undo(agent.snapshot().writes[-1].id)):
        with pytest.raises(RefusedError, match="a person does it"):
            again()
    assert world.tensor() == DOUBLE


# -- crashes and several processes ------------------------------------------------------------

_SWAPPING = """
import sys, time
from pathlib import Path
from hypotree.artifact.checkpoint import Checkpoint
from hypotree.digest import Digest
from hypotree.fix.lock import locked
from hypotree.model.event import Actor, SwapStarted
from hypotree.model.evidence import Read
from hypotree.model.fix import FileSwap
from hypotree.session.core import SessionCore
session, draft = map(Path, sys.argv[1:])
core = SessionCore(session, Actor("cli"))
before = (Read("tensor", "d2t", Checkpoint(str(draft)).digest_of("tensor", "d2t")),)
after = (Read("tensor", "d2t", Digest.of(b"the new one")),)
swap = FileSwap(str(draft), before, after, 1, 1, Digest.of(b"pack"), "reflink-or-copy", 1)
with locked([draft]):
    core.append(SwapStarted("S9", "H1", (swap,)))
    print("started", flush=True)
    time.sleep(60)
"""


def test_a_swap_of_a_living_process_is_left_to_it(world: World) -> None:
    """A second session that opens meanwhile must not sweep away what the first one writes."""
    tag = sibling_tag(world.confirmed()._core, "S9")
    scratch = world.draft.with_name(f".{world.draft.name}.hypotree-{tag}-abcdefgh")
    scratch.write_bytes(b"half written")
    other = subprocess.Popen(
        [sys.executable, "-c", _SWAPPING, str(world.session), str(world.draft)],
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()
        session = world.open()
        assert session.recovered == ()
        assert "S9" in session._core.state.started
        assert scratch.exists()
    finally:
        other.kill()
        other.communicate()
    assert "was interrupted" in world.open().recovered[0]
    assert not scratch.exists()


def test_a_swap_that_nobody_ends_any_more_is_settled_at_the_next_start(world: World) -> None:
    session = world.confirmed()
    session._core.append(SwapStarted("S9", "H1", ()))
    again = world.open()
    assert len(again.recovered) == 1
    assert world.open().recovered == ()


def test_two_sessions_see_each_others_nodes(world: World) -> None:
    one, other = world.confirmed(), world.open(AGENT)
    other.add("H7", msgspec.structs.replace(one.hypothesis("H1"), claim="mine"))
    assert [n.id for n in one.snapshot().nodes] == ["H1", "H7"]


def test_a_session_named_by_a_relative_path_survives_a_change_of_folder(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    from hypotree.session import Session

    world.declare()
    monkeypatch.chdir(world.root)
    session = Session(Path("session"))
    session.run("H1")
    monkeypatch.chdir("/")
    assert isinstance(session.apply("H1"), Applied)
    assert session.snapshot().folder == "session"


# -- one's own mistakes cost only themselves --------------------------------------------------


def test_a_probe_that_cannot_be_loaded_costs_only_its_own_node(world: World) -> None:
    session = world.confirmed(H1=dict(REPAIR), H2=dial(probe="acme-broken"), H3=dial(probe="gone"))
    assert [n.standing for n in session.snapshot().nodes] == ["confirmed", "untested", "untested"]
    for node in ("H2", "H3"):
        with pytest.raises(HypotreeError):
            session.run(node)
    assert isinstance(session.apply("H1"), Applied)


def test_an_isolated_probe_imports_nothing_from_the_folder_one_stands_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A downloaded checkpoint may hold a file that is called like a library."""
    from acme_probes import Dial

    monkeypatch.setattr(Dial, "isolated", True)
    for name in ("msgspec", "hypotree", "numpy"):
        (world.draft.parent / f"{name}.py").write_text(
            "open('pwned', 'w').close()\nraise SystemExit(9)\n"
        )
    world.declare(H1=dial())
    monkeypatch.chdir(world.draft.parent)
    evidence = world.open().run("H1")
    assert not (world.draft.parent / "pwned").exists()
    assert evidence.finding("acme.wrong").verdict == "confirmed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hypotheses": {"H1": {**REPAIR, "parent": "H1"}}}, "H1 > H1"),
        ({"hypotheses": {"H1": {**REPAIR, "parent": "H2"}}}, "'H2' is no hypothesis"),
        ({"hypotheses": {"H1": {**REPAIR, "rivals": ["H2"]}}}, "'H2' is no other hypothesis"),
        ({"hypotheses": {"symptom": dict(REPAIR)}}, "means something else"),
        ({"hypotheses": {"policy": dict(REPAIR)}}, "means something else"),
        ({"hypotheses": {"a b": dict(REPAIR)}}, "a name has"),
        ({"hypotheses": {"map": dict(REPAIR)}}, "both a hypothesis and an artifact"),
        ({"hypotheses": {"H1": {**REPAIR, "inputs": {"draft": "nowhere"}}}}, "not declared"),
    ],
)
def test_a_session_yaml_that_cannot_hold_is_refused_before_it_is_journaled(
    world: World, change: dict[str, Any], words: str
) -> None:
    session = world.confirmed()
    size = world.journal.stat().st_size
    world.document.update(change)
    world.declare()
    with pytest.raises(HypotreeError, match=words):
        world.open()
    assert world.journal.stat().st_size == size
    assert session.snapshot().nodes


def test_a_node_and_an_artifact_never_share_a_name(world: World) -> None:
    """`hypotree approve H1` must not mean an artifact that an agent called H1."""
    session = world.confirmed()
    with pytest.raises(MisuseError, match="approve what"):
        session.attach("H1", Artifact("../map.safetensors", Role.TRUTH, "vocabulary-map"))
    with pytest.raises(MisuseError, match="approve what"):
        session.add("map", session.hypothesis("H1"))


@pytest.mark.parametrize("name", ["symptom", "policy", "", "a/b", "x" * 65, "-x", "a\n"])
def test_no_node_and_no_artifact_gets_a_name_that_means_something_else(
    world: World, name: str
) -> None:
    session = world.confirmed()
    with pytest.raises(MisuseError, match="naming"):
        session.add(name, session.hypothesis("H1"))
    with pytest.raises(MisuseError, match="naming"):
        session.attach(name, Artifact("../server.log", Role.OBSERVATION, "log"))


def test_a_node_that_cannot_be_is_not_added(world: World) -> None:
    session = world.confirmed()
    good = session.hypothesis("H1")
    for changes, error in [
        ({"claim": " "}, MisuseError),
        ({"claim": "x" * 5000}, MisuseError),
        ({"probe": "nobody"}, UnknownNameError),
        ({"fault": "params.renamed"}, MisuseError),
        ({"inputs": {"draft": Binding("nowhere")}}, UnknownNameError),
        ({"parent": "H8"}, UnknownNameError),
        ({"rivals": ("H8",)}, UnknownNameError),
    ]:
        with pytest.raises(error):
            session.add("H9", msgspec.structs.replace(good, **changes))
    with pytest.raises(MisuseError, match="already"):
        session.add("H1", good)
    with pytest.raises(MisuseError, match="H1 > H1"):
        edited(session, parent="H1")


def test_a_folder_is_not_attached_for_true_before_its_kind_is_said(world: World) -> None:
    """What is approved of a folder is what a reader of its kind reads."""
    session = world.confirmed()
    with pytest.raises(MisuseError, match="kind"):
        session.attach("target", Artifact("../draft", Role.TRUTH))
    session.attach("target", Artifact("../draft", Role.TRUTH, "checkpoint"))


def test_what_cannot_be_read_is_not_attached(world: World) -> None:
    with pytest.raises(UnknownNameError, match="cannot be read"):
        world.confirmed().attach("x", Artifact("../nowhere", Role.OBSERVATION, "log"))


# -- approving --------------------------------------------------------------------------------


@pytest.mark.parametrize("actor", [AGENT, Actor("cli"), Actor("Human"), Actor("")])
def test_nobody_but_a_person_approves(world: World, actor: Actor) -> None:
    world.document["policy"]["approve"] = "ask"
    session = world.confirmed()
    session.plan("H1")
    for approve in (
        lambda: session.approve_plan("H1", actor),
        lambda: session.approve_artifact("map", actor),
        lambda: session.approve_policy(actor),
        lambda: session.apply("H1", lambda _: actor),
    ):
        with pytest.raises(RefusedError, match="no person"):
            approve()
    assert world.refusal(session=session).code is RefusalCode.NEEDS_APPROVAL


def test_what_was_declared_anew_while_a_person_looked_is_not_approved(world: World) -> None:
    session = world.confirmed()
    seen = session.snapshot().artifacts[1]
    assert seen.name == "map"
    world.open(AGENT).attach("map", Artifact("../draft", Role.TRUTH, "vocabulary-map"))
    with pytest.raises(RefusedError, match="declared anew"):
        session.approve_artifact("map", HUMAN, seen.artifact)


def test_a_person_is_asked_last_and_only_if_nothing_else_is_in_the_way(world: World) -> None:
    world.document["policy"]["approve"] = "ask"
    asked: list[object] = []

    def agree(answer: object) -> Actor:
        asked.append(answer)
        return HUMAN

    session = world.confirmed(H1=dial("refuted"), H2=dict(BELIEF), H3=dict(REPAIR))
    session.run("H3")
    for node in ("H1", "H2"):
        assert not isinstance(session.apply(node, agree), Applied)
    assert asked == []
    assert isinstance(session.apply("H3", agree), Applied)
    assert len(asked) == 1


def test_a_loosened_session_yaml_does_not_hold_before_a_person_says_so(world: World) -> None:
    world.document["policy"] = {"approve": "ask", "rivals": "off"}
    session = world.confirmed()
    world.document["policy"]["approve"] = "auto"
    world.declare()
    view = world.open().snapshot()
    assert view.policy.approve == "ask"
    assert view.pending_policy is not None
    assert view.pending_policy.approve == "auto"
    assert world.refusal().code is RefusalCode.NEEDS_APPROVAL
    session = world.open()
    session.approve_policy(HUMAN)
    assert session.snapshot().pending_policy is None
    assert isinstance(session.apply("H1"), Applied)


def test_a_tightened_session_yaml_holds_at_once(world: World) -> None:
    world.confirmed()
    world.document["policy"] = {"approve": "ask", "rivals": "tested"}
    world.declare()
    assert world.refusal().code is RefusalCode.NEEDS_APPROVAL


def test_nodes_and_artifacts_are_shown_in_the_order_of_the_yaml(world: World) -> None:
    world.declare(H10=dict(REPAIR), H2=dict(BELIEF), H1=dict(REPAIR))
    view = world.open().snapshot()
    assert [n.id for n in view.nodes] == ["H10", "H2", "H1"]
    assert [a.name for a in view.artifacts] == ["draft", "map", "log"]


def test_the_tool_never_rewrites_a_session_yaml(world: World) -> None:
    world.declare()
    path = world.session / "session.yaml"
    before = path.read_bytes()
    session = world.confirmed()
    session.note("H1", "text")
    session.apply("H1")
    session.undo()
    assert path.read_bytes() == before
    assert yaml.safe_load(before)["hypotree"] == 1


def test_evidence_that_another_process_sealed_is_seen_by_a_plan(world: World) -> None:
    world.plant(ids(DOUBLE))
    world.declare(H1=dict(BELIEF))
    session = world.open()
    world.open().run("H1")
    decision = session.plan("H1").decision
    assert not (isinstance(decision, Refusal) and decision.code == "NO_EVIDENCE")


def test_a_plan_that_was_not_shown_is_not_written_though_the_policy_asks_nobody(
    world: World,
) -> None:
    from hypotree.digest import Digest

    world.plant(ids(DOUBLE))
    world.declare(H1=dict(REPAIR))
    session = world.open()
    session.run("H1")
    plan = session.plan("H1").plan
    assert plan is not None
    with pytest.raises(RefusedError, match="not the one that was shown"):
        session.apply("H1", seen=Digest.of(b"another plan"))
    assert not session.snapshot().writes
    assert isinstance(session.apply("H1", seen=plan.digest()), Applied)
