"""Change every step of a method once, and say which change no test notices.

    python -m tests.mutate slicing slamsa

Tests run in a copy of the project, the fast ones first. A change that lets them all pass is
reported: either a test is missing, or the change means nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import cache_from_source
from pathlib import Path

from tests.support.harness.mutations import Mutation, mutations

ROOT = Path(__file__).parents[1]
COPIED = ("pganon", "sql", "migrations", "tests", "benchmarks", "pyproject.toml")


@dataclass(frozen=True)
class Target:
    """Source of a method, and the tests that are about it."""

    source: Sequence[str]
    tests: Sequence[str]


TARGETS = {
    "mondrian": Target(
        ("pganon/methods/classes/mondrian", "pganon/methods/common/rounds",
         "pganon/methods/classes/cells.py",
         "pganon/methods/classes/surplus.py", "pganon/methods/common/reachable.py",
         "pganon/methods/common/suppression.py"),
        ("test_median_rounds", "test_mondrian_tries", "test_mondrian", "test_nulls",
         "test_infeasible", "test_mondrian_models", "test_suppression"),
    ),
    "one_dimensional": Target(
        ("pganon/methods/classes/one_dimensional", "pganon/methods/classes/leaving.py",
         "pganon/methods/common/packing.py"),
        ("test_windows_of_lines", "test_measures_of_lines", "test_partition_of_lines",
         "test_digits_of_trees", "test_left_out_of_lines", "test_refinement_of_lines",
         "test_one_dimensional", "test_suppression"),
    ),
    "full_domain": Target(
        ("pganon/methods/classes/full_domain",),
        ("test_box_search", "test_full_domain", "test_full_domain_random",
         "test_population_models", "test_population_uniqueness"),
    ),
    "populations": Target(
        ("pganon/encode/population.py", "pganon/methods/common/form/population.py"),
        ("test_population_models",),
    ),
    "attacks": Target(
        ("pganon/attacks",),
        ("test_intervals", "integration/test_oracle", "test_attack"),
    ),
    "alternatives": Target(
        ("pganon/estimation/alternatives.py",),
        ("test_ways", "integration/estimation/test_local"),
    ),
    "qs": Target(
        ("pganon/methods/clusters/qs", "sql/functions/cluster"),
        ("test_qs_clusters", "test_qs_release", "test_qs_published", "test_qs_supported_plan"),
    ),
    "anatomy": Target(
        ("pganon/methods/buckets/anatomy", "pganon/methods/common/eligibility.py"),
        ("test_anatomy",),
    ),
    "slicing": Target(("pganon/methods/buckets/slicing",), ("test_slicing",)),
    "invariant": Target(
        ("pganon/methods/buckets/invariance.py", "pganon/methods/buckets/slamsa/blocks.py",
         "pganon/methods/buckets/search/filling.py", "pganon/methods/buckets/search/partition.py"),
        ("test_filling", "test_buckets_distinct", "test_invariant", "test_invariant_slamsa",
         "test_invariant_vectors"),
    ),
    "slamsa": Target(
        ("pganon/methods/buckets/slamsa", "pganon/methods/common/block_search.py",
         "pganon/methods/common/division.py", "pganon/methods/common/search/blocks.py",
         "pganon/methods/buckets/search"),
        ("test_blocks", "test_buckets_examples", "test_buckets_space", "test_slamsa_blocks",
         "test_buckets_search", "test_slamsa", "test_slamsa_rules", "test_slamsa_refused",
         "test_slamsa_random"),
    ),
    "msb": Target(
        ("pganon/methods/buckets/msb", "pganon/methods/buckets/bucketization.py",
         "pganon/methods/buckets/search/msb.py"),
        ("unit/test_msb", "integration/test_msb"),
    ),
    "sloms": Target(
        ("pganon/methods/buckets/sloms", "pganon/methods/buckets/search/kaca.py"),
        ("test_kaca", "integration/test_sloms"),
    ),
    "local": Target(
        ("pganon/methods/local", "pganon/methods/local/search", "pganon/encode/semi_sensitive.py",
         "pganon/encode/codes.py", "pganon/encode/dictionaries.py"),
        ("test_local_search", "integration/methods/local/test_local", "test_local_examples",
         "test_local_aligned", "test_local_order", "test_local_attacks", "test_local_random",
         "test_median_search", "test_local_blocks"),
    ),
    "danonyir": Target(
        ("pganon/methods/individuals/danonyir.py",
         "pganon/methods/individuals/residuals.py", "pganon/methods/individuals/search"),
        ("test_identity_models", "test_identity_search", "test_identity_examples",
         "integration/test_identity", "test_identity_blocks", "test_identity_random"),
    ),
    "identity_steps": Target(
        tuple(f"pganon/methods/individuals/{name}.py" for name in
              ("__init__", "form", "individuals", "labels", "reading",
               "reservation", "context")),
        ("integration/test_identity", "test_evidence_of_individuals", "test_identity_blocks",
         "test_identity_categories", "test_identity_duplicates", "test_identity_random"),
    ),
    "background_steps": Target(
        (*(f"pganon/methods/background/{name}.py" for name in
           ("__init__", "clusters", "blocks", "value_buckets", "near_classes", "eligible_clusters",
            "options", "prior_facts", "rows", "published_distribution",
            "context")),
         "pganon/methods/background/form/audit.py",
         "pganon/methods/common/form/reference.py", "pganon/resolved/rules.py"),
        ("test_background_blocks", "integration/test_background", "test_published_reference",
         "test_background_attacks", "adversarial/test_background_posterior",
         "test_background_random"),
    ),
    "background": Target(
        ("pganon/methods/background/search",),
        ("test_background_examples", "test_background_data", "test_background_search"),
    ),
    "priors": Target(
        tuple(f"pganon/methods/background/{name}.py" for name in
              ("prior", "kernel", "given_priors", "arrays")),
        ("test_priors", "test_given_priors"),
    ),
    "posteriors": Target(
        ("pganon/methods/background/form/posterior.py",
         "pganon/methods/background/form/__init__.py"),
        ("test_background_posterior",),
    ),
    "geneir": Target(
        ("pganon/methods/individuals/geneir.py",),
        ("integration/test_identity", "test_identity_meetings", "test_identity_random"),
    ),
    "identity_evidence": Target(
        ("pganon/methods/individuals/form.py",),
        ("test_evidence_of_individuals", "test_report_forms"),
    ),
    "evidence": Target(
        ("pganon/metrics/evidence", "pganon/methods/local/form/__init__.py",
         "pganon/methods/clusters/form/__init__.py", "pganon/forms/shape.py"),
        ("test_merging", "integration/metrics/test_evidence", "test_evidence_of_individuals",
         "test_evidence_of_buckets", "test_evidence_of_candidates"),
    ),
    "reading": Target(("sql/functions/read",), ("test_reading",)),
}  # fmt: skip


def files(names: Sequence[str], root: Path = ROOT) -> list[str]:
    """Paths of test files, in their order; `unit/test_msb` is one anywhere below `tests/unit/`."""
    found = []
    for name in names:
        folder, _, file = name.rpartition("/")
        matching = sorted((root / "tests").glob(f"{folder or '*'}/**/{file}.py"))
        if not matching:
            raise SystemExit(f"there is no test file {name}")
        found += [str(path.relative_to(root)) for path in matching]
    return found


class Copy:
    """A copy of the project in which one file at a time is changed."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        for name in COPIED:
            source = root / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / name)

    def passes(self, tests: list[str], seconds: float | None = None) -> bool:
        """Whether all tests pass; those that take too long do not."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly",
                   "-p", "no:cacheprovider", "-n", "0", "-k", "not pg15", *tests]  # fmt: skip
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                timeout=seconds,
                check=False,
                env={"PGANON_TEST_EXAMPLES": "20", **os.environ},
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def survives(self, mutation: Mutation, tests: list[str], seconds: float) -> bool:
        file = self.folder / mutation.path.relative_to(self.root)
        before = file.read_text()
        _replace(file, mutation.of(before))
        try:
            return self.passes(tests, seconds)
        finally:
            _replace(file, before)


def _replace(file: Path, text: str) -> None:
    """Write a file of which nothing compiled is left: Python tells versions of a module apart by
    their size and second only, and two changes can have both in common."""
    file.write_text(text)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def survivors(target: Target, only: str = "", root: Path = ROOT) -> list[Mutation]:
    """Changes that the tests of a method let pass; `only` those with this in their description."""
    found = [m for m in mutations(root / path for path in target.source) if only in str(m)]
    tests = files(target.tests, root)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(root, Path(folder))
        start = time.monotonic()
        if not copy.passes(tests):
            raise SystemExit(f"tests fail without any change: {' '.join(tests)}")
        seconds = 60 + 5 * (time.monotonic() - start)
        survived: list[Mutation] = []
        for number, mutation in enumerate(found, start=1):
            alive = copy.survives(mutation, tests, seconds)
            print(f"{number}/{len(found)} {'SURVIVED' if alive else 'noticed'} {mutation}")
            sys.stdout.flush()
            survived += [mutation] * alive
    return survived


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("methods", nargs="*", choices=[*TARGETS, []], help="all by default")
    parser.add_argument("--list", action="store_true", help="say what would be changed")
    parser.add_argument("--only", default="", help="changes with this in their description")
    parser.add_argument("--tests", help="names of test files, with commas, instead of all")
    arguments = parser.parse_args()
    chosen = [TARGETS[name] for name in arguments.methods or TARGETS]
    if arguments.tests:
        chosen = [replace(target, tests=arguments.tests.split(",")) for target in chosen]
    if arguments.list:
        for target in chosen:
            print(*mutations(ROOT / path for path in target.source), sep="\n")
        return 0
    left = [mutation for target in chosen for mutation in survivors(target, arguments.only)]
    print(f"{len(left)} changes that no test notices", *left, sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
