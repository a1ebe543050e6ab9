; A store to one of several arrays, as of what both branches end with, decides about nothing that is read from another one. The tape of what
; depends on an array that may be the one is measured by running it.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_tape_chosen(
; CHECK-NOT:     store
; CHECK:         %[[N:.*]] = load i64, ptr %1
; CHECK:         atomicrmw umax
; CHECK-LABEL: define void @adgen_gradient_chosen(
; CHECK-SAME:    #[[ARRAYS:[0-9]+]]
define void @adgen_body_chosen(ptr %x, ptr %y) {
  ret void
}

define void @adgen_gradient_chosen(ptr %x, ptr %y, ptr %a, ptr %b, ptr %d_a, ptr %d_b, i1 %c) "adgen-shared"="a:b" "adgen-activity"="const:const" {
entry:
  br i1 %c, label %left, label %right
left:
  br label %both
right:
  br label %both
both:
  %to = phi ptr [ %a, %left ], [ %x, %right ]
  store double 1.0, ptr %to
  %n = load i64, ptr %y
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

; CHECK-LABEL: define void @adgen_tape_met(
; CHECK:         store double
; CHECK-LABEL: define void @adgen_gradient_met(
; CHECK-SAME:    #[[INPLACE:[0-9]+]]
define void @adgen_body_met(ptr %x, ptr %y) {
  ret void
}

define void @adgen_gradient_met(ptr %x, ptr %y, i1 %c) "adgen-activity"="const:const" {
entry:
  br i1 %c, label %left, label %right
left:
  br label %both
right:
  br label %both
both:
  %to = phi ptr [ %y, %left ], [ %x, %right ]
  store double 1.0, ptr %to
  %n = load i64, ptr %y
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

; CHECK-DAG: attributes #[[ARRAYS]] = { {{.*}}"adgen-tape"="arrays" }
; CHECK-DAG: attributes #[[INPLACE]] = { {{.*}}"adgen-tape"="run in place" }
!0 = !{}
