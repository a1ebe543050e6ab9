; Several divisions of a derivative by one square root become one.
;
; RUN: %opt -passes=adgen-share-reciprocals -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare double @__nv_sqrt(double)
declare float @llvm.sqrt.f32(float)

; As Enzyme has it for q / sqrt(x): by the root, again, and by twice the root.
; CHECK-LABEL: define double @derivative(
; CHECK:         %root = call double @__nv_sqrt(double %x)
; CHECK-NEXT:    [[ONCE:%.*]] = fdiv double 1.000000e+00, %root
; CHECK-NEXT:    [[HALF:%.*]] = fmul double [[ONCE]], 5.000000e-01
; CHECK-NEXT:    [[A:%.*]] = fmul nsz contract double %d, [[ONCE]]
; CHECK-NEXT:    [[B:%.*]] = fmul nsz contract double %q, [[ONCE]]
; CHECK-NEXT:    [[PRODUCT:%.*]] = fmul nsz contract double [[A]], [[B]]
; CHECK:         [[C:%.*]] = fmul nsz contract double [[PRODUCT]], [[HALF]]
; CHECK-NEXT:    ret double [[C]]
define double @derivative(double %x, double %q, double %d) "adgen-activity"="active:active:active" {
  %root = call double @__nv_sqrt(double %x)
  %a = fdiv nsz contract double %d, %root
  %b = fdiv nsz contract double %q, %root
  %product = fmul nsz contract double %a, %b
  %twice = fmul nsz contract double 2.000000e+00, %root
  %c = fdiv nsz contract double %product, %twice
  ret double %c
}

; One division is as dear as one reciprocal; the primal's division rounds once; other divisors' reciprocals may overflow.
; CHECK-LABEL: define float @left_alone(
; CHECK-NOT:     fdiv {{.*}}float 1.000000e+00
; CHECK-COUNT-4: fdiv
; CHECK:         ret float
define float @left_alone(float %x, float %y) "adgen-activity"="active:active" {
  %root = call float @llvm.sqrt.f32(float %x)
  %of.the.primal = fdiv contract float %y, %root
  %once = fdiv nsz contract float %of.the.primal, %root
  %a = fdiv nsz contract float %once, %y
  %b = fdiv nsz contract float %a, %y
  ret float %b
}

; Not in a function that is no gradient.
; CHECK-LABEL: define double @primal(
; CHECK-COUNT-2: fdiv nsz double %x, %root
; CHECK:         ret double
define double @primal(double %x) {
  %root = call double @__nv_sqrt(double %x)
  %a = fdiv nsz double %x, %root
  %b = fdiv nsz double %x, %root
  %sum = fadd double %a, %b
  ret double %sum
}
