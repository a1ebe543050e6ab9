; The bound of an inner loop is at least what its guard says where it runs; other loops and other bounds stay.
;
; RUN: %opt -passes=adgen-clamp-trip-counts -S %s | %filecheck %s
; RUN: %opt -passes='adgen-clamp-trip-counts,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=COUNTED

; CHECK-LABEL: define void @adgen_body_counts(
; CHECK:         inner.preheader:
; CHECK:         %bound = call i32 @llvm.smax.i32(i32 %m, i32 1)
; CHECK:         %done = icmp eq i32 %j.next, %bound
; CHECK:         %finished = icmp eq i32 %i.next, %n
; COUNTED:       @adgen_body_counts
; COUNTED:       Loop %inner: backedge-taken count is (-1 + (1 smax %m))
define void @adgen_body_counts(ptr %x, i32 %n, i32 %m) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %after ]
  %runs = icmp sgt i32 %m, 0
  br i1 %runs, label %inner, label %after
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %at = getelementptr float, ptr %x, i32 %j
  store float 1.0, ptr %at
  %j.next = add nuw nsw i32 %j, 1
  %done = icmp eq i32 %j.next, %m
  br i1 %done, label %after, label %inner
after:
  %i.next = add nuw nsw i32 %i, 1
  %finished = icmp eq i32 %i.next, %n
  br i1 %finished, label %end, label %outer
end:
  ret void
}

; A bound in more bits, and a beginning that is no constant.
; CHECK-LABEL: define void @adgen_body_widens(
; CHECK:         %least = add i32 %low, 1
; CHECK:         %bound = call i32 @llvm.smax.i32(i32 %high, i32 %least)
; CHECK:         %[[WIDE:.*]] = sext i32 %bound to i64
; CHECK:         icmp slt i64 %j.next, %[[WIDE]]
define void @adgen_body_widens(ptr %x, i32 %n, i32 %low, i32 %high) {
entry:
  %first = sext i32 %low to i64
  %last = sext i32 %high to i64
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %after ]
  %skips = icmp sge i32 %low, %high
  br i1 %skips, label %after, label %ahead
ahead:
  br label %inner
inner:
  %j = phi i64 [ %first, %ahead ], [ %j.next, %inner ]
  %at = getelementptr float, ptr %x, i64 %j
  store float 1.0, ptr %at
  %j.next = add nsw i64 %j, 3
  %again = icmp slt i64 %j.next, %last
  br i1 %again, label %inner, label %after
after:
  %i.next = add nuw nsw i32 %i, 1
  %finished = icmp eq i32 %i.next, %n
  br i1 %finished, label %end, label %outer
end:
  ret void
}

; Down to zero: the counter begins at the bound.
; CHECK-LABEL: define void @adgen_body_counts_down(
; CHECK:         %bound = call i32 @llvm.umax.i32(i32 %m, i32 1)
; CHECK:         %j = phi i32 [ %bound, %ahead ], [ %j.next, %inner ]
define void @adgen_body_counts_down(ptr %x, i32 %n, i32 %m) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %after ]
  %runs = icmp ne i32 %m, 0
  br i1 %runs, label %ahead, label %after
ahead:
  br label %inner
inner:
  %j = phi i32 [ %m, %ahead ], [ %j.next, %inner ]
  %at = getelementptr float, ptr %x, i32 %j
  store float 1.0, ptr %at
  %j.next = add i32 %j, -1
  %done = icmp eq i32 %j.next, 0
  br i1 %done, label %after, label %inner
after:
  %i.next = add nuw nsw i32 %i, 1
  %finished = icmp eq i32 %i.next, %n
  br i1 %finished, label %end, label %outer
end:
  ret void
}

; One condition of several, with another branch between it and the loop.
; CHECK-LABEL: define void @adgen_body_counts_further_in(
; CHECK:         %bound = call i32 @llvm.smax.i32(i32 %m, i32 1)
; CHECK:         %done = icmp eq i32 %j.next, %bound
define void @adgen_body_counts_further_in(ptr %x, i32 %n, i32 %m, i1 %skip, i1 %take) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %after ]
  %stays = icmp slt i32 %m, 1
  %neither = select i1 %skip, i1 true, i1 %stays
  br i1 %neither, label %after, label %further
further:
  br i1 %take, label %ahead, label %after
