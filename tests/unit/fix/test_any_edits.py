"""Whatever is edited: the view is what the library reads, and the undo gives back every byte."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from write_kit import (
    folder_as_the_library_reads,
    prepared,
    sha256_of,
    staged,
    undone,
    value_of,
    write_safetensors,
    write_shards,
)

from hypotree.artifact.checkpoint import Checkpoint
from hypotree.model.edit import DropTensor, InsertTensor, RenameTensors, ReplaceTensor, TensorFrom

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name != "__metadata__"
)
DTYPES = st.sampled_from(["BOOL", "U8", "BF16", "F32", "I64", "F8_E4M3", "C64"])
SHAPES = st.lists(st.integers(0, 5), max_size=3).map(tuple)


@st.composite
def checkpoints(draw):
    """Up to three shards of up to four tensors each, no name twice, and a metadata."""
    names = draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))
    count = draw(st.integers(1, min(3, len(names))))
    shards = {f"model-{i}.safetensors": {} for i in range(count)}
    for i, name in enumerate(names):
        shape = draw(SHAPES)
        shards[f"model-{i % count}.safetensors"][name] = value_of(draw(DTYPES), shape, i)
    return shards


@st.composite
def edits_on(draw, shards):
    """A sequence of edits that fits, and what the truth must hold for them."""
    tensors = {name: value for found in shards.values() for name, value in found.items()}
    edits, truth = [], {"unused": value_of("U8", (1,))}
    for step in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["rename", "exchange", "replace", "insert", "drop"]))
        name = draw(st.sampled_from(sorted(tensors)))
        if kind == "rename":
            new = draw(NAMES.filter(lambda n: n not in tensors))
            edits.append(RenameTensors({name: new}))
            tensors[new] = tensors.pop(name)
        elif kind == "exchange":
            other = draw(st.sampled_from(sorted(tensors)))
            edits.append(RenameTensors({name: other, other: name}))
            tensors[name], tensors[other] = tensors[other], tensors[name]
        elif kind == "drop":
            if len(tensors) > 1:
                edits.append(DropTensor(name))
                del tensors[name]
        else:
            old = tensors[name]
            new = draw(NAMES.filter(lambda n: n not in tensors)) if kind == "insert" else name
            truth[f"t{step}"] = value_of(old.dtype, old.shape, 100 + step)
            edit = InsertTensor if kind == "insert" else ReplaceTensor
            edits.append(edit(new, TensorFrom("truth", f"t{step}")))
            tensors[new] = truth[f"t{step}"]
    return tuple(edits), truth, tensors


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_edits_then_their_undo_give_the_original_bytes(data):
    shards = data.draw(checkpoints())
    edits, truth_tensors, expected = data.draw(edits_on(shards))
    with tempfile.TemporaryDirectory(prefix="hypotree-test-") as name:
        draft, undo = Path(name, "draft"), Path(name, "undo")
        write_shards(draft, shards)
        truth = write_safetensors(Path(name, "truth.safetensors"), truth_tensors)
        files = sorted(draft.iterdir())
        before = sha256_of(*files)
        view = Checkpoint(str(draft), staged(draft, *edits, truth=truth))
        assert {n: view.tensor(n) for n in view.names()} == expected
        ready = prepared(draft, undo, *edits, truth=truth)
        if not ready.replacements:
            return
        records = ready.write()
        assert folder_as_the_library_reads(draft) == expected
        redo = undone(records, undo)
        assert sorted(draft.iterdir()) == files
        assert sha256_of(*files) == before
        undone(redo, undo)
        assert folder_as_the_library_reads(draft) == expected
