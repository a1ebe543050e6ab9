; In C++ a gradient calls what Enzyme has made, which adds to shadows without atomics and takes each iteration's cotangent from
; an element of its own. Loops in loops stay apart, and so do sweeps whose additions may meet if the forward loop is cheap.
;
; RUN: %opt -passes=adgen-fuse-sweeps -S %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

declare double @sin(double) nounwind willreturn memory(none)

; One loop, one load of the element, one sine.
; CHECK-LABEL: define void @adgen_gradient_each(
; CHECK-NOT:     call void @diffe
; CHECK:       forward
; CHECK:         %[[V:.*]] = load double, ptr
; CHECK:         call double @sin(double %[[V]])
; CHECK:         store double %{{.*}}, ptr
; CHECK:         %[[COTANGENT:.*]] = load double, ptr %{{.*}}
; CHECK:         store double 0.0{{.*}}, ptr
; CHECK:         fmul double {{.*}}%[[COTANGENT]]
; CHECK:         store double %{{.*}}, ptr
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     phi
; CHECK-NOT:     call double @sin
; CHECK:         ret void
define void @adgen_gradient_each(ptr noalias %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
  call void @diffe_each(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y)
  ret void
}

define internal void @diffe_each(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y) {
entry:
  br label %forward
forward:
  %i = phi i64 [ 0, %entry ], [ %i.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from, !invariant.load !0
  %s = call double @sin(double %v)
  %into = getelementptr inbounds double, ptr %y, i64 %i
  store double %s, ptr %into
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %between, label %forward
between:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %between ], [ %j.next, %invert.next ]
  %taken = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = load double, ptr %taken
  store double 0.0, ptr %taken
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back, !invariant.load !0
  %again = call double @sin(double %w)
  %part = fmul double %again, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = load double, ptr %to
  %first = fadd double %old, %part
  %sum = fadd double %first, %w
  store double %sum, ptr %to
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
end:
  ret void
}

; The cotangent is that of the next element too, which another iteration has set to zero: no other order will do.
; CHECK-LABEL: define void @adgen_gradient_neighbours(
; CHECK-NEXT:    call void @diffe_neighbours(
define void @adgen_gradient_neighbours(ptr noalias %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
  call void @diffe_neighbours(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y)
  ret void
}

define internal void @diffe_neighbours(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y) {
entry:
  br label %forward
forward:
  %i = phi i64 [ 0, %entry ], [ %i.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from, !invariant.load !0
  %s = call double @sin(double %v)
  %into = getelementptr inbounds double, ptr %y, i64 %i
  store double %s, ptr %into
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %between, label %forward
between:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %between ], [ %j.next, %invert.next ]
  %taken = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = load double, ptr %taken
  store double 0.0, ptr %taken
  %next = getelementptr inbounds i8, ptr %taken, i64 8
  %beside = load double, ptr %next
  %part = fmul double %beside, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = load double, ptr %to
  %sum = fadd double %old, %part
  store double %sum, ptr %to
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
end:
  ret void
}

; Additions of two iterations meet, and the forward loop may be vectorised.
; CHECK-LABEL: define void @adgen_gradient_cheap(
; CHECK-NEXT:    call void @diffe_cheap(
define void @adgen_gradient_cheap(ptr noalias %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
  call void @diffe_cheap(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y)
  ret void
}

define internal void @diffe_cheap(ptr %x, ptr %y, i64 %n, ptr %d_x, ptr %d_y) {
entry:
  br label %forward
forward:
  %i = phi i64 [ 0, %entry ], [ %i.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from, !invariant.load !0
  %s = fmul double %v, %v
  %into = getelementptr inbounds double, ptr %y, i64 %i
  store double %s, ptr %into
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %between, label %forward
between:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %between ], [ %j.next, %invert.next ]
  %taken = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = load double, ptr %taken
  store double 0.0, ptr %taken
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = load double, ptr %to
  %sum = fadd double %old, %cotangent
  store double %sum, ptr %to
  %beside = getelementptr inbounds i8, ptr %to, i64 8
  %other = load double, ptr %beside
  %both = fsub double %other, %cotangent
  store double %both, ptr %beside
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
end:
  ret void
}

!0 = !{}
