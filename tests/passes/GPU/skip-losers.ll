; The reverse of what a thread has selected is left out where its cotangent is zero, as of threads whose selection another one beats: all that is
; added to memory or handed on is zero then, or what is handed on without it.
; Not where something else is added or stored, where what is handed on is another number, where threads meet, or where nothing was selected.
;
; RUN: %opt -passes=adgen-skip-losers,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.bar.warp.sync(i32) convergent

; CHECK-LABEL: define ptx_kernel void @nearest__gradient(
; CHECK:         [[SOME:%.*]] = fcmp une float %c, 0.000000e+00
; CHECK-NEXT:    [[BOTH:%.*]] = and i1 %won, [[SOME]]
; CHECK-NEXT:    br i1 [[BOTH]], label %invertselected, label %invertend
define ptx_kernel void @nearest__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, float %a, float %sum, i1 %won, i1 %way) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertselected, label %invertend
invertselected:
  br i1 %way, label %invertone.again, label %invertother.again
invertone.again:
  %p = fmul float %c, %a
  br label %invertbody.again
invertother.again:
  %q = fdiv float %c, %a
  %n = fneg float %q
  br label %invertbody.again
invertbody.again:
  %r = phi float [ %p, %invertone.again ], [ %n, %invertother.again ]
  %t = call float @llvm.fma.f32(float %a, float %r, float %c)
  call void asm sideeffect "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) %d_x, float %r, float %t, float %c, float 0.0)
  %to = getelementptr float, ptr addrspace(1) %d_x, i64 4
  %u = atomicrmw fadd ptr addrspace(1) %to, float %t monotonic
  %more = fadd float %sum, %r
  br label %invertend
invertend:
  %all = phi float [ %sum, %invertjoin ], [ %more, %invertbody.again ]
  %own = phi float [ 0.0, %invertjoin ], [ %t, %invertbody.again ]
  %total = fadd float %all, %own
  store float %total, ptr addrspace(1) %d_y
  ret void
}

; The branch may be the other way round, and more than one cotangent lead to it.
; CHECK-LABEL: define ptx_kernel void @two__gradient(
; CHECK:         [[C:%.*]] = fcmp une float %c, 0.000000e+00
; CHECK-NEXT:    [[D:%.*]] = fcmp une float %d, 0.000000e+00
; CHECK-NEXT:    [[ANY:%.*]] = or i1 [[C]], [[D]]
; CHECK-NEXT:    [[NONE:%.*]] = xor i1 [[ANY]], true
; CHECK-NEXT:    [[SKIPPED:%.*]] = or i1 %lost, [[NONE]]
; CHECK-NEXT:    br i1 [[SKIPPED]], label %invertend, label %invertbody.again
define ptx_kernel void @two__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i1 %lost) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  %second = getelementptr float, ptr addrspace(1) %d_y, i64 1
  %d = atomicrmw xchg ptr addrspace(1) %second, float 0.0 monotonic
  br i1 %lost, label %invertend, label %invertbody.again
invertbody.again:
  %s = fadd float %c, %d
  %u = atomicrmw fadd ptr addrspace(1) %d_x, float %s monotonic
  br label %invertend
invertend:
  ret void
}

; A sum that a loop of the branch carries round is what it begins with, where all that is added is zero.
; CHECK-LABEL: define ptx_kernel void @looped__gradient(
; CHECK:         [[SOME:%.*]] = fcmp une float %c, 0.000000e+00
; CHECK-NEXT:    [[BOTH:%.*]] = and i1 %won, [[SOME]]
; CHECK-NEXT:    br i1 [[BOTH]], label %invertfirst.again, label %invertend
define ptx_kernel void @looped__gradient(ptr addrspace(1) %d_y, float %a, float %sum, i1 %won, i1 %more) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertfirst.again, label %invertend
invertfirst.again:
  br label %invertbody.again
invertbody.again:
  %carried = phi float [ %sum, %invertfirst.again ], [ %next, %invertlatch.again ]
  %p = fmul float %c, %a
  br i1 %more, label %invertadd.again, label %invertlatch.again
invertadd.again:
  %added = fadd float %p, %carried
  br label %invertlatch.again
invertlatch.again:
  %next = phi float [ %carried, %invertbody.again ], [ %added, %invertadd.again ]
  br i1 %more, label %invertbody.again, label %invertleft.again
invertleft.again:
  br label %invertend
invertend:
  %all = phi float [ %sum, %invertjoin ], [ %next, %invertleft.again ]
  store float %all, ptr addrspace(1) %d_y
  ret void
}

