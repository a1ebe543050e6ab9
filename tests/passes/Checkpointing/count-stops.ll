; A thread that stops once and for all, in a loop in another loop: a variable has the iteration of both in which it does. Before it, the flag
; that the outer loop carries; how it came out, where it is decided; and how often the inner loop runs in the reverse sweep.
; Not where the flag does not keep the inner loop from running again.
;
; RUN: %opt -passes=adgen-count-stops,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_tiles(
; CHECK:         [[FIRST:%.*]] = select i1 %outside, i64 -1, i64 9223372036854775807
; CHECK-NEXT:    store i64 [[FIRST]], ptr [[OUTER:%.*]], align 8
; CHECK-NEXT:    store i64 9223372036854775807, ptr [[INNER:%.*]], align 8
; CHECK:       tile:
; CHECK-NEXT:    [[O:%.*]] = phi i64
; CHECK-NOT:     phi i1
; CHECK:         [[STOP:%.*]] = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr [[OUTER]], i32 8)
; CHECK-NEXT:    %done = icmp slt i64 [[STOP]], [[O]]
; CHECK-NEXT:    br i1 %done, label %tile.end, label %inner
; CHECK:       inner:
; CHECK:         [[LAST:%.*]] = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr [[INNER]], i32 8)
; CHECK-NEXT:    [[AFTER:%.*]] = add nsw i64 [[LAST]], 1
; CHECK-NEXT:    [[UNTIL:%.*]] = select i1 {{%.*}}, i64 [[AFTER]], i64 9223372036854775807
; CHECK-NEXT:    %times = call i64 @llvm.smin.i64(i64 {{%.*}}, i64 [[UNTIL]])
; CHECK:       loop:
; CHECK-NEXT:    [[K:%.*]] = phi i64
; CHECK:         store i64 {{%.*}}, ptr [[PAST:%.*]], align 8
; CHECK-NEXT:    [[IS:%.*]] = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr [[PAST]], i32 8)
; CHECK-NEXT:    [[BEHIND:%.*]] = icmp ne i64 [[IS]], 0
; CHECK:         br i1 [[BEHIND]], label %[[JOIN:.*]], label %loop.split
; CHECK:         select i1 %stops, i64 [[O]], i64 {{%.*}}, !adgen.outcome
; CHECK:         select i1 %stops, i64 [[K]], i64 {{%.*}}, !adgen.outcome
; CHECK:         store i64 {{%.*}}, ptr [[OUTER]]
; CHECK:         store i64 {{%.*}}, ptr [[INNER]]
; CHECK:         [[AGAIN:%.*]] = and i1
; CHECK-NEXT:    br i1 [[AGAIN]], label %latch, label %adds, !adgen.outcome
; CHECK:       [[JOIN]]:
; CHECK:         icmp eq i64 {{%.*}}, %times
; CHECK:       inner.end:
; CHECK-NEXT:    call void @adgen_undo_forget(ptr %shared, ptr [[PAST]])
define void @adgen_body_tiles(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  br i1 %done.o, label %tile.end, label %inner
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %s = phi float [ %s.o, %inner ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %stops = fcmp olt float %a, 0.0
  br i1 %stops, label %latch, label %adds
adds:
  %more = fadd float %s, %a
  br label %latch
latch:
  %s.next = phi float [ %s, %loop ], [ %more, %adds ]
  %flag = phi i1 [ true, %loop ], [ false, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %last = icmp sge i32 %inc, %n
  %ends = select i1 %flag, i1 true, i1 %last
  br i1 %ends, label %inner.end, label %loop
inner.end:
  br label %tile.end
tile.end:
  %done.end = phi i1 [ %done.o, %tile ], [ %flag, %inner.end ]
  %s.end = phi float [ %s.o, %tile ], [ %s.next, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_runs_again(
; CHECK-NOT:     alloca
define void @adgen_body_runs_again(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %inner.end ]
  %done.o = phi i1 [ false, %entry ], [ %flag, %inner.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.next, %inner.end ]
  br label %loop
loop:
  %k = phi i32 [ 0, %tile ], [ %inc, %latch ]
  %s = phi float [ %s.o, %tile ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %stops = fcmp olt float %a, 0.0
  br i1 %stops, label %latch, label %adds
adds:
  %more = fadd float %s, %a
  br label %latch
latch:
  %s.next = phi float [ %s, %loop ], [ %more, %adds ]
  %flag = phi i1 [ true, %loop ], [ false, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %last = icmp sge i32 %inc, %n
  %ends = select i1 %flag, i1 true, i1 %last
  br i1 %ends, label %inner.end, label %loop
inner.end:
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %s.next, ptr %out
  ret void
}

; How far the thread came in the loop: behind the stop it stays what it was there.
; CHECK-LABEL: define void @adgen_body_uses_count(
; CHECK:       loop:
; CHECK-NEXT:    %[[LAST:.*]] = phi i32 [ 0, %inner ], [ %[[LEFT:.*]], %[[JOIN:.*]] ]
; CHECK:       [[JOIN]]:
; CHECK-NEXT:    %[[LEFT]] = phi i32 [ %inc, %latch ], [ %[[LAST]], %loop ]
; CHECK:       tile.end:
; CHECK:         phi i32 [ %c.o, %tile ], [ %[[LEFT]], %inner.end ]
define void @adgen_body_uses_count(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %c.o = phi i32 [ 0, %entry ], [ %c.end, %tile.end ]
  br i1 %done.o, label %tile.end, label %inner
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %stops = fcmp olt float %a, 0.0
  br i1 %stops, label %latch, label %adds
adds:
  br label %latch
latch:
  %flag = phi i1 [ true, %loop ], [ false, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %last = icmp sge i32 %inc, %n
  %ends = select i1 %flag, i1 true, i1 %last
  br i1 %ends, label %inner.end, label %loop
inner.end:
  br label %tile.end
tile.end:
  %done.end = phi i1 [ %done.o, %tile ], [ %flag, %inner.end ]
  %c.end = phi i32 [ %c.o, %tile ], [ %inc, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store i32 %c.end, ptr %out
  ret void
}

; The loop breaks, and its counter has no sign: the break leads to the latch, with a flag.
; CHECK-LABEL: define void @adgen_body_breaks(
; CHECK:         %times = call i64 @llvm.smin.i64(
; CHECK:       loop:
; CHECK:         br i1 %{{.*}}, label %latch, label %adds, !adgen.outcome
; CHECK:       latch:
; CHECK:         %[[SUM:.*]] = phi float [ %more, %adds ], [ %s, %loop.split ]
; CHECK:       inner.end:
; CHECK:         call void @adgen_undo_forget(
define void @adgen_body_breaks(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  %none = icmp eq i32 %n, 0
  %skips = select i1 %none, i1 true, i1 %done.o
  br i1 %skips, label %tile.end, label %inner
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %s = phi float [ %s.o, %inner ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %goes = fcmp oge float %a, 0.0
  br i1 %goes, label %adds, label %inner.end
adds:
  %more = fadd float %s, %a
  br label %latch
latch:
  %s.next = phi float [ %more, %adds ]
  %inc = add nuw i32 %k, 1
  %on = icmp ult i32 %inc, %n
  br i1 %on, label %loop, label %inner.end
inner.end:
  %s.left = phi float [ %s, %loop ], [ %s.next, %latch ]
  %flag = phi i1 [ true, %loop ], [ false, %latch ]
  br label %tile.end
tile.end:
  %done.end = phi i1 [ %done.o, %tile ], [ %flag, %inner.end ]
  %s.end = phi float [ %s.o, %tile ], [ %s.left, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}

; The number has been multiplied when its iteration stops, and the flag is what it compares as: the loops carry on what that iteration
; began with, and apart from it what it has left.
; CHECK-LABEL: define void @adgen_body_multiplies_first(
; CHECK:       tile:
; CHECK:         %[[KEPT:.*]] = phi float [ 1.0{{.*}}, %entry ], [ %[[KEPTEND:.*]], %tile.end ]
; CHECK:         %t.o = phi float [ 1.0{{.*}}, %entry ], [ %t.end, %tile.end ]
; CHECK:       loop:
; CHECK:         %[[LEFT:.*]] = phi float [ %t.o, %inner ], [ %[[LEFTNEXT:.*]], %[[JOIN:.*]] ]
; CHECK:         %t = phi float [ %[[KEPT]], %inner ], [ %[[NEXT:.*]], %[[JOIN]] ]
; CHECK:         br i1 {{%.*}}, label %[[STOPS:.*]], label %[[GOES:.*]], !adgen.outcome
; CHECK:         phi float [ %t, %[[STOPS]] ], [ %less, %[[GOES]] ]
; CHECK:       tile.end:
; CHECK:         %[[KEPTEND]] = phi float [ %[[KEPT]], %tile ], [ %[[NEXT]], %inner.end ]
; CHECK:         %t.end = phi float [ %t.o, %tile ], [ %[[LEFTNEXT]], %inner.end ]
define void @adgen_body_multiplies_first(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  br i1 %done.o, label %tile.end, label %inner
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %skips = fcmp olt float %a, 0.0
  br i1 %skips, label %latch, label %takes
takes:
  %less = fmul float %t, %a
  %stops = fcmp olt float %less, 0x3F1A36E2E0000000
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %less, %takes ]
  %flag = phi i1 [ false, %loop ], [ %stops, %takes ]
  %inc = add nuw nsw i32 %k, 1
  %last = icmp sge i32 %inc, %n
  %ends = select i1 %last, i1 true, i1 %flag
  br i1 %ends, label %inner.end, label %loop
inner.end:
  %flag.end = phi i1 [ %flag, %latch ]
  %held = call i1 @adgen_hold_i1(i1 %flag.end)
  br label %tile.end
tile.end:
  %done.end = phi i1 [ %done.o, %tile ], [ %held, %inner.end ]
  %t.end = phi float [ %t.o, %tile ], [ %t.next, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; No flag but the number: the loop is run as long as it is above a bound, and left where it comes below.
; CHECK-LABEL: define void @adgen_body_without_flag(
; CHECK-NOT:     fcmp ogt float %t.o
; CHECK:         %done = icmp slt i64
; CHECK:         [[OR:%.*]] = select i1 %done, i1 true, i1 {{%.*}}
; CHECK-NEXT:    br i1 [[OR]], label %tile.end, label %inner
; CHECK:         br i1 {{%.*}}, label %breaks, label %{{.*}}, !adgen.outcome
define void @adgen_body_without_flag(ptr noalias readonly %x, ptr noalias %out, i1 %inside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %above = fcmp ogt float %t.o, 0x3F1A36E2E0000000
  %runs = select i1 %inside, i1 %above, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %less, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %less = fmul float %t, %a
  %stops = fcmp ule float %less, 0x3F1A36E2E0000000
  br i1 %stops, label %inner.end, label %latch
latch:
  %inc = add nuw nsw i32 %k, 1
  %last = icmp eq i32 %inc, %n
  br i1 %last, label %inner.end, label %loop
inner.end:
  %t.left = phi float [ %less, %loop ], [ %less, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; A number that is none would not leave the loop, and not let it run again.
; CHECK-LABEL: define void @adgen_body_neither_above_nor_below(
; CHECK:         %above = fcmp ogt float %t.o
; CHECK-NEXT:    %runs = select i1 %inside, i1 %above, i1 false
; CHECK-NEXT:    br i1 %runs, label %inner, label %tile.end
define void @adgen_body_neither_above_nor_below(ptr noalias readonly %x, ptr noalias %out, i1 %inside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %above = fcmp ogt float %t.o, 0x3F1A36E2E0000000
  %runs = select i1 %inside, i1 %above, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %less, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %less = fmul float %t, %a
  %stops = fcmp ole float %less, 0x3F1A36E2E0000000
  br i1 %stops, label %inner.end, label %latch
latch:
  %inc = add nuw nsw i32 %k, 1
  %last = icmp eq i32 %inc, %n
  br i1 %last, label %inner.end, label %loop
inner.end:
  %t.left = phi float [ %less, %loop ], [ %less, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; A light that fades is always a number.
; CHECK-LABEL: define void @adgen_body_never_none(
; CHECK-NOT:     fcmp ogt float %t.o
; CHECK:         %done = icmp slt i64
define void @adgen_body_never_none(ptr noalias readonly %x, ptr noalias %out, i1 %inside, i32 %n, i32 %m, ptr %shared) {
entry:
  call void @adgen_rule_barrier(ptr %shared)
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %above = fcmp ogt float %t.o, 0x3F1A36E2E0000000
  %runs = select i1 %inside, i1 %above, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %at
  %below = fcmp olt float %given, 0.5
  %a = select i1 %below, float %given, float 0.5
  %seen = fcmp ogt float %a, 0.125
  br i1 %seen, label %adds, label %latch
adds:
  %rest = fsub float 1.0, %a
  %less = fmul float %t, %rest
  %stops = fcmp ole float %less, 0x3F1A36E2E0000000
  br i1 %stops, label %inner.end, label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %less, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %last = icmp eq i32 %inc, %n
  br i1 %last, label %inner.end, label %loop
inner.end:
  %t.left = phi float [ %less, %adds ], [ %t.next, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %again = icmp slt i32 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; The memory of the second pair of pointers is the thread's own.
; CHECK-LABEL: define void @adgen_undo_forget_reverse(
; CHECK:         store i64 0, ptr %2

declare i1 @adgen_hold_i1(i1)

declare void @adgen_rule_barrier(ptr)
