; The optimiser does not look for what it could do about OpenMP.
; RUN: %opt -passes=adgen-rewrite-openmp -S %s | %filecheck %s --implicit-check-not='i32 51'

; CHECK: !llvm.module.flags = !{![[WIDTH:[0-9]+]]}
; CHECK: ![[WIDTH]] = !{i32 1, !"wchar_size", i32 4}
define void @adgen_body_f(ptr %x) {
  ret void
}

!llvm.module.flags = !{!0, !1}
!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"openmp", i32 51}
