; Rows side by side are one block's, as those of a gate and of what goes through it; a thread that has one column of its
; block's row has it alone in blocks that are no longer than the row.
;
; RUN: %opt -passes=adgen-mark-row-owners -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; CHECK: define void @adgen_gradient_two_rows({{.*}}ptr "adgen-owned-in-rows"="*2:1" "adgen-shadow" %dx)
define void @adgen_gradient_two_rows(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_two_rows(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %pair = shl nuw nsw i64 %row, 1
  %start = mul i64 %pair, %length
  %first = getelementptr float, ptr %x, i64 %start
  %second = getelementptr float, ptr %first, i64 %length
  %any = icmp slt i32 %tid, %n
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %tid, %loop.preheader ], [ %next, %loop ]
  %far = zext i32 %i to i64
  %one = getelementptr float, ptr %first, i64 %far
  %v = load float, ptr %one
  %other = getelementptr float, ptr %second, i64 %far
  %w = load float, ptr %other
  %next = add nsw i32 %i, %size
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The third row is another block's first.
; CHECK: define void @adgen_gradient_third_row({{.*}}ptr "adgen-shadow" %dx)
define void @adgen_gradient_third_row(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_third_row(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %pair = shl nuw nsw i64 %row, 1
  %third = add nuw nsw i64 %pair, 2
  %start = mul i64 %third, %length
  %first = getelementptr float, ptr %x, i64 %start
  %far = zext i32 %tid to i64
  %one = getelementptr float, ptr %first, i64 %far
  %v = load float, ptr %one
  ret void
}

; Blocks may have one row each in one place, and two in another.
; CHECK: define void @adgen_gradient_one_or_two({{.*}}ptr "adgen-shadow" %dx)
define void @adgen_gradient_one_or_two(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_one_or_two(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %pair = shl nuw nsw i64 %row, 1
  %start.one = mul i64 %row, %length
  %start.two = mul i64 %pair, %length
  %first = getelementptr float, ptr %x, i64 %start.one
  %second = getelementptr float, ptr %x, i64 %start.two
  %far = zext i32 %tid to i64
  %one = getelementptr float, ptr %first, i64 %far
  %v = load float, ptr %one
  %other = getelementptr float, ptr %second, i64 %far
  %w = load float, ptr %other
  ret void
}

; CHECK: define void @adgen_gradient_one_column({{.*}}ptr "adgen-owned-in-rows"="*1:1<1" "adgen-shadow" %dx)
define void @adgen_gradient_one_column(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_one_column(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %start = mul i64 %row, %length
  %first = getelementptr float, ptr %x, i64 %start
  %far = zext i32 %tid to i64
  %one = getelementptr float, ptr %first, i64 %far
  %v = load float, ptr %one
  ret void
}

; Four elements of a row of scalars: four times as many as threads.
; CHECK: define void @adgen_gradient_four_columns({{.*}}ptr "adgen-owned-in-rows"="*1:1<4" "adgen-shadow" %dx)
define void @adgen_gradient_four_columns(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_four_columns(ptr %x, i32 %n) "adgen-shared" {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %start = mul i64 %row, %length
  %first = getelementptr float, ptr %x, i64 %start
  %column = shl nuw nsw i32 %tid, 2
  %far = zext i32 %column to i64
  %one = getelementptr float, ptr %first, i64 %far
  %v = load float, ptr %one
  %last = getelementptr float, ptr %one, i64 3
  %w = load float, ptr %last
  ret void
}

; Vectors of as many scalars, up to a length that may not be a multiple of it, of two rows side by side.
; CHECK: define void @adgen_gradient_vectors({{.*}}ptr "adgen-owned-in-rows"="*2:1%8" "adgen-shadow" %dx)
define void @adgen_gradient_vectors(ptr %x, i32 %n, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  ret void
}
define void @adgen_body_vectors(ptr %x, i32 %n) "adgen-shared" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %length = sext i32 %n to i64
  %row = zext i32 %block to i64
  %pair = shl nuw nsw i64 %row, 1
  %start = mul i64 %pair, %length
  %first = getelementptr half, ptr %x, i64 %start
  %second = getelementptr half, ptr %first, i64 %length
  %begin = shl nuw nsw i32 %tid, 3
  %step = shl nuw nsw i32 %size, 3
  %any = icmp slt i32 %begin, %n
  br i1 %any, label %loop.preheader, label %end
loop.preheader:
  br label %loop
loop:
  %i = phi i32 [ %begin, %loop.preheader ], [ %next, %loop ]
  %far = zext i32 %i to i64
  %one = getelementptr half, ptr %first, i64 %far
  %v = load <8 x half>, ptr %one
  %other = getelementptr half, ptr %second, i64 %far
  %w = load <8 x half>, ptr %other
  %next = add nsw i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
