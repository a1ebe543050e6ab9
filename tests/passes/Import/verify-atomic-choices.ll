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

; Arrays to which the members of a struct by value lead are known by where their pointers lie.
; CHECK-NOT: "entry":"member"
define void @adgen_body_member(ptr noalias "adgen-struct"="16" %s) "adgen-shared" {
  %brought = alloca float
  %x = load ptr, ptr %s
  %v = load float, ptr %x
  store float %v, ptr %brought
  %at = getelementptr i8, ptr %s, i64 8
  %p = load ptr, ptr %at
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  ret void
}

; CHECK: "entry":"member_reads"
; CHECK-SAME: where the kernel does something else to the array too
define void @adgen_body_member_reads(ptr noalias "adgen-struct"="16" %s) "adgen-shared" {
  %brought = alloca float
  %at = getelementptr i8, ptr %s, i64 8
  %p = load ptr, ptr %at
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  %again = load ptr, ptr %at
  %most = load float, ptr %again
  ret void
}

; CHECK: "entry":"member_moves"
; CHECK-SAME: where the kernel does something else to the array too
define void @adgen_body_member_moves(ptr noalias "adgen-struct"="16" %s, ptr %x) "adgen-shared" {
  %brought = alloca float
  %at = getelementptr i8, ptr %s, i64 8
  %p = load ptr, ptr %at
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  store ptr %x, ptr %at
  ret void
}

; CHECK: "entry":"member_copied"
; CHECK-SAME: where the kernel does something else to the array too
define void @adgen_body_member_copied(ptr noalias "adgen-struct"="16" %s, i64 %which) "adgen-shared" {
  %brought = alloca float
  %copy = alloca [2 x ptr]
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %s, i64 16, i1 false)
  %at = getelementptr i8, ptr %s, i64 8
  %p = load ptr, ptr %at
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  %one = getelementptr ptr, ptr %copy, i64 %which
  %perhaps = load ptr, ptr %one
  %most = load float, ptr %perhaps
  ret void
}

; CHECK: "entry":"behind_an_address"
; CHECK-SAME: or in a struct by value
define void @adgen_body_behind_an_address(ptr "adgen-struct"="16" "adgen-by-address" %s) "adgen-shared" {
  %brought = alloca float
  %p = load ptr, ptr %s
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  ret void
}

; CHECK-NOT: "entry":"either_sign"
define void @adgen_body_either_sign(ptr %p) "adgen-shared" {
  %brought = alloca float
  call void @adgen_rule_choose_smax_f32(ptr %p, ptr %brought)
  call void @adgen_rule_choose_umin_f32(ptr %p, ptr %brought)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @adgen_rule_choose_max_f32(ptr, ptr)
declare void @adgen_rule_choose_min_f32(ptr, ptr)
declare void @adgen_rule_choose_smax_f32(ptr, ptr)
declare void @adgen_rule_choose_umin_f32(ptr, ptr)
