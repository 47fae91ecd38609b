"""Kinds of identifiers that names and types of columns speak for."""

from __future__ import annotations

import pytest

from pganon.catalog.model import Kind
from pganon.policy.safe_harbor import KINDS, by_name, by_type, is_age
from tests.unit.resolved.registry import column


def test_the_kinds_are_those_of_the_rule() -> None:
    assert "".join(KINDS) == "ABCDEFGHIJKLMNOPQR"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("A", "name firstName last_name maiden_name surname initials"),
        ("B", "city ZipCode home_address street county lat county_name birth_city"),
        ("C", "dob date_of_birth birthdate admitted discharged"),
        ("D", "phone telephone_no mobile cellphone"),
        ("E", "fax_number"),
        ("F", "email e_mail email_address"),
        ("G", "ssn socialSecurityNumber"),
        ("H", "mrn medical_record_no patient_id"),
        ("I", "health_plan_id member_no beneficiary"),
        ("J", "account_number iban card_no account_name"),
        ("K", "license_no certificate passport"),
        ("L", "vin license_plate vehicle_id"),
        ("M", "device_id serial_no mac_address"),
        ("N", "url web_site"),
        ("O", "ip ip_address"),
        ("P", "fingerprint voice_print"),
        ("Q", "photo"),
        ("R", "id person_id uuid token login user_name"),
        ("", "sex zone diagnosis stage card salary capacity facet updated native_country"),
    ],
)
def test_names(kind: str, names: str) -> None:
    for name in names.split():
        assert "".join(hint.kind for hint in by_name(name)) == kind, name


@pytest.mark.parametrize(
    ("kind", "base", "kinds"),
    [
        ("unsupported", "bytea", "PQ"),
        ("unsupported", "inet", "O"),
        ("unsupported", "macaddr", "M"),
        ("date", "date", "C"),
        ("integer", "integer", ""),
    ],
)
def test_types(kind: Kind, base: str, kinds: str) -> None:
    assert "".join(hint.kind for hint in by_type(column("c", kind, base))) == kinds


def test_ages_may_have_letters_around_them() -> None:
    assert [is_age(name) for name in ("age", "AGEP", "age_years", "wage", "stage", "pages")] == [
        *(True, True, True),
        *(False, False, False),
    ]
