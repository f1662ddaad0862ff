import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from write_kit import bf16, ids, prepared, value_of, write_safetensors

from hypotree.artifact.tensor import TensorValue
from hypotree.fix import difference
from hypotree.fix.difference import differing_elements, element
from hypotree.model.edit import InsertTensor, MinusArange, RenameTensors, ReplaceTensor, TensorFrom


def changes(locator, tmp_path, *edits, **artifacts):
    return prepared(locator, tmp_path / "undo", *edits, **artifacts).permit.plan.files[0].tensors


def test_a_tensor_that_is_replaced_and_renamed_is_one_change_from_old_name_to_new(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", {"d2t": ids(0, 4, 5), "x": bf16(2)})
    for edits in (
        (ReplaceTensor("d2t", MinusArange("d2t")), RenameTensors({"d2t": "map"})),
        (RenameTensors({"d2t": "y"}), RenameTensors({"y": "map"})),
    ):
        (change,) = changes(path, tmp_path, *edits)
        assert (change.before, change.after) == ("d2t", "map")
    (change,) = changes(path, tmp_path, ReplaceTensor("d2t", MinusArange("d2t")))
    assert (change.changed, change.rows) == (2, ((1, 4, 3), (2, 5, 3)))


def test_a_rename_and_its_reverse_change_nothing(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", {"a": bf16(3), "b": bf16(2)})
    ready = prepared(path, tmp_path / "u", RenameTensors({"a": "c"}), RenameTensors({"c": "a"}))
    assert ready.permit.plan.files == ()


def test_an_inserted_tensor_shows_its_first_elements(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", {"a": bf16(3)})
    truth = write_safetensors(tmp_path / "t.safetensors", {"d2t": ids(-1, 2), "e": ids()})
    edits = [InsertTensor(n, TensorFrom("t", n)) for n in ("d2t", "e")]
    new, empty = changes(path, tmp_path, *edits, t=truth)
    assert (new.before, new.after, new.changed, new.rows) == (
        "", "d2t", 2, ((0, None, -1), (1, None, 2)),
    )  # fmt: skip
    assert (empty.before, empty.changed, empty.rows) == ("", 0, ())


@pytest.mark.parametrize("dtype", ["BOOL", "I8", "BF16", "F32", "I64", "U64", "C64"])
def test_differing_elements_are_counted_alike_by_hand_and_by_numpy(dtype, monkeypatch):
    old, new = value_of(dtype, (5000,), 1), value_of(dtype, (5000,), 1)
    width = len(old.data) // 5000
    data = bytearray(new.data)
    for i in (0, 7, 4097, 4999):
        data[i * width] ^= 1
    new = TensorValue(dtype, (5000,), bytes(data))
    by_hand = differing_elements(old, new, 3)
    assert by_hand == (4, [0, 7, 4097])
    monkeypatch.setattr(difference, "_LARGE", 4096)
    assert differing_elements(old, new, 3) == by_hand


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_an_element_is_the_number_that_is_stored(values):
    value = ids(*values)
    assert [element(value, i) for i in range(len(values))] == values


def test_a_restored_tensor_of_64_mb_is_planned_in_a_second_and_in_bounded_memory(tmp_path):
    import tracemalloc

    big = 8 * 1024 * 1024
    path = write_safetensors(
        tmp_path / "m.safetensors", {"w": TensorValue("F64", (big,), bytes(8 * big))}
    )
    other = write_safetensors(
        tmp_path / "t.safetensors", {"w": TensorValue("F64", (big,), b"\1" * (8 * big))}
    )
    from hypotree.artifact.checkpoint import Checkpoint
    from hypotree.fix.plan import make_plan
    from hypotree.fix.stage import stage

    subject = Checkpoint(str(path))
    edits = (ReplaceTensor("w", TensorFrom("t", "w")),)
    view = stage(subject, edits, {"t": Checkpoint(str(other))})
    tracemalloc.start()
    started = time.monotonic()
    plan = make_plan("H1", "x", "draft", subject, view, edits)
    seconds, peak = time.monotonic() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert plan.files[0].tensors[0].changed == big
    assert seconds < 5
    assert peak < 8 * big * 4
