"""Probes over EAGLE-3 draft checkpoints."""
