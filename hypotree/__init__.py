"""hypotree: debug draft checkpoints by hypotheses that must be confirmed before a fix may write."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which costs 5 ms
if TYPE_CHECKING:
    from hypotree.diagnosis.diagnose import diagnose

__version__ = "0.1.0"
__all__ = ["diagnose"]


def __getattr__(name: str) -> object:
    """`hypotree.diagnose` is imported when it is first asked for (PEP 562)."""
    if name != "diagnose":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from hypotree.diagnosis.diagnose import diagnose

    return diagnose
