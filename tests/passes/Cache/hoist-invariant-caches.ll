; A cache that is filled with one value, computed outside of all loops, goes: the reverse sweep takes the value from where it is. What
; changes from iteration to iteration, or is kept by two stores, stays.
;
; RUN: %opt -passes=adgen-hoist-invariant-caches -S %s | %filecheck %s

; The value is what a branch left, so it does not dominate the reverse sweep. The cache of an inner loop goes with what held its address.
; CHECK-LABEL: define void @same(
; CHECK-NOT:     @malloc
; CHECK:       invert:
; CHECK-DAG:     %[[INNER:.*]] = phi i64 [ %left, %exit ], [ undef, %entry ]
; CHECK-DAG:     %[[FLAT:.*]] = phi i64 [ %left, %exit ], [ undef, %entry ]
; CHECK:         call void @use(i64 %[[FLAT]])
; CHECK-NOT:     load
; CHECK:         call void @use(i64 %[[INNER]])
; CHECK-NEXT:    ret void
define void @same(i1 %c, i64 %n, i64 %a) {
entry:
  br i1 %c, label %forward, label %invert

forward:
  %left = mul i64 %a, 3
  %size = mul i64 %n, 8
  %flat = call ptr @malloc(i64 %size), !enzyme_cache_alloc !0
  %outer = call ptr @malloc(i64 %size), !enzyme_cache_alloc !1
  br label %loop

loop:
  %i = phi i64 [ 0, %forward ], [ %i.next, %latch ]
  %place = getelementptr i64, ptr %flat, i64 %i
  store i64 %left, ptr %place, !invariant.group !2
  %held = getelementptr ptr, ptr %outer, i64 %i
  %inner = call ptr @malloc(i64 %size), !enzyme_cache_alloc !3
  store ptr %inner, ptr %held, !invariant.group !4
  br label %nest

nest:
  %j = phi i64 [ 0, %loop ], [ %j.next, %nest ]
  %deep = getelementptr i64, ptr %inner, i64 %j
  store i64 %left, ptr %deep, !invariant.group !5
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %latch, label %nest

latch:
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  br label %invert

invert:
  %flat.known = phi ptr [ %flat, %exit ], [ undef, %entry ]
  %outer.known = phi ptr [ %outer, %exit ], [ undef, %entry ]
  %last = sub i64 %n, 1
  %from = getelementptr i64, ptr %flat.known, i64 %last
  %first = load i64, ptr %from, !invariant.group !2
  call void @use(i64 %first)
  %row = getelementptr ptr, ptr %outer.known, i64 %last
  %there = load ptr, ptr %row, !invariant.group !4
  %cell = getelementptr i64, ptr %there, i64 %last
  %second = load i64, ptr %cell, !invariant.group !5
  call void @use(i64 %second)
  call void @free(ptr %there), !enzyme_cache_free !3
  call void @free(ptr %outer.known), !enzyme_cache_free !1
  call void @free(ptr %flat.known), !enzyme_cache_free !0
  ret void
}

; CHECK-LABEL: define void @changes(
; CHECK:         store i64 %i, {{.*}} !invariant.group
; CHECK:         store i64 %a, {{.*}} !invariant.group
; CHECK:         store i64 %b, {{.*}} !invariant.group
; CHECK:         load i64, {{.*}} !invariant.group
; CHECK:         load i64, {{.*}} !invariant.group
; CHECK:         call void @free
; CHECK:         call void @free
define void @changes(i64 %n, i64 %a, i64 %b) {
entry:
  %size = mul i64 %n, 8
  %counted = call ptr @malloc(i64 %size), !enzyme_cache_alloc !6
  %two = call ptr @malloc(i64 %size), !enzyme_cache_alloc !7
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %place = getelementptr i64, ptr %counted, i64 %i
  store i64 %i, ptr %place, !invariant.group !8
  %other = getelementptr i64, ptr %two, i64 %i
  store i64 %a, ptr %other, !invariant.group !9
  store i64 %b, ptr %other, !invariant.group !9
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %invert, label %loop

invert:
  %from = getelementptr i64, ptr %counted, i64 %b
  %first = load i64, ptr %from, !invariant.group !8
  call void @use(i64 %first)
  %second = load i64, ptr %two, !invariant.group !9
  call void @use(i64 %second)
  call void @free(ptr %counted), !enzyme_cache_free !6
  call void @free(ptr %two), !enzyme_cache_free !7
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @use(i64)

!0 = distinct !{}
!1 = distinct !{}
!2 = distinct !{}
!3 = distinct !{}
!4 = distinct !{}
!5 = distinct !{}
!6 = distinct !{}
!7 = distinct !{}
!8 = distinct !{}
!9 = distinct !{}
