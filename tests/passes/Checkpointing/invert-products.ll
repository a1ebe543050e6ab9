; What a loop multiplies, and leaves before it comes near zero, moves to a variable that calls with a derivative change in the reverse sweep:
; one where the iteration ends, one where it has multiplied. Whether the loop is left is read from the variable as well. A loop in another
; one keeps the number, and what was found, behind it.
; Where nothing keeps the number from zero, the variable has it as a fraction, a power of two, and how many factors came since it was zero.
; Not in a loop in another one where that is so, where the number decides about more than the loop's end, where the factor is not known again, where
; another iteration uses what was computed from it, and where no derivative needs it.
;
; RUN: %opt -passes=adgen-invert-products,verify -S %s | %filecheck %s
; RUN: %opt -passes="function(lcssa),adgen-invert-products,verify" -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_ray(
; CHECK:         %carried = alloca [4 x float]
; CHECK:         store float 1.000000e+00, ptr %carried
; CHECK:       loop:
; CHECK-NOT:     %through
; CHECK:         [[T:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:         %rest = fmul float [[T]], %f
; CHECK:         [[FOUND:%.*]] = select i1 %opaque, float 1.000000e+00, float 0.000000e+00
; CHECK:         store float [[FOUND]], ptr [[PLACE:%.*]]
; CHECK:         [[AGAIN:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(
; CHECK-NEXT:    [[LEAVES:%.*]] = fcmp une float [[AGAIN]], 0.000000e+00
; CHECK:         %ends = or i1 [[LEAVES]], %last
; CHECK-NEXT:    [[BITS:%.*]] = bitcast float %f to i32, !enzyme_inactive_val
; CHECK-NEXT:    call void @adgen_undo_divide_f32_1(ptr %carried, i32 [[BITS]])
; CHECK-NEXT:    call void @adgen_undo_step_f32_1(ptr %carried)
; CHECK-NEXT:    br i1 %ends,
; CHECK:         store float %rest, ptr %carried
; CHECK-NEXT:    br label %loop
; CHECK-NOT:     adgen_undo_keep
; CHECK:         store float [[HELD:%.*]], ptr %out
define void @adgen_body_ray(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  %s = phi float [ %more, %loop ]
  store float %s, ptr %out
  ret void
}

; A literal in C++ is a double: the product is made in that type and rounded, and so is the factor.
; CHECK-LABEL: define void @adgen_body_literal(
; CHECK:         [[T:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:         [[FACTOR:%.*]] = fptrunc double %f to float
; CHECK-NEXT:    %rest = fptrunc double %product to float
; CHECK:         [[BITS:%.*]] = bitcast float [[FACTOR]] to i32, !enzyme_inactive_val
; CHECK-NEXT:    call void @adgen_undo_divide_f32_1(ptr %carried, i32 [[BITS]])
define void @adgen_body_literal(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  %wide.a = fpext float %a to double
  %f = fsub double 1.0, %wide.a
  %wide = fpext float %through to double
  %product = fmul double %f, %wide
  %rest = fptrunc double %product to float
  %wide.rest = fpext float %rest to double
  %opaque = fcmp olt double %wide.rest, 1.0e-3
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  %s = phi float [ %more, %loop ]
  store float %s, ptr %out
  ret void
}

; Only on the way where it is multiplied, which a comparison of the product keeps from zero.
; CHECK-LABEL: define void @adgen_body_tiles(
; CHECK:       blends:
; CHECK:         [[BITS:%.*]] = bitcast float %f to i32, !enzyme_inactive_val
; CHECK-NEXT:    call void @adgen_undo_divide_f32_1(ptr %carried, i32 [[BITS]])
; CHECK-NEXT:    br label %met
; CHECK:       latch:
; CHECK-NOT:     adgen_undo_divide
; CHECK:         call void @adgen_undo_step_f32_1(ptr %carried)
; CHECK-NEXT:    br i1 %ends,
; CHECK:       tile.end:
; CHECK:         call void @adgen_undo_keep_0_f32_1(ptr %carried)
; CHECK-NEXT:    call void @adgen_undo_keep_3_f32_1(ptr %carried)
define void @adgen_body_tiles(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %m) {
entry:
  br label %tile
tile:
  %o = phi i64 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  br label %loop
loop:
  %i = phi i64 [ 0, %tile ], [ %inc, %latch ]
  %through = phi float [ %t.o, %tile ], [ %t.next, %latch ]
  %sum = phi float [ %s.o, %tile ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %seen = fcmp ogt float %a, 0x3F70101020000000
  br i1 %seen, label %tests, label %latch
tests:
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  br i1 %opaque, label %met, label %blends
blends:
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  br label %met
met:
  %t.met = phi float [ %through, %tests ], [ %rest, %blends ]
  %s.met = phi float [ %sum, %tests ], [ %more, %blends ]
  %done.met = phi i1 [ true, %tests ], [ false, %blends ]
  br label %latch
latch:
  %t.next = phi float [ %through, %loop ], [ %t.met, %met ]
  %s.next = phi float [ %sum, %loop ], [ %s.met, %met ]
  %done = phi i1 [ false, %loop ], [ %done.met, %met ]
  %inc = add i64 %i, 1
  %last = icmp sge i64 %inc, %n
  %ends = select i1 %done, i1 true, i1 %last
  br i1 %ends, label %tile.end, label %loop
tile.end:
  %t.end = phi float [ %t.next, %latch ]
  %s.end = phi float [ %s.next, %latch ]
  %o.inc = add i64 %o, 1
  %again = icmp slt i64 %o.inc, %m
  br i1 %again, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}

; A comparison that stops the thread for good stands before the product: it is divided in each iteration, and the loop around hands it on.
; CHECK-LABEL: define void @adgen_body_stops(
; CHECK:         %carried = alloca [1 x float]
; CHECK:       blends:
; CHECK:         call void @adgen_undo_divide_f32_always(ptr %carried, i32
; CHECK-NEXT:    store float %rest, ptr %carried
; CHECK-NOT:     adgen_undo_
; CHECK:         ret void
define void @adgen_body_stops(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %m) {
entry:
  %stop = alloca i64
  store i64 -1, ptr %stop
  br label %tile
tile:
  %o = phi i64 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  br label %loop
loop:
  %i = phi i64 [ 0, %tile ], [ %inc, %latch ]
  %through = phi float [ %t.o, %tile ], [ %t.next, %latch ]
  %sum = phi float [ %s.o, %tile ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %was = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr %stop, i32 8)
  %is = select i1 %opaque, i64 %i, i64 %was, !adgen.outcome !0
  store i64 %is, ptr %stop
  %read = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr %stop, i32 8)
  %again = icmp eq i64 %read, %i
  br i1 %again, label %latch, label %blends, !adgen.outcome !0
blends:
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  br label %latch
latch:
  %t.next = phi float [ %through, %loop ], [ %rest, %blends ]
  %s.next = phi float [ %sum, %loop ], [ %more, %blends ]
  %inc = add i64 %i, 1
  %last = icmp sge i64 %inc, %n
  br i1 %last, label %tile.end, label %loop
tile.end:
  %t.end = phi float [ %t.next, %latch ]
  %s.end = phi float [ %s.next, %latch ]
  %o.inc = add i64 %o, 1
  %on = icmp slt i64 %o.inc, %m
  br i1 %on, label %tile, label %end
end:
  store float %s.end, ptr %out
  ret void
}
!0 = !{}

; What was summed up with it may be needed behind all loops, as a mean is, where it is kept.
; CHECK-LABEL: define void @adgen_body_shared_out(
; CHECK:         call void @adgen_undo_divide_f32_always(ptr %carried, i32
; CHECK:       {{^end:}}
; CHECK-DAG:     [[LEFT:%.*]] = phi float [ %s.end, %tile.end ]
; CHECK-DAG:     [[THROUGH:%.*]] = phi float [ %t.end, %tile.end ]
; CHECK:         store float [[LEFT]], ptr [[HELD:%.*]], align 4
; CHECK-NEXT:    call void @adgen_pin_variable(ptr [[HELD]])
; CHECK-NEXT:    [[KEPT:%.*]] = load float, ptr [[HELD]]
; CHECK-NEXT:    store float [[THROUGH]], ptr [[HELD_THROUGH:%.*]], align 4
; CHECK-NEXT:    call void @adgen_pin_variable(ptr [[HELD_THROUGH]])
; CHECK-NEXT:    [[KEPT_THROUGH:%.*]] = load float, ptr [[HELD_THROUGH]]
; CHECK-NEXT:    fdiv float [[KEPT]], [[KEPT_THROUGH]]
define void @adgen_body_shared_out(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %m) {
entry:
  %stop = alloca i64
  store i64 -1, ptr %stop
  br label %tile
tile:
  %o = phi i64 [ 0, %entry ], [ %o.inc, %tile.end ]
  %t.o = phi float [ 1.0, %entry ], [ %t.end, %tile.end ]
  %s.o = phi float [ 0.0, %entry ], [ %s.end, %tile.end ]
  br label %loop
loop:
  %i = phi i64 [ 0, %tile ], [ %inc, %latch ]
  %through = phi float [ %t.o, %tile ], [ %t.next, %latch ]
  %sum = phi float [ %s.o, %tile ], [ %s.next, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %was = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr %stop, i32 8)
  %is = select i1 %opaque, i64 %i, i64 %was, !adgen.outcome !0
  store i64 %is, ptr %stop
  %read = call i64 @llvm.nvvm.ldu.global.i.i64.p0(ptr %stop, i32 8)
  %again = icmp eq i64 %read, %i
  br i1 %again, label %latch, label %blends, !adgen.outcome !0
blends:
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  br label %latch
latch:
  %t.next = phi float [ %through, %loop ], [ %rest, %blends ]
  %s.next = phi float [ %sum, %loop ], [ %more, %blends ]
  %inc = add i64 %i, 1
  %last = icmp sge i64 %inc, %n
  br i1 %last, label %tile.end, label %loop
tile.end:
  %t.end = phi float [ %t.next, %latch ]
  %s.end = phi float [ %s.next, %latch ]
  %o.inc = add i64 %o, 1
  %on = icmp slt i64 %o.inc, %m
  br i1 %on, label %tile, label %end
end:
  %mean = fdiv float %s.end, %t.end
  store float %mean, ptr %out
  ret void
}


; CHECK-LABEL: define void @adgen_body_comes_to_zero(
; CHECK:         %carried = alloca [7 x float]
; CHECK:         call void @adgen_undo_begin_f32_wide_1(ptr %carried, i32
; CHECK:         [[T:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:         %rest = fmul float [[T]], %f
; CHECK:         call void @adgen_undo_divide_f32_wide_1(ptr %carried, i32
; CHECK-NEXT:    call void @adgen_undo_step_f32_wide_1(ptr %carried)
define void @adgen_body_comes_to_zero(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp ole float %rest, 0.0
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_comes_to_zero_in_turn(
; CHECK-NOT:     alloca
define void @adgen_body_comes_to_zero_in_turn(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %turn
turn:
  %o = phi i64 [ 0, %entry ], [ %o.inc, %end ]
  br label %loop
loop:
  %i = phi i64 [ 0, %turn ], [ %inc, %loop ]
  %through = phi float [ 1.0, %turn ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %turn ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  %place = getelementptr float, ptr %out, i64 %o
  store float %more, ptr %place
  %o.inc = add i64 %o, 1
  %done = icmp eq i64 %o.inc, %n
  br i1 %done, label %out.end, label %turn
out.end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_decides_more(
; CHECK-NOT:     alloca
define void @adgen_body_decides_more(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %dim = fcmp olt float %through, 5.0e-01
  %seen = select i1 %dim, float 0.0, float %a
  %w = fmul float %through, %seen
  %more = fadd float %sum, %w
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; The memory from which the factor comes is changed.
; CHECK-LABEL: define void @adgen_body_changed_memory(
; CHECK-NOT:     alloca
define void @adgen_body_changed_memory(ptr noalias %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  store float 0.0, ptr %at
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; A sum whose exponential is asked for is kept in two numbers, from which the summand is taken away again.
; CHECK-LABEL: define void @adgen_body_sums(
; CHECK:         %carried = alloca [8 x float]
; CHECK:         call void @adgen_undo_begin_f32_sum_always(ptr %carried, i32
; CHECK:         [[S:%.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %carried, i32 4)
; CHECK:         %light = call float @__nv_expf(float [[S]])
; CHECK:         call void @adgen_undo_divide_f32_sum_always(ptr %carried, i32
declare float @__nv_expf(float) memory(none) willreturn nounwind

define void @adgen_body_sums(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %depth = phi float [ 0.0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %light = call float @__nv_expf(float %depth)
  %w = fmul float %light, %a
  %more = fadd float %sum, %w
  %next = fadd float %depth, %a
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; Nor one that only what comes behind the loop asks for, where its total is.
; CHECK-LABEL: define void @adgen_body_asked_for_behind(
; CHECK-NOT:     %carried = alloca
; CHECK:         ret void
define void @adgen_body_asked_for_behind(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %more = fadd float %sum, %a
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  %part = fdiv float 1.0, %more
  store float %part, ptr %out
  ret void
}

; Not one of which a part is asked for: what is left of it has no more digits than the largest sum had.
; CHECK-LABEL: define void @adgen_body_parts(
; CHECK-NOT:     alloca
; CHECK:         ret void
define void @adgen_body_parts(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %depth = phi float [ 0.0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %depth, %a
  %more = fadd float %sum, %w
  %next = fadd float %depth, %a
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; A break by such a comparison leads to the end of its iteration, from where alone the loop is left.
; CHECK-LABEL: define void @adgen_body_breaks_off(
; CHECK:         br i1 {{%.*}}, label %latch, label %takes
; CHECK:       latch:
; CHECK:         [[BROKEN:%.*]] = phi i1 {{.*}}[ true, %loop ]
; CHECK:         [[ENDS:%.*]] = select i1 [[BROKEN]], i1 true, i1 %last
; CHECK:         br i1 [[ENDS]], label %end, label %
define void @adgen_body_breaks_off(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %latch ]
  %through = phi float [ 1.0, %entry ], [ %rest, %latch ]
  %sum = phi float [ 0.0, %entry ], [ %more, %latch ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  br i1 %opaque, label %end, label %takes
takes:
  %w = fmul float %through, %a
  %more = fadd float %sum, %w
  br label %latch
latch:
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  br i1 %last, label %end, label %loop
end:
  %left = phi float [ %sum, %loop ], [ %more, %latch ]
  store float %left, ptr %out
  ret void
}

; What the iteration before has computed would be found out again from another iteration's number.
; CHECK-LABEL: define void @adgen_body_used_later(
; CHECK-NOT:     alloca
define void @adgen_body_used_later(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %before = phi float [ 1.0, %entry ], [ %w, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at
  %w = fmul float %through, %a
  %both = fmul float %w, %before
  %more = fadd float %sum, %both
  %f = fsub float 1.0, %a
  %rest = fmul float %through, %f
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_of_constants(
; CHECK-NOT:     alloca
define void @adgen_body_of_constants(ptr noalias readonly %x, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %through = phi float [ 1.0, %entry ], [ %rest, %loop ]
  %rest = fmul float %through, 0x3FE99999A0000000
  %opaque = fcmp olt float %rest, 0x3F1A36E2E0000000
  %inc = add i64 %i, 1
  %last = icmp eq i64 %inc, %n
  %ends = or i1 %opaque, %last
  br i1 %ends, label %end, label %loop
end:
  store float %rest, ptr %out
  ret void
}

; The number is divided unless it is the one that the last iteration began with, and what was found then is forgotten.
; CHECK-LABEL: define void @adgen_undo_divide_f32_1_reverse(
; CHECK:         [[F:%.*]] = bitcast i32 %2 to float
; CHECK:         [[BY:%.*]] = select i1 {{.*}}, float [[F]], float 1.000000e+00
; CHECK:         fdiv float {{.*}}, [[BY]]
; CHECK-LABEL: define void @adgen_undo_step_f32_1_reverse(
; CHECK:         [[AHEAD:%.*]] = fcmp une float
; CHECK:         select i1 [[AHEAD]], float 0.000000e+00, float

; Once the product is zero its factors are counted, and not multiplied with.
; CHECK-LABEL: define void @adgen_undo_divide_f32_wide_1_augmented(
; CHECK:         [[ZERO:%.*]] = fcmp oeq float {{.*}}, 0.000000e+00
; CHECK-NEXT:    select i1 [[ZERO]], float 1.000000e+00, float
; CHECK:         [[ONE:%.*]] = zext i1 [[ZERO]] to i32
; CHECK:         add i32 {{.*}}, [[ONE]]
; CHECK:         fmul float
; CHECK-LABEL: define void @adgen_undo_divide_f32_wide_1_reverse(
; CHECK:         [[SOME:%.*]] = icmp ne i32 {{.*}}, 0
; CHECK-NEXT:    select i1 [[SOME]], float 1.000000e+00, float
; CHECK:         sub i32
; CHECK:         fdiv float
; CHECK:         [[NONE:%.*]] = icmp eq i32 {{.*}}, 0
; CHECK-NEXT:    [[VALUE:%.*]] = select i1 [[NONE]], float {{.*}}, float 0.000000e+00
; CHECK-NEXT:    store float [[VALUE]], ptr %0

; What is large, or not finite, is added up and counted by itself.
; CHECK-LABEL: define void @adgen_undo_divide_f32_sum_always_augmented(
; CHECK:         [[SMALL:%.*]] = fcmp olt float {{.*}}, 4.096000e+03
; CHECK:         [[FINITE:%.*]] = fcmp olt float {{.*}}, 0x7FF0000000000000
; CHECK:         select i1 [[SMALL]], float {{.*}}, float 0.000000e+00
; CHECK-LABEL: define void @adgen_undo_divide_f32_sum_always_reverse(
; CHECK:         fneg float
; CHECK:         sub i32
; CHECK:         [[LEFT:%.*]] = icmp eq i32 {{.*}}, 0
; CHECK:         select i1 [[LEFT]], float 0.0{{.*}}, float
; CHECK:         store float {{.*}}, ptr %0
