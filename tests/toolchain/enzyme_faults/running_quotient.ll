; A quotient that a loop carries and stores in each iteration: reversed as if only the last one were used.
; fault: wrong
; workaround: adgen-freeze-carried-values
; before: adgen-freeze-carried-values
define void @f(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %left = phi double [ 1.0, %entry ], [ %quotient, %loop ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %at, !tbaa !3
  %quotient = fdiv double %left, %v
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %quotient, ptr %to, !tbaa !3
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
declare void @__enzyme_autodiff(...)
; x = 2 4: y = 1/2 1/8; dx[0] = -1/4 - 1/16
define double @gap() {
  %x = alloca [2 x double]
  %y = alloca [2 x double]
  %dx = alloca [2 x double]
  %dy = alloca [2 x double]
  store [2 x double] [double 2.0, double 4.0], ptr %x
  store [2 x double] zeroinitializer, ptr %dx
  store [2 x double] [double 1.0, double 1.0], ptr %dy
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy, i64 2)
  %d = load double, ptr %dx
  %g = fadd double %d, 0.3125
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
