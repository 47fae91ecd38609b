"""Codes, postcodes and countries whose hierarchies are ready: facts of `ready.json`, as SQL.

A form has a pattern and, level after level, how a label follows from the one below. So labels of
a level have one parent, whatever the values are. Where a fact changes, `REVISION` of
:mod:`pganon.policy.partition` must be raised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sqlglot import exp

from pganon.sqltools import fragment, text

OTHER = "other"
"""The label of values that do not fit, where a policy wants them to have one."""


@cache
def ready() -> Mapping[str, Mapping[str, Any]]:
    """Forms by key and word: `ready()["codes"]["icd10"]`."""
    return json.loads(files("pganon").joinpath("policy/ready.json").read_text("utf-8"))


def code(form: Mapping[str, Any], value: exp.Expr) -> exp.Expr:
    """What labels are made of, from the text of a value in any case; NULL if it does not fit."""
    pattern, kept = form["code"]
    # Capitals of other places, and equal texts that are not the same, are no codes.
    return fragment(
        "case when :v ~ :pattern then regexp_replace(:v, :pattern, :kept) end",
        v=fragment('upper(btrim(:v) collate "C")', v=value),
        pattern=text(pattern),
        kept=text(kept),
    )


def label(level: str | Mapping[str, Any], below: exp.Expr) -> exp.Expr:
    """The label of a level, from that of the level below; NULL if it does not fit."""
    if isinstance(level, str):
        return fragment("substring(:b from :pattern)", b=below, pattern=text(level))
    if "from" in level:
        bounds, labels = level["from"], level["from"].values()
        return fragment(
            "(:labels)[nullif(width_bucket(:b, :bounds), 0)]",
            b=below,
            bounds=exp.Array(expressions=[text(bound) for bound in bounds]),
            labels=exp.Array(expressions=[text(x) if x else exp.null() for x in labels]),
        )
    known = {key: name for name, keys in level["of"].items() for key in keys.split()}
    found = fragment(
        'jsonb_extract_path_text((:known)::jsonb, :b) collate "C"',
        b=below,
        known=text(json.dumps(known, separators=(",", ":"))),
    )
    return fragment("coalesce(:found, :b)", found=found, b=below) if "else" in level else found


def fits(form: Mapping[str, Any], value: exp.Expr) -> exp.Expr:
    """Whether the text of a value has labels on all levels."""
    top = code(form, value)
    for level in form["levels"]:
        top = label(level, top)
    return fragment(":top is not null", top=top)
