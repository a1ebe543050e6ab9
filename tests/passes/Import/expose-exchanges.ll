; Where threads wait for each other, a restricted array that they read and write is seen by the barrier: the store in
; front of it stays. Arrays that are only read, or only written, stay restricted, and so do those of a kernel without
; barriers. A called function that waits is looked at before it is inlined.
;
; RUN: %opt -passes='adgen-expose-exchanges,always-inline,adgen-expose-exchanges,function(dse)' -S %s | %filecheck %s

; CHECK-LABEL: define ptx_kernel void @exchange(
; CHECK-SAME:    ptr noalias %x, ptr %y, ptr %also, ptr noalias %out)
; CHECK:         call void @llvm.experimental.noalias.scope.decl(metadata ![[DECL:[0-9]+]])
; CHECK:         load double, ptr %x, align 8, !noalias ![[BOTH:[0-9]+]]
; CHECK-NEXT:    store double %v, ptr %y, align 8, !alias.scope ![[OF_Y:[0-9]+]], !noalias ![[OF_OTHER:[0-9]+]]
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK-NEXT:    getelementptr
; CHECK-NEXT:    load double, ptr %next, align 8, !alias.scope ![[OF_Y]], !noalias ![[OF_OTHER]]
; CHECK:         atomicrmw fadd ptr %also, double %got monotonic, align 8, !alias.scope ![[OF_OTHER]], !noalias ![[OF_Y]]
define ptx_kernel void @exchange(ptr noalias %x, ptr noalias %y, ptr noalias %also, ptr noalias %out) {
  %v = load double, ptr %x
  store double %v, ptr %y
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = getelementptr double, ptr %y, i64 1
  %got = load double, ptr %next
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %old = atomicrmw fadd ptr %also, double %got monotonic, align 8
  store double %got, ptr %y
  store double %old, ptr %out
  ret void
}

; CHECK-LABEL: define ptx_kernel void @alone(
; CHECK-SAME:    ptr noalias %x, ptr noalias %y)
; CHECK-NOT:     alias.scope
; CHECK:         ret void
define ptx_kernel void @alone(ptr noalias %x, ptr noalias %y) {
  %v = load double, ptr %x
  %old = load double, ptr %y
  %sum = fadd double %v, %old
  store double %sum, ptr %y
  ret void
}

; CHECK-LABEL: define ptx_kernel void @calls(
; CHECK-SAME:    ptr %y)
; CHECK:         store double 1.0
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK:         store double %got
define ptx_kernel void @calls(ptr noalias %y) {
  call void @waits(ptr %y)
  ret void
}

define internal void @waits(ptr noalias %y) alwaysinline {
  store double 1.0, ptr %y
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = getelementptr double, ptr %y, i64 1
  %got = load double, ptr %next
  store double %got, ptr %y
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
