; A barrier that begins each iteration of a loop ends the one before it, and one comes before the loop, so that the array which is filled
; behind it can be filled again. Not where threads may leave elsewhere or go apart, or something comes before it.
;
; RUN: %opt -passes=adgen-rotate-barriers -S %s | %filecheck %s
; RUN: %opt -passes=adgen-rotate-barriers,adgen-rematerialize-shared-loads -S %s | %filecheck %s --check-prefix=FILLED
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] undef, align 8

; CHECK-LABEL: define void @adgen_body_steps(
; CHECK:       entry:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    br label %step
; CHECK:       step:
; CHECK-NOT:     adgen_rule_barrier
; CHECK:         store float %v, ptr %mine
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK:       latch:
; CHECK-NOT:     adgen_rule_barrier
; CHECK:         %again = icmp
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    br i1 %again, label %step, label %done

; Of an iteration, in which the barrier behind its reads lies now.
; FILLED-LABEL: define void @adgen_body_steps(
; FILLED:      latch:
; FILLED:        call void @adgen_rule_barrier(ptr %tile)
; FILLED-NEXT:   call void @adgen_rule_refill_steps_0(ptr %tile, ptr %x, i32 %o)
define void @adgen_body_steps(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %row = mul i32 %o, 64
  call void @adgen_rule_barrier(ptr %tile)
  %at.x = add i32 %row, %t
  %from = getelementptr float, ptr %x, i32 %at.x
  %v = load float, ptr %from
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %step ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %step ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %step, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; An iteration that ends with a barrier needs no other one.
; CHECK-LABEL: define void @adgen_body_both(
; CHECK:       entry:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    br label %step
; CHECK:       step:
; CHECK:         store float 1.0
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    br i1
define void @adgen_body_both(i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %step ]
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  call void @adgen_rule_barrier(ptr %tile)
  store float 1.0, ptr %tile
  call void @adgen_rule_barrier(ptr %tile)
  br i1 %again, label %step, label %done
done:
  ret void
}

; The loop is left in its middle as well.
; CHECK-LABEL: define void @adgen_body_left(
; CHECK:       entry:
; CHECK-NEXT:    br label %step
; CHECK:       step:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
define void @adgen_body_left(i32 %n, i1 %enough, ptr %tile) "adgen-shared"="tile" {
entry:
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  call void @adgen_rule_barrier(ptr %tile)
  store float 1.0, ptr %tile
  br i1 %enough, label %done, label %latch
latch:
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %step, label %done
done:
  ret void
}

; Threads do not run the loop alike.
; CHECK-LABEL: define void @adgen_body_apart(
; CHECK:       entry:
; CHECK-NOT:     adgen_rule_barrier
; CHECK:       step:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
define void @adgen_body_apart(ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %step ]
  call void @adgen_rule_barrier(ptr %tile)
  store float 1.0, ptr %tile
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %t
  br i1 %again, label %step, label %done
done:
  ret void
}

; Something is read before the threads meet.
; CHECK-LABEL: define void @adgen_body_read_before(
; CHECK:       entry:
; CHECK-NEXT:    br label %step
; CHECK:       step:
; CHECK:         load float
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
define void @adgen_body_read_before(i32 %n, ptr %y, ptr %tile) "adgen-shared"="tile" {
entry:
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %step ]
  %a = load float, ptr %tile
  call void @adgen_rule_barrier(ptr %tile)
  store float %a, ptr %tile
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %step, label %done
done:
  ret void
}

; Nothing is filled, so nothing would be gained.
; CHECK-LABEL: define void @adgen_body_idle(
; CHECK:       entry:
; CHECK-NEXT:    br label %step
; CHECK:       step:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
define void @adgen_body_idle(i32 %n, ptr %y, ptr %tile) "adgen-shared"="tile" {
entry:
  br label %step
step:
  %o = phi i32 [ 0, %entry ], [ %o.next, %step ]
  call void @adgen_rule_barrier(ptr %tile)
  store float 1.0, ptr %y
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %step, label %done
done:
  ret void
}

; Threads are counted behind the barrier, and may leave the loop then: all of that comes before the loop and ends each iteration. Threads
; that have nothing to fill have nothing in any iteration that comes, so the array is filled again.
; CHECK-LABEL: define void @adgen_body_counted(
; CHECK:       entry:
; CHECK:         call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    [[FIRST:%.*]] = call i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 false)
; CHECK-NEXT:    [[ALL:%.*]] = icmp eq i32 [[FIRST]], 256
; CHECK-NEXT:    br i1 [[ALL]], label %done, label %step
; CHECK:       step:
; CHECK-NOT:     adgen_rule_barrier
; CHECK:         br label %work
; CHECK:       latch:
; CHECK:         br i1 %more, label %[[BACK:.*]], label %done
; CHECK:       [[BACK]]:
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    [[COUNT:%.*]] = call i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %finished)
; CHECK-NEXT:    [[ENDS:%.*]] = icmp eq i32 [[COUNT]], 256
; CHECK-NEXT:    br i1 [[ENDS]], label %done, label %step
;
; FILLED-LABEL: define void @adgen_body_counted(
; FILLED:        call void @adgen_rule_barrier(ptr %tile)
; FILLED:        call void @adgen_rule_barrier(ptr %tile)
; FILLED:        call void @adgen_rule_barrier(ptr %tile)
; FILLED-NEXT:   call void @adgen_rule_refill_counted_0(ptr %tile, ptr %x, i32 %first, i32 %n)
define void @adgen_body_counted(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %lane
  br label %step
step:
  %first = phi i32 [ 0, %entry ], [ %next, %latch ]
  %so.far = phi float [ 0.0, %entry ], [ %sum, %latch ]
  %was = phi i1 [ false, %entry ], [ %finished, %latch ]
  call void @adgen_rule_barrier(ptr %tile)
  %count = call i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %was)
  %all = icmp eq i32 %count, 256
  br i1 %all, label %done, label %work
work:
  %index = add nsw i32 %first, %lane
  %inside = icmp slt i32 %index, %n
  br i1 %inside, label %fills, label %filled
fills:
  %from = getelementptr float, ptr %x, i32 %index
  %v = load float, ptr %from
  store float %v, ptr %mine
  br label %filled
filled:
  call void @adgen_rule_barrier(ptr %tile)
  br label %reads
reads:
  %k = phi i32 [ 0, %filled ], [ %k.next, %reads ]
  %s = phi float [ %so.far, %filled ], [ %sum, %reads ]
  %at = getelementptr float, ptr %tile, i32 %k
  %a = load float, ptr %at
  %square = fmul float %a, %a
  %sum = fadd float %s, %square
  %k.next = add i32 %k, 1
  %read = icmp eq i32 %k.next, 64
  br i1 %read, label %latch, label %reads
latch:
  %finished = icmp sgt i32 %first, 100
  %next = add nsw i32 %first, 64
  %more = icmp slt i32 %next, %n
  br i1 %more, label %step, label %done
done:
  %end = phi float [ %so.far, %step ], [ %sum, %latch ]
  store float %end, ptr %y
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @adgen_hidden_llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1) convergent memory(inaccessiblemem: readwrite)
declare void @adgen_rule_barrier(ptr) convergent
