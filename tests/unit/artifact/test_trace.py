import json

import pytest

from hypotree.artifact.trace import Trace
from hypotree.errors import MalformedError

START = {"event": "trace_start", "engine": "sglang", "engine_version": "0.5.9", "draft": "d",
         "hooks": ["model.fc", "model.midlayer"]}  # fmt: skip
CALL = {"event": "module_call", "call": 0, "phase": "draft_extend", "module": "model.midlayer",
        "class": "Layer", "in_shapes": [[4, 48]], "out_shapes": [[4, 16]], "mean": 0.1, "rank": 0}  # fmt: skip
END = {"event": "trace_end", "calls": 1}


def trace_of(tmp_path, *events, end="\n"):
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(e if isinstance(e, str) else json.dumps(e) for e in events) + end)
    return Trace(str(path))


def test_a_complete_trace_may_speak_of_absence(tmp_path):
    record = trace_of(tmp_path, START, CALL, END).record()
    assert (record.state, record.lines) == ("complete", (2,))
    assert (record.fired("midlayer"), record.fired("model.midlayer")) == ((0,), (0,))
    assert record.hooked("fc")
    assert record.fired("fc") == ()
    assert not record.hooked("c")
    assert record.calls[0].in_shapes == ((4, 48),)


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((START, CALL), "cut-off"),
        ((START, CALL, CALL, END), "cut-off"),
        ((START, END), "dead"),
        ((START, {**END, "calls": 0}), "dead"),
        ((START,), "dead"),
    ],
)
def test_a_trace_without_its_end_is_cut_off_and_one_without_a_call_is_dead(tmp_path, events, state):
    assert trace_of(tmp_path, *events).record().state == state


@pytest.mark.parametrize("cut", ['{"event": "module_call", "ca', '{"event', "{", '{"event": "ü'])
def test_a_trace_that_was_killed_inside_a_line_is_cut_off(tmp_path, cut):
    trace = trace_of(tmp_path, START, CALL, cut, end="")
    assert trace.record().state == "cut-off"
    assert len(trace.reads) == 1


def test_a_trace_cut_inside_a_character_is_cut_off(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        f"{json.dumps(START)}\n{json.dumps(CALL)}\n".encode() + '{"event": "ü'.encode()[:-1]
    )
    assert Trace(str(path)).record().state == "cut-off"


@pytest.mark.parametrize(
    "bad", ["{", "[]", "nonsense", '{"event": "other"}', '{"event": "module_call"}', "[" * 100_000]
)
def test_the_first_bad_line_is_named(tmp_path, bad):
    with pytest.raises(MalformedError, match="line 3:"):
        trace_of(tmp_path, START, CALL, bad, END).record()
    with pytest.raises(MalformedError, match="line 3:"):
        trace_of(tmp_path, START, CALL, bad).record()


def test_blank_lines_are_skipped_and_counted(tmp_path):
    assert trace_of(tmp_path, START, "", "  ", CALL, END).record().lines == (4,)


@pytest.mark.parametrize("events", [(), (CALL, END), ("no json at all",)])
def test_what_has_no_start_is_no_trace(tmp_path, events):
    with pytest.raises(MalformedError, match=r"no trace_start line|line 1"):
        trace_of(tmp_path, *events).record()
