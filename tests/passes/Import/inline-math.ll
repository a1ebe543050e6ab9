; When nothing is left to do that has to see mathematics as calls, it is inlined like everything else, but for what
; libdevice keeps apart itself.
;
; RUN: %opt -passes=adgen-inline-math,always-inline,globaldce -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-NOT: @__nv_sin(
define internal double @__nv_sin(double %x) noinline "enzyme_math"="sin" {
  %huge = fcmp ogt double %x, 105615.0
  br i1 %huge, label %slow, label %quick
slow:
  %r = call double @__internal_trig_reduction_slowpathd(double %x)
  ret double %r
quick:
  %s = call double @short(double %x)
  ret double %s
}

; CHECK: define internal double @__internal_trig_reduction_slowpathd(double %x) #[[APART:[0-9]+]]
define internal double @__internal_trig_reduction_slowpathd(double %x) noinline {
  %r = frem double %x, 3.0
  ret double %r
}

; CHECK-NOT: @short
define internal double @short(double %x) noinline {
  ret double %x
}

; CHECK:      define ptx_kernel void @k(ptr %x)
; CHECK:        fcmp ogt double %v, 1.056150e+05
; CHECK:        call double @__internal_trig_reduction_slowpathd(double %v)
; CHECK-NOT:    call
; CHECK:      attributes #[[APART]] = { noinline
define ptx_kernel void @k(ptr %x) {
  %v = load double, ptr %x
  %s = call double @__nv_sin(double %v)
  store double %s, ptr %x
  ret void
}
