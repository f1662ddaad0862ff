"""What an engine does with a draft checkpoint: by rule files, later by running its own source."""
