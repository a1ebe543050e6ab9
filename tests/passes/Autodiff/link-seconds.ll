; What carries tangents through gradients comes into their module under a name of its own, with what it calls, but for mathematics and what both
; modules have.
;
; RUN: %opt -passes='adgen-link-seconds<%inputs/seconds.ll>' -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

@table = constant [2 x double] [double 1.0, double 2.0]
@tile = internal addrspace(3) global [64 x double] undef, align 16

; Cotangents of a shared array have one of their own.
; CHECK-DAG: @adgen_cotangents_tile = addrspace(3) global [64 x double] undef, align 16
; CHECK-DAG: @table = constant [2 x double] [double 1.000000e+00, double 2.000000e+00]
; CHECK: define void @adgen_gradient_f(ptr %x, ptr %d_x)
; CHECK-NEXT: call void @diffe
; CHECK: define internal void @diffe(
; CHECK: define void @adgen_second_f(ptr %x, ptr %d_x, ptr %t_x, ptr %t_d_x)
; CHECK-NEXT: call void @[[OWN:diffe[.0-9]+]](
; CHECK: define internal void @[[OWN]](
; CHECK: call double @adgen_math_pow_forward45(
; CHECK: call double @__nv_exp(
; CHECK: define internal double @adgen_math_pow_forward45(
; CHECK: declare {{.*}}double @__nv_exp(double)
; CHECK-NOT: @adgen_body_f
define void @adgen_gradient_f(ptr %x, ptr %d_x) {
  call void @diffe(ptr %x, ptr %d_x)
  ret void
}

define internal void @diffe(ptr %x, ptr %d_x) {
  store double 0.0, ptr %d_x
  ret void
}
