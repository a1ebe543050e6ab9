"""Textures and surfaces as arguments: their members, and what is no texture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen


def test_the_members_of_a_texture() -> None:
    texels = np.zeros((5, 7, 2), np.float32)
    made = adgen.texture(texels, channels=2, filter_mode="linear", address_mode=["wrap", "border"], normalized=True)
    assert made.pop("texels") is texels
    assert made == {
        "integers": None,
        "width": 7,
        "height": 5,
        "depth": 1,
        "row": 7,
        "channels": 2,
        "bits": 0,
        "linear": 1,
        "normalized": 1,
        "address": [0, 3, 3],
    }


@pytest.mark.parametrize(("dtype", "bits"), [("uint8", 8), ("int16", -16), ("int32", -32)])
def test_integers_are_given_as_bytes(dtype: str, bits: int) -> None:
    texels = np.arange(24, dtype=dtype).reshape(2, 3, 4)
    made = adgen.texture(texels)
    assert (made["texels"], made["bits"], made["depth"]) == (None, bits, 2)
    assert made["integers"].dtype == np.uint8
    assert np.shares_memory(made["integers"], texels)
    assert made["integers"].tobytes() == texels.tobytes()


def test_a_surface_has_no_filter() -> None:
    texels = np.zeros((4, 6), np.float32)
    members = {"integers": None, "width": 6, "height": 4, "depth": 1, "row": 6, "channels": 1}
    assert adgen.surface(texels) == {"texels": texels, **members}


@pytest.mark.parametrize(
    ("texels", "options", "match"),
    [
        (np.zeros(4), {}, "float64"),
        ([1.0, 2.0], {}, "list"),
        (np.zeros((), np.float32), {}, r"shape \(\)"),
        (np.zeros((2, 2, 2, 2), np.float32), {}, "shape"),
        (np.zeros((4, 3), np.float32), {"channels": 3}, "3 channels"),
        (np.zeros((4, 3), np.float32), {"channels": 4}, "4 channels"),
        (np.zeros((4, 4), np.float32), {"filter_mode": "cubic"}, "filter_mode"),
        (np.zeros((4, 4), np.float32), {"address_mode": "repeat"}, "address_mode"),
        (np.zeros((4, 4), np.float32), {"address_mode": ["wrap"] * 4}, "address_mode"),
        (np.zeros((4, 0), np.float32), {}, "empty"),
    ],
)
def test_no_texture(texels: Any, options: dict[str, Any], match: str) -> None:  # noqa: ANN401
    with pytest.raises(adgen.ArgumentError, match=match):
        adgen.texture(texels, **options)
