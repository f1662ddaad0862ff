"""hypotree diff A B: what differs between two checkpoints, sharded or not, or a manifest."""

from __future__ import annotations

import click

from hypotree.artifact.plain import plain
from hypotree.artifact.weights import SCHEMA, Manifest, Weights
from hypotree.artifact.weights_diff import WeightsDiff, diff_weights
from hypotree.cli.echo import out, out_json
from hypotree.cli.options import json_option
from hypotree.errors import EXIT_FAULT, EXIT_OK, MisuseError

_SHOWN = 20


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@click.option("--manifest", is_flag=True, help="Print the digests of A as a manifest, no B.")
@json_option
def diff(a: str, b: str | None, manifest: bool, as_json: bool) -> int:
    """Compare two checkpoints by the content of their tensors.

    A and B are folders, files, or manifests that `--manifest` printed. Shards do not matter, names
    do. Exit code 0: the same tensors; 1: they differ; 2: one cannot be read.
    """
    if manifest:
        if b is not None:
            raise MisuseError("printing a manifest", "two checkpoints were given", "give one")
        out_json(Manifest(SCHEMA, dict(Weights(a).entries())))
        return EXIT_OK
    if b is None:
        raise MisuseError("comparing checkpoints", "only one was given", "hypotree diff A B")
    found = diff_weights(Weights(a), Weights(b))
    if as_json:
        out_json(found)
    else:
        _print(found)
    return EXIT_OK if found.is_empty else EXIT_FAULT


def _print(found: WeightsDiff) -> None:
    lines = [f"  changed  {plain(c.name)}: {c.how}, {plain(c.detail)}" for c in found.changed]
    lines += [f"  renamed  {plain(old)} -> {plain(new)}" for old, new in found.renamed]
    lines += [f"  added    {plain(name)}" for name in found.added]
    lines += [f"  gone     {plain(name)}" for name in found.gone]
    for line in lines[:_SHOWN]:
        out(line)
    if len(lines) > _SHOWN:
        out(f"  and {len(lines) - _SHOWN} more; --json shows all")
    out(found.words())
