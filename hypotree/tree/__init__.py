"""The tree of hypotheses: a fold over the journal, and questions about its shape."""
