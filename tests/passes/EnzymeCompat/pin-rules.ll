; The result of every call with a derivative of our own gets a second use, which Enzyme cannot move; RestoreMath takes it away.
;
; RUN: %opt -passes=adgen-pin-rules -S %s | %filecheck %s
; RUN: %opt -passes=adgen-pin-rules,adgen-strip-guards -S %s | %filecheck %s --check-prefix=RESTORED

target triple = "nvptx64-nvidia-cuda"

%cotangents = type { float }

; CHECK-LABEL: @k(
; CHECK: %y = call float @adgen_math_j0f(float %x)
; CHECK-NEXT: call void @adgen_pin_adgen_math_j0f(float %y)
; CHECK-NEXT: call void @adgen_rule_barrier(ptr %p)
; CHECK-NEXT: store float %y, ptr %p
; RESTORED-NOT: adgen_pin
define void @k(float %x, ptr %p) {
  %y = call float @adgen_math_j0f(float %x)
  call void @adgen_rule_barrier(ptr %p)
  store float %y, ptr %p
  ret void
}

; CHECK: declare void @adgen_pin_adgen_math_j0f(float) [[PIN:#[0-9]+]]
; CHECK: attributes [[PIN]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" }

declare !enzyme_augment !0 !enzyme_gradient !1 float @adgen_math_j0f(float)
declare %cotangents @adgen_math_j0f_reverse(float, float)
declare !enzyme_augment !2 !enzyme_gradient !2 void @adgen_rule_barrier(ptr)

!0 = !{ptr @adgen_math_j0f}
!1 = !{ptr @adgen_math_j0f_reverse}
!2 = !{ptr @adgen_rule_barrier}
