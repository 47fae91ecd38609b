"""What has changed since a policy was written, or a release made."""
