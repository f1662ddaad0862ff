"""The append-only record of everything that happened: one JSON line an event, hash-chained."""
