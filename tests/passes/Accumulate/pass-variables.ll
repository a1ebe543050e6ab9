; The shadows of device variables become arguments, behind those of the parameters and before shared arrays; the kernel passes them.
;
; RUN: %opt -passes=adgen-pass-variables -S %s | %filecheck %s
; RUN: %opt -passes=adgen-pass-variables,adgen-sum-in-blocks,adgen-make-kernels -S %s | %filecheck %s --check-prefix=KERNEL

target triple = "nvptx64-nvidia-cuda"

@taps = addrspace(1) externally_initialized global [5 x float] zeroinitializer, !enzyme_shadow !0
@adgen_shadow_taps = addrspace(1) externally_initialized global [5 x float] zeroinitializer
@other = addrspace(1) externally_initialized global float 0.0, !enzyme_shadow !1
@adgen_shadow_other = addrspace(1) externally_initialized global float 0.0
@tile = internal addrspace(3) global [4 x float] undef
@llvm.compiler.used = appending global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @adgen_shadow_taps to ptr), ptr addrspacecast (ptr addrspace(1) @adgen_shadow_other to ptr)], section "llvm.metadata"

define void @filter(ptr %x) {
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_filter(ptr %x, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" "adgen-variable"="adgen_shadow_taps" %adgen_shadow_taps, ptr %tile, ptr "adgen-shared-shadow"="static" %d_tile)
; CHECK:         atomicrmw fadd ptr %adgen_shadow_taps, float 1.000000e+00
; CHECK:         [[NEXT:%.*]] = getelementptr i8, ptr %adgen_shadow_taps, i64 4
; CHECK:         atomicrmw fadd ptr [[NEXT]], float 2.000000e+00
; CHECK:         store float 1.000000e+00, ptr %tile
; What something else uses, too, stays.
; CHECK:         [[OTHER:%.*]] = addrspacecast ptr addrspace(1) @adgen_shadow_other to ptr
; CHECK:         atomicrmw fadd ptr [[OTHER]], float 3.000000e+00

; A block adds to it once.
; KERNEL-LABEL: define ptx_kernel void @filter__gradient(ptr %0, ptr %1)
; KERNEL:         call void @adgen_gradient_filter(ptr %0, ptr %1, ptr addrspacecast (ptr addrspace(1) @adgen_shadow_taps to ptr), ptr addrspacecast (ptr addrspace(3) @tile to ptr),
define void @adgen_gradient_filter(ptr %x, ptr noalias "adgen-shadow" %d_x, ptr %tile, ptr "adgen-shared-shadow"="static" %d_tile) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %1 = atomicrmw fadd ptr addrspacecast (ptr addrspace(1) @adgen_shadow_taps to ptr), float 1.0 monotonic
  %2 = atomicrmw fadd ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @adgen_shadow_taps to ptr), i64 4), float 2.0 monotonic
  store float 1.0, ptr %tile
  store float 1.0, ptr %d_tile
  %3 = atomicrmw fadd ptr addrspacecast (ptr addrspace(1) @adgen_shadow_other to ptr), float 3.0 monotonic
  ret void
}

define float @asks() {
  %1 = load float, ptr addrspacecast (ptr addrspace(1) @adgen_shadow_other to ptr)
  ret float %1
}

!0 = !{ptr addrspace(1) @adgen_shadow_taps}
!1 = !{ptr addrspace(1) @adgen_shadow_other}
