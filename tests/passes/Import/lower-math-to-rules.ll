; Mathematics with derivatives of our own: a call of libdevice becomes one of rules/mathematics.cu, whose derivative is registered.
;
; RUN: %opt -passes=adgen-lower-math-to-rules -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; sincos becomes two functions that Enzyme has rules for; its own body would be integer arithmetic on the bits of x.
; CHECK-LABEL: @sincos(
; CHECK-NEXT: [[S:%.*]] = call double @__nv_sin(double %x)
; CHECK-NEXT: store double [[S]], ptr %s
; CHECK-NEXT: [[C:%.*]] = call double @__nv_cos(double %x)
; CHECK-NEXT: store double [[C]], ptr %c
; CHECK-NEXT: ret void
define void @sincos(double %x, ptr %s, ptr %c) {
  call void @__nv_sincos(double %x, ptr %s, ptr %c)
  ret void
}

; What comes of a split is split again.
; CHECK-LABEL: @sincos_in_float(
; CHECK: call float @__nv_sinf(float %x)
; CHECK: call float @__nv_cosf(float %x)
; CHECK: call float @adgen_math_sinpif(float %x)
; CHECK: call float @adgen_math_cospif(float %x)
; CHECK: call float @__nv_fast_sinf(float %x)
; CHECK: call float @__nv_fast_cosf(float %x)
; CHECK-NOT: sincos
; CHECK: ret void
define void @sincos_in_float(float %x, ptr %s, ptr %c) {
  call void @__nv_sincosf(float %x, ptr %s, ptr %c)
  call void @__nv_sincospif(float %x, ptr %s, ptr %c)
  call void @__nv_fast_sincosf(float %x, ptr %s, ptr %c)
  ret void
}

; Several arguments are one vector, of which Enzyme takes the parts that vary; whole numbers come along as floating point.
; CHECK-LABEL: @several(
; CHECK-NEXT: [[X:%.*]] = insertelement <2 x double> poison, double %x, i64 0
; CHECK-NEXT: [[XY:%.*]] = insertelement <2 x double> [[X]], double %y, i64 1
; CHECK-NEXT: %p = call double @adgen_math_pow(<2 x double> [[XY]])
; CHECK-NEXT: [[N:%.*]] = sitofp i32 %n to double
; CHECK-NEXT: [[NV:%.*]] = insertelement <2 x double> poison, double [[N]], i64 0
; CHECK-NEXT: [[NX:%.*]] = insertelement <2 x double> [[NV]], double %x, i64 1
; CHECK-NEXT: %j = call double @adgen_math_jn(<2 x double> [[NX]])
define double @several(double %x, double %y, i32 %n) {
  %p = call double @__nv_pow(double %x, double %y)
  %j = call double @__nv_jn(i32 %n, double %x)
  %r = fadd double %p, %j
  ret double %r
}

; A second result is a function without derivative of its own.
; CHECK-LABEL: @second_result(
; CHECK: [[Q:%.*]] = call i32 @adgen_math_remquof_second(float %x, float %y)
; CHECK-NEXT: store i32 [[Q]], ptr %q
; CHECK: %r = call float @adgen_math_remquof(<2 x float>
define float @second_result(float %x, float %y, ptr %q) {
  %r = call float @__nv_remquof(float %x, float %y, ptr %q)
  ret float %r
}

; The norm of an array is written out.
; CHECK-LABEL: @norm(
; CHECK-NEXT: [[H:%.*]] = call float @adgen_normf(i32 3, ptr %p)
; CHECK-NEXT: [[R:%.*]] = fdiv float 1.0{{.*}}, [[H]]
; CHECK-NEXT: ret float [[R]]
define float @norm(ptr %p) {
  %r = call float @__nv_rnormf(i32 3, ptr %p)
  ret float %r
}

; Of a number and NaN the maximum is the number, also in its derivative; a builtin of the compiler is meant alike.
; CHECK-LABEL: @maximum(
; CHECK: [[FIRST:%.*]] = fcmp oge float %x, %y
; CHECK: [[NAN:%.*]] = fcmp uno float %y, %y
; CHECK: [[CHOICE:%.*]] = or i1 [[FIRST]], [[NAN]]
; CHECK: select i1 [[CHOICE]], float %x, float %y
; CHECK: fcmp ole double %p, 1.0
define void @maximum(float %x, float %y, double %p) {
  %m = call float @__nv_fmaxf(float %x, float %y)
  %n = call double @llvm.minnum.f64(double %p, double 1.0)
  ret void
}

; Directed rounding has the derivative of exact arithmetic, rounding to nearest needs no rule.
; CHECK-LABEL: @rounding(
; CHECK: call float @adgen_math_fadd_rz(<2 x float>
; CHECK: call float @adgen_math_double2float_ru(double %p)
; CHECK: call float @__nv_fadd_rn(float %x, float %y)
define void @rounding(float %x, float %y, double %p) {
  %z = call float @__nv_fadd_rz(float %x, float %y)
  %u = call float @__nv_double2float_ru(double %p)
  %n = call float @__nv_fadd_rn(float %x, float %y)
  ret void
}

; CHECK-DAG: declare !enzyme_augment [[SELF:![0-9]+]] !enzyme_gradient [[REVERSE:![0-9]+]] float @adgen_math_sinpif(float) [[PURE:#[0-9]+]]
; CHECK-DAG: declare [[COTANGENTS:%.*]] @adgen_math_sinpif_reverse(float, float) [[PURE]]
; CHECK-DAG: declare "enzyme_type"="{[-1]:Integer}" i32 @adgen_math_remquof_second(float, float) [[INACTIVE:#[0-9]+]]
; CHECK-DAG: attributes [[PURE]] = { nounwind willreturn memory(none) }
; CHECK-DAG: attributes [[INACTIVE]] = { nounwind willreturn memory(none) "enzyme_inactive" }
; CHECK-DAG: [[SELF]] = !{ptr @adgen_math_sinpif}
; CHECK-DAG: [[REVERSE]] = !{ptr @adgen_math_sinpif_reverse}

declare void @__nv_sincos(double, ptr, ptr)
declare void @__nv_sincosf(float, ptr, ptr)
declare void @__nv_sincospif(float, ptr, ptr)
declare void @__nv_fast_sincosf(float, ptr, ptr)
declare double @__nv_pow(double, double)
declare double @__nv_jn(i32, double)
declare float @__nv_remquof(float, float, ptr)
declare float @__nv_rnormf(i32, ptr)
declare float @__nv_fmaxf(float, float)
declare float @__nv_fadd_rz(float, float)
declare float @__nv_double2float_ru(double)
declare float @__nv_fadd_rn(float, float)
