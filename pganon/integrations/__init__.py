"""Parts for other tools, each imported by the tool that it is for."""
