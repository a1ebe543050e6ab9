"""The version of PTX follows from how many bytes of parameters a kernel has."""

from __future__ import annotations

import pytest

from enzyme_driver.targets.emit import with_room_for_parameters

PTX = """.version 7.8
.target sm_90
.visible .entry first(
	.param .align 8 .b8 first_param_0[{size}],
	.param .u64 .ptr .align 1 first_param_1,
	.param .f32 first_param_2
)
{{
	ld.param.b64 	%rd1, [first_param_1];
}}
"""


@pytest.mark.parametrize(("size", "version"), [(8, "7.8"), (4340, "7.8"), (4341, "8.1"), (6344, "8.1")])
def test_many_parameters_need_a_later_version(size: int, version: str) -> None:
    ptx = PTX.format(size=size)
    assert with_room_for_parameters(ptx) == ptx.replace("7.8", version)


def test_a_later_version_stays() -> None:
    ptx = PTX.format(size=9000).replace("7.8", "8.6")
    assert with_room_for_parameters(ptx) == ptx
