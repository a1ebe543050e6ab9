; Derivatives come with the host's names and LLVM's intrinsics, which a GPU does not have: both become libdevice's. What may be approximate
; becomes NVVM's approximate instruction again, where there is one; what the NVPTX back end lowers itself stays.
;
; RUN: %opt -passes=adgen-restore-math -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: @intrinsics(
; CHECK-NEXT: %a = call float @__nv_cosf(float %x)
; CHECK-NEXT: %b = call double @__nv_exp(double %y)
; CHECK-NEXT: %c = call float @__nv_powf(float %x, float %x)
; CHECK-NEXT: %d = call double @__nv_powi(double %y, i32 %n)
; CHECK-NEXT: %e = call double @__nv_tanh(double %y)
; CHECK-NEXT: %f = call float @llvm.sqrt.f32(float %x)
; CHECK-NEXT: %g = call float @llvm.fabs.f32(float %x)
define void @intrinsics(float %x, double %y, i32 %n) {
  %a = call float @llvm.cos.f32(float %x)
  %b = call double @llvm.exp.f64(double %y)
  %c = call float @llvm.pow.f32(float %x, float %x)
  %d = call double @llvm.powi.f64.i32(double %y, i32 %n)
  %e = call double @llvm.tanh.f64(double %y)
  %f = call float @llvm.sqrt.f32(float %x)
  %g = call float @llvm.fabs.f32(float %x)
  ret void
}

; There are approximate instructions for float only, and none for exp.
; CHECK-LABEL: @approximate(
; CHECK-NEXT: %a = call float @llvm.nvvm.sin.approx.f(float %x)
; CHECK-NEXT: %b = call float @llvm.nvvm.cos.approx.f(float %x)
; CHECK-NEXT: %c = call float @llvm.nvvm.ex2.approx.f32(float %x)
; CHECK-NEXT: %d = call float @llvm.nvvm.lg2.approx.f(float %x)
; CHECK-NEXT: %e = call float @__nv_expf(float %x)
; CHECK-NEXT: %f = call double @__nv_sin(double %y)
define void @approximate(float %x, double %y) {
  %a = call afn float @llvm.sin.f32(float %x)
  %b = call fast float @llvm.cos.f32(float %x)
  %c = call afn float @llvm.exp2.f32(float %x)
  %d = call afn float @llvm.log2.f32(float %x)
  %e = call afn float @llvm.exp.f32(float %x)
  %f = call afn double @llvm.sin.f64(double %y)
  ret void
}

; CHECK-LABEL: @host_names(
; CHECK-NEXT: %a = call float @__nv_coshf(float %x)
; CHECK-NEXT: %b = call double @__nv_sinh(double %y)
; CHECK-NEXT: %c = call float @__nv_erff(float %x)
; A function that the file defines is the user's.
; CHECK-NEXT: %d = call float @logf(float %x)
define void @host_names(float %x, double %y) {
  %a = call float @coshf(float %x)
  %b = call double @sinh(double %y)
  %c = call float @erff(float %x)
  %d = call float @logf(float %x)
  ret void
}

declare float @coshf(float)
declare double @sinh(double)
declare float @erff(float)
define float @logf(float %x) {
  ret float %x
}
