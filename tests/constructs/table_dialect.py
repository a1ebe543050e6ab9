"""The constructs of files that were written for nvcc and for another machine."""

from __future__ import annotations

from constructs.construct import Construct
from constructs.table_cpp import integers

C = Construct

DIALECT = (
    C("`__NVCC__`, `#if __CUDACC__`, `__CUDACC_VER_MAJOR__`, `register`, `k<3><< <1, 32>> >`", "guarded<3>"),
    C("`__nv_atomic_add` and its family", "with_atomics_of_nvcc", {"counts": integers(1, 9)}),
    C("`nan` and `nanf` of the device", "with_no_numbers"),
    C("`min` and `max` of the host, and other code of the host in the user's headers", "beside_a_header"),
    C("`assert` and `printf` without their headers", "asserts_without_header"),
    C("shared variables whose types have constructors, which do not run", "with_built_tiles"),
    C("`__ldca`, `__ldlu`", "last_uses"),
    C("macro that only a build defines", "needs_a_macro", refused="'ADGEN_TEST_WIDTH'"),
)

MISSING = (
    C("headers and libraries that are not there (MPI, OpenCV), for host code", "beside_missing_headers<float>"),
    C("texture reference", "reads_a_texture_reference", refused="undeclared identifier 'image'"),
    C("function that another file defines", "calls_what_is_elsewhere", refused="defined nowhere"),
)
