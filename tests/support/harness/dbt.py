"""Projects of dbt in tests, run by dbt itself as the analyst."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from psycopg import conninfo

from pganon.integrations.dbt import FOLDER
from tests.support.harness.cluster import PASSWORD, Database
from tests.support.harness.fetch_dbt import PROGRAM

_SCHEMAS = """
{% macro generate_schema_name(custom_schema_name, node) %}
  {{ return(custom_schema_name or target.schema) }}
{% endmacro %}
"""


@dataclass(frozen=True)
class Ran:
    """Exit code, what was printed, and (status, message) by model."""

    code: int
    out: str
    models: dict[str, tuple[str, str]]


def project(db: Database, folder: Path, models: dict[str, str], **profile: Any) -> Path:
    """A project that has the package of pganon, and these models by file name."""
    if not PROGRAM.exists():
        pytest.skip("dbt is not here; `python -m tests.support.harness.fetch_dbt` installs it")
    place = folder / "project"
    for name in ("models", "macros"):
        (place / name).mkdir(parents=True)
    server = conninfo.conninfo_to_dict(db.dsn("analyst"))
    target = {
        "type": "postgres",
        "host": str(server["host"]),
        "port": int(server.get("port", 5432)),
        "user": "analyst",
        "password": PASSWORD,
        "dbname": db.name,
        "schema": "published",
        "threads": 1,
        **profile,
    }
    files: dict[str, Any] = {
        "dbt_project.yml": {"name": "clinic", "version": "1.0.0", "profile": "clinic"},
        "packages.yml": {"packages": [{"local": str(FOLDER)}]},
        "profiles.yml": {"clinic": {"target": "it", "outputs": {"it": target}}},
    }
    for name, content in files.items():
        (place / name).write_text(yaml.safe_dump(content), "utf-8")
    (place / "macros" / "schemas.sql").write_text(_SCHEMAS, "utf-8")
    for name, text in models.items():
        (place / "models" / f"{name}.sql").write_text(text, "utf-8")
    done = _dbt(place, "deps")
    assert done.returncode == 0, done.stdout
    return place


def run(place: Path, *arguments: str) -> Ran:
    """`dbt run`."""
    results = place / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    done = _dbt(place, "run", *arguments)
    found = json.loads(results.read_text("utf-8"))["results"] if results.exists() else []
    models = {
        result["unique_id"].rsplit(".", 1)[-1]: (result["status"], str(result["message"]))
        for result in found
    }
    return Ran(done.returncode, done.stdout, models)


def _dbt(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DBT"))}
    return subprocess.run(
        [PROGRAM, "--no-use-colors", *arguments, "--profiles-dir", str(place)],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_VERSION_CHECK": "false"},
    )
