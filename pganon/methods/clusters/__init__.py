"""QS k-anonymity: clusters of records with at least k combinations of quasi-sensitive values."""
