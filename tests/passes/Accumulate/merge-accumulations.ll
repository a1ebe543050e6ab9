; Accumulations into one element by one thread become one, where nothing in between may see the element. Shadows overlap nothing.
;
; RUN: %opt -passes=adgen-merge-accumulations -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; Additions may change places with each other, and what touches other memory does not matter.
; CHECK-LABEL: define void @in_a_block(
; CHECK-NEXT:    %at = getelementptr float, ptr %d_x, i64 %i
; CHECK-NEXT:    %next = getelementptr float, ptr %at, i64 1
; CHECK-NEXT:    %b = load float, ptr %x
; CHECK-NEXT:    atomicrmw fadd ptr %next, float %b monotonic
; CHECK-NEXT:    [[SUM:%.*]] = fadd float %a, %b
; CHECK-NEXT:    store float %a, ptr %x
; CHECK-NEXT:    [[ALL:%.*]] = fadd float [[SUM]], 1.0
; CHECK-NEXT:    atomicrmw fadd ptr %at, float [[ALL]] monotonic
; CHECK-NEXT:    ret void
define void @in_a_block(ptr %x, i64 %i, float %a, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
  %at = getelementptr float, ptr %d_x, i64 %i
  %next = getelementptr float, ptr %at, i64 1
  %1 = atomicrmw fadd ptr %at, float %a monotonic
  %b = load float, ptr %x
  %2 = atomicrmw fadd ptr %next, float %b monotonic
  %3 = atomicrmw fadd ptr %at, float %b monotonic
  store float %a, ptr %x
  %4 = atomicrmw fadd ptr %at, float 1.0 monotonic
  ret void
}

; A load that may be of the element, a barrier where the shadow is read elsewhere, a sum that is asked for.
; CHECK-LABEL: define void @seen_in_between(
; CHECK-COUNT-5: atomicrmw fadd
define void @seen_in_between(i64 %i, i64 %j, float %a, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
  %at = getelementptr float, ptr %d_x, i64 %i
  %other = getelementptr float, ptr %d_x, i64 %j
  %1 = atomicrmw fadd ptr %at, float %a monotonic
  %b = load float, ptr %other
  %2 = atomicrmw fadd ptr %at, float %b monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %3 = atomicrmw fadd ptr %at, float %b monotonic
  %old = atomicrmw fadd ptr %at, float %a monotonic
  %4 = atomicrmw fadd ptr %at, float %old monotonic
  ret void
}

; Nobody reads this shadow in the kernel: not even a barrier is in the way.
; CHECK-LABEL: define void @never_read(
; CHECK-COUNT-1: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @never_read(ptr %x, float %a, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
  %1 = atomicrmw fadd ptr %d_x, float %a monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %unknown = load ptr, ptr %x
  %b = load float, ptr %unknown
  %2 = atomicrmw fadd ptr %d_x, float %b monotonic
  ret void
}

; Memory of which less is known is only what it is.
; CHECK-LABEL: define void @no_shadow(
; CHECK-COUNT-2: atomicrmw fadd
define void @no_shadow(ptr %x, float %a, ptr %p) "adgen-activity"="duplicated:const:const" {
  %1 = atomicrmw fadd ptr %p, float %a monotonic
  %b = load float, ptr %x
  %2 = atomicrmw fadd ptr %p, float %b monotonic
  ret void
}

; What this thread has just stored is nobody else's: an addition to it needs no atomic.
; CHECK-LABEL: define void @stored_before(
; CHECK:         %g = load float, ptr %at
; CHECK-NEXT:    %b = load float, ptr %x
; CHECK-NEXT:    [[PART:%.*]] = fmul float %g, %b
; CHECK-NEXT:    [[BOTH:%.*]] = fadd float [[PART]], %b
; CHECK-NEXT:    store float [[BOTH]], ptr %at
; CHECK-NEXT:    ret void
define void @stored_before(ptr %x, i64 %i, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
  %at = getelementptr float, ptr %d_x, i64 %i
  %g = load float, ptr %at
  store float 0.0, ptr %at
  %b = load float, ptr %x
  %part = fmul float %g, %b
  %1 = atomicrmw fadd ptr %at, float %part monotonic
  %2 = atomicrmw fadd ptr %at, float %b monotonic
  ret void
}

; Between the store and the addition, another one may have been to the same element; or the barrier lets others add to it.
; CHECK-LABEL: define void @stored_long_before(
; CHECK-COUNT-3: atomicrmw fadd
define void @stored_long_before(i64 %i, i64 %j, float %a, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const:const" {
  %at = getelementptr float, ptr %d_x, i64 %i
  %other = getelementptr float, ptr %d_x, i64 %j
  store float 0.0, ptr %at
  %1 = atomicrmw fadd ptr %other, float %a monotonic
  %2 = atomicrmw fadd ptr %at, float %a monotonic
  store float 0.0, ptr %other
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %3 = atomicrmw fadd ptr %other, float %a monotonic
  ret void
}

; An element that stays the same is summed in a register. Every iteration adds, so there is an element: one addition behind the loop.
; CHECK-LABEL: define void @in_a_loop(
; CHECK:       loop:
; CHECK-NEXT:    [[REGISTER:%.*]] = phi float [ 0.0{{.*}}, %entry ], [ [[NEW:%.*]], %loop ]
; CHECK-NOT:     atomicrmw fadd ptr %at
; CHECK:         [[NEW]] = fadd float [[REGISTER]], %v
; CHECK:       end:
; CHECK-NEXT:    atomicrmw fadd ptr %at, float [[NEW]] monotonic
define void @in_a_loop(ptr %x, i64 %n, i64 %j, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = load float, ptr %x
  %at = getelementptr float, ptr %d_x, i64 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %moving = getelementptr float, ptr %d_x, i64 %i
  %2 = atomicrmw fadd ptr %moving, float %v monotonic
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Where the loop may end before it adds, it is not known that the element exists: nothing is added then.
; CHECK-LABEL: define void @in_a_loop_sometimes(
; CHECK:       end:
; CHECK:         [[ANY:%.*]] = fcmp une float [[SUM:%.*]], 0.0
; CHECK-NEXT:    br i1 [[ANY]], label %[[ADD:.*]], label %[[REST:.*]]
; CHECK:       [[ADD]]:
; CHECK-NEXT:    atomicrmw fadd ptr %d_x, float [[SUM]] monotonic
; CHECK-NEXT:    br label %[[REST]]
define void @in_a_loop_sometimes(ptr %x, i64 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %v = load float, ptr %x
  %positive = fcmp ogt float %v, 0.0
  br i1 %positive, label %add, label %latch
add:
  %1 = atomicrmw fadd ptr %d_x, float %v monotonic
  br label %latch
latch:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Both loops are left with one addition.
; CHECK-LABEL: define void @in_nested_loops(
; CHECK:       outer:
; CHECK-NOT:     atomicrmw
; CHECK:       end:
; CHECK-NEXT:    atomicrmw fadd ptr %d_x
; CHECK-NEXT:    ret void
define void @in_nested_loops(i64 %n, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %1 = atomicrmw fadd ptr %d_x, float %v monotonic
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %outer.latch, label %inner
outer.latch:
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %end, label %outer
end:
  ret void
}

; The loop looks at the shadow, or waits for others, who do.
; CHECK-LABEL: define void @in_a_loop_that_reads(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %d_x
; CHECK:         br i1 %done, label %end, label %loop
define void @in_a_loop_that_reads(i64 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i64 %i
  %v = load float, ptr %at
  %1 = atomicrmw fadd ptr %d_x, float %v monotonic
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Behind the loop's barriers nobody sees the element, as nothing in the loop looks at the array.
; CHECK-LABEL: define void @in_a_loop_with_barriers(
; CHECK:       loop:
; CHECK:         %sum.0 = phi float
; CHECK-NOT:     atomicrmw
; CHECK:       end:
; CHECK:         atomicrmw fadd ptr %d_tile
define void @in_a_loop_with_barriers(i64 %n, float %v, ptr %tile, ptr %other, ptr "adgen-shared-shadow"="static" %d_tile, ptr "adgen-shared-shadow" %d_other) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 0.0, ptr %d_other
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Another thread may read this element there.
; CHECK-LABEL: define void @where_others_read(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %d_tile
; CHECK:         br i1 %done, label %end, label %loop
define void @where_others_read(i64 %n, float %v, ptr %y, ptr %tile, ptr "adgen-shared-shadow"="static" %d_tile) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = getelementptr float, ptr %d_tile, i64 7
  %seen = load float, ptr %at
  store float %seen, ptr %y
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Another thread may take this element once it has left the loop: the loop's last barrier is what orders the two.
; CHECK-LABEL: define void @where_others_take_it_behind(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %d_tile
; CHECK:         br i1 %done, label %end, label %loop
define void @where_others_take_it_behind(i64 %n, float %v, ptr %y, ptr %tile, ptr "adgen-shared-shadow"="static" %d_tile) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  %at = getelementptr float, ptr %d_tile, i64 7
  %taken = atomicrmw xchg ptr %at, float 0.0 monotonic
  store float %taken, ptr %y
  ret void
}

; Here another barrier does.
; CHECK-LABEL: define void @where_others_wait_behind(
; CHECK:       loop:
; CHECK-NOT:     atomicrmw
; CHECK:       end:
; CHECK:         atomicrmw fadd ptr %d_tile
; CHECK:         call void @llvm.nvvm.barrier
define void @where_others_wait_behind(i64 %n, float %v, ptr %y, ptr %tile, ptr "adgen-shared-shadow"="static" %d_tile) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  br label %behind
behind:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at = getelementptr float, ptr %d_tile, i64 7
  %taken = atomicrmw xchg ptr %at, float 0.0 monotonic
  store float %taken, ptr %y
  ret void
}

; Arrays whose size the launch gives begin at the same place.
; CHECK-LABEL: define void @where_arrays_overlap(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %d_tile
; CHECK:         br i1 %done, label %end, label %loop
define void @where_arrays_overlap(i64 %n, float %v, ptr %tile, ptr %other, ptr "adgen-shared-shadow" %d_tile, ptr "adgen-shared-shadow" %d_other) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 0.0, ptr %d_other
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define void @no_gradient(
; CHECK-COUNT-2: atomicrmw fadd
define void @no_gradient(float %a, ptr "adgen-shadow" %d_x) {
  %1 = atomicrmw fadd ptr %d_x, float %a monotonic
  %2 = atomicrmw fadd ptr %d_x, float %a monotonic
  ret void
}
