"""Words of papers and of other tools lead to what a policy calls them."""

from __future__ import annotations

from pathlib import Path

from pganon.loading import known
from pganon.policy.refusals import TERMS, nearest, plain
from pganon.policy.words import ROLES

PAGE = Path(__file__).parents[3] / "docs/reference/glossary.md"


def test_they_lead_to_words_of_a_policy_and_to_no_other_of_the_same_spelling() -> None:
    registry = known()
    words = {*registry.methods, *registry.models, *ROLES}
    assert {one for found in TERMS.values() for one in found} <= words
    spelled = {plain(word): word for word in words}
    assert all(spelled.get(plain(term), found[0]) in found for term, found in TERMS.items())
    assert len({plain(term) for term in TERMS}) == len(TERMS)


def test_messages_know_them_however_they_are_written() -> None:
    models = known().models
    assert nearest("L_Diversity", models) == (
        'did you mean "distinct_l_diversity", "entropy_l_diversity", "recursive_cl_diversity",'
        ' "anatomy_l_diversity" or "slicing_l_diversity"?'
    )
    assert nearest("(α,k)-anonymity", models) == 'did you mean "alpha_k_anonymity"?'
    assert nearest("datafly", known().methods) == 'did you mean "full_domain"?'
    assert nearest("k-anonymity-primacy", known().methods) == 'did you mean "kinc" or "kagg"?'
    # Of another kind it is none, and typing errors are found as before.
    assert nearest("datafly", ["mondrian"]) == "known: mondrian"
    assert nearest("mondrain", known().methods) == 'did you mean "mondrian"?'


def test_the_glossary_lists_them() -> None:
    groups: dict[tuple[str, ...], list[str]] = {}
    for term, words in TERMS.items():
        groups.setdefault(words, []).append(term)
    page = PAGE.read_text("utf-8")
    for words, terms in groups.items():
        assert f"- {', '.join(terms)}: {', '.join(f'`{word}`' for word in words)}\n" in page
