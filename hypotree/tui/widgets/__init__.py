"""The parts of the screen; none of them decides anything."""
