"""Policies of related tables: what they come to, and every refusal that needs no catalog."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy, policy_from
from pganon.policy.model import policy_hash
from tests.support.sources import wards

CODE = {"role": "sensitive"}


def found(data: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(PolicyError) as raised:
        policy_from(data)
    return {problem.field: problem.message for problem in raised.value.problems}


def changed(table: str, **keys: Any) -> dict[str, Any]:
    """The whole policy with other keys of a table; None takes a key away."""
    kept = {
        key: value for key, value in {**wards.WHOLE[table], **keys}.items() if value is not None
    }
    return wards.policy({**wards.WHOLE, table: kept})


def with_column(table: str, name: str, **keys: Any) -> dict[str, Any]:
    columns = wards.WHOLE[table]["columns"]
    return changed(table, columns={**columns, name: {**columns.get(name, {}), **keys}})


def test_the_root_stands_for_the_policy_of_one_table() -> None:
    policy = policy_from(wards.policy(wards.WHOLE))
    assert policy.root == "patient"
    assert policy.source == "hospital.patient"
    assert policy.individual_key == ("patient_no",)
    assert [*policy.columns] == ["born", "sex", "patient_no"]
    assert policy.columns["patient_no"].role == "identifying"
    assert policy_from(policy.document()) == policy
    assert policy_hash(policy_from(policy.document())) == policy_hash(policy)


def test_lines_of_problems_are_those_of_the_tables() -> None:
    text = json.dumps(wards.policy(wards.WHOLE), indent=1).replace('"quasi_identifying"', '"quasi"')
    with pytest.raises(PolicyError) as raised:
        load_policy(text)
    lines = text.splitlines()
    assert [p.field for p in raised.value.problems] == [
        "tables.patient.columns.born.role",
        "tables.patient.columns.sex.role",
    ]
    assert all('"quasi"' in lines[(p.line or 0) - 1] for p in raised.value.problems)


def test_references_are_a_mapping_or_a_list_for_keys_of_several_columns() -> None:
    listed = [{"columns": ["admission_no"], "table": "admission"}]
    one, other = (
        policy_from(wards.policy(wards.WHOLE)),
        policy_from(changed("diagnosis", references=listed)),
    )
    assert one == other


TABLES = "tables"


def timed(column: str = "admitted", **changes: Any) -> dict[str, Any]:
    """Admissions by year, and changes of the table of diagnoses and of the policy."""
    diagnosis = {**wards.WHOLE["diagnosis"], **changes.pop("diagnosis", {})}
    admission = {**wards.ADMISSION, "period": {"column": column, "every": "year"}}
    tables = {**wards.WHOLE, "admission": admission, "diagnosis": diagnosis}
    return wards.policy(tables, **changes)


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no root": (
        wards.policy({"ward": wards.WARD}),
        TABLES,
        "no table is the root, to which the rows of others lead",
    ),
    "two roots": (
        changed("diagnosis", references=None),
        "tables.diagnosis",
        '"patient" and "diagnosis" both lead nowhere, and one is the root',
    ),
    "no mapping": (
        wards.policy({}) | {"tables": [1]},
        TABLES,
        "must be a mapping of names to tables",
    ),
    "source beside": (
        wards.policy(wards.WHOLE, source="public.t"),
        "source",
        "is said by the root of tables",
    ),
    "no key": (changed("patient", key=None), "tables.patient.key", "is missing"),
    "reference unknown": (
        changed("diagnosis", references={"admission_no": "admisson"}),
        "tables.diagnosis.references[0]",
        '"admisson" is no table of the policy',
    ),
    "reference to a lookup": (
        changed("diagnosis", references={"admission_no": "ward"}),
        "tables.diagnosis.references[0]",
        '"ward" is a table without people',
    ),
    "reference without a key": (
        changed("admission", key=None),
        "tables.diagnosis.references[0]",
        '"admission" has no key that rows could name',
    ),
    "reference of another width": (
        changed("diagnosis", references=[{"columns": ["a", "b"], "table": "admission"}]),
        "tables.diagnosis.references[0]",
        'the key of "admission" has other columns',
    ),
    "circle": (
        wards.policy(
            {
                **wards.WHOLE,
                "admission": {**wards.ADMISSION, "references": {"patient_no": "diagnosis"}},
                "diagnosis": {**wards.WHOLE["diagnosis"], "key": "admission_no"},
            }
        ),
        TABLES,
        "references lead in a circle: admission -> diagnosis -> admission",
    ),
    "link": (
        changed("diagnosis", link="parts"),
        "tables.diagnosis.link",
        '"parts" is not a link',
    ),
    "role": (
        with_column("diagnosis", "code", role="quasi_identifying"),
        "tables.diagnosis.columns.code.role",
        '"quasi_identifying" is not a role of a column of events',
    ),
    "published reference": (
        with_column("diagnosis", "admission_no", role="insensitive"),
        "tables.diagnosis.columns.admission_no",
        "names rows about people, and is never published",
    ),
    "published key": (
        with_column("admission", "admission_no", role="insensitive"),
        "tables.admission.columns.admission_no",
        "names rows about people, and is never published",
    ),
    "nothing published": (
        changed("diagnosis", columns={"code": {"role": "identifying"}}),
        "tables.diagnosis.columns",
        "no column is sensitive or insensitive",
    ),
    "identifying under another name": (
        with_column("diagnosis", "day", role="identifying", **{"as": "x"}),
        "tables.diagnosis.columns.day.as",
        "an identifying column is never published",
    ),
    "column of another lookup": (
        with_column("admission", "ward_no", references="study_"),
        "tables.admission.columns.ward_no.references",
        '"study_" is no table with people: none',
    ),
    "hierarchy of a reference": (
        with_column("admission", "ward_no", hierarchy={"intervals": [2]}, shown=1),
        "tables.admission.columns.ward_no.hierarchy",
        "a column that names rows of a lookup is published as it is",
    ),
    "hierarchy of nothing": (
        with_column("diagnosis", "code", hierarchy={"intervals": []}, shown=1),
        "tables.diagnosis.columns.code.hierarchy.intervals",
        "must not be empty",
    ),
    "hierarchy without a level": (
        with_column("admission", "admitted", shown=None),
        "tables.admission.columns.admitted.shown",
        "is missing: hierarchy and shown go together",
    ),
    "level without a hierarchy": (
        with_column("diagnosis", "code", shown=1),
        "tables.diagnosis.columns.code.hierarchy",
        "is missing: hierarchy and shown go together",
    ),
    "hierarchy from elsewhere": (
        with_column("diagnosis", "code", hierarchy={"csv": "a.csv"}, shown=1),
        "tables.diagnosis.columns.code.hierarchy",
        "csv is not for columns of events",
    ),
    "together unknown": (
        changed("admission", together=[["ward_no", "day"]]),
        "tables.admission.together[0]",
        '"day" is no published column of the table',
    ),
    "together twice": (
        changed("admission", together=[["ward_no", "admitted"], ["admitted", "ward_no"]]),
        "tables.admission.together[0]",
        '"admitted" would be published twice, which gives away what is left out',
    ),
    "together with itself": (
        changed("admission", together=[["ward_no", "ward_no"]]),
        "tables.admission.together[0][1]",
        '"ward_no" stands in the list twice',
    ),
    "second of a lookup": (
        changed("admission", together=[["admitted", "ward_no"]]),
        "tables.admission.columns.ward_no.references",
        "stands second in together, where lookups are not joined",
    ),
    "membership below own groups": (
        wards.policy(
            {
                **wards.WHOLE,
                "admission": {**wards.ADMISSION, "groups": "own"},
                "diagnosis": {**wards.WHOLE["diagnosis"], "membership": "sensitive"},
            }
        ),
        "tables.diagnosis.membership",
        'with groups: own nobody counts who has rows in "admission" there',
    ),
    "membership in own groups": (
        changed("diagnosis", groups="own", membership="sensitive"),
        "tables.diagnosis.membership",
        'with groups: own nobody counts who has rows in "admission" there',
    ),
    "no share": (
        wards.policy(wards.WHOLE, privacy=[{"model": "k_anonymity", "k": 3}]),
        "tables.diagnosis.columns.code",
        "is sensitive, and no event_share bounds who has its values",
    ),
    "no share of membership": (
        changed("diagnosis", columns={"code": {"role": "insensitive"}}, membership="sensitive")
        | {
            "privacy": [
                {"model": "k_anonymity", "k": 3},
                {"model": "event_share", "beta": 0.5, "table": "admission"},
                {"model": "event_share", "beta": 0.5, "table": "patient_study"},
            ]
        },
        "tables.diagnosis.membership",
        "no event_share without a column bounds who has rows",
    ),
    "no size": (
        wards.policy(wards.WHOLE, privacy=[{"model": "event_share", "beta": 0.5}]),
        "privacy",
        "no k_anonymity says how many people groups and tables have at least",
    ),
    "share of no table": (
        wards.policy(
            privacy=[
                *wards.policy()["privacy"],
                {"model": "event_share", "beta": 0.5, "table": "x"},
            ]
        ),
        "privacy[2].table",
        '"x" is no table of events',
    ),
    "share of a column of any table": (
        wards.policy(
            privacy=[
                *wards.policy()["privacy"],
                {"model": "event_share", "beta": 0.5, "column": "code"},
            ]
        ),
        "privacy[2].table",
        "is missing beside column",
    ),
    "share of no column": (
        wards.policy(
            privacy=[
                *wards.policy()["privacy"],
                {"model": "event_share", "beta": 0.5, "table": "diagnosis", "column": "x"},
            ]
        ),
        "privacy[2].column",
        '"x" is no sensitive column of diagnosis',
    ),
    "share twice": (
        wards.policy(privacy=[*wards.policy()["privacy"], {"model": "event_share", "beta": 0.5}]),
        "privacy[2]",
        "event_share is required twice",
    ),
    "other model": (
        wards.policy(
            privacy=[*wards.policy()["privacy"], {"model": "sample_uniqueness", "share": 0.1}]
        ),
        "privacy[2]",
        "sample_uniqueness is not for related tables",
    ),
    "other method": (
        wards.policy(method={"name": "full_domain"}),
        "method.name",
        "the method full_domain makes no groups of classes for related tables",
    ),
    "relaxed": (
        wards.policy(method={"name": "mondrian", "variant": "relaxed"}),
        "method",
        "people with the same quasi-identifiers are to stay together in related tables",
    ),
    "csv": (
        with_column("patient", "sex", hierarchy={"csv": "a.csv"}),
        "tables.patient.columns.sex.hierarchy",
        "csv is not for related tables",
    ),
    "weight": (
        with_column("patient", "w", role="weight"),
        "tables.patient.columns.w.role",
        "role weight is not for related tables",
    ),
    "individual": (
        with_column("patient", "blood", role="individual"),
        "tables.patient.columns.blood.role",
        "role individual is not for related tables",
    ),
    "apart": (
        with_column("patient", "blood", role="sensitive", unprotected="accept", apart=True),
        "tables.patient.columns.blood.apart",
        "apart is for quasi_identifying columns",
    ),
    "means": (
        with_column("patient", "born", mean=True),
        "tables.patient.columns.born.mean",
        "mean is not for related tables",
    ),
    "numbers in groups": (
        with_column("patient", "blood", role="insensitive", shown="mean"),
        "tables.patient.columns.blood.shown",
        "shown is not for related tables",
    ),
    "reference": (
        wards.policy(publish={"reference": True}),
        "publish.reference",
        "reference is not for related tables",
    ),
    "labels": (
        wards.policy(publish={"labels": True}),
        "publish.labels",
        "labels is not for related tables",
    ),
    "period of one version": (
        timed(),
        "tables.admission.period",
        "is for releases that grow by closed periods",
    ),
    "periods of two lengths": (
        timed(refresh="increments", diagnosis={"period": {"column": "day", "every": "month"}}),
        "tables.diagnosis.period.every",
        "is every month, and that of another table every year",
    ),
    "period below another": (
        timed(refresh="increments", diagnosis={"period": {"column": "day", "every": "year"}}),
        "tables.diagnosis.period",
        'rows lead over "admission", and are of the period of its rows',
    ),
    "period that is sensitive": (
        timed("ward_no", refresh="increments"),
        "tables.admission.period.column",
        "is sensitive, and every value is shown with its period",
    ),
    "period and sensitive membership": (
        timed(refresh="increments", diagnosis={"membership": "sensitive"}),
        "tables.diagnosis.membership",
        "a group is left out of a period in which few of its people have rows, which tells of them",
    ),
    "leavers": (
        wards.policy(refresh="increments", leavers="withdraw"),
        "leavers",
        "leavers is not for related tables",
    ),
    "invariant": (
        wards.policy(refresh="invariant"),
        "refresh",
        "the method mondrian cannot keep the values of its groups",
    ),
    **{
        key: (wards.policy(**{key: value}), key, f"{key} is not for related tables")
        for key, value in {
            "suppression_limit": 0.1,
            "on_infeasible": "suppress",
            "records_per_individual": "many_accepted",
            "aliases": {"relation": "public.a"},
            "exclusions": [{"when": {"sex": "F"}, "never": {"sex": "M"}}],
        }.items()
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    data, field, message = REFUSED[case]
    problems = found(data)
    assert problems.get(field) == message, problems


def test_only_related_tables_have_keys_of_related_tables() -> None:
    data = {
        "release": "r",
        "source": "public.t",
        "columns": {"a": {"role": "quasi_identifying", "apart": True}},
        "privacy": [{"model": "k_anonymity", "k": 2}, {"model": "event_share", "beta": 0.5}],
        "method": {"name": "mondrian"},
        "group_size": 9,
    }
    assert found(data) == {
        "columns.a.apart": "is for policies with tables",
        "group_size": "is for policies with tables",
        "privacy[1]": "event_share is for policies with tables",
    }
