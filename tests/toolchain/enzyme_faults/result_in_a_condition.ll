; The result of an indirect call is used in a condition only: its derivative is called without a cotangent.
; fault: wrong
; workaround: adgen-use-results
; before: adgen-use-results
; after: adgen-strip-guards
; the result of a call through a pointer is used in a condition only
define double @square(double %x) {
  %s = fmul double %x, %x
  ret double %s
}
define void @f(ptr %function, ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  %r = call double %function(double %v)
  %c = fcmp ogt double %r, 100.0
  %s = select i1 %c, double 0.0, double %v
  store double %s, ptr %y, !tbaa !3
  ret void
}
@__enzyme_virtual = external global i8
declare void @__enzyme_autodiff(...)
declare ptr @__enzyme_virtualreverse(...)
@shadow = internal global ptr null
define double @gap() {
  %x = alloca double
  %y = alloca double
  %dx = alloca double
  %dy = alloca double
  store double 7.0, ptr %x
  store double 0.0, ptr %dx
  store double 1.0, ptr %dy
  %reverse = call ptr (...) @__enzyme_virtualreverse(ptr @square)
  call void (...) @__enzyme_autodiff(ptr @f, ptr @square, ptr %reverse, ptr %x, ptr %dx, ptr %y, ptr %dy)
  %r = load double, ptr %dx
  %g = fsub double %r, 1.0
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
