"""The third-party API: what a probe is, what it is given, and how it is found and run."""

from hypotree.probe.api import PROBE_GROUP, Case, Fault, Input, Probe, ProbeContext

__all__ = ["PROBE_GROUP", "Case", "Fault", "Input", "Probe", "ProbeContext"]
