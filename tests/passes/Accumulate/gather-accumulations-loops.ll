; A loop that adds to one element of each of three rows in an iteration becomes straight code, and a thread adds up what all threads of its
; row or column would add to one element. An index that both ways of a branch compute is seen through.
;
; RUN: %opt -passes=adgen-gather-accumulations,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [4 x [4 x float]] undef
@other = internal addrspace(3) global [4 x [4 x float]] undef
@third = internal addrspace(3) global [4 x [4 x float]] undef

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()

; CHECK-LABEL: define void @loop(
; CHECK-NOT:     phi i64
; CHECK:         br i1 %square, label %gather, label %scatter
; CHECK:       gather:
; CHECK-NOT:     atomicrmw
; CHECK:         store float
; CHECK:         store float
; CHECK:         store float
; CHECK:       scatter:
; CHECK-COUNT-12: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @loop(i1 %first, ptr "adgen-shadow" %d_y, ptr %array, ptr %weights, ptr %third, ptr "adgen-shared-shadow" %shadow, ptr "adgen-shared-shadow" %d_weights, ptr "adgen-shared-shadow" %d_third) "adgen-activity"="duplicated" "adgen-shared"="tile:other:third" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  br i1 %first, label %one, label %two
one:
  %row.one = zext i32 %y to i64
  br label %both
two:
  %row.two = zext i32 %y to i64
  br label %both
both:
  %row = phi i64 [ %row.one, %one ], [ %row.two, %two ]
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %of.row = getelementptr [4 x float], ptr %array, i64 %row
  %d.row = getelementptr [4 x float], ptr %shadow, i64 %row
  %third.row = getelementptr [4 x float], ptr %d_third, i64 %row
  %of.column = getelementptr float, ptr %weights, i64 %column
  %d.column = getelementptr float, ptr %d_weights, i64 %column
  br label %loop
loop:
  %n = phi i64 [ 3, %both ], [ %next, %again ]
  %at.row = getelementptr float, ptr %of.row, i64 %n
  %v = load float, ptr %at.row
  %at.column = getelementptr [4 x float], ptr %of.column, i64 %n
  %w = load float, ptr %at.column
  %dv = fmul float %d, %w
  %to.row = getelementptr float, ptr %d.row, i64 %n
  %0 = atomicrmw fadd ptr %to.row, float %dv monotonic
  %to.third = getelementptr float, ptr %third.row, i64 %n
  %1 = atomicrmw fadd ptr %to.third, float %dv monotonic
  %dw = fmul float %d, %v
  %to.column = getelementptr [4 x float], ptr %d.column, i64 %n
  %2 = atomicrmw fadd ptr %to.column, float %dw monotonic
  %last = icmp eq i64 %n, 0
  br i1 %last, label %end, label %again
again:
  %next = add nsw i64 %n, -1
  br label %loop
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; One row alone, and a loop that writes something else, stay loops.
; CHECK-LABEL: define void @one_row(
; CHECK:         phi i64
; CHECK-NOT:     gather
; CHECK:         ret void
define void @one_row(ptr "adgen-shadow" %d_y, ptr %array, ptr %weights, ptr "adgen-shared-shadow" %shadow, ptr "adgen-shared-shadow" %d_weights) "adgen-activity"="duplicated" "adgen-shared"="tile:other" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  %row = zext i32 %y to i64
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %of.column = getelementptr float, ptr %weights, i64 %column
  %d.row = getelementptr [4 x float], ptr %shadow, i64 %row
  br label %loop
loop:
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [4 x float], ptr %of.column, i64 %n
  %w = load float, ptr %at
  %dv = fmul float %d, %w
  %to = getelementptr float, ptr %d.row, i64 %n
  %0 = atomicrmw fadd ptr %to, float %dv monotonic
  %next = add nuw nsw i64 %n, 1
  %last = icmp eq i64 %next, 4
  br i1 %last, label %end, label %loop
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; CHECK-LABEL: define void @writes(
; CHECK:         phi i64
; CHECK-NOT:     gather
; CHECK:         ret void
define void @writes(ptr %out, ptr "adgen-shadow" %d_y, ptr %array, ptr %weights, ptr "adgen-shared-shadow" %shadow, ptr "adgen-shared-shadow" %d_weights) "adgen-activity"="duplicated" "adgen-shared"="tile:other" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  %row = zext i32 %y to i64
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %of.column = getelementptr float, ptr %weights, i64 %column
  %d.row = getelementptr [4 x float], ptr %shadow, i64 %row
  %d.column = getelementptr [4 x float], ptr %d_weights, i64 %row
  br label %loop
loop:
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [4 x float], ptr %of.column, i64 %n
  %w = load float, ptr %at
  %dv = fmul float %d, %w
  store float %w, ptr %out
  %to = getelementptr float, ptr %d.row, i64 %n
  %0 = atomicrmw fadd ptr %to, float %dv monotonic
  %to.other = getelementptr float, ptr %d.column, i64 %n
  %1 = atomicrmw fadd ptr %to.other, float %dv monotonic
  %next = add nuw nsw i64 %n, 1
  %last = icmp eq i64 %next, 4
  br i1 %last, label %end, label %loop
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
