; The third of four sorted numbers; what is stored through a phi of local variables' addresses loses its derivative.
; fault: wrong
; workaround: adgen-lower-pointer-phis
; before: adgen-lower-pointer-phis
define void @sorted(ptr noalias %x, ptr noalias %out) {
entry:
  %a0 = alloca double
  %a1 = alloca double
  %a2 = alloca double
  %a3 = alloca double
  %0 = load double, ptr %x, !tbaa !3
  store double %0, ptr %a0, !tbaa !3
  %arrayidx.1 = getelementptr inbounds i8, ptr %x, i64 8
  %1 = load double, ptr %arrayidx.1, !tbaa !3
  store double %1, ptr %a1, !tbaa !3
  %arrayidx.2 = getelementptr inbounds i8, ptr %x, i64 16
  %2 = load double, ptr %arrayidx.2, !tbaa !3
  store double %2, ptr %a2, !tbaa !3
  %arrayidx.3 = getelementptr inbounds i8, ptr %x, i64 24
  %3 = load double, ptr %arrayidx.3, !tbaa !3
  store double %3, ptr %a3, !tbaa !3
  %cmp12 = fcmp ogt double %0, %1
  br i1 %cmp12, label %while.body, label %while.end

while.body:
  store double %0, ptr %a1, !tbaa !3
  br label %while.end

while.end:
  %p0 = phi ptr [ %a1, %entry ], [ %a0, %while.body ]
  store double %1, ptr %p0, !tbaa !3
  %w0 = load double, ptr %a1, !tbaa !3
  %cmp12.1 = fcmp ogt double %w0, %2
  br i1 %cmp12.1, label %while.body.1, label %while.end.1

while.body.1:
  store double %w0, ptr %a2, !tbaa !3
  %w1 = load double, ptr %a0, !tbaa !3
  %cmp12.1.1 = fcmp ogt double %w1, %2
  br i1 %cmp12.1.1, label %while.body.1.1, label %while.end.1

while.body.1.1:
  store double %w1, ptr %a1, !tbaa !3
  br label %while.end.1

while.end.1:
  %p1 = phi ptr [ %a2, %while.end ], [ %a0, %while.body.1.1 ], [ %a1, %while.body.1 ]
  store double %2, ptr %p1, !tbaa !3
  %w2 = load double, ptr %a3, !tbaa !3
  %w3 = load double, ptr %a2, !tbaa !3
  %cmp12.2 = fcmp ogt double %w3, %w2
  br i1 %cmp12.2, label %while.body.2, label %while.end.2

while.body.2:
  %w4 = load double, ptr %a1, !tbaa !3
  %cmp12.2.1 = fcmp ogt double %w4, %w2
  br i1 %cmp12.2.1, label %while.body.2.1, label %while.end.2

while.body.2.1:
  store double %w4, ptr %a2, !tbaa !3
  %w5 = load double, ptr %a0, !tbaa !3
  %cmp12.2.2 = fcmp ogt double %w5, %w2
  br i1 %cmp12.2.2, label %while.body.2.2, label %while.end.2

while.body.2.2:
  br label %while.end.2

while.end.2:
  %p2 = phi ptr [ %a3, %while.end.1 ], [ %a0, %while.body.2.2 ], [ %a2, %while.body.2 ], [ %a1, %while.body.2.1 ]
  store double %w2, ptr %p2, !tbaa !3
  %w6 = load double, ptr %a2, !tbaa !3
  store double %w6, ptr %out, !tbaa !3
  ret void
}
declare void @__enzyme_autodiff(...)
define double @gap() {
  %x = alloca [4 x double]
  %dx = alloca [4 x double]
  %out = alloca double
  %seed = alloca double
  store [4 x double] [double 1.0, double 2.0, double 4.0, double 3.0], ptr %x
  store [4 x double] zeroinitializer, ptr %dx
  store double 1.0, ptr %seed
  call void (...) @__enzyme_autodiff(ptr @sorted, ptr %x, ptr %dx, ptr %out, ptr %seed)
  %at = getelementptr double, ptr %dx, i64 3
  %d = load double, ptr %at
  %g = fsub double %d, 1.0
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
