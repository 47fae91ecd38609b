"""What a folder of release migrations may look like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pganon.errors import LedgerError, PganonError, PolicyError, UsageError
from pganon.migrate.files import read_folder
from pganon.migrate.history import Applied, check_unchanged, compared
from pganon.migrate.pending import wanted_files
from tests.support.sources.migrations import put, two, write


def test_files_by_number_then_repeatable_ones(tmp_path: Path) -> None:
    two(tmp_path)
    put(tmp_path, "3_withdraw_patients", {"withdraw": "patients"})
    put(tmp_path, "R_b", {"release": "b"})
    put(tmp_path, "R_a_monthly", {"release": "a"})
    (tmp_path / "README.md").write_text("no policy", "utf-8")
    (tmp_path / ".0009_hidden.yaml").write_text("no policy", "utf-8")
    (tmp_path / "trees").mkdir()
    found = read_folder(tmp_path)
    assert [(f.number, f.kind, f.release) for f in found] == [
        (1, "release", "patients"),
        (2, "release", "patients"),
        (3, "withdraw", "patients"),
        (None, "release", "a"),
        (None, "release", "b"),
    ]


def test_values_of_variables_are_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "0001_patients", variables=["AGE", "OF"], where="age > ${AGE}", release="${OF}")
    with pytest.raises(PolicyError, match="AGE is not set"):
        read_folder(tmp_path)
    monkeypatch.setenv("OF", "patients")
    monkeypatch.setenv("AGE", "18")
    (first,) = read_folder(tmp_path)
    assert first.release == "patients"
    assert read_folder(tmp_path) == (first,)
    monkeypatch.setenv("AGE", "19")
    (second,) = read_folder(tmp_path)
    assert second.checksum != first.checksum


def _gap(folder: Path) -> None:
    write(folder, "0003_patients")


def _first_missing(folder: Path) -> None:
    (folder / "0001_patients.json").unlink()


def _twins(folder: Path) -> None:
    write(folder, "2_patients")


def _repeatable_twins(folder: Path) -> None:
    write(folder, "R_patients")
    write(folder, "R_patients_again")


def _no_number(folder: Path) -> None:
    write(folder, "patients")


def _zero(folder: Path) -> None:
    write(folder, "0000_patients")


def _other(folder: Path) -> None:
    write(folder, "0003_visits")


def _near(folder: Path) -> None:
    write(folder, "0003_patientsx")


def _withdraws_other(folder: Path) -> None:
    put(folder, "0003_withdraw_visits", {"withdraw": "patients"})


def _withdrawn(folder: Path) -> None:
    put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
    write(folder, "R_patients")


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        (_gap, None, ""),
        (_first_missing, "gap", "number 1 is missing before 0002_patients_k12.json"),
        (_twins, "twins", "0002_patients_k12.json and 2_patients.json have the same number"),
        (_repeatable_twins, "twins", "R_patients.json and R_patients_again.json release patients"),
        (_no_number, "bad_name", "patients.json is no name of a release migration"),
        (_zero, "bad_name", "numbers begin with 1"),
        (_other, "other_release", "0003_visits.json is a policy of the release patients"),
        (_near, "other_release", "is a policy of the release patients"),
        (_withdraws_other, "other_release", "withdraws the release patients"),
        (_withdrawn, "withdrawn", "would release what 0003_withdraw_patients.json withdraws"),
    ],
)
def test_folders_that_are_refused(
    tmp_path: Path, spoil: Callable[[Path], None], code: str | None, words: str
) -> None:
    spoil(two(tmp_path))
    if code is None:
        assert len(read_folder(tmp_path)) == 3
        (tmp_path / "0002_patients_k12.json").unlink()
        code, words = "gap", "number 2 is missing before 0003_patients.json"
    with pytest.raises(UsageError) as caught:
        read_folder(tmp_path)
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a list", "a mapping of keys"),
        ("source: public.patient", "neither a policy nor a withdrawal"),
        ("{withdraw: patients, release: patients}", "stands alone"),
        ("withdraw: [patients]", "neither a policy nor a withdrawal"),
        ("{withdraw: patients", "not valid YAML"),
        ("", "empty"),
    ],
)
def test_files_that_say_nothing(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "0001_withdraw_patients.yaml").write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=words) as caught:
        read_folder(tmp_path)
    assert "0001_withdraw_patients.yaml" in caught.value.message


def test_a_withdrawal_is_not_repeated(tmp_path: Path) -> None:
    put(tmp_path, "R_withdraw_patients", {"withdraw": "patients"})
    with pytest.raises(PolicyError, match="is done once"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_no_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError) as caught:
        read_folder(tmp_path / name)
    assert caught.value.code == "no_migrations"


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_folder(tmp_path)
    assert caught.value.code == "no_migrations"


def test_names_of_releases_with_blanks_and_capitals(tmp_path: Path) -> None:
    put(tmp_path, "0001_Große_Stays_2", {"release": "große stays"})
    assert read_folder(tmp_path)[0].release == "große stays"


def _checksum(folder: Path) -> str:
    return read_folder(folder)[0].checksum


def test_the_checksum_is_of_the_text_and_of_files_that_it_names(tmp_path: Path) -> None:
    tree = tmp_path / "zip.csv"
    columns = {"zip": {"role": "quasi_identifying", "hierarchy": {"csv": "zip.csv"}}}
    file = put(tmp_path, "0001_a", {"release": "a", "columns": columns})
    without = _checksum(tmp_path)
    tree.write_bytes(b"a;b\nc;b\n")
    first = _checksum(tmp_path)
    assert first != without
    tree.write_bytes(b"a;b\r\nc;b\r\n")
    assert _checksum(tmp_path) == first, "line ends do not count"
    tree.write_bytes(b"a;b\nc;d\n")
    assert _checksum(tmp_path) != first
    tree.write_bytes(b"a;b\nc;b\n")
    file.write_bytes(file.read_bytes() + b"\r\n")
    changed = _checksum(tmp_path)
    assert changed != first
    file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n"))
    assert _checksum(tmp_path) == changed


# -- the folder beside its history ------------------------------------------------------------


def _row(folder: Path, place: int, **changes: object) -> Applied:
    file = read_folder(folder)[place]
    values = {
        "file": file.name,
        "number": file.number,
        "checksum": file.checksum,
        "kind": file.kind,
        "release": file.release,
        "version_before": None,
        "version": 1,
        "revision_before": None,
        "request": None,
        "request_state": None,
        "login": "steward",
        "applied_at": None,
        "program_version": "0",
    }
    return Applied(**{**values, **changes})  # pyright: ignore[reportArgumentType]


def test_states(tmp_path: Path) -> None:
    write(two(tmp_path), "R_patients")
    files = read_folder(tmp_path)
    rows = [_row(tmp_path, 0), _row(tmp_path, 2, checksum="another")]
    found = compared(files, rows)
    assert [s.state for s in found] == ["applied", "pending", "pending"]
    check_unchanged(found)
    assert [f.name for f in wanted_files(found, None)] == [
        "0002_patients_k12.json",
        "R_patients.json",
    ]
    waits = compared(files, [_row(tmp_path, 0, version=None, request_state="awaiting_approval")])
    assert waits[0].state == "awaiting_approval"
    assert "0001_patients.json" not in [f.name for f in wanted_files(waits, None)]
    rejected = compared(files, [_row(tmp_path, 0, version=None, request_state="rejected")])
    assert rejected[0].state == "unpublished"
    assert "0001_patients.json" not in [f.name for f in wanted_files(rejected, None)]


def test_up_to_a_number(tmp_path: Path) -> None:
    write(two(tmp_path), "R_patients")
    found = compared(read_folder(tmp_path), [])
    assert [f.number for f in wanted_files(found, 1)] == [1]
    assert [f.number for f in wanted_files(found, 2)] == [1, 2, None]
    with pytest.raises(UsageError) as caught:
        wanted_files(found, 3)
    assert caught.value.code == "unknown_number"
    both = compared(read_folder(tmp_path), [_row(tmp_path, 0), _row(tmp_path, 1)])
    with pytest.raises(UsageError) as caught:
        wanted_files(both, 1)
    assert caught.value.code == "applied_already"
    assert "0002_patients_k12.json is applied already" in caught.value.message


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"checksum": "another"}, "changed_migration"),
        ({"file": "0001_x.json"}, "missing_migration"),
    ],
)
def test_applied_files_stay_as_they_are(
    tmp_path: Path, changes: dict[str, object], code: str
) -> None:
    found = compared(read_folder(two(tmp_path)), [_row(tmp_path, 0, **changes)])
    with pytest.raises(LedgerError) as caught:
        check_unchanged(found)
    assert caught.value.code == code


def test_a_repeatable_file_may_go_and_change(tmp_path: Path) -> None:
    row = _row(two(tmp_path), 0, file="R_gone.json", number=None)
    check_unchanged(compared(read_folder(tmp_path), [row]))


def test_an_error_says_where() -> None:
    error = PganonError("no such thing", hint="look").within("0001_a.yaml")
    assert (error.message, str(error), error.hint) == (
        "0001_a.yaml: no such thing",
        "0001_a.yaml: no such thing",
        "look",
    )
