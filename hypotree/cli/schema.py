"""hypotree schema: the JSON schema of what commands print and of what people write."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import click

from hypotree.cli.echo import out_json
from hypotree.digest import Digest

#: What can be asked for, and the type that it is.
_TYPES: Final = {
    "diagnosis": ("hypotree.diagnosis.values", "Diagnosis"),
    "evidence": ("hypotree.model.evidence", "Evidence"),
    "session": ("hypotree.session.snapshot", "SessionView"),
    "playbook": ("hypotree.diagnosis.playbook", "Playbook"),
}


@click.command()
@click.argument("what", type=click.Choice(list(_TYPES)))
def schema(what: str) -> int:
    """Print a JSON schema: of diagnose --json, probe run --json, show --json, or a playbook."""
    import msgspec

    module, name = _TYPES[what]
    kind = getattr(import_module(module), name)
    out_json(msgspec.json.schema(kind, schema_hook=_digest_schema))
    return 0


def _digest_schema(kind: type) -> dict[str, Any]:
    """A digest is written as its hex digits."""
    if kind is Digest:
        return {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    message = f"{kind.__name__} has no JSON schema"
    raise NotImplementedError(message)
