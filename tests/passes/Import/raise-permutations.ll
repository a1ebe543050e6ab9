; A permutation of bytes that moves two halves whole is one of these numbers. What moves integers, or parts of numbers, or in a computed
; order, stays.
;
; RUN: %opt -passes='adgen-raise-permutations' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_lows(
; CHECK-NOT:     prmt
; CHECK:         shufflevector <2 x half> %{{.*}}, <2 x half> %{{.*}}, <2 x i32> <i32 0, i32 2>
; CHECK:         ret void
define void @adgen_body_lows(ptr %x, <2 x half> %a, <2 x half> %b) {
  %p = bitcast <2 x half> %a to i32
  %q = bitcast <2 x half> %b to i32
  %r = call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 21520)
  %n = bitcast i32 %r to <2 x half>
  store <2 x half> %n, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_body_others(
; CHECK:         call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 21520)
; CHECK:         call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 1)
; CHECK:         call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 %order)
define void @adgen_body_others(ptr %x, i32 %p, i32 %q, i32 %order) {
  %r = call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 21520)
  store i32 %r, ptr %x
  %s = call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 1)
  %n = bitcast i32 %s to <2 x half>
  store <2 x half> %n, ptr %x
  %u = call i32 @llvm.nvvm.prmt(i32 %p, i32 %q, i32 %order)
  %m = bitcast i32 %u to <2 x half>
  store <2 x half> %m, ptr %x
  ret void
}

declare i32 @llvm.nvvm.prmt(i32, i32, i32)
