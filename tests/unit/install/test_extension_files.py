"""The files of the extension: names, control file, what PGXN asks for, and how versions follow."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pganon import sqlfiles
from pganon.errors import InstallError
from pganon.identifiers import OWN_SCHEMAS
from pganon.install import scripts
from pganon.install.state import program_version
from tests.support.harness.cli import pganon

VERSION = program_version()


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_files(tmp_path: Path) -> None:
    done = pganon("extension", "build", str(tmp_path), "--json")
    expected = {
        "META.json",
        "Makefile",
        "pg_tle.sql",
        "extension/pganon.control",
        f"extension/pganon--{VERSION}.sql",
        "extension/pganon--unpackaged.sql",
        f"extension/pganon--unpackaged--{VERSION}.sql",
    }
    assert _names(tmp_path) == expected
    assert done.json["version"] == VERSION
    assert {Path(name).relative_to(tmp_path).as_posix() for name in done.json["files"]} == expected
    again = pganon("extension", "build", str(tmp_path))
    assert again.code == 0
    assert f"  {tmp_path}/extension/pganon.control\n" in again.out


def test_control(tmp_path: Path) -> None:
    scripts.build(tmp_path, VERSION)
    text = (tmp_path / "extension" / "pganon.control").read_text()
    found = dict(re.findall(r"^(\w+) = '?(.*?)'?$", text, re.MULTILINE))
    assert found.pop("comment")
    assert found == {
        "default_version": VERSION,
        "encoding": "UTF8",
        "schema": "pg_catalog",
        "relocatable": "false",
        "superuser": "false",
    }


def test_scripts_hold_all_statements_as_they_are(tmp_path: Path) -> None:
    scripts.build(tmp_path, VERSION)
    text = (tmp_path / "extension" / f"pganon--{VERSION}.sql").read_bytes()
    parts = [*sqlfiles.migrations(), *sqlfiles.object_set().objects]
    places = [text.index(part.text) for part in parts]
    assert places == sorted(places)
    assert text.index(sqlfiles.object_set().grants) > places[-1]
    for path in (tmp_path / "extension").glob("*.sql"):
        # The server would replace these.
        assert not re.search(r"@ext(schema|owner)|MODULE_PATHNAME", path.read_text())


def test_earlier_versions_stay_and_lead_to_the_new_one(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.11.0", "0.10.0", "0.11.0"):
        scripts.build(tmp_path, version)
    names = {path.name for path in (tmp_path / "extension").iterdir()}
    assert {name for name in names if "unpackaged" not in name} == {
        "pganon.control",
        "pganon--0.9.0.sql",
        "pganon--0.10.0.sql",
        "pganon--0.11.0.sql",
        "pganon--0.9.0--0.10.0.sql",
        "pganon--0.9.0--0.11.0.sql",
        "pganon--0.10.0--0.11.0.sql",
    }
    control = (tmp_path / "extension" / "pganon.control").read_text()
    assert "default_version = '0.11.0'" in control


def test_a_version_does_not_change(tmp_path: Path) -> None:
    scripts.build(tmp_path, VERSION)
    script = tmp_path / "extension" / f"pganon--{VERSION}.sql"
    script.write_bytes(script.read_bytes() + b"-- released\n")
    with pytest.raises(InstallError) as caught:
        scripts.build(tmp_path, VERSION)
    assert caught.value.code == "version_exists"
    assert str(script) in caught.value.message
    assert script.read_bytes().endswith(b"-- released\n")


def test_meta_has_what_pgxn_asks_for(tmp_path: Path) -> None:
    """Required keys and forms of https://pgxn.org/spec/."""
    scripts.build(tmp_path, VERSION)
    meta = json.loads((tmp_path / "META.json").read_text())
    required = {"name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"}
    assert required <= set(meta)
    assert all(meta[key] for key in required)
    assert re.fullmatch(r"[^\s/\\\x00-\x1f]{2,}", meta["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", meta["version"])
    assert meta["version"] == VERSION
    assert meta["meta-spec"]["version"] == "1.0.0"
    assert meta["release_status"] in ("stable", "testing", "unstable")
    (provided,) = meta["provides"].values()
    assert {"file", "version"} <= set(provided)
    assert (tmp_path / provided["file"]).exists()
    assert all(2 <= len(tag) <= 256 for tag in meta["tags"])


def test_makefile_installs(tmp_path: Path) -> None:
    scripts.build(tmp_path, VERSION)
    config = tmp_path / "pg_config"
    config.write_text("#!/bin/sh\ntest $1 = --sharedir && echo /share dir\n")
    config.chmod(0o755)
    target = tmp_path / "target"
    command = ["make", "-s", "install", f"PG_CONFIG={config}", f"DESTDIR={target}"]
    subprocess.run(command, cwd=tmp_path, check=True)
    place = target / "share dir" / "extension"
    installed = {path.name: path.read_bytes() for path in place.iterdir()}
    assert installed == {
        path.name: path.read_bytes() for path in (tmp_path / "extension").iterdir()
    }


def test_pg_tle_gets_the_same_script(tmp_path: Path) -> None:
    scripts.build(tmp_path, VERSION)
    text = (tmp_path / "pg_tle.sql").read_text()
    opening, script, end = text.split("$pgtle$")
    assert opening.startswith(f"SELECT pgtle.install_extension('pganon', '{VERSION}', ")
    assert end == ");\n"
    full = (tmp_path / "extension" / f"pganon--{VERSION}.sql").read_text()
    assert script.strip() == re.sub(r"(?m)^\\echo.*\n", "", full).strip()


def test_placeholders_become_literals() -> None:
    text = b"-- %s is a name\nSELECT %s, %s, '%%s', %s;\n"
    found = scripts.filled(text, "it's", 1, ["a", "b c"])
    assert found == b"SELECT 'it''s', 1, '%s', '{a,\"b c\"}';\n"


def test_scripts_name_all_schemas() -> None:
    close = sqlfiles.install_script("close").decode()
    adopt = sqlfiles.install_script("adopt").decode()
    assert "'{" + ",".join(OWN_SCHEMAS) + "}'" in close
    assert re.findall(r"nspname IN \((.*)\)", adopt) == [", ".join(f"'{s}'" for s in OWN_SCHEMAS)]
