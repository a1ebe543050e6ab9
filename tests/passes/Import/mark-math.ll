; A libdevice function that Enzyme has a rule for is named to it (enzyme_math), is free of side effects, and has no body until it has
; run. The others are left to be inlined.
;
; RUN: %opt -passes=adgen-mark-math -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: declare dso_local double @__nv_sin(double) [[SIN:#[0-9]+]]
define internal double @__nv_sin(double %x) alwaysinline {
  ret double %x
}

; The suffix of the float form is no part of erf's name, but of erff's.
; CHECK: declare dso_local float @__nv_erff(float) [[ERFF:#[0-9]+]]
define internal float @__nv_erff(float %x) alwaysinline {
  ret float %x
}

; A fast form has the derivative of the exact function.
; CHECK: declare dso_local float @__nv_fast_expf(float) [[EXPF:#[0-9]+]]
define internal float @__nv_fast_expf(float %x) alwaysinline {
  ret float %x
}

; CHECK: define internal float @__nv_floorf(float %x) [[INLINED:#[0-9]+]]
define internal float @__nv_floorf(float %x) alwaysinline {
  ret float %x
}

; A function of the user that has the name of the C library is his own.
; CHECK: define float @sinf(float %x) [[INLINED]]
define float @sinf(float %x) alwaysinline {
  ret float %x
}

; What Enzyme has declared for a derivative, here of tanh, has the attributes of the function that it is a derivative of.
; CHECK: declare double @cosh(double) [[PLAIN:#[0-9]+]]
declare double @cosh(double) "enzyme_math"="tanh" nounwind

; CHECK-DAG: attributes [[PLAIN]] = { nounwind }
; CHECK-DAG: attributes [[SIN]] = { nounwind willreturn memory(none) "enzyme_math"="sin" }
; CHECK-DAG: attributes [[ERFF]] = { nounwind willreturn memory(none) "enzyme_math"="erff" }
; CHECK-DAG: attributes [[EXPF]] = { nounwind willreturn memory(none) "enzyme_math"="expf" }
; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }
