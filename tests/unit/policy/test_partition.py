"""Which part of a policy decides the groups and what of them is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pganon.identifiers import QualifiedName
from pganon.loading import known, policy_from
from pganon.policy import partition
from pganon.policy.columns import ColumnPolicy
from pganon.policy.model import Policy
from pganon.policy.partition import Part, differences, part_hash, partition_part
from tests.support.sources import wards
from tests.unit.policy.examples import anatomy_policy, policy, qs_policy, with_column

SOURCE = QualifiedName("public", "adult")


def part(data: dict[str, Any], base_dir: Path = Path()) -> Part:
    return partition_part(policy_from(data), SOURCE, base_dir)


def columns(**changes: dict[str, Any]) -> dict[str, Any]:
    """The example's columns with other keys, or without them for None."""
    found = policy()["columns"]
    return {**found, **{name: {**found.get(name, {}), **keys} for name, keys in changes.items()}}


def test_keys_that_decide_nothing_are_keys() -> None:
    """All other keys decide groups, as a new one does until pganon/policy/partition.py says no."""
    assert set(Policy.model_fields) > partition.ELSE
    assert set(ColumnPolicy.model_fields) > partition.COLUMN_ELSE


def test_every_key_that_decides_is_in_the_part() -> None:
    data = policy(
        where="age > 3",
        columns=columns(
            person={"role": "individual"},
            job={"nulls": "reject"},
        ),
        exclusions=[{"when": {"age": {"max": 3}}, "never": {"job": "x"}}],
        suppression_limit=0.1,
        on_infeasible="suppress",
        exclude={"relation": "public.left_out"},
        records_per_individual="many_accepted",
        privacy=[{"model": "slicing_l_diversity", "l": 2}],
        method={"name": "slamsa"},
        refresh="increments",
        increment_size=9,
        regions="leaves",
        ranges="region",
        leavers="withdraw",
    )
    keys = {path.partition(".")[0] for path in part(data)}
    related = {path.partition(".")[0] for path in part(wards.policy())}
    assert keys | related == partition.DECIDES | {"revision", "root"}
    kept = policy(
        refresh="invariant",
        columns=columns(),
        privacy=[{"model": "anatomy_l_diversity", "column": "job", "l": 2}],
        method={"name": "anatomy"},
    )
    assert part(kept)["refresh"] == "invariant"


SAME = [
    policy(release="other"),
    policy(source="adult"),
    policy(republication="allow"),
    policy(publish={"schema": "x", "readers": ["r"], "keep": 9}),
    policy(columns=columns(age={"as": "years"})),
    policy(columns=columns(age={"weight": 1, "nulls": "as_value"})),
    policy(columns=columns(other={"role": "identifying"})),
    policy(columns={n: policy()["columns"][n] for n in ("hours", "age", "job")}),
    policy(method={"name": "mondrian", "variant": "strict", "choose": "loss"}),
    policy(suppression_limit=0, on_infeasible="refuse"),
]


@pytest.mark.parametrize("data", SAME, ids=range(len(SAME)))
def test_what_changes_nothing(data: dict[str, Any]) -> None:
    assert part(data) == part(policy())
    assert part_hash(part(data)) == part_hash(part(policy()))


K = {"model": "k_anonymity", "k": 5}
L = {"model": "distinct_l_diversity", "column": "job", "l": 2}

OTHER: list[tuple[dict[str, Any], str]] = [
    (policy(where="age > 3"), "where added"),
    (policy(individual="person"), "individual added"),
    (
        policy(
            individual=["person", "x"], columns=columns(x={"role": "identifying"})
        ),
        "individual added",
    ),
    (policy(privacy=[{**K, "k": 6}]), "privacy.k_anonymity.k 5 -> 6"),
    (policy(privacy=[K, L]), "privacy.distinct_l_diversity(job).l added"),
    (policy(method={"name": "mondrian", "variant": "relaxed"}), "method.variant added"),
    (policy(suppression_limit=0.5), "suppression_limit added"),
    (policy(on_infeasible="suppress", columns=columns(age={"nulls": "own_class"})),
     "columns.age.nulls added, on_infeasible added"),
    (policy(records_per_individual="many_accepted"), "records_per_individual added"),
    (policy(columns=columns(age={"weight": 2})), "columns.age.weight added"),
    (policy(columns=columns(age={"domain": [0, 99]})), "columns.age.domain added"),
    (policy(columns=columns(age={"nulls": "reject"})), "columns.age.nulls added"),
    (policy(columns=columns(age={"type": "categorical"})), "columns.age.type added"),
    (policy(columns=columns(age={"hierarchy": {"intervals": [5]}})), "columns.age.hierarchy added"),
    (policy(columns=columns(hours={"role": "quasi_identifying"})), "columns.hours.role"
     " insensitive -> quasi_identifying"),
    (policy(columns=columns(more={"role": "insensitive"})), "columns.more.role added"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "told"), OTHER, ids=[told for _, told in OTHER])
