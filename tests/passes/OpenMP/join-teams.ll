; A league of teams is one team: what each would run is called, all that is distributed is its own, and a reduction
; among teams combines once. With a limit of threads whose numbers are asked for, teams stay.
;
; RUN: %opt -passes='adgen-join-teams' -S %s | %filecheck %s
; RUN: sed 's/ i32 0) ; limit/ i32 64) ; limit/' %s | %opt -passes='adgen-join-teams' -S | %filecheck %s -check-prefix=STAYS

; CHECK-LABEL: define void @f(
; CHECK:         %team = alloca i32
; CHECK-NOT:     push
; CHECK:         store i32 0, ptr %team
; CHECK-NEXT:    call void @each(ptr %team, ptr %team, ptr %sum, i32 %n)
; CHECK-NEXT:    ret void
;
; STAYS-LABEL: define void @f(
; STAYS:         call void (ptr, i32, ptr, ...) @__kmpc_fork_teams(
define void @f(ptr %sum, i32 %n) {
  call void @__kmpc_push_num_teams(ptr null, i32 0, i32 4, i32 0) ; limit
  call void (ptr, i32, ptr, ...) @__kmpc_fork_teams(ptr null, i32 2, ptr @each, ptr %sum, i32 %n)
  ret void
}

; CHECK-LABEL: define internal void @each(
; CHECK-NOT:     static_init
; CHECK:         %[[FROM:.*]] = load i32, ptr %lower
; CHECK-NEXT:    %[[TO:.*]] = load i32, ptr %upper
; CHECK-NEXT:    %[[LESS:.*]] = sub i32 %[[TO]], %[[FROM]]
; CHECK-NEXT:    %[[ALL:.*]] = add i32 %[[LESS]], 1
; CHECK-NEXT:    store i32 %[[ALL]], ptr %stride
; CHECK-NEXT:    store i32 1, ptr %last
; CHECK-NOT:     reduce
; CHECK:         fadd double
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
;
; STAYS-LABEL: define internal void @each(
; STAYS:         call void @__kmpc_for_static_init_4(
define internal void @each(ptr %thread, ptr %bound, ptr %sum, i32 %n) {
entry:
  %last = alloca i32
  %lower = alloca i32
  %upper = alloca i32
  %stride = alloca i32
  store i32 0, ptr %lower
  store i32 %n, ptr %upper
  call void @__kmpc_for_static_init_4(ptr null, i32 0, i32 92, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  %at = call i32 @omp_get_thread_num()
  %how = call i32 @__kmpc_reduce_nowait(ptr null, i32 0, i32 1, i64 8, ptr null, ptr null, ptr null)
  switch i32 %how, label %end [
    i32 1, label %plain
    i32 2, label %atomic
  ]
plain:
  %old = load double, ptr %sum
  %new = fadd double %old, 1.0
  store double %new, ptr %sum
  call void @__kmpc_end_reduce_nowait(ptr null, i32 0, ptr null)
  br label %end
atomic:
  %was = atomicrmw fadd ptr %sum, double 1.0 monotonic
  br label %end
end:
  ret void
}

declare void @__kmpc_push_num_teams(ptr, i32, i32, i32)
declare void @__kmpc_fork_teams(ptr, i32, ptr, ...)
declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)
declare i32 @__kmpc_reduce_nowait(ptr, i32, i32, i64, ptr, ptr, ptr)
declare void @__kmpc_end_reduce_nowait(ptr, i32, ptr)
declare i32 @omp_get_thread_num()
