"""Frozen values: what is recorded, compared and shown. Nothing here reads a file or decides."""
