; A barrier of the whole grid, which has a number that no barrier of a block has, becomes a call of what counts blocks.
; Others stay.
;
; RUN: %opt -passes=adgen-lower-grid-barriers -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    call void @adgen_wait_for_grid() [[CONVERGENT:#[0-9]+]]
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
; CHECK-NEXT:    ret void
define ptx_kernel void @k() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
  ret void
}

; CHECK: declare void @adgen_wait_for_grid() [[CONVERGENT]]
; CHECK: attributes [[CONVERGENT]] = { convergent }
