"""The Dockerfile, the compose files and the unit of systemd, as their own programs read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pganon.cli.main import COMMANDS, application
from tests.support.harness.services import FOLDER, SECRETS, compose, read

DOCKERFILE = FOLDER / "Dockerfile"
UNIT = FOLDER / "pganon-worker.service"


def test_hadolint_finds_nothing() -> None:
    done = read("hadolint", "--no-color", str(DOCKERFILE))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_hadolint_would_find_something(tmp_path: Path) -> None:
    worse = tmp_path / "Dockerfile"
    worse.write_text(DOCKERFILE.read_text().replace("10001:10001", "root"))
    assert read("hadolint", str(worse)).returncode == 1


def test_the_image() -> None:
    lines = DOCKERFILE.read_text().splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    after = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM ")) :]
    (user,) = [line for line in after if line.startswith("USER ")]
    assert re.fullmatch(r"USER [1-9]\d+:[1-9]\d+", user)
    assert any(line.startswith("HEALTHCHECK ") for line in after)
    assert after[-1] == 'ENTRYPOINT ["pganon"]'
    assert not any("COPY pganon" in line for line in after), "only what was installed"


def test_what_the_image_is_built_from_is_sent_to_the_engine() -> None:
    copied = set(re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE))
    wanted = {word for words in copied for word in words.split()}
    ignored = (FOLDER.parent / ".dockerignore").read_text().splitlines()
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == wanted
    assert all((FOLDER.parent / word).exists() for word in wanted)


@pytest.mark.parametrize("file", ["compose.yaml", "compose.worker.yaml", "compose.citus.yaml"])
def test_compose_reads_the_file(file: str) -> None:
    done = read("docker-compose", "-f", str(FOLDER / file), "config", "-q", **SECRETS)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("missing", SECRETS)
def test_compose_wants_the_passwords(missing: str) -> None:
    others = {name: value for name, value in SECRETS.items() if name != missing}
    file = str(FOLDER / "compose.worker.yaml")
    done = read("docker-compose", "-f", file, "config", "-q", **others)
    assert done.returncode != 0
    assert missing in done.stderr


def test_tests_find_the_citus_that_compose_starts() -> None:
    """As the pages say: the version, the command that waits for all servers, and how to connect."""
    services = compose("compose.citus.yaml")
    join = services.pop("join")
    coordinator, *workers = services.items()
    readme = (FOLDER / "README.md").read_text()
    page = (FOLDER.parent / "docs/how-to/run-on-citus.md").read_text()
    assert "docker compose -f docker/compose.citus.yaml run --rm join" in readme
    assert "docker compose -f docker/compose.citus.yaml run --rm join" in page
    (told,) = re.findall(r'PGANON_TEST_CITUS_DSN="host=localhost port=(\d+) user=(\w+) ', readme)
    assert coordinator[1]["ports"] == [f"127.0.0.1:{told[0]}:5432"], "for this machine alone"
    assert not any("ports" in server for _, server in workers)
    (tried,) = re.findall(r"Tried with Citus (\S+) on", page)
    assert {service["image"] for service in [*services.values(), join]} == {
        f"citusdata/citus:{tried}"
    }
    trust = {"POSTGRES_HOST_AUTH_METHOD": "trust"}  # roles of tests connect from server to server
    assert all(server["environment"] == trust for server in services.values())
    assert join["environment"] == {"PGHOST": coordinator[0], "PGUSER": told[1]}
    healthy = {"condition": "service_healthy"}
    assert join["depends_on"] == dict.fromkeys(services, healthy)
    assert all("127.0.0.1" in server["healthcheck"]["test"] for server in services.values()), (
        "the server that the image sets itself up with answers on a socket alone"
    )
    assert "--set=ON_ERROR_STOP=1" in join["entrypoint"]
    said = " ".join(join["entrypoint"])
    assert re.findall(r"citus_set_coordinator_host\('(\w+)'", said) == [coordinator[0]]
    assert re.findall(r"citus_add_node\('(\w+)', 5432\)", said) == [name for name, _ in workers]


def test_services_call_commands_that_there_are() -> None:
    services = compose("compose.worker.yaml")
    known = set(COMMANDS)
    called = {services[name]["command"][0] for name in ("install", "policies", "worker")}
    assert called <= known & set(application().commands)


def _seconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|m|min)", text).groups()  # type: ignore[union-attr]
    return int(number) * (1 if unit == "s" else 60)


def test_a_worker_has_the_time_that_it_gives_its_request() -> None:
    service = compose("compose.worker.yaml")["worker"]
    grace = service["command"][service["command"].index("--grace") + 1]
    assert _seconds(service["stop_grace_period"]) > _seconds(grace)
    unit = UNIT.read_text()
    (grace,) = re.findall(r"^ExecStart=.* --grace (\S+)", unit, re.MULTILINE)
    (stop,) = re.findall(r"^TimeoutStopSec=(\S+)$", unit, re.MULTILINE)
    assert _seconds(stop) > _seconds(grace)
    assert "\nKillMode=mixed\n" in unit
    assert "\nLoadCredential=" in unit


def test_systemd_says_nothing_about_the_unit(tmp_path: Path) -> None:
    """It ends well on keys that it does not know, and only says so. It wants a program."""
    here = tmp_path / UNIT.name
    here.write_text(UNIT.read_text().replace("=/opt/pganon/bin/pganon ", "=/usr/bin/env pganon "))
    done = read("systemd-analyze", "verify", str(here))
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_would_say_something(tmp_path: Path) -> None:
    worse = tmp_path / UNIT.name
    worse.write_text(UNIT.read_text().replace("KillMode=", "KilMode="))
    assert "KilMode" in read("systemd-analyze", "verify", str(worse)).stderr


def test_the_unit_names_the_program_that_the_page_installs() -> None:
    """A PATH of a shell is none of a service, and homes are hidden from it."""
    (start,) = re.findall(r"^ExecStart=(\S+) worker ", UNIT.read_text(), re.MULTILINE)
    page = (FOLDER.parent / "docs/how-to/serve-requests.md").read_text()
    folder = start.removesuffix("/bin/pganon")
    assert f"$ python3 -m venv {folder} && {folder}/bin/pip install pganon" in page
    assert not folder.startswith("/home")
