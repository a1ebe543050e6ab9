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

; A cache that is only filled and given back is not filled, and its loop needs no sum; one that is read is.
; CHECK-LABEL: define internal void @diffeadgen_body_h(
; CHECK:         call ptr @malloc
; CHECK-NOT:     call ptr @malloc
; CHECK-NOT:     fadd
; CHECK:         store double %x, ptr %place
; CHECK-NOT:     store
; CHECK:         call void @free
; CHECK-NOT:     call void @free
; CHECK:         ret void
define internal void @diffeadgen_body_h(ptr %to, double %x, i64 %n) {
entry:
  %unread_cache = alloca ptr
  %read_cache = alloca ptr
  %bytes = mul i64 %n, 8
  %unread = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  store ptr %unread, ptr %unread_cache
  %read = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  store ptr %read, ptr %read_cache
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %more = fadd double %sum, %x
  %memory = load ptr, ptr %unread_cache
  %at = getelementptr double, ptr %memory, i64 %i
  store double %more, ptr %at
  %other = load ptr, ptr %read_cache
  %place = getelementptr double, ptr %other, i64 %i
  store double %x, ptr %place
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  %all = load ptr, ptr %read_cache
  %first = load double, ptr %all
  call void @use(double %first)
  call void @free(ptr %all), !enzyme_cache_free !1
  %forgotten = load ptr, ptr %unread_cache
  call void @free(ptr %forgotten), !enzyme_cache_free !0
  ret void
}

; By what an iteration stores outside, adgen-rematerialize-iterations finds its sweeps: it stays.
; CHECK-LABEL: define internal void @augmented_adgen_iteration_0(
; CHECK:         store double %x, ptr %outside, {{.*}}!adgen.effect
define internal void @augmented_adgen_iteration_0(double %x, ptr %outside) {
  store double %x, ptr %outside, !adgen.effect !2
  ret void
}

define internal void @diffeadgen_body_k(double %x) {
  %outside = alloca double
  call void @augmented_adgen_iteration_0(double %x, ptr %outside)
  ret void
}

declare void @use(double)
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @iteration(ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

!0 = distinct !{}
!1 = distinct !{}
!2 = !{}
