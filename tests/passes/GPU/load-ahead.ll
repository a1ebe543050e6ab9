; What lies beside something that is loaded is loaded with it where ptxas would make branches in between.
;
; RUN: %opt -passes=adgen-load-ahead,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @beside__gradient(
; CHECK-COUNT-3: load double
; CHECK:         fdiv double
; CHECK-NOT:     load double, ptr %third
; CHECK:         call double @llvm.sqrt.f64
; CHECK:         load double, ptr %far
; CHECK:         load double, ptr %else
; CHECK:         load double, ptr %changing
; CHECK:         ret void
define ptx_kernel void @beside__gradient(ptr noalias %grid, ptr noalias %other, ptr noalias %to, i64 %n) {
  %low = getelementptr [6 x double], ptr %grid, i64 %n
  %energy = load double, ptr %low, !invariant.load !0
  %ratio = fdiv double 1.0, %energy
  %third = getelementptr i8, ptr %low, i64 16
  %value = load double, ptr %third, !invariant.load !0
  %high = getelementptr i8, ptr %low, i64 48
  %next = load double, ptr %high, !invariant.load !0
  %between = fmul double %value, %next
  %root = call double @llvm.sqrt.f64(double %ratio)
  %far = getelementptr i8, ptr %low, i64 160
  %late = load double, ptr %far, !invariant.load !0
  %else = getelementptr i8, ptr %other, i64 16
  %apart = load double, ptr %else, !invariant.load !0
  %changing = getelementptr i8, ptr %low, i64 8
  %now = load double, ptr %changing
  %one = fadd double %between, %root
  %two = fadd double %late, %apart
  %three = fadd double %one, %two
  %four = fadd double %three, %now
  store double %four, ptr %to
  ret void
}

; Not where it is loaded by an address that only the division leads to, and not in the caller's own kernels.
; CHECK-LABEL: define ptx_kernel void @looked_up__gradient(
; CHECK:         fdiv double
; CHECK:         load double, ptr %at
define ptx_kernel void @looked_up__gradient(ptr noalias %grid, ptr noalias %to) {
  %first = load double, ptr %grid, !invariant.load !0
  %ratio = fdiv double 1.0, %first
  %number = fptosi double %ratio to i64
  %at = getelementptr double, ptr %grid, i64 %number
  %value = load double, ptr %at, !invariant.load !0
  store double %value, ptr %to
  ret void
}

; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK:         fdiv double
; CHECK:         load double, ptr %second
define ptx_kernel void @primal(ptr noalias %grid, ptr noalias %to) {
  %first = load double, ptr %grid, !invariant.load !0
  %ratio = fdiv double 1.0, %first
  %second = getelementptr i8, ptr %grid, i64 8
  %value = load double, ptr %second, !invariant.load !0
  %sum = fadd double %ratio, %value
  store double %sum, ptr %to
  ret void
}

!0 = !{}
