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
