"""The ledger: what an engine would do with each name, without any file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hypotree_probes.engines.coverage import Ledger, ledger
from hypotree_probes.engines.coverage_cases import HEALTHY_CONFIG, healthy_tensors
from hypotree_probes.engines.rules import rules_for
from hypotree_probes.engines.sizes import draft_sizes

NEW, OLD, VLLM = ("sglang", "0.5.23"), ("sglang", "0.5.10"), ("vllm", "0.33.0")


def account(
    engine: tuple[str, str],
    layer: str = "layers.0",
    change: Callable[[dict], object] | None = None,
    **config: object,
) -> Ledger:
    shapes = {name: value.shape for name, value in healthy_tensors(layer).items()}
    if change:
        change(shapes)
    facts = draft_sizes(HEALTHY_CONFIG | config)
    return ledger(shapes, rules_for(*engine, facts.architecture).rule, facts)


def prefixed(prefix: str) -> Callable[[dict], None]:
    def change(shapes: dict) -> None:
        held = dict(shapes)
        shapes.clear()
        shapes.update({prefix + name: shape for name, shape in held.items()})

    return change


def test_three_projections_fill_one_stacked_parameter() -> None:
    used = account(NEW).used
    for name in ("q_proj", "k_proj", "v_proj"):
        assert (
            used[f"layers.0.self_attn.{name}.weight"] == "model.layers.0.self_attn.qkv_proj.weight"
        )


def test_a_missing_part_leaves_the_stacked_parameter_unwritten() -> None:
    found = account(NEW, change=lambda s: s.pop("layers.0.self_attn.k_proj.weight"))
    assert [gap.parameter for gap in found.unwritten] == [
        "model.layers.0.self_attn.qkv_proj.weight"
    ]
    assert found.unwritten[0].missing == ("layers.0.self_attn.k_proj.weight",)


def test_a_tensor_that_is_stacked_on_disk_fills_the_whole_parameter() -> None:
    def stack(shapes: dict) -> None:
        for name in ("q_proj", "k_proj", "v_proj"):
            del shapes[f"layers.0.self_attn.{name}.weight"]
        shapes["layers.0.self_attn.qkv_proj.weight"] = (16, 16)

    assert account(NEW, change=stack).unwritten == ()


def test_sglang_takes_names_with_and_without_the_model_prefix_but_not_its_own_head() -> None:
    found = account(NEW, change=prefixed("model."))
    assert found.dropped == ("model.lm_head.weight",)
    assert found.renames == {"model.lm_head.weight": "lm_head.weight"}
    assert found.lacks_head


def test_vllm_wants_no_model_prefix_and_every_name_without_it_is_found() -> None:
    found = account(VLLM, change=prefixed("model."))
    assert found.renames["model.layers.0.mlp.up_proj.weight"] == "layers.0.mlp.up_proj.weight"
    assert found.renames["model.d2t"] == "d2t"
    assert set(found.renames) == set(found.dropped)


def test_a_wrong_prefix_on_everything_is_found_and_the_map_is_still_taken() -> None:
    found = account(NEW, change=prefixed("draft_model."))
    assert found.maps == ("draft_model.d2t",)
    assert len(found.renames) == 13
    assert found.renames["draft_model.fc.weight"] == "fc.weight"


def test_no_renaming_is_offered_for_part_of_a_parameter() -> None:
    def change(shapes: dict) -> None:
        prefixed("x.")(shapes)
        del shapes["x.layers.0.self_attn.v_proj.weight"]

    renames = account(NEW, change=change).renames
    assert "x.layers.0.self_attn.q_proj.weight" not in renames
    assert "x.layers.0.mlp.gate_proj.weight" in renames


def test_no_renaming_is_offered_to_a_tensor_of_another_shape() -> None:
    def change(shapes: dict) -> None:
        shapes["x.norm.weight"] = (99,)
        del shapes["norm.weight"]

    found = account(NEW, change=change)
    assert found.renames == {}
    assert [gap.parameter for gap in found.unwritten] == ["model.norm.weight"]


def test_two_tensors_for_one_place_make_the_renaming_ambiguous() -> None:
    def change(shapes: dict) -> None:
        del shapes["norm.weight"]
        shapes["x.norm.weight"] = shapes["y.norm.weight"] = (8,)

    found = account(NEW, change=change)
    assert found.is_ambiguous
    assert found.renames == {}


def test_t2d_and_rotary_tables_are_passed_over_and_never_dropped() -> None:
    found = account(NEW, change=lambda s: s.update({"layers.0.rotary_emb.inv_freq": (2,)}))
    assert found.dropped == ()
    assert set(found.skipped) == {"t2d", "layers.0.rotary_emb.inv_freq"}


@pytest.mark.parametrize(
    ("engine", "dropped"),
    [(("sglang", "0.5.16"), ("input_norm.weight",)), (("sglang", "0.5.17"), ())],
)
def test_input_norm_has_a_parameter_since_sglang_0_5_17(
    engine: tuple[str, str], dropped: tuple[str, ...]
) -> None:
    def change(shapes: dict) -> None:
        shapes["input_norm.weight"] = (24,)

    found = account(engine, change=change, eagle_config={"norm_before_fc": True})
    assert found.dropped == dropped


def test_legacy_norm_names_are_renamed_by_the_engine_itself() -> None:
    def change(shapes: dict) -> None:
        for name in ("low", "mid", "high"):
            shapes[f"aux_norm_{name}.weight"] = (8,)

    found = account(NEW, "midlayer", change, use_aux_norm=True)
    assert found.dropped == ()
    assert found.unwritten == ()


@pytest.mark.parametrize(
    ("engine", "missing", "is_fault"),
    [
        (NEW, "hidden_norm", True),
        (NEW, "input_layernorm", False),
        (VLLM, "hidden_norm", False),
        (VLLM, "input_layernorm", True),
    ],
)
def test_engines_differ_in_which_norm_a_second_layer_uses(
    engine: tuple[str, str], missing: str, is_fault: bool
) -> None:
    def change(shapes: dict) -> None:
        for name, shape in list(shapes.items()):
            if name.startswith("layers.0."):
                narrow = tuple(8 if size == 16 and "attn" in name else size for size in shape)
                shapes[name.replace("layers.0", "layers.1")] = narrow
        del shapes[f"layers.1.{missing}.weight"]

    found = account(engine, change=change, num_hidden_layers=2)
    assert [gap.parameter for gap in found.unwritten] == (
        [f"model.layers.1.{missing}.weight"] if is_fault else []
    )
    assert found.misshapen == ()


def test_a_draft_with_biases_loses_them_on_sglang_and_keeps_them_on_vllm() -> None:
    def change(shapes: dict) -> None:
        shapes["layers.0.self_attn.o_proj.bias"] = (8,)
        for name, rows in (("q", 8), ("k", 4), ("v", 4)):
            shapes[f"layers.0.self_attn.{name}_proj.bias"] = (rows,)

    assert len(account(NEW, change=change, attention_bias=True).dropped) == 3
    assert account(VLLM, change=change, attention_bias=True).dropped == ()


def test_the_kimi_draft_takes_either_layer_name_and_fuses_its_down_projection() -> None:
    facts = draft_sizes(HEALTHY_CONFIG | {"architectures": ["Eagle3DeepseekV2ForCausalLM"]})
    rule = rules_for("sglang", "0.5.23", facts.architecture).rule
    shapes = {
        f"{layer}.self_attn.{name}.weight": (4, 16)
        for layer in ("layers.0",)
        for name in ("q_a_proj", "kv_a_proj_with_mqa")
    }
    found = ledger(shapes, rule, facts)
    fused = "model.midlayer.self_attn.fused_qkv_a_proj_with_mqa.weight"
    assert set(found.used.values()) == {fused}
    assert fused not in {gap.parameter for gap in found.unwritten}
