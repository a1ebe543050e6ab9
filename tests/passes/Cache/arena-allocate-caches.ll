; What the gradient of a kernel keeps comes from the runtime, and is given back at every return.
;
; RUN: %opt -passes=adgen-arena-allocate-caches -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_early(
; CHECK-NEXT:    %mark = call ptr @adgen_kept_mark()
; CHECK-NEXT:    %kept = call ptr @adgen_kept_alloc(i64 80)
; CHECK:         call void @adgen_kept_free(ptr %kept)
; CHECK-NEXT:    call void @adgen_kept_release(ptr %mark)
; CHECK-NEXT:    ret void
; CHECK:         call void @adgen_kept_release(ptr %mark)
; CHECK-NEXT:    ret void
define void @adgen_gradient_early(i1 %early) "adgen-shared" {
  %kept = call ptr @malloc(i64 80)
  br i1 %early, label %leaves, label %stays
stays:
  call void @free(ptr %kept)
  ret void
leaves:
  ret void
}

; Where threads wait for each other, the runtime gives it back with the block.
; CHECK-LABEL: define void @adgen_gradient_waits(
; CHECK-NEXT:    call ptr @adgen_kept_alloc(i64 80)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    ret void
define void @adgen_gradient_waits() "adgen-shared" {
  %kept = call ptr @malloc(i64 80)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Another function may free it.
; CHECK-LABEL: define void @adgen_gradient_calls(
; CHECK-NEXT:    call ptr @malloc(i64 80)
define void @adgen_gradient_calls() "adgen-shared" {
  %kept = call ptr @malloc(i64 80)
  call void @recursive(ptr %kept)
  ret void
}

; The kernel itself uses the heap.
; CHECK-LABEL: define void @adgen_gradient_allocates(
; CHECK-NEXT:    call ptr @malloc(i64 80)
define void @adgen_gradient_allocates() "adgen-shared" {
  %kept = call ptr @malloc(i64 80)
  ret void
}
define void @adgen_body_allocates(ptr %x) {
  %own = call ptr @malloc(i64 80)
  store ptr %own, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_function(
; CHECK-NEXT:    call ptr @malloc(i64 80)
define void @adgen_gradient_function() {
  %kept = call ptr @malloc(i64 80)
  ret void
}

; In C++ what Enzyme has marked as its own, and gives back here.
; CHECK-LABEL: define internal void @cpp(
; CHECK-NEXT:    %mark = call ptr @adgen_kept_mark()
; CHECK-NEXT:    %kept = call ptr @adgen_kept_alloc(i64 80)
; CHECK-NEXT:    %elsewhere = call ptr @malloc(i64 80)
; CHECK-NEXT:    %own = call ptr @malloc(i64 80)
; CHECK-NEXT:    call void @adgen_kept_free(ptr %kept)
; CHECK-NEXT:    call void @free(ptr %own)
; CHECK-NEXT:    call void @adgen_kept_release(ptr %mark)
define internal void @cpp() {
  %kept = call ptr @malloc(i64 80), !enzyme_cache_alloc !0
  %elsewhere = call ptr @malloc(i64 80), !enzyme_cache_alloc !1
  %own = call ptr @malloc(i64 80)
  call void @free(ptr %kept), !enzyme_cache_free !0
  call void @free(ptr %own)
  ret void
}

; A cache that grows is in one group with another one: its own memory is not marked.
; CHECK-LABEL: define internal void @grows(
; CHECK:         %kept = call ptr @adgen_kept_alloc(i64 80)
; CHECK-NEXT:    %other = call ptr @malloc(i64 80)
; CHECK-NEXT:    %grown = call ptr @realloc(ptr null, i64 80)
; CHECK-NEXT:    call void @adgen_kept_free(ptr %kept)
; CHECK-NEXT:    call void @free(ptr %other)
; CHECK-NEXT:    call void @free(ptr %grown)
define internal void @grows() {
  %kept = call ptr @malloc(i64 80), !enzyme_cache_alloc !0
  %other = call ptr @malloc(i64 80), !enzyme_cache_alloc !1
  %grown = call ptr @realloc(ptr null, i64 80)
  call void @free(ptr %kept), !enzyme_cache_free !0
  call void @free(ptr %other), !enzyme_cache_free !1
  call void @free(ptr %grown), !enzyme_cache_free !1
  ret void
}

; CHECK-LABEL: define internal void @recursive(
; CHECK-NEXT:    call void @free
define internal void @recursive(ptr %kept) {
  call void @free(ptr %kept)
  ret void
}

define void @adgen_body_early() { ret void }
define void @adgen_body_waits() { ret void }
define void @adgen_body_calls() { ret void }

declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
!0 = distinct !{}
!1 = distinct !{}
