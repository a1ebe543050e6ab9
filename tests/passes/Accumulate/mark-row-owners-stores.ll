; Rows of warps that are counted from the last block on, up to a remainder by their length, are stored by one thread each;
; and vectors of rows that are counted over the whole grid.
;
; RUN: %opt -passes=adgen-mark-row-owners -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

; CHECK: define void @adgen_gradient_up_to_a_remainder({{.*}}ptr "adgen-shadow" "adgen-stored-in-rows"="warps*1:1" %dy)
define void @adgen_gradient_up_to_a_remainder(ptr %y, i32 %n, ptr "adgen-shadow" %dy) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_up_to_a_remainder(ptr %y, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %back = xor i32 %block, -1
  %at = add i32 %blocks, %back
  %warps = lshr i32 %size, 5
  %before = mul i32 %warps, %at
  %warp = lshr i32 %tid, 5
  %row = add i32 %before, %warp
  %most = srem i32 %row, %n
  %lane = and i32 %tid, 31
  %start = mul nsw i32 %row, %n
  %none = icmp sgt i32 %lane, %most
  br i1 %none, label %end, label %loop.preheader
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %lane, %loop.preheader ], [ %next, %loop ]
  %place = add nsw i32 %start, %i
  %far = sext i32 %place to i64
  %element = getelementptr float, ptr %y, i64 %far
  store float 1.0, ptr %element
  %next = add nuw nsw i32 %i, 32
  %over = icmp sgt i32 %next, %most
  br i1 %over, label %end, label %loop
end:
  ret void
}

; CHECK: define void @adgen_gradient_vectors({{.*}}ptr "adgen-owned-in-rows"="*1:2" "adgen-shadow" %dx, ptr "adgen-shadow" "adgen-stored-in-rows"="*1:2" %dy)
; Where the vectors may be longer than the row, in blocks that are not; not where they begin at another place.
; CHECK: define void @adgen_gradient_longer({{.*}}ptr "adgen-owned-in-rows"="*1:1<4" "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_beside({{.*}}ptr "adgen-shadow" %dx)
define void @adgen_gradient_vectors(ptr %x, ptr %y, i32 %n, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dy) "adgen-activity"="duplicated:duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_longer(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_beside(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_vectors(ptr %x, ptr %y, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul nuw nsw i32 %block, %size
  %thread = add nuw nsw i32 %before, %tid
  %row = lshr i32 %thread, 5
  %lane = and i32 %tid, 31
  %vectors = sdiv i32 %n, 4
  %start = mul nsw i32 %row, %n
  %first = sext i32 %start to i64
  %from = getelementptr float, ptr %x, i64 %first
  %to = getelementptr float, ptr %y, i64 %first
  %any = icmp slt i32 %lane, %vectors
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %lane, %loop.preheader ], [ %next, %loop ]
  %far = zext nneg i32 %i to i64
  %source = getelementptr [4 x float], ptr %from, i64 %far
  %v = load <4 x float>, ptr %source, align 16
  %target = getelementptr [4 x float], ptr %to, i64 %far
  store float 1.0, ptr %target
  %last = getelementptr i8, ptr %target, i64 12
  store float 1.0, ptr %last
  %next = add nuw nsw i32 %i, 32
  %more = icmp slt i32 %next, %vectors
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @adgen_body_longer(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %half = sdiv i32 %n, 2
  %start = mul nsw i32 %block, %n
  %first = sext i32 %start to i64
  %from = getelementptr float, ptr %x, i64 %first
  %inside = icmp slt i32 %tid, %half
  br i1 %inside, label %yes, label %no
yes:
  %far = zext nneg i32 %tid to i64
  %source = getelementptr [4 x float], ptr %from, i64 %far
  %v = load <4 x float>, ptr %source, align 16
  ret void
no:
  ret void
}
define void @adgen_body_beside(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %vectors = sdiv i32 %n, 4
  %start = mul nsw i32 %block, %n
  %first = sext i32 %start to i64
  %from = getelementptr float, ptr %x, i64 %first
  %inside = icmp slt i32 %tid, %vectors
  br i1 %inside, label %yes, label %no
yes:
  %far = zext nneg i32 %tid to i64
  %source = getelementptr [4 x float], ptr %from, i64 %far
  %beside = getelementptr i8, ptr %source, i64 4
  %v = load <4 x float>, ptr %beside, align 4
  ret void
no:
  ret void
}
