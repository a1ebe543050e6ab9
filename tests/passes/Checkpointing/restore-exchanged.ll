; Two arrays that change places from step to step are never the same: a region that reads one and writes the other reads it again in the reverse sweep. Not
; where both may be the same, nor where something else writes to the array later.
;
; RUN: %opt -passes='adgen-undo-log' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @adgen_gradient_f(
; CHECK-SAME:    ptr "adgen-restored" %x, ptr "adgen-restored" %y,
define void @adgen_gradient_f(ptr %x, ptr %y, ptr %dx, ptr %dy, i32 %n) {
  call void (...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_dup", ptr %x, ptr %dx, metadata !"enzyme_dup", ptr %y, ptr %dy)
  ret void
}

define void @adgen_body_f(ptr %x, ptr %y) {
entry:
  br label %loop
loop:
  %from = phi ptr [ %x, %entry ], [ %to, %loop ]
  %to = phi ptr [ %y, %entry ], [ %from, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start, ptr %from, ptr %to)
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, 10
  br i1 %again, label %loop, label %end
end:
  ret void
}

define internal void @start(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_f(ptr %from, ptr %to)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_f(
; CHECK:         load double, ptr %from, align 8, !invariant.load !{{[0-9]+}}, !adgen.restored
; CHECK:         load double, ptr %after, align 8, !invariant.load !{{[0-9]+}}, !adgen.restored
; CHECK:         call void @adgen_rule_overwrite_f64(ptr %to, ptr %place)
define internal void @adgen_region_f(ptr %from, ptr %to) {
  %a = load double, ptr %from
  %after = getelementptr double, ptr %from, i64 1
  %b = load double, ptr %after
  %product = fmul double %a, %b
  %place = getelementptr double, ptr %to, i64 3
  store double %product, ptr %place
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_g(
; CHECK-SAME:    ptr %x, ptr %y,
define void @adgen_gradient_g(ptr %x, ptr %y, ptr %dx, ptr %dy, i32 %n) {
  call void (...) @__enzyme_autodiff_adgen_body_g(ptr @adgen_body_g, metadata !"enzyme_dup", ptr %x, ptr %dx, metadata !"enzyme_dup", ptr %y, ptr %dy)
  ret void
}

define void @adgen_body_g(ptr %x, ptr %y) {
entry:
  br label %loop
loop:
  %from = phi ptr [ %x, %entry ], [ %y, %loop ]
  %to = phi ptr [ %y, %entry ], [ %to, %loop ]
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start_g, ptr %from, ptr %to)
  br i1 undef, label %loop, label %end
end:
  ret void
}

define internal void @start_g(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_g(ptr %from, ptr %to)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_g(
; CHECK-NOT:     adgen.restored
; CHECK:         ret void
define internal void @adgen_region_g(ptr %from, ptr %to) {
  %a = load double, ptr %from
  %after = getelementptr double, ptr %from, i64 1
  %b = load double, ptr %after
  %product = fmul double %a, %b
  store double %product, ptr %to
  ret void
}

define void @adgen_gradient_h(ptr %x, ptr %dx) {
  call void (...) @__enzyme_autodiff_adgen_body_h(ptr @adgen_body_h, metadata !"enzyme_dup", ptr %x, ptr %dx)
  ret void
}

; What is cleared after it is allocated anew is other memory; what is cleared again is not. What is overwritten of an array of its own the caller does not ask for.
; CHECK-LABEL: define void @adgen_body_h(
; CHECK:         call void @adgen_rule_overwrite_own_f64(ptr %new)
; CHECK-NEXT:    store double 2.000000e+00, ptr %new
define void @adgen_body_h(ptr %x) {
entry:
  %old = call noalias ptr @_Znwm(i64 800)
  br label %loop
loop:
  %new = call noalias ptr @_Znwm(i64 800)
  call void @llvm.memset.p0.i64(ptr %new, i8 0, i64 800, i1 false)
  call void @llvm.memset.p0.i64(ptr %old, i8 0, i64 800, i1 false)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, ptr @start_h, ptr %old, ptr %new, ptr %x)
  store double 2.0, ptr %new
  br i1 undef, label %loop, label %end
end:
  ret void
}

define internal void @start_h(ptr %t, ptr %b, ptr %old, ptr %new, ptr %x) {
  call void @adgen_region_h(ptr %old, ptr %new, ptr %x)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_h(
; CHECK:         %a = load double, ptr %old, align 8{{$}}
; CHECK:         %b = load double, ptr %new, align 8, !invariant.load !{{[0-9]+}}, !adgen.restored
define internal void @adgen_region_h(ptr %old, ptr %new, ptr %x) {
  %a = load double, ptr %old
  %b = load double, ptr %new
  %after = getelementptr double, ptr %new, i64 1
  %c = load double, ptr %after
  %product = fmul double %a, %b
  %all = fmul double %product, %c
  store double %all, ptr %x
  ret void
}

declare noalias ptr @_Znwm(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__enzyme_autodiff_adgen_body_f(...)
declare void @__enzyme_autodiff_adgen_body_g(...)
declare void @__enzyme_autodiff_adgen_body_h(...)
