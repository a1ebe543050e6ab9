"""Sparse Jacobians on a GPU, one launch for all directions and one each, against those of the host."""

from __future__ import annotations

from typing import Any

import pytest

import enzyme_driver as adgen
from benchmarks import sparsity

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")
pytest.importorskip("scipy.sparse")

pytestmark = pytest.mark.usefixtures("toolchain")

SIDE = 8


@pytest.fixture(scope="module", params=[(), ("batched",)], ids=["one by one", "at once"])
def kernels(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401
    return adgen.compile(sparsity.SOURCE, target="cuda", modes=["forward", *request.param])


@pytest.fixture(scope="module")
def on_host() -> Any:  # noqa: ANN401
    return adgen.compile(sparsity.SOURCE, modes=["forward"])


@pytest.mark.parametrize("operator", sparsity.operators(SIDE), ids=lambda each: each.kernel)
def test_the_jacobian_of_the_host(kernels: Any, on_host: Any, operator: sparsity.Operator) -> None:  # noqa: ANN401
    args = [cupy.asarray(each) if isinstance(each, numpy.ndarray) else each for each in operator.args]
    run = kernels[operator.kernel].jacobian[operator.launch]
    wanted = on_host[operator.kernel].jacobian[operator.launch](*operator.args, of="y", wrt=operator.wrt)
    for _ in range(2):  # the second time out of what is on the GPU already
        found = run(*args, of="y", wrt=operator.wrt, check=True)
        assert (found.indptr.get() == wanted.indptr).all()
        assert (found.indices.get() == wanted.indices).all()
        numpy.testing.assert_allclose(found.data.get(), wanted.data, rtol=1e-5, atol=1e-6)
