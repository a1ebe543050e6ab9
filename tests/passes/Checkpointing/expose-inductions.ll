; An integer that an inner loop moves on, or that moves by a choice, becomes an induction of the outer loop, where the choice is the same in all
; iterations of that.
;
; RUN: %opt -passes=adgen-expose-inductions -S %s | %filecheck %s
; RUN: %opt -passes='adgen-expose-inductions,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=KNOWN
; RUN: %opt -passes='adgen-expose-inductions,adgen-expose-inductions,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=AGAIN

; CHECK-LABEL: define void @walks(
; CHECK:       entry:
; CHECK:         [[TWICE:%.*]] = shl i32 %n, 1
; CHECK:         [[STEP:%.*]] = select i1 %any, i32 [[TWICE]], i32 0
; CHECK:       merge:
; CHECK:         add i32 %at, [[STEP]]
; KNOWN:       @walks
; KNOWN:       %at = phi
; KNOWN-NEXT:  --> {%begin,+,%step}<%outer>
define void @walks(ptr %x, i32 %begin, i32 %n, i32 %m) {
entry:
  %any = icmp sgt i32 %n, 0
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %merge ]
  %at = phi i32 [ %begin, %entry ], [ %after, %merge ]
  br i1 %any, label %inner, label %merge
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %place = phi i32 [ %at, %outer ], [ %place.next, %inner ]
  %wide = sext i32 %place to i64
  %element = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %element
  %place.next = add i32 %place, 2
  %j.next = add nuw nsw i32 %j, 1
  %end = icmp eq i32 %j.next, %n
  br i1 %end, label %left, label %inner
left:
  %place.left = phi i32 [ %place.next, %inner ]
  br label %merge
merge:
  %after = phi i32 [ %at, %outer ], [ %place.left, %left ]
  %i.next = add i32 %i, 1
  %done = icmp eq i32 %i.next, %m
  br i1 %done, label %exit, label %outer
exit:
  ret void
}

; The condition differs from iteration to iteration: it stays.
; CHECK-LABEL: define void @counts(
; CHECK-NOT:     select
; CHECK:         %after = phi i32 [ %at, %outer ], [ %further, %yes ]
define void @counts(ptr %x, i32 %begin, i32 %m) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %merge ]
  %at = phi i32 [ %begin, %entry ], [ %after, %merge ]
  %wide = sext i32 %i to i64
  %element = getelementptr i1, ptr %x, i64 %wide
  %any = load i1, ptr %element
  br i1 %any, label %yes, label %merge
yes:
  %further = add i32 %at, 1
  br label %merge
merge:
  %after = phi i32 [ %at, %outer ], [ %further, %yes ]
  %i.next = add i32 %i, 1
  %done = icmp eq i32 %i.next, %m
  br i1 %done, label %exit, label %outer
exit:
  ret void
}

