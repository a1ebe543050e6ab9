; On the host the derivatives of shuffles are those that the warp does at once, and so are products of matrices with their
; derivatives; which lanes take part is asked of the runtime, and threads that miss barriers wait at such as have results. Derivatives of
; halves stay as they are, and so do other barriers.
;
; RUN: %opt -passes=adgen-host-rules -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      call void @adgen_rule_shfl_idx_f32(ptr %x, ptr %x, i32 -1, i32 0, i32 31)
; CHECK-NEXT: call void @adgen_rule_shfl_idx_f32_reverse_on_host(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
; CHECK-NEXT: call void @adgen_rule_shfl_up_f64_reverse_on_host(
; CHECK-NEXT: call void @adgen_rule_shfl_up_f16x2_reverse(
; CHECK-NEXT: call void @adgen_rule_barrier_reverse()
; CHECK-NEXT: call void @adgen_rule_counted_barrier_augmented_on_host()
; CHECK-NEXT: call void @adgen_rule_counted_barrier_reverse()
; CHECK-NEXT: call i32 @adgen_lanes_tally_on_host(i1 true)
; CHECK-NEXT: call void @adgen_rule_turn_reverse_on_host()
; CHECK-NEXT: call void @adgen_rule_tallied_turn_reverse_on_host()
; CHECK-NEXT: call i32 @adgen_lanes_participants_on_host(i32 -1)
; CHECK-NEXT: call void @adgen_lanes_leave_on_host()
; CHECK-NEXT: call <2 x double> @adgen_math_mma_m8n8k4_f64_on_host(<2 x double> %factors)
; CHECK-NEXT: call { <2 x double> } @adgen_math_mma_m8n8k4_f64_reverse_on_host(
define void @gradient(ptr %x, <2 x double> %factors) {
  call void @adgen_rule_shfl_idx_f32(ptr %x, ptr %x, i32 -1, i32 0, i32 31)
  call void @adgen_rule_shfl_idx_f32_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_shfl_up_f64_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_shfl_up_f16x2_reverse(ptr %x, ptr %x, ptr %x, ptr %x, i32 -1, i32 0, i32 0, i32 0, i32 31, i32 0)
  call void @adgen_rule_barrier_reverse()
  call void @adgen_rule_counted_barrier_augmented()
  call void @adgen_rule_counted_barrier_reverse()
  %count = call i32 @adgen_lanes_tally(i1 true)
  call void @adgen_rule_turn_reverse()
  call void @adgen_rule_tallied_turn_reverse()
  %lanes = call i32 @adgen_lanes_participants(i32 -1)
  call void @adgen_lanes_leave()
  %product = call <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double> %factors)
  %cotangents = call { <2 x double> } @adgen_math_mma_m8n8k4_f64_reverse(<2 x double> %factors, <2 x double> %product)
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
declare void @adgen_rule_counted_barrier_augmented()
declare void @adgen_rule_counted_barrier_reverse()
declare i32 @adgen_lanes_tally(i1)
declare void @adgen_rule_turn_reverse()
declare void @adgen_rule_tallied_turn_reverse()
declare i32 @adgen_lanes_participants(i32)
declare void @adgen_lanes_leave()
declare <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double>)
declare { <2 x double> } @adgen_math_mma_m8n8k4_f64_reverse(<2 x double>, <2 x double>)
