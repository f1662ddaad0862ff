"""YAML with its traps taken out: bombs, objects, double keys, dates and endless numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import yaml

from hypotree.artifact.plain import plain
from hypotree.errors import LimitError, MalformedError

if TYPE_CHECKING:
    from hypotree.artifact.documents import Limits

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:  # the C loader where libyaml is there: ten times as fast
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PREFIX: Final = "tag:yaml.org,2002:"
_PLAIN: Final = frozenset(
    _PREFIX + kind for kind in ("null", "bool", "int", "float", "str", "seq", "map", "merge")
)
#: `1:1:1…` is a number to YAML 1.1, and a long one takes minutes to add up.
_MAX_DIGITS: Final = 256


class _Loader(_Base):
    """SafeLoader in which a date is text and `=` no value of its own."""


_Loader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0] in _PLAIN]
    for first, rules in _Base.yaml_implicit_resolvers.items()
}


def load(text: str, limits: Limits, asked: str) -> object:
    """The one document in `text`; `MalformedError` or `LimitError` as `read_yaml` says."""
    try:
        _count_events(text, limits, asked)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_node(node, limits, asked)
        value: object = loader.construct_document(node)
        return value
    except RecursionError as error:
        raise LimitError(asked, f"it is nested more than {limits.depth} deep") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        found = _words(error)
        if "nesting depth" in found:  # libyaml's own limit of 1000, met before ours is asked
            raise LimitError(asked, found) from error
        raise MalformedError(asked, found, "correct the file") from error


def _count_events(text: str, limits: Limits, asked: str) -> None:
    """Bounds before anything is built: composing recurses, parsing into events does not."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent, yaml.CollectionStartEvent)):
            nodes += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > limits.depth or nodes > 2 * limits.nodes:
            raise LimitError(asked, f"more than {limits.depth} levels or {limits.nodes} values")


def _check_node(root: yaml.Node, limits: Limits, asked: str) -> None:
    """Walks the graph as a tree, level by level: an alias costs what it stands for."""
    level, nodes = [root], 0
    for _ in range(limits.depth + 1):
        nodes += len(level)
        if nodes + sum(len(n.value) for n in level if not isinstance(n, yaml.ScalarNode)) > (
            2 * limits.nodes
        ):
            raise LimitError(asked, f"with its aliases it holds more than {limits.nodes} values")
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise LimitError(asked, f"it is nested more than {limits.depth} deep, or refers to itself")


def _children(node: yaml.Node) -> list[yaml.Node]:
    """The nodes below `node`, after a check of the node itself."""
    if node.tag not in _PLAIN:
        _refuse(node, f"the tag {plain(str(node.tag))} makes something else than plain data")
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if not isinstance(node, yaml.MappingNode):
        is_number = node.tag in (_PREFIX + "int", _PREFIX + "float")
        if is_number and len(node.value) > _MAX_DIGITS:
            _refuse(node, f"a number of {len(node.value)} characters")
        return []
    keys = [(key.tag, key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    if len(set(keys)) != len(keys):
        (_, twice), _ = Counter(keys).most_common(1)[0]
        _refuse(node, f"the key {plain(twice)} stands there twice")
    return [child for pair in node.value for child in pair]


def _refuse(node: yaml.Node, found: str) -> None:
    message = f"line {node.start_mark.line + 1}: {found}"
    raise ValueError(message)


def _words(error: Exception) -> str:
    """What the parser says and on which line, without its picture of the text."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return plain(str(error))
    return f"line {mark.line + 1}: {plain(str(getattr(error, 'problem', error)))}"
