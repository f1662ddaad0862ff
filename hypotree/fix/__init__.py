"""From a declared fix to replaced bytes: edits, plan, stage, swap, undo."""
