"""A changed field leaves every other byte of a config as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypotree.errors import MisuseError
from hypotree.fix.json_text import delete_field, set_field

CONFIG = """{
  "architectures": [
    "LlamaForCausalLMEagle3"
  ],
  "eagle_config": {
    "eagle_aux_hidden_state_layer_ids": [
      2,
      30,
      58
    ],
    "use_aux_hidden_state": false
  },
  "rope_theta": 1e4,
  "naïve": "ü"
}
"""


def test_only_the_value_changes() -> None:
    new = set_field(CONFIG, ["eagle_config", "use_aux_hidden_state"], value=True)
    assert new == CONFIG.replace("false", "true")


def test_a_number_is_not_rewritten_in_passing() -> None:
    assert '"rope_theta": 1e4' in set_field(CONFIG, ["naïve"], "o")


def test_a_new_field_goes_last_in_the_files_own_style() -> None:
    new = set_field(CONFIG, ["draft_vocab_size"], 32000)
    assert new == CONFIG.replace('"ü"\n}', '"ü",\n  "draft_vocab_size": 32000\n}')


def test_a_list_is_indented_like_the_file() -> None:
    new = set_field(CONFIG, ["eagle_config", "eagle_aux_hidden_state_layer_ids"], [1, 29, 57])
    assert new == CONFIG.replace("2,\n      30,\n      58", "1,\n      29,\n      57")


@pytest.mark.parametrize("path", [["rope_theta"], ["naïve"], ["architectures"]])
def test_a_deleted_field_takes_its_comma_with_it(path: list[str]) -> None:
    expected = json.loads(CONFIG)
    del expected[path[0]]
    assert json.loads(delete_field(CONFIG, path)) == expected


def test_the_only_field_can_be_deleted_and_one_added_to_an_empty_object() -> None:
    assert delete_field('{"a": 1}', ["a"]) == "{}"
    assert set_field("{}", ["a"], 1) == '{"a": 1}'


@pytest.mark.parametrize("path", [["missing", "x"], ["rope_theta", "x"], []])
def test_a_path_that_leads_nowhere_is_refused(path: list[str]) -> None:
    with pytest.raises(MisuseError):
        set_field(CONFIG, path, 1)


def test_a_missing_field_cannot_be_deleted() -> None:
    with pytest.raises(MisuseError, match="no such field"):
        delete_field(CONFIG, ["missing"])


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5), KEYS, VALUES, st.sampled_from([None, 1, 2, 4]))
def test_setting_a_field_sets_that_field_and_keeps_the_order(
    document: dict[str, Any], key: str, value: Any, indent: int | None
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    new = set_field(text, [key], value)
    assert json.loads(new) == {**document, key: value}
    assert list(json.loads(new)) == list({**document, key: value})


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5), st.data(), st.sampled_from([None, 2]))
def test_deleting_a_field_deletes_that_field(
    document: dict[str, Any], data: st.DataObject, indent: int | None
) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    new = delete_field(json.dumps(document, indent=indent, ensure_ascii=False), [key])
    assert json.loads(new) == {k: v for k, v in document.items() if k != key}
