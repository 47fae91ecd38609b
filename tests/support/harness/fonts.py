"""Fonts of report pages, from the packages of npm that carry them.

    npm install --prefix FOLDER @fontsource-variable/inter @fontsource-variable/source-serif-4
    pip install fonttools brotli
    python -m tests.support.harness.fonts FOLDER

writes `pganon/report/fonts/`. They have the letters of Western European languages and the weights
that pages use. Their licence asks that what was changed has other names (Source is reserved).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[3] / "pganon/report/fonts"
FONTS: dict[str, tuple[str, str, Any]] = {
    "Report Sans": ("inter", "inter", (400, 600)),
    "Report Serif": ("source-serif-4", "source-serif", 400),
}
"""By name that pages use: package, file, and weights."""

_COPYRIGHT, _LICENCE = 0, 14


def main(packages: Path) -> None:
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    for name, (package, file, weights) in FONTS.items():
        folder = packages / "node_modules/@fontsource-variable" / package
        font = TTFont(folder / f"files/{package}-latin-wght-normal.woff2")
        kept = {n: font["name"].getDebugName(n) for n in (_COPYRIGHT, _LICENCE)}
        options = Options()
        options.hinting = False
        options.layout_features = ["kern", "mark", "ccmp", "liga", "tnum"]
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=font.getBestCmap())
        subsetter.subset(font)
        instantiateVariableFont(font, {"wght": weights}, inplace=True)
        written = font["name"]
        written.names = []
        own = {1: name, 2: "Regular", 4: name, 6: name.replace(" ", "")}
        for number, text in {**kept, **own}.items():
            written.setName(text, number, 3, 1, 0x409)
        font.flavor = "woff2"
        font.save(TARGET / f"{file}.woff2")
        licence = (folder / "LICENSE").read_text("utf-8").partition("\n")[2]
        (TARGET / f"{file}.OFL.txt").write_text(f"{kept[_COPYRIGHT]}\n{licence}", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
