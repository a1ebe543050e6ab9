; Of two loops that read the same elements in the same order, the second one's address gets a zero that nothing sees through; loops that
; read more or fewer of them stay, and so do loads of one loop.
;
; RUN: %opt -passes=adgen-separate-loads -S %s | %filecheck %s

; CHECK-LABEL: define double @twice(
; CHECK:         %a = alloca [8 x double]
; CHECK-NEXT:    %guard = call i1 @adgen_opaque(i1 false)
; CHECK:       first:
; CHECK:         load double, ptr %here
; CHECK:       second:
; CHECK:         %there = getelementptr
; CHECK-NEXT:    [[ZERO:%.*]] = zext i1 %guard to i64
; CHECK-NEXT:    [[AGAIN:%.*]] = getelementptr inbounds i8, ptr %there, i64 [[ZERO]]
; CHECK-NEXT:    load double, ptr [[AGAIN]]
define double @twice(ptr %x) {
entry:
  %a = alloca [8 x double]
  call void @fill(ptr %a)
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %here = getelementptr inbounds [8 x double], ptr %a, i64 0, i64 %i
  %u = load double, ptr %here
  store double %u, ptr %x
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 8
  br i1 %i.done, label %between, label %first
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %there = getelementptr inbounds [8 x double], ptr %a, i64 0, i64 %j
  %v = load double, ptr %there
  store double %v, ptr %x
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 8
  br i1 %j.done, label %third.entry, label %second
third.entry:
  br label %third
third:
  %k = phi i64 [ 0, %third.entry ], [ %k.next, %third ]
; CHECK:       third:
; Three fewer iterations: not the same reading.
; CHECK:         load double, ptr %elsewhere
  %elsewhere = getelementptr inbounds [8 x double], ptr %a, i64 0, i64 %k
  %w = load double, ptr %elsewhere
  store double %w, ptr %x
  %k.next = add nuw nsw i64 %k, 1
  %k.done = icmp eq i64 %k.next, 5
  br i1 %k.done, label %end, label %third
end:
  ret double %w
}

; Two zeros for two loops, or the third loop would read what the second one reads.
; CHECK-LABEL: define void @thrice(
; CHECK:         [[ONE:%.*]] = call i1 @adgen_opaque(i1 false)
; CHECK-NEXT:    call i1 @adgen_opaque(i1 [[ONE]])
define void @thrice(ptr %x, ptr %y) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %one = getelementptr inbounds double, ptr %x, i64 %i
  %u = load double, ptr %one
  store double %u, ptr %y
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 8
  br i1 %i.done, label %second, label %first
second:
  %j = phi i64 [ 0, %first ], [ %j.next, %second ]
  %two = getelementptr inbounds double, ptr %x, i64 %j
  %v = load double, ptr %two
  store double %v, ptr %y
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 8
  br i1 %j.done, label %third, label %second
third:
  %k = phi i64 [ 0, %second ], [ %k.next, %third ]
  %three = getelementptr inbounds double, ptr %x, i64 %k
  %w = load double, ptr %three
  store double %w, ptr %y
  %k.next = add nuw nsw i64 %k, 1
  %k.done = icmp eq i64 %k.next, 8
  br i1 %k.done, label %end, label %third
end:
  ret void
}

; Nothing in one loop alone.
; CHECK-LABEL: define void @once(
; CHECK-NOT:     adgen_opaque
; CHECK:         ret void
define void @once(ptr %x, ptr %y) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr inbounds double, ptr %x, i64 %i
  %u = load double, ptr %at
  store double %u, ptr %y
  %v = load double, ptr %at
  store double %v, ptr %y
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 8
  br i1 %i.done, label %end, label %loop
end:
  ret void
}

; By pointers that walk.
; CHECK-LABEL: define void @walked(
; CHECK:         %guard = call i1 @adgen_opaque(i1 false)
; CHECK:         load double, ptr %one
; CHECK:         [[THERE:%.*]] = getelementptr inbounds i8, ptr %two
; CHECK-NEXT:    load double, ptr [[THERE]]
define void @walked(ptr %x, ptr %y) {
entry:
  %bound = getelementptr inbounds double, ptr %x, i64 8
  br label %first
first:
  %one = phi ptr [ %x, %entry ], [ %one.next, %first ]
  %u = load double, ptr %one
  store double %u, ptr %y
  %one.next = getelementptr inbounds double, ptr %one, i64 1
  %one.done = icmp eq ptr %one.next, %bound
  br i1 %one.done, label %second, label %first
second:
  %two = phi ptr [ %x, %first ], [ %two.next, %second ]
  %v = load double, ptr %two
  store double %v, ptr %y
  %two.next = getelementptr inbounds double, ptr %two, i64 1
  %two.done = icmp eq ptr %two.next, %bound
  br i1 %two.done, label %end, label %second
end:
  ret void
}

; A load at max(i - 1, 0), and a store in a loop that neither comes first nor second: Enzyme must not add up their addresses.
; CHECK-LABEL: define void @bounded(
; CHECK:         [[HIDDEN:%.*]] = zext i1 %guard to i64
; CHECK-NEXT:    [[INDEX:%.*]] = xor i64 %before, [[HIDDEN]]
; CHECK-NEXT:    %left = getelementptr inbounds double, ptr %x, i64 [[INDEX]]
; CHECK:         %here = getelementptr inbounds double, ptr %x, i64 %i
; CHECK:         %there = getelementptr inbounds double, ptr %x, i64 %j
define void @bounded(ptr %x, ptr %y, i1 %c, i1 %d, i64 %n) {
entry:
  br label %again
again:
  br i1 %c, label %smooth.entry, label %between
smooth.entry:
  br label %smooth
smooth:
  %i = phi i64 [ 0, %smooth.entry ], [ %i.next, %smooth ]
  %last = add nsw i64 %i, -1
  %before = call i64 @llvm.smax.i64(i64 %last, i64 0)
  %left = getelementptr inbounds double, ptr %x, i64 %before
  %u = load double, ptr %left
  %here = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %here
  %sum = fadd double %u, %v
  store double %sum, ptr %y
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %between, label %smooth
between:
  br i1 %d, label %copy.entry, label %end
copy.entry:
  br label %copy
copy:
  %j = phi i64 [ 0, %copy.entry ], [ %j.next, %copy ]
  %there = getelementptr inbounds double, ptr %x, i64 %j
  store double 0.0, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %end, label %copy
end:
  br i1 %d, label %again, label %leave
leave:
  ret void
}

declare i64 @llvm.smax.i64(i64, i64)
declare void @fill(ptr)

; An allocation that a pointer stands for which may also be null: its own name may be null, too, but for who gives it back.
; CHECK-LABEL: define void @two_names(
; CHECK:       fill:
; CHECK-NEXT:    [[NEW:%.*]] = call noalias ptr @_Znwm(i64 %n)
; CHECK-NEXT:    [[NAME:%.*]] = select i1 %guard{{.*}}, ptr null, ptr [[NEW]]
; CHECK-NEXT:    store double 1.000000e+00, ptr [[NAME]]
; CHECK:         %either = phi ptr [ [[NAME]], %fill ], [ null, %entry ]
define void @two_names(i64 %n) {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %use, label %fill
fill:
  %new = call noalias ptr @_Znwm(i64 %n)
  store double 1.0, ptr %new
  br label %use
use:
  %either = phi ptr [ %new, %fill ], [ null, %entry ]
  call void @_ZdlPv(ptr %either)
  ret void
}
; One that has no other name stays.
; CHECK-LABEL: define void @one_name(
; CHECK-NOT:     select
; CHECK:         ret void
define void @one_name(i64 %n) {
  %new = call noalias ptr @_Znwm(i64 %n)
  store double 1.0, ptr %new
  call void @_ZdlPv(ptr %new)
  ret void
}
declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)

; What an iteration allocates and the next one reads has two names, too; the one before the loop and one that stays in its iteration do not.
; CHECK-LABEL: define void @handed_on(
; CHECK:         %first = call noalias ptr @_Znwm(i64 8)
; CHECK-NEXT:    store double 1.000000e+00, ptr %first
; CHECK:       loop:
; CHECK:         %now = phi ptr [ %first, %entry ], [ [[NAME:%.*]], %loop ]
; CHECK:         [[NEXT:%.*]] = call noalias ptr @_Znwm(i64 8)
; CHECK-NEXT:    [[NAME]] = select i1 %guard{{.*}}, ptr null, ptr [[NEXT]]
; CHECK:         %own = call noalias ptr @_Znwm(i64 8)
; CHECK-NEXT:    store double
; CHECK:         store double %twice, ptr [[NAME]]
define void @handed_on(i64 %n) {
entry:
  %first = call noalias ptr @_Znwm(i64 8)
  store double 1.0, ptr %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %now = phi ptr [ %first, %entry ], [ %next, %loop ]
  %next = call noalias ptr @_Znwm(i64 8)
  %own = call noalias ptr @_Znwm(i64 8)
  store double 1.0, ptr %own
  %u = load double, ptr %now
  %twice = fadd double %u, %u
  store double %twice, ptr %next
  call void @_ZdlPv(ptr %own)
  call void @_ZdlPv(ptr %now)
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  call void @_ZdlPv(ptr %next)
  ret void
}

; How far apart what a loop leaves behind is (a vector's size) is kept, also behind a way around the loop; what the loop itself finds so is not.
; CHECK-LABEL: define i64 @size(
; CHECK:       loop:
; CHECK:         %room = sub i64 %limit, %here
; CHECK-NEXT:    %next = getelementptr
; CHECK:       after:
; CHECK:         %size = sub i64 %to, %from
; CHECK-NEXT:    %[[KEPT:.*]] = call i64 @adgen_hold_i64(i64 %size)
; CHECK-NEXT:    ret i64 %[[KEPT]]
define i64 @size(ptr %begin, ptr %end, i1 %none) {
entry:
  br i1 %none, label %after, label %loop
loop:
  %last = phi ptr [ %begin, %entry ], [ %next, %loop ]
  %limit = ptrtoint ptr %end to i64
  %here = ptrtoint ptr %last to i64
  %room = sub i64 %limit, %here
  %next = getelementptr i8, ptr %last, i64 8
  %more = icmp sgt i64 %room, 64
  br i1 %more, label %loop, label %after
after:
  %finish = phi ptr [ %begin, %entry ], [ %next, %loop ]
  %to = ptrtoint ptr %finish to i64
  %from = ptrtoint ptr %begin to i64
  %size = sub i64 %to, %from
  ret i64 %size
}
