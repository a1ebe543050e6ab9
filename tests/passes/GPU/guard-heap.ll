; Device malloc returns null when the heap is exhausted. No gradient goes on with that: the flag that the runtime reads is raised, and the
; thread ends. The store is volatile, else it could be dropped before the end of the thread.
;
; RUN: %opt -passes=adgen-guard-heap -S %s | %filecheck %s
; RUN: %opt -passes=adgen-guard-heap -S %S/../Support/strip-debug.ll | %filecheck %s --check-prefix=NONE

; A module without malloc has no flag, by which the driver knows that there is nothing to watch.
; NONE-NOT: adgen_heap

target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_heap_exhausted = addrspace(1) externally_initialized global i32 0

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-NEXT:    %a = call ptr @adgen_heap_allocate(i64 %bytes)
; CHECK-NEXT:    %b = call ptr @adgen_heap_allocate(i64 8)
; CHECK-NEXT:    call void @free(ptr %a)
define ptx_kernel void @k(i64 %bytes) {
  %a = call ptr @malloc(i64 %bytes)
  %b = call ptr @malloc(i64 8)
  call void @free(ptr %a)
  call void @free(ptr %b)
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

; CHECK-LABEL: define internal ptr @adgen_heap_allocate(i64 %0) {
; CHECK-NEXT:  start:
; CHECK-NEXT:    [[SIZE:%.*]] = call i64 @llvm.umax.i64(i64 %0, i64 1)
; CHECK-NEXT:    [[MEMORY:%.*]] = call ptr @malloc(i64 [[SIZE]])
; CHECK-NEXT:    [[NULL:%.*]] = icmp eq ptr [[MEMORY]], null
; CHECK-NEXT:    br i1 [[NULL]], label %exhausted, label %done
; CHECK:       exhausted:
; CHECK-NEXT:    store volatile i32 1, ptr addrspace(1) @adgen_heap_exhausted
; CHECK-NEXT:    call void asm sideeffect "exit;", ""()
; CHECK-NEXT:    unreachable
; CHECK:       done:
; CHECK-NEXT:    ret ptr [[MEMORY]]
