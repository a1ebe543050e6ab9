; An array that every iteration of a loop fills before it reads it becomes one of each iteration, which then has memory of its own and becomes
; a function.
;
; RUN: %opt -passes='function(loop-simplify,lcssa),adgen-outline-iterations' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @adgen_region_filled(
; CHECK:         call void @adgen_iteration_0(
; CHECK-LABEL: define void @adgen_region_selected(
; CHECK:         call void @adgen_iteration_1(
; CHECK-LABEL: define void @adgen_region_all_but_one(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define void @adgen_region_read_first(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define void @adgen_region_read_behind(
; CHECK-NOT:     call void @adgen_iteration
; CHECK-LABEL: define void @adgen_region_handed_on(
; CHECK-NOT:     call void @adgen_iteration

; CHECK-LABEL: define void @adgen_body_nested(
; CHECK:         call void @adgen_iteration_2(
; CHECK-LABEL: define void @adgen_body_flat(
; CHECK-NOT:     call void @adgen_iteration

; CHECK-LABEL: define internal void @adgen_iteration_0(
; CHECK:         %[[OWN:.*]] = call noalias ptr @_Znwm(i64
; CHECK:         getelementptr double, ptr %[[OWN]]
; CHECK:         call void @_ZdlPv(ptr %[[OWN]])
; CHECK-LABEL: define internal void @adgen_iteration_1(
; CHECK:         %[[OWN:.*]] = call noalias ptr @_Znwm(i64
; CHECK:         call i64 @winner(ptr %[[OWN]],
; CHECK:         call void @_ZdlPv(ptr %[[OWN]])

define void @adgen_region_filled(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %none = icmp eq i32 %d, 0
  br i1 %none, label %start, label %some
some:
  %bytes = shl nuw nsw i64 %count, 3
  %new = call noalias ptr @_Znwm(i64 %bytes)
  br label %start
start:
  %a = phi ptr [ null, %entry ], [ %new, %some ]
  %wide = zext i32 %d to i64
  br label %loop
loop:
  %i = phi i32 [ 0, %start ], [ %next, %latch ]
  br i1 %none, label %empty, label %fill
empty: ; reads what was not allocated
  %nothing = load double, ptr %a
  br label %latch
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %square = fmul double %value, %value
  %to = getelementptr double, ptr %a, i64 %j
  store double %square, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %wide
  br i1 %filled, label %use, label %fill
use:
  %first = load double, ptr %a
  br label %latch
latch:
  %found = phi double [ %nothing, %empty ], [ %first, %use ]
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

; A function that only reads what it is handed reads it there.
define void @adgen_region_selected(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %latch, label %fill
latch:
  %won = call i64 @winner(ptr %a, i64 %count)
  %at = getelementptr double, ptr %a, i64 %won
  %found = load double, ptr %at
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

; The last element is what the iteration before has left.
define void @adgen_region_all_but_one(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  %fewer = sub nsw i64 %count, 1
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %fewer
  br i1 %filled, label %latch, label %fill
latch:
  %at = getelementptr double, ptr %a, i64 %fewer
  %found = load double, ptr %at
  store double %value, ptr %at
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

define void @adgen_region_read_first(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  %before = load double, ptr %to
  %sum = fadd double %before, %value
  store double %sum, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %latch, label %fill
latch:
  %found = load double, ptr %a
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

define void @adgen_region_read_behind(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %latch, label %fill
latch:
  %found = load double, ptr %a
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  %last = load double, ptr %a
  store double %last, ptr %y
  call void @_ZdlPv(ptr %a)
  ret void
}

; Another function may keep the address.
define void @adgen_region_handed_on(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  call void @keep(ptr %a)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %latch, label %fill
latch:
  %found = load double, ptr %a
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

; Outside of parallel regions, iterations with loops in loops alone.
define void @adgen_body_nested(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %use, label %fill
use:
  br label %rows
rows:
  %row = phi i64 [ 0, %use ], [ %row.next, %rows.end ]
  %over = phi double [ 0.0, %use ], [ %sum, %rows.end ]
  br label %columns
columns:
  %column = phi i64 [ 0, %rows ], [ %column.next, %columns ]
  %so.far = phi double [ %over, %rows ], [ %sum, %columns ]
  %at = getelementptr double, ptr %a, i64 %column
  %element = load double, ptr %at
  %sum = fadd double %so.far, %element
  %column.next = add nuw nsw i64 %column, 1
  %columns.done = icmp eq i64 %column.next, %count
  br i1 %columns.done, label %rows.end, label %columns
rows.end:
  %row.next = add nuw nsw i64 %row, 1
  %rows.done = icmp eq i64 %row.next, %count
  br i1 %rows.done, label %latch.begin, label %rows
latch.begin:
  %found = fmul double %sum, %sum
  br label %latch
latch:
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

; What this one would keep is no more than what it reads.
define void @adgen_body_flat(ptr %x, ptr %y, i32 %n, i32 %d) {
entry:
  %count = sext i32 %d to i64
  %bytes = shl nuw nsw i64 %count, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %fill
fill:
  %j = phi i64 [ 0, %loop ], [ %j.next, %fill ]
  %in = getelementptr double, ptr %x, i64 %j
  %value = load double, ptr %in
  %to = getelementptr double, ptr %a, i64 %j
  store double %value, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %filled = icmp eq i64 %j.next, %count
  br i1 %filled, label %use, label %fill
use:
  %found = load double, ptr %a
  br label %latch
latch:
  %out = getelementptr double, ptr %y, i32 %i
  store double %found, ptr %out
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @_ZdlPv(ptr %a)
  ret void
}

define internal i64 @winner(ptr captures(none) %a, i64 %count) nounwind willreturn memory(read) {
entry:
  %first = load double, ptr %a
  %below = fcmp olt double %first, 0.0
  %last = sub i64 %count, 1
  %won = select i1 %below, i64 %last, i64 0
  ret i64 %won
}

declare void @keep(ptr)
declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)
