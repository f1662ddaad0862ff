"""hypotree: debug draft checkpoints by hypotheses that must be confirmed before a fix may write."""

__version__ = "0.1.0"
