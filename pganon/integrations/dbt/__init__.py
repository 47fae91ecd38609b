"""A dbt package with the materialization `pganon_release`: a model that asks for a release.

dbt reads the files of this folder; nothing of pganon runs in it.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
"""For `packages.yml`: `- local: <this folder>`."""
