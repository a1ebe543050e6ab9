; The bits of a float are flipped, kept in memory of integers, and flipped back: the derivative is zero.
; fault: wrong
; workaround: adgen-hide-float-bits
define void @f(ptr %x, ptr %keys, ptr %y) {
  %bits = load i32, ptr %x
  %flipped = xor i32 %bits, -1
  store i32 %flipped, ptr %keys
  %key = load i32, ptr %keys
  %back = xor i32 %key, -1
  store i32 %back, ptr %y
  ret void
}
declare void @__enzyme_autodiff(...)
define double @gap() {
  %x = alloca float
  %keys = alloca i32
  %y = alloca float
  %dx = alloca float
  %dy = alloca float
  store float 2.0, ptr %x
  store float 0.0, ptr %dx
  store float 1.0, ptr %dy
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, metadata !"enzyme_const", ptr %keys, ptr %y, ptr %dy)
  %r = load float, ptr %dx
  %e = fpext float %r to double
  %g = fsub double %e, 1.0
  ret double %g
}
