; The result of a call with a registered derivative is only stored: an assertion fails.
; fault: stops returnUsed
; workaround: adgen-pin-rules
; before: adgen-pin-rules
; after: adgen-strip-guards
declare !enzyme_augment !4 !enzyme_gradient !5 double @rule(double) nounwind willreturn memory(none)
declare { double } @rule_reverse(double, double)
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  %r = call double @rule(double %v)
  store double %r, ptr %y, !tbaa !3
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
!4 = !{ptr @rule}
!5 = !{ptr @rule_reverse}
