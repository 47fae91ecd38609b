"""Words in names of columns that say what a column is, whole, shortened or with code letters.

Surveys shorten words (`edu`, `schl`, `hispcat`) and add letters that say of whom, or of which kind,
a variable is (`irace`, `agep`, `racex`). Such a match is weaker than a whole word, and a short form
of a sensitive word must be longer, as sensitive columns are published as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile


def listed(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


DIRECT = listed(
    """ssn sin nino nhs mrn passport iban bic email mail phone telephone tel mobile fax
    firstname lastname surname forename fullname username login nickname password ip mac imei vin
    plate licence license url website street address addr latitude longitude lat lon lng geom
    comment comments note notes remark remarks description freetext signature photo"""
)
SENSITIVE = listed(
    """disease diagnosis diagnoses diag dx icd condition illness disorder symptom treatment therapy
    medication drug prescription procedure allergy hiv std disability pregnancy salary income inc
    wage wages pay bonus revenue wealth poverty debt loan balance credit score occupation occ
    profession job crime offence offense conviction religion belief politics party vote union
    sexuality orientation genotype gene result outcome grade grades"""
)
QUASI = listed(
    """age birth birthday birthdate born dob yob zip zipcode postcode postal plz sex gender race
    ethnicity ethnic hispanic nationality citizenship country native state province region county
    city town municipality district commune area location residence marital marriage relationship
    spouse education degree school schooling workclass employer employment industry sector
    household children language ancestry veteran height weight admission discharge visit death
    year"""
)
ALIKE = {
    "identifying": DIRECT
    | listed(
        """vorname nachname familienname telefon telefonnummer handy adresse anschrift strasse
        hausnummer versichertennummer versicherungsnummer steuernummer ausweisnummer bemerkung
        bemerkungen kommentar freitext unterschrift nom prenom adresse courriel rue telephone
        commentaire commentaires remarque remarques nir"""
    ),
    "sensitive": SENSITIVE
    | listed(
        """stroke asthma diabetes diabetic cancer tumor tumour hypertension depression anxiety copd
        dementia epilepsy hepatitis tuberculosis arthritis obesity angina infarction stenosis
        schizophrenia addiction smoking smoker alcohol drinking drugs mental suicide abortion
        infection virus syphilis sepsis pneumonia covid health medication
        diagnose diagnosen hauptdiagnose krankheit krankheiten erkrankung erkrankungen befund
        befunde symptome behandlung therapie medikament medikamente allergie behinderung
        schwangerschaft krebs schlaganfall bluthochdruck herzinfarkt gehalt einkommen lohn verdienst
        rente schulden vermoegen beruf taetigkeit straftat konfession partei gewerkschaft
        maladie maladies diagnostic diagnostics pathologie symptome traitement medicament
        medicaments allergie handicap grossesse diabete asthme cancer avc tabac alcool revenu
        revenus salaire dette dettes metier infraction confession parti syndicat"""
    ),
    "quasi_identifying": QUASI
    | listed(
        """alter altersgruppe geburt geburtsdatum geburtstag geburtsjahr geschlecht postleitzahl ort
        wohnort bundesland land landkreis kreis gemeinde stadt herkunft staatsangehoerigkeit
        nationalitaet familienstand bildung schulabschluss abschluss kinder haushalt branche groesse
        gewicht aufnahme aufnahmedatum entlassung entlassungsdatum todesdatum jahr
        sexe naissance codepostal ville departement pays nationalite matrimonial etatcivil diplome
        enfants menage langue secteur taille poids admission sortie deces annee"""
    ),
}
"""Whole words by role, of English, German and French; words of diseases, too."""
NOMINAL = listed(
    """sex gender race ethnicity ethnic hispanic nationality citizenship country state province
    region county zip zipcode postcode postal plz marital relationship workclass industry sector
    language geschlecht postleitzahl bundesland land familienstand branche sexe codepostal
    departement pays secteur langue"""
)
"""Words of columns whose numbers are codes, whatever they look like."""
_SHORT = listed("ip mac tel lat lon lng std inc occ edu nom rue ort dx sin nhs bic vin dob yob plz")
_JOINED = listed(
    """gen category class code group level number range type status years value date of heart kidney
    skin lung liver blood brain breast physical general activity history chronic record main
    first second primary secondary nr nummer number name id"""
)
"""Words that say something only beside others."""

PEOPLE = listed(
    """patient patients person persons people subject participant respondent proband resident
    inhabitant citizen customer client consumer user member employee worker student pupil donor
    individual visitor passenger borrower taxpayer"""
)
STAFF = listed(
    """doctor physician nurse midwife surgeon therapist teacher tutor lecturer staff clerk agent
    driver officer author contact guardian parent mother father child relative supervisor manager
    arzt aerzte pfleger lehrer mitarbeiter kontakt medecin infirmier enseignant"""
)
"""People beside those whom a release protects."""
NUMBERING = listed("seq sequence line item version repeat")
"""Occasions that only number the rows of somebody."""
PERSONAL = listed(
    """firstname lastname surname forename fullname vorname nachname familienname prenom ssn nino
    passport birthday birthdate born dob geburtsdatum geburtstag naissance sex gender geschlecht
    sexe"""
)
"""Words of columns that tables of people have, and no others."""
SEXES = listed("sex gender geschlecht sexe")
OCCASIONS = listed(
    """year month week day date quarter semester term season wave round period visit time occasion
    seq sequence line item version repeat"""
)
"""Words that say which of several records of the same person a record is."""
WEAK = listed("id ids uid uuid guid key pk name no nr nbr num number code serial ref token")

_UNTYPICAL = listed(
    """count counts date time type total value test status statement image page stage class level
    medical"""
)
"""Words of their own that look like a short form or like one with code letters."""

_BEFORE = "cdinp"
_AFTER = "cdpx"
"""Letters by which surveys mark a variable: categorical or coded, derived, imputed, numeric, of a
person; an edited or constructed one ends in x."""

_ROLES = (("quasi_identifying", QUASI, 3, 4), ("sensitive", SENSITIVE, 4, 6))
"""Role, words, least length of a short form, and of a word or stem with an ending."""

_LONGEST_ENDING = 4
_STEM_OF = 6
"""Least length of a word whose beginning may be a stem, as in `hispcat`."""


@dataclass(frozen=True)
class Match:
    """A word that a name may stand for, and the role of columns that it names."""

    word: str
    role: str


def words(name: str) -> list[str]:
    """`dateOfBirth2` -> date, of, birth. Letters of other languages are those of English."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().translate(_GERMAN)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    return [word for word in re.split(r"[^a-z]+", plain) if word]