def test_what_changes_something(data: dict[str, Any], told: str) -> None:
    assert part_hash(part(data)) != part_hash(part(policy()))
    assert differences(part(policy()), part(data)) == told


def test_other_sources() -> None:
    other = partition_part(policy_from(policy()), QualifiedName("public", "Adult"), Path())
    assert differences(part(policy()), other) == 'source public.adult -> public."Adult"'


def test_order_of_columns_and_models() -> None:
    """Columns of one kind decide ties in their order; models hold in any."""
    two = with_column(role="quasi_identifying")
    turned = {**two, "columns": dict(reversed(two["columns"].items()))}
    assert differences(part(two), part(turned)) == "the order of columns"
    assert part(policy(privacy=[K, L])) == part(policy(privacy=[L, K]))


def test_sets() -> None:
    data = qs_policy()
    data["columns"]["hour"]["set"] = "registration"
    told = differences(part(qs_policy()), part(data))
    assert told == "columns.hour.set sighting -> registration"


def test_models_of_tables_and_of_columns_stand_apart() -> None:
    models = [{"model": "slicing_l_diversity", "l": n} for n in (2, 3)]
    models[1]["level"] = "tuple"
    found = part(policy(privacy=models, method={"name": "slamsa"}))
    assert found["privacy.slicing_l_diversity.l"] == 2
    assert found["privacy.slicing_l_diversity[tuple].l"] == 3


def test_values_of_columns_are_not_told() -> None:
    secret = "Zanzibar-7319"
    before = policy(
        where="job <> 'x'",
        columns=columns(age={"type": "ordinal", "order": ["a", "b"]}),
        exclusions=[{"when": {"age": "a"}, "never": {"job": "x"}}],
        privacy=[{"model": "slicing_l_diversity", "l": 2}],
        method={"name": "slamsa"},
    )
    now = {
        **before,
        "where": f"job <> '{secret}'",
        "columns": columns(age={"type": "ordinal", "order": ["a", secret]}),
        "exclusions": [{"when": {"age": "a"}, "never": {"job": secret}}],
    }
    assert differences(part(before), part(now)) == "columns.age.order, exclusions, where"
    inline = [
        with_column(role="quasi_identifying", hierarchy={"inline": {"*": ["a", text]}})
        for text in ("b", secret)
    ]
    assert differences(*map(part, inline)) == "columns.x.hierarchy"


def test_long_lists_end() -> None:
    changes = policy(
        privacy=[{**K, "k": 6}, L],
        suppression_limit=0.5,
        method={"name": "mondrian", "price": 0.5},
        records_per_individual="many_accepted",
        where="age > 3",
    )
    assert differences(part(policy()), part(changes)).endswith(", 2 more")


def test_files_count_by_their_content(tmp_path: Path) -> None:
    def of(file: str, content: str) -> Part:
        (tmp_path / file).write_text(content, "utf-8")
        hierarchy = {"type": "categorical", "hierarchy": {"csv": file}}
        return part(policy(columns=columns(age=hierarchy)), tmp_path)

    one = of("one.csv", "1,*\n2,*\n")
    assert of("two.csv", "1,*\n2,*\n") == one
    assert differences(one, of("one.csv", "1,a\n2,*\n")) == "columns.age.hierarchy"


def test_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    before = part(policy())
    assert all(options.revision >= 1 for options in known().methods.values())
    now = known().methods["mondrian"].revision
    monkeypatch.setattr(known().methods["mondrian"], "revision", now + 1)
    assert differences(before, part(policy())) == f"method.revision {now} -> {now + 1}"
    monkeypatch.undo()
    monkeypatch.setattr(partition, "REVISION", 2)
    assert differences(before, part(policy())) == "revision 1 -> 2"


def slamsa(**options: Any) -> Part:
    privacy = [{"model": "slicing_l_diversity", "l": 2}]
    return part(policy(privacy=privacy, method={"name": "slamsa", **options}))


def test_options_without_effect() -> None:
    assert slamsa(link_threshold=0.5) == slamsa()
    independent = {"profile": "independent"}
    assert slamsa(**independent, link_threshold=0.5) != slamsa(**independent)
    assert slamsa(optimizer="base", norm=1.0) != slamsa(optimizer="base")
    sizes = [part(anatomy_policy(method={"name": "anatomy", "block_size": n})) for n in (50, 100)]
    assert differences(*sizes) == "method.block_size removed"
