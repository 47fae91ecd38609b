"""What several families share: the base of a method, rounds, blocks, and parts of forms."""
