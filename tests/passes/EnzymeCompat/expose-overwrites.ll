; What a later iteration overwrites gets an address that cannot be compared. What goes away from what was read stays, in two loops too where a row is
; at least as long as the inner loop, and so does what no loop comes back to.
;
; RUN: %opt -passes=adgen-expose-overwrites -S %s | %filecheck %s

; CHECK-LABEL: define void @shift(
; CHECK:         %guard = call i1 @adgen_opaque(i1 false)
; CHECK:       loop:
; CHECK:         %next = getelementptr inbounds double, ptr %a, i64 %i.next
; CHECK-NEXT:    [[ZERO:%.*]] = zext i1 %guard to i64
; CHECK-NEXT:    [[INDEX:%.*]] = xor i64 %i.next, [[ZERO]]
; CHECK-NEXT:    [[ADDRESS:%.*]] = getelementptr inbounds double, ptr %a, i64 [[INDEX]]
; CHECK-NEXT:    load double, ptr [[ADDRESS]]
; CHECK:         store double %y, ptr %here
define void @shift(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add nuw nsw i64 %i, 1
  %next = getelementptr inbounds double, ptr %a, i64 %i.next
  %x = load double, ptr %next
  %y = fmul double %x, %x
  %here = getelementptr inbounds double, ptr %a, i64 %i
  store double %y, ptr %here
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @recurrence(
; CHECK:         load double, ptr %here
define void @recurrence(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add nuw nsw i64 %i, 1
  %here = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %here
  %y = fmul double %x, %x
  %next = getelementptr inbounds double, ptr %a, i64 %i.next
  store double %y, ptr %next
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; The same once more each time that the outer loop goes round, and rows of 16 of which 15 elements are written.
; CHECK-LABEL: define void @again(
; CHECK:       inner:
; CHECK:         load double, ptr %{{[0-9]+}}
; CHECK:         load double, ptr %of.row
define void @again(ptr noalias %a, ptr noalias %rows, i64 %n) {
entry:
  br label %outer
outer:
  %t = phi i64 [ 0, %entry ], [ %t.next, %latch ]
  %row = getelementptr inbounds [16 x double], ptr %rows, i64 %t
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %i.next, %inner ]
  %i.next = add nuw nsw i64 %i, 1
  %here = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %here
  %y = fmul double %x, %x
  %next = getelementptr inbounds double, ptr %a, i64 %i.next
  store double %y, ptr %next
  %of.row = getelementptr inbounds double, ptr %row, i64 %i
  %u = load double, ptr %of.row
  %v = fmul double %u, %u
  %next.of.row = getelementptr inbounds double, ptr %row, i64 %i.next
  store double %v, ptr %next.of.row
  %inner.done = icmp eq i64 %i.next, 15
  br i1 %inner.done, label %latch, label %inner
latch:
  %t.next = add nuw nsw i64 %t, 1
  %done = icmp eq i64 %t.next, %n
  br i1 %done, label %end, label %outer
end:
  ret void
}

; A stack: both places lie at an offset from a number that nobody knows.
; CHECK-LABEL: define void @stack(
; CHECK:         [[TOP:%.*]] = xor i64 %sp,
; CHECK-NEXT:    [[ADDRESS:%.*]] = getelementptr inbounds double, ptr %a, i64 [[TOP]]
; CHECK-NEXT:    load double, ptr [[ADDRESS]]
define void @stack(ptr %a, ptr noalias %up, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %sp = phi i64 [ 1, %entry ], [ %moved, %loop ]
  %top = getelementptr inbounds double, ptr %a, i64 %sp
  %x = load double, ptr %top
  %y = fmul double %x, %x
  %below = getelementptr inbounds i8, ptr %top, i64 -8
  store double %y, ptr %below
  %step = getelementptr inbounds i64, ptr %up, i64 %i
  %by = load i64, ptr %step
  %moved = add i64 %sp, %by
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; A pointer that walks has no index: it gets an offset.
; CHECK-LABEL: define void @walk(
; CHECK:         [[FIRST:%.*]] = call i1 @adgen_opaque(i1 false)
; CHECK-NEXT:    [[SECOND:%.*]] = call i1 @adgen_opaque(i1 [[FIRST]])
; CHECK:         [[A:%.*]] = zext i1 [[FIRST]] to i64
; CHECK-NEXT:    [[B:%.*]] = sext i1 [[SECOND]] to i64
; CHECK-NEXT:    [[OFFSET:%.*]] = xor i64 [[A]], [[B]]
; CHECK-NEXT:    [[ADDRESS:%.*]] = getelementptr i8, ptr %next, i64 [[OFFSET]]
; CHECK-NEXT:    load double, ptr [[ADDRESS]]
define void @walk(ptr %a, ptr %last) {
entry:
  br label %loop
loop:
  %here = phi ptr [ %a, %entry ], [ %next, %loop ]
  %next = getelementptr inbounds i8, ptr %here, i64 8
  %x = load double, ptr %next
  %y = fmul double %x, %x
  store double %y, ptr %here
  %done = icmp eq ptr %next, %last
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Members of a struct lie beside each other, whichever element it is.
; CHECK-LABEL: define void @members(
; CHECK:         load double, ptr %second
define void @members(ptr %a, ptr noalias %which, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %entry.of = getelementptr inbounds i64, ptr %which, i64 %i
  %e = load i64, ptr %entry.of
  %three = mul nsw i64 %e, 3
  %first = getelementptr inbounds double, ptr %a, i64 %three
  %beside = add nsw i64 %three, 1
  %second = getelementptr inbounds double, ptr %a, i64 %beside
  %x = load double, ptr %second
  %y = fmul double %x, %x
  store double %y, ptr %first
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; What says that two pointers do not meet holds for one iteration of the loop that it is said in: it stays where they are the same each time.
; CHECK-LABEL: define void @restricted(
; CHECK:         load double, ptr %p
; CHECK-NOT:     !alias.scope
; CHECK:         load double, ptr %a, align 8, !alias.scope
define void @restricted(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %p = phi ptr [ %a, %entry ], [ %q, %loop ]
  %q = phi ptr [ %b, %entry ], [ %p, %loop ]
  call void @llvm.experimental.noalias.scope.decl(metadata !0)
  %x = load double, ptr %p, align 8, !alias.scope !0
  %y = fmul double %x, %x
  store double %y, ptr %q, align 8, !noalias !0
  %u = load double, ptr %a, align 8, !alias.scope !0
  store double %u, ptr %b, align 8
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

declare void @llvm.experimental.noalias.scope.decl(metadata)

!0 = !{!1}
!1 = distinct !{!1, !2, !"in"}
!2 = distinct !{!2, !"step"}
