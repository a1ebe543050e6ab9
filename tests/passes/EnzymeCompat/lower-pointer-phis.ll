; What is read and written through a phi or a select of local variables' addresses becomes one access of each variable,
; and the variables become values.
;
; RUN: %opt -passes=adgen-lower-pointer-phis -S %s | %filecheck %s

declare void @other(ptr)

; The last store of a round of an insertion sort.
; CHECK-LABEL: define double @shifted(
; CHECK-NOT:     alloca
; CHECK:       moved:
; CHECK:       join:
; CHECK:         [[B:%.*]] = phi double [ %x, %moved ], [ %y, %entry ]
; CHECK:         [[NUMBER:%.*]] = phi i32 [ 1, %entry ], [ 0, %moved ]
; CHECK:         [[AT_B:%.*]] = icmp eq i32 [[NUMBER]], 1
; CHECK:         [[LAST:%.*]] = select i1 [[AT_B]], double %z, double [[B]]
; CHECK:         [[AT_A:%.*]] = icmp eq i32 [[NUMBER]], 0
; CHECK:         [[A:%.*]] = select i1 [[AT_A]], double %z, double %x
; CHECK:         fmul double [[A]], [[LAST]]
; CHECK-NOT:     store
define double @shifted(double %x, double %y, double %z, i1 %c) {
entry:
  %a = alloca double
  %b = alloca double
  store double %x, ptr %a
  store double %y, ptr %b
  br i1 %c, label %moved, label %join
moved:
  store double %x, ptr %b
  br label %join
join:
  %p = phi ptr [ %b, %entry ], [ %a, %moved ]
  store double %z, ptr %p
  %one = load double, ptr %a
  %two = load double, ptr %b
  %product = fmul double %one, %two
  ret double %product
}

; Variables of a struct around what is read and written.
; CHECK-LABEL: define float @wrapped(
; CHECK-NOT:     alloca
; CHECK:         select i1 {{%.*}}, float %x, float %y
; CHECK:         ret float
define float @wrapped(float %x, float %y, i1 %c) {
  %a = alloca { float }
  %b = alloca [1 x float]
  store float %y, ptr %a
  store float %y, ptr %b
  %p = select i1 %c, ptr %a, ptr %b
  store float %x, ptr %p
  %r = load float, ptr %a
  ret float %r
}

; A choice of choices, in a loop in which the variables begin anew; what is read before it is written is zero.
; CHECK-LABEL: define float @chosen(
; CHECK-NOT:     alloca
; CHECK:       loop:
; CHECK:         [[INNER:%.*]] = select i1 %c, i32 0, i32 1
; CHECK:         [[OUTER:%.*]] = select i1 %d, i32 [[INNER]], i32 2
; CHECK:         icmp eq i32 [[OUTER]], {{[012]}}
; CHECK:         select i1 {{%.*}}, float %x, float 0.000000e+00
; CHECK:         ret float
define float @chosen(float %x, i1 %c, i1 %d, i1 %again) {
entry:
  %a = alloca float
  %b = alloca float
  %e = alloca float
  br label %loop
loop:
  call void @llvm.lifetime.start.p0(ptr %a)
  call void @llvm.lifetime.start.p0(ptr %b)
  %inner = select i1 %c, ptr %a, ptr %b
  %outer = select i1 %d, ptr %inner, ptr %e
  store float %x, ptr %outer
  %read = load float, ptr %b
  call void @llvm.lifetime.end.p0(ptr %a)
  br i1 %again, label %loop, label %exit
exit:
  ret float %read
}

; A pointer that goes round a loop.
; CHECK-LABEL: define double @round(
; CHECK-NOT:     alloca
; CHECK:         phi i32 [ 0, %entry ], [ {{%.*}}, %loop ]
; CHECK:         ret double
define double @round(double %x, i32 %n) {
entry:
  %a = alloca double
  %b = alloca double
  store double %x, ptr %a
  store double %x, ptr %b
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = phi ptr [ %a, %entry ], [ %q, %loop ]
  %q = phi ptr [ %b, %entry ], [ %p, %loop ]
  %v = load double, ptr %p
  %w = fmul double %v, %x
  store double %w, ptr %q
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  %result = load double, ptr %a
  ret double %result
}

; Pointers that lead elsewhere, addresses that leave the function, and arrays stay.
; CHECK-LABEL: define void @elsewhere(
; CHECK:         select i1 %c, ptr %a, ptr %x
; CHECK:         select i1 %c, ptr %b, ptr %d
; CHECK:         select i1 %c, ptr %e, ptr %f
define void @elsewhere(ptr %x, i1 %c) {
  %a = alloca float
  %b = alloca float
  %d = alloca float
  %e = alloca [2 x float]
  %f = alloca [2 x float]
  %p = select i1 %c, ptr %a, ptr %x
  store float 1.0, ptr %p
  %q = select i1 %c, ptr %b, ptr %d
  store float 2.0, ptr %q
  call void @other(ptr %b)
  %r = select i1 %c, ptr %e, ptr %f
  store float 3.0, ptr %r
  ret void
}

declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
