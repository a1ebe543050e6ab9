; Loops that keep numbers in lists: each place remembers the iteration that its number comes from, which is computed again behind the loop.
;
; RUN: %opt -passes='adgen-rematerialize-selections,adce,verify' -S %s | %filecheck %s

; A list that holds numbers before the loop, which may stay, or move.
; CHECK-LABEL: define void @adgen_body_list(
; CHECK-DAG:     %[[COMPARED:.*]] = alloca [3 x double]
; CHECK-DAG:     %[[ORIGIN:list.origin]] = alloca [3 x i64]
; CHECK-DAG:     %[[BEFORE:before.*]] = alloca [3 x double]
; CHECK:         store i64 -3, ptr
; CHECK:         call { i32 } @[[LIST:adgen_selection[.0-9]*]](ptr %x, ptr %{{.*}}compared, ptr %[[ORIGIN]], i64 %n)
; CHECK:         %[[AT:.*]] = getelementptr inbounds i64, ptr %[[ORIGIN]], i64 %[[INDEX:.*]]
; CHECK-NEXT:    %[[FROM:.*]] = load i64, ptr %[[AT]]
; CHECK-NEXT:    %[[NONE:.*]] = icmp slt i64 %[[FROM]], 0
; CHECK-NEXT:    br i1 %[[NONE]], label %held, label %again
; CHECK:         phi double [ %[[OLD:.*]], %held ], [ %[[NEW:.*]], %again ]
; CHECK-NEXT:    getelementptr inbounds double, ptr %list, i64 %[[INDEX]]
; CHECK:       again:
; CHECK:         %[[NEW]] = fmul double
; CHECK:       held:
; CHECK-NEXT:    %[[PLACE:.*]] = xor i64 %[[FROM]], -1
; CHECK-NEXT:    %[[THERE:.*]] = getelementptr inbounds double, ptr %[[BEFORE]], i64 %[[PLACE]]
; CHECK-NEXT:    %[[OLD]] = load double, ptr %[[THERE]]
; CHECK:         ret void
define void @adgen_body_list(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k) {
entry:
  %list = alloca [3 x double], align 8
  %one = getelementptr double, ptr %list, i64 1
  %two = getelementptr double, ptr %list, i64 2
  %first = load double, ptr %x
  store double %first, ptr %list
  store double 1.0e30, ptr %one
  store double 1.0e30, ptr %two
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %worst = load double, ptr %two
  %less = fcmp olt double %d, %worst
  br i1 %less, label %shift, label %latch
shift:
  %j = phi i64 [ 2, %loop ], [ %before, %move ]
  %before = add i64 %j, -1
  %from = getelementptr double, ptr %list, i64 %before
  %other = load double, ptr %from
  %greater = fcmp ogt double %other, %d
  br i1 %greater, label %move, label %put
move:
  %to = getelementptr double, ptr %list, i64 %j
  store double %other, ptr %to
  %more.left = icmp sgt i64 %before, 0
  br i1 %more.left, label %shift, label %begin
begin:
  br label %put
put:
  %place = phi i64 [ 0, %begin ], [ %j, %shift ]
  %in = getelementptr double, ptr %list, i64 %place
  store double %d, ptr %in
  br label %latch
latch:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %wanted = getelementptr double, ptr %list, i64 %k
  %kth = load double, ptr %wanted
  store double %kth, ptr %y
  ret void
}

; Two lists that move together have one origin, and their numbers are computed again together.
; CHECK-LABEL: define void @adgen_body_together(
; CHECK-NOT:     weights.origin
; CHECK:         call { i32 } @adgen_selection
; CHECK:       put:
; CHECK-NEXT:    phi double [ %[[DEPTH:.*]], %again ]
; CHECK-NEXT:    phi double [ %[[WEIGHT:.*]], %again ]
; CHECK:         getelementptr inbounds double, ptr %depths
; CHECK:         getelementptr inbounds double, ptr %weights
; CHECK:       again:
; CHECK:         %[[V:.*]] = load double
; CHECK-NEXT:    %[[DEPTH]] = fmul double %[[V]], %[[V]]
; CHECK-NEXT:    %[[WEIGHT]] = fmul double %[[V]], 3.0
; CHECK:         ret void
define void @adgen_body_together(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k) {
entry:
  %depths = alloca [4 x double], align 8
  %weights = alloca [4 x double], align 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %size = phi i64 [ 0, %entry ], [ %larger, %latch ]
  %most = phi double [ -1.0e3, %entry ], [ %greatest, %latch ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %w = fmul double %v, 3.0
  %d = fmul double %v, %v
  %less = fcmp ogt double %d, %most
  %place = and i64 %size, 3
  br i1 %less, label %add, label %latch
add:
  %depth = getelementptr double, ptr %depths, i64 %place
  store double %d, ptr %depth
  %weight = getelementptr double, ptr %weights, i64 %place
  store double %w, ptr %weight
  %size.next = add i64 %size, 1
  br label %latch
latch:
  %larger = phi i64 [ %size.next, %add ], [ %size, %loop ]
  %greatest = phi double [ %d, %add ], [ %most, %loop ]
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %depth.end = getelementptr double, ptr %depths, i64 %k
  %weight.end = getelementptr double, ptr %weights, i64 %k
  %a = load double, ptr %depth.end
  %b = load double, ptr %weight.end
  %p = fmul double %a, %b
  store double %p, ptr %y
  ret void
}

; What is filled, and compared with nothing, stays.
; CHECK-LABEL: define void @adgen_body_filled(
; CHECK-NOT:     adgen_selection
; CHECK:         ret void
define void @adgen_body_filled(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k) {
entry:
  %list = alloca [4 x double], align 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %place = and i64 %i, 3
  %in = getelementptr double, ptr %list, i64 %place
  store double %d, ptr %in
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %wanted = getelementptr double, ptr %list, i64 %k
  %kth = load double, ptr %wanted
  store double %kth, ptr %y
  ret void
}

; So does a list of which a number follows from another one, and one that is used for more than comparisons.
; CHECK-LABEL: define void @adgen_body_relaxed(
; CHECK-NOT:     adgen_selection
; CHECK:         ret void
define void @adgen_body_relaxed(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k) {
entry:
  %list = alloca [4 x double], align 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %place = and i64 %i, 3
  %in = getelementptr double, ptr %list, i64 %place
  %old = load double, ptr %in
  %less = fcmp olt double %v, %old
  br i1 %less, label %put, label %latch
put:
  %half = fmul double %old, 0.5
  store double %half, ptr %in
  br label %latch
latch:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %wanted = getelementptr double, ptr %list, i64 %k
  %kth = load double, ptr %wanted
  store double %kth, ptr %y
  ret void
}

; Of loops in each other the inner one is done: of its iterations the outer one's number says nothing.
; CHECK-LABEL: define void @adgen_body_nested(
; CHECK:       loop:
; CHECK:         call { i32, i64, double, i64, double } @adgen_selection{{.*}}(double %best, double %second, ptr %row, i64 %n)
; CHECK:         ret void
define void @adgen_body_nested(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %best = phi double [ 1.0e30, %entry ], [ %best.end, %latch ]
  %second = phi double [ 1.0e30, %entry ], [ %second.end, %latch ]
  %row = getelementptr double, ptr %x, i64 %i
  store i64 %i, ptr %y
  br label %inner
inner:
  %j = phi i64 [ 0, %loop ], [ %after, %inner ]
  %best.in = phi double [ %best, %loop ], [ %chosen, %inner ]
  %second.in = phi double [ %second, %loop ], [ %former, %inner ]
  %at = getelementptr double, ptr %row, i64 %j
  %v = load double, ptr %at
  %less = fcmp olt double %v, %best.in
  %chosen = select i1 %less, double %v, double %best.in
  %former = select i1 %less, double %best.in, double %second.in
  %after = add i64 %j, 1
  %again = icmp ult i64 %after, %n
  br i1 %again, label %inner, label %latch
latch:
  %best.end = phi double [ %chosen, %inner ]
  %second.end = phi double [ %former, %inner ]
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %sum = fadd double %best.end, %second.end
  store double %sum, ptr %y
  ret void
}

; The function moves origins as it moves numbers.
; CHECK:       define internal { i32 } @[[LIST]](
; CHECK:         %[[ITERATION:.*]] = phi i64 [ 0, %entry ]
; CHECK:       shift:
; CHECK:         %[[MOVED:.*]] = load i64, ptr
; CHECK:         %[[OTHER:.*]] = load double, ptr
; CHECK:       move:
; CHECK:         store i64 %[[MOVED]], ptr
; CHECK:         store double %[[OTHER]], ptr
; CHECK:       put:
; CHECK:         store i64 %[[ITERATION]], ptr
; CHECK:         store double %d, ptr
