; Where lanes of a warp may go different ways, a mask names none that have come to the end of the forward sweep. One question is enough
; for what the same lanes do, and it stands before the loop that they run together.
;
; RUN: %opt -passes='adgen-name-participants' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_returned(
; CHECK:         call void @adgen_lanes_begin()
; CHECK:       rest:
; CHECK-NEXT:    [[LANES:%.*]] = call i32 @adgen_lanes_participants(i32 -1)
; CHECK:       loop:
; CHECK-NOT:     adgen_lanes_participants
; CHECK:         call float @llvm.nvvm.shfl.sync.bfly.f32(i32 [[LANES]], float
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 [[LANES]])
; CHECK:         call void @adgen_lanes_leave()
; CHECK-NEXT:    ret void
define void @adgen_body_returned(ptr %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %outside = icmp uge i32 %t, %n
  br i1 %outside, label %end, label %rest
rest:
  %v = load float, ptr %x
  br label %loop
loop:
  %o = phi i32 [ 16, %rest ], [ %half, %loop ]
  %w = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 %o, i32 31)
  store float %w, ptr %x
  %half = lshr i32 %o, 1
  %more = icmp ugt i32 %half, 0
  br i1 %more, label %loop, label %after
after:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  br label %end
end:
  ret void
}

; Behind a loop that lanes leave one by one the same lanes are there as before it.
; CHECK-LABEL: define void @adgen_body_behind_a_loop(
; CHECK:       rest:
; CHECK-NEXT:    [[LANES:%.*]] = call i32 @adgen_lanes_participants(i32 -1)
; CHECK-NOT:     adgen_lanes_participants
; CHECK:         call float @llvm.nvvm.shfl.sync.bfly.f32(i32 [[LANES]], float
define void @adgen_body_behind_a_loop(ptr %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %outside = icmp uge i32 %t, %n
  br i1 %outside, label %end, label %rest
rest:
  br label %loop
loop:
  %i = phi i32 [ %t, %rest ], [ %next, %loop ]
  %next = add i32 %i, 32
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %after
after:
  %v = load float, ptr %x
  %w = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 1, i32 31)
  store float %w, ptr %x
  br label %end
end:
  ret void
}

; What ends a loop comes less often than the rounds of it, and a number that such a loop has counted differs by lane.
; CHECK-LABEL: define void @adgen_body_last_round(
; CHECK:       loop:
; CHECK-NOT:     adgen_lanes_participants
; CHECK:       last:
; CHECK-NEXT:    call i32 @adgen_lanes_participants(i32 -1)
; CHECK:       some:
; CHECK-NEXT:    call i32 @adgen_lanes_participants(i32 -1)
define void @adgen_body_last_round(ptr %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ], [ %next, %last ]
  %next = add i32 %i, 1
  %found = icmp uge i32 %i, %t
  br i1 %found, label %last, label %loop
last:
  %v = load float, ptr %x
  %w = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 1, i32 31)
  store float %w, ptr %x
  %on = fcmp ogt float %w, 0.0
  br i1 %on, label %loop, label %behind
behind:
  %few = icmp ult i32 %i, 7
  br i1 %few, label %some, label %end
some:
  %u = load float, ptr %x
  %r = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %u, i32 1, i32 31)
  store float %r, ptr %x
  br label %end
end:
  ret void
}

; In a loop that lanes leave one by one, each round asks.
; CHECK-LABEL: define void @adgen_body_one_by_one(
; CHECK:       round:
; CHECK:         [[ROUND:%.*]] = call i32 @adgen_lanes_participants(i32 -1)
; CHECK:         call float @llvm.nvvm.shfl.sync.bfly.f32(i32 [[ROUND]], float
define void @adgen_body_one_by_one(ptr %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %round ]
  %more = icmp ult i32 %i, %t
  br i1 %more, label %round, label %end
round:
  %v = load float, ptr %x
  %w = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 1, i32 31)
  store float %w, ptr %x
  %next = add i32 %i, 1
  br label %loop
end:
  ret void
}

; Where all threads go the same way, and where a mask was asked for, nothing changes.
; CHECK-LABEL: define void @adgen_body_together(
; CHECK-NOT:     adgen_lanes
; CHECK:         ret void
define void @adgen_body_together(ptr %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %all = icmp ugt i32 %n, 3
  br i1 %all, label %yes, label %end
yes:
  %v = load float, ptr %x
  %w = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %v, i32 1, i32 31)
  store float %w, ptr %x
  %few = icmp ult i32 %t, 7
  br i1 %few, label %asked, label %end
asked:
  %mask = call i32 @llvm.nvvm.activemask()
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  br label %end
end:
  ret void
}

