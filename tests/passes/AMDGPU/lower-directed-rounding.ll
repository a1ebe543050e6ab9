; Directed roundings of floats in double precision, for a target that has none: the sum and what it lost decide which neighbour it is.
; RUN: %opt -passes=adgen-lower-directed-rounding -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define float @fma_down(
; CHECK-DAG: %[[A:.*]] = fpext float %a to double
; CHECK-DAG: %[[B:.*]] = fpext float %b to double
; CHECK: %[[PRODUCT:.*]] = fmul double
; CHECK: %[[C:.*]] = fpext float %c to double
; CHECK: %[[SUM:.*]] = fadd double %[[PRODUCT]], %[[C]]
; CHECK: %[[REST:.*]] = fadd double
; CHECK: %[[NEAREST:.*]] = fptrunc double %[[SUM]] to float
; CHECK: %[[OFF:.*]] = fsub double %{{.*}}, %[[SUM]]
; CHECK: fcmp ogt double %[[OFF]], 0.0
; CHECK: fcmp olt double %[[REST]], 0.0
; CHECK: %[[BITS:.*]] = bitcast float %[[NEAREST]] to i32
; CHECK: %[[SIGNED:.*]] = select i1 %{{.*}}, i32 -2147483648, i32 %[[BITS]]
; CHECK: %[[CHOSEN:.*]] = select i1 %{{.*}}, i32 %{{.*}}, i32 %[[SIGNED]]
; CHECK: %[[RESULT:.*]] = bitcast i32 %[[CHOSEN]] to float
; CHECK: ret float %[[RESULT]]
define float @fma_down(float %a, float %b, float %c) {
  %r = call float @llvm.nvvm.fma.rm.f(float %a, float %b, float %c)
  ret float %r
}

; A product of floats is exact.
; CHECK-LABEL: define float @mul_to_zero(
; CHECK-NOT: fadd
; CHECK: sub i32 %{{.*}}, 1
; CHECK: ret float
define float @mul_to_zero(float %a, float %b) {
  %r = call float @llvm.nvvm.mul.rz.ftz.f(float %a, float %b)
  ret float %r
}

; Double precision stays, and is refused where no instruction has it.
; CHECK-LABEL: define double @add_up(
; CHECK: call double @llvm.nvvm.add.rp.d
define double @add_up(double %a, double %b) {
  %r = call double @llvm.nvvm.add.rp.d(double %a, double %b)
  ret double %r
}

; A conversion too; the neighbour of zero is the smallest number.
; CHECK-LABEL: define float @narrow_up(
; CHECK: fptrunc double %a to float
; CHECK: select i1 %{{.*}}, i32 1, i32
define float @narrow_up(double %a) {
  %r = call float @llvm.nvvm.d2f.rp(double %a)
  ret float %r
}

; CHECK-NOT: declare float
declare float @llvm.nvvm.d2f.rp(double)
declare float @llvm.nvvm.fma.rm.f(float, float, float)
declare float @llvm.nvvm.mul.rz.ftz.f(float, float)
declare double @llvm.nvvm.add.rp.d(double, double)
