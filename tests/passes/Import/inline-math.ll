; When nothing is left to do that has to see mathematics as calls, it is inlined like everything else.
;
; RUN: %opt -passes=adgen-inline-math -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: define internal float @__nv_sinf(float %x) [[INLINED:#[0-9]+]] {
define float @__nv_sinf(float %x) noinline "enzyme_math"="sinf" {
  ret float %x
}

; CHECK: define ptx_kernel void @k(ptr %x) {
define ptx_kernel void @k(ptr %x) {
  %v = load float, ptr %x
  %s = call float @__nv_sinf(float %v)
  store float %s, ptr %x
  ret void
}

; CHECK: attributes [[INLINED]] = { alwaysinline }
