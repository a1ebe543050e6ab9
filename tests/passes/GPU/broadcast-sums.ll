; A warp's sum by shuffles is reversed by shuffles that wait for each other. Where the first lane alone has a cotangent,
; one brings it to all of them.
;
; RUN: %opt -passes=adgen-broadcast-sums,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32) convergent

; Of a sum of four lanes, the first four get the first one's.
; CHECK-LABEL: define ptx_kernel void @sum__gradient(
; CHECK:         %[[SOME:.*]] = fcmp une float %d, 0.0
; CHECK-NEXT:    %[[WHO:.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %[[SOME]])
; CHECK-NEXT:    %[[FIRST:.*]] = icmp ule i32 %[[WHO]], 1
; CHECK-NEXT:    br i1 %[[FIRST]], label %broadcast, label %each
; CHECK:       broadcast:
; CHECK-NEXT:    %[[ONE:.*]] = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %d, i32 0, i32 31)
; CHECK-NEXT:    %[[LANE:.*]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    %[[BIT:.*]] = lshr i32 255, %[[LANE]]
; CHECK-NEXT:    %[[MINE:.*]] = trunc i32 %[[BIT]] to i1
; CHECK-NEXT:    %[[GETS:.*]] = select i1 %[[MINE]], float %[[ONE]], float 0.0
; CHECK:       each:
; CHECK-COUNT-3: call float @llvm.nvvm.shfl.sync.idx.f32
; CHECK:         phi float [ %sum.4, %each ], [ %[[GETS]], %broadcast ]
; CHECK-NEXT:    store float
define ptx_kernel void @sum__gradient(ptr %d_out, ptr %d_in) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %d = load float, ptr %d_out
  %below = add nsw i32 %lane, -1
  %from = and i32 %below, 31
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %d, i32 %from, i32 31)
  %is = icmp ugt i32 %lane, 0
  %part = select i1 %is, float %got, float 0.0
  %sum = fadd float %d, %part
  %below.2 = add nsw i32 %lane, -2
  %from.2 = and i32 %below.2, 31
  %got.2 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum, i32 %from.2, i32 31)
  %is.2 = icmp ult i32 %below.2, 32
  %part.2 = select i1 %is.2, float %got.2, float 0.0
  %sum.2 = fadd float %sum, %part.2
  %below.4 = add nsw i32 %lane, -4
  %from.4 = and i32 %below.4, 31
  %got.4 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.2, i32 %from.4, i32 31)
  %is.4 = icmp ult i32 %below.4, 32
  %part.4 = select i1 %is.4, float %got.4, float 0.0
  %sum.4 = fadd float %part.4, %sum.2
  store float %sum.4, ptr %d_in
  ret void
}

; A lane that gets the first one's twice, as by what it would add to itself, cannot have it by one shuffle.
; CHECK-LABEL: define ptx_kernel void @twice__gradient(
; CHECK-NOT:     broadcast
define ptx_kernel void @twice__gradient(ptr %d_out, ptr %d_in) {
entry:
  %d = load float, ptr %d_out
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %d, i32 0, i32 31)
  %sum = fadd float %d, %got
  %got.2 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum, i32 0, i32 31)
  %sum.2 = fadd float %sum, %got.2
  %got.4 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.2, i32 0, i32 31)
  %sum.4 = fadd float %got.4, %sum.2
  store float %sum.4, ptr %d_in
  ret void
}

; Nor is it so where all lanes have had the sum.
; CHECK-LABEL: define ptx_kernel void @all__gradient(
; CHECK-NOT:     broadcast
define ptx_kernel void @all__gradient(ptr %d_out, ptr %d_in) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %d = load float, ptr %d_out
  %next.16 = xor i32 %lane, 16
  %got.16 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %d, i32 %next.16, i32 31)
  %sum.16 = fadd float %d, %got.16
  %next.8 = xor i32 %lane, 8
  %got.8 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.16, i32 %next.8, i32 31)
  %sum.8 = fadd float %sum.16, %got.8
  %next.4 = xor i32 %lane, 4
  %got.4 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.8, i32 %next.4, i32 31)
  %sum.4 = fadd float %sum.8, %got.4
  %next.2 = xor i32 %lane, 2
  %got.2 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.4, i32 %next.2, i32 31)
  %sum.2 = fadd float %sum.4, %got.2
  %next = xor i32 %lane, 1
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.2, i32 %next, i32 31)
  %sum = fadd float %sum.2, %got
  store float %sum, ptr %d_in
  ret void
}

; Nor where lanes may be missing, or where something happens in between.
; CHECK-LABEL: define ptx_kernel void @some__gradient(
; CHECK-NOT:     broadcast
define ptx_kernel void @some__gradient(ptr %d_out, ptr %d_in, i32 %mask) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %d = load float, ptr %d_out
  %next = xor i32 %lane, 1
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 %mask, float %d, i32 %next, i32 31)
  %sum = fadd float %d, %got
  %next.2 = xor i32 %lane, 2
  %got.2 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum, i32 %next.2, i32 31)
  %sum.2 = fadd float %sum, %got.2
  %next.4 = xor i32 %lane, 4
  %got.4 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.2, i32 %next.4, i32 31)
  store float %got.4, ptr %d_in
  %sum.4 = fadd float %got.4, %sum.2
  %next.8 = xor i32 %lane, 8
  %got.8 = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %sum.4, i32 %next.8, i32 31)
  %sum.8 = fadd float %got.8, %sum.4
  store float %sum.8, ptr %d_in
  ret void
}
