"""Changes of sources since a policy was written, or a release made."""
