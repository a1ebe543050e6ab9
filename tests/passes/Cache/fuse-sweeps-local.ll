; Local variables of an iteration and its reversal: what is summed up in them may be summed in any order, what the
; reversal leaves as zero it finds as zero, and what one decision fills is there where it is decided again.
;
; RUN: %opt -passes=adgen-fuse-sweeps -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare noalias ptr @malloc(i64)
declare void @free(ptr)

; The cotangents of two factors are summed in a local array, taken at the end of the reversal and left as zeros.
; CHECK-LABEL: define void @adgen_gradient_left_zero(
; CHECK:       forward:
; CHECK:         atomicrmw fadd
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_left_zero(ptr noalias %x, ptr noalias %y, ptr noalias %l, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %d_factors = alloca [2 x double]
  %d_second = getelementptr inbounds i8, ptr %d_factors, i64 8
  store double 0.0, ptr %d_factors
  store double 0.0, ptr %d_second
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
  %which = getelementptr inbounds i64, ptr %l, i64 %j
  %k = load i64, ptr %which
  %place = getelementptr inbounds double, ptr %d_factors, i64 %k
  %so.far = load double, ptr %place
  %more = fadd double %so.far, %cotangent
  store double %more, ptr %place
  %one = load double, ptr %d_factors
  store double 0.0, ptr %d_factors
  %other = load double, ptr %d_second
  store double 0.0, ptr %d_second
  %part = fadd double %one, %other
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

; Not where one of the places is left as it is: the next reversal would find what a later one was to find.
; CHECK-LABEL: define void @adgen_gradient_left_over(
; CHECK:       forward:
; CHECK-NOT:     atomicrmw
; CHECK:       invert:
; CHECK:         atomicrmw fadd
define void @adgen_gradient_left_over(ptr noalias %x, ptr noalias %y, ptr noalias %l, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %d_factors = alloca [2 x double]
  %d_second = getelementptr inbounds i8, ptr %d_factors, i64 8
  store double 0.0, ptr %d_factors
  store double 0.0, ptr %d_second
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
  %which = getelementptr inbounds i64, ptr %l, i64 %j
  %k = load i64, ptr %which
  %place = getelementptr inbounds double, ptr %d_factors, i64 %k
  %so.far = load double, ptr %place
  %more = fadd double %so.far, %cotangent
  store double %more, ptr %place
  %one = load double, ptr %d_factors
  store double 0.0, ptr %d_factors
  %other = load double, ptr %d_second
  %part = fadd double %one, %other
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

; Cotangents that are summed in a local array during the whole sweep, and added behind it.
; CHECK-LABEL: define void @adgen_gradient_summed(
; CHECK:       forward:
; CHECK:         %so.far = load double, ptr %place
; CHECK:         store double %more, ptr %place
; CHECK:         br i1 {{.*}}, label %forward
; CHECK-NOT:   {{^}}invert:
; CHECK:         atomicrmw fadd
define void @adgen_gradient_summed(ptr noalias %x, ptr noalias %y, ptr noalias %l, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %d_factors = alloca [2 x double]
  %d_second = getelementptr inbounds i8, ptr %d_factors, i64 8
  store double 0.0, ptr %d_factors
  store double 0.0, ptr %d_second
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
  %part = fmul double %w, %cotangent
  %which = getelementptr inbounds i64, ptr %l, i64 %j
  %k = load i64, ptr %which
  %place = getelementptr inbounds double, ptr %d_factors, i64 %k
  %so.far = load double, ptr %place
  %more = fadd double %so.far, %part
  store double %more, ptr %place
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  %one = load double, ptr %d_factors
  %other = load double, ptr %d_second
  %both = fmul double %one, %other
  %old = atomicrmw fadd ptr %d_x, double %both monotonic
  ret void
}

; Not where the reversal does something else with what is summed so far.
; CHECK-LABEL: define void @adgen_gradient_scaled(
; CHECK:       {{^}}invert:
define void @adgen_gradient_scaled(ptr noalias %x, ptr noalias %y, ptr noalias %l, i64 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %d_factors = alloca [2 x double]
  %d_second = getelementptr inbounds i8, ptr %d_factors, i64 8
  store double 0.0, ptr %d_factors
  store double 0.0, ptr %d_second
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
  %which = getelementptr inbounds i64, ptr %l, i64 %j
  %k = load i64, ptr %which
  %place = getelementptr inbounds double, ptr %d_factors, i64 %k
  %so.far = load double, ptr %place
  %half = fmul double %so.far, 0.5
  %more = fadd double %half, %cotangent
  store double %more, ptr %place
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  br label %end
end:
  %one = load double, ptr %d_factors
  %other = load double, ptr %d_second
  %both = fmul double %one, %other
  %old = atomicrmw fadd ptr %d_x, double %both monotonic
  ret void
}

; One of two ways fills a local array and keeps its result, in the forward sweep and again in the reversal, which decides
; twice: what is read of either way's cache is chosen, and the cotangent of the way that was not taken stays zero, so
; that nothing goes from one reversal to the next.
; CHECK-LABEL: define void @adgen_gradient_either_way(
; CHECK-NOT:     @malloc
; CHECK:       {{^}}forward:
; CHECK:         atomicrmw fadd ptr %{{.*}}, double %part
; CHECK-NOT:   {{^}}invert:
; CHECK-NOT:     @free
; CHECK:         ret void
define void @adgen_gradient_either_way(ptr noalias %x, ptr noalias %y, ptr noalias %l, i64 %n, i32 %kind, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %filled = alloca [2 x double]
  %flag = icmp eq i32 %kind, 1
  %second = getelementptr inbounds i8, ptr %filled, i64 8
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %before, label %join
before:
  %bytes = shl i64 %n, 3
  %cache = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %other.cache = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  br label %forward
forward:
  %i = phi i64 [ 0, %before ], [ %i.next, %forward.end ]
  %sum = phi double [ 0.0, %before ], [ %sum.next, %forward.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  br i1 %flag, label %fill, label %otherwise
fill:
  store double %v, ptr %filled
  %square = fmul double %v, %v
  store double %square, ptr %second
  %which = getelementptr inbounds i64, ptr %l, i64 %i
  %k = load i64, ptr %which
  %place = getelementptr inbounds double, ptr %filled, i64 %k
  %one = load double, ptr %place
  %kept = getelementptr inbounds double, ptr %cache, i64 %i
  store double %one, ptr %kept
  br label %forward.end
otherwise:
  %three = fmul double %v, 3.0
  %other.kept = getelementptr inbounds double, ptr %other.cache, i64 %i
  store double %three, ptr %other.kept
  br label %forward.end
forward.end:
  %term = phi double [ %one, %fill ], [ %three, %otherwise ]
  %sum.next = fadd double %sum, %term
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %left, label %forward
left:
  br label %join
join:
  %known = phi ptr [ undef, %entry ], [ %cache, %left ]
  %other.known = phi ptr [ undef, %entry ], [ %other.cache, %left ]
  %total = phi double [ 0.0, %entry ], [ %sum.next, %left ]
  store double %total, ptr %y
  %cotangent = load double, ptr %d_y
  store double 0.0, ptr %d_y
  br i1 %any, label %invert.before, label %end
invert.before:
  %last = add i64 %n, -1
  %chosen = select i1 %flag, ptr %known, ptr %other.known
  br label %invert
invert:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_one = phi double [ 0.0, %invert.before ], [ %d_one.next, %invert.next ]
  %back = getelementptr inbounds double, ptr %x, i64 %j
  %w = load double, ptr %back
  br i1 %flag, label %fill.again, label %decide
fill.again:
  store double %w, ptr %filled
  %square.again = fmul double %w, %w
  store double %square.again, ptr %second
  br label %decide
decide:
  %there = getelementptr inbounds double, ptr %chosen, i64 %j
  %kept.then = load double, ptr %there
  %d_one.more = fadd nsz double %d_one, %cotangent
  %d_one.now = select i1 %flag, double %d_one.more, double %d_one
  br i1 %flag, label %invert.fill, label %invert.otherwise
invert.fill:
  %which.again = getelementptr inbounds i64, ptr %l, i64 %j
  %k.again = load i64, ptr %which.again
  %place.again = getelementptr inbounds double, ptr %filled, i64 %k.again
  %one.again = load double, ptr %place.again
  %slope = fmul double %one.again, %d_one.now
  br label %invert.end
invert.otherwise:
  br label %invert.end
invert.end:
  %d_one.next = phi double [ 0.0, %invert.fill ], [ %d_one.now, %invert.otherwise ]
  %factor = phi double [ %slope, %invert.fill ], [ %cotangent, %invert.otherwise ]
  %part = fmul double %factor, %kept.then
  %to = getelementptr inbounds double, ptr %d_x, i64 %j
  %old = atomicrmw fadd ptr %to, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %invert.left, label %invert.next
invert.next:
  %j.next = add i64 %j, -1
  br label %invert
invert.left:
  call void @free(ptr %known), !enzyme_cache_free !0
  call void @free(ptr %other.known), !enzyme_cache_free !1
  br label %end
end:
  ret void
}

!0 = distinct !{}
!1 = distinct !{}
