; What is marked fast keeps fused multiply-add and zeros without a sign; flags that the user's own code has stay.
;
; RUN: %opt -passes=adgen-drop-fast-math-flags -S %s | %filecheck %s

; CHECK-LABEL: define float @f(
; CHECK-NEXT:    %a = fmul nsz contract float %x, %x
; CHECK-NEXT:    %b = fadd contract float %a, %x
; CHECK-NEXT:    %c = call afn float @llvm.sin.f32(float %b)
; CHECK-NEXT:    %d = call nsz contract float @llvm.cos.f32(float %b)
; CHECK-NEXT:    %e = fsub float %c, %d
define float @f(float %x) {
  %a = fmul fast float %x, %x
  %b = fadd contract float %a, %x
  %c = call afn float @llvm.sin.f32(float %b)
  %d = call fast float @llvm.cos.f32(float %b)
  %e = fsub float %c, %d
  ret float %e
}

; What is added to a derivative in memory may be added in any order.
; CHECK-LABEL: define void @accumulates(
; CHECK:         %sum = fadd reassoc nsz contract float %old, %v
; CHECK:         %other = fadd nsz contract float %old.q, %v
define void @accumulates(ptr %p, ptr %q, float %v) {
  %old = load float, ptr %p
  %sum = fadd fast float %old, %v
  store float %sum, ptr %p
  %old.q = load float, ptr %q
  %other = fadd fast float %old.q, %v
  store float %other, ptr %p
  ret void
}
