"""Files that the program writes."""

import os
import stat
from pathlib import Path

import pytest

from pganon import files
from pganon.errors import UsageError


@pytest.fixture(autouse=True)
def _umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def _mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_file_is_closed_and_nameless_until_it_is_complete(tmp_path):
    path = tmp_path / "a.csv"
    with files.writing(path) as file:
        file.write(b"half")
        file.flush()
        (part,) = tmp_path.iterdir()
        assert part != path
        assert _mode(part) == 0o600
        file.write(b", whole")
    assert path.read_bytes() == b"half, whole"
    assert [*tmp_path.iterdir()] == [path]
    assert _mode(path) == 0o640
    with files.writing(tmp_path / "b.csv", private=True):
        pass
    assert _mode(tmp_path / "b.csv") == 0o600


def test_a_file_is_complete_when_it_gets_its_name(tmp_path, monkeypatch):
    sizes = []
    replace = Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda part, to: (sizes.append(part.stat().st_size), replace(part, to))
    )
    files.write(tmp_path / "a.csv", "whole")
    assert sizes == [5]
    assert os.umask(0o027) == 0o027


def test_a_file_keeps_its_readers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    path.chmod(0o604)
    files.write(path, "now")
    assert (path.read_text(), _mode(path)) == ("now", 0o604)
    with files.writing(path, private=True):
        pass
    assert _mode(path) == 0o600


def test_what_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), files.writing(path) as file:
        file.write(b"half" * (1 // 0))
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "before"


def test_nothing_is_written_through_a_link(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for target in (precious, tmp_path / "nothing"):
        link = tmp_path / f"link-{target.name}"
        link.symlink_to(target)
        with pytest.raises(UsageError, match="is no file"):
            files.write(link, "x")
    assert precious.read_text() == "precious"
    assert not (tmp_path / "nothing").exists()
    with pytest.raises(UsageError, match="is no file"):
        files.write(tmp_path, "x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is no file"):
        files.write(tmp_path / "pipe", "x")


def test_a_link_that_comes_meanwhile_is_replaced(tmp_path):
    precious, path = tmp_path / "precious", tmp_path / "a.csv"
    precious.write_text("precious")
    with files.writing(path) as file:
        path.symlink_to(precious)
        file.write(b"x")
    assert precious.read_text() == "precious"
    assert path.read_bytes() == b"x"
    assert not path.is_symlink()


def test_folders_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "a", tmp_path / "file" / "folder" / "a"):
        with pytest.raises(UsageError, match="cannot be"):
            files.write(path, "x")
    with pytest.raises(UsageError, match="cannot be written"), files.writing(tmp_path / "n" / "a"):
        pass
    files.write(tmp_path / "new" / "er" / "a", b"x")
    assert (tmp_path / "new" / "er" / "a").read_bytes() == b"x"
