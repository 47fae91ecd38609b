"""Candidates of a policy: which there are, and what is refused before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pganon.candidates.policies import MOST, Candidate, candidates_of
from pganon.candidates.settings import Method, Varied, varied_in
from pganon.errors import PolicyError, UsageError
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy

POLICY = """
release: visits
source: public.visit
where: age > 20
columns:
  age: {role: quasi_identifying}
  disease: {role: sensitive}
  drug: {role: sensitive}
privacy:
  - {model: k_anonymity, k: 5}
  - {model: t_closeness, column: disease, t: 0.4}
  - {model: t_closeness, column: drug, t: 0.3}
method: {name: mondrian, variant: relaxed}
"""


def made(*texts: str, methods: Sequence[Method] = (), text: str = POLICY) -> tuple[Candidate, ...]:
    return candidates_of(load_policy(text), methods, [varied_in(one) for one in texts])


def policies(candidates: Sequence[Candidate]) -> list[LoadedPolicy]:
    return [c.policy for c in candidates if isinstance(c.policy, LoadedPolicy)]


def parameters(candidates: Sequence[Candidate], name: str) -> list[list[Any]]:
    """Of every policy the values of a parameter of its models."""
    return [
        [model[name] for model in one.policy.document()["privacy"] if name in model]
        for one in policies(candidates)
    ]


def refused(*texts: str, methods: Sequence[Method] = ()) -> UsageError:
    with pytest.raises(UsageError) as error:
        made(*texts, methods=methods)
    return error.value


def test_the_policy_itself() -> None:
    (alone,) = made()
    assert alone.varied == {}
    assert alone.method == {"name": "mondrian", "variant": "relaxed"}
    assert policies([alone])[0].policy == load_policy(POLICY).policy


def test_every_combination_in_order() -> None:
    found = made("k=5,10", "drug.t=0.1,0.2")
    assert [one.varied for one in found] == [
        {"k": k, "drug.t": t} for k in (5, 10) for t in (0.1, 0.2)
    ]
    assert parameters(found, "k") == [[5], [5], [10], [10]]
    assert parameters(found, "t") == [[0.4, 0.1], [0.4, 0.2], [0.4, 0.1], [0.4, 0.2]]


def test_a_name_means_every_model_that_has_it() -> None:
    assert parameters(made("t=0.1"), "t") == [[0.1, 0.1]]
    assert parameters(made("t_closeness.t=0.1"), "t") == [[0.1, 0.1]]
    assert parameters(made("disease.t=0.1"), "t") == [[0.1, 0.3]]


def test_methods_by_name_and_by_text() -> None:
    named = made(methods=["mondrian", {"name": "mondrian"}, {"name": "mondrian", "price": 0.5}])
    assert [one.method for one in named] == [
        {"name": "mondrian", "variant": "relaxed"},  # as in the policy
        {"name": "mondrian"},
        {"name": "mondrian", "price": 0.5},
    ]


def test_a_parameter_of_one_method_is_varied_in_that_alone() -> None:
    found = made("choose=loss,width", methods=["mondrian", "js_reduce"])
    assert [(one.method["name"], dict(one.varied)) for one in found] == [
        ("mondrian", {"choose": "loss"}),
        ("mondrian", {"choose": "width"}),
        ("js_reduce", {}),
    ]
    assert [one.policy.method.choose for one in policies(found[:2])] == ["loss", "width"]


def test_the_same_policy_is_one_candidate() -> None:
    assert len(made("k=5,5")) == 1
    assert len(made(methods=["mondrian", "mondrian"])) == 1
    explicit = {"name": "mondrian", "variant": "relaxed", "choose": "loss"}  # the default
    assert len(made(methods=["mondrian", explicit])) == 1


def test_a_method_that_cannot_serve_the_policy_is_a_candidate_without_one() -> None:
    ok, wrong = made("k=7", methods=["mondrian", "anatomy"])
    assert isinstance(ok.policy, LoadedPolicy)
    assert isinstance(wrong.policy, PolicyError)
    assert "the method anatomy cannot guarantee k_anonymity" in wrong.policy.message


BUCKETS: Method = {
    "method": "anatomy",
    "privacy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 3}],
}


def test_models_may_come_with_a_method() -> None:
    text = POLICY.replace("  drug: {role: sensitive}\n", "").replace(
        "  - {model: t_closeness, column: drug, t: 0.3}\n", ""
    )
    ways = ["mondrian", BUCKETS, {"method": {"name": "mondrian"}, "suppression_limit": 0.1}]
    found = made("k=5,10", "l=2,4", methods=ways, text=text)
    assert [(one.method["name"], dict(one.varied)) for one in found] == [
        ("mondrian", {"k": 5}),
        ("mondrian", {"k": 10}),
        ("anatomy", {"l": 2}),
        ("anatomy", {"l": 4}),
        ("mondrian", {"k": 5}),
        ("mondrian", {"k": 10}),
    ]
    assert [one.suppression_limit for one in found] == [0, 0, 0, 0, 0.1, 0.1]
    assert [one.policy.suppression_limit for one in policies(found)] == [0, 0, 0, 0, 0.1, 0.1]
    assert [[model["model"] for model in one.privacy] for one in found[1:3]] == [
        ["k_anonymity", "t_closeness"],
        ["anatomy_l_diversity"],
    ]
    assert parameters(found, "l") == [[], [], [2], [4], [], []]
    # Parameters that nobody wrote are there, so that measures can be told apart.
    assert found[0].privacy[1]["distance"] == "equal"


def test_parameters_of_requests_stay_what_they_are() -> None:
    least = "least: {min: 20, max: 30}, k: {min: 5, max: 9}"
    requests = f"requests: {{roles: [analyst], parameters: {{{least}}}}}\n"
    asked = POLICY.replace("age > 20", "age > :least") + requests
    found = made("k=6,7", text=asked)
    assert [one.policy.where for one in policies(found)] == ["age > (20)"] * 2


@pytest.mark.parametrize(
    ("texts", "methods", "message", "hint"),
    [
        (
            ["q=1"],
            [],
            "--vary q: no privacy model and no method here has this parameter",
            "there is k (k_anonymity); t, distance, min_size (t_closeness);"
            " variant, choose, price (mondrian)",
        ),
        (["k_anonymity.t=1"], [], "--vary k_anonymity.t: no privacy model", "there is k"),
        (["column=drug"], [], "--vary column: no privacy model", "there is k"),
        (["model=l"], [], "--vary model: no privacy model", "there is k"),
        (["name=l"], [], "--vary name: no privacy model", "there is k"),
        (["k=5", "k=6"], [], "--vary k is given twice", "once"),
        (["k=5,1"], [], "--vary k=1: must be at least 2, not 1", None),
        (["k=many"], [], '--vary k=many: must be a whole number, not "many"', None),
        (["choose=first"], [], '--vary choose=first: "first" is not a way', "width, loss"),
        ([], ["mondrain"], '--methods: "mondrain" is not a method', 'did you mean "mondrian"?'),
        ([], [{"name": "mondrian", "prize": 1}], "--methods: prize: is not a key", '"price"'),
        ([], [{**BUCKETS, "where": "true"}], "--methods: where cannot come", "suppression_limit"),
        (
            [],
            [{"method": "anatomy", "privacy": [{"model": "l"}]}],
            '--methods: privacy[0].model: "l" is not',
            None,
        ),
        ([], [{"method": "anatomy", "privacy": {}}], "--methods: privacy: must be a list", None),
        (
            [f"k={','.join(map(str, range(2, MOST + 3)))}"],
            [],
            f"more than {MOST} candidates",
            "fewer",
        ),
    ],
)
def test_what_is_refused_at_once(
    texts: list[str], methods: list[Method], message: str, hint: str | None
) -> None:
    error = refused(*texts, methods=methods)
    assert message in error.message
    assert hint is None or hint in (error.hint or "")


def test_as_many_as_there_may_be() -> None:
    assert len(made(f"k={','.join(map(str, range(2, MOST + 2)))}")) == MOST


def test_a_parameter_of_a_model_and_of_the_method() -> None:
    model = "{model: beta_likeness, column: drug, beta: 2}"
    text = POLICY.replace("{model: t_closeness, column: drug, t: 0.3}", model)
    with pytest.raises(UsageError) as error:
        made("variant=strict", text=text)
    assert error.value.message == "--vary variant: beta_likeness, mondrian have this parameter"
    assert error.value.hint == "say which: beta_likeness.variant or mondrian.variant"
    (found,) = made("beta_likeness.variant=basic", text=text)
    assert found.method["variant"] == "relaxed"
    assert parameters([found], "variant") == [["basic"]]


def test_labels() -> None:
    assert Varied("t", (1,), "drug").label == "drug.t"
