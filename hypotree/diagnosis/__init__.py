"""From a pile of files to the cause: discovery, playbook, reasoning over findings."""

from hypotree.diagnosis.diagnose import Request, carry_out, diagnose
from hypotree.diagnosis.run import Outcome, Watcher
from hypotree.diagnosis.values import Diagnosed, Diagnosis

__all__ = ["Diagnosed", "Diagnosis", "Outcome", "Request", "Watcher", "carry_out", "diagnose"]
