; Behind a barrier of the whole warp lanes go on together, where a gradient or a tangent calls what they leave one by
; one: what calls itself, the device's runtime, or what calls these. Not behind barriers of some lanes, nor in other
; kernels.
;
; RUN: %opt -passes=adgen-rejoin-lanes,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @recursive(
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NEXT:    call void asm sideeffect "{{.*}}wmma.mma.sync.aligned{{.*}}", "~{memory}"() [[CONVERGENT:#[0-9]+]]
; CHECK-NEXT:    call i32 @llvm.nvvm.activemask()
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 %some)
; CHECK-NEXT:    ret void
define ptx_kernel void @recursive(i32 %n, i32 %some) "adgen-activity"="duplicated" {
  call void @tree(i32 %n)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %there = call i32 @llvm.nvvm.activemask()
  call void @llvm.nvvm.bar.warp.sync(i32 %some)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @kept(
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NEXT:    call void asm
define ptx_kernel void @kept() "adgen-tangent-activity"="duplicated" {
  call void @keeps()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @mathematics(
; CHECK-NOT:     asm sideeffect "{
; CHECK:         ret void
define ptx_kernel void @mathematics(float %x) "adgen-activity"="duplicated" {
  call void asm sideeffect "// nothing", ""()
  %y = call float @plain(float %x)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK-NOT:     asm
; CHECK:         ret void
define ptx_kernel void @primal(i32 %n) {
  call void @tree(i32 %n)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

define void @tree(i32 %n) {
  %end = icmp eq i32 %n, 0
  br i1 %end, label %out, label %again

again:
  %less = add i32 %n, -1
  call void @tree(i32 %less)
  br label %out

out:
  ret void
}

define void @keeps() {
  %memory = call ptr @malloc(i64 8)
  ret void
}

define float @plain(float %x) {
  %y = call float @llvm.fabs.f32(float %x)
  ret float %y
}

; CHECK: attributes [[CONVERGENT]] = { convergent }

declare ptr @malloc(i64)
declare float @llvm.fabs.f32(float)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.activemask()
