; Where threads choose by atomics what remains in an array, the kernel may do nothing else to it, nor change variables.
;
; RUN: %opt -passes=adgen-verify-atomic-choices -disable-output %s 2>&1 | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@counter = addrspace(1) global i32 0

; CHECK-NOT: "entry":"fine"
define void @adgen_body_fine(ptr %p, ptr %x) "adgen-shared" {
  %brought = alloca float
  %v = load float, ptr %x
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  ret void
}

; CHECK: "entry":"reads"
; CHECK-SAME: where the kernel does something else to the array too
define void @adgen_body_reads(ptr %p, ptr %x) "adgen-shared" {
  %brought = alloca float
  %v = load float, ptr %p
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  ret void
}

; CHECK: "entry":"counts"
define void @adgen_body_counts(ptr %p, ptr %x) "adgen-shared" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  %old = atomicrmw add ptr addrspace(1) @counter, i32 1 monotonic
  ret void
}

; Of shared memory barriers decide (adgen-settle-shared-choices); what it hands on may be done in the same kernel.
; CHECK-NOT: "entry":"shared"
define void @adgen_body_shared(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %tile, ptr %brought)
  %most = load float, ptr %tile
  %old = atomicrmw add ptr addrspace(1) @counter, i32 1 monotonic
  ret void
}

; CHECK: "entry":"local"
; CHECK-SAME: outside of an array that is a parameter
define void @adgen_body_local(ptr %x) "adgen-shared" {
  %own = alloca float
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %own, ptr %brought)
  ret void
}

; CHECK: "entry":"both"
; CHECK-SAME: of an array of which both are taken
define void @adgen_body_both(ptr %p) "adgen-shared" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  call void @adgen_rule_choose_min_f32(ptr %p, ptr %brought)
  ret void
}

; CHECK-NOT: "entry":"either_sign"
define void @adgen_body_either_sign(ptr %p) "adgen-shared" {
  %brought = alloca float
  call void @adgen_rule_choose_smax_f32(ptr %p, ptr %brought)
  call void @adgen_rule_choose_umin_f32(ptr %p, ptr %brought)
  ret void
}

declare void @adgen_rule_choose_max_f32(ptr, ptr)
declare void @adgen_rule_choose_min_f32(ptr, ptr)
declare void @adgen_rule_choose_smax_f32(ptr, ptr)
declare void @adgen_rule_choose_umin_f32(ptr, ptr)
