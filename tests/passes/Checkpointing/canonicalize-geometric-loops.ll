; Loops that halve until zero or double until a bound get a counter; other bounds and other steps stay.
;
; RUN: %opt -passes=adgen-canonicalize-geometric-loops,instcombine -S %s | %filecheck %s
; RUN: %opt -passes='adgen-canonicalize-geometric-loops,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=COUNTED

; CHECK-LABEL: define void @adgen_body_halves(
; CHECK:         %[[ZEROS:.*]] = call {{.*}}i32 @llvm.ctlz.i32(i32 %start, i1 false)
; CHECK:         loop:
; CHECK:         %halving = phi i32 [ 0, %entry ], [ %halving.next, %loop ]
; CHECK:         lshr i32 %start, %halving
; CHECK:         icmp eq i32 %halving.next, %halvings
; COUNTED:       @adgen_body_halves
; COUNTED:       Loop %loop: backedge-taken count is (-1 + (1 umax {{.*}}))
define void @adgen_body_halves(ptr %x, i32 %start) {
entry:
  br label %loop
loop:
  %half = phi i32 [ %start, %entry ], [ %next, %loop ]
  %wide = zext i32 %half to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = lshr i32 %half, 1
  %done = icmp eq i32 %next, 0
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_doubles(
; CHECK:         llvm.umax.i32(i32 %n, i32 2)
; CHECK:         shl nuw i32 1, %halving
; COUNTED:       @adgen_body_doubles
; COUNTED:       Loop %loop: backedge-taken count is (-1 + (1 umax {{.*}}))
define void @adgen_body_doubles(ptr %x, i32 %n) {
entry:
  br label %loop
loop:
  %step = phi i32 [ 1, %entry ], [ %next, %loop ]
  %wide = zext i32 %step to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = shl i32 %step, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; A bound with a sign may be negative: there is one iteration then. What is doubled or halved beside it follows from the counter.
; CHECK-LABEL: define void @adgen_body_signed(
; CHECK:         llvm.smax.i32(i32 %n, i32 2)
; CHECK:         %halving = phi i32
; CHECK-NOT:     phi
; CHECK-DAG:     shl nuw i32 1, %halving
; CHECK-DAG:     ashr i32 %start, %halving
; COUNTED:       @adgen_body_signed
; COUNTED:       Loop %loop: backedge-taken count is (-1 + (1 umax {{.*}}))
define void @adgen_body_signed(ptr %x, i32 %start, i32 %n) {
entry:
  br label %loop
loop:
  %step = phi i32 [ 1, %entry ], [ %next, %loop ]
  %beside = phi i32 [ %start, %entry ], [ %half, %loop ]
  %wide = sext i32 %step to i64
  %at = getelementptr i32, ptr %x, i64 %wide
  store i32 %beside, ptr %at
  %half = ashr i32 %beside, 1
  %next = shl i32 %step, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_others(
; CHECK-NOT:     halving
; COUNTED:       @adgen_body_others
; COUNTED:       Loop %loop: Unpredictable backedge-taken count.
define void @adgen_body_others(ptr %x, i32 %start, i32 %n) {
entry:
  br label %loop
loop:
  %third = phi i32 [ %start, %entry ], [ %next, %loop ]
  %wide = zext i32 %third to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = lshr i32 %third, 1
  %done = icmp ult i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}
