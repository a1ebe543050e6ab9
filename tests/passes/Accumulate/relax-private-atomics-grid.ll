; Elements that one thread of a grid of several dimensions accumulates into get no atomics, where each axis leads further than all shorter
; ones together, and places that all threads share lie further apart than that. Whether they do is asked of the launch's extents.
;
; RUN: %opt -passes=adgen-relax-private-atomics,instcombine,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-relax-private-atomics,verify -S %s | %filecheck %s --check-prefix=KEPT

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

; A thread has an element in each of two planes of 120 rows of 128: a block is no wider than a row, and a grid no higher than a plane.
; CHECK-LABEL: define void @planes(
; CHECK:         [[WIDTH:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK:         call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
; CHECK:         icmp {{.*}}ult i32 [[WIDTH]], 129
; CHECK:         icmp ult i64 {{%.*}}, 61441
; CHECK:         br i1 {{.*}}, label %own, label %shared
; CHECK:       own:
; CHECK:         [[AT:%.*]] = getelementptr float, ptr %d_x
; CHECK:         [[BEHIND:%.*]] = getelementptr i8, ptr [[AT]], i64 9461760
; CHECK-DAG:     [[OLD:%.*]] = load float, ptr [[AT]]
; CHECK-DAG:     [[OTHER:%.*]] = load float, ptr [[BEHIND]]
; CHECK:         [[NEW:%.*]] = fadd float [[OLD]], %v
; CHECK:         store float [[NEW]], ptr [[AT]]
; CHECK:         [[MORE:%.*]] = fadd float [[OTHER]], %v
; CHECK:         store float [[MORE]], ptr [[BEHIND]]
; CHECK-NOT:     atomicrmw
; CHECK:       shared:
; CHECK:         atomicrmw fadd
; CHECK:         atomicrmw fadd

define void @planes(float %v, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = mul i32 %bx, 128
  %plane = mul i32 %by, 15360
  %in_row = add i32 %row, %tx
  %i = add i32 %plane, %in_row
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_x, i64 %wide
  %behind = getelementptr i8, ptr %at, i64 9461760
  atomicrmw fadd ptr %at, float %v monotonic
  atomicrmw fadd ptr %behind, float %v monotonic
  ret void
}

; Of two arrays of cells, one behind the other, the grid's extents say how far it is from one to the other.
; CHECK-LABEL: define void @one_behind_the_other(
; CHECK:       own:
; CHECK-NOT:     atomicrmw
; CHECK:       shared:
; CHECK:         atomicrmw fadd

define void @one_behind_the_other(float %v, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %all = mul i32 %blocks, %size
  %at = getelementptr float, ptr %d_x, i32 %i
  %other = getelementptr float, ptr %at, i32 %all
  atomicrmw fadd ptr %at, float %v monotonic
  atomicrmw fadd ptr %other, float %v monotonic
  ret void
}

; To the neighbour in the next row another thread adds as well.
; KEPT-LABEL: define void @neighbours(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @neighbours(float %v, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = mul i32 %bx, 128
  %i = add i32 %row, %tx
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_x, i64 %wide
  %below = getelementptr i8, ptr %at, i64 512
  atomicrmw fadd ptr %at, float %v monotonic
  atomicrmw fadd ptr %below, float %v monotonic
  ret void
}

; All rows of a block add to one.
; KEPT-LABEL: define void @rows_in_common(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @rows_in_common(float %v, ptr %to, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const:const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %ty, ptr %to
  %row = mul i32 %bx, 128
  %i = add i32 %row, %tx
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_x, i64 %wide
  atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; How long a row is, the kernel is told.
; KEPT-LABEL: define void @told(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @told(float %v, i32 %nx, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const:const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = mul i32 %bx, %nx
  %i = add i32 %row, %tx
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_x, i64 %wide
  atomicrmw fadd ptr %at, float %v monotonic
  ret void
}
