; A pointer that walks over the columns of a triangle, each one shorter than the one before, becomes an offset; one that walks in equal
; steps, one that changes in another way, and one that is followed from element to element stay.
; RUN: %opt -passes='function(loop-simplify),adgen-pointers-to-indices' -S %s | %filecheck %s

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
