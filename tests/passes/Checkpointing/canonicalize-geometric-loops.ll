; Loops that halve until zero or a constant, or double until a bound, get a counter; other bounds and other steps stay.
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
; COUNTED:       Loop %loop: constant max backedge-taken count is i32 31
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

; The optimiser compares the variable before it is doubled with half of a constant bound: 256 here, so eight iterations.
; CHECK-LABEL: define void @adgen_body_doubles_to_constant(
; CHECK:         shl nuw i32 1, %halving
; CHECK:         icmp eq i32 %halving.next, 8
define void @adgen_body_doubles_to_constant(ptr %x) {
entry:
  br label %loop
loop:
  %step = phi i32 [ 1, %entry ], [ %next, %loop ]
  %wide = zext i32 %step to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = shl nuw nsw i32 %step, 1
  %more = icmp samesign ult i32 %step, 128
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

; Halving goes on while the number is above a constant, as where a warp does the rest: so many bits are shifted out until
; it has as many as the constant, and perhaps one more. The test may be of the number before it is halved.
; CHECK-LABEL: define void @adgen_body_above(
; CHECK:         %[[ZEROS:.*]] = call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %start, i1 false)
; CHECK:         %[[SHORTER:.*]] = call i32 @llvm.usub.sat.i32(i32 24, i32 %[[ZEROS]])
; CHECK:         %[[LEFT:.*]] = lshr i32 %start, %[[SHORTER]]
; CHECK:         %[[ABOVE:.*]] = icmp ugt i32 %[[LEFT]], 131
; CHECK:         %[[ONCE:.*]] = zext i1 %[[ABOVE]] to i32
; CHECK:         %[[FURTHER:.*]] = add nuw nsw i32 %[[SHORTER]], %[[ONCE]]
; CHECK:         %[[LAST:.*]] = call i32 @llvm.umin.i32(i32 %[[FURTHER]], i32 31)
; CHECK:         icmp eq i32 %halving, %[[LAST]]
; COUNTED:       @adgen_body_above
; COUNTED:       Loop %loop: backedge-taken count is (31 umin {{.*}}zext
; COUNTED:       Loop %loop: constant max backedge-taken count is i32 31
define void @adgen_body_above(ptr %x, i32 %start) {
entry:
  br label %loop
loop:
  %twice = phi i32 [ %start, %entry ], [ %half, %loop ]
  %half = lshr i32 %twice, 1
  %wide = zext i32 %half to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %more = icmp samesign ugt i32 %twice, 131
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_above_signed(
; CHECK:         call i32 @llvm.usub.sat.i32(i32 25, i32 %{{.*}})
; CHECK:         icmp ugt i32 %{{.*}}, 65
; CHECK:         icmp eq i32 %halving, %{{.*}}
define void @adgen_body_above_signed(ptr %x, i32 %start) {
entry:
  br label %loop
loop:
  %s = phi i32 [ %start, %entry ], [ %next, %loop ]
  %wide = zext i32 %s to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = lshr i32 %s, 1
  %more = icmp sgt i32 %next, 32
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Down to a number, not while it is above one: this may not end, and stays.
; CHECK-LABEL: define void @adgen_body_until_equal(
; CHECK-NOT:     halving
define void @adgen_body_until_equal(ptr %x, i32 %start) {
entry:
  br label %loop
loop:
  %s = phi i32 [ %start, %entry ], [ %next, %loop ]
  %wide = zext i32 %s to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %next = lshr i32 %s, 1
  %done = icmp eq i32 %next, 32
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Beside a counter that is there already, in a loop that may run more often than a variable has bits.
; CHECK-LABEL: define void @adgen_body_beside(
; CHECK-NOT:     phi
; CHECK:         %j = phi i32 [ 0, %entry ], [ %next, %loop ]
; CHECK-NOT:     phi
; CHECK:         [[BITS:%.*]] = call i32 @llvm.umin.i32(i32 %j, i32 31)
; CHECK:         [[MANY:%.*]] = shl nuw i32 1, [[BITS]]
; CHECK:         [[SOME:%.*]] = icmp samesign ult i32 %j, 32
; CHECK:         [[DELTA:%.*]] = select i1 [[SOME]], i32 [[MANY]], i32 0
; CHECK:         [[MASK:%.*]] = shl nsw i32 -1, [[BITS2:%.*]]
; CHECK:         [[BELOW:%.*]] = xor i32 [[MASK]], -1
; CHECK:         [[NEGATIVE:%.*]] = icmp slt i32 %n, 0
; CHECK:         [[UP:%.*]] = select i1 [[NEGATIVE]], i32 [[BELOW]], i32 0
; CHECK:         [[ROUND:%.*]] = add i32 %n, [[UP]]
; CHECK:         ashr i32 [[ROUND]], [[BITS2]]
define void @adgen_body_beside(ptr %x, i32 %n, i32 %many) {
entry:
  br label %loop
loop:
  %j = phi i32 [ 0, %entry ], [ %next, %loop ]
  %delta = phi i32 [ 1, %entry ], [ %double, %loop ]
  %threads = phi i32 [ %n, %entry ], [ %half, %loop ]
  %sum = add i32 %delta, %threads
  %wide = sext i32 %sum to i64
  %at = getelementptr float, ptr %x, i64 %wide
  store float 1.0, ptr %at
  %double = shl nsw i32 %delta, 1
  %half = sdiv i32 %threads, 2
  %next = add nuw nsw i32 %j, 1
  %more = icmp slt i32 %next, %many
  br i1 %more, label %loop, label %end
end:
  ret void
}
