; What has a formula for its tangents is a call of a function without a body; anything else keeps its own.
;
; RUN: %opt -passes=adgen-keep-formulas -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: declare float @__nv_fast_sinf(float)
; CHECK-DAG: declare double @__nv_jn(i32, double)
; CHECK-DAG: define float @__nv_int2float_rn(i32 %n)
; CHECK-DAG: define double @sin(double %x)
; CHECK-DAG: call double @__nv_sin(double %x)
; CHECK-DAG: call double @__nv_cos(double %x)
define float @__nv_fast_sinf(float %x) alwaysinline {
  ret float %x
}
define double @__nv_jn(i32 %n, double %x) alwaysinline {
  ret double %x
}
define float @__nv_int2float_rn(i32 %n) {
  %f = sitofp i32 %n to float
  ret float %f
}
define void @both(double %x, ptr %s, ptr %c) {
  call void @__nv_sincos(double %x, ptr %s, ptr %c)
  ret void
}
declare void @__nv_sincos(double, ptr, ptr)
define double @sin(double %x) { ; the user's own
  ret double %x
}
