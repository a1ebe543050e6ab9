; Memory of one size that every iteration allocates and gives back is allocated before the loop and given back behind it.
;
; RUN: %opt -passes='function(loop-simplify),adgen-hoist-allocations' -S %s | %filecheck %s

; Both arrays, of which the first may end the iteration; the loop is left before its latch, as Enzyme's reverse sweeps.
; CHECK-LABEL: define void @both(
; CHECK:       entry:
; CHECK:         %bytes = shl
; CHECK-NEXT:    %a = call {{.*}}@_Znwm(i64 %bytes)
; CHECK-NEXT:    %b = call {{.*}}@malloc(i64 64)
; CHECK-NEXT:    br label %loop
; CHECK-NOT:     @free
; CHECK:       exit:
; CHECK-NEXT:    call void @free(ptr %b)
; CHECK-NEXT:    call void @_ZdlPvm(ptr %a, i64 %n)
; CHECK-NEXT:    ret void
define void @both(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %bytes = shl i64 %n, 3
  %a = call noalias ptr @_Znwm(i64 %bytes)
  call void @fill(ptr %a)
  %b = call noalias ptr @malloc(i64 64)
  call void @fill(ptr %b)
  call void @_ZdlPvm(ptr %a, i64 %n)
  call void @free(ptr %b)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %latch
latch:
  call void @fill(ptr %x)
  br label %loop
exit:
  ret void
}

; From the inner loop, and then from the outer one.
; CHECK-LABEL: define void @nested(
; CHECK:       entry:
; CHECK-NEXT:    %a = call {{.*}}@malloc(i64 64)
; CHECK:       exit:
; CHECK-NEXT:    call void @free(ptr %a)
define void @nested(i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %next, %outer.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %a = call noalias ptr @malloc(i64 64)
  call void @fill(ptr %a)
  call void @free(ptr %a)
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %outer.end, label %inner
outer.end:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %outer
exit:
  ret void
}

; CHECK-LABEL: define void @other_size(
; CHECK:       loop:
; CHECK:         %a = call {{.*}}@malloc(i64 %i)
define void @other_size(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = call noalias ptr @malloc(i64 %i)
  call void @fill(ptr %a)
  call void @free(ptr %a)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; The process may end before.
; CHECK-LABEL: define void @after_a_check(
; CHECK:       loop:
; CHECK:         %a = call {{.*}}@malloc(i64 %n)
define void @after_a_check(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @check(i64 %n)
  %a = call noalias ptr @malloc(i64 %n)
  call void @fill(ptr %a)
  call void @free(ptr %a)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; An iteration may leave its memory to others.
; CHECK-LABEL: define void @kept_by_some(
; CHECK:       loop:
; CHECK:         %a = call {{.*}}@malloc(i64 %n)
; CHECK:       give:
; CHECK-NEXT:    call void @free(ptr %a)
define void @kept_by_some(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %a = call noalias ptr @malloc(i64 %n)
  %keep = icmp ult i64 %i, 3
  br i1 %keep, label %store, label %give
store:
  store ptr %a, ptr %x
  br label %latch
give:
  call void @free(ptr %a)
  br label %latch
latch:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; So may one that goes on without coming to where the loop is left.
; CHECK-LABEL: define void @continued(
; CHECK:       loop:
; CHECK:         %a = call {{.*}}@malloc(i64 %n)
; CHECK:       give:
; CHECK-NEXT:    call void @free(ptr %a)
define void @continued(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %next = add i64 %i, 1
  %a = call noalias ptr @malloc(i64 %n)
  %keep = icmp ult i64 %i, 3
  br i1 %keep, label %store, label %give
store:
  store ptr %a, ptr %x
  br label %latch
give:
  call void @free(ptr %a)
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %latch
latch:
  br label %loop
exit:
  ret void
}

; Where the loop is left elsewhere too, there is no one place to give it back.
; CHECK-LABEL: define void @left_early(
; CHECK:       loop:
; CHECK:         %a = call {{.*}}@malloc(i64 %n)
define void @left_early(i64 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %a = call noalias ptr @malloc(i64 %n)
  call void @fill(ptr %a)
  call void @free(ptr %a)
  %enough = icmp eq i64 %i, %m
  br i1 %enough, label %exit, label %more
more:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; A cache that all iterations have or none, behind a choice between it and nothing. Not one upon which each iteration decides, nor one that is handed on.
; CHECK-LABEL: define void @under_a_condition(
; CHECK:       entry:
; CHECK:         %[[SIZE:.*]] = freeze i64 %bytes
; CHECK-NEXT:    %[[ASKED:.*]] = freeze i1 %any
; CHECK-NEXT:    %[[ALL:.*]] = select i1 %[[ASKED]], i64 %[[SIZE]], i64 0
; CHECK-NEXT:    %a = call noalias ptr @malloc(i64 %[[ALL]]), !enzyme_cache_alloc ![[A:.*]]
; CHECK-NEXT:    br label %loop
; CHECK:       some:
; CHECK:         %b = call {{.*}}@malloc(
; CHECK-NEXT:    %c = call {{.*}}@malloc(
; CHECK:       join:
; CHECK:         call void @free(ptr %b.here)
; CHECK-NEXT:    call void @free(ptr %c.here)
; CHECK:       exit:
; CHECK-NEXT:    call void @free(ptr %a), !enzyme_cache_free ![[A]]
define void @under_a_condition(ptr %x, ptr %y, i64 %n, i64 %k) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %any = icmp sgt i64 %k, 0
  %bytes = shl nuw i64 %k, 3
  br i1 %any, label %all, label %join
all:
  %a = call noalias nonnull ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  store double 1.0, ptr %a
  %mine = icmp eq i64 %i, %k
  br i1 %mine, label %some, label %join
some:
  %b = call noalias nonnull ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  %c = call noalias nonnull ptr @malloc(i64 %bytes), !enzyme_cache_alloc !2
  store ptr %c, ptr %y
  br label %join
join:
  %a.here = phi ptr [ undef, %loop ], [ %a, %all ], [ %a, %some ]
  %b.here = phi ptr [ undef, %loop ], [ undef, %all ], [ %b, %some ]
  %c.here = phi ptr [ undef, %loop ], [ undef, %all ], [ %c, %some ]
  call void @free(ptr %a.here), !enzyme_cache_free !0
  call void @free(ptr %b.here), !enzyme_cache_free !1
  call void @free(ptr %c.here), !enzyme_cache_free !2
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

!0 = !{!"a"}
!1 = !{!"b"}
!2 = !{!"c"}

declare noalias ptr @_Znwm(i64)
declare noalias ptr @malloc(i64) nounwind willreturn
declare void @free(ptr) nounwind willreturn
declare void @_ZdlPvm(ptr, i64) nounwind willreturn
declare void @fill(ptr) nounwind willreturn
declare void @check(i64)
