"""Parts of several families: the base of a method, rounds, blocks, and parts of forms."""
