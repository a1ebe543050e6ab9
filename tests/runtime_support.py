"""A host library written by hand to the binary interface, its manifest, and what the tests load."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from enzyme_driver.artifact import Artifact, Contents, Options, Source, write
from enzyme_driver.model import (
    Activity,
    DataType,
    Entry,
    Parameter,
    Refusal,
    Signature,
    StructField,
    TargetEntry,
)
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.values import Tool

F32 = DataType("float32", "float", 4)
F64 = DataType("float64", "float", 8)
I32 = DataType("int32", "int", 4)
U8 = DataType("uint8", "uint", 1)
U32 = DataType("uint32", "uint", 4)
BOOL = DataType("bool", "bool", 1)
FLOAT4 = DataType("float4", "struct", 16, tuple(StructField(n, 4 * i, F32) for i, n in enumerate("xyzw")))
PARTICLE = DataType(
    "particle", "struct", 24, (StructField("q", 0, F32, 3), StructField("id", 12, I32), StructField("m", 16, F64))
)
POINTER = DataType("double *", "pointer", 8, pointee=F64)
BUNDLE = DataType("bundle", "struct", 16, (StructField("data", 0, POINTER), StructField("n", 8, I32)))

SOURCE = r"""
#include <stddef.h>
#include <stdint.h>
typedef struct { uint32_t grid[3]; uint32_t block[3]; uint64_t shared_bytes; } adgen_launch;
typedef struct { float q[3]; int32_t id; double m; } particle;
typedef struct { double *data; int32_t n; } bundle;
#define ARG(type, i) (*(type *)args[i])
#define ENTRY(name) int name(const adgen_launch *launch, void *const *args, void *result)
static uint64_t threads(const adgen_launch *l) {
  uint64_t count = 1;
  for (int i = 0; i < 3; i++) count *= (uint64_t)l->grid[i] * l->block[i];
  return count;
}
static const char *message = "";
const char *adgen_last_error(void) { return message; }
int asked_for_no_numbers = 0, asked_for_any = 0;
void adgen_keep_no_numbers(_Bool wanted) { ++*(wanted ? &asked_for_no_numbers : &asked_for_any); }
void adgen_accumulate(uint32_t arguments, uint32_t way, uint32_t shadows, const void *described) {}

