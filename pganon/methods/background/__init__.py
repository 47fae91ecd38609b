"""Classes whose members have similar priors, against readers with background knowledge."""
