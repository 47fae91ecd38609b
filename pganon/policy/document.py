"""Text of a policy file -> plain data with line numbers.

YAML 1.2 as far as scalars go: only `true` and `false` are booleans, so `on`, `no` and `y` stay
texts, as do dates and numbers with leading zeros (codes, mostly). Keys are always texts. JSON is
read with the same code, after Python's own parser has accepted it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from pganon.errors import Problem
from pganon.policy.refusals import Place, show

MAX_ALIASES = 20
MAX_DEPTH = 100
MAX_NODES = 200_000

_PLAIN_KEY = re.compile(r"[^\W\d][\w$-]*\Z")
_TAG = "tag:yaml.org,2002:"


def field_path(place: Place) -> str:
    """`columns.age.hierarchy.intervals[1]`; parts that are no plain words stand in quotes."""
    out = ""
    for part in place:
        if isinstance(part, int):
            out += f"[{part}]"
        else:
            word = part if _PLAIN_KEY.match(part) else show(part, 80)
            out += f".{word}" if out else word
    return out


class Lines(dict[Place, int]):
    """The line of every key and list item of a file, from 1; empty where there is no file."""

    def of(self, place: Place) -> int | None:
        """The line of a place, or of the nearest place around it."""
        while place not in self and place:
            place = place[:-1]
        return self.get(place)

    def problem(self, place: Place, message: str, suggestion: str | None = None) -> Problem:
        """A problem at a place."""
        return Problem(message, field_path(place), self.of(place), suggestion)


@dataclass
class Document:
    """Data of a policy file.

    Attributes:
        filled: places of texts that have the value of a variable.
    """

    data: Any = None
    lines: Lines = field(default_factory=Lines)
    problems: list[Problem] = field(default_factory=list)
    filled: frozenset[Place] = frozenset()


class _Refused(Exception):
    """Stops reading."""

    def __init__(
        self, message: str, line: int | None = None, suggestion: str | None = None
    ) -> None:
        super().__init__(message)
        self.problem = Problem(message, line=line, suggestion=suggestion)


class _Loader(yaml.SafeLoader):
    """Composes nodes; knows the scalars of this module and few aliases."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            self.aliases += 1
            if self.aliases > MAX_ALIASES:
                line = self.peek_event().start_mark.line + 1
                raise _Refused(f"more than {MAX_ALIASES} aliases", line)
        return super().compose_node(parent, index)


_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"(?:|~|null)\Z"), ["", "~", "n"])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"(?:true|false)\Z"), ["t", "f"])
_Loader.add_implicit_resolver(
    f"{_TAG}int", re.compile(r"-?(?:0|[1-9][0-9]{0,99})\Z"), list("-0123456789")
)
_Loader.add_implicit_resolver(
    f"{_TAG}float",
    re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,4})?\Z"),
    list("-0123456789"),
)


def read_document(text: str, *, is_json: bool | None = None) -> Document:
    """Read YAML or JSON; errors are added to `problems`, and the rest is read on.

    Args:
        is_json: True if the file's name says so; None to decide by content.
    """
    document = Document()
    try:
        if is_json or (is_json is None and text.lstrip().startswith("{")):
            text = _json_as_yaml(text, required=bool(is_json))
        node = _compose(text)
        if node is None:
            raise _Refused("the file is empty", suggestion="see `pganon policy init`")
        document.data = _Builder(document).build(node, ())
    except _Refused as refused:
        document.data = None
        document.problems.append(refused.problem)
    return document


def _json_as_yaml(text: str, *, required: bool) -> str:
    """Valid JSON without tabs is YAML; in JSON tabs stand between tokens only."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        if not required:
            return text
        line = getattr(error, "lineno", None)
        raise _Refused(f"not valid JSON: {getattr(error, 'msg', error)}", line) from None
    return text.replace("\t", " ")


def _compose(text: str) -> yaml.Node | None:
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _Refused("a control character that a policy must not hold", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context_mark and "<stream end>" in (error.problem or ""):
            mark = error.context_mark  # where the bracket was opened, not the end of the file
        tab = "\\t" in (error.problem or "")
        raise _Refused(
            f"not valid YAML: {(error.problem or 'cannot be read')[:200]}",
            mark.line + 1 if mark else None,
            "indent with spaces, not with tabs" if tab else None,
        ) from None
    except RecursionError:
        raise _Refused(f"nested more than {MAX_DEPTH} levels deep") from None


class _Builder:
    """Makes plain data of nodes; notes lines and problems in the document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = 0

    def build(self, node: yaml.Node, place: Place) -> Any:
        line = node.start_mark.line + 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Refused(f"more than {MAX_NODES} values", line)
        if len(place) > MAX_DEPTH:
            raise _Refused(f"nested more than {MAX_DEPTH} levels deep", line)
        self.document.lines.setdefault(place, line)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.build(item, (*place, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, place)
        return self._problem(place, f"the tag {show(node.tag)} is not supported", line)

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(place, "a key must be a plain word, not a list or mapping", line)
                continue
            key = _text(key_node.value)
            here = (*place, key)
            if key in out:
                first = self.document.lines[here]
                self._problem(
                    here, f"written twice, on line {first} and on line {line}", line, "keep one"
                )
                continue
            self.document.lines[here] = line
            out[key] = self.build(value_node, here)
        return out

    def _scalar(self, node: yaml.ScalarNode, place: Place) -> Any:
        kind = node.tag.removeprefix(_TAG)
        text = _text(node.value)
        try:
            match kind:
                case "str":
                    return text
                case "null":
                    return None
                case "bool":
                    return {"true": True, "false": False}[text]
                case "int":
                    return int(text)
                case "float":
                    return float(text)
        except (ValueError, KeyError):
            pass  # a written tag that does not fit its text, as in `!!int abc`
        line = node.start_mark.line + 1
        return self._problem(place, f"the tag {show(node.tag)} is not supported", line)

    def _problem(
        self, place: Place, message: str, line: int, suggestion: str | None = None
    ) -> None:
        self.document.problems.append(Problem(message, field_path(place), line, suggestion))


def _text(text: str) -> str:
    """Joins surrogate pairs, which JSON writes as two escapes; lone ones become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
