"""Methods of anonymization by family, and the registry of all of them."""
