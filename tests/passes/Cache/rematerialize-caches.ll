; What follows by a few operations from what is kept at the same place of another cache, and from what stays the same, is computed again. Not what is
; kept at another place or in another block, what takes a division, nor what follows from a number that the loop goes on to change.
;
; RUN: %opt -passes=adgen-rematerialize-caches -S %s | %filecheck %s

; CHECK-LABEL: define void @diffe_steps(
; CHECK-NOT:     %kept = call
; CHECK-NOT:     %follows = call
; CHECK:         %same = call ptr @adgen_kept_alloc(
; CHECK:       loop:
; CHECK-NOT:     store double %w, ptr %to
; CHECK:         store double %u, ptr %to3
; CHECK:       middle:
; CHECK-NEXT:    %same.set = phi ptr [ undef, %entry ], [ %same, %loop ]
; CHECK-NEXT:    br
; CHECK:       invertloop:
; CHECK:         %[[AT:.*]] = getelementptr double, ptr %same.set, i64 %j
; CHECK-NEXT:    %[[U:.*]] = load double, ptr %[[AT]]
; CHECK-NEXT:    %[[AT2:.*]] = getelementptr double, ptr %same.set, i64 %j
; CHECK-NEXT:    %[[U2:.*]] = load double, ptr %[[AT2]]
; CHECK-NEXT:    %[[AGAIN:.*]] = load double, ptr %a, align 8, !invariant.load
; CHECK-NEXT:    %[[W:.*]] = call double @llvm.fmuladd.f64(double %[[U2]], double %[[AGAIN]], double %b)
; CHECK:         %u3 = load double
; CHECK-NEXT:    %sum = fadd double %[[W]], %u3
; CHECK-NEXT:    fmul double %sum, %[[U]]
; CHECK:       free:
; CHECK-NEXT:    call void @adgen_kept_free(ptr %same.set)
; CHECK-NEXT:    br
define void @diffe_steps(ptr %x, ptr %a, ptr noalias %dx, double %b, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  %bytes = mul i64 %n, 8
  br i1 %any, label %before, label %middle
before:
  %kept = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !1
  %follows = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !2
  %same = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !3
  %factor = load double, ptr %a, !invariant.load !0
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %u = load double, ptr %at
  %w = call double @llvm.fmuladd.f64(double %u, double %factor, double %b)
  store double %w, ptr %at
  %to = getelementptr double, ptr %kept, i64 %i
  store double %u, ptr %to
  %to2 = getelementptr double, ptr %follows, i64 %i
  store double %w, ptr %to2
  %to3 = getelementptr double, ptr %same, i64 %i
  store double %u, ptr %to3
  %next = add i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %middle, label %loop
middle:
  %kept.set = phi ptr [ undef, %entry ], [ %kept, %loop ]
  %follows.set = phi ptr [ undef, %entry ], [ %follows, %loop ]
  %same.set = phi ptr [ undef, %entry ], [ %same, %loop ]
  br i1 %any, label %again, label %end
again:
  %most = add i64 %n, -1
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %again ], [ %j.next, %invertloop ]
  %from = getelementptr double, ptr %kept.set, i64 %j
  %u2 = load double, ptr %from
  %from2 = getelementptr double, ptr %follows.set, i64 %j
  %w2 = load double, ptr %from2
  %from3 = getelementptr double, ptr %same.set, i64 %j
  %u3 = load double, ptr %from3
  %sum = fadd double %w2, %u3
  %d = fmul double %sum, %u2
  %place = getelementptr double, ptr %dx, i64 %j
  store double %d, ptr %place
  %j.next = add i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %free, label %invertloop
free:
  call void @adgen_kept_free(ptr %kept.set), !enzyme_cache_free !1
  call void @adgen_kept_free(ptr %follows.set), !enzyme_cache_free !2
  call void @adgen_kept_free(ptr %same.set), !enzyme_cache_free !3
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @diffe_not(
; CHECK-COUNT-5: call ptr @adgen_kept_alloc(
define void @diffe_not(ptr %x, ptr noalias %dx, double %b, i64 %n) {
entry:
  %bytes = mul i64 %n, 8
  %kept = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !1
  %divided = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !2
  %elsewhere = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !3
  %changing = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !4
  %late = call ptr @adgen_kept_alloc(i64 %bytes), !enzyme_cache_alloc !5
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %so.far = phi double [ %b, %entry ], [ %all, %latch ]
  %at = getelementptr double, ptr %x, i64 %i
  %u = load double, ptr %at
  %to = getelementptr double, ptr %kept, i64 %i
  store double %u, ptr %to
  %q = fdiv double %b, %u
  %to2 = getelementptr double, ptr %divided, i64 %i
  store double %q, ptr %to2
  %w = fadd double %u, %b
  %next = add i64 %i, 1
  %to3 = getelementptr double, ptr %elsewhere, i64 %next
  store double %w, ptr %to3
  %all = fadd double %so.far, %u
  %to4 = getelementptr double, ptr %changing, i64 %i
  store double %all, ptr %to4
  br label %latch
latch:
  %m = fmul double %u, %b
  %to5 = getelementptr double, ptr %late, i64 %i
  store double %m, ptr %to5
  store double %m, ptr %at
  %last = icmp eq i64 %next, %n
  br i1 %last, label %again, label %loop
again:
  %most = add i64 %n, -1
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %again ], [ %j.next, %invertloop ]
  %from = getelementptr double, ptr %kept, i64 %j
  %u2 = load double, ptr %from
  %from2 = getelementptr double, ptr %divided, i64 %j
  %q2 = load double, ptr %from2
  %from3 = getelementptr double, ptr %elsewhere, i64 %j
  %w2 = load double, ptr %from3
  %from4 = getelementptr double, ptr %changing, i64 %j
  %all2 = load double, ptr %from4
  %from5 = getelementptr double, ptr %late, i64 %j
  %m2 = load double, ptr %from5
  %s1 = fadd double %u2, %q2
  %s2 = fadd double %w2, %all2
  %s3 = fadd double %s1, %s2
  %s4 = fadd double %s3, %m2
  %place = getelementptr double, ptr %dx, i64 %j
  store double %s4, ptr %place
  %j.next = add i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %invertloop
end:
  ret void
}

declare ptr @adgen_kept_alloc(i64)
declare void @adgen_kept_free(ptr)
declare double @llvm.fmuladd.f64(double, double, double)

!0 = !{}
!1 = distinct !{}
!2 = distinct !{}
!3 = distinct !{}
!4 = distinct !{}
!5 = distinct !{}
