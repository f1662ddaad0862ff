"""hypotree inspect: look into a checkpoint, or compare two; no verdict is given."""

from __future__ import annotations

import click

from hypotree.cli.echo import out, out_json
from hypotree.cli.options import actor, json_option
from hypotree.cli.tui import has_screen
from hypotree.errors import EXIT_OK
from hypotree.tui.inspecting.compare import Pair, compare, with_bytes
from hypotree.tui.inspecting.numbers import head, is_numeric
from hypotree.tui.inspecting.source import Source, open_source
from hypotree.tui.inspecting.statistics import measure
from hypotree.tui.inspecting.text import (
    overview_lines,
    pair_line,
    statistics_lines,
    tensor_line,
    tensor_lines,
    values_lines,
)

_VALUES = 64


@click.command()
@click.argument("path")
@click.argument("other", required=False)
@click.option("--tensor", metavar="NAME", help="One tensor, with its statistics and first values.")
@click.option("--bytes", "with_digests", is_flag=True, help="Compare the bytes of two, too.")
@click.option("--text", "as_text", is_flag=True, help="Print, also at a terminal.")
@json_option
def inspect(
    path: str,
    other: str | None,
    tensor: str | None,
    with_digests: bool,
    as_text: bool,
    as_json: bool,
) -> int:
    """Browse the checkpoint at PATH: files, tensors, values, metadata, config.

    With OTHER the two are compared. Only headers are read until more is asked for.
    """
    if has_screen() and not (as_text or as_json or tensor):
        from hypotree.tui.app import run_inspector

        run_inspector(path, other or "", actor())
        return EXIT_OK
    source = open_source(path)
    if tensor is not None:
        _show_tensor(source, tensor, as_json=as_json)
    elif other is not None:
        _show_pairs(source, open_source(other), with_digests=with_digests, as_json=as_json)
    elif as_json:
        out_json(_as_value(source))
    else:
        for found in (*overview_lines(source), *map(tensor_line, source.tensors)):
            out(found.text)
    return EXIT_OK


def _show_tensor(source: Source, name: str, *, as_json: bool) -> None:
    row = source.tensor(name)
    file, can = source.file_of(row), is_numeric(row.dtype)
    found = measure(file, row) if can else None
    values = head(file, row, 0, _VALUES) if can else []
    if as_json:
        finite = [v if v == v and abs(v) != float("inf") else str(v) for v in values]
        out_json({"name": row.name, "dtype": row.dtype, "shape": row.shape, "file": row.file,
                  "bytes": row.size, "statistics": found, "values": finite})  # fmt: skip
        return
    for text in tensor_lines(row):
        out(text.text)
    for text in (*(statistics_lines(found) if found else ()), *values_lines(values, 0)):
        out(text.text)


def _show_pairs(left: Source, right: Source, *, with_digests: bool, as_json: bool) -> None:
    pairs: tuple[Pair, ...] = compare(left, right)
    if with_digests:
        pairs = tuple(with_bytes(pair, left, right) for pair in pairs)
    if as_json:
        out_json({"left": left.path, "right": right.path, "tensors": pairs})
        return
    for pair in pairs:
        out(pair_line(pair).text)


def _as_value(source: Source) -> object:
    return {
        "schema": "hypotree.inspect/1",
        "path": source.path,
        "files": source.files,
        "metadata": source.metadata,
        "config": source.config,
        "config_problem": source.config_problem,
        "tensors": [
            {"name": t.name, "dtype": t.dtype, "shape": t.shape, "file": t.file, "bytes": t.size}
            for t in source.tensors
        ],
    }
