; What the least number so far is compared with is held, in the loop and behind it. Not what sums are compared with, nor outside of regions.
;
; RUN: %opt -passes=adgen-cache-comparisons -S %s | %filecheck %s
; RUN: %opt -passes=adgen-cache-comparisons,adgen-strip-guards -S %s | %filecheck %s --check-prefix=AFTER

; AFTER-NOT: adgen_hold

; CHECK-LABEL: define void @adgen_region_least(
; CHECK:         %less = fcmp olt double %v, %least
; CHECK-NEXT:    %[[HELD:.*]] = call i1 @adgen_hold_i1(i1 %less)
; CHECK-NEXT:    select i1 %[[HELD]], double %v, double %least
; CHECK:       end:
; CHECK:         %better = fcmp olt double %last, 1.000000e+00
; CHECK-NEXT:    %[[BETTER:.*]] = call i1 @adgen_hold_i1(i1 %better)
; CHECK-NEXT:    select i1 %[[BETTER]]
define void @adgen_region_least(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %least = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %least
  %chosen = select i1 %less, double %v, double %least
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %last = phi double [ %chosen, %loop ]
  %better = fcmp olt double %last, 1.0
  %all = select i1 %better, double %last, double 1.0
  store double %all, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_region_sum(
; CHECK-NOT:     call
; CHECK:         ret void
define void @adgen_region_sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %new, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %sum
  %part = select i1 %less, double %v, double 1.0
  %new = fadd double %sum, %part
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %new, ptr %x
  ret void
}

; CHECK-LABEL: define void @elsewhere(
; CHECK-NOT:     call
; CHECK:         ret void
define void @elsewhere(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %least = phi double [ 1.0e30, %entry ], [ %chosen, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %less = fcmp olt double %v, %least
  %chosen = select i1 %less, double %v, double %least
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %chosen, ptr %x
  ret void
}
