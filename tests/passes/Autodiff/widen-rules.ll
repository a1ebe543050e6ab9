; Along several directions rules are called by other names, with derivatives that take all tangents at once; in copies of what leads to them,
; so that what carries one direction calls them as before.
;
; RUN: %opt -passes='adgen-forward-rules,adgen-widen-rules' -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes='adgen-forward-rules,adgen-widen-rules' -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal

; Rules that move a value or have a tangent of their own, and a variable whose shadow is one for all directions.
; REFUSED: adgen-refusal: {{.*}}"entry":"moves"{{.*}}"mode":"directions","reason":"comes to a rule that has tangents along one direction only"
; REFUSED: adgen-refusal: {{.*}}"entry":"clears"{{.*}}"mode":"directions","reason":"comes to a rule that has tangents along one direction only"
; REFUSED: adgen-refusal: {{.*}}"entry":"static"{{.*}}"mode":"directions","reason":"comes to a variable that has one shadow"

; CHECK: define void @adgen_body_powers(ptr %x)
; CHECK: call double @inner(double %v)
; CHECK: define double @inner(double %v)
; CHECK: call double @adgen_math_pow(<2 x double> %both)

; CHECK: define void @adgen_tangent_powers(
; CHECK: @__enzyme_fwddiff_adgen_body_powers(ptr @adgen_body_powers
; CHECK: define void @adgen_directions_powers(
; CHECK: @__enzyme_fwddiff_directions_adgen_body_powers(ptr @adgen_several_adgen_body_powers
; CHECK: define void @adgen_directions_moves(
; CHECK: (ptr @adgen_body_moves
; CHECK: define void @adgen_directions_static(
; CHECK: (ptr @adgen_body_static

; CHECK: define internal void @adgen_several_adgen_body_powers(ptr %x)
; CHECK: call double @adgen_several_inner(double %v)
; CHECK: call void @adgen_several_adgen_rule_barrier(ptr %x)
; CHECK: define internal double @adgen_several_inner(double %v)
; CHECK: call double @adgen_several_adgen_math_pow(<2 x double> %both)
; CHECK: define internal double @adgen_several_adgen_math_pow(<2 x double> %0) [[INLINED:#[0-9]+]] !enzyme_derivative
; CHECK: call double @adgen_math_pow(<2 x double> %0)

; The derivatives are computed once.
; CHECK: define internal { double, [3 x double] } @adgen_several_adgen_math_pow_forward(<2 x double> %0, [3 x <2 x double>] %1)
; CHECK: call %adgen.cotangents @adgen_math_pow_reverse(<2 x double> %0, double 1.0
; CHECK-NOT: @adgen_math_pow_reverse
; CHECK: extractvalue [3 x <2 x double>] %1, 0
; CHECK: extractvalue [3 x <2 x double>] %1, 1
; CHECK: extractvalue [3 x <2 x double>] %1, 2
; CHECK: [[VALUE:%.*]] = call double @adgen_math_pow(<2 x double> %0)

; What orders threads is no work of a derivative.
; CHECK: define internal void @adgen_several_adgen_rule_barrier(ptr %0) [[ORDERS:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT: call void @adgen_rule_barrier(ptr %0)
; CHECK-NEXT: ret void

; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }
; CHECK-DAG: attributes [[ORDERS]] = { alwaysinline "enzyme_inactive" }

%adgen.cotangents = type { <2 x double> }

@numbers = global double 0.0, !enzyme_shadow !6
@numbers_shadow = global double 0.0

declare !enzyme_augment !0 !enzyme_gradient !1 double @adgen_math_pow(<2 x double>)
declare %adgen.cotangents @adgen_math_pow_reverse(<2 x double>, double)
declare !enzyme_augment !2 !enzyme_gradient !3 void @adgen_rule_shfl_up_f32(ptr, ptr, i32)
declare void @adgen_rule_shfl_up_f32_augmented(ptr, ptr, ptr, ptr, i32, i32)
declare void @adgen_rule_shfl_up_f32_reverse(ptr, ptr, ptr, ptr, i32, i32)
declare !enzyme_augment !4 !enzyme_gradient !4 void @adgen_rule_barrier(ptr)
declare void @adgen_rule_barrier_augmented(ptr, ptr)
declare void @__enzyme_fwddiff_adgen_body_powers(...)
declare void @__enzyme_fwddiff_directions_adgen_body_powers(...)
declare void @__enzyme_fwddiff_directions_adgen_body_moves(...)
declare void @__enzyme_fwddiff_directions_adgen_body_clears(...)
declare void @__enzyme_fwddiff_directions_adgen_body_static(...)
declare !enzyme_augment !8 !enzyme_gradient !9 void @adgen_rule_clear_8(ptr)
declare void @adgen_rule_clear_8_augmented(ptr, ptr)
declare void @adgen_rule_clear_8_reverse(ptr, ptr)

define void @adgen_body_powers(ptr %x) {
  %v = load double, ptr %x
  %w = call double @inner(double %v)
  store double %w, ptr %x
  call void @adgen_rule_barrier(ptr %x)
  ret void
}

define double @inner(double %v) {
  %first = insertelement <2 x double> poison, double %v, i64 0
  %both = insertelement <2 x double> %first, double 2.0, i64 1
  %w = call double @adgen_math_pow(<2 x double> %both)
  ret double %w
}

define void @adgen_body_moves(ptr %x) {
  call void @adgen_rule_shfl_up_f32(ptr %x, ptr %x, i32 1)
  ret void
}

define void @adgen_body_clears(ptr %x) {
  call void @adgen_rule_clear_8(ptr %x)
  ret void
}

define void @adgen_body_static(ptr %x) {
  %v = load double, ptr @numbers
  store double %v, ptr %x
  ret void
}

define void @adgen_tangent_powers(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_powers(ptr @adgen_body_powers, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_directions_powers(ptr %x, ptr %d_x) "adgen-directions"="3" {
  call void (...) @__enzyme_fwddiff_directions_adgen_body_powers(ptr @adgen_body_powers, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_directions_moves(ptr %x, ptr %d_x) "adgen-directions"="3" {
  call void (...) @__enzyme_fwddiff_directions_adgen_body_moves(ptr @adgen_body_moves, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_directions_clears(ptr %x, ptr %d_x) "adgen-directions"="3" {
  call void (...) @__enzyme_fwddiff_directions_adgen_body_clears(ptr @adgen_body_clears, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_directions_static(ptr %x, ptr %d_x) "adgen-directions"="3" {
  call void (...) @__enzyme_fwddiff_directions_adgen_body_static(ptr @adgen_body_static, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

!0 = !{ptr @adgen_math_pow}
!1 = !{ptr @adgen_math_pow_reverse}
!2 = !{ptr @adgen_rule_shfl_up_f32_augmented}
!3 = !{ptr @adgen_rule_shfl_up_f32_reverse}
!4 = !{ptr @adgen_rule_barrier_augmented}
!6 = !{ptr @numbers_shadow}
!8 = !{ptr @adgen_rule_clear_8_augmented}
!9 = !{ptr @adgen_rule_clear_8_reverse}
