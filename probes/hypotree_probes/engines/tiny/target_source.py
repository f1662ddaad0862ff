"""The small engine's targets, and what its runner makes of the draft's config."""

from typing import Final

LLAMA: Final = """
from torch import nn

from sglang.srt.distributed import get_pp_group


class LlamaModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers_to_capture = []


class LlamaForCausalLM(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.config = config
        self.pp_group = get_pp_group()
        self.model = LlamaModel(config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if not self.pp_group.is_last_rank:
            return
        self.capture_aux_hidden_states = True
        if layer_ids is None:
            count = self.config.num_hidden_layers
            self.model.layers_to_capture = [2, count // 2, count - 3]
        else:
            self.model.layers_to_capture = [value + 1 for value in layer_ids]


EntryClass = [LlamaForCausalLM]
"""

WRAPPER: Final = """
from torch import nn

from sglang.srt.models.llama import LlamaForCausalLM


class KimiK25ForConditionalGeneration(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.config = config
        self.language_model = LlamaForCausalLM(config.text_config, quant_config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)


EntryClass = [KimiK25ForConditionalGeneration]
"""

RUNNER: Final = """
class ModelRunner:
    def __init__(self, draft_model_config):
        self.eagle_use_aux_hidden_state = True
        try:
            eagle_config = getattr(draft_model_config.hf_config, "eagle_config", None)
            self.eagle_use_aux_hidden_state = eagle_config.get("use_aux_hidden_state", True)
            self.eagle_aux_hidden_state_layer_ids = eagle_config[
                "eagle_aux_hidden_state_layer_ids"
            ]
        except Exception:
            self.eagle_aux_hidden_state_layer_ids = None
"""
