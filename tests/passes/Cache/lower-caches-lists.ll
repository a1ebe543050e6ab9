; A list of a thread's own, such as the nearest so far, is not filled again to measure what is kept where it does not
; decide about that; where its length decides, it is.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_tape_nearest(
; CHECK-NOT:     alloca
; CHECK-NOT:     phi
; CHECK-NOT:     load i64, ptr %
; CHECK:         atomicrmw umax
; CHECK:         ret void
define void @adgen_body_nearest(ptr %x, ptr %ends, ptr %y, i64 %n) {
  ret void
}

define void @adgen_gradient_nearest(ptr noalias %x, ptr noalias %ends, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:const:duplicated:const" {
entry:
  %list = alloca [8 x double]
  %bytes = mul i64 %n, 8
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.end ]
  %place.end = getelementptr i64, ptr %ends, i64 %i
  %end = load i64, ptr %place.end
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %from = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %from
  %slot = and i64 %j, 7
  %place = getelementptr double, ptr %list, i64 %slot
  store double %v, ptr %place
  %j.next = add i64 %j, 1
  %more = icmp slt i64 %j.next, %end
  br i1 %more, label %inner, label %outer.end
outer.end:
  %first = load double, ptr %list
  %keep = getelementptr inbounds double, ptr %kept, i64 %i
  store double %first, ptr %keep
  %to = getelementptr double, ptr %y, i64 %i
  store double %first, ptr %to
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %outer, label %invert
invert:
  %k = phi i64 [ %n, %outer.end ], [ %k.next, %invert ]
  %k.next = add i64 %k, -1
  %old = getelementptr inbounds double, ptr %kept, i64 %k.next
  %w = load double, ptr %old
  %d = atomicrmw fadd ptr %d_x, double %w monotonic
  %k.done = icmp eq i64 %k.next, 0
  br i1 %k.done, label %left, label %invert
left:
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

; CHECK-LABEL: define void @adgen_tape_counted(
; CHECK:         alloca [8 x i64]
; CHECK:         load i64, ptr %{{.*}}
; CHECK:         ret void
define void @adgen_body_counted(ptr %lengths, ptr %y, i64 %n) {
  ret void
}

define void @adgen_gradient_counted(ptr noalias %lengths, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:duplicated:const" {
entry:
  %list = alloca [8 x i64]
  br label %fill
fill:
  %j = phi i64 [ 0, %entry ], [ %j.next, %fill ]
  %from = getelementptr i64, ptr %lengths, i64 %j
  %v = load i64, ptr %from
  %slot = and i64 %j, 7
  %place = getelementptr i64, ptr %list, i64 %slot
  store i64 %v, ptr %place
  %j.next = add i64 %j, 1
  %more = icmp slt i64 %j.next, %n
  br i1 %more, label %fill, label %keep
keep:
  %length = load i64, ptr %list
  %kept = call ptr @malloc(i64 %length), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  store double 1.0, ptr %y
  br label %invert
invert:
  %w = load double, ptr %kept
  %d = atomicrmw fadd ptr %d_y, double %w monotonic
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

; CHECK-DAG: attributes #{{[0-9]+}} = { "adgen-activity"="duplicated:const:duplicated:const" "adgen-tape"="scalars" }
; CHECK-DAG: attributes #{{[0-9]+}} = { "adgen-activity"="const:duplicated:const" "adgen-tape"="arrays" }

declare ptr @malloc(i64)
declare void @free(ptr)

!0 = !{}
