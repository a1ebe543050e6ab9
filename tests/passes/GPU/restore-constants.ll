; Variables that were in constant memory go back to it where only casts to generic addresses use them. Others stay: those
; that were in global memory, and one that something reads there.
;
; RUN: %opt -passes='adgen-restore-constants,verify' -S %s | %filecheck %s
; RUN: %opt -passes='adgen-shadow-variables<taps>,adgen-expand-constant-exprs,adgen-restore-constants' -S %s | %filecheck %s --check-prefix=BACK

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @weights = addrspace(4) externally_initialized global [2 x float] zeroinitializer, align 8{{$}}
; CHECK-DAG: @read = addrspace(1) externally_initialized global float 1.000000e+00, align 4, !adgen.constant
; CHECK-DAG: @other = addrspace(1) externally_initialized global float 0.000000e+00, align 4, !enzyme_shadow
; BACK-DAG: @taps = addrspace(4) externally_initialized global [3 x float] zeroinitializer, align 4{{$}}
; BACK-DAG: @adgen_shadow_taps = addrspace(1) externally_initialized global [3 x float] zeroinitializer, align 4
@weights = addrspace(1) externally_initialized global [2 x float] zeroinitializer, align 8, !enzyme_shadow !0, !adgen.constant !1
@read = addrspace(1) externally_initialized global float 1.0, align 4, !adgen.constant !1
@other = addrspace(1) externally_initialized global float 0.0, align 4, !enzyme_shadow !0
@shadow = addrspace(1) externally_initialized global [2 x float] zeroinitializer, align 4
@taps = addrspace(4) externally_initialized global [3 x float] zeroinitializer, align 4

; CHECK-LABEL: @f(
; CHECK: %generic = addrspacecast ptr addrspace(4) @weights to ptr
; CHECK: getelementptr float, ptr %generic, i64 %i
; CHECK: load float, ptr addrspace(1) @read
; CHECK: addrspacecast ptr addrspace(1) @other to ptr
; CHECK: addrspacecast ptr addrspace(4) @taps to ptr
define float @f(i64 %i) {
  %generic = addrspacecast ptr addrspace(1) @weights to ptr
  %p = getelementptr float, ptr %generic, i64 %i
  %a = load float, ptr %p
  %b = load float, ptr addrspace(1) @read
  %far = addrspacecast ptr addrspace(1) @other to ptr
  %c = load float, ptr %far
  %t = addrspacecast ptr addrspace(4) @taps to ptr
  %q = getelementptr float, ptr %t, i64 %i
  %d = load float, ptr %q
  %ab = fadd float %a, %b
  %cd = fadd float %c, %d
  %e = fadd float %ab, %cd
  ret float %e
}

!0 = !{ptr addrspace(1) @shadow}
!1 = !{}
