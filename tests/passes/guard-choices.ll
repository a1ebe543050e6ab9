; A pointer that may lead to memory with and to memory without a derivative: Enzyme is asked to look when the gradient runs.
;
; RUN: %opt -passes=adgen-guard-choices -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_chooses(
; CHECK: @__enzyme_autodiff_adgen_body_chooses(ptr @adgen_body_chooses, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %table)
define void @adgen_gradient_chooses(ptr %x, ptr %table, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_chooses(ptr @adgen_body_chooses, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %table)
  ret void
}
define void @adgen_body_chooses(ptr %x, ptr %table) {
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %x, ptr %table
  %v = load float, ptr %p
  store float %v, ptr %x
  ret void
}

; Both have one.
; CHECK-LABEL: define void @adgen_gradient_both(
; CHECK: (ptr @adgen_body_both, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
define void @adgen_gradient_both(ptr %x, ptr %y, ptr %d_x, ptr %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_both(ptr @adgen_body_both, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}
define void @adgen_body_both(ptr %x, ptr %y) {
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %x, ptr %y
  %v = load float, ptr %p
  store float %v, ptr %x
  ret void
}

declare void @__enzyme_autodiff_adgen_body_chooses(...)
declare void @__enzyme_autodiff_adgen_body_both(...)
