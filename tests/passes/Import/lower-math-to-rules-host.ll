; In C++, the few functions of the C library that Enzyme has no rule for are split as libdevice's are; others stay.
;
; RUN: %opt -passes=adgen-lower-math-to-rules -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: @f(
; CHECK-NEXT:    call double @adgen_math_lgamma(double %x)
; CHECK-NEXT:    %{{.*}} = call double @llvm.trunc.f64(double %x)
; CHECK-NEXT:    %{{.*}} = call double @adgen_math_modf(double %x)
; CHECK:         %s = call double @sin(double %x)
; CHECK:         call double @sin(double %x)
; CHECK:         call double @cos(double %x)
define double @f(double %x, ptr %sine, ptr %cosine) {
  %l = call double @lgamma(double %x)
  %parts = call { double, double } @llvm.modf.f64(double %x)
  %s = call double @sin(double %x)
  call void @sincos(double %x, ptr %sine, ptr %cosine)
  ret double %s
}

declare double @lgamma(double)
declare double @sin(double)
declare void @sincos(double, ptr, ptr)
declare { double, double } @llvm.modf.f64(double)

; Nobody reads errno here.
; CHECK: declare double @pow(double, double) #[[PURE:[0-9]+]]
; CHECK: attributes #[[PURE]] = { nounwind willreturn memory(none) }
define double @power(double %x) {
  %y = call double @pow(double %x, double 3.0)
  ret double %y
}
declare double @pow(double, double)
