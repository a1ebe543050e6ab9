; Where an iteration decides again in the reverse sweep what it has decided before, all from the first decision to the
; last is there once for each way, and nothing is computed twice on it.
;
; RUN: %opt -passes=adgen-separate-decisions -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent nocallback nounwind

define internal double @__nv_exp(double %x) noinline nounwind willreturn memory(none) "enzyme_math"="exp" {
  ret double %x
}

; Each of two numbers is found again by a decision of its own, with the exponential and the quotient that lead to it.
; CHECK-LABEL: define void @adgen_gradient_two_ways(
; CHECK:         br i1 %small, label %series, label %[[OTHER:.*]]
; CHECK:       series:
; CHECK-NEXT:    %[[E:.*]] = call double @__nv_exp(double %z)
; CHECK:         store double %[[E]], ptr %to
; CHECK:         %[[PART:.*]] = fmul double %[[E]], %cotangent
; CHECK-NEXT:    br label %[[JOIN:.*]]
; CHECK:       [[JOIN]]:
; CHECK-NEXT:    phi double [ %[[PART]], %series ], [ %[[PART2:.*]], %[[OTHER]] ]
; CHECK:         atomicrmw fadd
; CHECK-NOT:     br i1 %small
; CHECK:       [[OTHER]]:
; CHECK-NEXT:    %[[Q:.*]] = fdiv double 1.000000e+00, %z
; CHECK:         store double %[[Q]],
; CHECK-NOT:     fdiv
; CHECK:         %[[PART2]] = fmul double
; CHECK-NEXT:    br label %[[JOIN]]
define void @adgen_gradient_two_ways(ptr noalias readonly %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %z = load double, ptr %from
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %series, label %asymptote
series:
  %e = call double @__nv_exp(double %z)
  br label %join
asymptote:
  %q = fdiv double 1.0, %z
  br label %join
join:
  %w = phi double [ %e, %series ], [ %q, %asymptote ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %w, ptr %to
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %i
  %cotangent = load double, ptr %d_to
  br i1 %small, label %again.series, label %again.asymptote
again.series:
  %e.again = call double @__nv_exp(double %z)
  br label %again.join
again.asymptote:
  %q.again = fdiv double 1.0, %z
  br label %again.join
again.join:
  %w.again = phi double [ %e.again, %again.series ], [ %q.again, %again.asymptote ]
  %part = fmul double %w.again, %cotangent
  br i1 %small, label %invert.series, label %invert.asymptote
invert.series:
  br label %invert.join
invert.asymptote:
  %q.last = fdiv double 1.0, %z
  %slope = fneg double %q.last
  %part.other = fmul double %part, %slope
  br label %invert.join
invert.join:
  %d_z = phi double [ %part, %invert.series ], [ %part.other, %invert.asymptote ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %i
  %old = atomicrmw fadd ptr %d_from, double %d_z monotonic
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %left, label %loop
left:
  ret void
}

; Most of what is costly is computed once anyway: everything stays as it was.
; CHECK-LABEL: define void @adgen_gradient_mostly_else(
; CHECK:         br i1 %small, label %again.series, label %again.asymptote
; CHECK:         br i1 %small, label %invert.series, label %invert.asymptote
; CHECK:         ret void
define void @adgen_gradient_mostly_else(ptr noalias readonly %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y, double %c) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %d0 = fdiv double %c, 3.0
  %d1 = fdiv double %d0, 3.0
  %d2 = fdiv double %d1, 3.0
  %d3 = fdiv double %d2, 3.0
  %d4 = fdiv double %d3, 3.0
  %d5 = fdiv double %d4, 3.0
  %d6 = fdiv double %d5, 3.0
  %d7 = fdiv double %d6, 3.0
  %d8 = fdiv double %d7, 3.0
  store double %d8, ptr %y
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %z = load double, ptr %from
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %series, label %asymptote
series:
  %e = call double @__nv_exp(double %z)
  br label %join
asymptote:
  %q = fdiv double 1.0, %z
  br label %join
join:
  %w = phi double [ %e, %series ], [ %q, %asymptote ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %w, ptr %to
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %i
  %cotangent = load double, ptr %d_to
  br i1 %small, label %again.series, label %again.asymptote
again.series:
  %e.again = call double @__nv_exp(double %z)
  br label %again.join
again.asymptote:
  %q.again = fdiv double 1.0, %z
  br label %again.join
again.join:
  %w.again = phi double [ %e.again, %again.series ], [ %q.again, %again.asymptote ]
  %part = fmul double %w.again, %cotangent
  br i1 %small, label %invert.series, label %invert.asymptote
invert.series:
  br label %invert.join
invert.asymptote:
  %q.last = fdiv double 1.0, %z
  %slope = fneg double %q.last
  %part.other = fmul double %part, %slope
  br label %invert.join
invert.join:
  %d_z = phi double [ %part, %invert.series ], [ %part.other, %invert.asymptote ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %i
  %old = atomicrmw fadd ptr %d_from, double %d_z monotonic
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %left, label %loop
left:
  ret void
}

; Nothing costly is computed again: everything stays as it was.
; CHECK-LABEL: define void @adgen_gradient_cheap(
; CHECK:         br i1 %small, label %down, label %join
; CHECK:         br i1 %small, label %invert.down, label %invert.join
; CHECK:         ret void
define void @adgen_gradient_cheap(ptr noalias readonly %x, i64 %n, ptr noalias "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %z = load double, ptr %from
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %down, label %join
down:
  %less = fsub double %z, 1.0
  br label %join
join:
  %w = phi double [ %less, %down ], [ %z, %loop ]
  %square = fmul double %w, %w
  br i1 %small, label %invert.down, label %invert.join
invert.down:
  %less.again = fsub double %z, 1.0
  %part = fmul double %square, %less.again
  br label %invert.join
invert.join:
  %d_z = phi double [ %part, %invert.down ], [ %square, %join ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %i
  %old = atomicrmw fadd ptr %d_from, double %d_z monotonic
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %left, label %loop
left:
  ret void
}

; A barrier between the decisions cannot be there twice: threads on different ways would wait at different ones.
; CHECK-LABEL: define void @adgen_gradient_barrier(
; CHECK:         br i1 %small, label %series, label %join
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT:     call void @llvm.nvvm.barrier
; CHECK:         br i1 %small, label %invert.series, label %invert.join
; CHECK-NOT:     call void @llvm.nvvm.barrier
; CHECK:         ret void
define void @adgen_gradient_barrier(ptr noalias readonly %x, i64 %n, ptr noalias "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %z = load double, ptr %from
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %series, label %join
series:
  %e = call double @__nv_exp(double %z)
  br label %join
join:
  %w = phi double [ %e, %series ], [ %z, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %small, label %invert.series, label %invert.join
invert.series:
  %e.again = call double @__nv_exp(double %z)
  %part = fmul double %w, %e.again
  br label %invert.join
invert.join:
  %d_z = phi double [ %part, %invert.series ], [ %w, %join ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %i
  %old = atomicrmw fadd ptr %d_from, double %d_z monotonic
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %left, label %loop
left:
  ret void
}

; Nothing costly is between the first decisions, which are taken as before.
; CHECK-LABEL: define void @adgen_gradient_cheap_first(
; CHECK:         br i1 %low, label %down,
; CHECK:         br i1 %low, label %again.down,
; CHECK:         br i1 %small, label %series, label %{{.*}}
; CHECK-NOT:     br i1 %small
; CHECK:       }
define void @adgen_gradient_cheap_first(ptr noalias readonly %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %z = load double, ptr %from
  %low = fcmp olt double %z, 1.0
  br i1 %low, label %down, label %up
down:
  store volatile double 1.0, ptr %y
  br label %up
up:
  %marked = atomicrmw fadd ptr %d_y, double %z monotonic
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  store volatile double %z, ptr %y
  br i1 %low, label %again.down, label %begin
again.down:
  store volatile double %marked, ptr %y
  br label %begin
begin:
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %series, label %asymptote
series:
  %e = call double @__nv_exp(double %z)
  br label %join
asymptote:
  %q = fdiv double 1.0, %z
  br label %join
join:
  %w = phi double [ %e, %series ], [ %q, %asymptote ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %w, ptr %to
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %i
  %cotangent = load double, ptr %d_to
  br i1 %small, label %again.series, label %again.asymptote
again.series:
  %e.again = call double @__nv_exp(double %z)
  br label %again.join
again.asymptote:
  %q.again = fdiv double 1.0, %z
  br label %again.join
again.join:
  %w.again = phi double [ %e.again, %again.series ], [ %q.again, %again.asymptote ]
  %part = fmul double %w.again, %cotangent
  br i1 %small, label %invert.series, label %invert.asymptote
invert.series:
  br label %invert.join
invert.asymptote:
  %q.last = fdiv double 1.0, %z
  %slope = fneg double %q.last
  %part.other = fmul double %part, %slope
  br label %invert.join
invert.join:
  %d_z = phi double [ %part, %invert.series ], [ %part.other, %invert.asymptote ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %i
  %old = atomicrmw fadd ptr %d_from, double %d_z monotonic
  br label %end
end:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %left, label %loop
left:
  ret void
}
