; What is kept is measured as far as something is still kept: where a gradient goes another way, nothing is looked for.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_tape_either(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    %alone = icmp eq i64 %{{.*}}, 1
; CHECK-NEXT:    br i1 %alone, label %[[END:.*]], label %several
; CHECK:       several:
; CHECK-NEXT:    shl i64 %{{.*}}, 3
; CHECK-NOT:     load i64, ptr %from
; CHECK:         atomicrmw umax
; CHECK:         ret void
define void @adgen_body_either(ptr %x, ptr %y, i64 %n) {
  ret void
}

define void @adgen_gradient_either(ptr noalias %x, ptr noalias %y, i64 %n, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="const:duplicated:const" {
entry:
  %list = alloca [8 x i64]
  %alone = icmp eq i64 %n, 1
  br i1 %alone, label %look, label %several
look:
  %j = phi i64 [ 0, %entry ], [ %j.next, %next ]
  %slot = and i64 %j, 7
  %from = getelementptr i64, ptr %x, i64 %j
  %v = load i64, ptr %from
  %place = getelementptr i64, ptr %list, i64 %slot
  store i64 %v, ptr %place
  %w = load i64, ptr %list
  %found = icmp eq i64 %w, %j
  br i1 %found, label %hit, label %next
next:
  %j.next = add i64 %j, 1
  %more = icmp slt i64 %j.next, 100
  br i1 %more, label %look, label %miss
hit:
  %d.hit = atomicrmw fadd ptr %d_y, double 1.0 monotonic
  ret void
miss:
  store double 0.0, ptr %y
  ret void
several:
  %bytes = shl i64 %n, 3
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  store double 1.0, ptr %y
  br label %invert
invert:
  %again = load double, ptr %kept
  %d = atomicrmw fadd ptr %d_y, double %again monotonic
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

!0 = !{}
