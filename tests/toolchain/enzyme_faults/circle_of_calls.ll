; Two functions that call each other and demand to be inlined: an assertion while Enzyme copies them.
; fault: stops Assertion
; workaround: adgen-strip-inline-demands
; before: adgen-strip-inline-demands
define internal void @even(ptr %x, ptr %to, i64 %n) alwaysinline {
entry:
  %part = alloca double
  %last = icmp eq i64 %n, 0
  %v = load double, ptr %x
  br i1 %last, label %end, label %more
more:
  %less = sub i64 %n, 1
  call void @odd(ptr %x, ptr %part, i64 %less)
  %p = load double, ptr %part
  %product = fmul double %p, %v
  store double %product, ptr %to
  ret void
end:
  store double %v, ptr %to
  ret void
}
define internal void @odd(ptr %x, ptr %to, i64 %n) alwaysinline {
entry:
  %part = alloca double
  %last = icmp eq i64 %n, 0
  %v = load double, ptr %x
  br i1 %last, label %end, label %more
more:
  %less = sub i64 %n, 1
  call void @even(ptr %x, ptr %part, i64 %less)
  %p = load double, ptr %part
  %product = fmul double %p, %v
  store double %product, ptr %to
  ret void
end:
  store double %v, ptr %to
  ret void
}
define double @power(ptr %x, i64 %n) {
  %y = alloca double
  call void @even(ptr %x, ptr %y, i64 %n)
  %r = load double, ptr %y
  ret double %r
}
declare double @__enzyme_autodiff(...)
; x^3 at 2: 12
define double @gap() {
  %x = alloca double
  %dx = alloca double
  store double 2.0, ptr %x
  store double 0.0, ptr %dx
  %r = call double (...) @__enzyme_autodiff(ptr @power, ptr %x, ptr %dx, metadata !"enzyme_const", i64 2)
  %d = load double, ptr %dx
  %g = fsub double %d, 12.0
  ret double %g
}
