; A running maximum that is stored in each iteration: the cotangents of the stores are lost or go to the last choice.
; fault: wrong
; workaround: adgen-freeze-carried-values
; before: adgen-freeze-carried-values
define void @running_max(ptr %x, ptr %y) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi double [ -1.0, %entry ], [ %most, %loop ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %at, !tbaa !3
  %more = fcmp ogt double %v, %best
  %most = select i1 %more, double %v, double %best
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %most, ptr %to, !tbaa !3
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 3
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
declare void @__enzyme_autodiff(...)
; x = 1 3 2: the cotangents of all three maxima are 1, so dx = 1 2 0
define double @gap() {
  %x = alloca [3 x double]
  %y = alloca [3 x double]
  %dx = alloca [3 x double]
  %dy = alloca [3 x double]
  store [3 x double] [double 1.0, double 3.0, double 2.0], ptr %x
  store [3 x double] zeroinitializer, ptr %dx
  store [3 x double] [double 1.0, double 1.0, double 1.0], ptr %dy
  call void (...) @__enzyme_autodiff(ptr @running_max, ptr %x, ptr %dx, ptr %y, ptr %dy)
  %p = getelementptr double, ptr %dx, i64 0
  %d = load double, ptr %p
  %g = fsub double %d, 1.0
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
