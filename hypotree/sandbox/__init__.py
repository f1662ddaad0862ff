"""Boxes for code that is not ours: no writes but in a scratch folder, no network, bounded."""

from hypotree.sandbox.box import Box, Guard, enter

__all__ = ["Box", "Guard", "enter"]
