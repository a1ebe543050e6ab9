; An iteration of a sum is reversed right after it was computed, if its reversal needs nothing but what is known by then. What
; cannot be proved to be such a pair of loops stays as it is, to the names of its blocks.
;
; RUN: %opt -passes=adgen-fuse-sweeps -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; One loop, one load of the element; the cotangent is read before it, and zeroed behind it.
; CHECK-LABEL: define void @adgen_gradient_sum(
; CHECK:         %[[COTANGENT:.*]] = load double, ptr %d_y
; CHECK:       forward:
; CHECK:         %v = load double, ptr %from
; CHECK-NOT:     load
; CHECK:         %[[SLOPE:.*]] = fadd double %v, %v
; CHECK-NEXT:    %[[PART:.*]] = fmul double %[[SLOPE]], %[[COTANGENT]]
; CHECK:         atomicrmw fadd ptr {{.*}}, double %[[PART]] monotonic
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     phi i64
; CHECK:         store double 0.0{{.*}}, ptr %d_y
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_sum(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; A cotangent that one exchange takes, whether or not the loop runs, is taken first. So is one that was taken before it
; and may be the same one.
; CHECK-LABEL: define void @adgen_gradient_taken(
; CHECK:       entry:
; CHECK-DAG:     [[A:%.*]] = getelementptr double, ptr %d_y, i64 %a
; CHECK-DAG:     [[B:%.*]] = getelementptr double, ptr %d_y, i64 %b
; CHECK:         %other = atomicrmw xchg ptr [[A]], double 0.0
; CHECK-NEXT:    %cotangent = atomicrmw xchg ptr [[B]], double 0.0
; CHECK:         br i1
; CHECK:       forward:
; CHECK:         atomicrmw fadd ptr %to
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_taken(ptr noalias %x, ptr noalias %y, i64 %n, i64 %a, i64 %b, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %at.a = getelementptr double, ptr %d_y, i64 %a
  %at.b = getelementptr double, ptr %d_y, i64 %b
  %other = atomicrmw xchg ptr %at.a, double 0.0 monotonic, !adgen.consumed !9
  %cotangent = atomicrmw xchg ptr %at.b, double 0.0 monotonic, !adgen.consumed !9
  %y.1 = getelementptr double, ptr %y, i64 1
  store double %total, ptr %y.1
  %y.2 = getelementptr double, ptr %y, i64 2
  store double %total, ptr %y.2
  %y.3 = getelementptr double, ptr %y, i64 3
  store double %total, ptr %y.3
  %y.4 = getelementptr double, ptr %y, i64 4
  store double %total, ptr %y.4
  %y.5 = getelementptr double, ptr %y, i64 5
  store double %total, ptr %y.5
  %y.6 = getelementptr double, ptr %y, i64 6
  store double %other, ptr %y.6
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; Not where the way back adds to the element first, nor where the loop reads it, nor what is no cotangent.
; CHECK-LABEL: define void @adgen_gradient_added_before(
; CHECK:       invert:
; CHECK:         ret void
define void @adgen_gradient_added_before(ptr noalias %x, ptr noalias %y, i64 %n, i64 %a, i64 %b, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %added = atomicrmw fadd ptr %d_y, double %total monotonic
  %cotangent = atomicrmw xchg ptr %d_y, double 0.0 monotonic, !adgen.consumed !9
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_read_in_loop(
; CHECK:       invert:
; CHECK:         ret void
define void @adgen_gradient_read_in_loop(ptr noalias %x, ptr noalias %y, i64 %n, i64 %a, i64 %b, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %any.y = getelementptr double, ptr %d_y, i64 %i
  %seen = load double, ptr %any.y
  %next = getelementptr double, ptr %y, i64 %i
  store double %seen, ptr %next
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = atomicrmw xchg ptr %d_y, double 0.0 monotonic, !adgen.consumed !9
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_users_own(
; CHECK:       invert:
; CHECK:         ret void
define void @adgen_gradient_users_own(ptr noalias %x, ptr noalias %y, i64 %n, i64 %a, i64 %b, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = atomicrmw xchg ptr %y, double 0.0 monotonic
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; A condition that is decided before the loop as well, and a cache that is used on one way of it.
; CHECK-LABEL: define void @adgen_gradient_kept_on_one_way(
; CHECK-NOT:     @malloc
; CHECK:         store double 7.0
; CHECK:       forward:
; CHECK:         atomicrmw fadd
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw fadd
; CHECK-NOT:     @free
; CHECK:         ret void
define void @adgen_gradient_kept_on_one_way(ptr noalias %x, ptr noalias %y, ptr noalias %index, i32 %n, i32 %kind, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i32 %n, 0
  %c = icmp eq i32 %kind, 1
  br i1 %c, label %of.kind, label %begin
of.kind:
  %further = getelementptr inbounds double, ptr %y, i64 1
  store double 7.0, ptr %further
  br label %begin
begin:
  br i1 %any, label %before, label %join
before:
  %count = zext i32 %n to i64
  %bytes = mul nuw nsw i64 %count, 8
  %cache = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  br i1 %c, label %own, label %found
own:
  %from.own = getelementptr inbounds double, ptr %x, i64 %i
  br label %forward.end
found:
  %at = getelementptr inbounds i64, ptr %index, i64 %i
  %place = load i64, ptr %at
  %slot = getelementptr inbounds i64, ptr %cache, i64 %i
  store i64 %place, ptr %slot
  %from.found = getelementptr inbounds double, ptr %x, i64 %place
  br label %forward.end
forward.end:
  %from = phi ptr [ %from.own, %own ], [ %from.found, %found ]
  %v = load double, ptr %from
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.32 = trunc i64 %i.next to i32
  %i.done = icmp eq i32 %i.32, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %kept = phi ptr [ undef, %begin ], [ %cache, %left ]
  %total = phi double [ 0.0, %begin ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last.32 = add i32 %n, -1
  %last = zext i32 %last.32 to i64
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  br i1 %c, label %invert.own, label %invert.found
invert.own:
  %back.own = getelementptr inbounds double, ptr %x, i64 %j
  %to.own = getelementptr inbounds double, ptr %d_x, i64 %j
  br label %invert.end
invert.found:
  %slot.back = getelementptr inbounds i64, ptr %kept, i64 %j
  %place.back = load i64, ptr %slot.back
  %back.found = getelementptr inbounds double, ptr %x, i64 %place.back
  %to.found = getelementptr inbounds double, ptr %d_x, i64 %place.back
  br label %invert.end
invert.end:
  %back = phi ptr [ %back.own, %invert.own ], [ %back.found, %invert.found ]
  %to = phi ptr [ %to.own, %invert.own ], [ %to.found, %invert.found ]
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; The reversal asks the same in another way: what was kept on one of the ways is a variable of the iteration.
; CHECK-LABEL: define void @adgen_gradient_kept_by_kind(
; CHECK-NOT:     @malloc
; CHECK:       forward:
; CHECK:         %place = load i64, ptr %at
; CHECK:         switch i32 %kind
; CHECK:         atomicrmw fadd
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw fadd
; CHECK-NOT:     @free
; CHECK:         ret void
define void @adgen_gradient_kept_by_kind(ptr noalias %x, ptr noalias %y, ptr noalias %index, i32 %n, i32 %kind, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp sgt i32 %n, 0
  %c = icmp eq i32 %kind, 1
  br label %begin
begin:
  br i1 %any, label %before, label %join
before:
  %count = zext i32 %n to i64
  %bytes = mul nuw nsw i64 %count, 8
  %cache = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  br i1 %c, label %own, label %found
own:
  %from.own = getelementptr inbounds double, ptr %x, i64 %i
  br label %forward.end
found:
  %at = getelementptr inbounds i64, ptr %index, i64 %i
  %place = load i64, ptr %at
  %slot = getelementptr inbounds i64, ptr %cache, i64 %i
  store i64 %place, ptr %slot
  %from.found = getelementptr inbounds double, ptr %x, i64 %place
  br label %forward.end
forward.end:
  %from = phi ptr [ %from.own, %own ], [ %from.found, %found ]
  %v = load double, ptr %from
  %term = fmul double %v, %v
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.32 = trunc i64 %i.next to i32
  %i.done = icmp eq i32 %i.32, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %kept = phi ptr [ undef, %begin ], [ %cache, %left ]
  %total = phi double [ 0.0, %begin ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last.32 = add i32 %n, -1
  %last = zext i32 %last.32 to i64
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  switch i32 %kind, label %invert.found [ i32 1, label %invert.own
                                          i32 5, label %invert.other ]
invert.own:
  br label %invert.end
invert.other:
  %slot.other = getelementptr inbounds i64, ptr %kept, i64 %j
  %place.other = load i64, ptr %slot.other
  br label %invert.end
invert.found:
  %slot.back = getelementptr inbounds i64, ptr %kept, i64 %j
  %place.back = load i64, ptr %slot.back
  br label %invert.end
invert.end:
  %at.back = phi i64 [ %j, %invert.own ], [ %place.back, %invert.found ], [ %place.other, %invert.other ]
  %share = phi double [ 1.0, %invert.own ], [ 2.0, %invert.found ], [ 3.0, %invert.other ]
  %back = getelementptr inbounds double, ptr %x, i64 %at.back
  %to = getelementptr inbounds double, ptr %d_x, i64 %at.back
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %whole = fmul double %slope, %cotangent
  %part = fmul double %whole, %share
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; What an iteration keeps for its reversal is not kept any more.
; CHECK-LABEL: define void @adgen_gradient_kept(
; CHECK-NOT:     @malloc
; CHECK:         %term = call double @__nv_exp(double %v)
; CHECK:         %part = fmul double %{{.*}}, %{{.*}}
; CHECK:         atomicrmw
; CHECK-NOT:     @free
; CHECK:         ret void
define void @adgen_gradient_kept(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  %bytes = shl i64 %n, 3
  %cache = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = call double @__nv_exp(double %v)
  %kept = getelementptr inbounds double, ptr %cache, i64 %i
  store double %term, ptr %kept
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %known = phi ptr [ undef, %entry ], [ %cache, %left ]
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %there = getelementptr inbounds double, ptr %known, i64 %j
  %slope = load double, ptr %there
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  call void @free(ptr %known), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; A condition that the reversal decides again is decided once, and nothing is computed again behind it.
; CHECK-LABEL: define void @adgen_gradient_decides(
; CHECK:         call double @__nv_exp(
; CHECK-NOT:     @__nv_exp(
; CHECK:         ret void
define void @adgen_gradient_decides(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %large = fcmp ogt double %v, 1.0
  br i1 %large, label %far, label %near
far:
  %e = call double @__nv_exp(double %v)
  br label %forward.end
near:
  br label %forward.end
forward.end:
  %term = phi double [ %e, %far ], [ %v, %near ]
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %again = fcmp ogt double %w, 1.0
  br i1 %again, label %invert.far, label %invert.near
invert.far:
  %s = call double @__nv_exp(double %w)
  br label %invert.part
invert.near:
  br label %invert.part
invert.part:
  %slope = phi double [ %s, %invert.far ], [ 1.0, %invert.near ]
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; The same where there is nothing on one way.
; CHECK-LABEL: define void @adgen_gradient_decides_at_times(
; CHECK:         call double @__nv_exp(
; CHECK-NOT:     @__nv_exp(
; CHECK:         ret void
define void @adgen_gradient_decides_at_times(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %large = fcmp ogt double %v, 1.0
  br i1 %large, label %far, label %forward.end
far:
  %e = call double @__nv_exp(double %v)
  br label %forward.end
forward.end:
  %term = phi double [ %e, %far ], [ %v, %forward ]
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %again = fcmp ogt double %w, 1.0
  br i1 %again, label %invert.far, label %invert.part
invert.far:
  %s = call double @__nv_exp(double %w)
  br label %invert.part
invert.part:
  %slope = phi double [ %s, %invert.far ], [ 1.0, %invert ]
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; A local variable may be used by both, where both fill it first.
; CHECK-LABEL: define void @adgen_gradient_fills(
; CHECK:       forward:
; CHECK:         atomicrmw
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_fills(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %own = alloca [2 x double]
  %second = getelementptr inbounds i8, ptr %own, i64 8
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  store double %v, ptr %own
  store double 1.0, ptr %second
  %which = and i64 %i, 1
  %place = getelementptr inbounds double, ptr %own, i64 %which
  %term = load double, ptr %place
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  store double 2.0, ptr %own
  store double %w, ptr %second
  %what = and i64 %j, 1
  %site = getelementptr inbounds double, ptr %own, i64 %what
  %slope = load double, ptr %site
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; Where the reversal reads what its own iteration has not written, it may be another iteration's.
; CHECK-LABEL: define void @adgen_gradient_reads_first(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_reads_first(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %own = alloca [2 x double]
  %second = getelementptr inbounds i8, ptr %own, i64 8
  store double 0.0, ptr %second
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  store double %v, ptr %own
  %which = and i64 %i, 1
  %place = getelementptr inbounds double, ptr %own, i64 %which
  %term = load double, ptr %place
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %what = and i64 %j, 1
  %site = getelementptr inbounds double, ptr %own, i64 %what
  %slope = load double, ptr %site
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; A cotangent that is carried from iteration to iteration comes from the last one.
; CHECK-LABEL: define void @adgen_gradient_recurrence(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_recurrence(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %carried = phi double [ 1.0, %invert.before ], [ %carried.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %carried.next = fmul double %carried, %slope
  %part = fmul double %carried, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; The total is known behind the last iteration only.
; CHECK-LABEL: define void @adgen_gradient_needs_total(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_needs_total(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %total, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; One iteration fewer.
; CHECK-LABEL: define void @adgen_gradient_shorter(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_shorter(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  %fewer = add i64 %n, -1
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %fewer, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; The total may be stored into an element that the reversal reads.
; CHECK-LABEL: define void @adgen_gradient_overlaps(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_overlaps(ptr %x, ptr %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; The reversal reads a shadow that it adds to.
; CHECK-LABEL: define void @adgen_gradient_reads_shadow(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_reads_shadow(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %d_x
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; What threads do together keeps its place.
; CHECK-LABEL: define void @adgen_gradient_waits(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_waits(ptr noalias %x, ptr noalias %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; Pointers of a function that was called around the loops do not overlap at all.
; CHECK-LABEL: define void @adgen_gradient_restrict_around(
; CHECK:       forward:
; CHECK:         atomicrmw
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_restrict_around(ptr %x, ptr %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  call void @llvm.experimental.noalias.scope.decl(metadata !1)
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %out = getelementptr inbounds double, ptr %y, i64 %i
  store double %v, ptr %out, !alias.scope !1
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y, !alias.scope !1
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back, !noalias !1
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

; Those of a function that was called in an iteration do not overlap in that iteration.
; CHECK-LABEL: define void @adgen_gradient_restrict_within(
; CHECK:       invert:
; CHECK:         atomicrmw
define void @adgen_gradient_restrict_within(ptr %x, ptr %y, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  call void @llvm.experimental.noalias.scope.decl(metadata !1)
  %out = getelementptr inbounds double, ptr %y, i64 %i
  store double %v, ptr %out, !alias.scope !1
  %term = fmul double %v, %v
  br label %forward.end
forward.end:
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y, !alias.scope !1
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back, !noalias !1
  %slope = fadd double %w, %w
  %part = fmul double %slope, %cotangent
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  ret void
}

declare double @__nv_exp(double) nounwind willreturn memory(none)
declare noalias ptr @malloc(i64) nounwind allockind("alloc,uninitialized") allocsize(0) "alloc-family"="malloc"
declare void @free(ptr) nounwind allockind("free") "alloc-family"="malloc"
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.experimental.noalias.scope.decl(metadata)

!0 = distinct !{!0}
!1 = !{!2}
!2 = distinct !{!2, !3}
!3 = distinct !{!3}
!9 = !{}
