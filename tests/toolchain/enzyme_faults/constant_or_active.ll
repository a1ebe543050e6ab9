; A pointer to constant or to active memory: the derivative is added to the constant itself.
; fault: wrong
; workaround: adgen-guard-choices
; before: adgen-guard-choices
define void @adgen_body_f(ptr %x, ptr %table, ptr %y, i1 %c) {
  %p = select i1 %c, ptr %x, ptr %table
  %v = load double, ptr %p
  %s = fmul double %v, %v
  store double %s, ptr %y
  ret void
}
declare void @__enzyme_autodiff_adgen_body_f(...)
define void @adgen_gradient_f(ptr %x, ptr %dx, ptr %table, ptr %y, ptr %dy) {
  call void (...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_dup", ptr %x, ptr %dx, metadata !"enzyme_const", ptr %table, metadata !"enzyme_dup", ptr %y, ptr %dy, metadata !"enzyme_const", i1 false)
  ret void
}
; the table is a constant: its memory must stay as it is
define double @gap() {
  %x = alloca double
  %t = alloca double
  %y = alloca double
  %dx = alloca double
  %dy = alloca double
  store double 2.0, ptr %x
  store double 5.0, ptr %t
  store double 0.0, ptr %dx
  store double 1.0, ptr %dy
  call void @adgen_gradient_f(ptr %x, ptr %dx, ptr %t, ptr %y, ptr %dy)
  %d = load double, ptr %t
  %g = fsub double %d, 5.0
  ret double %g
}