ahead:
  br label %inner
inner:
  %j = phi i32 [ 0, %ahead ], [ %j.next, %inner ]
  %at = getelementptr float, ptr %x, i32 %j
  store float 1.0, ptr %at
  %j.next = add nuw nsw i32 %j, 1
  %done = icmp eq i32 %j.next, %m
  br i1 %done, label %after, label %inner
after:
  %i.next = add nuw nsw i32 %i, 1
  %finished = icmp eq i32 %i.next, %n
  br i1 %finished, label %end, label %outer
end:
  ret void
}

; A loop on its own has its memory where it runs.
; CHECK-LABEL: define void @adgen_body_alone(
; CHECK-NOT:     llvm.smax
; CHECK:         ret void
define void @adgen_body_alone(ptr %x, i32 %m) {
entry:
  %runs = icmp sgt i32 %m, 0
  br i1 %runs, label %inner, label %after
inner:
  %j = phi i32 [ 0, %entry ], [ %j.next, %inner ]
  %at = getelementptr float, ptr %x, i32 %j
  store float 1.0, ptr %at
  %j.next = add nuw nsw i32 %j, 1
  %done = icmp eq i32 %j.next, %m
  br i1 %done, label %after, label %inner
after:
  ret void
}

; The beginning of a loop that counts down from the iteration of a loop of unknown count is held.
; CHECK-LABEL: define void @adgen_body_counts_down_of_unknown(
; CHECK:         %bound = call i32 @llvm.umax.i32(i32 %c, i32 1)
; CHECK-NEXT:    %[[HELD:.*]] = call i32 @adgen_hold_i32(i32 %bound)
; CHECK:         %p = phi i32 {{.*}}[ %[[HELD]], %inner.preheader ]
define void @adgen_body_counts_down_of_unknown(ptr %x, ptr %next, i32 %n) {
entry:
  br label %outer
outer:
  %c = phi i32 [ 0, %entry ], [ %c.next, %after ]
  %k = phi i32 [ %n, %entry ], [ %k.next, %after ]
  %none = icmp eq i32 %c, 0
  br i1 %none, label %after, label %inner
inner:
  %p = phi i32 [ %c, %outer ], [ %p.next, %inner ]
  %at = getelementptr float, ptr %x, i32 %p
  store float 1.0, ptr %at
  %p.next = add nsw i32 %p, -1
  %again = icmp ugt i32 %p, 1
  br i1 %again, label %inner, label %after
after:
  %c.next = add nuw nsw i32 %c, 1
  %link = getelementptr i32, ptr %next, i32 %k
  %k.next = load i32, ptr %link
  %goes = icmp sgt i32 %k.next, -1
  br i1 %goes, label %outer, label %end
end:
  ret void
}

; A loop that goes on while its index is not below n asks whether it is above n - 1: Enzyme would subtract the one
; itself, and take that for an unsigned addition that does not overflow.
; CHECK-LABEL: define void @down_to
; CHECK: %below{{[0-9]*}} = add i32 %n, -1
; CHECK-NEXT: [[GO:%.*]] = icmp sgt i32 %next, %below
; CHECK-NEXT: br i1 [[GO]], label %down, label %end
define void @down_to(i32 %k, i32 %n) {
entry:
  br label %down
down:
  %at = phi i32 [ %k, %entry ], [ %next, %down ]
  call void @use(i32 %at)
  %next = add nsw i32 %at, -2
  %more = icmp sge i32 %next, %n
  br i1 %more, label %down, label %end
end:
  ret void
}

; Nothing follows from a comparison of what goes in no steps: it is hidden.
; CHECK-LABEL: define void @mirrored
; CHECK: [[HIDDEN:%.*]] = call i1 @adgen_opaque(i1 %inside)
; CHECK-NEXT: br i1 [[HIDDEN]], label %end, label %fold
define void @mirrored(i32 %k, i32 %n) {
entry:
  br label %fold
fold:
  %at = phi i32 [ %k, %entry ], [ %next, %fold ]
  %less = xor i32 %at, -1
  %next = add i32 %n, %less
  %positive = icmp sgt i32 %next, -1
  %low = icmp slt i32 %next, %n
  %inside = and i1 %positive, %low
  br i1 %inside, label %end, label %fold
end:
  call void @use(i32 %next)
  ret void
}

declare void @use(i32)
