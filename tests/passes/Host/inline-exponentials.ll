; Exponentials in loops of gradients are computed in place, so that loops with them are vectorised, also where they are added up in order. Not those
; outside of loops, nor in the primal, nor in single precision.
;
; RUN: %opt -passes='adgen-inline-exponentials' -S %s | %filecheck %s
; RUN: %opt -mcpu=x86-64-v3 -force-ordered-reductions -passes='adgen-inline-exponentials,default<O3>' -S %s | %filecheck %s --check-prefix=LOOP

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define double @augmented_sum(
; CHECK:       loop:
; CHECK-NOT:     call double @exp(
; CHECK:         shl i64 %{{.*}}, 52
; CHECK:       end:
; CHECK:         call double @exp(
; LOOP-LABEL:  define double @augmented_sum(
; LOOP:          shl <4 x i64> %{{.*}}, splat (i64 52)
; LOOP:          call double @llvm.vector.reduce.fadd.v4f64(double
define double @augmented_sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %sum, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %e = call double @exp(double %v)
  %sum = fadd double %s, %e
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  %last = call double @exp(double %sum)
  ret double %last
}

; CHECK-LABEL: define void @diffe_each(
; CHECK-NOT:     exp.f64
; CHECK:         call float @expf(
define void @diffe_each(ptr %x, ptr %dx, i64 %n) {
entry:
  br label %invertloop
invertloop:
  %i = phi i64 [ 0, %entry ], [ %next, %invertloop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %e = call double @llvm.exp.f64(double %v)
  %f = fptrunc double %e to float
  %g = call float @expf(float %f)
  %to = getelementptr float, ptr %dx, i64 %i
  store float %g, ptr %to
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %invertloop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @each(
; CHECK:         call double @exp(
define void @each(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %e = call double @exp(double %v)
  store double %e, ptr %at
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

declare double @exp(double)
declare float @expf(float)
declare double @llvm.exp.f64(double)