; Before lanes ask who is there they meet, where all threads come; not where some have gone another way.
; CHECK-LABEL: define void @adgen_body_asked(
; CHECK:       all:
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NEXT:    call i32 @llvm.nvvm.activemask()
; CHECK:       some:
; CHECK-NEXT:    call i32 @llvm.nvvm.activemask()
define void @adgen_body_asked(ptr %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %t, %n
  br i1 %inside, label %one, label %all
one:
  store float 1.0, ptr %x
  br label %all
all:
  %every = call i32 @llvm.nvvm.activemask()
  store i32 %every, ptr %x
  br i1 %inside, label %some, label %end
some:
  %few = call i32 @llvm.nvvm.activemask()
  store i32 %few, ptr %x
  br label %end
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.activemask()

; Lanes that exchange values by volatile shared memory wait for all that have not returned, but inside of a condition.
; CHECK-LABEL: define void @adgen_body_exchange(
; CHECK:         br i1 %leaves, label %end, label %work
; CHECK:       work:
; CHECK:         %[[THERE:.*]] = call i32 @adgen_lanes_participants(i32 -1)
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 %[[THERE]])
; CHECK-NEXT:    store volatile float %v, ptr addrspace(3) %own
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 %[[THERE]])
; CHECK-NEXT:    br i1 %upper, label %add, label %out
; CHECK:       add:
; CHECK-NOT:     bar.warp.sync
; CHECK:       out:
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 %[[THERE]])
; CHECK-NEXT:    load volatile float
; CHECK:       end:
; CHECK-NEXT:    call void @adgen_lanes_leave()
@exchanged = internal addrspace(3) global [64 x float] undef
define void @adgen_body_exchange(ptr %x, i32 %n) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %leaves = icmp sge i32 %lane, %n
  br i1 %leaves, label %end, label %work
work:
  %own = getelementptr float, ptr addrspace(3) @exchanged, i32 %lane
  %at = getelementptr float, ptr %x, i32 %lane
  %v = load float, ptr %at
  store volatile float %v, ptr addrspace(3) %own
  %upper = icmp sge i32 %lane, 1
  br i1 %upper, label %add, label %out
add:
  %below = sub i32 %lane, 1
  %from = getelementptr float, ptr addrspace(3) @exchanged, i32 %below
  %theirs = load volatile float, ptr addrspace(3) %from
  store volatile float %theirs, ptr addrspace(3) %own
  br label %out
out:
  %last = load volatile float, ptr addrspace(3) %own
  store float %last, ptr %at
  br label %end
end:
  ret void
}

; A switch that tells how a loop was left, as of `goto`, takes its cases alone: no lane returns there, and all meet behind.
; One whose number may be another stays open.
; CHECK-LABEL: define void @adgen_body_left(
; CHECK:         switch i32 %why, label %nowhere [
; CHECK:       out:
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK:       nowhere:
; CHECK-NEXT:    unreachable
; CHECK-LABEL: define void @adgen_body_open(
; CHECK:         switch i32 %why, label %end [
define void @adgen_body_left(ptr %x, i32 %n) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr float, ptr addrspace(3) @exchanged, i32 %lane
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %on ]
  %more = icmp slt i32 %k, %n
  br i1 %more, label %inside, label %left
inside:
  %goes = icmp eq i32 %k, %lane
  br i1 %goes, label %told, label %on.first
on.first:
  br label %told
told:
  %how = phi i32 [ 8, %inside ], [ 5, %on.first ]
  %stays = icmp eq i32 %how, 5
  br i1 %stays, label %on, label %left
on:
  %next = add i32 %k, 1
  br label %loop
left:
  %why = phi i32 [ 2, %loop ], [ %how, %told ]
  switch i32 %why, label %end [
    i32 2, label %two
    i32 8, label %out
  ]
two:
  store float 1.0, ptr %x
  br label %out
out:
  store volatile float 2.0, ptr addrspace(3) %own
  br label %end
end:
  ret void
}
define void @adgen_body_open(ptr %x, i32 %n) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr float, ptr addrspace(3) @exchanged, i32 %lane
  %few = icmp slt i32 %lane, 3
  br i1 %few, label %left, label %other
other:
  br label %left
left:
  %why = phi i32 [ 2, %entry ], [ 5, %other ]
  switch i32 %why, label %end [
    i32 2, label %two
    i32 8, label %out
  ]
two:
  store float 1.0, ptr %x
  br label %out
out:
  store volatile float 2.0, ptr addrspace(3) %own
  br label %end
end:
  ret void
}
