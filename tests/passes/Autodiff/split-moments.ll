; Welford's recurrence is computed of hidden numbers, and beside it the sums of the numbers and of their squares, from which its results have their derivatives: also two numbers at a time, and where the count begins with one.
; What lanes have is merged by sums that no lane sends but in the reverse sweep, on a condition, too.
; Not where the mean is used in each iteration or is a number of another recurrence, where a weight has a derivative, or where the recurrence is another one.
;
; RUN: %opt -passes='adgen-split-moments,adce,verify' -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare void @adgen_rule_shfl_down_f32(ptr, ptr, i32, i32, i32)

; CHECK-LABEL: define void @adgen_body_two(
; CHECK:       loop:
; CHECK:         [[T:%numbers[0-9]*]] = phi float [ 0.000000e+00, %entry ], [ [[TNEXT:%.*]], %loop ]
; CHECK-NEXT:    [[Q:%squares[0-9]+]] = phi float [ 0.000000e+00, %entry ], [ [[QNEXT:%.*]], %loop ]
; CHECK:         %a = load float
; CHECK-NEXT:    [[A:%.*]] = call float @adgen_hidden_bits_rounded_f32(float %a)
; CHECK:         %b = load float
; CHECK-NEXT:    [[B:%.*]] = call float @adgen_hidden_bits_rounded_f32(float %b)
; CHECK:         %d = fsub float [[A]], %mean
; CHECK:         %e = fsub float [[A]], %mean.a
; CHECK:         %f = fsub contract float [[B]], %mean.a
; CHECK:         fadd contract float [[T]], %b
; CHECK:         [[TNEXT]] = fadd contract float
; CHECK:         [[QNEXT]] = fadd contract float
; CHECK:       end:
; CHECK-DAG:     [[LASTT:%.*]] = phi float [ [[TNEXT]], %loop ]
; CHECK-DAG:     [[LASTQ:%.*]] = phi float [ [[QNEXT]], %loop ]
; CHECK-DAG:     [[MEAN:%.*]] = phi float [ %mean.b, %loop ]
; CHECK-DAG:     [[SQUARES:%.*]] = phi float [ %squares.b, %loop ]
; CHECK-DAG:     [[TWICE:%.*]] = fadd float [[MEAN]], [[MEAN]]
; CHECK-DAG:     [[MT:%.*]] = fmul float [[TWICE]], [[LASTT]]
; CHECK-DAG:     [[OFS:%.*]] = fsub float [[LASTQ]], [[MT]]
; CHECK-DAG:     [[SETTLEDS:%.*]] = call float @adgen_settled_f32(float [[OFS]])
; CHECK-DAG:     [[ZEROS:%.*]] = fsub float [[OFS]], [[SETTLEDS]]
; CHECK-DAG:     [[BOTHS:%.*]] = fadd float [[SQUARES]], [[ZEROS]]
; CHECK-DAG:     [[NEWS:%.*]] = call float @adgen_hold_ieee32(float [[BOTHS]])
; CHECK-DAG:     [[NONE:%.*]] = fcmp oeq float [[COUNT:%.*]], 0.000000e+00
; CHECK-DAG:     [[PART:%.*]] = fdiv float 1.000000e+00, [[COUNT]]
; CHECK-DAG:     [[SAFE:%.*]] = select i1 [[NONE]], float 0.000000e+00, float [[PART]]
; CHECK-DAG:     [[OFM:%.*]] = fmul float [[LASTT]], [[SAFE]]
; CHECK-DAG:     [[SETTLEDM:%.*]] = call float @adgen_settled_f32(float [[OFM]])
; CHECK-DAG:     [[ZEROM:%.*]] = fsub float [[OFM]], [[SETTLEDM]]
; CHECK-DAG:     [[BOTHM:%.*]] = fadd float [[MEAN]], [[ZEROM]]
; CHECK-DAG:     [[NEWM:%.*]] = call float @adgen_hold_ieee32(float [[BOTHM]])
; CHECK:         store float [[NEWM]], ptr %out.mean
; CHECK-NEXT:    store float [[NEWS]], ptr %out.squares
define void @adgen_body_two(ptr %x, i64 %n, ptr %out.mean, ptr %out.squares) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %count = phi float [ 0.0, %entry ], [ %count.b, %loop ]
  %mean = phi float [ 0.0, %entry ], [ %mean.b, %loop ]
  %squares = phi float [ 0.0, %entry ], [ %squares.b, %loop ]
  %from.a = getelementptr [2 x float], ptr %x, i64 %i
  %a = load float, ptr %from.a
  %from.b = getelementptr i8, ptr %from.a, i64 4
  %b = load float, ptr %from.b
  %count.a = fadd float %count, 1.0
  %d = fsub float %a, %mean
  %step.a = fdiv float %d, %count.a
  %mean.a = fadd float %mean, %step.a
  %e = fsub float %a, %mean.a
  %squares.a = call float @llvm.fma.f32(float %d, float %e, float %squares)
  %count.b = fadd contract float %count.a, 1.0
  %part = fdiv contract float 1.0, %count.b
  %f = fsub contract float %b, %mean.a
  %step.b = fmul contract float %f, %part
  %mean.b = fadd contract float %mean.a, %step.b
  %g = fmul contract float %f, %f
  %ratio = fmul contract float %count.a, %part
  %h = fmul contract float %g, %ratio
  %squares.b = fadd contract float %squares.a, %h
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  store float %mean.b, ptr %out.mean
  store float %squares.b, ptr %out.squares
  ret void
}

