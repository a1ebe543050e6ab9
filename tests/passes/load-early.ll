; The loads of a gradient come before the first division of their block, with what their addresses need.
;
; RUN: %opt -passes=adgen-load-early,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare float @llvm.sqrt.f32(float)

; CHECK-LABEL: define ptx_kernel void @apart__gradient(
; CHECK:         load float, ptr %a
; CHECK-NEXT:    add i64
; CHECK-NEXT:    [[AT:%.*]] = getelementptr float, ptr %b
; CHECK-NEXT:    load float, ptr [[AT]]
; CHECK-NEXT:    fdiv float
; CHECK-NEXT:    store float
define ptx_kernel void @apart__gradient(ptr noalias %a, ptr noalias %b, ptr noalias %out, i64 %i) {
  %x = load float, ptr %a
  %q = fdiv float 1.0, %x
  store float %q, ptr %out
  %j = add i64 %i, 1
  %at = getelementptr float, ptr %b, i64 %j
  %y = load float, ptr %at
  %s = fadd float %y, %q
  store float %s, ptr %a
  ret void
}

; What may be written before it stays behind that, and so does one whose address needs the division.
; CHECK-LABEL: define ptx_kernel void @stays__gradient(
; CHECK:         call float @llvm.sqrt.f32
; CHECK-NEXT:    store float
; CHECK-NEXT:    load float, ptr %b
; CHECK:         fptosi float
; CHECK-NEXT:    getelementptr
; CHECK-NEXT:    load float
define ptx_kernel void @stays__gradient(ptr noalias %a, ptr %b, ptr %out) {
  %x = load float, ptr %a
  %q = call float @llvm.sqrt.f32(float %x)
  store float %q, ptr %out
  %y = load float, ptr %b
  %i = fptosi float %q to i64
  %at = getelementptr float, ptr %a, i64 %i
  %z = load float, ptr %at
  %s = fadd float %y, %z
  store float %s, ptr %out
  ret void
}

; The primal is the user's.
; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK:         fdiv float
; CHECK-NEXT:    load float, ptr %b
define ptx_kernel void @primal(ptr noalias %a, ptr noalias %b, ptr noalias %out) {
  %x = load float, ptr %a
  %q = fdiv float 1.0, %x
  %y = load float, ptr %b
  %s = fadd float %y, %q
  store float %s, ptr %out
  ret void
}
