; What a gradient would keep for its reverse sweep, more than there are registers for, is read and computed again where it is needed.
;
; RUN: %opt -passes=adgen-reload-inputs,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare <64 x double> @many(double)
declare void @use(<64 x double>)

; CHECK-LABEL: define ptx_kernel void @reload__gradient(
; CHECK:         load <32 x double>, ptr %place
; CHECK:       behind:
; CHECK-NEXT:    call void @use
; CHECK-NEXT:    br label %reverse
; CHECK:       reverse:
; CHECK-NEXT:    [[TID:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NEXT:    [[HIDDEN:%.*]] = call i32 asm sideeffect "", "=r,0"(i32 [[TID]])
; CHECK-NEXT:    [[INDEX:%.*]] = zext i32 [[HIDDEN]] to i64
; CHECK-NEXT:    [[PLACE:%.*]] = getelementptr <32 x double>, ptr %given, i64 [[INDEX]]
; CHECK-NEXT:    [[AGAIN:%.*]] = load <32 x double>, ptr [[PLACE]], align 256, !invariant.load
; CHECK-NEXT:    [[TWICE:%.*]] = fadd <32 x double> [[AGAIN]], [[AGAIN]]
; CHECK-NEXT:    store <32 x double> [[TWICE]], ptr %out
define ptx_kernel void @reload__gradient(ptr %given, ptr %out, double %d) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <32 x double>, ptr %given, i64 %index
  %x = load <32 x double>, ptr %place, align 256, !invariant.load !0
  %twice = fadd <32 x double> %x, %x
  %first = extractelement <32 x double> %x, i32 0
  br label %between

between:
  %all = call <64 x double> @many(double %first)
  br label %behind

behind:
  call void @use(<64 x double> %all)
  br label %reverse

reverse:
  store <32 x double> %twice, ptr %out
  ret void
}

; Two forms of a gradient that end in one block compute alike what this one needs.
; CHECK-LABEL: define ptx_kernel void @forms__gradient(
; CHECK:       reverse:
; CHECK-NEXT:    call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NEXT:    call i32 asm sideeffect
; CHECK-NEXT:    zext
; CHECK-NEXT:    getelementptr
; CHECK-NEXT:    [[AGAIN:%.*]] = load <32 x double>
; CHECK-NEXT:    store <32 x double> [[AGAIN]], ptr %out
define ptx_kernel void @forms__gradient(ptr %given, ptr %out, double %d, i1 %which) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br i1 %which, label %own, label %shared

own:
  %index = zext i32 %i to i64
  %place = getelementptr <32 x double>, ptr %given, i64 %index
  %x = load <32 x double>, ptr %place, align 256, !invariant.load !0
  br label %own.between

own.between:
  %all = call <64 x double> @many(double %d)
  br label %own.behind

own.behind:
  call void @use(<64 x double> %all)
  br label %reverse

shared:
  %index.2 = zext i32 %i to i64
  %place.2 = getelementptr <32 x double>, ptr %given, i64 %index.2
  %y = load <32 x double>, ptr %place.2, align 256, !invariant.load !0
  br label %shared.between

shared.between:
  %all.2 = call <64 x double> @many(double %d)
  br label %shared.behind

shared.behind:
  call void @use(<64 x double> %all.2)
  br label %reverse

reverse:
  %z = phi <32 x double> [ %x, %own.behind ], [ %y, %shared.behind ]
  store <32 x double> %z, ptr %out
  ret void
}

; What may have been written is kept, and so is what a block in between needs, or what few registers hold.
; CHECK-LABEL: define ptx_kernel void @written__gradient(
; CHECK-NOT:     asm
; CHECK:       reverse:
; CHECK-NEXT:    store <32 x double> %x, ptr %out
define ptx_kernel void @written__gradient(ptr %given, ptr %out, double %d) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <32 x double>, ptr %given, i64 %index
  %x = load <32 x double>, ptr %place, align 256
  br label %between

between:
  %all = call <64 x double> @many(double %d)
  br label %behind

behind:
  call void @use(<64 x double> %all)
  br label %reverse

reverse:
  store <32 x double> %x, ptr %out
  ret void
}

; CHECK-LABEL: define ptx_kernel void @needed__gradient(
; CHECK-NOT:     asm
; CHECK:       reverse:
; CHECK-NEXT:    store <32 x double> %x, ptr %out
define ptx_kernel void @needed__gradient(ptr %given, ptr %out, double %d) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <32 x double>, ptr %given, i64 %index
  %x = load <32 x double>, ptr %place, align 256, !invariant.load !0
  br label %between

between:
  %all = call <64 x double> @many(double %d)
  store <32 x double> %x, ptr %given
  br label %behind

behind:
  call void @use(<64 x double> %all)
  br label %reverse

reverse:
  store <32 x double> %x, ptr %out
  ret void
}

; CHECK-LABEL: define ptx_kernel void @few__gradient(
; CHECK-NOT:     asm
; CHECK:       reverse:
; CHECK-NEXT:    store <32 x double> %x, ptr %out
define ptx_kernel void @few__gradient(ptr %given, ptr %out, double %d) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <32 x double>, ptr %given, i64 %index
  %x = load <32 x double>, ptr %place, align 256, !invariant.load !0
  br label %reverse

reverse:
  store <32 x double> %x, ptr %out
  ret void
}

!0 = !{}
