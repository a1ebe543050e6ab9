; A thread that has nothing more to do in a loop, nor in its next run: a flag that the loop around hands on leaves the
; loop and keeps it from running, whether the source continues by a flag, asks a number where the loop ends, or breaks
; by what the iteration began with. Not where an iteration that would not break changes something before it asks.
;
; RUN: %opt -passes=adgen-name-stops,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_skips(
; CHECK:       tile:
; CHECK:         [[NOT:%.*]] = icmp sle i32 %n, 0
; CHECK-NEXT:    [[SKIPS:%.*]] = select i1 %done.o, i1 true, i1 [[NOT]]
; CHECK-NEXT:    br i1 [[SKIPS]], label %tile.end, label %inner
; CHECK:       loop:
; CHECK-NOT:     phi i1
; CHECK-NOT:     br i1 %done
; CHECK:       latch:
; CHECK:         %done.next = phi i1 [ true, %loop ], [ false, %adds ]
; CHECK:         [[ENDS:%.*]] = icmp sge i32 %inc, %n
; CHECK-NEXT:    [[LEAVES:%.*]] = select i1 %done.next, i1 true, i1 [[ENDS]]
; CHECK-NEXT:    br i1 [[LEAVES]], label %inner.end, label %loop
define void @adgen_body_skips(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  call void @adgen_rule_barrier(ptr %shared)
  %runs = icmp sgt i32 %n, 0
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %done = phi i1 [ %done.o, %inner ], [ %done.next, %latch ]
  %s = phi float [ %s.o, %inner ], [ %s.next, %latch ]
  br i1 %done, label %latch, label %asks
asks:
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %stops = fcmp olt float %a, 0.0
  br i1 %stops, label %latch, label %adds
adds:
  %more = fadd float %s, %a
  br label %latch
latch:
  %s.next = phi float [ %s, %loop ], [ %more, %adds ], [ %s, %asks ]
  %done.next = phi i1 [ true, %loop ], [ false, %adds ], [ true, %asks ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  br i1 %goes, label %loop, label %inner.end
inner.end:
  %s.left = phi float [ %s.next, %latch ]
  %done.left = phi i1 [ %done.next, %latch ]
  br label %tile.end
tile.end:
  %s.end = phi float [ %s.o, %tile ], [ %s.left, %inner.end ]
  %done.end = phi i1 [ %done.o, %tile ], [ %done.left, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_asks(
; CHECK:       tile:
; CHECK:         %stopped = phi i1 [ false, %entry ], [ [[HANDED:%.*]], %next ]
; CHECK:         [[SKIPS:%.*]] = select i1 %stopped, i1 true, i1 {{%.*}}
; CHECK-NEXT:    br i1 [[SKIPS]], label %tile.end, label %inner
; CHECK:         [[LESS:%.*]] = fcmp ult float %left, 1.250000e-01
; CHECK:       latch:
; CHECK:         %stops = phi i1 [ false, %loop ], [ [[LESS]], %adds ]
; CHECK-NOT:     fcmp
; CHECK:         select i1 %stops, i1 true, i1 {{%.*}}
; CHECK:         [[HANDED]] = phi i1 [ %stopped, %tile ], [ {{%.*}}, %inner.end ]
; CHECK-NOT:     fcmp
; CHECK:         call void @count(i1 [[HANDED]])
; CHECK-NEXT:    call void @count(i1 [[HANDED]])
; CHECK-NEXT:    [[OTHERWISE:%.*]] = fcmp olt float %t.end, 1.250000e-01
; CHECK-NEXT:    call void @count(i1 [[OTHERWISE]])
define void @adgen_body_asks(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %next ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %next ]
  call void @adgen_rule_barrier(ptr %shared)
  %any = icmp sgt i32 %n, 0
  %lit = fcmp oge float %t.o, 0.125
  %runs = select i1 %any, i1 %lit, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %least = fcmp olt float %a, 0.0
  br i1 %least, label %latch, label %adds
adds:
  %left = fmul float %t, %a
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %left, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  %lit.next = fcmp oge float %t.next, 0.125
  %on = select i1 %goes, i1 %lit.next, i1 false
  br i1 %on, label %loop, label %inner.end
inner.end:
  %t.left = phi float [ %t.next, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %dark = fcmp ult float %t.end, 0.125
  call void @count(i1 %dark)
  %never.none = fcmp nnan olt float %t.end, 0.125
  call void @count(i1 %never.none)
  %none.is.not = fcmp olt float %t.end, 0.125
  call void @count(i1 %none.is.not)
  %all = call i1 @all()
  br i1 %all, label %end, label %next
next:
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; The light is never none, as no layer is darker than a half: both comparisons say the same.
; CHECK-LABEL: define void @adgen_body_fades(
; CHECK:         [[FADED:%.*]] = phi i1 [ %stopped, %tile ], [ {{%.*}}, %inner.end ]
; CHECK-NOT:     fcmp
; CHECK:         call void @count(i1 [[FADED]])
; CHECK-NEXT:    call void @count(i1 [[FADED]])
define void @adgen_body_fades(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %next ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %next ]
  call void @adgen_rule_barrier(ptr %shared)
  %any = icmp sgt i32 %n, 0
  %lit = fcmp oge float %t.o, 0.125
  %runs = select i1 %any, i1 %lit, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %at
  %large = fcmp oge float %given, 0.5
  %none = fcmp uno float %given, 0.0
  %most = or i1 %large, %none
  %a = select i1 %most, float 0.5, float %given
  %least = fcmp olt float %a, 0.125
  br i1 %least, label %latch, label %adds
adds:
  %rest = fsub float 1.0, %a
  %left = fmul float %t, %rest
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %left, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  %lit.next = fcmp oge float %t.next, 0.125
  %on = select i1 %goes, i1 %lit.next, i1 false
  br i1 %on, label %loop, label %inner.end
inner.end:
  %t.left = phi float [ %t.next, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %dark = fcmp ult float %t.end, 0.125
  call void @count(i1 %dark)
  %none.is.not = fcmp olt float %t.end, 0.125
  call void @count(i1 %none.is.not)
  %all = call i1 @all()
  br i1 %all, label %end, label %next
next:
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_breaks(
; CHECK:         [[STOPPED:%.*]] = phi i1 [ false, %entry ], [ {{%.*}}, %next ]
; CHECK:         select i1 [[STOPPED]], i1 true, i1 {{%.*}}
; CHECK:       asks:
; CHECK-NOT:     br i1
; CHECK:         fcmp olt float %left, 1.250000e-01
define void @adgen_body_breaks(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %next ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %next ]
  call void @adgen_rule_barrier(ptr %shared)
  %runs = icmp sgt i32 %n, 0
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %least = fcmp olt float %a, 0.0
  br i1 %least, label %latch, label %asks
asks:
  %dark = fcmp olt float %t, 0.125
  br i1 %dark, label %inner.end, label %adds
adds:
  %left = fmul float %t, %a
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %left, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  br i1 %goes, label %loop, label %inner.end
inner.end:
  %t.left = phi float [ %t.next, %latch ], [ %t, %asks ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %all = call i1 @all()
  br i1 %all, label %end, label %next
next:
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

; A sum goes on growing before the light is asked: what it is depends on where the loop breaks.
; CHECK-LABEL: define void @adgen_body_changes(
; CHECK-NOT:     stopped
; CHECK:         br i1 %dark, label %inner.end, label %adds
define void @adgen_body_changes(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %next ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %next ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %next ]
  call void @adgen_rule_barrier(ptr %shared)
  %runs = icmp sgt i32 %n, 0
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %s = phi float [ %s.o, %inner ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %s.next = fadd float %s, %a
  %least = fcmp olt float %a, 0.0
  br i1 %least, label %latch, label %asks
asks:
  %dark = fcmp olt float %t, 0.125
  br i1 %dark, label %inner.end, label %adds
adds:
  %left = fmul float %t, %a
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %left, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  br i1 %goes, label %loop, label %inner.end
inner.end:
  %t.left = phi float [ %t.next, %latch ], [ %t, %asks ]
  %s.left = phi float [ %s.next, %latch ], [ %s, %asks ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %s.end = phi float [ %s.o, %tile ], [ %s.left, %inner.end ]
  %all = call i1 @all()
  br i1 %all, label %end, label %next
next:
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  %both = fadd float %t.end, %s.end
  store float %both, ptr %out
  ret void
}

; All tiles are run, whichever threads have stopped.
; CHECK-LABEL: define void @adgen_body_runs_on(
; CHECK:         %stopped = phi i1 [ false, %entry ], [ {{%.*}}, %tile.end ]
; CHECK:         select i1 %stopped, i1 true, i1 {{%.*}}
; CHECK:         %stops = phi i1
; CHECK:         select i1 %stops, i1 true, i1 {{%.*}}
define void @adgen_body_runs_on(ptr noalias readonly %x, ptr noalias %out, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  call void @adgen_rule_barrier(ptr %shared)
  %any = icmp sgt i32 %n, 0
  %lit = fcmp oge float %t.o, 0.125
  %runs = select i1 %any, i1 %lit, i1 false
  br i1 %runs, label %inner, label %tile.end
inner:
  br label %loop
loop:
  %k = phi i32 [ 0, %inner ], [ %inc, %latch ]
  %t = phi float [ %t.o, %inner ], [ %t.next, %latch ]
  %at = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %at
  %least = fcmp olt float %a, 0.0
  br i1 %least, label %latch, label %adds
adds:
  %left = fmul float %t, %a
  br label %latch
latch:
  %t.next = phi float [ %t, %loop ], [ %left, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  %lit.next = fcmp oge float %t.next, 0.125
  %on = select i1 %goes, i1 %lit.next, i1 false
  br i1 %on, label %loop, label %inner.end
inner.end:
  %t.left = phi float [ %t.next, %latch ]
  br label %tile.end
tile.end:
  %t.end = phi float [ %t.o, %tile ], [ %t.left, %inner.end ]
  %dark = fcmp ult float %t.end, 0.125
  call void @count(i1 %dark)
  %never.none = fcmp nnan olt float %t.end, 0.125
  call void @count(i1 %never.none)
  %none.is.not = fcmp olt float %t.end, 0.125
  call void @count(i1 %none.is.not)
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %t.end, ptr %out
  ret void
}

declare i1 @all()
declare void @adgen_rule_barrier(ptr)
declare void @count(i1)

; A flag that says as long as there is something to do, in conditions that are false where it is.
; CHECK-LABEL: define void @adgen_body_runs(
; CHECK:       tile:
; CHECK:         [[DONE:%.*]] = phi i1 [ [[OUTSIDE:%.*]], %entry ], [ [[NEXT:%.*]], %tile.end ]
; CHECK:         [[NOT:%.*]] = icmp sle i32 %n, 0
; CHECK-NEXT:    [[SKIPS:%.*]] = select i1 [[DONE]], i1 true, i1 [[NOT]]
; CHECK-NEXT:    br i1 [[SKIPS]], label %tile.end, label %inner
; CHECK:       loop:
; CHECK:         [[STOPS:%.*]] = phi i1 [ true, %loop ], [ false, %adds ]
; CHECK:         [[ENDS:%.*]] = icmp sge i32 %inc, %n
; CHECK-NEXT:    [[LEAVES:%.*]] = select i1 [[STOPS]], i1 true, i1 [[ENDS]]
; CHECK-NEXT:    br i1 [[LEAVES]], label %inner.end, label %loop
define void @adgen_body_runs(ptr noalias readonly %x, ptr noalias %out, i1 %inside, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %active.o = phi i1 [ %inside, %entry ], [ %active.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  call void @adgen_rule_barrier(ptr %shared)
  %any = icmp sgt i32 %n, 0
  %runs = select i1 %active.o, i1 %any, i1 false
  br i1 %runs, label %inner, label %tile.end
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
  %active = phi i1 [ false, %loop ], [ true, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %goes = icmp slt i32 %inc, %n
  %on = select i1 %active, i1 %goes, i1 false
  br i1 %on, label %loop, label %inner.end
inner.end:
  br label %tile.end
tile.end:
  %s.end = phi float [ %s.o, %tile ], [ %s.next, %inner.end ]
  %active.end = phi i1 [ %active.o, %tile ], [ %active, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}

; `if (done) continue;` in front of the loop, and `!done && ...` in it; behind it, that it was left by its counter is
; what the flag is not.
; CHECK-LABEL: define void @adgen_body_follows(
; CHECK:         [[ANY:%.*]] = icmp sle i32 %n, 0
; CHECK-NEXT:    [[SKIPS:%.*]] = select i1 %done.o, i1 true, i1 [[ANY]]
; CHECK-NEXT:    br i1 [[SKIPS]], label %tile.end, label %inner
; CHECK:       tile.end:
; CHECK:         %done.end = phi i1 [ %done.o, %tile ], [ %done, %{{.*}} ]
define void @adgen_body_follows(ptr noalias readonly %x, ptr noalias %out, i1 %outside, i32 %n, i32 %m, ptr %shared) {
entry:
  br label %tile
tile:
  %o = phi i32 [ 0, %entry ], [ %o.inc, %tile.end ]
  %done.o = phi i1 [ %outside, %entry ], [ %done.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  call void @adgen_rule_barrier(ptr %shared)
  br i1 %done.o, label %tile.end, label %asks
asks:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %inner, label %tile.end
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
  %done = phi i1 [ true, %loop ], [ false, %adds ]
  %inc = add nuw nsw i32 %k, 1
  %counts = icmp sge i32 %inc, %n
  %leaves = or i1 %counts, %done
  br i1 %leaves, label %inner.end, label %loop
inner.end:
  %goes = xor i1 %counts, true
  %told = or i1 %done, %goes
  br label %tile.end
tile.end:
  %s.end = phi float [ %s.o, %tile ], [ %s.o, %asks ], [ %s.next, %inner.end ]
  %done.end = phi i1 [ true, %tile ], [ false, %asks ], [ %told, %inner.end ]
  %o.inc = add nuw nsw i32 %o, 1
  %more.tiles = icmp slt i32 %o.inc, %m
  br i1 %more.tiles, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}
