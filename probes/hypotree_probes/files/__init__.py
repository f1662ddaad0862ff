"""Probes over checkpoint files and tensor values, whatever model they hold."""
