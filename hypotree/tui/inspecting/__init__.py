"""Look into checkpoints: headers at once, bytes only when they are asked for. No verdict in it."""
