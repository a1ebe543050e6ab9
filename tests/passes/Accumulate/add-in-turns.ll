; Around an element of its own each thread adds in turns, where the block's extents keep threads apart; the atomics stay for other blocks.
;
; RUN: %opt -passes=adgen-add-in-turns -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; Elements of 8 bytes a thread, and rows of 64: two that lie in one thread's 8 bytes are added to in one turn. Rows touch elements of other rows, so
; that the whole block waits.
; CHECK-LABEL: define void @across_rows(
; CHECK:         [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK:         [[ROWS:%.*]] = icmp ule i32 [[X]], 8
; CHECK:         %turns = and i1 [[ROWS]],
; CHECK:         br i1 %turns, label %[[THEN:.*]], label %[[ELSE:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    load float, ptr %a0
; CHECK-NEXT:    fadd float
; CHECK-NEXT:    store float {{.*}}, ptr %a0
; CHECK-NEXT:    load float, ptr %b0
; CHECK-NEXT:    fadd float
; CHECK-NEXT:    store float {{.*}}, ptr %b0
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float {{.*}}, ptr %b1
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float {{.*}}, ptr %b2
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    br
; CHECK:       [[ELSE]]:
; CHECK-COUNT-6: atomicrmw fadd {{.*}}, !adgen.seldom
define void @across_rows(float %u, float %v, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %wide = zext nneg i32 %x to i64
  %high = zext nneg i32 %y to i64
  %row = getelementptr inbounds [8 x [2 x float]], ptr %d_tile, i64 %high
  %a0 = getelementptr inbounds [2 x float], ptr %row, i64 %wide
  %b0 = getelementptr inbounds i8, ptr %a0, i64 4
  %a1 = getelementptr inbounds i8, ptr %a0, i64 64
  %b1 = getelementptr inbounds i8, ptr %a0, i64 68
  %a2 = getelementptr inbounds i8, ptr %a0, i64 128
  %b2 = getelementptr inbounds i8, ptr %a0, i64 132
  %1 = atomicrmw fadd ptr %a0, float %u monotonic
  %2 = atomicrmw fadd ptr %b0, float %v monotonic
  %3 = atomicrmw fadd ptr %a2, float %u monotonic
  %4 = atomicrmw fadd ptr %b2, float %v monotonic
  %5 = atomicrmw fadd ptr %a1, float %u monotonic
  %6 = atomicrmw fadd ptr %b1, float %v monotonic
  ret void
}

; Rows of 256 bytes that touch nothing of other rows: the lanes of a row wait for each other, where it lies in one warp.
; CHECK-LABEL: define void @along_rows(
; CHECK:         %rows.in.warp = and i1
; CHECK:         br i1 %turns
; CHECK:         br i1 %rows.in.warp
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
define void @along_rows(float %u, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %wide = zext nneg i32 %x to i64
  %high = zext nneg i32 %y to i64
  %row = getelementptr inbounds [32 x [2 x float]], ptr %d_tile, i64 %high
  %a0 = getelementptr inbounds [2 x float], ptr %row, i64 %wide
  %a1 = getelementptr inbounds i8, ptr %a0, i64 8
  %a2 = getelementptr inbounds i8, ptr %a0, i64 16
  %a3 = getelementptr inbounds i8, ptr %a0, i64 24
  %a4 = getelementptr inbounds i8, ptr %a0, i64 32
  %a5 = getelementptr inbounds i8, ptr %a0, i64 40
  %1 = atomicrmw fadd ptr %a0, float %u monotonic
  %2 = atomicrmw fadd ptr %a1, float %u monotonic
  %3 = atomicrmw fadd ptr %a2, float %u monotonic
  %4 = atomicrmw fadd ptr %a3, float %u monotonic
  %5 = atomicrmw fadd ptr %a4, float %u monotonic
  %6 = atomicrmw fadd ptr %a5, float %u monotonic
  ret void
}

; Some threads only come there: they bring what they add to where all meet, and wait there with the others.
; CHECK-LABEL: define void @some_rows(
; CHECK:       yes:
; CHECK-NOT:     barrier
; CHECK:         br i1 %turns, label %[[MEET:.*]], label %[[ATOMICS:.*]]
; CHECK:       [[ATOMICS]]:
; CHECK-COUNT-6: atomicrmw fadd
; CHECK:       end:
; CHECK-DAG:     [[NUMBER:%.*]] = phi float
; CHECK-DAG:     [[COMES:%.*]] = phi i1
; CHECK:         br i1 %turns
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    br i1 [[COMES]]
; CHECK:         fadd float {{.*}}, [[NUMBER]]
; CHECK-COUNT-5: br i1 [[COMES]]
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
define void @some_rows(float %u, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %wide = zext nneg i32 %x to i64
  %a0 = getelementptr inbounds [2 x float], ptr %d_tile, i64 %wide
  %few = icmp ult i32 %y, 4
  br i1 %few, label %yes, label %end
yes:
  %a1 = getelementptr inbounds i8, ptr %a0, i64 8
  %a2 = getelementptr inbounds i8, ptr %a0, i64 16
  %a3 = getelementptr inbounds i8, ptr %a0, i64 24
  %a4 = getelementptr inbounds i8, ptr %a0, i64 32
  %a5 = getelementptr inbounds i8, ptr %a0, i64 40
  %1 = atomicrmw fadd ptr %a0, float %u monotonic
  %2 = atomicrmw fadd ptr %a1, float %u monotonic
  %3 = atomicrmw fadd ptr %a2, float %u monotonic
  %4 = atomicrmw fadd ptr %a3, float %u monotonic
  %5 = atomicrmw fadd ptr %a4, float %u monotonic
  %6 = atomicrmw fadd ptr %a5, float %u monotonic
  br label %end
end:
  ret void
}

; What follows the additions may see the elements.
; CHECK-LABEL: define void @seen_before(
; CHECK-NOT:     barrier
; CHECK-COUNT-6: atomicrmw fadd
define void @seen_before(float %u, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %wide = zext nneg i32 %x to i64
  %a0 = getelementptr inbounds [2 x float], ptr %d_tile, i64 %wide
  %few = icmp ult i32 %y, 4
  br i1 %few, label %yes, label %end
yes:
  %a1 = getelementptr inbounds i8, ptr %a0, i64 8
  %a2 = getelementptr inbounds i8, ptr %a0, i64 16
  %a3 = getelementptr inbounds i8, ptr %a0, i64 24
  %a4 = getelementptr inbounds i8, ptr %a0, i64 32
  %a5 = getelementptr inbounds i8, ptr %a0, i64 40
  %1 = atomicrmw fadd ptr %a0, float %u monotonic
  %2 = atomicrmw fadd ptr %a1, float %u monotonic
  %3 = atomicrmw fadd ptr %a2, float %u monotonic
  %4 = atomicrmw fadd ptr %a3, float %u monotonic
  %5 = atomicrmw fadd ptr %a4, float %u monotonic
  %6 = atomicrmw fadd ptr %a5, float %u monotonic
  store float 0.0, ptr %a3
  br label %end
end:
  ret void
}

; Two arrays in one block of code: the turns of the first part the block, and the additions to the second are still its own.
; CHECK-LABEL: define void @two_arrays(
; CHECK-COUNT-6: atomicrmw fadd ptr %a{{[0-5]}}, float %u monotonic
; CHECK-NOT:     atomicrmw
; CHECK:         br i1 %turns
; CHECK-COUNT-6: atomicrmw fadd ptr %b{{[0-5]}}, float %v monotonic
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @two_arrays(float %u, float %v, ptr noalias "adgen-shared-shadow" %d_one, ptr noalias "adgen-shared-shadow" %d_two) "adgen-activity"="const:const" "adgen-shared"="one,two" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext nneg i32 %x to i64
  %a0 = getelementptr inbounds [2 x float], ptr %d_one, i64 %wide
  %a1 = getelementptr inbounds i8, ptr %a0, i64 8
  %a2 = getelementptr inbounds i8, ptr %a0, i64 16
  %a3 = getelementptr inbounds i8, ptr %a0, i64 24
  %a4 = getelementptr inbounds i8, ptr %a0, i64 32
  %a5 = getelementptr inbounds i8, ptr %a0, i64 40
  %b0 = getelementptr inbounds [2 x float], ptr %d_two, i64 %wide
  %b1 = getelementptr inbounds i8, ptr %b0, i64 8
  %b2 = getelementptr inbounds i8, ptr %b0, i64 16
  %b3 = getelementptr inbounds i8, ptr %b0, i64 24
  %b4 = getelementptr inbounds i8, ptr %b0, i64 32
  %b5 = getelementptr inbounds i8, ptr %b0, i64 40
  %1 = atomicrmw fadd ptr %a0, float %u monotonic
  %2 = atomicrmw fadd ptr %b0, float %v monotonic
  %3 = atomicrmw fadd ptr %a1, float %u monotonic
  %4 = atomicrmw fadd ptr %b1, float %v monotonic
  %5 = atomicrmw fadd ptr %a2, float %u monotonic
  %6 = atomicrmw fadd ptr %b2, float %v monotonic
  %7 = atomicrmw fadd ptr %a3, float %u monotonic
  %8 = atomicrmw fadd ptr %b3, float %v monotonic
  %9 = atomicrmw fadd ptr %a4, float %u monotonic
  %10 = atomicrmw fadd ptr %b4, float %v monotonic
  %11 = atomicrmw fadd ptr %a5, float %u monotonic
  %12 = atomicrmw fadd ptr %b5, float %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
