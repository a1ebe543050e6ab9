; A loop by the grid's stride has a version for launches in which it runs once: it has no loop, the reverse sweep finds
; there what the forward sweep has read, and what is kept is a register. A loop by the block's stride stays as it is, one
; in which lanes do something together, one of which nothing is kept, and one of which nobody knows how much.
;
; RUN: %opt -passes=adgen-version-single-trips -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_gather(
; CHECK:         %count = add i32 %further, 1
; CHECK-NEXT:    %once = icmp ugt i32 %step, %rest
; CHECK-NEXT:    br i1 %once, label %[[ONCE:.*]], label %[[LOOPS:[0-9]+]]
; CHECK:       [[LOOPS]]:
; CHECK:         call ptr @malloc
; CHECK:         br label %forward
; CHECK:       invert:
; CHECK:         call void @free
; CHECK:       [[ONCE]]:
; CHECK-NEXT:    %[[START:.*]] = zext {{.*}}i32 %i to i64
; CHECK-NEXT:    %[[PLACE:.*]] = getelementptr inbounds {{.*}}i32, ptr %index, i64 %[[START]]
; CHECK-NEXT:    %[[INDEX:.*]] = load i32, ptr %[[PLACE]]
; CHECK-NOT:     load i32
; CHECK-NOT:     malloc
; CHECK:         %[[V:.*]] = load float, ptr %from.once
; CHECK:         store float %{{.*}}, ptr %to.once
; CHECK:         %[[D:.*]] = atomicrmw xchg ptr %{{.*}}, float 0.0
; CHECK-NEXT:    fmul float %[[D]], %{{.*}}
; CHECK-NOT:     phi
; CHECK:         br label %end
define void @adgen_gradient_gather(ptr noalias %x, ptr noalias readonly %index, ptr noalias %y, i32 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const:duplicated:const" {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %before = mul i32 %block, %threads
  %i = add i32 %before, %thread
  %some = icmp slt i32 %i, %n
  br i1 %some, label %loop.before, label %end
loop.before:
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = mul i32 %threads, %blocks
  %way = sub i32 %n, %i
  %rest = sub i32 %way, 1
  %step = call i32 @llvm.umax.i32(i32 %stride, i32 1)
  %further = udiv i32 %rest, %step
  %count = add i32 %further, 1
  %count.wide = zext i32 %count to i64
  %bytes = mul nuw nsw i64 %count.wide, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %forward
forward:
  %k = phi i64 [ 0, %loop.before ], [ %k.next, %forward ]
  %k.next = add nuw nsw i64 %k, 1
  %k.short = trunc i64 %k to i32
  %on = mul i32 %stride, %k.short
  %element = add i32 %i, %on
  %element.wide = zext i32 %element to i64
  %at = getelementptr inbounds i32, ptr %index, i64 %element.wide
  %found = load i32, ptr %at
  %found.wide = sext i32 %found to i64
  %from = getelementptr inbounds float, ptr %x, i64 %found.wide
  %v = load float, ptr %from
  %double = fadd float %v, %v
  %slot = getelementptr inbounds float, ptr %kept, i64 %k
  store float %double, ptr %slot
  %square = fmul float %v, %v
  %to = getelementptr inbounds float, ptr %y, i64 %element.wide
  store float %square, ptr %to
  %k.last = trunc i64 %k.next to i32
  %done = icmp eq i32 %k.last, %count
  br i1 %done, label %invert.before, label %forward
invert.before:
  %last = add i32 %count, -1
  %last.wide = zext i32 %last to i64
  br label %invert
invert:
  %j = phi i64 [ %last.wide, %invert.before ], [ %j.next, %invert.next ]
  %j.short = trunc i64 %j to i32
  %j.on = mul i32 %stride, %j.short
  %j.element = add i32 %i, %j.on
  %j.wide = zext i32 %j.element to i64
  %d_to = getelementptr inbounds float, ptr %d_y, i64 %j.wide
  %cotangent = atomicrmw xchg ptr %d_to, float 0.0 monotonic, !adgen.consumed !1
  %j.slot = getelementptr inbounds float, ptr %kept, i64 %j
  %again = load float, ptr %j.slot
  %d = fmul float %cotangent, %again
  %j.at = getelementptr inbounds i32, ptr %index, i64 %j.wide
  %j.found = load i32, ptr %j.at
  %j.found.wide = sext i32 %j.found to i64
  %d_from = getelementptr inbounds float, ptr %d_x, i64 %j.found.wide
  %old = atomicrmw fadd ptr %d_from, float %d monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_row(
; CHECK-NOT:     %once
define void @adgen_gradient_row(ptr noalias %y, i32 %n, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const" {
entry:
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %some = icmp slt i32 %thread, %n
  br i1 %some, label %before, label %end
before:
  %way = sub i32 %n, %thread
  %rest = sub i32 %way, 1
  %step = call i32 @llvm.umax.i32(i32 %threads, i32 1)
  %further = udiv i32 %rest, %step
  %count = add i32 %further, 1
  %count.wide = zext i32 %count to i64
  %bytes = mul nuw nsw i64 %count.wide, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %k.next, %loop ]
  %on = mul i32 %threads, %k
  %element = add i32 %thread, %on
  %wide = zext i32 %element to i64
  %to = getelementptr inbounds float, ptr %y, i64 %wide
  store float 1.0, ptr %to
  %k.wide = zext i32 %k to i64
  %slot = getelementptr inbounds float, ptr %kept, i64 %k.wide
  store float 1.0, ptr %slot
  %k.next = add i32 %k, 1
  %done = icmp eq i32 %k.next, %count
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_together(
; CHECK-NOT:     %once
define void @adgen_gradient_together(ptr noalias %y, i32 %n, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const" {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %some = icmp slt i32 %block, %n
  br i1 %some, label %before, label %end
before:
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %way = sub i32 %n, %block
  %rest = sub i32 %way, 1
  %further = udiv i32 %rest, %blocks
  %count = add i32 %further, 1
  %count.wide = zext i32 %count to i64
  %bytes = mul nuw nsw i64 %count.wide, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %k.next, %loop ]
  %on = mul i32 %blocks, %k
  %element = add i32 %block, %on
  %wide = zext i32 %element to i64
  %to = getelementptr inbounds float, ptr %y, i64 %wide
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %to
  %k.wide = zext i32 %k to i64
  %slot = getelementptr inbounds float, ptr %kept, i64 %k.wide
  store float 1.0, ptr %slot
  %k.next = add i32 %k, 1
  %done = icmp eq i32 %k.next, %count
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_nothing(
; CHECK-NOT:     %once
define void @adgen_gradient_nothing(ptr noalias %y, i32 %n, i64 %most, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const:const" {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %some = icmp slt i32 %block, %n
  br i1 %some, label %before, label %end
before:
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %way = sub i32 %n, %block
  %rest = sub i32 %way, 1
  %further = udiv i32 %rest, %blocks
  %count = add i32 %further, 1
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %k.next, %loop ]
  %on = mul i32 %blocks, %k
  %element = add i32 %block, %on
  %wide = zext i32 %element to i64
  %to = getelementptr inbounds float, ptr %y, i64 %wide
  store float 1.0, ptr %to
  %k.next = add i32 %k, 1
  %done = icmp eq i32 %k.next, %count
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_much(
; CHECK-NOT:     %once
define void @adgen_gradient_much(ptr noalias %y, i32 %n, i64 %most, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const:const" {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %some = icmp slt i32 %block, %n
  br i1 %some, label %before, label %end
before:
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %way = sub i32 %n, %block
  %rest = sub i32 %way, 1
  %further = udiv i32 %rest, %blocks
  %count = add i32 %further, 1
  %count.wide = zext i32 %count to i64
  %bytes = mul nuw nsw i64 %count.wide, %most
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %k.next, %loop ]
  %on = mul i32 %blocks, %k
  %element = add i32 %block, %on
  %wide = zext i32 %element to i64
  %to = getelementptr inbounds float, ptr %y, i64 %wide
  store float 1.0, ptr %to
  %k.wide = zext i32 %k to i64
  %first = mul i64 %k.wide, %most
  %slot = getelementptr inbounds float, ptr %kept, i64 %first
  store float 1.0, ptr %slot
  %k.next = add i32 %k, 1
  %done = icmp eq i32 %k.next, %count
  br i1 %done, label %end, label %loop
end:
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

!0 = distinct !{}
!1 = !{}
