; All arithmetic of a derivative is marked as fast, although the primal is not.
; fault: text f(?:mul|div|add) fast
; workaround: adgen-drop-fast-math-flags
; after: adgen-drop-fast-math-flags
declare double @llvm.cos.f64(double)
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  %s = fdiv double 1.0, %v
  store double %s, ptr %y, !tbaa !3
  ret void
}
declare void @__enzyme_autodiff(...)
define void @g(ptr %x, ptr %dx, ptr %y, ptr %dy) {
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy)
  ret void
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
