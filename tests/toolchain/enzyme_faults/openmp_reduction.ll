; A reduction of OpenMP: Enzyme does not know the call.
; fault: stops unhandled openmp function
; workaround: adgen-rewrite-openmp
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@text = private constant [2 x i8] c";\00"
@place = private constant %struct.ident_t { i32 0, i32 2, i32 0, i32 1, ptr @text }
declare i32 @__kmpc_reduce_nowait(ptr, i32, i32, i64, ptr, ptr, ptr)
@lock = internal global [8 x i32] zeroinitializer
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
define internal void @region(ptr noalias %thread, ptr noalias %bound, ptr %x, ptr %y) {
  %id = load i32, ptr %thread
  %r = call i32 @__kmpc_reduce_nowait(ptr @place, i32 %id, i32 1, i64 8, ptr %x, ptr @region, ptr @lock)
  %v = load double, ptr %x, !tbaa !3
  %s = fmul double %v, %v
  store double %s, ptr %y, !tbaa !3
  ret void
}
define void @f(ptr %x, ptr %y) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 2, ptr @region, ptr %x, ptr %y)
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
