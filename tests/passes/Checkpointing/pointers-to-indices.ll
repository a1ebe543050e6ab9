; A pointer that walks over the columns of a triangle, each one shorter than the one before, becomes an offset; one that walks in equal
; steps, one that changes in another way, and one that is followed from element to element stay.
; RUN: %opt -passes='function(loop-simplify),adgen-pointers-to-indices' -S %s | %filecheck %s
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='function(loop-simplify),adgen-pointers-to-indices' -S %s | %filecheck %s --check-prefix=HOST

; In C++ pointers that take turns stay: what was overwritten behind them is put back, and read again.
; HOST-NOT: %turns

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: @triangle
; CHECK: %column.offset = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %loop ]
; CHECK-NOT: phi ptr
; CHECK: [[COLUMN:%.*]] = getelementptr i8, ptr %below, i64 %column.offset
; CHECK: load double, ptr [[COLUMN]]
; CHECK: [[BYTES:%.*]] = mul i64 %left, 8
; CHECK: [[NEXT]] = add i64 %column.offset, [[BYTES]]
define double @triangle(ptr %below, i64 %d) {
entry:
  br label %loop

loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %column = phi ptr [ %below, %entry ], [ %following, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %value = load double, ptr %column
  %more = fadd double %sum, %value
  %next = add i64 %j, 1
  %left = sub i64 %d, %j
  %following = getelementptr double, ptr %column, i64 %left
  %done = icmp eq i64 %next, %d
  br i1 %done, label %exit, label %loop

exit:
  ret double %more
}

; CHECK-LABEL: @equal_steps
; CHECK: phi ptr
; CHECK-NOT: offset
define double @equal_steps(ptr %x, ptr %end) {
entry:
  br label %loop

loop:
  %at = phi ptr [ %x, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %value = load double, ptr %at
  %more = fadd double %sum, %value
  %next = getelementptr i8, ptr %at, i64 8
  %done = icmp eq ptr %next, %end
  br i1 %done, label %exit, label %loop

exit:
  ret double %more
}

; CHECK-LABEL: @list
; CHECK: %node = phi ptr
; CHECK-NOT: offset
define double @list(ptr %first) {
entry:
  br label %loop

loop:
  %node = phi ptr [ %first, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %value = load double, ptr %node
  %more = fadd double %sum, %value
  %behind = getelementptr i8, ptr %node, i64 8
  %next = load ptr, ptr %behind
  %done = icmp eq ptr %next, null
  br i1 %done, label %exit, label %loop

exit:
  ret double %more
}

; CHECK-LABEL: @one_or_the_other
; CHECK: %at = phi ptr
; CHECK-NOT: offset
define double @one_or_the_other(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = phi ptr [ %x, %entry ], [ %other, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %value = load double, ptr %at
  %more = fadd double %sum, %value
  %odd = trunc i64 %i to i1
  %other = select i1 %odd, ptr %x, ptr %y
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret double %more
}

; An inner loop that may run no time moves it along a row, the outer one to the next row: both become offsets, and so does the way where
; they meet. With adgen-expose-inductions the offset follows from the iteration.
; RUN: %opt -passes='function(loop-simplify),adgen-pointers-to-indices,function(loop-simplify),adgen-expose-inductions' -S %s | %filecheck %s --check-prefix=EXPOSED
; CHECK-LABEL: @rows
; CHECK:       outer:
; CHECK:         %at.offset = phi i64 [ 0, %entry ], [ [[BELOW:%.*]], %merge ]
; CHECK-NOT:     phi ptr
; CHECK:       inner:
; CHECK:         %in.row.offset = phi i64 [ [[BESIDE:%.*]], %inner ], [ %at.offset, %inner.preheader ]
; CHECK:         getelementptr i8, ptr %x, i64 %in.row.offset
; CHECK:         [[BESIDE]] = add i64 %in.row.offset,
; CHECK:       merge:
; CHECK:         %behind.offset = phi i64
; CHECK:         [[BELOW]] = add i64 %behind.offset,
; CHECK-NOT:     phi ptr
; CHECK:         ret double
; EXPOSED-LABEL: @rows(
; EXPOSED:     entry:
; EXPOSED:       [[MOVED:%.*]] = select i1 %any, i64 {{.*}}, i64 0
; EXPOSED:       [[STEP:%.*]] = add i64 [[MOVED]],
; EXPOSED:     outer:
; EXPOSED:       %at.offset = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %merge ]
; EXPOSED:     merge:
; EXPOSED:       [[NEXT]] = add i64 %at.offset, [[STEP]]
define double @rows(ptr %x, i64 %w, i64 %h, i64 %gap) {
entry:
  %any = icmp sgt i64 %w, 0
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %merge ]
  %at = phi ptr [ %x, %entry ], [ %below, %merge ]
  %sum = phi double [ 0.0, %entry ], [ %sum.row, %merge ]
  br i1 %any, label %inner, label %merge
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %in.row = phi ptr [ %at, %outer ], [ %beside, %inner ]
  %sum.in = phi double [ %sum, %outer ], [ %more, %inner ]
  %value = load double, ptr %in.row
  %more = fadd double %sum.in, %value
  %beside = getelementptr double, ptr %in.row, i64 1
  %j.next = add nuw nsw i64 %j, 1
  %end = icmp eq i64 %j.next, %w
  br i1 %end, label %merge, label %inner
merge:
  %behind = phi ptr [ %at, %outer ], [ %beside, %inner ]
  %sum.row = phi double [ %sum, %outer ], [ %more, %inner ]
  %below = getelementptr double, ptr %behind, i64 %gap
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %h
  br i1 %done, label %exit, label %outer
exit:
  ret double %sum.row
}

; Another pointer comes in on one way: it stays.
; CHECK-LABEL: @other
; CHECK:       phi ptr
; CHECK-NOT:   offset
define double @other(ptr %x, ptr %y, i1 %which, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %merge ]
  %at = phi ptr [ %x, %entry ], [ %next, %merge ]
  %sum = phi double [ 0.0, %entry ], [ %more, %merge ]
  %value = load double, ptr %at
  %more = fadd double %sum, %value
  br i1 %which, label %merge, label %switch
switch:
  br label %merge
merge:
  %next = phi ptr [ %at, %loop ], [ %y, %switch ]
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret double %more
}

; Two rows of one array that take turns are told apart by the iteration.
; CHECK-LABEL: @rows_in_turn
; CHECK:       loop:
; CHECK:         %turns = phi i64 [ 0, %entry ], [ %turns.next, %loop ]
; CHECK-NOT:     phi ptr
; CHECK:         %turn = urem i64 %turns, 2
; CHECK:         [[FIRST:%.*]] = icmp eq i64 %turn, 0
; CHECK:         [[FROM:%.*]] = select i1 [[FIRST]], i64 0, i64 [[FAR:%.*]]
; CHECK:         [[LAST:%.*]] = getelementptr i8, ptr %rows, i64 [[FROM]]
; CHECK:         load double, ptr [[LAST]]
define void @rows_in_turn(ptr %rows, i64 %width, i64 %n) {
entry:
  %second = getelementptr double, ptr %rows, i64 %width
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %last = phi ptr [ %rows, %entry ], [ %now, %loop ]
  %now = phi ptr [ %second, %entry ], [ %last, %loop ]
  %v = load double, ptr %last
  %w = fmul double %v, %v
  store double %w, ptr %now
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Three arrays that take turns are chosen among.
; CHECK-LABEL: @arrays_in_turn
; CHECK-NOT:     phi ptr
; CHECK:         %turn = urem i64 %turns, 3
; CHECK:         select i1 {{%.*}}, ptr %b, ptr %c
; CHECK:         select i1 {{%.*}}, ptr %a, ptr
; CHECK:         ret void
define void @arrays_in_turn(ptr %a, ptr %b, ptr %c, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %first = phi ptr [ %a, %entry ], [ %second, %loop ]
  %second = phi ptr [ %b, %entry ], [ %third, %loop ]
  %third = phi ptr [ %c, %entry ], [ %first, %loop ]
  %v = load double, ptr %first
  %w = load double, ptr %second
  %p = fmul double %v, %w
  store double %p, ptr %third
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
