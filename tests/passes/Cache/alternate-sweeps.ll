; A loop whose iterations need nothing of each other: each is computed and reversed at once, from the last one to the
; first, and what is kept for it has the room of one. Where what they store may be one element, the loop runs once more.
;
; RUN: %opt -passes=adgen-alternate-sweeps -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_powers(
; CHECK:       outer.before:
; CHECK-NEXT:    %[[BYTES:[0-9]+]] = shl {{.*}}i64 %k, 3
; CHECK-NEXT:    %kept = call ptr @malloc(i64 %[[BYTES]])
; CHECK:         br label %invert.outer
; CHECK:       outer:
; CHECK-NOT:     %kept
; CHECK:         store double %{{.*}}, ptr %to,
; CHECK:       invert.outer:
; CHECK-NEXT:    %[[ABOVE:.*]] = phi i64 [ -1, %outer.before ], [ %[[PLACE:[0-9]+]], %{{.*}} ]
; CHECK-NEXT:    %[[ORDER:.*]] = phi i1 [ true, %outer.before ], [ %[[STILL:[0-9]+]], %{{.*}} ]
; CHECK:         br label %inner.again
; CHECK:       invert.inner:
; CHECK:         %[[BACK:.*]] = getelementptr double, ptr %kept, i64 %m
; CHECK-NEXT:    load double, ptr %[[BACK]]
; CHECK:       left:
; CHECK-NEXT:    br i1 %[[STILL]], label %{{.*}}, label %outer.preheader
; CHECK:       inner.again:
; CHECK:         %[[SLOT:.*]] = getelementptr double, ptr %kept, i64 %k.i.again
; CHECK-NEXT:    store double %p.again, ptr %[[SLOT]]
; CHECK:         %[[PLACE]] = ptrtoint ptr %to.again to i64
; CHECK-NEXT:    %[[END:[0-9]+]] = add i64 %[[PLACE]], 8
; CHECK-NEXT:    %[[BELOW:[0-9]+]] = icmp ule i64 %[[END]], %[[ABOVE]]
; CHECK-NEXT:    %[[STILL]] = and i1 %[[ORDER]], %[[BELOW]]
; CHECK-NEXT:    store double %{{.*}}, ptr %to.again
; CHECK:         %cotangent = atomicrmw xchg ptr %d_to, double 0.0
; CHECK:         br label %invert.inner
define void @adgen_gradient_powers(ptr noalias %x, ptr noalias %y, ptr noalias %index, i64 %n, i64 %k, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %some = icmp sgt i64 %n, 0
  %deep = icmp sgt i64 %k, 0
  %any = and i1 %some, %deep
  br i1 %any, label %outer.before, label %end
outer.before:
  %all = mul nuw nsw i64 %n, %k
  %bytes = mul nuw nsw i64 %all, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %outer.before ], [ %i.next, %outer.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %first = mul nuw nsw i64 %i, %k
  br label %inner
inner:
  %k.i = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %p = phi double [ 1.0, %outer ], [ %p.next, %inner ]
  %place = add nuw nsw i64 %k.i, %first
  %slot = getelementptr inbounds double, ptr %kept, i64 %place
  store double %p, ptr %slot
  %square = fmul double %p, %p
  %p.next = fadd double %square, %v
  %k.next = add nuw nsw i64 %k.i, 1
  %k.done = icmp eq i64 %k.next, %k
  br i1 %k.done, label %outer.end, label %inner
outer.end:
  %result = phi double [ %p.next, %inner ]
  %where = getelementptr inbounds i64, ptr %index, i64 %i
  %which = load i64, ptr %where, !invariant.load !1
  %to = getelementptr inbounds double, ptr %y, i64 %which
  store double %result, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %outer
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.outer
invert.outer:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %where.j = getelementptr inbounds i64, ptr %index, i64 %j
  %which.j = load i64, ptr %where.j, !invariant.load !1
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %which.j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %k.last = add nsw i64 %k, -1
  %j.first = mul nuw nsw i64 %j, %k
  br label %invert.inner
invert.inner:
  %m = phi i64 [ %k.last, %invert.outer ], [ %m.next, %invert.inner ]
  %d = phi double [ %cotangent, %invert.outer ], [ %d.next, %invert.inner ]
  %sum = phi double [ 0.0, %invert.outer ], [ %sum.next, %invert.inner ]
  %back = add nuw nsw i64 %m, %j.first
  %old = getelementptr inbounds double, ptr %kept, i64 %back
  %q = load double, ptr %old
  %twice = fadd double %q, %q
  %d.next = fmul double %d, %twice
  %sum.next = fadd double %sum, %d
  %m.next = add nsw i64 %m, -1
  %m.done = icmp eq i64 %m, 0
  br i1 %m.done, label %invert.end, label %invert.inner
invert.end:
  %part = phi double [ %sum.next, %invert.inner ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.outer
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; The reversal's count is frozen, and it carries a zero around.
; CHECK-LABEL: define void @adgen_gradient_frozen(
; CHECK-NOT:     call ptr @malloc
; CHECK:         %v.again = load double, ptr %from.again
; CHECK:         %cotangent = atomicrmw xchg ptr %d_to, double 0.0
define void @adgen_gradient_frozen(ptr noalias %x, ptr noalias %y, i32 %q, i1 %wraps, i1 %given, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %strides = add i32 %q, 1
  %all = select i1 %wraps, i32 0, i32 %strides
  %all.less = add i32 %all, -1
  %count.less = zext i32 %all.less to i64
  %count = add nuw nsw i64 %count.less, 1
  %bytes = mul nuw nsw i64 %count, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %slot = getelementptr inbounds double, ptr %kept, i64 %i
  store double %v, ptr %slot
  %square = fmul double %v, %v
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %square, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.short = trunc i64 %i.next to i32
  %i.done = icmp eq i32 %i.short, %all
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last = select i1 %wraps, i32 -1, i32 %q
  %last.frozen = freeze i32 %last
  %last.wide = zext i32 %last.frozen to i64
  br label %invert.loop
invert.loop:
  %j = phi i64 [ %last.wide, %invert.before ], [ %j.next, %invert.next ]
  %zero = phi double [ 0.0, %invert.before ], [ %zero.next, %invert.next ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %sum = fadd double %zero, %cotangent
  %zero.kept = select i1 %given, double %sum, double %zero
  br i1 %given, label %invert.given, label %invert.end
invert.given:
  br label %invert.end
invert.end:
  %zero.next = phi double [ 0.0, %invert.given ], [ %zero.kept, %invert.loop ]
  %old = getelementptr inbounds double, ptr %kept, i64 %j
  %w = load double, ptr %old
  %twice = fadd double %w, %w
  %d = fmul double %cotangent, %twice
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %d monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.loop
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

; Nothing is kept, but what iterations have read is read again. Their bound is compared with another number than theirs.
; The place of what they store goes on by a step in 32 bits: whether it begins anew there is asked before the loop. Only
; then the loop runs once more, and it is not unrolled.
; CHECK-LABEL: define void @adgen_gradient_strided(
; CHECK:         %[[LAST:[0-9]+]] = zext i32 %strides.less to i64
; CHECK:         %[[WAY:[0-9]+]] = mul nuw nsw i64 %[[LAST]], %{{.*}}
; CHECK-NEXT:    %[[APART:[0-9]+]] = icmp {{.*}}ult i64 %[[WAY]], 4294967292
; CHECK:       loop:
; CHECK:         store float %{{.*}}, ptr %to,
; CHECK:         br i1 %{{.*}}, label %{{.*}}, label %loop, !llvm.loop ![[LOOP:[0-9]+]]
; CHECK:       invert.loop:
; CHECK:         %[[V:.*]] = load float, ptr %from.again
; CHECK:         store float %{{.*}}, ptr %to.again
; CHECK-NEXT:    %d_to = getelementptr
; CHECK-NEXT:    %cotangent = atomicrmw xchg ptr %d_to
; CHECK-NEXT:    %d = fmul float %cotangent, %[[V]]
; CHECK-NOT:     load
; CHECK:         br i1 %[[APART]], label %end, label %{{.*}}, !prof
define void @adgen_gradient_strided(ptr noalias %x, ptr noalias %y, i32 %n, i32 %first, i32 range(i32 1, 1025) %step, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %any = icmp slt i32 %first, %n
  br i1 %any, label %before, label %end
before:
  %way = sub i32 %n, %first
  %way.less = add i32 %way, -1
  %strides.less = udiv i32 %way.less, %step
  %strides = add i32 %strides.less, 1
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %i.next, %loop ]
  %number = trunc i64 %i to i32
  %gone = mul i32 %number, %step
  %short = add i32 %gone, %first
  %place = sext i32 %short to i64
  %from = getelementptr inbounds float, ptr %x, i64 %place
  %v = load float, ptr %from
  %square = fmul float %v, %v
  %to = getelementptr inbounds float, ptr %y, i64 %place
  store float %square, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.short = trunc i64 %i.next to i32
  %i.done = icmp eq i32 %i.short, %strides
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last.short = add i32 %strides, -1
  %last = zext i32 %last.short to i64
  br label %invert.loop
invert.loop:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %j.number = trunc i64 %j to i32
  %j.gone = mul i32 %j.number, %step
  %j.short = add i32 %j.gone, %first
  %j.place = sext i32 %j.short to i64
  %d_to = getelementptr inbounds float, ptr %d_y, i64 %j.place
  %cotangent = atomicrmw xchg ptr %d_to, float 0.0 monotonic, !adgen.consumed !1
  %from.j = getelementptr inbounds float, ptr %x, i64 %j.place
  %w = load float, ptr %from.j
  %d = fmul float %cotangent, %w
  %twice = fadd float %d, %d
  %d_from = getelementptr inbounds float, ptr %d_x, i64 %j.place
  %added = atomicrmw fadd ptr %d_from, float %twice monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.loop
left:
  br label %end
end:
  ret void
}

; A vector is stored number by number, and no other iteration stores there. The reversal adds up what it leaves behind.
; CHECK-LABEL: define void @adgen_gradient_vectors(
; CHECK-NOT:     ptr %to,
; CHECK:       invert.loop:
; CHECK-NOT:     ptrtoint
; CHECK:         store float %{{.*}}, ptr %to.again
; CHECK:         store float %{{.*}}, ptr %to.second.again
; CHECK:         %sum.next = fadd float %sum,
; CHECK:         atomicrmw fadd ptr %d_a, float %{{.*}} monotonic
define void @adgen_gradient_vectors(ptr noalias %x, ptr noalias %y, i64 %n, float %a, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y, ptr noalias "adgen-shadow" %d_a) "adgen-activity"="duplicated:duplicated:const:active" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %from = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %from
  %product = fmul float %v, %a
  %to = getelementptr inbounds [2 x float], ptr %y, i64 %i
  store float %product, ptr %to
  %to.second = getelementptr inbounds i8, ptr %to, i64 4
  store float %v, ptr %to.second
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.loop
invert.loop:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %sum = phi float [ 0.0, %invert.before ], [ %sum.next, %invert.next ]
  %d_to = getelementptr inbounds [2 x float], ptr %d_y, i64 %j
  %d_to.second = getelementptr inbounds i8, ptr %d_to, i64 4
  %cotangent.second = atomicrmw xchg ptr %d_to.second, float 0.0 monotonic, !adgen.consumed !1
  %cotangent = atomicrmw xchg ptr %d_to, float 0.0 monotonic, !adgen.consumed !1
  %from.j = getelementptr inbounds float, ptr %x, i64 %j
  %w = load float, ptr %from.j
  %part = fmul float %cotangent, %w
  %sum.next = fadd float %sum, %part
  %scaled = fmul float %cotangent, %a
  %d = fadd float %scaled, %cotangent.second
  %d_from = getelementptr inbounds float, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, float %d monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.loop
left:
  %all = phi float [ %sum.next, %invert.loop ]
  %added.all = atomicrmw fadd ptr %d_a, float %all monotonic
  br label %end
end:
  ret void
}

; Vectors at places that are looked up: their 8 bytes are looked at as a whole.
; CHECK-LABEL: define void @adgen_gradient_scattered(
; CHECK:       invert.loop:
; CHECK:         %[[PLACE:[0-9]+]] = ptrtoint ptr %to.again to i64
; CHECK-NEXT:    %[[END:[0-9]+]] = add i64 %[[PLACE]], 8
; CHECK-NEXT:    icmp ule i64 %[[END]],
; CHECK:         store float %{{.*}}, ptr %to.again
; CHECK:         store float %{{.*}}, ptr %to.second.again
define void @adgen_gradient_scattered(ptr noalias %x, ptr noalias %y, ptr noalias %index, i64 %n, float %a, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y, ptr noalias "adgen-shadow" %d_a) "adgen-activity"="duplicated:duplicated:const:const:active" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %from = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %from
  %product = fmul float %v, %a
  %where = getelementptr inbounds i64, ptr %index, i64 %i
  %which = load i64, ptr %where, !invariant.load !1
  %to = getelementptr inbounds [2 x float], ptr %y, i64 %which
  store float %product, ptr %to
  %to.second = getelementptr inbounds i8, ptr %to, i64 4
  store float %v, ptr %to.second
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.loop
invert.loop:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %sum = phi float [ 0.0, %invert.before ], [ %sum.next, %invert.next ]
  %where.j = getelementptr inbounds i64, ptr %index, i64 %j
  %which.j = load i64, ptr %where.j, !invariant.load !1
  %d_to = getelementptr inbounds [2 x float], ptr %d_y, i64 %which.j
  %d_to.second = getelementptr inbounds i8, ptr %d_to, i64 4
  %cotangent.second = atomicrmw xchg ptr %d_to.second, float 0.0 monotonic, !adgen.consumed !1
  %cotangent = atomicrmw xchg ptr %d_to, float 0.0 monotonic, !adgen.consumed !1
  %from.j = getelementptr inbounds float, ptr %x, i64 %j
  %w = load float, ptr %from.j
  %part = fmul float %cotangent, %w
  %sum.next = fadd float %sum, %part
  %scaled = fmul float %cotangent, %a
  %d = fadd float %scaled, %cotangent.second
  %d_from = getelementptr inbounds float, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, float %d monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.loop
left:
  %all = phi float [ %sum.next, %invert.loop ]
  %added.all = atomicrmw fadd ptr %d_a, float %all monotonic
  br label %end
end:
  ret void
}

; Nothing that iterations have read is read again.
; CHECK-LABEL: define void @adgen_gradient_scaled(
; CHECK-NOT:     .again
define void @adgen_gradient_scaled(ptr noalias %x, ptr noalias %y, i64 %n, float %a, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %from = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %from
  %product = fmul float %v, %a
  %to = getelementptr inbounds float, ptr %y, i64 %i
  store float %product, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.loop
invert.loop:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_to = getelementptr inbounds float, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, float 0.0 monotonic, !adgen.consumed !1
  %d = fmul float %cotangent, %a
  %d_from = getelementptr inbounds float, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, float %d monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.loop
end:
  ret void
}

; Iterations read what others have stored.
; CHECK-LABEL: define void @adgen_gradient_shifted(
; CHECK-NOT:     .again
define void @adgen_gradient_shifted(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %some = icmp sgt i64 %n, 0
  %deep = icmp sgt i64 %k, 0
  %any = and i1 %some, %deep
  br i1 %any, label %outer.before, label %end
outer.before:
  %all = mul nuw nsw i64 %n, %k
  %bytes = mul nuw nsw i64 %all, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %outer.before ], [ %i.next, %outer.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %first = mul nuw nsw i64 %i, %k
  br label %inner
inner:
  %k.i = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %p = phi double [ 1.0, %outer ], [ %p.next, %inner ]
  %place = add nuw nsw i64 %k.i, %first
  %slot = getelementptr inbounds double, ptr %kept, i64 %place
  store double %p, ptr %slot
  %square = fmul double %p, %p
  %p.next = fadd double %square, %v
  %k.next = add nuw nsw i64 %k.i, 1
  %k.done = icmp eq i64 %k.next, %k
  br i1 %k.done, label %outer.end, label %inner
outer.end:
  %result = phi double [ %p.next, %inner ]
  %to = getelementptr inbounds double, ptr %x, i64 %i
  store double %result, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %outer
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.outer
invert.outer:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %k.last = add nsw i64 %k, -1
  %j.first = mul nuw nsw i64 %j, %k
  br label %invert.inner
invert.inner:
  %m = phi i64 [ %k.last, %invert.outer ], [ %m.next, %invert.inner ]
  %d = phi double [ %cotangent, %invert.outer ], [ %d.next, %invert.inner ]
  %sum = phi double [ 0.0, %invert.outer ], [ %sum.next, %invert.inner ]
  %back = add nuw nsw i64 %m, %j.first
  %old = getelementptr inbounds double, ptr %kept, i64 %back
  %q = load double, ptr %old
  %twice = fadd double %q, %q
  %d.next = fmul double %d, %twice
  %sum.next = fadd double %sum, %d
  %m.next = add nsw i64 %m, -1
  %m.done = icmp eq i64 %m, 0
  br i1 %m.done, label %invert.end, label %invert.inner
invert.end:
  %part = phi double [ %sum.next, %invert.inner ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.outer
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; Two iterations store to one element whenever each stores to two.
; CHECK-LABEL: define void @adgen_gradient_neighbours(
; CHECK-NOT:     .again
define void @adgen_gradient_neighbours(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %some = icmp sgt i64 %n, 0
  %deep = icmp sgt i64 %k, 0
  %any = and i1 %some, %deep
  br i1 %any, label %outer.before, label %end
outer.before:
  %all = mul nuw nsw i64 %n, %k
  %bytes = mul nuw nsw i64 %all, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %outer.before ], [ %i.next, %outer.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %first = mul nuw nsw i64 %i, %k
  br label %inner
inner:
  %k.i = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %p = phi double [ 1.0, %outer ], [ %p.next, %inner ]
  %place = add nuw nsw i64 %k.i, %first
  %slot = getelementptr inbounds double, ptr %kept, i64 %place
  store double %p, ptr %slot
  %square = fmul double %p, %p
  %p.next = fadd double %square, %v
  %k.next = add nuw nsw i64 %k.i, 1
  %k.done = icmp eq i64 %k.next, %k
  br i1 %k.done, label %outer.end, label %inner
outer.end:
  %result = phi double [ %p.next, %inner ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %result, ptr %to
  %next = getelementptr inbounds double, ptr %to, i64 1
  store double %v, ptr %next
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %outer
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.outer
invert.outer:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %k.last = add nsw i64 %k, -1
  %j.first = mul nuw nsw i64 %j, %k
  br label %invert.inner
invert.inner:
  %m = phi i64 [ %k.last, %invert.outer ], [ %m.next, %invert.inner ]
  %d = phi double [ %cotangent, %invert.outer ], [ %d.next, %invert.inner ]
  %sum = phi double [ 0.0, %invert.outer ], [ %sum.next, %invert.inner ]
  %back = add nuw nsw i64 %m, %j.first
  %old = getelementptr inbounds double, ptr %kept, i64 %back
  %q = load double, ptr %old
  %twice = fadd double %q, %q
  %d.next = fmul double %d, %twice
  %sum.next = fadd double %sum, %d
  %m.next = add nsw i64 %m, -1
  %m.done = icmp eq i64 %m, 0
  br i1 %m.done, label %invert.end, label %invert.inner
invert.end:
  %part = phi double [ %sum.next, %invert.inner ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.outer
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; The reversal reads what the loop has stored.
; CHECK-LABEL: define void @adgen_gradient_read_back(
; CHECK-NOT:     .again
define void @adgen_gradient_read_back(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %some = icmp sgt i64 %n, 0
  %deep = icmp sgt i64 %k, 0
  %any = and i1 %some, %deep
  br i1 %any, label %outer.before, label %end
outer.before:
  %all = mul nuw nsw i64 %n, %k
  %bytes = mul nuw nsw i64 %all, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %outer.before ], [ %i.next, %outer.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %first = mul nuw nsw i64 %i, %k
  br label %inner
inner:
  %k.i = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %p = phi double [ 1.0, %outer ], [ %p.next, %inner ]
  %place = add nuw nsw i64 %k.i, %first
  %slot = getelementptr inbounds double, ptr %kept, i64 %place
  store double %p, ptr %slot
  %square = fmul double %p, %p
  %p.next = fadd double %square, %v
  %k.next = add nuw nsw i64 %k.i, 1
  %k.done = icmp eq i64 %k.next, %k
  br i1 %k.done, label %outer.end, label %inner
outer.end:
  %result = phi double [ %p.next, %inner ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %result, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %outer
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.outer
invert.outer:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %k.last = add nsw i64 %k, -1
  %j.first = mul nuw nsw i64 %j, %k
  br label %invert.inner
invert.inner:
  %m = phi i64 [ %k.last, %invert.outer ], [ %m.next, %invert.inner ]
  %d = phi double [ %cotangent, %invert.outer ], [ %d.next, %invert.inner ]
  %sum = phi double [ 0.0, %invert.outer ], [ %sum.next, %invert.inner ]
  %back = add nuw nsw i64 %m, %j.first
  %old = getelementptr inbounds double, ptr %kept, i64 %back
  %q = load double, ptr %old
  %stored = getelementptr inbounds double, ptr %y, i64 %j
  %z = load double, ptr %stored
  %twice = fadd double %q, %z
  %d.next = fmul double %d, %twice
  %sum.next = fadd double %sum, %d
  %m.next = add nsw i64 %m, -1
  %m.done = icmp eq i64 %m, 0
  br i1 %m.done, label %invert.end, label %invert.inner
invert.end:
  %part = phi double [ %sum.next, %invert.inner ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.outer
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; What is kept has less room than a part for each iteration.
; CHECK-LABEL: define void @adgen_gradient_less_room(
; CHECK-NOT:     .again
define void @adgen_gradient_less_room(ptr noalias %x, ptr noalias %y, i64 %n, i64 %k, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const" {
entry:
  %some = icmp sgt i64 %n, 0
  %deep = icmp sgt i64 %k, 0
  %any = and i1 %some, %deep
  br i1 %any, label %outer.before, label %end
outer.before:
  %all = add nuw nsw i64 %n, %k
  %bytes = mul nuw nsw i64 %all, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %outer.before ], [ %i.next, %outer.end ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %first = mul nuw nsw i64 %i, %k
  br label %inner
inner:
  %k.i = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %p = phi double [ 1.0, %outer ], [ %p.next, %inner ]
  %place = add nuw nsw i64 %k.i, %first
  %slot = getelementptr inbounds double, ptr %kept, i64 %place
  store double %p, ptr %slot
  %square = fmul double %p, %p
  %p.next = fadd double %square, %v
  %k.next = add nuw nsw i64 %k.i, 1
  %k.done = icmp eq i64 %k.next, %k
  br i1 %k.done, label %outer.end, label %inner
outer.end:
  %result = phi double [ %p.next, %inner ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %result, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %outer
invert.before:
  %last = add nsw i64 %n, -1
  br label %invert.outer
invert.outer:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.next ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %k.last = add nsw i64 %k, -1
  %j.first = mul nuw nsw i64 %j, %k
  br label %invert.inner
invert.inner:
  %m = phi i64 [ %k.last, %invert.outer ], [ %m.next, %invert.inner ]
  %d = phi double [ %cotangent, %invert.outer ], [ %d.next, %invert.inner ]
  %sum = phi double [ 0.0, %invert.outer ], [ %sum.next, %invert.inner ]
  %back = add nuw nsw i64 %m, %j.first
  %old = getelementptr inbounds double, ptr %kept, i64 %back
  %q = load double, ptr %old
  %twice = fadd double %q, %q
  %d.next = fmul double %d, %twice
  %sum.next = fadd double %sum, %d
  %m.next = add nsw i64 %m, -1
  %m.done = icmp eq i64 %m, 0
  br i1 %m.done, label %invert.end, label %invert.inner
invert.end:
  %part = phi double [ %sum.next, %invert.inner ]
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.next
invert.next:
  %j.next = add nsw i64 %j, -1
  br label %invert.outer
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}

; CHECK: declare noalias ptr @malloc
declare noalias ptr @malloc(i64)
declare void @free(ptr)

!0 = distinct !{!0}
!1 = !{}

; What an iteration keeps is one number, on one way through it: a variable.
; CHECK-LABEL: define void @adgen_gradient_chosen(
; CHECK-NOT:     kept
; CHECK:       invert.reverse:
; CHECK-NOT:     kept
; CHECK:         %square.again = fmul double %v.again, %v.again
; CHECK-NOT:     kept
; CHECK:         %cotangent = atomicrmw xchg ptr %d_to, double 0.0
; CHECK-NOT:     kept
; CHECK:         %part = fmul double %square.again, %cotangent
; CHECK-NOT:     kept
; CHECK:         ret void
define void @adgen_gradient_chosen(ptr noalias %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const" {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %before, label %end
before:
  %bytes = mul nuw nsw i64 %n, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %i.next, %next ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %from
  %positive = fcmp ogt double %v, 0.0
  br i1 %positive, label %then, label %next
then:
  %square = fmul double %v, %v
  %slot = getelementptr inbounds double, ptr %kept, i64 %i
  store double %square, ptr %slot
  br label %next
next:
  %result = phi double [ %square, %then ], [ 0.0, %loop ]
  %to = getelementptr inbounds double, ptr %y, i64 %i
  store double %result, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %invert.before, label %loop
invert.before:
  %last = add nsw i64 %n, -1
  br label %reverse
reverse:
  %j = phi i64 [ %last, %invert.before ], [ %j.next, %invert.latch ]
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %j
  %cotangent = atomicrmw xchg ptr %d_to, double 0.0 monotonic, !adgen.consumed !1
  %from.j = getelementptr inbounds double, ptr %x, i64 %j
  %v.j = load double, ptr %from.j
  %positive.j = fcmp ogt double %v.j, 0.0
  br i1 %positive.j, label %invert.then, label %invert.next
invert.then:
  %old = getelementptr inbounds double, ptr %kept, i64 %j
  %q = load double, ptr %old
  %part = fmul double %q, %cotangent
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %j
  %added = atomicrmw fadd ptr %d_from, double %part monotonic
  br label %invert.next
invert.next:
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %left, label %invert.latch
invert.latch:
  %j.next = add nsw i64 %j, -1
  br label %reverse
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  br label %end
end:
  ret void
}
