"""What is shown, as plain values: the screen and `hypotree show --tree` print the same lines."""
