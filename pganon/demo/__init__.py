"""`pganon demo`: a hospital, a release, what an analyst sees, and a refusal."""
