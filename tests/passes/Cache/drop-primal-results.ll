; What only the function's result needs is forgotten, also where regions add it up; what is read for anything else, or handed on to where that is not seen, stays.
;
; RUN: %opt -passes='adgen-drop-primal-results,function(adce)' -S %s | %filecheck %s

; CHECK-LABEL: define internal void @augmented_adgen_region_f(
; CHECK:         call void @iteration
; CHECK-NEXT:    load double, ptr %seen
; CHECK-NEXT:    %more = fadd double
; CHECK-NEXT:    store double %more, ptr %seen
; CHECK-NEXT:    ret void
define internal void @augmented_adgen_region_f(ptr %sum, ptr %seen) {
  call void @iteration(ptr %seen)
  %old = load double, ptr %sum
  %also = load double, ptr %seen
  %new = fadd double %old, %also
  store double %new, ptr %sum
  %more = fadd double %also, 1.0
  store double %more, ptr %seen
  ret void
}

define internal void @augmented_f.omp_outlined(ptr %0, ptr %1, ptr %sum, ptr %seen) {
  call void @augmented_adgen_region_f(ptr %sum, ptr %seen)
  ret void
}

; CHECK-LABEL: define internal void @diffeadgen_body_f(
; CHECK-NOT:     store double 0.000000e+00, ptr %sum
; CHECK:         store double 0.000000e+00, ptr %seen
; CHECK-NOT:     store double %{{.*}}, ptr %result
; CHECK:         store double %{{.*}}, ptr %x
; CHECK-NEXT:    ret void
define internal void @diffeadgen_body_f(ptr %x, ptr %result) {
  %sum = alloca double
  %seen = alloca double
  store double 0.0, ptr %sum
  store double 0.0, ptr %seen
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @augmented_f.omp_outlined, ptr %sum, ptr %seen)
  %all = load double, ptr %sum
  store double %all, ptr %result
  %other = load double, ptr %seen
  store double %other, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_f(
; CHECK-NOT:     store
; CHECK:         call void @diffeadgen_body_f(
define void @adgen_gradient_f(ptr %x) {
  %result = alloca double
  store double 0.0, ptr %result
  call void @diffeadgen_body_f(ptr %x, ptr %result)
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_g(
; CHECK:         store double 0.000000e+00, ptr %result
; CHECK:         store double 1.000000e+00, ptr %held
define void @adgen_gradient_g(ptr %list) {
  %result = alloca double
  %held = alloca double
  store double 0.0, ptr %result
  call void @iteration(ptr %result)
  store double 1.0, ptr %held
  store ptr %held, ptr %list
  ret void
}

declare void @iteration(ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
