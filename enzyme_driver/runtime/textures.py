"""Texture and surface objects as the structs that stages/headers/adgen_textures.h makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from enzyme_driver.errors import ArgumentError

AddressMode = Literal["wrap", "clamp", "mirror", "border"]
FilterMode = Literal["point", "linear"]

ADDRESS_MODES: tuple[AddressMode, ...] = ("wrap", "clamp", "mirror", "border")
"""In the order of cudaTextureAddressMode."""
FILTER_MODES: tuple[FilterMode, ...] = ("point", "linear")
AXES = 3
_INTEGERS = {"uint8": 8, "int8": -8, "uint16": 16, "int16": -16, "uint32": 32, "int32": -32}
"""Bits of a channel, negative where it has a sign."""


def texture(
    texels: Any,  # noqa: ANN401  (an array of any library)
    *,
    channels: int = 1,
    filter_mode: FilterMode = "point",
    address_mode: AddressMode | Sequence[AddressMode] = "clamp",
    normalized: bool = False,
) -> dict[str, Any]:
    """What a kernel takes for a `cudaTextureObject_t`: an array, and how it is read.

    `texels` has the shape (width,), (height, width) or (depth, height, width), for layers with these first, and one
    more axis at the end where a texel has 2 or 4 `channels`; float32, or integers of 8, 16 or 32 bits, which a kernel
    that asks for floats sees divided by their largest value. `filter_mode`, `address_mode` (one, or one for each axis
    from x on) and `normalized` coordinates are those of `cudaTextureDesc`. A kernel's derivative by the texture is a
    dict with `texels`, an array of the same shape; there is none by integers.

    Filtering has weights of full precision; a GPU's texture units round them to 1/256.

    Raises ArgumentError for another dtype, shape, mode, or an array with gaps.
    """
    modes = [address_mode] * AXES if isinstance(address_mode, str) else [*address_mode]
    unknown = [mode for mode in modes if mode not in ADDRESS_MODES]
    if unknown or not modes or len(modes) > AXES:
        raise ArgumentError(
            f"address_mode: {address_mode!r}", hint=f"one of {', '.join(ADDRESS_MODES)}, or one for each axis from x on"
        )
    if filter_mode not in FILTER_MODES:
        raise ArgumentError(f"filter_mode: {filter_mode!r}", hint=f"one of {', '.join(FILTER_MODES)}")
    made = _described(texels, channels)
    modes += modes[-1:] * (AXES - len(modes))
    return {
        **made,
        "bits": _INTEGERS.get(_dtype(texels), 0),
        "linear": int(filter_mode == "linear"),
        "normalized": int(normalized),
        "address": [ADDRESS_MODES.index(mode) for mode in modes],
    }


def surface(texels: Any, *, channels: int = 1) -> dict[str, Any]:  # noqa: ANN401  (an array of any library)
    """What a kernel takes for a `cudaSurfaceObject_t`: an array that it reads and writes, see `texture`.

    Raises ArgumentError as `texture` does.
    """
    return _described(texels, channels)


def _described(texels: Any, channels: int) -> dict[str, Any]:  # noqa: ANN401
    """The members that textures and surfaces share."""
    dtype, shape = _dtype(texels), tuple(getattr(texels, "shape", ()))
    if dtype != "float32" and dtype not in _INTEGERS:
        raise ArgumentError(f"texels: {dtype or type(texels).__name__}", hint="an array of float32 or of integers")
    if channels not in {1, 2, 4} or (channels > 1 and shape[-1:] != (channels,)):
        raise ArgumentError(
            f"texels: shape {shape} with {channels} channels", hint="1, 2 or 4 channels; if more than 1, the last axis"
        )
    extent = shape if channels == 1 else shape[:-1]
    if not 1 <= len(extent) <= AXES:
        raise ArgumentError(
            f"texels: shape {shape}", hint="one to three axes, and one for channels where there are several"
        )
    if 0 in extent:
        raise ArgumentError("texels: an empty array", hint="a texture has at least one texel")
    depth, height, width = [1] * (AXES - len(extent)) + [*extent]
    held = {"texels": texels, "integers": None} if dtype == "float32" else {"texels": None, "integers": _bytes(texels)}
    return {**held, "width": width, "height": height, "depth": depth, "row": width, "channels": channels}


def _dtype(array: object) -> str:
    return str(getattr(array, "dtype", "")).removeprefix("torch.")


def _bytes(array: Any) -> Any:  # noqa: ANN401
    """The same memory as bytes in one row."""
    try:
        flat = array.reshape(math.prod(array.shape))
        if type(array).__module__.partition(".")[0] == "torch":
            import torch

            return flat.view(torch.uint8)
        return flat.view("uint8")
    except (RuntimeError, ValueError) as problem:
        raise ArgumentError(f"texels: {problem}", hint="give an array without gaps") from None
