"""Open a session: read its YAML and journal it if it is not the one in force."""

from __future__ import annotations

from hypotree.digest import Digest
from hypotree.model.declaration import Declaration
from hypotree.model.event import DeclarationLoaded
from hypotree.model.verdict import Role
from hypotree.session.core import SessionCore, bound_kind, content_digest
from hypotree.session.yaml_file import read_declaration
from hypotree.tree.graph import check_parents, check_rivals
from hypotree.tree.replay import SessionState


def load_declaration(core: SessionCore) -> None:
    """Journal the session.yaml if it changed; a broken journal is left as it is."""
    declaration, digest = read_declaration(core.folder)
    if core.state.yaml_sha256 != digest and not core.journal.is_broken:
        hypotheses = {**core.state.hypotheses, **declaration.hypotheses}
        check_parents(hypotheses)
        check_rivals(hypotheses)
        contents = _contents(core, declaration)
        core.append(DeclarationLoaded(digest, declaration, contents, core.state.yaml_sha256))


def _contents(core: SessionCore, declaration: Declaration) -> dict[str, Digest]:
    """What each truth and observation holds at the moment in which it is declared."""
    declared = SessionState(symptom=declaration.symptom, hypotheses=dict(declaration.hypotheses))
    return {
        name: content_digest(core.folder, artifact, artifact.kind or bound_kind(name, declared))
        for name, artifact in declaration.artifacts.items()
        if artifact.role is not Role.SUBJECT
    }
