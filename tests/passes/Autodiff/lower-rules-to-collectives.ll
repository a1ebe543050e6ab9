; After Enzyme the rules need not be kept apart any more: they lose their registration and what kept them, and like the derivatives they
; are inlined. Mathematics stays as calls for a while.
;
; RUN: %opt -passes=adgen-lower-rules-to-collectives -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-NOT: @llvm.compiler.used
@llvm.compiler.used = appending global [2 x ptr] [ptr @adgen_rule_barrier_augmented, ptr @adgen_rule_barrier_reverse], section "llvm.metadata"

; CHECK: define internal void @adgen_rule_barrier(ptr %anchor) [[INLINED:#[0-9]+]] {
define void @adgen_rule_barrier(ptr %anchor) noinline !enzyme_augment !0 !enzyme_gradient !1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
; CHECK: define internal void @adgen_rule_barrier_augmented({{.*}}) [[INLINED]]
define internal void @adgen_rule_barrier_augmented(ptr %anchor, ptr %shadow) noinline {
  ret void
}
; CHECK: define internal void @adgen_rule_barrier_reverse({{.*}}) [[INLINED]]
define internal void @adgen_rule_barrier_reverse(ptr %anchor, ptr %shadow) noinline {
  ret void
}

; CHECK: define float @__nv_sinf(float %x) [[MATH:#[0-9]+]]
define float @__nv_sinf(float %x) noinline "enzyme_math"="sinf" {
  ret float %x
}

; So does the question which lanes take part, which touches no memory that others see.
; CHECK: define internal i32 @adgen_lanes_participants(i32 %mask) [[LANES:#[0-9]+]]
define internal i32 @adgen_lanes_participants(i32 %mask) noinline {
  ret i32 %mask
}

; Kernels, bodies and gradients are what it is inlined into.
; CHECK: define void @adgen_gradient_k(ptr %x) {
define void @adgen_gradient_k(ptr %x) {
  call void @adgen_rule_barrier(ptr %x)
  ret void
}
; CHECK: define ptx_kernel void @k(ptr %x) {
define ptx_kernel void @k(ptr %x) {
  ret void
}

; What was hidden from Enzyme comes back.
; CHECK: define void @adgen_body_votes(
; CHECK-NEXT: call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)
; CHECK-NEXT: cmpxchg ptr %x, i32 0, i32 1 seq_cst seq_cst
; The primal prints, its gradient does not print again.
; CHECK-NEXT: %n = call i32 @vprintf(ptr %x, ptr %x)
define void @adgen_body_votes(ptr %x) {
  %vote = call i1 @adgen_hidden_llvm.nvvm.vote.any.sync(i32 -1, i1 true)
  %swap = call { i32, i1 } @adgen_hidden_swap_32_0(ptr %x, i32 0, i32 1)
  %n = call i32 @vprintf(ptr %x, ptr %x)
  ret void
}
; CHECK: define internal i32 @diffe_adgen_body_votes(
; CHECK-NEXT: call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)
; CHECK-NEXT: ret i32 0
define internal i32 @diffe_adgen_body_votes(ptr %x) {
  %vote = call i1 @adgen_hidden_llvm.nvvm.vote.any.sync(i32 -1, i1 true)
  %n = call i32 @vprintf(ptr %x, ptr %x)
  ret i32 %n
}
declare i1 @adgen_hidden_llvm.nvvm.vote.any.sync(i32, i1) "enzyme_inactive"
declare { i32, i1 } @adgen_hidden_swap_32_0(ptr, i32, i32) "enzyme_inactive"
declare i32 @vprintf(ptr, ptr)

; CHECK-DAG: attributes [[LANES]] = { {{.*}}noinline {{.*}}memory(inaccessiblemem: readwrite){{.*}} }
; CHECK-DAG: attributes [[MATH]] = { noinline "enzyme_math"="sinf" }
; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }
; CHECK-NOT: enzyme
!0 = !{ptr @adgen_rule_barrier_augmented}
!1 = !{ptr @adgen_rule_barrier_reverse}