/* axpy(int n, float a, const float *x, float *y): y += a * x */
ENTRY(axpy) {
  float *x = ARG(float *, 2), *y = ARG(float *, 3);
  for (int i = 0; i < ARG(int32_t, 0) && (uint64_t)i < threads(launch); i++) y[i] += ARG(float, 1) * x[i];
  return 0;
}
ENTRY(axpy_grad) {
  float a = ARG(float, 1), *x = ARG(float *, 2), *da = ARG(float *, 4), *dx = ARG(float *, 5), *dy = ARG(float *, 6);
  axpy(launch, args, result);
  for (int i = 0; i < ARG(int32_t, 0); i++) { *da += x[i] * dy[i]; dx[i] += a * dy[i]; }
  return 0;
}
/* square(const double *x, double *out, int n): out = x * x */
ENTRY(square) {
  double *x = ARG(double *, 0), *out = ARG(double *, 1);
  for (int i = 0; i < ARG(int32_t, 2); i++) out[i] = x[i] * x[i];
  return 0;
}
ENTRY(square_grad) {
  double *x = ARG(double *, 0), *dx = ARG(double *, 3), *dout = ARG(double *, 4);
  square(launch, args, result);
  for (int i = 0; i < ARG(int32_t, 2); i++) { dx[i] += 2 * x[i] * dout[i]; dout[i] = 0; }
  return 0;
}
ENTRY(square_wrong) {
  double *x = ARG(double *, 0), *dx = ARG(double *, 3), *dout = ARG(double *, 4);
  for (int i = 0; i < ARG(int32_t, 2); i++) { dx[i] += 2.2 * x[i] * dout[i]; dout[i] = 0; }
  return 0;
}
/* shared(unsigned char *seen): the launch as it arrives */
ENTRY(launched) {
  for (size_t i = 0; i < sizeof *launch; i++) ARG(uint8_t *, 0)[i] = ((const uint8_t *)launch)[i];
  return 0;
}
/* double energy(const double *x, int n): sum of x^2 */
ENTRY(energy) {
  double sum = 0;
  if (launch) return 1;
  for (int i = 0; i < ARG(int32_t, 1); i++) sum += ARG(double *, 0)[i] * ARG(double *, 0)[i];
  *(double *)result = sum;
  return 0;
}
ENTRY(energy_grad) {
  for (int i = 0; i < ARG(int32_t, 1); i++) ARG(double *, 2)[i] += 2 * ARG(double *, 0)[i] * ARG(double, 3);
  return 0;
}
/* void fails(): throws */
ENTRY(fails) { message = "std::runtime_error: no such thing"; return 1; }
/* double mass(particle p, const particle *others, bool on): p.m * p.q[0] + others->m, p is active */
ENTRY(mass) {
  particle p = ARG(particle, 0);
  *(double *)result = ARG(uint8_t, 2) ? p.m * p.q[0] + ARG(particle *, 1)->m : 0;
  return 0;
}
ENTRY(mass_grad) {
  particle p = ARG(particle, 0), *dp = ARG(particle *, 3), *dothers = ARG(particle *, 4);
  double d = ARG(uint8_t, 2) ? ARG(double, 5) : 0;
  dp->m += d * p.q[0];
  dp->q[0] += d * p.m;
  dothers->m += d;
  return 0;
}
/* double total(bundle b, const double &scale): scale * sum of b.data */
ENTRY(total) {
  bundle b = ARG(bundle, 0);
  double sum = 0;
  for (int i = 0; i < b.n; i++) sum += b.data[i];
  *(double *)result = sum * *ARG(double *, 1);
  return 0;
}
ENTRY(total_grad) {
  bundle b = ARG(bundle, 0), db = ARG(bundle, 2);
  for (int i = 0; i < b.n; i++) db.data[i] += ARG(double, 3) * *ARG(double *, 1);
  return 0;
}
"""


def pointer(name: str, dtype: DataType, activity: Activity = "duplicated", *, mode: str = "rw") -> Parameter:
    """A pointer parameter; `mode` r: const, w: only written, rw: both, with & a reference and with ! restrict."""
    reads, writes = "r" in mode, "w" in mode
    return Parameter(name, "pointer", dtype, not writes, activity, "!" in mode, "&" in mode, reads, writes)


def scalar(name: str, dtype: DataType, activity: Activity = "const") -> Parameter:
    return Parameter(name, "scalar", dtype, True, activity)


def struct(name: str, dtype: DataType, activity: Activity = "const") -> Parameter:
    return Parameter(name, "struct", dtype, True, activity)


def kernel(name: str, *parameters: Parameter) -> Signature:
    return Signature(name, "kernel", name, parameters)


AXPY = kernel(
    "axpy", scalar("n", I32), scalar("a", F32, "active"), pointer("x", F32, mode="r"), pointer("y", F32, mode="rw")
)
SQUARE = kernel("square", pointer("x", F64, mode="r"), pointer("out", F64, mode="w"), scalar("n", I32))
LAUNCHED = kernel("launched", pointer("seen", U8, "const", mode="w"))
ENERGY = Signature("energy", "function", "energy", (pointer("x", F64, mode="r"), scalar("n", I32)), F64)
FAILS = Signature("fails", "function", "fails", ())
MASS = Signature(
    "mass", "function", "mass",
    (struct("p", PARTICLE, "active"), pointer("others", PARTICLE, mode="r"), scalar("on", BOOL)), F64,
)  # fmt: skip
TOTAL = Signature(
    "total", "function", "total", (struct("b", BUNDLE, "duplicated"), pointer("scale", F64, "const", mode="r&")), F64
)
REFUSAL = Refusal("a texture is read", "read it from global memory", "x.cu", 7)


def entry(signature: Signature, gradient: str | None = None, refusal: Refusal | None = None) -> Entry:
    target = TargetEntry(signature.symbol, gradient or f"{signature.symbol}_grad", gradient_refused=refusal)
    return Entry(signature, {"openmp": target})


def template(name: str, symbol: str) -> Signature:
    return Signature(name, "kernel", symbol, SQUARE.parameters)


ENTRIES = (
    entry(AXPY),
    entry(SQUARE),
    entry(template("square_wrong", "square"), "square_wrong"),
    entry(template("tpl<double>", "square")),
    entry(LAUNCHED, refusal=REFUSAL),
    entry(ENERGY),
    entry(FAILS),
    entry(MASS),
    entry(TOTAL),
    Entry(kernel("gpu_only"), {"cuda": TargetEntry("gpu_only", None)}),
)


def built_library(folder: Path) -> Path:
    """The shared library of SOURCE, made with the system's C compiler, or with clang of Python packages."""
    source, library = folder / "hand.c", folder / "hand.so"
    source.write_text(SOURCE)
    subprocess.run([*c_compiler(), "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


def c_compiler() -> tuple[str | Path, ...]:
    cc = shutil.which("cc")
    if cc is not None:
        return (cc,)
    clang = next(each.path for each in packages.clangs() if each.path.is_file())
    return (clang, *packages.link_flags(Tool("clang", clang, "22", packages.SITE_PACKAGES)))


def contents(library: Path, entries: tuple[Entry, ...] = ENTRIES) -> Contents:
    source = Source("hand.c", "0" * 64)
    files: dict[str, bytes | Path] = {"hand.so": library}
    return Contents("0.1", source, Options(), entries, files, library="hand.so")


def written_artifact(folder: Path) -> Artifact:
    folder.mkdir(exist_ok=True)
    return write(folder / "hand.adgen", contents(built_library(folder)))