; CHECK-LABEL: define void @adgen_body_from_one(
; CHECK:         %x.i = load double
; CHECK-NEXT:    call double @adgen_hidden_bits_rounded_f64(double %x.i)
; CHECK:       end:
; CHECK:         call double @adgen_settled_f64(
define void @adgen_body_from_one(ptr %x, i32 %n, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %i.next, %loop ]
  %mean = phi double [ 0.0, %entry ], [ %mean.next, %loop ]
  %squares = phi double [ 0.0, %entry ], [ %squares.next, %loop ]
  %from = getelementptr double, ptr %x, i32 %i
  %x.i = load double, ptr %from
  %d = fsub double %x.i, %mean
  %count = sitofp i32 %i to double
  %step = fdiv double %d, %count
  %mean.next = fadd double %mean, %step
  %e = fsub double %x.i, %mean.next
  %de = fmul double %d, %e
  %squares.next = fadd double %squares, %de
  %i.next = add nsw i32 %i, 1
  %more = icmp sle i32 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  %sum = fadd double %mean.next, %squares.next
  store double %sum, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_lanes(
; CHECK:       lanes:
; CHECK:         [[T:%numbers[0-9]*]] = phi float [ {{%.*}}, %between ], [ [[TNEXT:%.*]], %merged ]
; CHECK-NEXT:    [[Q:%squares[0-9]+]] = phi float
; CHECK:         store float [[T]], ptr [[TSENT:%[a-z0-9.]+]]
; CHECK-NEXT:    call void @adgen_rule_shfl_back_down_f32(ptr [[TGOT:%.*]], ptr [[TSENT]], i32 -1, i32 %apart, i32 31)
; CHECK-NEXT:    [[TOTHER:%[0-9]+]] = load float, ptr [[TGOT]]
; CHECK-NEXT:    {{%.*}} = call float @adgen_hidden_llvm.nvvm.shfl.sync.down.f32(i32 -1, float %mean.l, i32 %apart, i32 31)
; CHECK:         store float [[Q]], ptr
; CHECK-NEXT:    call void @adgen_rule_shfl_back_down_f32(
; CHECK:         call float @adgen_hidden_llvm.nvvm.shfl.sync.down.f32(i32 -1, float %squares.l, i32 %apart, i32 31)
; CHECK:         call float @adgen_hidden_llvm.nvvm.shfl.sync.down.f32(i32 -1, float %count.l, i32 %apart, i32 31)
; CHECK:       merge:
; CHECK:         [[TSUM:%.*]] = fadd float [[T]], [[TOTHER]]
; CHECK:       merged:
; CHECK:         [[TNEXT]] = phi float [ [[TSUM]], %merge ], [ [[T]], %lanes ]
; CHECK:       end:
; CHECK:         call float @adgen_settled_f32(
define void @adgen_body_lanes(ptr %x, i64 %n, ptr %out.mean, ptr %out.squares) {
entry:
  %sent = alloca float
  %got = alloca float
  %sent.s = alloca float
  %got.s = alloca float
  %sent.c = alloca float
  %got.c = alloca float
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %count = phi float [ 0.0, %entry ], [ %count.next, %loop ]
  %mean = phi float [ 0.0, %entry ], [ %mean.next, %loop ]
  %squares = phi float [ 0.0, %entry ], [ %squares.next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  %count.next = fadd float %count, 1.0
  %d = fsub float %a, %mean
  %step = fdiv float %d, %count.next
  %mean.next = fadd float %mean, %step
  %e = fsub float %a, %mean.next
  %de = fmul float %d, %e
  %squares.next = fadd float %squares, %de
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %between
between:
  br label %lanes
lanes:
  %apart = phi i32 [ 16, %between ], [ %nearer, %merged ]
  %count.l = phi float [ %count.next, %between ], [ %count.m, %merged ]
  %mean.l = phi float [ %mean.next, %between ], [ %mean.m, %merged ]
  %squares.l = phi float [ %squares.next, %between ], [ %squares.m, %merged ]
  store float %mean.l, ptr %sent
  call void @adgen_rule_shfl_down_f32(ptr %got, ptr %sent, i32 -1, i32 %apart, i32 31)
  %mean.o = load float, ptr %got
  store float %squares.l, ptr %sent.s
  call void @adgen_rule_shfl_down_f32(ptr %got.s, ptr %sent.s, i32 -1, i32 %apart, i32 31)
  %squares.o = load float, ptr %got.s
  store float %count.l, ptr %sent.c
  call void @adgen_rule_shfl_down_f32(ptr %got.c, ptr %sent.c, i32 -1, i32 %apart, i32 31)
  %count.o = load float, ptr %got.c
  %empty = fcmp oeq float %count.o, 0.0
  br i1 %empty, label %merged, label %merge
merge:
  %count.t = fadd float %count.l, %count.o
  %share = fdiv float %count.o, %count.t
  %delta = fsub float %mean.o, %mean.l
  %move = fmul float %delta, %share
  %mean.t = fadd float %mean.l, %move
  %delta.2 = fmul float %delta, %delta
  %weighted = fmul float %delta.2, %count.l
  %between.2 = fmul float %weighted, %share
  %others = fadd float %squares.o, %between.2
  %squares.t = fadd float %squares.l, %others
  br label %merged
merged:
  %count.m = phi float [ %count.t, %merge ], [ %count.l, %lanes ]
  %mean.m = phi float [ %mean.t, %merge ], [ %mean.l, %lanes ]
  %squares.m = phi float [ %squares.t, %merge ], [ %squares.l, %lanes ]
  %nearer = lshr i32 %apart, 1
  %done = icmp eq i32 %nearer, 0
  br i1 %done, label %end, label %lanes
end:
  store float %mean.m, ptr %out.mean
  store float %squares.m, ptr %out.squares
  ret void
}

; CHECK-LABEL: define void @adgen_body_running(
; CHECK-NOT:     @adgen_hidden
; CHECK-NOT:     @adgen_settled
define void @adgen_body_running(ptr %x, i32 %n, ptr %out, ptr %means) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %mean = phi float [ 0.0, %entry ], [ %mean.next, %loop ]
  %squares = phi float [ 0.0, %entry ], [ %squares.next, %loop ]
  %from = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %from
  %i.next = add nsw i32 %i, 1
  %count = sitofp i32 %i.next to float
  %d = fsub float %a, %mean
  %step = fdiv float %d, %count
  %mean.next = fadd float %mean, %step
  %to = getelementptr float, ptr %means, i32 %i
  store float %mean.next, ptr %to
  %e = fsub float %a, %mean.next
  %de = fmul float %d, %e
  %squares.next = fadd float %squares, %de
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  store float %squares.next, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_weights(
; CHECK-NOT:     @adgen_hidden
; CHECK-NOT:     @adgen_settled
define void @adgen_body_weights(ptr %x, float %w, i32 %n, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %count = phi float [ %w, %entry ], [ %count.next, %loop ]
  %mean = phi float [ 0.0, %entry ], [ %mean.next, %loop ]
  %squares = phi float [ 0.0, %entry ], [ %squares.next, %loop ]
  %from = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %from
  %count.next = fadd float %count, 1.0
  %d = fsub float %a, %mean
  %step = fdiv float %d, %count.next
  %mean.next = fadd float %mean, %step
  %e = fsub float %a, %mean.next
  %de = fmul float %d, %e
  %squares.next = fadd float %squares, %de
  %i.next = add nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  store float %squares.next, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_means(
; CHECK-NOT:     @adgen_hidden
; CHECK-NOT:     @adgen_settled
define void @adgen_body_means(ptr %x, i32 %n, i32 %m, ptr %out) {
entry:
  br label %outer
outer:
  %j = phi i32 [ 0, %entry ], [ %j.next, %outer.end ]
  %outer.mean = phi float [ 0.0, %entry ], [ %outer.mean.next, %outer.end ]
  %outer.squares = phi float [ 0.0, %entry ], [ %outer.squares.next, %outer.end ]
  br label %loop
loop:
  %i = phi i32 [ 0, %outer ], [ %i.next, %loop ]
  %mean = phi float [ 0.0, %outer ], [ %mean.next, %loop ]
  %squares = phi float [ 0.0, %outer ], [ %squares.next, %loop ]
  %from = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %from
  %i.next = add nsw i32 %i, 1
  %count = sitofp i32 %i.next to float
  %d = fsub float %a, %mean
  %step = fdiv float %d, %count
  %mean.next = fadd float %mean, %step
  %e = fsub float %a, %mean.next
  %de = fmul float %d, %e
  %squares.next = fadd float %squares, %de
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %outer.end
outer.end:
  %j.next = add nsw i32 %j, 1
  %outer.count = sitofp i32 %j.next to float
  %outer.d = fsub float %mean.next, %outer.mean
  %outer.step = fdiv float %outer.d, %outer.count
  %outer.mean.next = fadd float %outer.mean, %outer.step
  %outer.e = fsub float %mean.next, %outer.mean.next
  %outer.de = fmul float %outer.d, %outer.e
  %outer.squares.next = fadd float %outer.squares, %outer.de
  %outer.more = icmp slt i32 %j.next, %m
  br i1 %outer.more, label %outer, label %end
end:
  store float %outer.squares.next, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_twice(
; CHECK-NOT:     @adgen_hidden
; CHECK-NOT:     @adgen_settled
; CHECK:       declare
define void @adgen_body_twice(ptr %x, i32 %n, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %mean = phi float [ 0.0, %entry ], [ %mean.next, %loop ]
  %squares = phi float [ 0.0, %entry ], [ %squares.next, %loop ]
  %from = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %from
  %i.next = add nsw i32 %i, 1
  %count = sitofp i32 %i.next to float
  %d = fsub float %a, %mean
  %step = fdiv float %d, %count
  %mean.next = fadd float %mean, %step
  %dd = fmul float %d, %d
  %squares.next = fadd float %squares, %dd
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  store float %mean.next, ptr %out
  store float %squares.next, ptr %x
  ret void
}
