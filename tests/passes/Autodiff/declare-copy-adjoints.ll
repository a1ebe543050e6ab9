; Before Enzyme there is a function of ours for every adjoint of a copy that it may ask for.
;
; RUN: %opt -passes=adgen-declare-copy-adjoints -S %s | %filecheck %s

; CHECK-LABEL: define void @copies(
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 16 %y, ptr align 8 %x, i64 %n, i1 false)
define void @copies(ptr %x, ptr %y, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 64 %y, ptr align 8 %x, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define internal void @__enzyme_memcpyadd_doubleda16sa8(ptr %0, ptr %1, i64 %2)
; CHECK-NEXT:  entry:
; CHECK-NEXT:    call void @adgen_copy_adjoint_double(ptr %0, ptr %1, i64 %2)
; CHECK-NEXT:    ret void
