"""Work tables of a run that knows who is new."""

WHOLE = "everybody"
"""Every record of the source, as :data:`pganon.encode.work.SNAP` has it, and `person`."""

PENDING = "pending"
"""Those of people who were never released and are in no cohort; see :mod:`.regions`."""
