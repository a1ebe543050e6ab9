; Atomics on elements of shared shadows become plain where the thread also stores to the element, before threads meet.
;
; RUN: %opt -passes=adgen-relax-shared-atomics,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; The thread stores to the element: the primal did, so it is its own until the next barrier, whatever else is added to.
; CHECK-LABEL: define void @adgen_gradient_stores(
; CHECK:         store float 0.000000e+00, ptr %place
; CHECK-NEXT:    [[OLD:%.*]] = load float, ptr %place
; CHECK-NEXT:    [[SUM:%.*]] = fadd float [[OLD]], %taken
; CHECK-NEXT:    store float [[SUM]], ptr %place
; CHECK-NEXT:    atomicrmw fadd ptr %other
; CHECK-NEXT:    call void @llvm.nvvm.barrier
; CHECK-NEXT:    atomicrmw fadd ptr %place
define void @adgen_gradient_stores(i64 %i, i64 %j, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const" "adgen-shared"="s" {
  %place = getelementptr float, ptr %d_s, i64 %i
  %other = getelementptr float, ptr %d_s, i64 %j
  %taken = load float, ptr %place
  store float 0.000000e+00, ptr %place
  %1 = atomicrmw fadd ptr %place, float %taken monotonic, align 4
  %2 = atomicrmw fadd ptr %other, float %taken monotonic, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %3 = atomicrmw fadd ptr %place, float %taken monotonic, align 4
  ret void
}

; Not where other threads come to it before the store.
; CHECK-LABEL: define void @adgen_gradient_waits(
; CHECK:         atomicrmw fadd ptr %place
define void @adgen_gradient_waits(i64 %i, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const" "adgen-shared"="s" {
  %place = getelementptr float, ptr %d_s, i64 %i
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store float 0.000000e+00, ptr %place
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
