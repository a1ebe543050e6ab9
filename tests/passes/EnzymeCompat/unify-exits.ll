; An inner loop that is left to different levels (here: to the outer loop, and out of both) gets one exit. The branch behind it asks an opaque
; function, so that nobody undoes it before Enzyme has counted the loop's trips.
;
; RUN: %opt -passes=adgen-unify-exits -S %s | %filecheck %s
; RUN: %opt -passes=adgen-unify-exits,adgen-strip-guards -S %s | %filecheck %s --check-prefix=AFTER

; CHECK-LABEL: define void @f(
; CHECK:         adgen.exit.guard:
; CHECK:         %guard = call i1 @adgen_opaque(
; CHECK-NEXT:    br i1 %guard
; AFTER-LABEL: define void @f(
; AFTER-NOT:     adgen_opaque
; AFTER-NOT:     invariant.group
define void @f(ptr %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.next ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner.next ]
  %at = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %at, !invariant.group !0
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %end, label %inner.next
inner.next:
  %j.next = add i64 %j, 1
  %more = icmp ult i64 %j.next, %n
  br i1 %more, label %inner, label %outer.next
outer.next:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %outer, label %end
end:
  ret void
}

!0 = !{}

; A loop around another one that is left to two places.
; CHECK-LABEL: define void @outermost(
; CHECK:         adgen.exit.guard:
; CHECK:         %guard = call i1 @adgen_opaque(
; CHECK-NEXT:    br i1 %guard, label %{{found|end}}, label %{{found|end}}
define void @outermost(ptr %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.next ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %at = getelementptr double, ptr %x, i64 %j
  store double 1.0, ptr %at
  %j.next = add i64 %j, 1
  %more = icmp ult i64 %j.next, %n
  br i1 %more, label %inner, label %tested
tested:
  %v = load double, ptr %x
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %found, label %outer.next
outer.next:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %outer, label %end
found:
  store double 2.0, ptr %x
  ret void
end:
  ret void
}

; A loop on its own may have several exits.
; CHECK-LABEL: define void @alone(
; CHECK-NOT:     call i1 @adgen_opaque
; CHECK:         found:
define void @alone(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %v = load double, ptr %x
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %found, label %next
next:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %loop, label %end
found:
  store double 2.0, ptr %x
  ret void
end:
  ret void
}

; What only leads to an exception is no exit: nothing is to be reversed there.
; CHECK-LABEL: define void @throws(
; CHECK-NOT:     adgen.exit.guard
; CHECK:       ret void
define void @throws(ptr %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.next ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner.next ]
  %at = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %at
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %thrown, label %inner.next
inner.next:
  %j.next = add i64 %j, 1
  %more = icmp ult i64 %j.next, %n
  br i1 %more, label %inner, label %outer.next
outer.next:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %outer, label %end
end:
  ret void
thrown:
  call void @throw() noreturn
  unreachable
}

declare void @throw()
