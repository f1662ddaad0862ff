"""Decides whether a fix may write. Pure: facts in, Permit or Refusal out; no file, no clock."""

from hypotree.gate.decision import Permit, admit
from hypotree.gate.facts import GateFacts, TruthFacts

__all__ = ["GateFacts", "Permit", "TruthFacts", "admit"]
