; The derivative of libdevice's sinh calls cosh, which a GPU does not have.
; fault: text call .*@cosh\(
; workaround: adgen-restore-math
; after: adgen-restore-math
target triple = "nvptx64-nvidia-cuda"
declare double @__nv_sinh(double) "enzyme_math"="sinh"
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  %s = call double @__nv_sinh(double %v) readnone nounwind
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
