; Two conditions that lead past the same code are asked together. Not where the second one is not to be asked in vain, nor where one condition says at
; the end which way was taken.
;
; RUN: %opt -passes=adgen-merge-branch-conditions -S %s | %filecheck %s

; if (near) energy = f(); else if (gap < 4) energy = g(); else return; *x += energy;
; CHECK-LABEL: define void @far(
; CHECK:         %inside = fcmp olt double %gap, 0.000000e+00
; CHECK-NEXT:    %reached = fcmp olt double %gap, 4.000000e+00
; CHECK-NEXT:    %[[EITHER:.*]] = select i1 %inside, i1 true, i1 %reached
; CHECK-NEXT:    br i1 %[[EITHER]], label %ask, label %end
; CHECK:       ask:
; CHECK-NEXT:    br i1 %inside, label %f, label %g
; CHECK:       end:
; CHECK-NEXT:    %sum = phi double [ %e, %both ], [ 0.000000e+00, %entry ]
define void @far(ptr %x, double %gap) {
entry:
  %inside = fcmp olt double %gap, 0.0
  br i1 %inside, label %f, label %ask
ask:
  %reached = fcmp olt double %gap, 4.0
  br i1 %reached, label %g, label %end
f:
  %a = fmul double %gap, %gap
  br label %both
g:
  %b = fmul double %gap, 2.0
  br label %both
both:
  %e = phi double [ %a, %f ], [ %b, %g ]
  br label %end
end:
  %sum = phi double [ %e, %both ], [ 0.0, %ask ]
  store double %sum, ptr %x
  ret void
}

; The sides may be the other way round.
; CHECK-LABEL: define void @turned(
; CHECK:         %[[ONE:.*]] = xor i1 %outside, true
; CHECK-NEXT:    %[[OTHER:.*]] = xor i1 %beyond, true
; CHECK-NEXT:    %[[EITHER:.*]] = select i1 %[[ONE]], i1 true, i1 %[[OTHER]]
; CHECK-NEXT:    br i1 %[[EITHER]], label %ask, label %end
; CHECK:         br i1 %[[ONE]], label %f, label %g
define void @turned(ptr %x, double %gap) {
entry:
  %outside = fcmp oge double %gap, 0.0
  br i1 %outside, label %ask, label %f
ask:
  %beyond = fcmp oge double %gap, 4.0
  br i1 %beyond, label %end, label %g
f:
  br label %both
g:
  br label %both
both:
  %e = phi double [ 1.0, %f ], [ %gap, %g ]
  store double %e, ptr %x
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @reads(
; CHECK:         br i1 %inside, label %f, label %ask
define void @reads(ptr %x, ptr %mask, i1 %inside) {
entry:
  br i1 %inside, label %f, label %ask
ask:
  %reached = load i1, ptr %mask
  br i1 %reached, label %g, label %end
f:
  br label %both
g:
  br label %both
both:
  %e = phi double [ 1.0, %f ], [ 2.0, %g ]
  store double %e, ptr %x
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @told_apart(
; CHECK:         br i1 %a, label %f, label %ask
define void @told_apart(ptr %x, i1 %a, i1 %b) {
entry:
  br i1 %a, label %f, label %ask
ask:
  br i1 %b, label %g, label %end
f:
  ret void
g:
  store double 1.0, ptr %x
  br label %end
end:
  ret void
}

; if (first ? right : below) f(); whose sides are branches of their own: one branch, and what they bring is chosen.
; CHECK-LABEL: define void @alternatives(
; CHECK:         %right = icmp slt i32 %x, %width
; CHECK-NEXT:    %below = icmp sge i32 %y, %height
; CHECK-NEXT:    %[[STEP:.*]] = select i1 %first, i32 1, i32 %width
; CHECK-NEXT:    %[[INSIDE:.*]] = xor i1 %below, true
; CHECK-NEXT:    %[[GO:.*]] = select i1 %first, i1 %right, i1 %[[INSIDE]]
; CHECK-NEXT:    br i1 %[[GO]], label %f, label %end
; CHECK:       f:
; CHECK-NEXT:    %at = add i32 %[[STEP]], %x
define void @alternatives(ptr %out, i1 %first, i32 %x, i32 %y, i32 %width, i32 %height) {
entry:
  br i1 %first, label %across, label %down
across:
  %right = icmp slt i32 %x, %width
  br i1 %right, label %f, label %end
down:
  %below = icmp sge i32 %y, %height
  br i1 %below, label %end, label %f
f:
  %step = phi i32 [ 1, %across ], [ %width, %down ]
  %at = add i32 %step, %x
  store i32 %at, ptr %out
  br label %end
end:
  ret void
}

; Not where a side reads memory that may not be read in vain.
; CHECK-LABEL: define void @reads_one(
; CHECK:         br i1 %first, label %across, label %down
define void @reads_one(ptr %out, ptr %mask, i1 %first, i1 %below) {
entry:
  br i1 %first, label %across, label %down
across:
  %right = load i1, ptr %mask
  br i1 %right, label %f, label %end
down:
  br i1 %below, label %end, label %f
f:
  store i32 1, ptr %out
  br label %end
end:
  ret void
}

; The second condition leaves the loop.
; CHECK-LABEL: define void @leaves(
; CHECK:         br i1 %inside, label %latch, label %ask
define void @leaves(ptr %x, double %gap) {
entry:
  br label %body
body:
  %sum = phi double [ 0.0, %entry ], [ %next, %latch ]
  %inside = fcmp olt double %sum, %gap
  br i1 %inside, label %latch, label %ask
ask:
  %reached = fcmp olt double %sum, 4.0
  br i1 %reached, label %g, label %end
g:
  %b = fmul double %gap, 2.0
  br label %latch
latch:
  %e = phi double [ 1.0, %body ], [ %b, %g ]
  %next = fadd double %sum, %e
  %again = fcmp olt double %next, 9.0
  br i1 %again, label %body, label %end
end:
  %result = phi double [ %sum, %ask ], [ %next, %latch ]
  store double %result, ptr %x
  ret void
}

; Where another way leads to the same end, what is chosen there is chosen still.
; CHECK-LABEL: define i1 @left_by_others(
; CHECK:       ask:
; CHECK:         br i1 %{{.*}}, label %f, label %end
; CHECK:       end:
; CHECK-NEXT:    %left = phi i1 [ false, %entry ], [ false, %f ], [ true, %ask ]
define i1 @left_by_others(i1 %early, i1 %first, i32 %x, i32 %y, ptr %out) {
entry:
  br i1 %early, label %end, label %ask
ask:
  br i1 %first, label %across, label %down
across:
  %right = icmp slt i32 %x, 4
  br i1 %right, label %f, label %end
down:
  %below = icmp eq i32 %y, 0
  br i1 %below, label %f, label %end
f:
  store i32 %x, ptr %out
  br label %end
end:
  %left = phi i1 [ false, %entry ], [ false, %f ], [ true, %across ], [ true, %down ]
  ret i1 %left
}
