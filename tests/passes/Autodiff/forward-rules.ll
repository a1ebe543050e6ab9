; Functions with a gradient of ours get a forward derivative; calls through pointers are refused in forward mode alone.
;
; RUN: %opt -passes=adgen-forward-rules -S %s | %filecheck %s
; RUN: %opt -passes=adgen-forward-rules -S %s 2>&1 >/dev/null | %filecheck %s --check-prefix=REFUSED

; REFUSED: adgen-refusal: {{.*}}"entry":"indirect"{{.*}}"mode":"forward","reason":"cannot carry tangents through a call through a function pointer
; REFUSED-NOT: adgen-refusal

; CHECK-DAG: declare {{.*}}!enzyme_derivative !{{[0-9]+}} double @adgen_math_pow(<2 x double>)

; The value, and the product of the derivatives with the tangents, in which a zero wins against an infinite derivative.
; CHECK: define internal { double, double } @adgen_math_pow_forward(<2 x double> %0, <2 x double> %1)
; CHECK: [[BOTH:%.*]] = call %adgen.cotangents @adgen_math_pow_reverse(<2 x double> %0, double 1.0
; CHECK: [[DERIVATIVES:%.*]] = extractvalue %adgen.cotangents [[BOTH]], 0
; CHECK: [[NONE:%.*]] = fcmp oeq <2 x double> %1, zeroinitializer
; CHECK: [[PRODUCTS:%.*]] = fmul <2 x double> [[DERIVATIVES]], %1
; CHECK: select <2 x i1> [[NONE]], <2 x double> zeroinitializer, <2 x double> [[PRODUCTS]]
; CHECK: [[SUM:%.*]] = fadd double
; CHECK: [[VALUE:%.*]] = call double @adgen_math_pow(<2 x double> %0)
; CHECK: insertvalue { double, double } {{.*}}, double [[SUM]], 1

; A product of matrices has the tangents of both factors in one sum.
; CHECK: define internal { <2 x double>, <2 x double> } @adgen_math_mma_m8n8k4_f64_forward(<2 x double> %0, <2 x double> %1)
; CHECK: [[PRODUCT:%.*]] = call <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double> %0)
; CHECK: [[TANGENT:%.*]] = call <2 x double> @adgen_math_mma_m8n8k4_f64_tangent(<2 x double> %0, <2 x double> %1)
; CHECK: insertvalue { <2 x double>, <2 x double> } {{.*}}, <2 x double> [[TANGENT]], 1

; A shuffle moves the tangents too, zeros where the value sent is constant.
; CHECK: define internal void @adgen_rule_shfl_up_f32_forward(ptr %0, ptr %1, ptr %2, ptr %3, i32 %4, i32 %5)
; CHECK: call void @adgen_rule_shfl_up_f32(ptr %0, ptr %2, i32 %4)
; CHECK: [[CONSTANT:%.*]] = icmp eq ptr %2, %3
; CHECK: select i1 [[CONSTANT]], float 0.0
; CHECK: call void @adgen_rule_shfl_up_f32(ptr [[RECEIVED:%.*]], ptr {{%.*}}, i32 %4)
; CHECK: store float {{%.*}}, ptr %1

; A shuffle of a gradient moves the tangents of values or of cotangents, whichever it moves.
; CHECK: define internal void @adgen_rule_shfl_up_f32_reverse_forward(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i32 %8, i32 %9
; CHECK: call void @adgen_rule_shfl_up_f32_reverse(ptr %0, ptr %2, ptr %4, ptr %6, i32 %8
; CHECK: [[ALONE:%.*]] = icmp eq ptr %2, %3
; CHECK: [[THIRD:%.*]] = select i1 [[ALONE]], ptr %{{.*}}, ptr %3
; CHECK: call void @adgen_rule_shfl_up_f32_reverse(ptr {{%.*}}, ptr [[THIRD]], ptr {{%.*}}, ptr {{%.*}}, i32 %8

; A barrier is met once.
; CHECK: define internal void @adgen_rule_barrier_forward(ptr %0, ptr %1)
; CHECK-NEXT: entry:
; CHECK-NEXT: call void @adgen_rule_barrier(ptr %0)
; CHECK-NEXT: ret void

%adgen.cotangents = type { <2 x double> }

declare !enzyme_augment !0 !enzyme_gradient !1 double @adgen_math_pow(<2 x double>)
declare %adgen.cotangents @adgen_math_pow_reverse(<2 x double>, double)
declare !enzyme_augment !100 !enzyme_gradient !101 <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double>)
declare %adgen.cotangents @adgen_math_mma_m8n8k4_f64_reverse(<2 x double>, <2 x double>)
declare !enzyme_augment !2 !enzyme_gradient !3 void @adgen_rule_shfl_up_f32(ptr, ptr, i32)
declare void @adgen_rule_shfl_up_f32_augmented(ptr, ptr, ptr, ptr, i32, i32)
declare void @adgen_rule_shfl_up_f32_reverse(ptr, ptr, ptr, ptr, i32, i32)
declare !enzyme_augment !4 !enzyme_gradient !4 void @adgen_rule_barrier(ptr)
declare void @adgen_rule_barrier_augmented(ptr, ptr)
declare void @__enzyme_fwddiff_adgen_body_indirect(...)
declare void @__enzyme_fwddiff_adgen_body_direct(...)

define void @adgen_body_indirect(ptr %x, ptr %f) {
  call void %f(ptr %x)
  ret void
}

define void @adgen_body_direct(ptr %x, ptr %f) {
  ret void
}

define void @adgen_body_reverses(ptr %d_to, ptr %d_from) {
  call void @adgen_rule_shfl_up_f32_reverse(ptr poison, ptr %d_to, ptr poison, ptr %d_from, i32 1, i32 1)
  ret void
}

define void @adgen_tangent_indirect(ptr %x, ptr %f) {
  call void (...) @__enzyme_fwddiff_adgen_body_indirect(ptr @adgen_body_indirect, ptr %x, ptr %f)
  ret void
}

define void @adgen_tangent_direct(ptr %x, ptr %f) {
  call void (...) @__enzyme_fwddiff_adgen_body_direct(ptr @adgen_body_direct, ptr %x, ptr %f)
  ret void
}

!0 = !{ptr @adgen_math_pow}
!1 = !{ptr @adgen_math_pow_reverse}
!2 = !{ptr @adgen_rule_shfl_up_f32_augmented}
!3 = !{ptr @adgen_rule_shfl_up_f32_reverse}
!4 = !{ptr @adgen_rule_barrier_augmented}
!100 = !{ptr @adgen_math_mma_m8n8k4_f64}
!101 = !{ptr @adgen_math_mma_m8n8k4_f64_reverse}
