"""The page of a comparison: candidates for a release side by side, measured by dry runs."""
