"""What the keys of the main screen do; one function a command."""
