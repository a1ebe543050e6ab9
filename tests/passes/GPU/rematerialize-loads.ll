; What a gradient would keep for its reverse sweep, more than there are registers for, is read and computed again where it is needed.
;
; RUN: %opt -passes=adgen-rematerialize-loads,verify -S %s | %filecheck %s

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

; What two forms have computed by many steps, each of which needs the one before twice, is compared once.
; CHECK-LABEL: define ptx_kernel void @deep__gradient(
; CHECK:       end:
; CHECK-NEXT:    phi double
define ptx_kernel void @deep__gradient(ptr %given, ptr %out, double %d, i1 %which) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %all = call <64 x double> @many(double %d)
  call void @use(<64 x double> %all)
  br i1 %which, label %a, label %b

a:
  %ix.a = zext i32 %i to i64
  %p.a = getelementptr double, ptr %given, i64 %ix.a
  %a.0 = load double, ptr %p.a, align 8, !invariant.load !0
  %a.1 = fmul double %a.0, %a.0
  %a.2 = fmul double %a.1, %a.1
  %a.3 = fmul double %a.2, %a.2
  %a.4 = fmul double %a.3, %a.3
  %a.5 = fmul double %a.4, %a.4
  %a.6 = fmul double %a.5, %a.5
  %a.7 = fmul double %a.6, %a.6
  %a.8 = fmul double %a.7, %a.7
  %a.9 = fmul double %a.8, %a.8
  %a.10 = fmul double %a.9, %a.9
  %a.11 = fmul double %a.10, %a.10
  %a.12 = fmul double %a.11, %a.11
  %a.13 = fmul double %a.12, %a.12
  %a.14 = fmul double %a.13, %a.13
  %a.15 = fmul double %a.14, %a.14
  %a.16 = fmul double %a.15, %a.15
  %a.17 = fmul double %a.16, %a.16
  %a.18 = fmul double %a.17, %a.17
  %a.19 = fmul double %a.18, %a.18
  %a.20 = fmul double %a.19, %a.19
  %a.21 = fmul double %a.20, %a.20
  %a.22 = fmul double %a.21, %a.21
  %a.23 = fmul double %a.22, %a.22
  %a.24 = fmul double %a.23, %a.23
  %a.25 = fmul double %a.24, %a.24
  %a.26 = fmul double %a.25, %a.25
  %a.27 = fmul double %a.26, %a.26
  %a.28 = fmul double %a.27, %a.27
  %a.29 = fmul double %a.28, %a.28
  %a.30 = fmul double %a.29, %a.29
  %a.31 = fmul double %a.30, %a.30
  %a.32 = fmul double %a.31, %a.31
  %a.33 = fmul double %a.32, %a.32
  %a.34 = fmul double %a.33, %a.33
  %a.35 = fmul double %a.34, %a.34
  %a.36 = fmul double %a.35, %a.35
  br label %end

b:
  %ix.b = zext i32 %i to i64
  %p.b = getelementptr double, ptr %given, i64 %ix.b
  %b.0 = load double, ptr %p.b, align 8, !invariant.load !0
  %b.1 = fmul double %b.0, %b.0
  %b.2 = fmul double %b.1, %b.1
  %b.3 = fmul double %b.2, %b.2
  %b.4 = fmul double %b.3, %b.3
  %b.5 = fmul double %b.4, %b.4
  %b.6 = fmul double %b.5, %b.5
  %b.7 = fmul double %b.6, %b.6
  %b.8 = fmul double %b.7, %b.7
  %b.9 = fmul double %b.8, %b.8
  %b.10 = fmul double %b.9, %b.9
  %b.11 = fmul double %b.10, %b.10
  %b.12 = fmul double %b.11, %b.11
  %b.13 = fmul double %b.12, %b.12
  %b.14 = fmul double %b.13, %b.13
  %b.15 = fmul double %b.14, %b.14
  %b.16 = fmul double %b.15, %b.15
  %b.17 = fmul double %b.16, %b.16
  %b.18 = fmul double %b.17, %b.17
  %b.19 = fmul double %b.18, %b.18
  %b.20 = fmul double %b.19, %b.19
  %b.21 = fmul double %b.20, %b.20
  %b.22 = fmul double %b.21, %b.21
  %b.23 = fmul double %b.22, %b.22
  %b.24 = fmul double %b.23, %b.23
  %b.25 = fmul double %b.24, %b.24
  %b.26 = fmul double %b.25, %b.25
  %b.27 = fmul double %b.26, %b.26
  %b.28 = fmul double %b.27, %b.27
  %b.29 = fmul double %b.28, %b.28
  %b.30 = fmul double %b.29, %b.29
  %b.31 = fmul double %b.30, %b.30
  %b.32 = fmul double %b.31, %b.31
  %b.33 = fmul double %b.32, %b.32
  %b.34 = fmul double %b.33, %b.33
  %b.35 = fmul double %b.34, %b.34
  %b.36 = fmul double %b.35, %b.35
  br label %end

end:
  %z = phi double [ %a.36, %a ], [ %b.36, %b ]
  store double %z, ptr %out
  ret void
}

!0 = !{}
