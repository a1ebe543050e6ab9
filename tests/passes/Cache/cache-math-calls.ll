; What mathematics gives in a loop of the forward sweep is kept for the reversal of the loop, where that calls the function with the same numbers. Not
; what is called of what may have changed, or with other numbers, nor in the primal.
;
; RUN: %opt -passes='function(loop-simplify),adgen-cache-math-calls' -S %s | %filecheck %s

; The reversal's counter runs one ahead. Whether the forward loop has run is asked when the gradient runs.
; CHECK-LABEL: define void @diffe_sum(
; CHECK:       entry:
; CHECK:         br i1 %any
; CHECK:       before:
; CHECK:         %[[FITS:.*]] = icmp ult i64 %[[LAST:.*]], 8388608
; CHECK-NEXT:    %[[ALL:.*]] = add i64 %[[LAST]], 1
; CHECK-NEXT:    call void @adgen_kept_free(ptr null)
; CHECK-NEXT:    %[[ROOM:.*]] = select i1 %[[FITS]], i64 %[[ALL]], i64 1
; CHECK-NEXT:    %[[BYTES:.*]] = mul i64 %[[ROOM]], 8
; CHECK-NEXT:    %[[KEPT:.*]] = call ptr @adgen_kept_alloc(i64 %[[BYTES]])
; CHECK-NEXT:    %[[COUNT:.*]] = select i1 %[[FITS]], i64 %[[ALL]], i64 0
; CHECK-NEXT:    %[[MASK:.*]] = sext i1 %[[FITS]] to i64
; CHECK:       loop:
; CHECK:         %e = call double @exp(double %y)
; CHECK-NEXT:    %[[MASKED:.*]] = and i64 %i, %[[MASK]]
; CHECK-NEXT:    %[[TO:.*]] = getelementptr double, ptr %[[KEPT]], i64 %[[MASKED]]
; CHECK-NEXT:    store double %e, ptr %[[TO]]
; CHECK:       middle:
; CHECK-DAG:     %[[SOME:.*]] = phi i64 [ %[[COUNT]], %middle.loopexit ], [ 0, %entry ]
; CHECK-DAG:     %[[FROM:.*]] = phi ptr [ %[[KEPT]], %middle.loopexit ], [ null, %entry ]
; CHECK:       again:
; CHECK:         %[[IS:.*]] = icmp ult i64 %{{.*}}, %[[SOME]]
; CHECK:       invertloop:
; CHECK:         %[[PLACE:.*]] = getelementptr double, ptr %[[FROM]], i64
; CHECK-NEXT:    br i1 %[[IS]], label %[[THEN:.*]], label %[[ELSE:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    %[[READ:.*]] = load double, ptr %[[PLACE]]
; CHECK:       [[ELSE]]:
; CHECK-NEXT:    %e2 = call double @exp(double %y2)
; CHECK:         phi double [ %[[READ]], %[[THEN]] ], [ %e2, %[[ELSE]] ]
; CHECK:       end:
; CHECK-NEXT:    call void @adgen_kept_free(ptr %[[FROM]])
; CHECK-NEXT:    ret void
define void @diffe_sum(ptr %x, ptr noalias %dx, i64 %n, double %top, double %d) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %middle
before:
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %at, !invariant.load !0
  %y = fsub double %v, %top
  %e = call double @exp(double %y)
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %middle, label %loop
middle:
  %set = phi double [ undef, %entry ], [ %top, %loop ]
  br i1 %any, label %again, label %end
again:
  br label %invertloop
invertloop:
  %ahead = phi i64 [ %n, %again ], [ %j, %invertloop ]
  %j = add nsw i64 %ahead, -1
  %at2 = getelementptr inbounds double, ptr %x, i64 %j
  %v2 = load double, ptr %at2, !invariant.load !0
  %y2 = fsub double %v2, %set
  %e2 = call double @exp(double %y2)
  %m = fmul double %d, %e2
  %to = getelementptr double, ptr %dx, i64 %j
  store double %m, ptr %to
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %invertloop
end:
  ret void
}

; Both loops in one: what was kept in an iteration is not read in the next one. The number comes from a cache of Enzyme's.
; CHECK-LABEL: define void @diffe_rows(
; CHECK:       rows:
; CHECK:         %[[OLD:.*]] = phi ptr [ null, %entry ], [ %[[NEW:.*]], %next.row ]
; CHECK:         call void @adgen_kept_free(ptr %[[OLD]])
; CHECK:         %[[NEW]] = call ptr @adgen_kept_alloc(
; CHECK:         %[[COUNT:.*]] = select i1 %{{.*}}, i64 %{{.*}}, i64 0
; CHECK:       again:
; CHECK:         icmp ult i64 %{{.*}}, %[[COUNT]]
; CHECK:       invertloop:
; CHECK:         getelementptr float, ptr %[[NEW]], i64
; CHECK:       end:
; CHECK-NEXT:    call void @adgen_kept_free(ptr %[[NEW]])
define void @diffe_rows(ptr %x, ptr noalias %dx, i64 %n, i64 %count) {
entry:
  %bytes = mul i64 %n, 4
  br label %rows
rows:
  %r = phi i64 [ 0, %entry ], [ %r.next, %next.row ]
  %cache = call noalias ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  br label %loop
loop:
  %i = phi i64 [ 0, %rows ], [ %next, %loop ]
  %at = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %at
  %slot = getelementptr inbounds float, ptr %cache, i64 %i
  store float %v, ptr %slot
  %e = call float @powf(float %v, float 2.5)
  store float %e, ptr %at
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %again, label %loop
again:
  %most = add i64 %n, -1
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %again ], [ %j.next, %invertloop ]
  %slot2 = getelementptr inbounds float, ptr %cache, i64 %j
  %v2 = load float, ptr %slot2
  %e2 = call float @powf(float %v2, float 2.5)
  %to = getelementptr float, ptr %dx, i64 %j
  store float %e2, ptr %to
  %j.next = add nsw i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %next.row, label %invertloop
next.row:
  call void @free(ptr %cache), !enzyme_cache_free !1
  %r.next = add nuw i64 %r, 1
  %done = icmp eq i64 %r.next, %count
  br i1 %done, label %end, label %rows
end:
  ret void
}

; Of what some iterations call, the others keep NaN; the reversal calls the function where it finds that.
; CHECK-LABEL: define void @diffe_some(
; CHECK:       some:
; CHECK:         %e = call double @exp(double %number)
; CHECK:       latch:
; CHECK-NEXT:    %[[RESULT:.*]] = phi double [ %e, %some ], [ 0x7FF8000000000000, %loop ]
; CHECK:         %[[TO:.*]] = getelementptr double, ptr %{{.*}}, i64
; CHECK-NEXT:    store double %[[RESULT]], ptr %[[TO]]
; CHECK:       invertsome:
; CHECK:         br i1 %{{.*}}, label %[[THEN:.*]], label %[[ELSE:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    %[[READ:.*]] = load double, ptr
; CHECK-NEXT:    %[[IS:.*]] = fcmp ord double %[[READ]], %[[READ]]
; CHECK-NEXT:    br i1 %[[IS]], label %[[TAIL:.*]], label %[[ELSE]]
; CHECK:       [[ELSE]]:
; CHECK-NEXT:    %e2 = call double @exp(double %number2)
; CHECK-NEXT:    br label %[[TAIL]]
; CHECK:       [[TAIL]]:
; CHECK-NEXT:    phi double [ %[[READ]], %[[THEN]] ], [ %e2, %[[ELSE]] ]
define void @diffe_some(ptr %x, ptr noalias %dx, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %at
  %is = fcmp ogt double %v, 0.0
  br i1 %is, label %some, label %latch
some:
  %number = uitofp i64 %i to double
  %e = call double @exp(double %number)
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %again, label %loop
again:
  %most = add i64 %n, -1
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %again ], [ %j.next, %invertlatch ]
  %at2 = getelementptr inbounds double, ptr %x, i64 %j
  %v2 = load double, ptr %at2
  %is2 = fcmp ogt double %v2, 0.0
  br i1 %is2, label %invertsome, label %invertlatch
invertsome:
  %number2 = uitofp i64 %j to double
  %e2 = call double @exp(double %number2)
  %to = getelementptr double, ptr %dx, i64 %j
  store double %e2, ptr %to
  br label %invertlatch
invertlatch:
  %j.next = add nsw i64 %j, -1
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %invertloop
end:
  ret void
}

; CHECK-LABEL: define void @diffe_not(
; CHECK-NOT:     @adgen_kept
; CHECK:         ret void
define void @diffe_not(ptr %x, ptr noalias %dx, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %at
  %changed = call double @log(double %v)
  %number = uitofp i64 %i to double
  %other = call double @tanh(double %number)
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %again, label %loop
again:
  %most = add i64 %n, -1
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %again ], [ %j.next, %invertloop ]
  %at2 = getelementptr inbounds double, ptr %x, i64 %j
  %v2 = load double, ptr %at2
  %changed2 = call double @log(double %v2)
  %j.next = add nsw i64 %j, -1
  %ahead = uitofp i64 %j.next to double
  %other2 = call double @tanh(double %ahead)
  %all = fadd double %changed2, %other2
  %to = getelementptr double, ptr %dx, i64 %j
  store double %all, ptr %to
  %first = icmp eq i64 %j, 0
  br i1 %first, label %end, label %invertloop
end:
  ret void
}

; CHECK-LABEL: define void @primal(
; CHECK-NOT:     @adgen_kept
; CHECK:         ret void
define void @primal(i64 %n, ptr %y) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %number = uitofp i64 %i to double
  %e = call double @exp(double %number)
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %again, label %loop
again:
  br label %invertloop
invertloop:
  %j = phi i64 [ %n, %again ], [ %k, %invertloop ]
  %k = add nsw i64 %j, -1
  %number2 = uitofp i64 %k to double
  %e2 = call double @exp(double %number2)
  store double %e2, ptr %y
  %first = icmp eq i64 %k, 0
  br i1 %first, label %end, label %invertloop
end:
  ret void
}

declare double @exp(double) #0
declare double @log(double) #0
declare double @tanh(double) #0
declare float @powf(float, float) #0
declare noalias ptr @malloc(i64)
declare void @free(ptr)

attributes #0 = { nounwind willreturn memory(none) }

!0 = !{}
!1 = distinct !{}
