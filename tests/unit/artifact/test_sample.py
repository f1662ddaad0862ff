import pytest
import torch
from safetensors.torch import save_file

from hypotree.artifact.sample import Sample
from hypotree.errors import UnreadableError

T, H, AUX = 5, 4, 3


def bytes_of(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@pytest.fixture
def stack():
    return torch.arange(T * (AUX + 1) * H, dtype=torch.float32).reshape(T, AUX + 1, H)


def test_speculators_stack_is_split_into_aux_and_final(tmp_path, stack):
    path = tmp_path / "hs_0.safetensors"
    save_file({"hidden_states": stack, "token_ids": torch.arange(T)}, path)
    record = Sample(str(path)).record()
    assert record.aux.shape == (T, AUX * H)
    assert record.aux.data == bytes_of(stack[:, :AUX].reshape(T, -1))
    assert record.final.shape == (T, H)
    assert record.final.data == bytes_of(stack[:, AUX])
    assert record.tokens.integers() == list(range(T))
    assert record.handed_width == AUX * H


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_stack_of_halves_is_split_by_the_byte(tmp_path, stack, dtype):
    path = tmp_path / "hs_0.safetensors"
    save_file({"hidden_states": stack.to(dtype)}, path)
    record = Sample(str(path)).record()
    assert record.final.data == bytes_of(stack.to(dtype)[:, AUX])


def test_specforges_singular_keys_lose_their_batch_axis(tmp_path, stack):
    path = tmp_path / "0.ckpt"
    aux, final = stack[:, :AUX].reshape(1, T, -1), stack[:, AUX].reshape(1, T, H)
    torch.save(
        {"input_ids": torch.arange(T)[None], "aux_hidden_state": aux, "hidden_state": final}, path
    )
    record = Sample(str(path)).record()
    assert (record.tokens.shape, record.aux.shape, record.final.shape) == (
        (T,), (T, AUX * H), (T, H),
    )  # fmt: skip
    assert record.aux.data == bytes_of(aux)


def test_modelopts_file_is_read_as_it_is(tmp_path, stack):
    path = tmp_path / "conversation.pt"
    aux, final = stack[:, :AUX].reshape(T, -1), stack[:, AUX].contiguous()
    torch.save(
        {"input_ids": torch.arange(T), "aux_hidden_states": aux.clone(), "hidden_states": final},
        path,
    )
    record = Sample(str(path)).record()
    assert (record.aux.data, record.final.data) == (bytes_of(aux), bytes_of(final))


def test_a_final_state_alone_is_what_was_handed_over(tmp_path):
    path = tmp_path / "s.pt"
    torch.save({"hidden_states": torch.zeros(T, H)}, path)
    record = Sample(str(path)).record()
    assert (record.aux, record.handed_width) == (None, H)


@pytest.mark.parametrize(
    ("shape", "width"),
    [((0, 4, 4), 12), ((5, 1, 4), 4), ((5, 4, 0), 0), ((0,), 0), ((), None)],
)
def test_empty_and_flat_states_are_no_crash(tmp_path, shape, width):
    path = tmp_path / "s.pt"
    torch.save({"hidden_states": torch.zeros(shape)}, path)
    record = Sample(str(path)).record()
    assert record.final is not None
    assert record.handed_width == width


def test_a_sample_without_states_says_its_keys(tmp_path):
    path = tmp_path / "s.pt"
    torch.save({"loss_mask": torch.zeros(2)}, path)
    with pytest.raises(UnreadableError, match="no hidden states; its keys are loss_mask"):
        Sample(str(path)).record()


def test_a_bare_tensor_is_no_sample(tmp_path):
    path = tmp_path / "s.pt"
    torch.save(torch.zeros(2), path)
    with pytest.raises(UnreadableError, match="not a dict"):
        Sample(str(path)).record()


def test_the_file_is_noted_whole(tmp_path):
    path = tmp_path / "s.pt"
    torch.save({"hidden_states": torch.zeros(T, H)}, path)
    sample = Sample(str(path))
    sample.record()
    assert [(r.kind, r.name) for r in sample.reads] == [("file", "s.pt")]
