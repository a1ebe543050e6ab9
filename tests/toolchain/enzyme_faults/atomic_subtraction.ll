; The adjoint of an atomic subtraction has the wrong sign.
; fault: wrong
; workaround: adgen-raise-atomic-adds
; before: adgen-raise-atomic-adds
define void @f(ptr %x, ptr %y) {
  %v = load double, ptr %x
  %old = atomicrmw fsub ptr %y, double %v monotonic
  ret void
}
declare void @__enzyme_autodiff(...)
define double @gap() {
  %x = alloca double
  %y = alloca double
  %dx = alloca double
  %dy = alloca double
  store double 2.0, ptr %x
  store double 0.0, ptr %y
  store double 0.0, ptr %dx
  store double 1.0, ptr %dy
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy)
  %r = load double, ptr %dx
  %g = fadd double %r, 1.0
  ret double %g
}
