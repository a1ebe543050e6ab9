; What a loop chooses from what it carries, or divides, is carried on by a freeze where an iteration uses the result for more than comparisons. A
; minimum that only the end needs, and a product, stay as they are.
;
; RUN: %opt -passes=adgen-freeze-carried-values -S %s | %filecheck %s

; CHECK-LABEL: define void @running_maximum(
; CHECK:         %best = phi float [ 0.000000e+00, %entry ], [ [[FROZEN:%.*]], %loop ]
; CHECK:         store float %next, ptr %to
; CHECK:         [[FROZEN]] = freeze float %next
; CHECK-NEXT:    br i1
define void @running_maximum(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %best = phi float [ 0.0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %larger = fcmp ogt float %v, %best
  %next = select i1 %larger, float %v, float %best
  %to = getelementptr float, ptr %y, i64 %i
  store float %next, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @repeated_division(
; CHECK:         freeze double %next
define void @repeated_division(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %left = phi double [ 1.0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %from
  %next = fdiv double %left, %v
  %to = getelementptr double, ptr %y, i64 %i
  store double %next, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define float @least(
; CHECK-NOT:     freeze
define float @least(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %best = phi float [ 1.0e9, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %less = fcmp olt float %v, %best
  %next = select i1 %less, float %v, float %best
  %small = fcmp olt float %next, 0.0
  %inc = add i64 %i, 1
  %goes = icmp slt i64 %inc, %n
  %more = or i1 %goes, %small
  br i1 %more, label %loop, label %end
end:
  ret float %next
}

; CHECK-LABEL: define void @products(
; CHECK-NOT:     freeze
define void @products(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %all = phi float [ 1.0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %next = fmul float %all, %v
  %to = getelementptr float, ptr %y, i64 %i
  store float %next, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
