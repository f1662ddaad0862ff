"""A session as a document that others can read."""
