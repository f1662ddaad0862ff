"""aux-width: is fc as wide as what it is handed, and is it run?"""

from __future__ import annotations

import json

import pytest
from probe_asking import (
    GUESS,
    TRUTH,
    ask,
    assert_case,
    case_params,
    stale_reads,
    verdict,
    why,
    write_lines,
)

from hypotree.model.verdict import Authority, Verdict
from hypotree_probes.eagle3.aux_width import AuxWidth
from hypotree_probes.eagle3.aux_width_cases import (
    H,
    plant_head,
    plant_log,
    plant_sample,
    plant_target,
    plant_trace,
)
from hypotree_probes.planting import blank, plant_checkpoint

MISMATCH, BYPASSED, DISABLED = "fusion.width-mismatch", "fusion.bypassed", "aux.capture-disabled"
IDS = "eagle_aux_hidden_state_layer_ids"
OFF = {"use_aux_hidden_state": False}


@pytest.mark.parametrize("case", case_params(AuxWidth))
def test_every_planted_fault_is_confirmed_and_its_twin_is_not(case):
    assert_case(AuxWidth, case)


def traced(folder, *events, hooks=("model.fc", "model.midlayer"), whole=True):
    """A head and a trace of these calls."""
    end = [{"event": "trace_end", "calls": len(events)}] if whole else []
    lines = [{"event": "trace_start", "hooks": hooks}, *events, *end]
    trace = write_lines(folder / "t.jsonl", *map(json.dumps, lines))
    return ask(AuxWidth, plant_head(folder) | {"trace": trace})


def logged(folder, *lines):
    """A head and a log of these lines."""
    return ask(AuxWidth, plant_head(folder) | {"log": write_lines(folder / "server.log", *lines)})


def call(phase, module, *shapes):
    return {
        "event": "module_call", "call": 0, "phase": phase, "module": module, "in_shapes": shapes,
    }  # fmt: skip


# -- the layer's width -----------------------------------------------------------


def test_four_ids_with_a_three_state_fc_are_a_mismatch_by_the_target(tmp_path):
    given = plant_head(tmp_path, 3, {IDS: [1, 5, 9, 13]}) | plant_target(tmp_path)
    found = ask(AuxWidth, given).finding(MISMATCH)
    assert (found.verdict, found.authority, found.truth) == (Verdict.CONFIRMED, TRUTH, ("target",))
    assert "48" in found.why
    assert "64" in found.why


def test_without_a_target_a_mismatch_is_only_a_suspicion(tmp_path):
    found = ask(AuxWidth, plant_head(tmp_path, 3, {IDS: [1, 5, 9, 13]})).finding(MISMATCH)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_without_a_target_a_fitting_width_is_only_the_drafts_own_word(tmp_path):
    found = ask(AuxWidth, plant_head(tmp_path)).finding(MISMATCH)
    assert (found.verdict, found.authority) == (Verdict.REFUTED, GUESS)


def test_a_head_that_takes_one_state_needs_no_fc(tmp_path):
    given = plant_head(tmp_path, 0, {IDS: [13]}) | plant_target(tmp_path)
    assert {f.verdict for f in ask(AuxWidth, given).findings} == {Verdict.REFUTED}


def test_a_missing_fc_that_is_needed_is_left_open(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path, 0) | plant_target(tmp_path))
    assert verdict(evidence, MISMATCH) is Verdict.INCONCLUSIVE


def test_an_eagle_1_head_is_not_measured_by_eagle_3_rules(tmp_path):
    tensors = {"fc.weight": blank("F32", H, 2 * H)}
    config = {"architectures": ["LlamaForCausalLMEagle"], "hidden_size": H}
    evidence = ask(AuxWidth, {"draft": plant_checkpoint(tmp_path, tensors, config)})
    assert {f.verdict for f in evidence.findings} == {Verdict.NOT_RUN}


