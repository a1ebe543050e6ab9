; An iteration of a parallel loop that has memory of its own, and reads nothing from outside that is written later, becomes a function. What
; it stores outside is marked.
;
; RUN: %opt -passes='adgen-outline-iterations' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define internal void @adgen_region_again(
; CHECK:         call void @adgen_iteration_0(
; CHECK-LABEL: define internal void @adgen_region_changing(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define internal void @adgen_region_read_before(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define internal void @adgen_region_addresses(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define internal void @adgen_iteration_0(
; CHECK:         call noalias ptr @_Znwm(
; CHECK:         store double %{{.*}}, ptr %{{.*}}, !adgen.effect
; CHECK:         ret void

define void @adgen_body_f(ptr %x, ptr %y, ptr %z) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start_again, ptr %x, ptr %y)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start_changing, ptr %y, ptr %z)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start_read_before, ptr %z, ptr %z)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @start_addresses, ptr %x, ptr %z)
  store double 0.0, ptr %y
  ret void
}

define internal void @start_again(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_again(ptr %from, ptr %to)
  ret void
}
define internal void @start_changing(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_changing(ptr %from, ptr %to)
  ret void
}
define internal void @start_read_before(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_read_before(ptr %from, ptr %to)
  ret void
}
define internal void @start_addresses(ptr %t, ptr %b, ptr %from, ptr %to) {
  call void @adgen_region_addresses(ptr %from, ptr %to)
  ret void
}

define internal void @adgen_region_again(ptr %from, ptr %to) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %own = call noalias ptr @_Znwm(i64 8)
  %in = getelementptr double, ptr %from, i64 %i
  %value = load double, ptr %in
  store double %value, ptr %own
  %square = fmul double %value, %value
  %out = getelementptr double, ptr %to, i64 %i
  store double %square, ptr %out
  call void @_ZdlPv(ptr %own)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; What it reads is written after the region.
define internal void @adgen_region_changing(ptr %from, ptr %to) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %own = call noalias ptr @_Znwm(i64 8)
  %in = getelementptr double, ptr %from, i64 %i
  %value = load double, ptr %in
  store double %value, ptr %own
  %out = getelementptr double, ptr %to, i64 %i
  store double %value, ptr %out
  call void @_ZdlPv(ptr %own)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; It overwrites what it has read.
define internal void @adgen_region_read_before(ptr %from, ptr %to) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %own = call noalias ptr @_Znwm(i64 8)
  %in = getelementptr double, ptr %from, i64 %i
  %value = load double, ptr %in
  store double %value, ptr %own
  %out = getelementptr double, ptr %to, i64 %i
  store double %value, ptr %out
  call void @_ZdlPv(ptr %own)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; An address that it stores has a shadow, which must be there in the forward sweep.
define internal void @adgen_region_addresses(ptr %from, ptr %to) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %own = call noalias ptr @_Znwm(i64 8)
  store double 1.0, ptr %own
  %in = getelementptr double, ptr %from, i64 %i
  %out = getelementptr ptr, ptr %to, i64 %i
  store ptr %in, ptr %out
  call void @_ZdlPv(ptr %own)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)
