"""The founding incident, made anew: artifacts of the real format at a small hidden size, and its story."""
