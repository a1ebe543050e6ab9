"""Tangents along several directions beside each other: where each number lies, and that all come back."""

from __future__ import annotations

import numpy as np

from enzyme_driver.runtime.transforms.beside import Beside


def test_the_numbers_of_all_directions_follow_each_other() -> None:
    x = np.arange(12.0).reshape(4, 3)
    beside = Beside({"x": x}, "x", "x", 4)
    beside.take(range(1, 3))
    front = beside.fronts["x"]
    assert (front.shape, front.dtype) == ((3,), x.dtype)
    lying = np.frombuffer(front.base, float).reshape(3, 4)
    np.testing.assert_array_equal(lying, [[3, 6, 0, 0], [4, 7, 0, 0], [5, 8, 0, 0]])
    lying.setflags(write=True)
    lying *= 10
    beside.give_back(range(1, 3))
    np.testing.assert_array_equal(x, [[0, 1, 2], [30, 40, 50], [60, 70, 80], [9, 10, 11]])


def test_members_of_a_struct_stay_apart() -> None:
    dtype = np.dtype([("a", "f8"), ("n", "i4"), ("b", "f4", (2,))])
    many = np.zeros((2, 5), dtype)
    many["a"], many["b"] = np.arange(10.0).reshape(2, 5), np.arange(20.0).reshape(2, 5, 2)
    before = many.copy()
    beside = Beside({"s": many}, "s", "s", 2)
    beside.take(range(2))
    lying = np.frombuffer(beside.fronts["s"].base, np.uint8).reshape(5, 2 * dtype.itemsize)
    np.testing.assert_array_equal(lying[1, :16].view(float), [1, 6])
    np.testing.assert_array_equal(lying[1, 24:32].view(np.float32), [2, 12])
    many[...] = np.zeros((), dtype)
    beside.give_back(range(2))
    np.testing.assert_array_equal(many, before)


def test_real_and_imaginary_parts_are_numbers_of_their_own() -> None:
    z = np.array([[1 + 2j], [3 + 4j]])
    beside = Beside({"z": z}, "z", "", 2)
    beside.take(range(2))
    lying = np.frombuffer(beside.fronts["z"].base, float)
    np.testing.assert_array_equal(lying, [1, 3, 2, 4])


def test_numbers_by_value() -> None:
    scale = np.array([0.5, -1.0, 2.0])
    beside = Beside({"scale": scale}, {"scale"}, {"scale"}, 4)
    beside.take(range(3))
    front = beside.fronts["scale"]
    assert front.shape == ()
    np.testing.assert_array_equal(np.frombuffer(front.base, float), [0.5, -1.0, 2.0, 0.0])


def test_what_is_written_begins_with_zeros_and_the_rest_is_left_alone() -> None:
    y, x = np.zeros((4, 2)), np.ones((4, 2))
    beside = Beside({"y": y, "x": x}, "x", "y", 2)
    for directions, added in ((range(2), 1.0), (range(2, 4), 2.0)):
        beside.take(directions)
        np.frombuffer(beside.fronts["x"].base, float).reshape(2, 2)[...] = 5
        np.frombuffer(beside.fronts["y"].base, float).reshape(2, 2)[...] += added
        beside.give_back(directions)
    np.testing.assert_array_equal(y, [[1, 1], [1, 1], [2, 2], [2, 2]])
    np.testing.assert_array_equal(x, np.ones((4, 2)))
