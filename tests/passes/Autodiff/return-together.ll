; Where some threads return before a barrier, and those that go on have nothing to do, all threads of the block return.
;
; RUN: %opt -passes='adgen-return-together,verify' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A tile is left out: who is outside of the image goes on, and does nothing.
; CHECK-LABEL: define void @adgen_body_masked(
; CHECK:         br i1 %goes.on, label %asks, label %reads
; CHECK:       reads:
; CHECK:         br i1 %mask, label %asks, label %leaving
; CHECK:       left.out:
; CHECK-NEXT:    ptrtoint ptr [[PLACE:%.*]] to i64
; CHECK:       leaving:
; CHECK-NEXT:    br label %asks
; CHECK:       asks:
; CHECK:         [[PLACE]] = phi ptr [ poison, %entry ], [ %at, %reads ], [ %at, %leaving ]
; CHECK:         [[LEAVES:%.*]] = phi i1 [ false, %entry ], [ false, %reads ], [ true, %leaving ]
; CHECK-NEXT:    [[ANY:%.*]] = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 [[LEAVES]])
; CHECK-NEXT:    br i1 [[ANY]], label %all, label %rest
; CHECK:       all:
; CHECK-NEXT:    br i1 [[LEAVES]], label %left.out, label %returns
; CHECK:       returns:
; CHECK-NEXT:    ret void
define void @adgen_body_masked(ptr readonly %masks, ptr %y, i32 %width, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %inside = icmp slt i32 %t, %width
  %none = icmp eq ptr %masks, null
  %outside = xor i1 %inside, true
  %goes.on = or i1 %none, %outside
  br i1 %goes.on, label %rest, label %reads
reads:
  %at = getelementptr i8, ptr %masks, i32 %block
  %byte = load i8, ptr %at
  %mask = trunc i8 %byte to i1
  br i1 %mask, label %rest, label %left.out
left.out:
  %bits = ptrtoint ptr %at to i64
  %number = uitofp i64 %bits to float
  store float %number, ptr %y
  br label %end
rest:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %tile
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr %tile
  br i1 %inside, label %write, label %end
write:
  %place = getelementptr float, ptr %y, i32 %t
  store float %v, ptr %place
  br label %end
end:
  ret void
}

; Who is outside has something to write, or who goes on has a mask of its own: who would return stays, and waits with the others.
; CHECK-LABEL: define void @adgen_body_counted(
; CHECK:         %stays = phi i1 [ true, %entry ], [ false, %end.leaving ]
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    br label %asks
; CHECK:       asks:
; CHECK-NEXT:    br i1 %stays, label %[[WORK:.*]], label %[[BEHIND:.*]]
; CHECK:       [[WORK]]:
; CHECK-NEXT:    store float 1.0{{.*}}, ptr %y
; CHECK-LABEL: define void @adgen_body_own(
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         br i1 %stays,
; CHECK:         load float, ptr %tile
; A thread may come once more, or lanes of a warp meet: nothing is changed.
; CHECK-LABEL: define void @adgen_body_in_turn(
; CHECK-NOT:     asks:
; CHECK-LABEL: define void @adgen_body_warp(
; CHECK-NOT:     asks:
; A loop over tiles, as long as their list says, which everyone reads: threads ask first whether anyone is there. Who returns has written,
; takes part in no vote, and keeps what there was.
; CHECK-LABEL: define void @adgen_body_tiles(
; CHECK:         br i1 %inside, label %comes, label %out.leaving
; CHECK:       comes:
; CHECK-NEXT:    %stays = phi i1 [ true, %entry ], [ false, %[[LEFT:.*]] ]
; CHECK-NEXT:    [[ANY:%.*]] = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %stays)
; CHECK-NEXT:    br i1 [[ANY]], label %rest, label %all.gone
; CHECK:       rest:
; CHECK:         %n = load i32, ptr %sizes
; CHECK:       walk:
; CHECK:         [[VOTE:%.*]] = select i1 %stays, i1 %done, i1 false
; CHECK-NEXT:    call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 [[VOTE]])
; CHECK:       asks{{.*}}:
; CHECK-NEXT:    br i1 %stays, label %fill, label %filled
; CHECK:       out.leaving:
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %y
; CHECK-NEXT:    br label %end.leaving
define void @adgen_body_counted(ptr %y, i32 %width, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %width
  br i1 %inside, label %end, label %rest
rest:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %y
  br label %end
end:
  ret void
}

define void @adgen_body_own(ptr readonly %masks, ptr %y, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i8, ptr %masks, i32 %t
  %byte = load i8, ptr %at
  %mask = trunc i8 %byte to i1
  br i1 %mask, label %rest, label %end
rest:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr %tile
  store float %v, ptr %y
  br label %end
end:
  ret void
}

; A thread may come once more, and then be inside.
define void @adgen_body_in_turn(ptr %y, i32 %width, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %on ]
  %place = add i32 %k, %t
  %inside = icmp slt i32 %place, %width
  br i1 %inside, label %end, label %rest
rest:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %inside, label %write, label %on
write:
  store float 1.0, ptr %y
  br label %on
on:
  %next = add i32 %k, 32
  br label %loop
end:
  ret void
}

define void @adgen_body_warp(ptr %y, i32 %width, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %width
  br i1 %inside, label %rest, label %end
rest:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr %tile
  %w = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %v, i32 1, i32 31)
  store float %w, ptr %y
  br label %end
end:
  ret void
}

define void @adgen_body_tiles(ptr readonly %sizes, ptr readonly %x, ptr %y, i32 %width, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %width
  br i1 %inside, label %rest, label %out
out:
  store float 0.0, ptr %y
  br label %end
rest:
  %n = load i32, ptr %sizes
  br label %walk
walk:
  %k = phi i32 [ 0, %rest ], [ %next, %filled ]
  %s = phi float [ 0.0, %rest ], [ %more, %filled ]
  %done = fcmp ogt float %s, 9.0
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %done)
  %some = icmp slt i32 %t, %k
  br i1 %some, label %fill, label %filled
fill:
  %from = getelementptr float, ptr %x, i32 %t
  %a = load float, ptr %from
  store float %a, ptr %tile
  br label %filled
filled:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr %tile
  %more = fadd float %s, %v
  %next = add i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %walk, label %write
write:
  %place = getelementptr float, ptr %y, i32 %t
  store float %more, ptr %place
  br label %end
end:
  ret void
}
