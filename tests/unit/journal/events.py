"""Any event there is, for property tests."""

from __future__ import annotations

import string

from hypothesis import strategies as st

from hypotree.digest import Digest
from hypotree.model import event as ev
from hypotree.model.declaration import (
    Approve,
    Artifact,
    Binding,
    Declaration,
    FixChoice,
    Hypothesis,
    Measure,
    Policy,
    Rivals,
    Symptom,
)
from hypotree.model.evidence import Evidence, Finding, InputRecord, Locator, Read, Table
from hypotree.model.fix import FileSwap, StagedFinding
from hypotree.model.refusal import Refusal, RefusalCode
from hypotree.model.verdict import Authority, Role, Verdict

text = st.text(st.characters(codec="utf-8"), max_size=12)
name = st.text(string.ascii_letters + string.digits + "-_.", min_size=1, max_size=8)
digest = st.binary(min_size=1, max_size=4).map(Digest.of)
integer = st.integers()
number = st.floats(allow_nan=False, allow_infinity=False)
scalar = st.one_of(text, integer, number, st.booleans(), st.none())
params = st.dictionaries(name, scalar, max_size=2)


def some(kind: st.SearchStrategy, most: int = 2) -> st.SearchStrategy:
    return st.lists(kind, max_size=most).map(tuple)


binding = st.builds(Binding, name, st.none() | st.sampled_from(Role))
inputs = st.dictionaries(name, binding, max_size=2)
artifact = st.builds(Artifact, text, st.sampled_from(Role), name, st.sampled_from(["", "offsets"]))
choice = st.builds(FixChoice, name, name, st.dictionaries(name, name, max_size=2), name)
hypothesis = st.builds(
    Hypothesis, text, name, name, inputs, params, st.none() | choice, name, some(name)
)
measure = st.builds(Measure, name, inputs, params)
symptom = st.builds(Symptom, text, name, inputs, params, st.none() | measure)
policy = st.builds(Policy, st.sampled_from(Approve), st.sampled_from(Rivals))
declaration = st.builds(
    Declaration, symptom, st.dictionaries(name, artifact, max_size=2),
    st.dictionaries(name, hypothesis, max_size=2), policy,
)  # fmt: skip
locator = st.builds(Locator, name, text, text, st.none() | integer, st.none() | integer, text)
finding = st.builds(
    Finding,
    name,
    st.sampled_from(Verdict),
    st.sampled_from(Authority),
    text,
    some(locator),
    some(name),
)
read = st.builds(Read, name, text, digest)
record = st.builds(InputRecord, name, name, st.sampled_from(Role), text, digest, some(read), name)
table = st.builds(Table, text, some(text), some(some(scalar)))
evidence = st.builds(
    Evidence, schema=st.just("hypotree.evidence/1"), probe=name, version=name, code_sha256=digest,
    inputs=some(record), findings=some(finding), seconds=number, summary=text,
    measures=st.dictionaries(name, number, max_size=2), tables=some(table, 1), params=params,
    hypothesis=st.none() | digest, environment=st.dictionaries(name, text, max_size=1),
)  # fmt: skip
staged = st.builds(
    StagedFinding, name, name, st.none() | st.sampled_from(Verdict), st.sampled_from(Verdict), text
)
swap = st.builds(FileSwap, text, some(read), some(read), integer, integer, digest, name, integer)
refusal = st.builds(
    Refusal, st.sampled_from(RefusalCode), text, text, text, some(st.sampled_from(RefusalCode))
)

event = st.one_of(
    st.builds(ev.DeclarationLoaded, digest, declaration, st.dictionaries(name, digest, max_size=2),
              st.none() | digest),
    st.builds(ev.ArtifactAttached, name, artifact, st.none() | digest),
    st.builds(ev.ArtifactApproved, name, artifact, digest),
    st.builds(ev.DeclarationApproved, digest),
    st.builds(ev.HypothesisAdded, name, hypothesis),
    st.builds(ev.HypothesisEdited, name, hypothesis),
    st.builds(ev.EvidenceSealed, name, evidence),
    st.builds(ev.CanaryRan, name, digest, some(name), some(text)),
    st.builds(ev.FixPlanned, name, name, digest, some(staged)),
    st.builds(ev.FixApproved, name, digest),
    st.builds(ev.FixRefused, name, name, refusal),
    st.builds(ev.SwapStarted, name, name, some(swap)),
    st.builds(ev.FixApplied, name, name, name, digest, digest, some(swap)),
    st.builds(ev.SwapUndone, name, name, name, some(swap)),
    st.builds(ev.SwapAbandoned, name, text),
    st.builds(ev.NoteAdded, name, text),
)  # fmt: skip
actor = st.builds(ev.Actor, st.sampled_from(["human", "agent", "cli"]), text)
