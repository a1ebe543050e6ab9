; Loops that move on by an amount known only at run time get a counter; those that ScalarEvolution counts, whose first
; number may overflow, or whose amount changes stay.
;
; RUN: %opt -passes=adgen-count-strides -S %s | %filecheck %s
; RUN: %opt -passes='adgen-count-strides,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=COUNTED

; CHECK-LABEL: define void @adgen_body_up(
; CHECK:         %[[WAY:.*]] = sub i32 %bound, %start
; CHECK:         %[[AHEAD:.*]] = icmp slt i32 %start, %bound
; CHECK:         %[[LESS:.*]] = sub i32 %[[WAY]], 1
; CHECK:         %[[LAST:.*]] = select i1 %[[AHEAD]], i32 %[[LESS]], i32 0
; CHECK:         %[[STEP:.*]] = call i32 @llvm.smax.i32(i32 %step, i32 1)
; CHECK:         %[[STEPS:.*]] = udiv i32 %[[LAST]], %[[STEP]]
; CHECK:         %strides = add i32 %[[STEPS]], 1
; CHECK:         %stride = phi i32 [ 0, %entry ], [ %stride.next, %loop ]
; CHECK:         %at = phi i32 [ %start, %entry ], [ %next, %loop ]
; CHECK:         %stride.next = add i32 %stride, 1
; CHECK:         %[[MORE:.*]] = icmp ne i32 %stride.next, %strides
; CHECK:         br i1 %[[MORE]], label %loop, label %end
; COUNTED:       @adgen_body_up
; COUNTED:       Loop %loop: backedge-taken count is
; COUNTED-NOT:   Unpredictable
define void @adgen_body_up(ptr %x, i32 %start, i32 %bound, i32 %step) {
entry:
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add nsw i32 %at, %step
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_down(
; CHECK:         sub i64 %start, %bound
; CHECK:         icmp sgt i64 %start, %bound
; CHECK:         %[[DONE:.*]] = icmp eq i64 %stride.next, %strides
; CHECK:         br i1 %[[DONE]], label %end, label %loop
; COUNTED:       @adgen_body_down
; COUNTED:       Loop %loop: backedge-taken count is
define void @adgen_body_down(ptr %x, i64 %start, i64 %bound, i64 %step) {
entry:
  br label %loop
loop:
  %at = phi i64 [ %start, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i64 %at
  store volatile float 1.0, ptr %place
  %next = sub nsw i64 %at, %step
  %done = icmp sle i64 %next, %bound
  br i1 %done, label %end, label %loop
end:
  ret void
}

; What may overflow is counted behind a guard, and goes on for ever where it does: in what ends it does not.
; CHECK-LABEL: define void @adgen_body_grid(
; CHECK:         %[[STEP:.*]] = call i32 @llvm.umax.i32(i32 %step, i32 1)
; CHECK:         udiv i32 %{{.*}}, %[[STEP]]
; CHECK:         %[[ROOM:.*]] = sub i32 2147483647, %bound
; CHECK:         %[[LESS:.*]] = sub i32 %step, 1
; CHECK:         %[[WRAPS:.*]] = icmp ugt i32 %[[LESS]], %[[ROOM]]
; CHECK:         select i1 %[[WRAPS]], i32 0, i32 %strides
; CHECK:         %next = add nsw i32 %at, %step
; COUNTED:       @adgen_body_grid
; COUNTED:       Loop %loop: backedge-taken count is
define void @adgen_body_grid(ptr %x, i32 %start, i32 %bound, i32 %step) {
entry:
  %any = icmp slt i32 %start, %bound
  br i1 %any, label %before, label %end
before:
  br label %loop
loop:
  %at = phi i32 [ %start, %before ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add i32 %at, %step
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %left
left:
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_wraps(
; CHECK-NOT:     %stride
; COUNTED:       @adgen_body_wraps
; COUNTED:       Loop %loop: Unpredictable
define void @adgen_body_wraps(ptr %x, i32 %start, i32 %bound, i32 %step) {
entry:
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add i32 %at, %step
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_known(
; CHECK-NOT:     %stride
define void @adgen_body_known(ptr %x, i32 %start, i32 %bound) {
entry:
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add nsw i32 %at, 1
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_changing(
; CHECK-NOT:     %stride
define void @adgen_body_changing(ptr %x, i32 %start, i32 %bound, ptr %steps) {
entry:
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %step = load i32, ptr %steps
  %next = add nsw i32 %at, %step
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Where both ends have a number in common, such as that of the thread, so have the iterations of all threads.
; CHECK-LABEL: define void @adgen_body_together(
; CHECK:         %[[LAST:.*]] = sext i32 %last to i64
; CHECK:         %[[FIRST:.*]] = sext i32 %first to i64
; CHECK:         %[[WAY:.*]] = sub i64
; CHECK:         %[[AHEAD:.*]] = icmp sgt i64 %[[WAY]], 0
; CHECK:         %strides = select i1 %[[AHEAD]], i32 %{{.*}}, i32 0
; CHECK:         %stride = phi i32 [ 0, %entry ], [ %stride.next, %body ]
; CHECK:         %[[MORE:.*]] = icmp ult i32 %stride, %strides
; CHECK:         br i1 %[[MORE]], label %body, label %end
define void @adgen_body_together(ptr %x, i32 %first, i32 %last, i32 %step, i32 %thread) {
entry:
  %start = add nsw i32 %first, %thread
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %body ]
  %bound = add nsw i32 %last, %thread
  %more = icmp slt i32 %at, %bound
  br i1 %more, label %body, label %end
body:
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add nsw i32 %at, %step
  br label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_may_wrap(
; CHECK-NOT:     %stride
define void @adgen_body_may_wrap(ptr %x, i32 %first, i32 %last, i32 %step, i32 %thread) {
entry:
  %start = add i32 %first, %thread
  br label %loop
loop:
  %at = phi i32 [ %start, %entry ], [ %next, %body ]
  %bound = add nsw i32 %last, %thread
  %more = icmp slt i32 %at, %bound
  br i1 %more, label %body, label %end
body:
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %next = add nsw i32 %at, %step
  br label %loop
end:
  ret void
}

; Two conditions in a row, of a tile and of all that there is: the loop runs as often as the smaller number says.
; CHECK-LABEL: define void @adgen_body_both(
; CHECK:       entry:
; CHECK:         %[[LAST:.*]] = {{.*}}@llvm.umin.i32(
; CHECK:         br label %loop
; CHECK:         %both = phi i32 [ 0, %entry ], [ %both.next, %loop ]
; CHECK:         %both.next = add i32 %both, 1
; CHECK:         %[[MORE:.*]] = icmp ne i32 %both, %[[LAST]]
; CHECK:         br i1 %[[MORE]], label %loop, label %end
; Nothing counts the second one.
; CHECK-LABEL: define void @adgen_body_one_of_both(
; CHECK-NOT:     %both
; CHECK:         br i1 %more, label %loop, label %end
define void @adgen_body_both(ptr %x, i32 %first, i32 %last) {
entry:
  br label %loop
loop:
  %t = phi i32 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %t
  store volatile float 1.0, ptr %place
  %next = add nuw nsw i32 %t, 1
  %in.tile = icmp samesign ult i32 %t, 31
  %at = add nsw i32 %next, %first
  %in.all = icmp slt i32 %at, %last
  %more = select i1 %in.tile, i1 %in.all, i1 false
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @adgen_body_one_of_both(ptr %x, i32 %last) {
entry:
  br label %loop
loop:
  %t = phi i32 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %t
  %read = load volatile float, ptr %place
  %next = add nuw nsw i32 %t, 1
  %in.all = icmp slt i32 %next, %last
  %is.less = fcmp olt float %read, 1.0
  %more = select i1 %in.all, i1 %is.less, i1 false
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Of two conditions in a row one asks how far a variable has come by a step that is known only at run time.
; CHECK-LABEL: define void @adgen_body_rounds(
; CHECK:         %strides{{.*}} = select i1 %{{.*}}, i32 0, i32 %strides
; CHECK:         %[[LAST:.*]] = {{.*}}@llvm.umin.i32(
; CHECK:         %both = phi i32
; A sum that wraps around may be on the way to the end that the other condition tells.
; CHECK:         %next = add i32 %at, %step
; CHECK:         %[[MORE:.*]] = icmp ne i32 %both, %[[LAST]]
; CHECK:         br i1 %[[MORE]], label %loop, label %left
; COUNTED:       @adgen_body_rounds
; COUNTED:       Loop %loop: backedge-taken count is
define void @adgen_body_rounds(ptr %x, i32 %start, i32 %bound, i32 %step, i32 %most) {
entry:
  %any = icmp slt i32 %start, %bound
  %some = icmp sgt i32 %most, 0
  %runs = select i1 %some, i1 %any, i1 false
  br i1 %runs, label %before, label %end
before:
  br label %loop
loop:
  %t = phi i32 [ 0, %before ], [ %t.next, %loop ]
  %at = phi i32 [ %start, %before ], [ %next, %loop ]
  %place = getelementptr float, ptr %x, i32 %at
  store volatile float 1.0, ptr %place
  %t.next = add nuw nsw i32 %t, 1
  %next = add i32 %at, %step
  %in.rounds = icmp slt i32 %t.next, %most
  %in.all = icmp slt i32 %next, %bound
  %more = select i1 %in.rounds, i1 %in.all, i1 false
  br i1 %more, label %loop, label %left
left:
  br label %end
end:
  ret void
}
