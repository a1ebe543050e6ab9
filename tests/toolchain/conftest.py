"""What tests of the tools themselves share."""

from __future__ import annotations

import pytest

from enzyme_driver.toolchain import Toolchain


@pytest.fixture
def pinned(toolchain: Toolchain) -> Toolchain:
    if toolchain.enzyme.kind != "wheel":
        pytest.skip("ADGEN_ENZYME names another Enzyme than the pinned one")
    return toolchain
