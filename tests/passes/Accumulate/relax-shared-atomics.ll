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

; One thread of a row comes there, and nobody else to the array before the block waits: in blocks of one row it adds plainly.
; CHECK-LABEL: define void @adgen_gradient_alone(
; CHECK:         [[ROWS:%.*]] = icmp eq i32 {{%.*}}, 1
; CHECK:         [[LAYERS:%.*]] = icmp eq i32 {{%.*}}, 1
; CHECK:         [[ONE:%.*]] = and i1 [[ROWS]], [[LAYERS]]
; CHECK:       loop:
; CHECK:         br i1 [[ONE]], label %[[PLAIN:.*]], label %[[OTHERS:.*]]
; CHECK:       [[PLAIN]]:
; CHECK:         store float {{%.*}}, ptr %place
; CHECK:       [[OTHERS]]:
; CHECK:         atomicrmw fadd ptr %place, float %v monotonic, align 4, !adgen.seldom
define void @adgen_gradient_alone(i64 %n, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const" "adgen-shared"="s" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %x, 0
  br i1 %first, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %d_s, i64 %i
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %2 = load float, ptr %d_s
  ret void
}

; Not where another thread comes to the array before the block waits, nor where no condition leaves one thread.
; CHECK-LABEL: define void @adgen_gradient_not_alone(
; CHECK-NOT:     store
; CHECK:         ret void
define void @adgen_gradient_not_alone(i64 %i, i32 %n, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const:const" "adgen-shared"="s" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %place = getelementptr float, ptr %d_s, i64 %i
  %first = icmp eq i32 %x, 0
  br i1 %first, label %one, label %end
one:
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  br label %end
end:
  %2 = load float, ptr %d_s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %few = icmp eq i32 %x, %n
  br i1 %few, label %some, label %out
some:
  %3 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  br label %out
out:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
