; Arrays of which each element is read by one thread, as rows and columns say, are marked with what the rows' lengths are.
;
; RUN: %opt -passes=adgen-mark-row-owners -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @other(ptr)

; A warp has a row: its lanes walk along it.
; CHECK: define void @adgen_gradient_row_of_a_warp({{.*}}ptr "adgen-owned-in-rows"="*1:1" "adgen-shadow" %dx)
define void @adgen_gradient_row_of_a_warp(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_row_of_a_warp(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rounded = add nuw nsw i32 %size, 31
  %warps = lshr i32 %rounded, 5
  %before = mul i32 %warps, %block
  %warp = lshr i32 %tid, 5
  %row = add i32 %before, %warp
  %lane = and i32 %tid, 31
  %start = mul nsw i32 %row, %n
  %any = icmp slt i32 %lane, %n
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %lane, %loop.preheader ], [ %next, %loop ]
  %at = add nsw i32 %start, %i
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  call void @llvm.assume(i1 true)
  %next = add nuw nsw i32 %i, 32
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Columns that are a constant apart are one thread's in blocks of at most so many.
; CHECK: define void @adgen_gradient_columns_by_a_constant({{.*}}ptr "adgen-owned-in-rows"="blocks*1*256:1" "adgen-shadow" %dx)
define void @adgen_gradient_columns_by_a_constant(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_columns_by_a_constant(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %row, %n
  %any = icmp slt i32 %tid, %n
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %tid, %loop.preheader ], [ %next, %loop ]
  %at = add i32 %start, %i
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  call void @llvm.assume(i1 true)
  %next = add nuw nsw i32 %i, 256
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; A block has a row, of a batch of matrices; the length is a member of a struct.
; CHECK: define void @adgen_gradient_row_of_a_block({{.*}}ptr "adgen-owned-in-rows"="*2:1+4" "adgen-shadow" %dx)
define void @adgen_gradient_row_of_a_block(ptr %x, ptr %s, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_row_of_a_block(ptr %x, ptr readonly "adgen-struct"="8" %s) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %member = getelementptr i8, ptr %s, i64 4
  %n = load i32, ptr %member
  %start = mul nsw i32 %block, %n
  %any = icmp slt i32 %tid, %n
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %tid, %loop.preheader ], [ %next, %loop ]
  %at = add nsw i32 %start, %i
  %far = sext i32 %at to i64
  %element = getelementptr [2 x float], ptr %x, i64 %far
  %v = load float, ptr %element
  %second = getelementptr i8, ptr %element, i64 4
  %w = load float, ptr %second
  %next = add i32 %i, %size
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Where nothing keeps a column within its row, or something keeps it within another length, blocks may be no longer than
; rows. Not elements beside it, nor where all warps of a block read the row, nor what a function is given. Where numbers may
; overflow, the launch is asked how many elements there are.
; CHECK: define void @adgen_gradient_not(ptr %x, i32 %n, i32 %m, ptr "adgen-owned-in-rows"="*1:1<1" "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_beside(ptr %x, i32 %n, ptr "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_all_warps(ptr %x, i32 %n, ptr "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_overflows(ptr %x, i32 %n, ptr "adgen-owned-in-rows"="blocks*1:1" "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_given(ptr %x, i32 %n, ptr "adgen-shadow" %dx)
; CHECK: define void @adgen_gradient_two_ways(ptr %x, i32 %n, ptr "adgen-shadow" %dx)
define void @adgen_gradient_not(ptr %x, i32 %n, i32 %m, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_beside(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_all_warps(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_overflows(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_given(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_gradient_two_ways(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}

define void @adgen_body_not(ptr %x, i32 %n, i32 %m) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul nsw i32 %block, %n
  %inside = icmp slt i32 %tid, %m
  br i1 %inside, label %yes, label %no
yes:
  %at = add nsw i32 %start, %tid
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  ret void
no:
  ret void
}

define void @adgen_body_beside(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul nsw i32 %block, %n
  %column = add nuw nsw i32 %tid, 1
  %inside = icmp slt i32 %column, %n
  br i1 %inside, label %yes, label %no
yes:
  %at = add nsw i32 %start, %tid
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  %second = getelementptr i8, ptr %element, i64 4
  %w = load float, ptr %second
  ret void
no:
  ret void
}

define void @adgen_body_all_warps(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %tid, 31
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul nsw i32 %block, %n
  %inside = icmp slt i32 %lane, %n
  br i1 %inside, label %yes, label %no
yes:
  %at = add nsw i32 %start, %lane
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  ret void
no:
  ret void
}

define void @adgen_body_overflows(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %block, %n
  %inside = icmp ult i32 %tid, %n
  br i1 %inside, label %yes, label %no
yes:
  %at = add i32 %start, %tid
  %far = zext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  ret void
no:
  ret void
}

define void @adgen_body_given(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul nsw i32 %block, %n
  %inside = icmp slt i32 %tid, %n
  br i1 %inside, label %yes, label %no
yes:
  %at = add nsw i32 %start, %tid
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  call void @other(ptr %element)
  ret void
no:
  ret void
}

define void @adgen_body_two_ways(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul nsw i32 %block, %n
  %inside = icmp slt i32 %tid, %n
  br i1 %inside, label %yes, label %no
yes:
  %at = add nsw i32 %start, %tid
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  %before = mul i32 %block, %size
  %row = add i32 %before, %tid
  %own = mul nsw i32 %row, %n
  %own.far = sext i32 %own to i64
  %own.element = getelementptr float, ptr %x, i64 %own.far
  %w = load float, ptr %own.element
  ret void
no:
  ret void
}

; A remainder that is there within the loop alone says nothing of its beginning.
; CHECK: define void @adgen_gradient_remainder_within(ptr %x, i32 %n, i32 %m, ptr "adgen-shadow" %dx)
define void @adgen_gradient_remainder_within(ptr %x, i32 %n, i32 %m, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  ret void
}
define void @adgen_body_remainder_within(ptr %x, i32 %n, i32 %m) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %lane = and i32 %tid, 31
  %start = mul nsw i32 %block, %n
  %any = icmp slt i32 %lane, %m
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %lane, %loop.preheader ], [ %next, %loop ]
  %remainder = srem i32 %i, %n
  %at = add nsw i32 %start, %i
  %far = sext i32 %at to i64
  %element = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %element
  %next = add nuw nsw i32 %i, 32
  %more = icmp slt i32 %next, %m
  br i1 %more, label %loop, label %end
end:
  ret void
}
