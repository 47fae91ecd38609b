"""Pieces of work on several connections: order of results, of errors, and what is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest

from pganon.run.pool import Connection, Piece, Wanted, _Bench, side_by_side
from tests.support.harness.faults import LONG


class _Conn:
    """Stands for a connection; `cancelled` is set when its statement is cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def cancel_safe(self, *, timeout: float) -> None:
        assert timeout > 0
        self.cancelled.set()


def _crew(size: int) -> Sequence[Connection]:
    return cast("Sequence[Connection]", [_Conn() for _ in range(size)])


def _statement(conn: Any, seconds: float = 10) -> None:
    """A long statement, which fails when it is cancelled."""
    if conn.cancelled.wait(seconds):
        raise TimeoutError("cancelled")


def _gives(value: int) -> Piece[int]:
    return lambda conn, wanted: value


def _fails(error: BaseException, *after: threading.Event) -> Piece[int]:
    def piece(conn: Connection, wanted: Wanted) -> int:
        for event in after:
            assert event.wait(LONG)
        raise error

    return piece


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_results_are_in_the_order_of_the_pieces(size: int) -> None:
    assert side_by_side([_gives(n) for n in range(20)], _crew(size)) == list(range(20))
    assert side_by_side([], _crew(size)) == []


def test_early_pieces_start_first_and_change_nothing_else() -> None:
    begun: list[int] = []
    lock = threading.Lock()

    def piece(number: int) -> Piece[int]:
        def run(conn: Connection, wanted: Wanted) -> int:
            with lock:
                begun.append(number)
            if number in (2, 4):
                raise KeyError(number)
            return number

        return run

    with pytest.raises(KeyError, match="2"):
        side_by_side([piece(n) for n in range(6)], _crew(2), early=[4, 5])
    assert set(begun) >= {0, 1, 2, 4}
    assert begun.index(4) < begun.index(2)
    assert 3 not in begun or begun.index(3) > begun.index(2)
    assert side_by_side([_gives(n) for n in range(6)], _crew(2), early=[4, 5]) == list(range(6))


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_piece_waits_for_those_that_it_comes_after(size: int) -> None:
    ended: list[int] = []

    def piece(number: int) -> Piece[list[int]]:
        def run(conn: Connection, wanted: Wanted) -> list[int]:
            seen = list(ended)
            threading.Event().wait(0.001 * (7 - number))
            ended.append(number)
            return seen

        return run

    after = {3: [0, 1], 4: [3], 6: [2, 4]}
    for _ in range(10):
        ended.clear()
        found = side_by_side([piece(n) for n in range(7)], _crew(size), [6, 4], after)
        assert all(set(first) <= set(found[number]) for number, first in after.items())


def test_others_start_while_a_piece_waits() -> None:
    other = threading.Event()

    def first(conn: Connection, wanted: Wanted) -> bool:
        return other.wait(LONG)

    def last(conn: Connection, wanted: Wanted) -> bool:
        other.set()
        return True

    pieces = [first, _gives(True), last]
    assert side_by_side(pieces, _crew(2), after={1: [0]}) == [True, True, True]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_piece_after_one_that_fails_is_never_begun(size: int) -> None:
    begun: list[int] = []

    def piece(conn: Connection, wanted: Wanted) -> int:
        begun.append(2)
        return 2

    for _ in range(20):
        pieces = [_gives(0), _fails(KeyError("first")), piece]
        with pytest.raises(KeyError, match="first"):
            side_by_side(pieces, _crew(size), [2], {2: [0, 1]})
    assert not begun


def test_a_piece_cannot_wait_for_a_later_one() -> None:
    with pytest.raises(AssertionError):
        side_by_side([_gives(0), _gives(1)], _crew(2), after={0: [1]})


def test_pieces_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=LONG)
    pieces = [lambda conn, wanted: meeting.wait()] * 3
    assert sorted(side_by_side(pieces, _crew(3))) == [0, 1, 2]


def test_no_piece_shares_its_connection() -> None:
    used: list[Connection] = []
    lock = threading.Lock()

    def piece(conn: Connection, wanted: Wanted) -> int:
        with lock:
            assert conn not in used
            used.append(conn)
        threading.Event().wait(0.001)
        with lock:
            used.remove(conn)
        return 0

    assert side_by_side([piece] * 50, _crew(3)) == [0] * 50


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_first_error_in_order_is_raised(size: int) -> None:
    """Whichever piece was faster."""
    for _ in range(20):
        pieces = [_gives(0), _fails(KeyError("first")), _fails(ValueError("second")), _gives(3)]
        with pytest.raises(KeyError, match="first"):
            side_by_side(pieces, _crew(size))


def test_pieces_before_an_error_are_finished_and_may_have_one_themselves() -> None:
    failed = threading.Event()

    def earlier(conn: Connection, wanted: Wanted) -> int:
        assert failed.wait(LONG)
        assert wanted()
        assert not cast("_Conn", conn).cancelled.wait(0.05)
        raise KeyError("earlier")

    def later(conn: Connection, wanted: Wanted) -> int:
        failed.set()
        raise ValueError("later")

    with pytest.raises(KeyError, match="earlier"):
        side_by_side([earlier, later], _crew(2))


def test_pieces_after_an_error_are_cancelled_or_never_begun() -> None:
    begun = threading.Event()
    seen: list[bool] = []

    def later(conn: Connection, wanted: Wanted) -> int:
        begun.set()
        try:
            _statement(conn)
        finally:
            seen.append(wanted())
        return 0

    def never(conn: Connection, wanted: Wanted) -> int:
        raise AssertionError("begun")

    with pytest.raises(KeyError):
        side_by_side([_fails(KeyError(), begun), later, never, never], _crew(2))
    assert seen == [False]


def test_a_cancellation_between_two_statements_is_not_lost() -> None:
    """The server has nothing to cancel then, and the next statement would run to its end."""
    begun = threading.Event()

    def later(conn: Connection, wanted: Wanted) -> int:
        begun.set()
        cancelled = cast("_Conn", conn).cancelled
        assert cancelled.wait(LONG)
        cancelled.clear()  # no statement was there to be cancelled
        _statement(conn)
        return 0

    with pytest.raises(KeyError):
        side_by_side([_fails(KeyError(), begun), later], _crew(2))


def test_an_interrupt_cancels_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the main thread is told of it; no piece goes on in the background."""
    begun = [threading.Event(), threading.Event()]
    ended: list[int] = []

    def piece(number: int) -> Piece[int]:
        def run(conn: Connection, wanted: Wanted) -> int:
            begun[number].set()
            try:
                _statement(conn)
            finally:
                ended.append(number)
            return number

        return run

    original = _Bench._unwanted

    def interrupted(self: Any) -> Any:
        monkeypatch.setattr(_Bench, "_unwanted", original)
        assert all(event.wait(LONG) for event in begun)
        raise KeyboardInterrupt

    monkeypatch.setattr(_Bench, "_unwanted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        side_by_side([piece(0), piece(1)], _crew(2))
    assert sorted(ended) == [0, 1]
