; Blocks of one size that a loop keeps become one: the pointers to them are not kept.
;
; RUN: %opt -passes=adgen-merge-cache-blocks -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @fill(ptr)
declare void @use(ptr)

; The block of an iteration begins at a multiple of its size, rounded up to words.
; CHECK-LABEL: define void @of_one_size(
; CHECK:         %block.bytes = and i64 {{%.*}}, -8
; CHECK:       before:
; CHECK:         [[COUNT:%.*]] = lshr i64 %room, 3
; CHECK-NEXT:    [[ROOM:%.*]] = mul i64 [[COUNT]], %block.bytes
; CHECK-NEXT:    %cache = call ptr @malloc(i64 [[ROOM]])
; CHECK:       loop:
; CHECK-NOT:     @malloc
; CHECK:         [[FROM:%.*]] = mul i64 %i, %block.bytes
; CHECK-NEXT:    [[BLOCK:%.*]] = getelementptr i8, ptr %cache, i64 [[FROM]]
; CHECK:         call void @fill(ptr [[BLOCK]])
; CHECK-NOT:     store ptr
; CHECK:       back:
; CHECK:         [[AGAIN:%.*]] = mul i64 %j, %block.bytes
; CHECK-NEXT:    [[KEPT:%.*]] = getelementptr i8, ptr %all, i64 [[AGAIN]]
; CHECK-NEXT:    call void @use(ptr [[KEPT]])
; CHECK-NOT:     call void @free(ptr [[KEPT]])
; CHECK:       end:
; CHECK-NEXT:    call void @free(ptr %all)
define void @of_one_size(i64 %n) "adgen-activity"="const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %behind
before:
  %room = mul nuw i64 %n, 8
  %cache = call ptr @malloc(i64 %room), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %loop ]
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %up = add nuw nsw i32 %threads, 255
  %words = udiv i32 %up, %threads
  %wide = zext i32 %words to i64
  %bytes = mul nuw i64 %wide, 4
  %block = call ptr @malloc(i64 %bytes)
  call void @fill(ptr %block)
  %at = getelementptr inbounds ptr, ptr %cache, i64 %i
  store ptr %block, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %behind, label %loop
behind:
  %all = phi ptr [ undef, %entry ], [ %cache, %loop ]
  br i1 %any, label %back, label %none
back:
  %j = phi i64 [ %n, %behind ], [ %previous, %back ]
  %where = getelementptr inbounds ptr, ptr %all, i64 %j
  %kept = load ptr, ptr %where
  call void @use(ptr %kept)
  call void @free(ptr %kept)
  %previous = add i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %back
end:
  call void @free(ptr %all)
  ret void
none:
  ret void
}

; How large a block is may change from iteration to iteration.
; CHECK-LABEL: define void @of_other_sizes(
; CHECK:       loop:
; CHECK:         %block = call ptr @malloc(i64 %i)
; CHECK:         store ptr %block
define void @of_other_sizes(i64 %n) "adgen-activity"="const" {
entry:
  %room = mul nuw i64 %n, 8
  %cache = call ptr @malloc(i64 %room), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %block = call ptr @malloc(i64 %i)
  call void @fill(ptr %block)
  %at = getelementptr inbounds ptr, ptr %cache, i64 %i
  store ptr %block, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  %first = getelementptr inbounds ptr, ptr %cache, i64 0
  %kept = load ptr, ptr %first
  call void @free(ptr %kept)
  call void @free(ptr %cache)
  ret void
}

!0 = !{}