def whole_words(name: str) -> frozenset[str]:
    """The words of a name, all of them written as one, and those that are written as one."""
    parts = words(name)
    return frozenset({*parts, "".join(parts), *(w for part in parts for w in _apart(part, _KNOWN))})


_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_KNOWN = frozenset[str]().union(*ALIKE.values(), PEOPLE, _JOINED) - _SHORT
"""Words that names are made of; short ones are found in many others."""


def _apart(word: str, known: frozenset[str]) -> list[str]:
    """`agecategory` -> age, category; nothing if it is a word of its own, or not all are known."""
    if word in known:
        return []
    for cut in range(len(word) - 1, 1, -1):
        first, rest = word[:cut], word[cut:]
        if first in known and (others := [rest] if rest in known else _apart(rest, known)):
            return [first, *others]
    return []


def shortened(name: str) -> Match | None:
    """The listed word that a word of the name may stand for."""
    for part in words(name):
        if part in _UNTYPICAL or part in WEAK:
            continue
        for form in _without_code_letters(part):
            for role, of_role, cut, stem in _ROLES:
                fitting = [w for w in sorted(of_role) if _fits(form, w, cut, stem)]
                if fitting:
                    return Match(form if form in of_role else fitting[0], role)
    return None


def _without_code_letters(part: str) -> Iterator[str]:
    yield part
    if part[0] in _BEFORE:
        yield part[1:]
    if part[-1] in _AFTER:
        yield part[:-1]
        if part[0] in _BEFORE:
            yield part[1:-1]


def _fits(form: str, word: str, cut: int, stem: int) -> bool:
    if form == word or len(form) < cut:
        return form == word
    if word.startswith(form) or (
        len(word) >= stem and form == (word[0] + re.sub("[aeiou]", "", word[1:]))
    ):
        return True
    same = takewhile(lambda pair: pair[0] == pair[1], zip(form, word, strict=False))
    common = len(list(same))
    if len(form) - common > _LONGEST_ENDING:
        return False
    is_stem = len(word) >= _STEM_OF and common >= stem
    return is_stem or (common == len(word) and (common >= stem or word == "dob"))
