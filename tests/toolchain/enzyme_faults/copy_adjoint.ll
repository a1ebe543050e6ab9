; The adjoint of a memcpy on a GPU adds without atomics.
; fault: text (?s)define internal void @__enzyme_memcpyadd_\w+\((?:(?!atomicrmw|adgen_copy_adjoint|\n}).)*\n}
; workaround: adgen-declare-copy-adjoints
; before: adgen-declare-copy-adjoints
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x, !tbaa !3
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 64, i1 false), !tbaa !3
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
