; Of the numbers among which a loop selects, the one that won is computed again behind the loop, and nothing else of it has a derivative. Numbers
; that follow from what is carried, that is used for more than comparisons, loops that write to what they read, and what is no body stay.
;
; RUN: %opt -passes='adgen-rematerialize-selections,adce,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_least(
; CHECK:         %[[ALL:.*]] = call { i32, i1, i64 } @[[LEAST:adgen_selection.*]](ptr %x, i64 %n)
; CHECK:       end:
; CHECK-DAG:     %[[HAS:.*]] = call i1 @adgen_hold_i1(
; CHECK-DAG:     %[[HELD:.*]] = call i64 @adgen_hold_i64(
; CHECK:         br i1 %[[HAS]], label %loop.again, label %end.selected
; CHECK:       loop.again:
; CHECK-NEXT:    %[[ADDRESS:.*]] = getelementptr double, ptr %x, i64 %[[HELD]]
; CHECK-NEXT:    %[[V:.*]] = load double, ptr %[[ADDRESS]]
; CHECK-NEXT:    %[[D:.*]] = fmul double %[[V]], %[[V]]
; CHECK-NEXT:    br label %end.selected
; CHECK:       end.selected:
; CHECK-NEXT:    %[[SELECTED:.*]] = phi double [ %[[D]], %loop.again ], [ 1.000000e+30, %end ]
; CHECK-NEXT:    store double %[[SELECTED]], ptr %y
define void @adgen_body_least(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %less = fcmp olt double %d, %best
  %chosen = select i1 %less, double %d, double %best
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; Branches, of which an iteration that wins takes the one way, a loop that is left early, and two numbers that are chosen together.
; CHECK-LABEL: define void @adgen_body_branches(
; CHECK:         call {{.*}} @[[BRANCHES:adgen_selection.*]](ptr %x, i64 %n)
; CHECK:       loop.again:
; CHECK-NOT:     fcmp
; CHECK:         br i1 true, label %better.again, label %latch.again
; CHECK:       better.again:
; CHECK-NEXT:    fmul double
; CHECK:       latch.again:
; CHECK-NOT:   loop.again{{[0-9]+}}:
; CHECK:       ret void
define void @adgen_body_branches(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %last ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %last ]
  %side = phi double [ 0.0, %entry ], [ %other, %last ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  br i1 %less, label %better, label %latch
better:
  %w = fmul double %v, 3.0
  br label %latch
latch:
  %chosen = phi double [ %v, %better ], [ %best, %loop ]
  %other = phi double [ %w, %better ], [ %side, %loop ]
  %enough = fcmp olt double %chosen, 0.1
  br i1 %enough, label %end, label %last
last:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %sum = fadd double %chosen, %other
  store double %sum, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_dependent(
; CHECK-NOT:     again
; CHECK:         ret void
define void @adgen_body_dependent(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %d = fmul double %v, %best
  %less = fcmp olt double %d, %best
  %chosen = select i1 %less, double %d, double %best
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; What moves from one number that the loop carries to another one, the second best: what was the best one before.
; CHECK-LABEL: define void @adgen_body_second(
; CHECK:         %[[BOTH:.*]] = call { i32, i64, double, i64, double } @adgen_selection
; CHECK-DAG:     extractvalue { i32, i64, double, i64, double } %[[BOTH]], 1
; CHECK-DAG:     extractvalue { i32, i64, double, i64, double } %[[BOTH]], 3
; CHECK:         phi double [ 1.000000e+30, %held ], [ %[[AGAIN:.*]], %again ]
; CHECK:       again:
; CHECK:         %[[AGAIN]] = load double, ptr
; CHECK:         ret void
define void @adgen_body_second(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %second = phi double [ 1.0e30, %entry ], [ %former, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  %chosen = select i1 %less, double %v, double %best
  %former = select i1 %less, double %best, double %second
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %sum = fadd double %chosen, %former
  store double %sum, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_running(
; CHECK-NOT:     again
; CHECK:         ret void
define void @adgen_body_running(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  %chosen = select i1 %less, double %v, double %best
  %to = getelementptr double, ptr %y, i64 %i
  store double %chosen, ptr %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_overwritten(
; CHECK-NOT:     again
; CHECK:         ret void
define void @adgen_body_overwritten(ptr %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  %chosen = select i1 %less, double %v, double %best
  %next = add i64 %i, 1
  %to = getelementptr double, ptr %x, i64 %next
  store double 0.0, ptr %to
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; What it writes elsewhere is written once.
; CHECK-LABEL: define void @adgen_body_elsewhere(
; CHECK:       loop.again:
; CHECK-NOT:     store
; CHECK:         br label %end.selected
define void @adgen_body_elsewhere(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  %chosen = select i1 %less, double %v, double %best
  %next = add i64 %i, 1
  %to = getelementptr double, ptr %y, i64 %next
  store double %v, ptr %to
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; A number of an inner loop that is used behind the outer one leaves both through phis.
; CHECK-LABEL: define void @adgen_body_inner(
; CHECK:         br i1 %{{.*}}, label %{{.*}}again, label
; CHECK:         ret void
define void @adgen_body_inner(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %loop ], [ %j.next, %inner ]
  %sum = phi double [ 0.0, %loop ], [ %added, %inner ]
  %at = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %at
  %added = fadd double %sum, %v
  %j.next = add i64 %j, 1
  %inner.more = icmp ult i64 %j.next, %i
  br i1 %inner.more, label %inner, label %latch
latch:
  %less = fcmp olt double %added, %best
  %chosen = select i1 %less, double %added, double %best
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %both = fadd double %chosen, %added
  store double %both, ptr %y
  ret void
}

; What the winner of the outer loop found in the inner one is remembered, and the inner loop is not walked again.
; CHECK-LABEL: define void @adgen_body_rows(
; CHECK:         call {{.*}} @adgen_selection
; CHECK-NOT:     @adgen_selection
; CHECK:         ret void
define void @adgen_body_rows(ptr noalias %x, ptr noalias %y, i64 %n, i64 %m) {
entry:
  %any = icmp ne i64 %m, 0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %best = phi double [ 1.0e30, %entry ], [ %row.best, %latch ]
  %row = mul i64 %i, %m
  br i1 %any, label %inner, label %latch
inner:
  %j = phi i64 [ 0, %loop ], [ %j.next, %inner ]
  %so.far = phi double [ %best, %loop ], [ %chosen, %inner ]
  %place = add i64 %row, %j
  %at = getelementptr double, ptr %x, i64 %place
  %v = load double, ptr %at
  %less = fcmp olt double %v, %so.far
  %chosen = select i1 %less, double %v, double %so.far
  %j.next = add i64 %j, 1
  %inner.more = icmp ult i64 %j.next, %m
  br i1 %inner.more, label %inner, label %latch
latch:
  %row.best = phi double [ %best, %loop ], [ %chosen, %inner ]
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %row.best, ptr %y
  ret void
}

; CHECK-LABEL: define void @primal(
; CHECK-NOT:     again
; CHECK:         ret void
define void @primal(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best
  %chosen = select i1 %less, double %v, double %best
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}

; A place that leaves the loop follows from one that was read: it has no derivative where its array holds integers, and may be a number's bits where
; that is not known.
; CHECK-LABEL: define void @adgen_body_indexed(
; CHECK:         call {{.*}} @adgen_selection
; CHECK-LABEL: define void @adgen_body_of_bits(
; CHECK-NOT:     call {{.*}} @adgen_selection
; CHECK:         ret void
define void @adgen_body_indexed(ptr noalias %x, ptr noalias %y, ptr noalias "adgen-layout"="8[0i8]" %starts, ptr noalias %which, i64 %n) {
entry:
  %held = load i64, ptr %starts
  %start = call i64 @adgen_hold_i64(i64 %held)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %nearest = phi i64 [ 0, %entry ], [ %nearer, %loop ]
  %place = add i64 %start, %i
  %at = getelementptr double, ptr %x, i64 %place
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %less = fcmp olt double %d, %best
  %chosen = select i1 %less, double %d, double %best
  %nearer = select i1 %less, i64 %place, i64 %nearest
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  store i64 %nearer, ptr %which
  ret void
}
define void @adgen_body_of_bits(ptr noalias %x, ptr noalias %y, ptr noalias %starts, ptr noalias %which, i64 %n) {
entry:
  %held = load i64, ptr %starts
  %start = call i64 @adgen_hold_i64(i64 %held)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %nearest = phi i64 [ 0, %entry ], [ %nearer, %loop ]
  %place = add i64 %start, %i
  %at = getelementptr double, ptr %x, i64 %place
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %less = fcmp olt double %d, %best
  %chosen = select i1 %less, double %d, double %best
  %nearer = select i1 %less, i64 %place, i64 %nearest
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  store i64 %nearer, ptr %which
  ret void
}
declare i64 @adgen_hold_i64(i64)

; A position that the loop moves on, and that has no derivative, is remembered as a counter is; not if it has one, nor if what the position follows
; from may have a tangent. A place from a maximum of integers is no bits of a number.
; CHECK-LABEL: define void @adgen_body_moved(
; CHECK:         call {{.*}} @adgen_selection
; CHECK:       again
; CHECK:         ret void
define void @adgen_body_moved(ptr noalias %x, ptr noalias %line, ptr noalias %y, ptr noalias %which, i64 %n, i64 %from) {
entry:
  %begin = load double, ptr %line
  %end.at = getelementptr double, ptr %line, i64 1
  %step = load double, ptr %end.at
  %first = call i64 @llvm.smax.i64(i64 %from, i64 0)
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %position = phi double [ %begin, %entry ], [ %moved, %loop ]
  %best = phi double [ -1.0e30, %entry ], [ %chosen, %loop ]
  %place = phi i64 [ %first, %entry ], [ %where, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %weighed = fmul double %v, %position
  %more.than = fcmp ogt double %weighed, %best
  %chosen = select i1 %more.than, double %weighed, double %best
  %where = select i1 %more.than, i64 %i, i64 %place
  %moved = fadd double %position, %step
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  store i64 %where, ptr %which
  ret void
}
; CHECK-LABEL: define void @adgen_body_moved_active(
; CHECK-NOT:     again
; CHECK:         ret void
define void @adgen_body_moved_active(ptr noalias %x, ptr noalias %line, ptr noalias %y, i64 %n) {
entry:
  %begin = load double, ptr %line
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %position = phi double [ %begin, %entry ], [ %moved, %loop ]
  %best = phi double [ -1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %weighed = fmul double %v, %position
  %more.than = fcmp ogt double %weighed, %best
  %chosen = select i1 %more.than, double %weighed, double %best
  %moved = fadd double %position, %begin
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %y
  ret void
}
declare i64 @llvm.smax.i64(i64, i64)
define void @adgen_gradient_moved(ptr %x, ptr %line, ptr %y, ptr %which, i64 %n, i64 %from, ptr %d_x, ptr %d_y) "adgen-activity"="duplicated:const:duplicated:const:const:const" {
  ret void
}
define void @adgen_gradient_moved_active(ptr %x, ptr %line, ptr %y, i64 %n, ptr %d_x, ptr %d_line, ptr %d_y) "adgen-activity"="duplicated:duplicated:duplicated:const" {
  ret void
}
; CHECK:         ret void
; CHECK:         ret void

; The loops, of which nothing that leaves them has a derivative.
; CHECK:       define internal { i32, i1, i64 } @[[LEAST]](ptr noalias captures(none) %0, i64 %1) [[SELECTION:#[0-9]+]]
; CHECK:       loop:
; CHECK-DAG:     %[[AT:.*]] = phi i64 [ 0, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK-DAG:     %[[WON:.*]] = phi i1 [ false, %entry ], [ %[[WINS:.*]], %loop ]
; CHECK-DAG:     %best = phi double [ 1.000000e+30, %entry ], [ %chosen, %loop ], !enzyme_inactive_val
; CHECK:         %chosen = select i1 %less, double %d, double %best, !enzyme_inactive_val
; CHECK-DAG:     %[[WINS]] = select i1 %less, i1 true, i1 %[[WON]]
; CHECK-DAG:     %[[NEXT]] = select i1 %less, i64 %i, i64 %[[AT]]
; CHECK:       define internal {{.*}} @[[BRANCHES]](
; CHECK:       latch:
; CHECK:         %[[CHANGES:.*]] = phi i1 [ true, %better ], [ false, %loop ]
; CHECK:         select i1 %[[CHANGES]], i1 true,
; CHECK:       attributes [[SELECTION]] = { alwaysinline {{.*}}memory(read){{.*}} "enzyme_inactive" }
