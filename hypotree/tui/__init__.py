"""The terminal UI: a lab bench for hypotheses. Only its widgets, screens and app import textual."""