; CHECK-LABEL: define ptx_kernel void @looped_number__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @looped_number__gradient(ptr addrspace(1) %d_y, float %a, float %sum, i1 %won, i1 %more) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertfirst.again, label %invertend
invertfirst.again:
  br label %invertbody.again
invertbody.again:
  %carried = phi float [ %sum, %invertfirst.again ], [ %next, %invertbody.again ]
  %p = fadd float %c, %a
  %next = fadd float %carried, %p
  br i1 %more, label %invertbody.again, label %invertleft.again
invertleft.again:
  br label %invertend
invertend:
  %all = phi float [ %sum, %invertjoin ], [ %next, %invertleft.again ]
  store float %all, ptr addrspace(1) %d_y
  ret void
}

; CHECK-LABEL: define ptx_kernel void @more__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @more__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, float %a, i1 %won) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertbody.again, label %invertend
invertbody.again:
  %s = fadd float %c, %a
  %u = atomicrmw fadd ptr addrspace(1) %d_x, float %s monotonic
  br label %invertend
invertend:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @stored__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @stored__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i1 %won) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertbody.again, label %invertend
invertbody.again:
  store float %c, ptr addrspace(1) %d_x
  br label %invertend
invertend:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @handed_on__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @handed_on__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, float %a, i1 %won) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertbody.again, label %invertend
invertbody.again:
  %s = fadd float %c, %a
  br label %invertend
invertend:
  %own = phi float [ 0.0, %invertjoin ], [ %s, %invertbody.again ]
  store float %own, ptr addrspace(1) %d_x
  ret void
}

; CHECK-LABEL: define ptx_kernel void @together__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @together__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i1 %won) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %won, label %invertbody.again, label %invertend
invertbody.again:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %u = atomicrmw fadd ptr addrspace(1) %d_x, float %c monotonic
  br label %invertend
invertend:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @plain__gradient(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define ptx_kernel void @plain__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i1 %some) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  br i1 %some, label %invertbody, label %invertend
invertbody:
  %u = atomicrmw fadd ptr addrspace(1) %d_x, float %c monotonic
  br label %invertend
invertend:
  ret void
}

declare float @llvm.fma.f32(float, float, float)

; Before it is a kernel, the same. A branch that asks already is left alone.
; CHECK-LABEL: define void @adgen_gradient_early(
; CHECK:         [[EARLY:%.*]] = fcmp une float %c, 0.000000e+00
; CHECK-NEXT:    [[AND:%.*]] = and i1 %won, [[EARLY]]
; CHECK-NEXT:    br i1 [[AND]], label %invertbody.again, label %invertend
define void @adgen_gradient_early(ptr %d_y, ptr %d_x, i1 %won) "adgen-activity"="duplicated:duplicated:const" {
invertjoin:
  %c = atomicrmw xchg ptr %d_y, float 0.0 monotonic
  br i1 %won, label %invertbody.again, label %invertend
invertbody.again:
  %u = atomicrmw fadd ptr %d_x, float %c monotonic
  br label %invertend
invertend:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @asked__gradient(
; CHECK:         %some = fcmp une float %c, 0.000000e+00
; CHECK-NEXT:    %both = and i1 %won, %some
; CHECK-NEXT:    br i1 %both, label %invertbody.again, label %invertend
define ptx_kernel void @asked__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i1 %won) {
invertjoin:
  %c = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  %some = fcmp une float %c, 0.0
  %both = and i1 %won, %some
  br i1 %both, label %invertbody.again, label %invertend
invertbody.again:
  %u = atomicrmw fadd ptr addrspace(1) %d_x, float %c monotonic
  br label %invertend
invertend:
  ret void
}
