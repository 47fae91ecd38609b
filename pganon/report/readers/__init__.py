"""The edition for readers: made of what they can read themselves, and of nothing else."""
