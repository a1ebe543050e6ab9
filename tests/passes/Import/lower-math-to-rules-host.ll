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

; Where both numbers of a point are zero, its distance is zero, and its angle that of another point, which has a derivative.
; CHECK-LABEL: define double @polar(
; CHECK:         [[NONE:%.*]] = and i1
; CHECK-NEXT:    [[X:%.*]] = select i1 [[NONE]], double 1.000000e+00, double %x
; CHECK-NEXT:    [[H:%.*]] = call double @hypot(double [[X]], double %y)
; CHECK-NEXT:    [[LENGTH:%.*]] = select i1 [[NONE]], double 0.000000e+00, double [[H]]
; CHECK:         [[ALSO:%.*]] = and i1
; CHECK-NEXT:    [[SIGN:%.*]] = call double @llvm.copysign.f64(double 0.000000e+00, double %y)
; CHECK-NEXT:    [[FIRST:%.*]] = select i1 [[ALSO]], double [[SIGN]], double %y
; CHECK-NEXT:    [[SIDE:%.*]] = call double @llvm.copysign.f64(double 1.000000e+00, double %x)
; CHECK-NEXT:    [[SECOND:%.*]] = select i1 [[ALSO]], double [[SIDE]], double %x
; CHECK-NEXT:    [[ANGLE:%.*]] = call double @atan2(double [[FIRST]], double [[SECOND]])
; CHECK-NEXT:    fadd double [[LENGTH]], [[ANGLE]]
define double @polar(double %x, double %y) {
  %h = call double @hypot(double %x, double %y)
  %a = call double @atan2(double %y, double %x)
  %both = fadd double %h, %a
  ret double %both
}
declare double @hypot(double, double)
declare double @atan2(double, double)

; Nobody reads errno here.
; CHECK: declare double @pow(double, double) #[[PURE:[0-9]+]]
; CHECK: attributes #[[PURE]] = { nounwind willreturn memory(none) }
define double @power(double %x) {
  %y = call double @pow(double %x, double 3.0)
  ret double %y
}
declare double @pow(double, double)
