; A sum of exponentials that a loop rescales by its largest exponent gets a loop of its own behind the other, in which it is a plain sum by the last one.
; A second sum with weights, made of multiply-adds and a choice of nothing, goes with it.
; Not a sum that something else in the loop uses, one whose terms have another base than it is rescaled to, and none in a loop that writes.
;
; RUN: %opt -passes=adgen-split-online-sums,adce,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare float @__nv_expf(float) memory(none) willreturn nounwind

; CHECK-LABEL: define void @adgen_body_softmax(
; CHECK:       loop:
; CHECK-NEXT:    %i = phi i64
; CHECK-NEXT:    %m = phi float [ -1.000000e+00, %entry ], [ %max, %loop ]
; CHECK-NEXT:    %from = getelementptr
; CHECK-NEXT:    %a = load float
; CHECK-NEXT:    %larger = fcmp
; CHECK-NEXT:    %max = select
; CHECK-NEXT:    %inc = add
; CHECK-NEXT:    %more = icmp
; CHECK-NEXT:    br i1 %more, label %loop, label %loop.sums.begin
; CHECK:       loop.sums.begin:
; CHECK-NEXT:    [[D:%.*]] = fsub float -1.000000e+00, %max
; CHECK-NEXT:    [[CD:%.*]] = fmul float %c, [[D]]
; CHECK-NEXT:    [[F:%.*]] = call float @__nv_expf(float [[CD]])
; CHECK-NEXT:    [[FIRST:%.*]] = fmul contract float %s0, [[F]]
; CHECK-NEXT:    br label %loop.sums
; CHECK:       loop.sums:
; CHECK-NEXT:    %i.sums = phi i64 [ 0, %loop.sums.begin ], [ %inc.sums, %loop.sums ]
; CHECK-NEXT:    %s.sums = phi float [ [[FIRST]], %loop.sums.begin ], [ %s.next.sums, %loop.sums ]
; CHECK-NEXT:    %t.sums = phi float [ 0.000000e+00, %loop.sums.begin ], [ [[T:%.*]], %loop.sums ]
; CHECK-NOT:     phi
; CHECK:         %a.sums = load float
; CHECK:         %w.sums = load float
; CHECK:         [[E:%.*]] = fsub float %a.sums, %max
; CHECK-NEXT:    [[CE:%.*]] = fmul float %c, [[E]]
; CHECK-NEXT:    [[P:%.*]] = call float @__nv_expf(float [[CE]])
; CHECK-NEXT:    %s.next.sums = fadd contract float %s.sums, [[P]]
; CHECK-NEXT:    %masked.sums = fcmp olt float %w.sums, 0.000000e+00
; CHECK-NEXT:    %pw.sums = fmul float [[P]], %w.sums
; CHECK-NEXT:    %term.sums = select i1 %masked.sums, float 0.000000e+00, float %pw.sums
; CHECK-NEXT:    [[T]] = fadd float %t.sums, %term.sums
; CHECK:         br i1 %more.sums, label %loop.sums, label %end
; CHECK:       end:
; CHECK-NEXT:    %last = phi float [ %s.next.sums, %loop.sums ]
; CHECK-NEXT:    store float %last, ptr %out
; CHECK:         store float [[T]], ptr %out.t
; CHECK:         store float %max, ptr %out.m
define void @adgen_body_softmax(ptr %x, ptr %y, float %s0, float %c, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %m = phi float [ -1.0, %entry ], [ %max, %loop ]
  %s = phi float [ %s0, %entry ], [ %s.next, %loop ]
  %t = phi float [ 0.0, %entry ], [ %t.next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  %at = getelementptr float, ptr %y, i64 %i
  %w = load float, ptr %at
  %larger = fcmp ogt float %a, %m
  %max = select i1 %larger, float %a, float %m
  %d = fsub float %m, %max
  %cd = fmul float %c, %d
  %f = call float @__nv_expf(float %cd)
  %e = fsub float %a, %max
  %ce = fmul float %c, %e
  %p = call float @__nv_expf(float %ce)
  %s.scaled = fmul contract float %s, %f
  %s.next = fadd contract float %s.scaled, %p
  %masked = fcmp olt float %w, 0.0
  %pw = fmul float %p, %w
  %term = select i1 %masked, float 0.0, float %pw
  %t.next = call float @llvm.fma.f32(float %f, float %t, float %term)
  %inc = add nuw i64 %i, 1
  %more = icmp ult i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  %last = phi float [ %s.next, %loop ]
  store float %last, ptr %out
  %out.t = getelementptr float, ptr %out, i64 1
  store float %t.next, ptr %out.t
  %out.m = getelementptr float, ptr %out, i64 2
  store float %max, ptr %out.m
  ret void
}

; CHECK-LABEL: define void @adgen_body_used(
; CHECK-NOT:     .sums
; CHECK:         ret void
define void @adgen_body_used(ptr %x, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %m = phi float [ -1.0, %entry ], [ %max, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %loop ]
  %all = phi float [ 0.0, %entry ], [ %all.next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  %larger = fcmp ogt float %a, %m
  %max = select i1 %larger, float %a, float %m
  %d = fsub float %m, %max
  %f = call float @__nv_expf(float %d)
  %e = fsub float %a, %max
  %p = call float @__nv_expf(float %e)
  %scaled = fmul float %s, %f
  %s.next = fadd float %scaled, %p
  %all.next = fadd float %all, %s.next
  %inc = add nuw i64 %i, 1
  %more = icmp ult i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store float %all.next, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_other_base(
; CHECK-NOT:     .sums
; CHECK:         ret void
define void @adgen_body_other_base(ptr %x, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %m = phi float [ -1.0, %entry ], [ %max, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  %larger = fcmp ogt float %a, %m
  %max = select i1 %larger, float %a, float %m
  %d = fsub float %m, %max
  %f = call float @__nv_expf(float %d)
  %e = fsub float %a, %m
  %p = call float @__nv_expf(float %e)
  %scaled = fmul float %s, %f
  %s.next = fadd float %scaled, %p
  %inc = add nuw i64 %i, 1
  %more = icmp ult i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store float %s.next, ptr %out
  ret void
}

; CHECK-LABEL: define void @adgen_body_writes(
; CHECK-NOT:     .sums
; CHECK:         ret void
define void @adgen_body_writes(ptr %x, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %m = phi float [ -1.0, %entry ], [ %max, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  store float 0.0, ptr %from
  %larger = fcmp ogt float %a, %m
  %max = select i1 %larger, float %a, float %m
  %d = fsub float %m, %max
  %f = call float @__nv_expf(float %d)
  %e = fsub float %a, %max
  %p = call float @__nv_expf(float %e)
  %scaled = fmul float %s, %f
  %s.next = fadd float %scaled, %p
  %inc = add nuw i64 %i, 1
  %more = icmp ult i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store float %s.next, ptr %out
  ret void
}

declare float @llvm.fma.f32(float, float, float)

; A pair of a maximum and a sum that is reduced with another one asks which maximum is larger, and rescales the other sum.
; CHECK-LABEL: define void @adgen_body_pairs(
; CHECK:       loop:
; CHECK-NEXT:    %i = phi i64
; CHECK-NEXT:    %m = phi float
; CHECK-NOT:     expf
; CHECK:         br i1 %more, label %loop, label %loop.sums.begin
; CHECK:       loop.sums:
; CHECK:         %s.sums = phi float
; CHECK:         [[D:%.*]] = fsub contract float %a.sums, %high
; CHECK-NEXT:    [[P:%.*]] = call float @__nv_expf(float [[D]])
; CHECK-NEXT:    [[T:%.*]] = fmul contract float %w.i.sums, [[P]]
; CHECK-NEXT:    fadd contract float %s.sums, [[T]]
define void @adgen_body_pairs(ptr %x, ptr %w, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %m = phi float [ -1.000000e+00, %entry ], [ %high, %loop ]
  %s = phi float [ 0.000000e+00, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %from
  %from.w = getelementptr float, ptr %w, i64 %i
  %w.i = load float, ptr %from.w
  %keeps = fcmp contract ogt float %m, %a
  %larger = select i1 %keeps, float %s, float %w.i
  %smaller = select i1 %keeps, float %w.i, float %s
  %high = select i1 %keeps, float %m, float %a
  %low = select i1 %keeps, float %a, float %m
  %difference = fsub contract float %low, %high
  %power = call float @__nv_expf(float %difference)
  %rescaled = fmul contract float %power, %smaller
  %next = fadd contract float %larger, %rescaled
  %inc = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  %sum = phi float [ %next, %loop ]
  %max = phi float [ %high, %loop ]
  %all = fadd float %sum, %max
  store float %all, ptr %out
  ret void
}
