"""One tool over one table, from PostgreSQL to PostgreSQL, in an environment that has the tool.

`python peers_run.py TASK.json`; nothing of pganon is imported. Each tool is called as its own
documentation does it. It gets a data frame of the quasi-identifiers and the sensitive column and
gives one with labels in their places, without the records that it suppresses.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psycopg
from psycopg import sql

SUPPRESSED = 5
"""Percent of the records that ANJANA may suppress."""

_BLOCK = 100_000


def anonypy(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    from anonypy import Preserver

    for name in data.columns:
        if name not in task.numeric:
            data[name] = data[name].astype("category")
    preserver = Preserver(data, task.columns, task.sensitive)
    found = pd.DataFrame(
        preserver.anonymize_l_diversity(task.k, task.l)
        if task.l
        else preserver.anonymize_k_anonymity(task.k)
    )
    for name in task.columns:  # lists of one text
        found[name] = found[name].str[0]
    return found.loc[found.index.repeat(found["count"])]


def anjana(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    from anjana.anonymity import k_anonymity, l_diversity

    levels = {
        name: {level: np.array(of) for level, of in enumerate(zip(*rows, strict=True))}
        for name, rows in task.hierarchies.items()
    }
    data = data.astype(str)
    if task.l:
        return l_diversity(
            data, [], task.columns, task.sensitive, task.k, task.l, SUPPRESSED, levels
        )
    return k_anonymity(data, [], task.columns, task.k, SUPPRESSED, levels)


def lighthouse(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    """Numbers come as means of classes: what is written are the ranges and values of these."""
    from project_lighthouse_anonymize.wrappers.k_anonymize import k_anonymize

    if task.l:
        sys.exit("it divides by k alone")
    data["rid"] = range(len(data))
    log = logging.getLogger("lighthouse")
    found, _, _ = k_anonymize(log, data, task.columns, task.k, {}, "rid")
    classes = found.groupby(task.columns, sort=False, dropna=False).ngroup().to_numpy()
    released = data.set_index("rid").loc[found["rid"]].reset_index()
    for name in task.columns:
        of = released[name].groupby(classes)
        labels = (
            of.min().astype(str) + "-" + of.max().astype(str)
            if name in task.numeric
            else of.agg(lambda values: ",".join(sorted(set(values))))
        )
        released[name] = labels.to_numpy()[classes]
    return released


def umbra(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    from umbra_k import MondrianAnonymizer

    if task.l:
        sys.exit("it divides by k alone")
    return MondrianAnonymizer(k=task.k, quasi_id=task.columns).fit_transform(data)


def mosaicrown(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    sys.path.insert(0, str(Path(task.path) / "local"))
    from mondrian.anonymization import anonymize
    from mondrian.score import norm_span

    spans = {
        name: data[name].max() - data[name].min() if name in task.numeric else data[name].nunique()
        for name in task.columns
    }
    return anonymize(
        df=data,
        id_columns=[],
        quasiid_columns=task.columns,
        sensitive_columns=[task.sensitive],
        column_score=partial(norm_span, total_spans=spans, categoricals_with_order={}),
        K=task.k,
        L=task.l,
    )


def arx(data: pd.DataFrame, task: SimpleNamespace) -> pd.DataFrame:
    """Local recoding by the Java program beside this file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data.to_csv(folder / "in.csv", index=False, sep=";")
        for column, rows in task.hierarchies.items():
            pd.DataFrame(rows).to_csv(folder / f"{column}.csv", index=False, header=False, sep=";")
        program = [Path(__file__).with_name("PeersArx.java"), folder, task.sensitive]
        asked = [str(task.k), str(task.l or 0), *task.columns]
        subprocess.run(["java", "-cp", task.path, *program, *asked], check=True)
        return pd.read_csv(folder / "out.csv", sep=";", dtype=str)


def main(file: str) -> None:
    task = SimpleNamespace(**json.loads(Path(file).read_text()))
    names = [*task.columns, task.sensitive]
    with psycopg.connect(task.dsn) as conn:
        data = _read(conn, task, names)
        _write(conn, task.target, globals()[task.tool](data, task)[names])


def _read(conn: psycopg.Connection, task: SimpleNamespace, names: list[str]) -> pd.DataFrame:
    copy = sql.SQL("COPY {} ({}) TO STDOUT (FORMAT csv, HEADER)").format(
        sql.Identifier(task.source), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    text = io.BytesIO()
    with conn.cursor().copy(copy) as out:
        for block in out:
            text.write(block)
    text.seek(0)
    types = {name: str for name in names if name not in task.numeric}
    return pd.read_csv(text, dtype=types, keep_default_na=False)


def _write(conn: psycopg.Connection, target: str, found: pd.DataFrame) -> None:
    columns = [sql.SQL("{} text").format(sql.Identifier(name)) for name in found.columns]
    table = sql.Identifier(target)
    conn.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(columns)))
    copy = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(table)
    with conn.cursor().copy(copy) as into:
        for start in range(0, len(found), _BLOCK):
            into.write(found.iloc[start : start + _BLOCK].to_csv(index=False, header=False))


if __name__ == "__main__":
    main(sys.argv[1])