; What is one thing at first and another from then on follows from the iteration. What counts two iterations may be that.
; CHECK-LABEL: define void @first(
; CHECK:       loop:
; CHECK-NEXT:    [[TURN:%.*]] = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %loop ]
; CHECK-NEXT:    [[FIRST:%.*]] = icmp eq i64 [[TURN]], 0
; CHECK-NEXT:    [[SIDE:%.*]] = select i1 [[FIRST]], i32 0, i32 1
; CHECK-NEXT:    [[SCALE:%.*]] = select i1 [[FIRST]], float %a, float %b
; CHECK-NEXT:    [[NEXT]] = add nuw i64 [[TURN]], 1
; CHECK-NEXT:    getelementptr float, ptr %x, i32 [[SIDE]]
; CHECK-NEXT:    store float [[SCALE]]
; CHECK-NEXT:    br i1 [[FIRST]], label %loop, label %exit
; KNOWN:       @first
; KNOWN:       Loop %loop: Trip multiple is 2
define void @first(ptr %x, float %a, float %b) {
entry:
  br label %loop
loop:
  %more = phi i1 [ true, %entry ], [ false, %loop ]
  %side = phi i32 [ 0, %entry ], [ 1, %loop ]
  %scale = phi float [ %a, %entry ], [ %b, %loop ]
  %element = getelementptr float, ptr %x, i32 %side
  store float %scale, ptr %element
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; A counter from zero that is there already is used.
; CHECK-LABEL: define void @counted(
; CHECK:         %i = phi i32
; CHECK-NEXT:    icmp eq i32 %i, 0
define void @counted(ptr %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %add = phi float [ 0.0, %entry ], [ 1.0, %loop ]
  %element = getelementptr float, ptr %x, i32 %i
  store float %add, ptr %element
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; What moves on by an induction follows from the iteration too.
; CHECK-LABEL: define void @triangle(
; CHECK:       loop:
; CHECK-NOT:     %at = phi
; CHECK:         [[HALF:%.*]] = lshr i64 %i, 1
; CHECK:         [[LESS:%.*]] = sub i64 %i, 1
; CHECK:         [[ODD:%.*]] = or i64 [[LESS]], 1
; CHECK:         [[PAIRS:%.*]] = mul i64 [[HALF]], [[ODD]]
; CHECK:         [[FIRST:%.*]] = mul i64 %i, %first
; CHECK:         [[MORE:%.*]] = mul i64 [[PAIRS]], %more
; CHECK:         [[WAY:%.*]] = add i64 [[FIRST]], [[MORE]]
; CHECK:         [[AT:%.*]] = add i64 %begin, [[WAY]]
; CHECK:         getelementptr float, ptr %x, i64 [[AT]]
define void @triangle(ptr %x, i64 %begin, i64 %first, i64 %more, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %step = phi i64 [ %first, %entry ], [ %step.next, %loop ]
  %at = phi i64 [ %begin, %entry ], [ %at.next, %loop ]
  %element = getelementptr float, ptr %x, i64 %at
  store float 1.0, ptr %element
  %at.next = add i64 %at, %step
  %step.next = add i64 %step, %more
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %m
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; What goes on where the loop does goes on by a constant.
; CHECK-LABEL: define void @adgen_body_goes_on(
; CHECK:         %step = phi i32 [ 0, %entry ], [ %[[NEXT:.*]], %body ]
; CHECK:         %[[NEXT]] = add nuw nsw i32 %step, 1
; CHECK-NEXT:    br i1 %goes, label %head, label %end
define void @adgen_body_goes_on(ptr noalias readonly %x, ptr noalias %out, i32 %n, float %least) {
entry:
  br label %head
head:
  %step = phi i32 [ 0, %entry ], [ %next, %body ]
  %t = phi float [ 1.0, %entry ], [ %less, %body ]
  %runs = icmp slt i32 %step, %n
  br i1 %runs, label %body, label %end
body:
  %at = getelementptr float, ptr %x, i32 %step
  %a = load float, ptr %at
  %less = fmul float %t, %a
  %goes = fcmp uge float %less, %least
  %one = zext i1 %goes to i32
  %next = add nuw nsw i32 %step, %one
  br i1 %goes, label %head, label %end
end:
  %left = phi float [ %t, %head ], [ %less, %body ]
  store float %left, ptr %out
  ret void
}

; What three loops move on together, without phis in between, goes on as it did inside of each.
; CHECK-LABEL: define void @together(
; CHECK:         %place.middle = phi i64 [ %place.outer, %outer ], [ [[FURTHER:%.*]], %middle.end ]
; CHECK:         %place = phi i64 [ %place.middle, %middle ], [ %place.next, %innermost ]
; CHECK:         [[FURTHER]] = add i64 %place.middle,
; CHECK:         %place.next = add i64 %place, %step
; AGAIN:       @together
; AGAIN:       %place.outer = phi
; AGAIN-NEXT:  --> {0,+,(12 * %step)}<%outer>
; AGAIN:       %place = phi
; AGAIN-NEXT:  --> {{[{]+}}0,+,(12 * %step)}<%outer>,+,(3 * %step)}<%middle>,+,%step}<%innermost>
define void @together(ptr %x, i64 %step, i32 %m) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  %place.outer = phi i64 [ 0, %entry ], [ %place.next, %outer.end ]
  br label %middle
middle:
  %j = phi i32 [ 0, %outer ], [ %j.next, %middle.end ]
  %place.middle = phi i64 [ %place.outer, %outer ], [ %place.next, %middle.end ]
  br label %innermost
innermost:
  %k = phi i32 [ 0, %middle ], [ %k.next, %innermost ]
  %place = phi i64 [ %place.middle, %middle ], [ %place.next, %innermost ]
  %element = getelementptr i8, ptr %x, i64 %place
  store float 1.0, ptr %element
  %place.next = add i64 %place, %step
  %k.next = add nuw nsw i32 %k, 1
  %k.end = icmp eq i32 %k.next, 3
  br i1 %k.end, label %middle.end, label %innermost
middle.end:
  %j.next = add nuw nsw i32 %j, 1
  %j.end = icmp eq i32 %j.next, 4
  br i1 %j.end, label %outer.end, label %middle
outer.end:
  %i.next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %i.next, %m
  br i1 %done, label %exit, label %outer
exit:
  ret void
}
