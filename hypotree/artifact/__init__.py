"""The read side: nothing in this package can write."""
