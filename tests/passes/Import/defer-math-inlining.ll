; After Enzyme, libdevice's functions and those of our rules stay calls, of which is known that they touch no memory, and that
; lanes do nothing together in them.
;
; RUN: %opt -passes=adgen-defer-math-inlining -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: define internal float @__nv_floorf(float %x) [[PURE:#[0-9]+]]
define internal float @__nv_floorf(float %x) alwaysinline {
  ret float %x
}

; CHECK: define internal double @__nv_modf(double %x, ptr %whole) [[STORES:#[0-9]+]]
define internal double @__nv_modf(double %x, ptr %whole) alwaysinline {
  store double %x, ptr %whole
  ret double %x
}

; CHECK: define internal double @adgen_math_j0(double %x) [[RULE:#[0-9]+]]
define internal double @adgen_math_j0(double %x) alwaysinline convergent {
  ret double %x
}

; CHECK: define internal float @mine(float %x) [[MINE:#[0-9]+]]
define internal float @mine(float %x) alwaysinline {
  ret float %x
}

; CHECK-DAG: attributes [[PURE]] = { noinline nounwind willreturn memory(none) "enzyme_math"="__nv_floorf" }
; CHECK-DAG: attributes [[STORES]] = { noinline nounwind willreturn "enzyme_math"="__nv_modf" }
; CHECK-DAG: attributes [[RULE]] = { noinline nounwind willreturn memory(none) "enzyme_math"="adgen_math_j0" }
; CHECK-DAG: attributes [[MINE]] = { alwaysinline }
