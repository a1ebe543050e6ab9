; On the host the derivatives of shuffles are those that the warp does at once, and those of barriers say that they belong to a
; reverse sweep; those of halves stay as they are.
;
; RUN: %opt -passes=adgen-host-rules -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      call void @adgen_rule_shfl_idx_f32(ptr %x, ptr %x, i32 -1, i32 0, i32 31)
; CHECK-NEXT: call void @adgen_rule_shfl_idx_f32_reverse_on_host(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
; CHECK-NEXT: call void @adgen_rule_shfl_up_f64_reverse_on_host(
; CHECK-NEXT: call void @adgen_rule_shfl_up_f16x2_reverse(
; CHECK-NEXT: call void @adgen_rule_barrier_reverse_on_host()
define void @gradient(ptr %x) {
  call void @adgen_rule_shfl_idx_f32(ptr %x, ptr %x, i32 -1, i32 0, i32 31)
  call void @adgen_rule_shfl_idx_f32_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_shfl_up_f64_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_shfl_up_f16x2_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_barrier_reverse()
  ret void
}

; What they call leaves memory as it is, and stays where it is.
; CHECK: declare float @adgen_together_gather_f32(i32, float, i32, i32) [[SHUFFLE:#[0-9]+]]
; CHECK: declare double @adgen_together_gather_f64(i32, double, i32, i32) [[SHUFFLE]]
; CHECK: attributes [[SHUFFLE]] = { convergent nounwind willreturn memory(inaccessiblemem: readwrite) }
declare void @adgen_rule_shfl_idx_f32(ptr, ptr, i32, i32, i32)
declare void @adgen_rule_shfl_idx_f32_reverse(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)
declare void @adgen_rule_shfl_up_f64_reverse(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)
declare void @adgen_rule_shfl_up_f16x2_reverse(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)
declare void @adgen_rule_barrier_reverse()
