; Atomic additions in a gradient to places that were read are made where what they add is not zero, up to eight behind
; each other under one condition. Those stay whose result is used, of a constant, of the user's scope, in primals, and
; where the place follows from the thread's number.
;
; RUN: %opt -passes=adgen-skip-zero-atomics,verify -S %s | %filecheck %s

; CHECK-LABEL: define ptx_kernel void @gradient(
; CHECK:         %more = fadd double %w, %w
; CHECK-NEXT:    %[[ONE:.*]] = fcmp une float %v, 0.000000e+00
; CHECK-NEXT:    %[[TWO:.*]] = fcmp une double %more, 0.000000e+00
; CHECK-NEXT:    %[[ANY:.*]] = or i1 %[[ONE]], %[[TWO]]
; CHECK-NEXT:    br i1 %[[ANY]], label %[[ADD:.*]], label %[[REST:.*]]
; CHECK:       [[ADD]]:
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(3) %q, double %more monotonic
; CHECK-NEXT:    br label %[[REST]]
; CHECK:       [[REST]]:
; CHECK-NEXT:    %read = load float, ptr addrspace(1) %p
; CHECK-NEXT:    %[[THREE:.*]] = fcmp une float %read, 0.000000e+00
; CHECK-NEXT:    br i1 %[[THREE]]
; CHECK:         atomicrmw fadd ptr addrspace(1) %p, float %read monotonic
; CHECK:         atomicrmw fadd ptr addrspace(1) %p, float 1.000000e+00 monotonic
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(1) %p, float %v syncscope("device") monotonic
; CHECK-NEXT:    %old = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
; CHECK-NEXT:    store float %old
define ptx_kernel void @gradient(ptr addrspace(1) %array, ptr addrspace(3) %shared, ptr addrspace(1) %index, float %v, double %w) "adgen-activity"="duplicated" {
  %i = load i32, ptr addrspace(1) %index
  %p = getelementptr float, ptr addrspace(1) %array, i32 %i
  %q = getelementptr double, ptr addrspace(3) %shared, i32 %i
  %unused = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %more = fadd double %w, %w
  %unused.2 = atomicrmw fadd ptr addrspace(3) %q, double %more monotonic
  %read = load float, ptr addrspace(1) %p
  %unused.3 = atomicrmw fadd ptr addrspace(1) %p, float %read monotonic
  %unused.4 = atomicrmw fadd ptr addrspace(1) %p, float 1.0 monotonic
  %unused.5 = atomicrmw fadd ptr addrspace(1) %p, float %v syncscope("device") monotonic
  %old = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  store float %old, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @nine(
; CHECK-COUNT-8: fcmp une float
; CHECK:         br i1
; CHECK-COUNT-8: atomicrmw
; CHECK:         fcmp une float
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @nine(ptr addrspace(1) %array, ptr addrspace(1) %index, float %v) "adgen-activity"="duplicated" {
  %i = load i32, ptr addrspace(1) %index
  %p = getelementptr float, ptr addrspace(1) %array, i32 %i
  %a0 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a1 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a2 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a3 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a4 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a5 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a6 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a7 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  %a8 = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  ret void
}

; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK-NEXT:    atomicrmw
; CHECK-NEXT:    ret void
define ptx_kernel void @primal(ptr addrspace(1) %p, float %v) {
  %unused = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  ret void
}

%Sizes = type { i32, i32 }

; CHECK-LABEL: define ptx_kernel void @own(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @own(ptr addrspace(1) %array, ptr byval(%Sizes) %sizes, float %v) "adgen-activity"="duplicated:const" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = load i32, ptr %sizes
  %i = mul i32 %x, %width
  %p = getelementptr float, ptr addrspace(1) %array, i32 %i
  %unused = atomicrmw fadd ptr addrspace(1) %p, float %v monotonic
  ret void
}
