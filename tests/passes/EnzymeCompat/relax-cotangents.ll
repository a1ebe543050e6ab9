; The cotangent of an atomic addition is read without the order that the addition has; what the primal itself reads in
; an order keeps it.
; RUN: %opt -passes=adgen-relax-cotangents -S %s | %filecheck %s

; CHECK-LABEL: @adgen_gradient_scatter(
define void @adgen_gradient_scatter(ptr %out, ptr %"out'", ptr %"in'", ptr %flag, float %x) {
entry:
; CHECK: load atomic float, ptr %flag acquire
  %seen = load atomic float, ptr %flag acquire, align 4
  %added = fadd float %seen, %x
; CHECK: atomicrmw fadd ptr %out, float %added seq_cst
  %old = atomicrmw fadd ptr %out, float %added seq_cst, align 4
  br label %invertentry

; CHECK: invertentry:
; CHECK-NEXT: %taken = load float, ptr %"out'", align 4
; CHECK: load atomic i32, ptr %flag seq_cst
invertentry:
  %taken = load atomic float, ptr %"out'" seq_cst, align 4
  %count = load atomic i32, ptr %flag seq_cst, align 4
  %back = atomicrmw fadd ptr %"in'", float %taken monotonic, align 4
  ret void
}
