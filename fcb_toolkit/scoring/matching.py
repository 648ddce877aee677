"""Calls against calls: which prediction answers which gold call.

    assign([[True, True], [True, False]]) == [1, 0]      # greedy pairing would leave gold 1 alone

Parallel calls are a multiset, so the pairing is a maximum matching in a bipartite graph.
"""

from __future__ import annotations

from collections.abc import Sequence


def assign(fits: Sequence[Sequence[bool]]) -> list[int | None]:
    """For each row the column it is paired with, or None; as many pairs as possible.

    Kuhn's augmenting paths, without recursion: rows and columns are calls, seldom more than ten.
    """
    columns = len(fits[0]) if fits else 0
    owner: list[int | None] = [None] * columns
    for row in range(len(fits)):
        _augment(fits, owner, row)
    pairs: list[int | None] = [None] * len(fits)
    for column, row_of in enumerate(owner):
        if row_of is not None:
            pairs[row_of] = column
    return pairs


def _augment(fits: Sequence[Sequence[bool]], owner: list[int | None], row: int) -> None:
    """Finds a free column for the row, moving earlier rows to other columns where that helps."""
    came_from: dict[int, int] = {}  # column -> the row that reached it
    queue = [row]
    for current in queue:
        for column, fit in enumerate(fits[current]):
            if not fit or column in came_from:
                continue
            came_from[column] = current
            holder = owner[column]
            if holder is not None:
                queue.append(holder)
                continue
            _shift(owner, came_from, column, row)
            return


def _shift(owner: list[int | None], came_from: dict[int, int], column: int, row: int) -> None:
    held = {holder: place for place, holder in enumerate(owner) if holder is not None}
    while True:
        current = came_from[column]
        owner[column] = current
        if current == row:
            return
        column = held[current]


def in_order(fits: Sequence[Sequence[bool]]) -> list[int | None]:
    """As `assign`, for calls whose order counts: pairs may not cross (longest common subsequence)."""
    rows, columns = len(fits), len(fits[0]) if fits else 0
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            length[row][column] = max(
                length[row + 1][column],
                length[row][column + 1],
                length[row + 1][column + 1] + 1 if fits[row][column] else 0,
            )
    pairs: list[int | None] = [None] * rows
    row = column = 0
    while row < rows and column < columns:
        if fits[row][column] and length[row][column] == length[row + 1][column + 1] + 1:
            pairs[row] = column
            row, column = row + 1, column + 1
        elif length[row][column] == length[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs
