"""QS k-anonymity: groups whose quasi-sensitive values cannot be told apart."""
