"""Quotients by one number are in the order of what is divided: cells of a
coarse grid need no check, whatever the size of the picture."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def between_cells(img, rows):
    """The last cell is looked up from the one before."""
    grid = np.zeros(rows // 8 + 1)
    last = grid.shape[0] - 1
    for x in range(grid.shape[0]):
        grid[x] = img[x]
    out = np.zeros(rows)
    for x in range(rows):
        cell = x // 8
        part = (x % 8) / 8.0
        if cell == last:
            cell -= 1
            part = 1.0
        out[x] = grid[cell] * (1 - part) + grid[cell + 1] * part
    return out


def rounded(img, rows):
    """Halves go to the next cell, of which there is one."""
    grid = np.zeros(rows // 8 + 1)
    for x in range(rows):
        grid[min((x + 4) // 8, grid.shape[0] - 1)] += img[x]
        grid[(x + 1) // 8] += 1.0
    return grid


def too_far(img, rows):
    """Here the cell may be missing."""
    grid = np.zeros(rows // 8 + 1)
    for x in range(rows):
        grid[(x + 4) // 8] += img[x]
    return grid


def backwards(img, rows):
    grid = np.zeros(rows // 5 + 2)
    for x in range(rows - 1, -1, -1):
        grid[(rows - x) // 5 + 1] += img[x]
    return grid


def doubled(img, rows):
    """int() of a half, which is cut towards zero."""
    out = np.zeros(rows)
    for x in range(rows):
        out[x] = img[int(x / 2)] + img[int((x + 1) * 0.5)]
        out[x] += int((x - 7) / 2) + int(x / -2) + int(x / 3) + int(x * 2.0)
    return out


@pytest.mark.parametrize("program", [between_cells, rounded, too_far,
                                     backwards, doubled])
def test_cells(program):
    fn = accelerate(program)
    img = np.random.RandomState(2).rand(300)
    for rows in [*range(10, 40), 0, 1, 7, 8, 9, 299]:
        assert_same(fn, (img, rows), native=False)


def test_halves_are_shifts():
    text = accelerate(doubled).inspect_c(np.zeros(40), 33)
    assert text.count(" >> 1;") == 2, text


@pytest.mark.parametrize("program", [between_cells, rounded, backwards])
def test_nothing_is_checked(program):
    text = accelerate(program).explain(np.zeros(40), 33)
    left = [line for line in text.split("\n")
            if "check of an index" in line and "every round" in line]
    assert not left, text
