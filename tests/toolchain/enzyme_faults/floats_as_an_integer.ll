; Two floats are copied as one integer: the copy has no derivative, without a word.
; fault: wrong
; workaround: adgen-type-copies
; before: adgen-type-copies
define void @adgen_body_f(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y) {
  %bits = load i64, ptr %x
  store i64 %bits, ptr %y
  ret void
}
declare void @__enzyme_autodiff(...)
define double @gap() {
  %x = alloca [2 x float]
  %y = alloca [2 x float]
  %dx = alloca [2 x float]
  %dy = alloca [2 x float]
  store [2 x float] [float 2.0, float 3.0], ptr %x
  store [2 x float] zeroinitializer, ptr %dx
  store [2 x float] [float 1.0, float 1.0], ptr %dy
  call void (...) @__enzyme_autodiff(ptr @adgen_body_f, ptr %x, ptr %dx, ptr %y, ptr %dy)
  %r = load float, ptr %dx
  %e = fpext float %r to double
  %g = fsub double %e, 1.0
  ret double %g
}
