"""What a user can do with a session; the only thing that front ends call."""

from hypotree.session.session import Session

__all__ = ["Session"]
