; Variables of a C++ file that a body writes get shadows, which the gradient clears; what an earlier call has left behind a pointer is refused.
;
; RUN: %opt -passes=adgen-shadow-statics -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-shadow-statics -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal

; CHECK-DAG: @state = internal global [4 x double] zeroinitializer, align 16, !enzyme_shadow ![[STATE:[0-9]+]]
; CHECK-DAG: @table = internal global [4 x double] zeroinitializer, align 16{{$}}
; CHECK-DAG: @count = internal global i32 0{{$}}
; CHECK-DAG: @adgen_shadow_state = internal global [4 x double] zeroinitializer, align 16
@state = internal global [4 x double] zeroinitializer, align 16
@table = internal global [4 x double] zeroinitializer, align 16
@count = internal global i32 0
@kept = internal global ptr null
@lent = internal global ptr null

; CHECK-LABEL: define void @adgen_body_f(
; CHECK: %[[SECOND:.*]] = getelementptr {{.*}}ptr @state, i64 8
; CHECK: store double %{{.*}}, ptr %[[SECOND]]
define void @adgen_body_f(ptr %x) {
  %v = load double, ptr %x
  %t = load double, ptr @table
  %p = fmul double %v, %t
  store double %p, ptr getelementptr inbounds (i8, ptr @state, i64 8)
  store i32 1, ptr @count
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_f(
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr align 16 @adgen_shadow_state, i8 0, i64 32, i1 false)
; CHECK-NEXT: call void (ptr, ...) @__enzyme_autodiff_adgen_body_f
define void @adgen_gradient_f(ptr %x, ptr %d_x) {
  call void (ptr, ...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f, ptr %x, ptr %d_x)
  ret void
}

; What is stored before it is loaded is no earlier call's.
define void @adgen_body_g(ptr %x) {
  store ptr %x, ptr @lent
  %again = load ptr, ptr @lent
  %v = load double, ptr %again
  call void @helps(double %v)
  ret void
}

define internal void @helps(double %v) {
  %lent = load ptr, ptr @lent
  store double %v, ptr %lent
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"h"{{.*}}"reason":"cannot differentiate memory that the variable 'kept' keeps from an earlier call"
define void @adgen_body_h(ptr %x) {
  %v = load double, ptr %x
  %kept = load ptr, ptr @kept
  %second = getelementptr double, ptr %kept, i64 1
  store double %v, ptr %second
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_g(
; CHECK-NEXT: call void (ptr, ...) @__enzyme_autodiff_adgen_body_g
define void @adgen_gradient_g(ptr %x, ptr %d_x) {
  call void (ptr, ...) @__enzyme_autodiff_adgen_body_g(ptr @adgen_body_g, ptr %x, ptr %d_x)
  ret void
}

define void @adgen_gradient_h(ptr %x, ptr %d_x) {
  call void (ptr, ...) @__enzyme_autodiff_adgen_body_h(ptr @adgen_body_h, ptr %x, ptr %d_x)
  ret void
}

define void @f(ptr %x) { ret void }
define void @g(ptr %x) { ret void }
define void @h(ptr %x) { ret void }
declare void @__enzyme_autodiff_adgen_body_f(ptr, ...)
declare void @__enzyme_autodiff_adgen_body_g(ptr, ...)
declare void @__enzyme_autodiff_adgen_body_h(ptr, ...)

; CHECK: ![[STATE]] = !{ptr @adgen_shadow_state}
