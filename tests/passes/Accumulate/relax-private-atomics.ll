; Elements into which only one thread accumulates, by the proof of the index, get no atomics in a version of the gradient for launches of
; one dimension; the launch decides between this and the version with atomics.
;
; RUN: %opt -passes=adgen-relax-private-atomics,verify -S %s | %filecheck %s --check-prefix=OWN
; RUN: %opt -passes=adgen-relax-private-atomics,verify -S %s | %filecheck %s --check-prefix=KEPT

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; The launch has one dimension, and no more threads than an index of 32 bits can number. Without atomics, the load comes first.
; OWN-LABEL: define void @thread(
; OWN:         [[GRID:%.*]] = zext i32 {{.*}} to i64
; OWN-NEXT:    [[BLOCK:%.*]] = zext i32 {{.*}} to i64
; OWN-NEXT:    [[THREADS:%.*]] = mul i64 [[GRID]], [[BLOCK]]
; OWN-NEXT:    icmp ule i64 [[THREADS]], 2147483647
; OWN-COUNT-4: icmp eq i32 {{.*}}, 1
; OWN:         br i1 {{.*}}, label %own, label %shared
; OWN:       own:
; OWN:         [[AT:%.*]] = getelementptr float, ptr %d_x
; OWN-NEXT:    [[OLD:%.*]] = load float, ptr [[AT]]
; OWN-NEXT:    {{%.*}} = load float, ptr %index
; OWN-NEXT:    store float %v, ptr %index
; OWN-NEXT:    [[NEW:%.*]] = fadd float [[OLD]], %v
; OWN-NEXT:    store float [[NEW]], ptr [[AT]]
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @thread(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %y = load float, ptr %index
  store float %v, ptr %index
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_x, i64 %wide
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; A cotangent that is taken by an exchange is loaded and set to zero where the element is the thread's own.
; OWN-LABEL: define void @taken(
; OWN:       own:
; OWN:         [[OLD:%.*]] = load float, ptr [[AT:%.*]], align 4
; OWN-NEXT:    store float 0.000000e+00, ptr [[AT]], align 4
; OWN-NEXT:    store float [[OLD]], ptr %to
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw xchg

define void @taken(ptr %to, ptr "adgen-shadow" %d_y) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_y, i64 %wide
  %old = atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4, !adgen.consumed !0
  store float %old, ptr %to
  ret void
}

; All threads of a block have stored there, and one of them takes the cotangent.
; KEPT-LABEL: define void @taken_by_one(
; KEPT-NOT:    own:
; KEPT:        atomicrmw xchg

define void @taken_by_one(ptr %to, ptr "adgen-shadow" %d_y) "adgen-shared" "adgen-activity"="const" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %wide = sext i32 %bx to i64
  %at = getelementptr float, ptr %d_y, i64 %wide
  %old = atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4, !adgen.consumed !0
  store float %old, ptr %to
  ret void
}

; Members of the thread's own element. An index of 32 bits numbers a third as many.
; OWN-LABEL: define void @structure(
; OWN:         icmp ule i64 {{.*}}, 715827882
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @structure(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %three = mul nsw i32 %i, 3
  %last = add nsw i32 %three, 2
  %a = getelementptr float, ptr %d_x, i32 %three
  %b = getelementptr float, ptr %d_x, i32 %last
  %1 = atomicrmw fadd ptr %a, float %v monotonic
  %2 = atomicrmw fadd ptr %b, float %v monotonic
  ret void
}

; A width that is a constant holds for blocks that are no wider.
; OWN-LABEL: define void @block_of_constant_size(
; OWN:         icmp ule i32 {{.*}}, 256
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @block_of_constant_size(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %constant = shl i32 %bx, 8
  %j = or disjoint i32 %constant, %tx
  %k = add i32 %j, %n
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; A loop that goes on by all threads of the grid.
; OWN-LABEL: define void @over_the_grid(
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @over_the_grid(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %all = mul i32 %blocks, %size
  br label %loop
loop:
  %k = phi i32 [ %i, %0 ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %k, %all
  %done = icmp sge i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Three rounds of the block's threads, where the next block begins behind the third. They are different elements, so all loads come first.
; OWN-LABEL: define void @rounds(
; OWN:         icmp ule i64 {{.*}}, 715827882
; OWN:       own:
; OWN:         load float
; OWN-NOT:     store
; OWN:         load float
; OWN-NOT:     store
; OWN:         load float
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @rounds(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bases = mul i32 %bx, %size
  %first = mul i32 %bases, 3
  %i = add i32 %first, %tx
  %j = add i32 %i, %size
  %twice = shl i32 %size, 1
  %k = add i32 %i, %twice
  %at = getelementptr float, ptr %d_x, i32 %i
  %next = getelementptr float, ptr %d_x, i32 %j
  %last = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %next, float %v monotonic
  %3 = atomicrmw fadd ptr %last, float %v monotonic
  ret void
}

; The same with blocks of constant size: no wider than what lies between two elements of a thread, and behind the last one.
; OWN-LABEL: define void @rounds_of_constant_size(
; OWN:         icmp ule i32 {{.*}}, 3579139
; OWN:         icmp ule i32 {{.*}}, 256
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @rounds_of_constant_size(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, 600
  %i = add i32 %first, %tx
  %j = add i32 %i, 256
  %at = getelementptr float, ptr %d_x, i32 %i
  %next = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %next, float %v monotonic
  ret void
}

; The rounds as a loop.
; OWN-LABEL: define void @loop_of_rounds(
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @loop_of_rounds(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bases = mul i32 %bx, %size
  %first = shl i32 %bases, 2
  %i = add i32 %first, %tx
  br label %loop
loop:
  %k = phi i32 [ %i, %0 ], [ %next, %loop ]
  %round = phi i32 [ 0, %0 ], [ %more, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %k, %size
  %more = add i32 %round, 1
  %done = icmp uge i32 %more, 4
  br i1 %done, label %end, label %loop
end:
  ret void
}

; The reverse sweep counts its iterations down, from a number that it has kept.
; OWN-LABEL: define void @back_over_the_grid(
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @back_over_the_grid(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %all = mul i32 %blocks, %size
  %kept = load i64, ptr %index
  br label %loop
loop:
  %iv = phi i64 [ %kept, %0 ], [ %next, %loop ]
  %short = trunc i64 %iv to i32
  %rounds = mul i32 %all, %short
  %k = add i32 %rounds, %i
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i64 %iv, -1
  %done = icmp eq i64 %iv, 0
  br i1 %done, label %end, label %loop
end:
  ret void
}

; With a tape, the block's index is an argument.
; OWN-LABEL: define void @walk(
; OWN:       own:
; OWN-NOT:     atomicrmw
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @walk(float %v, ptr "adgen-shadow" %d_x, i64 %room, ptr %begin, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-shared" "adgen-activity"="const" "adgen-tape" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; One array is the thread's own, the other is not.
; OWN-LABEL: define void @one_of_two(
; OWN:       own:
; OWN:         atomicrmw fadd ptr %d_y
; OWN:       shared:
; OWN-COUNT-2: atomicrmw fadd

define void @one_of_two(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %d_y, float %v monotonic
  ret void
}

; The element behind is the next thread's own.
; KEPT-LABEL: define void @neighbours(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @neighbours(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %behind = getelementptr float, ptr %at, i64 1
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %behind, float %v monotonic
  ret void
}

; With a third round, another block's elements.
; KEPT-LABEL: define void @too_many_rounds(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @too_many_rounds(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bases = mul i32 %bx, %size
  %first = mul i32 %bases, 2
  %i = add i32 %first, %tx
  %j = add i32 %i, %size
  %twice = shl i32 %size, 1
  %k = add i32 %i, %twice
  %at = getelementptr float, ptr %d_x, i32 %i
  %next = getelementptr float, ptr %d_x, i32 %j
  %last = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %next, float %v monotonic
  %3 = atomicrmw fadd ptr %last, float %v monotonic
  ret void
}

; The second element is another block's first.
; KEPT-LABEL: define void @rounds_as_wide_as_the_block(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @rounds_as_wide_as_the_block(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, 256
  %i = add i32 %first, %tx
  %j = add i32 %i, 256
  %at = getelementptr float, ptr %d_x, i32 %i
  %next = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %next, float %v monotonic
  ret void
}

; The fifth round is the next block's first, ...
; KEPT-LABEL: define void @loop_of_too_many_rounds(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @loop_of_too_many_rounds(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bases = mul i32 %bx, %size
  %first = shl i32 %bases, 2
  %i = add i32 %first, %tx
  br label %loop
loop:
  %k = phi i32 [ %i, %0 ], [ %next, %loop ]
  %round = phi i32 [ 0, %0 ], [ %more, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %k, %size
  %more = add i32 %round, 1
  %done = icmp uge i32 %more, 5
  br i1 %done, label %end, label %loop
end:
  ret void
}

; ... and so may be that of a loop of unknown length.
; KEPT-LABEL: define void @loop_of_unknown_length(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @loop_of_unknown_length(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bases = mul i32 %bx, %size
  %first = shl i32 %bases, 2
  %i = add i32 %first, %tx
  br label %loop
loop:
  %k = phi i32 [ %i, %0 ], [ %next, %loop ]
  %round = phi i32 [ 0, %0 ], [ %more, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %k, %size
  %more = add i32 %round, 1
  %done = icmp uge i32 %more, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; A number of 8 bits comes back to where it was.
; KEPT-LABEL: define void @narrow(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @narrow(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %short = trunc i32 %i to i8
  %wide = sext i8 %short to i32
  %at = getelementptr float, ptr %d_x, i32 %wide
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; So is the last member of a structure that is larger than the stride.
; KEPT-LABEL: define void @overlapping(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @overlapping(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %two = shl nsw i32 %i, 1
  %at = getelementptr float, ptr %d_x, i32 %two
  %last = getelementptr float, ptr %at, i64 2
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %last, float %v monotonic
  ret void
}

; How far apart these are is not known before the launch.
; KEPT-LABEL: define void @offset_that_differs(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @offset_that_differs(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %other = getelementptr float, ptr %at, i32 %n
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %other, float %v monotonic
  ret void
}

; All blocks add to the same elements.
; KEPT-LABEL: define void @every_block(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @every_block(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %tx
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; A loop that goes on by the threads of a block.
; KEPT-LABEL: define void @by_the_block(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @by_the_block(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %all = mul i32 %blocks, %size
  br label %loop
loop:
  %k = phi i32 [ %i, %0 ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %k, %size
  %done = icmp sge i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; What an array of indices holds may come twice.
; KEPT-LABEL: define void @looked_up(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @looked_up(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %from = getelementptr i32, ptr %index, i32 %i
  %j = load i32, ptr %from
  %at = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Several threads have the same remainder.
; KEPT-LABEL: define void @remainder(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @remainder(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %j = urem i32 %i, %n
  %at = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Where the kernel looks at another axis, it is there for other threads with the same index.
; KEPT-LABEL: define void @two_dimensions(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @two_dimensions(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %at = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; What else is done with the shadow is not looked at.
; KEPT-LABEL: define void @more_than_accumulated(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @more_than_accumulated(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  call void @llvm.memset.p0.i64(ptr %at, i8 0, i64 4, i1 false)
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; A function is no kernel, and has no threads.
; KEPT-LABEL: define void @a_function(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @a_function(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Only gradients.
; KEPT-LABEL: define void @no_gradient(
; KEPT-NOT:     label %own
; KEPT:         atomicrmw fadd
; KEPT:         ret void

define void @no_gradient(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x) "adgen-shared" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; The user says that threads have their own elements, whatever the index.
; KEPT-LABEL: define void @asserted(
; KEPT-NOT:     label %own
; KEPT:         [[AT:%.*]] = getelementptr float, ptr %d_x, i32 %j
; KEPT-NEXT:    [[OLD:%.*]] = load float, ptr [[AT]]
; KEPT-NEXT:    [[NEW:%.*]] = fadd float [[OLD]], %v
; KEPT-NEXT:    store float [[NEW]], ptr [[AT]]
; KEPT-NEXT:    atomicrmw fadd ptr %d_y

define void @asserted(float %v, i32 %n, ptr %index, ptr "adgen-shadow" "adgen-owned" %d_x, ptr "adgen-shadow" %d_y) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %from = getelementptr i32, ptr %index, i32 %i
  %j = load i32, ptr %from
  %at = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %d_y, float %v monotonic
  ret void
}

; A shadow that holds zeros is written without being read where its thread adds to each element once.
; OWN-LABEL: define void @fresh(
; OWN:       own:
; OWN-NOT:     load float
; OWN:         store float %v, ptr
; OWN-NOT:     load float
; OWN:         store float %w, ptr
; OWN:       shared:
; OWN:         atomicrmw fadd

define void @fresh(float %v, float %w, ptr "adgen-shadow" "adgen-fresh" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr [2 x float], ptr %d_x, i32 %i
  atomicrmw fadd ptr %at, float %v monotonic
  %next = getelementptr i8, ptr %at, i64 4
  atomicrmw fadd ptr %next, float %w monotonic
  ret void
}

; Of two additions to one element the first is written; both are on two ways of which a thread goes one.
; OWN-LABEL: define void @fresh_twice(
; OWN:       own:
; OWN-NOT:     load float
; OWN:         store float %v, ptr
; OWN-NEXT:    load float, ptr
; OWN-NEXT:    fadd float
; OWN:       shared:

define void @fresh_twice(float %v, float %w, ptr "adgen-shadow" "adgen-fresh" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  %i = add i32 %first, %tx
  %at = getelementptr float, ptr %d_x, i32 %i
  atomicrmw fadd ptr %at, float %v monotonic
  atomicrmw fadd ptr %at, float %w monotonic
  ret void
}

; OWN-LABEL: define void @fresh_on_either_way(
; OWN:       own:
; OWN-NOT:     load float
; OWN:         store float %v, ptr
; OWN-NOT:     load float
; OWN:         store float %w, ptr
; OWN:       shared:

define void @fresh_on_either_way(float %v, float %w, i1 %which, ptr "adgen-shadow" "adgen-fresh" %d_x) "adgen-shared" "adgen-activity"="const" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %bx, %size
  br i1 %which, label %one, label %other
one:
  %i = add i32 %first, %tx
  br label %join
other:
  %j = add i32 %tx, %first
  %there = getelementptr [2 x float], ptr %d_x, i32 %j, i32 1
  atomicrmw fadd ptr %there, float %v monotonic
  br label %join
join:
  %k = phi i32 [ %i, %one ], [ %j, %other ]
  br i1 %which, label %first_way, label %end
first_way:
  %at = getelementptr [2 x float], ptr %d_x, i32 %k, i32 0
  atomicrmw fadd ptr %at, float %w monotonic
  br label %end
end:
  ret void
}

; In a loop that leads to other elements each time it is written; not in one around it that leads back to the same.
; OWN-LABEL: define void @fresh_over_the_grid(
; OWN:       own:
; OWN-NOT:     load float
; OWN:         store float %v, ptr
; OWN:       shared:

define void @fresh_over_the_grid(float %v, i32 %n, ptr "adgen-shadow" "adgen-fresh" %d_x) "adgen-shared" "adgen-activity"="const" {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = mul i32 %bx, %size
  %start = add i32 %first, %tx
  %stride = mul i32 %blocks, %size
  br label %loop
loop:
  %i = phi i32 [ %start, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %i
  atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %i, %stride
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; OWN-LABEL: define void @fresh_again_and_again(
; OWN:       own:
; OWN:         load float, ptr
; OWN:         fadd float
; OWN:       shared:

define void @fresh_again_and_again(float %v, i32 %n, ptr "adgen-shadow" "adgen-fresh" %d_x) "adgen-shared" "adgen-activity"="const" {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = mul i32 %bx, %size
  %start = add i32 %first, %tx
  %stride = mul i32 %blocks, %size
  br label %around
around:
  %round = phi i32 [ 0, %entry ], [ %rounds, %behind ]
  br label %loop
loop:
  %i = phi i32 [ %start, %around ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i32 %i
  atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %i, %stride
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %behind
behind:
  %rounds = add i32 %round, 1
  %more = icmp slt i32 %rounds, %n
  br i1 %more, label %around, label %end
end:
  ret void
}

!0 = !{}