def test_a_packed_fc_is_not_taken_for_a_narrow_one(tmp_path):
    tensors = {"fc.weight": blank("U8", H, 3 * H // 2)}
    given = {"draft": plant_checkpoint(tmp_path, tensors, {"hidden_size": H})}
    assert verdict(ask(AuxWidth, given), MISMATCH) is Verdict.INCONCLUSIVE


# -- whether it is run -----------------------------------------------------------


def test_a_skipped_fc_is_shown_with_both_widths_and_the_line(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path) | plant_trace(tmp_path, fused=False))
    found = evidence.finding(BYPASSED)
    assert found.truth == ("trace",)
    assert (found.locators[0].line, found.locators[0].tensor) == (2, "model.midlayer")
    assert evidence.measures == {"fc_in_features": 48, "observed_width": 16}
    assert "48" in evidence.summary
    assert "16" in evidence.summary


def test_without_any_observation_nothing_is_said_about_running(tmp_path):
    assert verdict(ask(AuxWidth, plant_head(tmp_path)), BYPASSED) is Verdict.NOT_RUN


def test_recurrent_steps_without_fc_are_normal(tmp_path):
    evidence = traced(
        tmp_path,
        call("draft_extend", "model.fc", [5, 3 * H]),
        call("draft_extend", "model.midlayer", [5, H]),
        call("draft_extend", "model.midlayer", [2, H]),
        call("draft_decode", "model.midlayer", [1, H]),
    )
    assert verdict(evidence, BYPASSED) is Verdict.REFUTED


def test_recurrent_steps_alone_do_not_exercise_fc(tmp_path):
    evidence = traced(tmp_path, call("draft_decode", "model.midlayer", [1, H]))
    assert verdict(evidence, BYPASSED) is Verdict.NOT_EXERCISED


def test_a_trace_of_the_target_only_does_not_exercise_fc(tmp_path):
    evidence = traced(tmp_path, call("target_verify", "model.layers.0", [1, H]))
    assert verdict(evidence, BYPASSED) is Verdict.NOT_EXERCISED


def test_a_trace_whose_hooks_never_fired_is_invalid(tmp_path):
    assert verdict(traced(tmp_path), BYPASSED) is Verdict.INVALID


def test_a_trace_that_is_cut_off_is_no_evidence_of_absence(tmp_path):
    evidence = traced(tmp_path, call("draft_extend", "model.midlayer", [5, H]), whole=False)
    assert verdict(evidence, BYPASSED) is Verdict.INCONCLUSIVE


def test_an_fc_without_a_hook_cannot_be_missed(tmp_path):
    layer = call("draft_extend", "model.midlayer", [5, H])
    evidence = traced(tmp_path, layer, hooks=("model.midlayer",))
    assert verdict(evidence, BYPASSED) is Verdict.INCONCLUSIVE


def test_wide_states_beside_a_silent_fc_contradict_each_other(tmp_path):
    evidence = traced(tmp_path, call("draft_extend", "model.midlayer", [5, 3 * H]))
    assert verdict(evidence, BYPASSED) is Verdict.INCONCLUSIVE


def test_an_fc_of_another_width_shows_that_the_trace_is_of_another_draft(tmp_path):
    evidence = traced(tmp_path, call("draft_extend", "model.fc", [5, 7]))
    assert verdict(evidence, BYPASSED) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "printed",
    [
        f"hidden_states.shape=torch.Size([5, {H}])",
        f"hidden_states: (5, {H})",
        f"hidden_states shape: [5, {H}]",
        f"spec_info.hidden_states.shape torch.Size([5, {H}])",
    ],
)
def test_every_usual_print_of_a_shape_is_read(tmp_path, printed):
    found = logged(tmp_path, "start", f"INFO {printed} dtype=bf16").finding(BYPASSED)
    assert (found.verdict, found.truth) == (Verdict.CONFIRMED, ("log",))
    assert found.locators[0].line == 2


def test_a_log_without_shapes_contributes_nothing(tmp_path):
    evidence = logged(tmp_path, f"aux_hidden_states.shape=[5, {H}]", "hello")
    assert verdict(evidence, BYPASSED) is Verdict.NOT_RUN


def test_one_wide_state_clears_a_log_that_also_shows_recurrent_ones(tmp_path):
    wide, narrow = f"hidden_states: (5, {3 * H})", f"hidden_states: (1, {H})"
    assert verdict(logged(tmp_path, narrow, wide, narrow), BYPASSED) is Verdict.REFUTED


