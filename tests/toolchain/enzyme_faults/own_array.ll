; A number that is read from an array of the iteration and carried into the next: other memory is taken for it.
; fault: wrong
; workaround: adgen-hold-carried-values
; before: adgen-hold-carried-values
; after: adgen-strip-guards
define double @products(double %x, i64 %at) {
entry:
  %c = alloca [2 x double]
  %second = getelementptr inbounds double, ptr %c, i64 1
  %to = getelementptr inbounds double, ptr %c, i64 %at
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = phi double [ %x, %entry ], [ %product, %loop ]
  call void @llvm.lifetime.start.p0(ptr %c)
  store double 0.5, ptr %c, !tbaa !3
  store double %v, ptr %second, !tbaa !3
  %sum = fadd double %v, 1.0
  store double %sum, ptr %to, !tbaa !3
  %one = load double, ptr %c, !tbaa !3
  %two = load double, ptr %second, !tbaa !3
  %product = fmul double %one, %two
  call void @llvm.lifetime.end.p0(ptr %c)
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 2
  br i1 %done, label %exit, label %loop
exit:
  ret double %product
}
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
declare double @__enzyme_autodiff(...)
; with at = 0: v becomes (v + 1) v twice, so d = (2 v + 1) (2 (v + 1) v + 1); x = 1: 3 * 5
define double @gap() {
  %d = call double (...) @__enzyme_autodiff(ptr @products, double 1.0, metadata !"enzyme_const", i64 0)
  %g = fsub double %d, 15.0
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
