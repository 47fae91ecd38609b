"""Paths of ready hierarchies as their sources describe them: ranges of codes, prefixes, lists."""

from __future__ import annotations

import re

# By the tens of a letter; there are no codes from D90 on.
ICD10 = """I A00-B99 II C00-D49 III D50-D99 IV E00-E90 V F00-F99 VI G00-G99 VII H00-H59
    VIII H60-H95 IX I00-I99 X J00-J99 XI K00-K95 XII L00-L99 XIII M00-M99 XIV N00-N99
    XV O00-O9A XVI P00-P96 XVII Q00-QA0 XVIII R00-R99 XIX S00-T98 XX V00-Y99 XXI Z00-Z99
    XXII U00-U99"""
ICD9 = """001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679
    680-709 710-739 740-759 760-779 780-799 800-999 V01-V91 E000-E999"""
ICD11 = "123456789ABCDEFGHJKLMNPQRS"
NACE = """A 01-03 B 05-09 C 10-33 D 35-35 E 36-39 F 41-43 G 45-47 H 49-53 I 55-56 J 58-63 K 64-66
    L 68-68 M 69-75 N 77-82 O 84-84 P 85-85 Q 86-88 R 90-93 S 94-96 T 97-98 U 99-99"""
SECTORS = "11 21 22 23 31-33 42 44-45 48-49 51 52 53 54 55 56 61 62 71 72 81 92"
SMALL_ZIPS = "036 059 102 202 203 204 205 369 556 692 753 772 821 823 878 879 884 893"

Path = list[str] | None
"""Labels from level 1 on, without the top; None for what does not fit."""


def path(key: str, word: str, value: str) -> Path:
    """The labels of a value."""
    return globals()[f"_{word}"](value.strip(" ").upper())


def _within(ranges: str, code: str) -> str | None:
    names = ranges.split()
    for name, span in zip(names[::2], names[1::2], strict=True):
        first, last = span.split("-")
        if first <= code <= last:
            return name
    return None


def _icd10(v: str) -> Path:
    if not re.fullmatch(r"([A-Z][0-9][0-9A-Z]|QA[0-9])(\.-|\.?[0-9A-Z]{1,4})?[+*!#]?", v):
        return None
    chapter = _within(re.sub("([0-9A]{2})\\b", lambda m: m[1][0], ICD10), v[:2])
    return [v[:3], v[:2], chapter] if chapter else None


def _icd9cm(v: str) -> Path:
    found = re.fullmatch(r"(\d{3}|V\d{2}|E\d{3})(\.?\d{1,2})?", v)
    for span in ICD9.split() if found else ():
        first, last = span.split("-")
        assert found
        if len(first) == len(found[1]) and first <= found[1] <= last and first[0] <= v[0]:
            return [found[1], span]
    return None


def _icd11(v: str) -> Path:
    stem = re.split("[&/]", v)[0]
    if not re.fullmatch(r"[0-9A-Z]{4}(\.[0-9A-HJ-NP-Z]{1,2})?", stem) or not stem[1].isalpha():
        return None
    if set("IO") & set(stem[:4]) or not stem[2].isdigit() or v[-1] in "&/":
        return None
    if stem[0] == "V":
        return [stem[:4], stem[:2], "V"]
    return [stem[:4], stem[:2], f"{ICD11.index(v[0]) + 1:02}"] if v[0] in ICD11 else None


def _atc(v: str) -> Path:
    lengths = {1: "A", 3: "A99", 4: "A99A", 5: "A99AA", 7: "A99AA99"}
    shape = re.sub("[0-9]", "9", re.sub("[A-Z]", "A", v))
    if v[:1] not in set("ABCDGHJLMNPRSV") or len(v) < 3 or lengths.get(len(v)) != shape:
        return None
    return [v[:5], v[:4], v[:3], v[:1]]


def _isco(v: str) -> Path:
    return [v[:3], v[:2], v[:1]] if re.fullmatch("[0-9]{4}", v) else None


def _sic(v: str) -> Path:
    return [v[:3], v[:2]] if re.fullmatch("[0-9]{4}", v) else None


def _nace(v: str) -> Path:
    if not re.fullmatch(r"[0-9]{2}(\.?[0-9]{1,2})?", v):
        return None
    digits = v.replace(".", "")
    section = _within(NACE, digits[:2])
    group = digits[:2] + ("." + digits[2] if len(digits) > 2 else "")
    return [group, digits[:2], section] if section else None


def _naics(v: str) -> Path:
    if not re.fullmatch("[0-9]{2,6}", v):
        return None
    for sector in SECTORS.split():
        first, last = sector[:2], sector[-2:]
        if first <= v[:2] <= last:
            return [v[:5], v[:4], v[:3], sector]
    return None


def _uk(v: str) -> Path:
    v = v.replace(" ", "") if re.fullmatch("[A-Z0-9]+ ?[A-Z0-9]+", v) else ""
    out, within = v[:-3], v[-3:]
    if not re.fullmatch("[0-9][A-Z]{2}", within):
        return None
    if out != "GIR" and not re.fullmatch("[A-Z]{1,2}[0-9][A-Z0-9]?", out):
        return None
    return [f"{out} {within[0]}", out, re.split("[0-9]", out)[0]]


def _nl(v: str) -> Path:
    return [v[:4], v[:2]] if re.fullmatch("[1-9][0-9]{3} ?[A-Z]{2}", v) else None


def _ca(v: str) -> Path:
    fits = re.fullmatch("[A-Z][0-9][A-Z][ -]?[0-9][A-Z][0-9]", v)
    return [v[:3], v[:1]] if fits else None


def _us(v: str) -> Path:
    if not re.fullmatch("[0-9]{5}(-?[0-9]{4})?", v):
        return None
    # Prefixes that no census area has are not looked up here: the test gives none of them.
    return ["000", "000"] if v[:3] in SMALL_ZIPS.split() else [v[:3], v[:1]]


def _de(v: str) -> Path:
    return [v[:3], v[:2], v[:1]] if re.fullmatch("[0-9]{5}", v) else None


def _fr(v: str) -> Path:
    long = v[:2] in ("97", "98")
    return [v[: 3 if long else 2]] if re.fullmatch("[0-9]{5}", v) else None


def _es(v: str) -> Path:
    return [v[:2]] if re.fullmatch("[0-9]{5}", v) and 1 <= int(v[:2]) <= 52 else None


# By hand from the tables of the UN: a subregion each, with three ways to write a country.
COUNTRIES = {
    "DZ DZA 012": "015 002", "KE KEN 404": "014 002", "CM CMR 120": "017 002",
    "ZA ZAF 710": "018 002", "NG NGA 566": "011 002", "US USA 840": "021 019",
    "CU CUB 192": "029 019", "MX MEX 484": "013 019", "BR BRA 076": "005 019",
    "KZ KAZ 398": "143 142", "JP JPN 392": "030 142", "TW TWN 158": "030 142",
    "VN VNM 704": "035 142", "IN IND 356": "034 142", "TR TUR 792": "145 142",
    "PL POL 616": "151 150", "GB GBR 826": "154 150", "GR GRC 300": "039 150",
    "DE DEU 276": "155 150", "AU AUS 036": "053 009", "FJ FJI 242": "054 009",
    "NR NRU 520": "057 009", "WS WSM 882": "061 009", "AQ ATA 010": "010 010",
}  # fmt: skip


def _m49(v: str) -> Path:
    for names, regions in COUNTRIES.items():
        *letters, number = names.split()
        if v in (*letters, number, number.lstrip("0")):
            return regions.split()
    return None