def test_observations_that_disagree_decide_nothing_and_are_named(tmp_path):
    given = plant_head(tmp_path) | plant_trace(tmp_path, fused=True) | plant_log(tmp_path, H)
    found = ask(AuxWidth, given).finding(BYPASSED)
    assert (found.verdict, found.authority) == (Verdict.INCONCLUSIVE, Authority.NONE)
    assert "trace:" in found.why
    assert "log:" in found.why


def test_observations_that_agree_are_all_named_as_the_truth(tmp_path):
    given = plant_head(tmp_path) | plant_sample(tmp_path, H) | plant_log(tmp_path, H)
    assert ask(AuxWidth, given).finding(BYPASSED).truth == ("log", "sample")


def test_a_sample_of_another_model_decides_nothing(tmp_path):
    given = plant_head(tmp_path) | plant_sample(tmp_path, 7)
    assert verdict(ask(AuxWidth, given), BYPASSED) is Verdict.INCONCLUSIVE


# -- whether the config asks for it ----------------------------------------------


def test_a_flag_that_the_engine_obeys_disables_and_bypasses(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path, 3, OFF) | {"engine": "sglang@0.5.12"})
    for fault in (DISABLED, BYPASSED):
        found = evidence.finding(fault)
        assert (found.verdict, found.truth) == (Verdict.CONFIRMED, ("engine",))


def test_a_flag_that_the_engine_does_not_read_disables_nothing(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path, 3, OFF) | {"engine": "sglang@0.5.6"})
    assert verdict(evidence, DISABLED) is Verdict.REFUTED
    assert verdict(evidence, BYPASSED) is Verdict.NOT_RUN


def test_a_flag_at_top_level_is_where_no_engine_looks(tmp_path):
    tensors = {"fc.weight": blank("F32", H, 3 * H)}
    draft = plant_checkpoint(tmp_path, tensors, {"hidden_size": H, **OFF})
    evidence = ask(AuxWidth, {"draft": draft, "engine": "sglang@0.5.12"})
    assert verdict(evidence, DISABLED) is Verdict.REFUTED


@pytest.mark.parametrize("more", [{}, {"engine": "trtllm"}, {"engine": "vllm@0.9.0"}])
def test_a_flag_that_may_not_be_read_is_only_a_suspicion(tmp_path, more):
    found = ask(AuxWidth, plant_head(tmp_path, 3, OFF) | more).finding(DISABLED)
    assert (found.verdict, found.authority) == (Verdict.CONFIRMED, GUESS)


def test_a_flag_against_a_trace_in_which_fc_ran_decides_nothing(tmp_path):
    given = plant_head(tmp_path, 3, OFF) | plant_trace(tmp_path, fused=True)
    evidence = ask(AuxWidth, given | {"engine": "sglang@0.5.12"})
    assert verdict(evidence, DISABLED) is Verdict.INCONCLUSIVE
    assert "trace" in why(evidence, DISABLED)


def test_heads_without_fc_may_switch_capture_off(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path, 0, OFF) | {"engine": "vllm@0.33.0"})
    assert {f.verdict for f in evidence.findings} == {Verdict.REFUTED}


# -- freshness and hostile input -------------------------------------------------


def test_only_what_was_read_makes_the_evidence_stale(tmp_path):
    evidence = ask(AuxWidth, plant_head(tmp_path) | plant_target(tmp_path))
    config = tmp_path / "draft" / "config.json"
    assert stale_reads(evidence) == []
    config.write_text(config.read_text().replace("16", "17"))
    assert stale_reads(evidence) == ["draft: file config.json"]


def test_names_in_a_trace_cannot_move_the_cursor(tmp_path):
    evidence = traced(tmp_path, call("draft_\x1b[2J", "x\x1b[31m.midlayer", [5, H]))
    assert verdict(evidence, BYPASSED) is Verdict.CONFIRMED
    assert "\x1b" not in why(evidence, BYPASSED) + evidence.summary


def test_a_hostile_line_is_read_in_bounded_time(tmp_path):
    line = "hidden_states" + " " * 30_000 + "hidden_states(" + "1," * 60_000
    assert logged(tmp_path, line, "hidden_states" * 4_000).seconds < 2
