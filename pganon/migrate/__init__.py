"""Release migrations: numbered files that make releases, up and down, and parts of other tools."""
