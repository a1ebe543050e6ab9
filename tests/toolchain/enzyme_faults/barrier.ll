; A barrier is reversed without its operand: an assertion fails (Enzyme issue 2784).
; fault: stops bad signature
; workaround: adgen-lower-collectives-to-rules
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store double %v, ptr %y, !tbaa !3
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
