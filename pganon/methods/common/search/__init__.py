"""Pure functions that several families search with."""
