"""The policies of the demo, as a steward would write them."""

from __future__ import annotations

import functools

PUBLISHED = """\
# Admissions of a hospital, for the analysts of the health ministry.
release: admissions
source: hospital.patient
columns:
  patient_no: {role: identifying}
  name: {role: identifying}
  age: {role: quasi_identifying}
  sex: {role: quasi_identifying}
  zip: {role: quasi_identifying, hierarchy: {prefix: [4, 3]}}
  diagnosis: {role: sensitive}
  days: {role: insensitive}
privacy:
  - {model: k_anonymity, k: 10}
  - {model: distinct_l_diversity, column: diagnosis, l: 4}
method: {name: one_dimensional}
publish: {schema: published, readers: [demo_analyst], keep: 3}
"""

_OTHER = (
    ("release: admissions", "release: admissions_even"),
    (
        "  - {model: distinct_l_diversity, column: diagnosis, l: 4}",
        "  - {model: entropy_l_diversity, column: diagnosis, l: 18}",
    ),
    # Else it were refused at once: other classes of the same patients could be intersected.
    ("publish:", "republication: warn\npublish:"),
)

REFUSED = functools.reduce(lambda text, other: text.replace(*other), _OTHER, PUBLISHED)

_ON_REQUEST = (
    (
        "# Admissions of a hospital, for",
        "# The same classes under another name, made when asked for by",
    ),
    ("release: admissions", "release: hospital_stays"),
    ("publish:", "requests: {roles: [demo_analyst], max_per_day: 10}\npublish:"),
)

REQUESTED = functools.reduce(lambda text, other: text.replace(*other), _ON_REQUEST, PUBLISHED)
