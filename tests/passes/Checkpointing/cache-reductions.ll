; Where a product needs a sum, and three numbers or more are read for it alone, it goes through a variable that Enzyme must take for changed. Not outside of
; loops, where what was read is needed for itself or never changes, where a constant is multiplied, and not what a loop adds up in its iterations.
;
; RUN: %opt -passes=adgen-cache-reductions -S %s | %filecheck %s
; RUN: %opt -passes=adgen-cache-reductions,adgen-strip-guards -S %s | %filecheck %s --check-prefix=AFTER

; AFTER-NOT: @adgen_pin_variable

; CHECK-LABEL: define void @gathers(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    %[[VARIABLE:.*]] = alloca double
; CHECK:       both:
; CHECK-NEXT:    %sum = phi double
; CHECK-NEXT:    store double %sum, ptr %[[VARIABLE]]
; CHECK-NEXT:    call void @adgen_pin_variable(ptr %[[VARIABLE]])
; CHECK-NEXT:    %[[HELD:.*]] = load double, ptr %[[VARIABLE]]
; CHECK:         %m = fmul double %step, %[[HELD]]
; CHECK-NOT:     @adgen_pin_variable
; CHECK:         ret void
define void @gathers(ptr %x, ptr %y, ptr %steps, i64 %n, i1 %c) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %both ]
  %at = getelementptr double, ptr %x, i64 %i
  %a = load double, ptr %at
  %at1 = getelementptr double, ptr %at, i64 7
  %b = load double, ptr %at1
  %two = fsub double %a, %b
  br i1 %c, label %more, label %both
more:
  %at2 = getelementptr double, ptr %at, i64 8
  %d = load double, ptr %at2
  %three = fadd double %two, %d
  br label %both
both:
  %sum = phi double [ %two, %loop ], [ %three, %more ]
  %step = load double, ptr %steps
  %m = fmul double %step, %sum
  %to = getelementptr double, ptr %y, i64 %i
  store double %m, ptr %to
  %next = add i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @not(
; CHECK-NOT:     @adgen_pin_variable
; CHECK:         ret void
define void @not(ptr %x, ptr %y, double %v, i64 %n) {
entry:
  %p = load double, ptr %x
  %x1 = getelementptr double, ptr %x, i64 1
  %q = load double, ptr %x1
  %x2 = getelementptr double, ptr %x, i64 2
  %r = load double, ptr %x2
  %pq = fadd double %p, %q
  %pqr = fadd double %pq, %r
  %outside = fmul double %v, %pqr
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %so.far = phi double [ 0.0, %entry ], [ %all, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %a = load double, ptr %at
  %at1 = getelementptr double, ptr %at, i64 7
  %b = load double, ptr %at1
  %at2 = getelementptr double, ptr %at, i64 8
  %d = load double, ptr %at2
  %at3 = getelementptr double, ptr %at, i64 9
  %same = load double, ptr %at3, !invariant.load !0
  %ab = fadd double %a, %b
  %abs = fadd double %ab, %same
  %m = fmul double %v, %abs
  %ad = fsub double %ab, %d
  %half = fmul double 0.5, %ad
  %square = fmul double %d, %d
  %part = fadd double %m, %half
  %whole = fadd double %part, %square
  %all = fadd double %so.far, %whole
  %next = add i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %end, label %loop
end:
  %left = fmul double %all, %outside
  store double %left, ptr %y
  ret void
}

!0 = !{}
