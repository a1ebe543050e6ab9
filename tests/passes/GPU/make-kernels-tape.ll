; Blocks that were launched walk over the caller's grid. Where threads of a block share memory, thread 0 takes the number
; of the next block as the block begins, from behind the tapes of all launched blocks; else blocks go on by as many as
; were launched. So they do where a number more does not fit into shared memory, or where its size is not known.
;
; RUN: %opt -passes=adgen-make-kernels -S %s | %filecheck %s

target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_turn = internal addrspace(3) global i64 undef
; CHECK-NOT: @adgen_turn.
@tile = internal addrspace(3) global [64 x float] undef, align 4
@full = internal addrspace(3) global [4096 x float] undef, align 4

; CHECK-LABEL: define ptx_kernel void @shares__gradient(ptr %0, ptr %1, ptr {{.*}}%2, i64 %3, i32 %4, i32 %5, i32 %6)
; CHECK:         [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-NEXT:    [[OWN:%.*]] = zext i32 [[X]] to i64
; CHECK-NEXT:    [[ALL:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
; CHECK-NEXT:    [[LAUNCHED:%.*]] = zext i32 [[ALL]] to i64
; CHECK:         [[WARPS:%.*]] = mul i64 [[LAUNCHED]],
; CHECK-NEXT:    [[BYTES:%.*]] = shl i64 %3, 5
; CHECK-NEXT:    [[BEHIND:%.*]] = mul i64 [[WARPS]], [[BYTES]]
; CHECK-NEXT:    [[COUNTER:%.*]] = getelementptr i8, ptr %2, i64 [[BEHIND]]
; CHECK:       block:
; CHECK-NEXT:    phi i64 [ [[OWN]], %entry ], [ [[NEXT:%.*]], %taken ]
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         br i1 {{.*}}, label %takes, label %taken
; CHECK:       takes:
; CHECK-NEXT:    [[OLD:%.*]] = atomicrmw add ptr [[COUNTER]], i64 1 monotonic
; CHECK-NEXT:    store volatile i64 [[OLD]], ptr addrspace(3) @adgen_turn
; CHECK-NEXT:    br label %taken
; CHECK:       taken:
; CHECK-NEXT:    call void @adgen_gradient_shares(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    [[FURTHER:%.*]] = add i64 %{{.*}}, [[LAUNCHED]]
; CHECK-NEXT:    [[TURN:%.*]] = load volatile i64, ptr addrspace(3) @adgen_turn
; CHECK-NEXT:    [[TAKEN:%.*]] = add i64 [[TURN]], [[LAUNCHED]]
; CHECK-NEXT:    [[FEWER:%.*]] = icmp ult i64 [[LAUNCHED]], %{{.*}}
; CHECK-NEXT:    [[NEXT]] = select i1 [[FEWER]], i64 [[TAKEN]], i64 [[FURTHER]]
define ptx_kernel void @shares(ptr %x) {
  ret void
}
define void @adgen_gradient_shares(ptr %x, ptr %d_x, ptr %tile, ptr %d_tile, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-shared"="tile" "adgen-activity"="duplicated" "adgen-tape"="scalars" {
  store float 1.0, ptr %d_tile
  ret void
}

; CHECK-LABEL: define ptx_kernel void @alone__gradient(
; CHECK-NOT:     atomicrmw
; CHECK:         call void @adgen_gradient_alone(
; CHECK-NEXT:    add i64
define ptx_kernel void @alone(ptr %x) {
  ret void
}
define void @adgen_gradient_alone(ptr %x, ptr %d_x, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-shared" "adgen-activity"="duplicated" "adgen-tape"="scalars" {
  ret void
}

; CHECK-LABEL: define ptx_kernel void @fills__gradient(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define ptx_kernel void @fills(ptr %x) {
  ret void
}
define void @adgen_gradient_fills(ptr %x, ptr %d_x, ptr %tile, ptr %d_tile, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-shared"="full" "adgen-activity"="duplicated" "adgen-tape"="scalars" {
  store float 1.0, ptr %d_tile
  ret void
}
