"""A run from its beginning to its row in the ledger: preconditions, execution, judgement."""
