"""Parts of utility metrics that several families have."""
