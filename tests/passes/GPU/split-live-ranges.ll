; In a long block, what would be kept over many instructions is read and computed again, where there are not enough registers.
;
; RUN: %opt -passes=adgen-split-live-ranges,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @use(<64 x double>, <64 x double>)

; The reverse sweep's operand is read again, behind what fills the registers.
; CHECK-LABEL: define ptx_kernel void @far__gradient(
; CHECK:         [[X:%.*]] = load <64 x double>, ptr %place
; CHECK:         call void @use
; CHECK:         [[FULL:%.*]] = fadd <64 x double> {{.*}}, splat (double 3.100000e+01)
; CHECK-NEXT:    [[INDEX:%.*]] = zext i32 %i to i64
; CHECK-NEXT:    [[PLACE0:%.*]] = getelementptr <64 x double>, ptr %given, i64 [[INDEX]]
; CHECK-NEXT:    [[PLACE:%.*]] = call ptr asm sideeffect "", "=l,0"(ptr [[PLACE0]])
; CHECK-NEXT:    [[AGAIN:%.*]] = load <64 x double>, ptr [[PLACE]], align 512, !invariant.load
; CHECK-NEXT:    [[TWICE:%.*]] = fmul <64 x double> [[AGAIN]], [[AGAIN]]
; CHECK-NEXT:    [[SUM:%.*]] = fadd <64 x double> [[TWICE]], [[FULL]]
; CHECK-NEXT:    fadd <64 x double> [[SUM]], [[AGAIN]]
define ptx_kernel void @far__gradient(ptr %given, ptr %out, <64 x double> %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <64 x double>, ptr %given, i64 %index
  %x = load <64 x double>, ptr %place, align 512, !invariant.load !0
  %square = fmul <64 x double> %x, %x
  call void @use(<64 x double> %x, <64 x double> %square)
  %t0 = fadd <64 x double> %y, splat (double 0.0)
  %t1 = fadd <64 x double> %t0, splat (double 1.0)
  %t2 = fadd <64 x double> %t1, splat (double 2.0)
  %t3 = fadd <64 x double> %t2, splat (double 3.0)
  %t4 = fadd <64 x double> %t3, splat (double 4.0)
  %t5 = fadd <64 x double> %t4, splat (double 5.0)
  %t6 = fadd <64 x double> %t5, splat (double 6.0)
  %t7 = fadd <64 x double> %t6, splat (double 7.0)
  %t8 = fadd <64 x double> %t7, splat (double 8.0)
  %t9 = fadd <64 x double> %t8, splat (double 9.0)
  %t10 = fadd <64 x double> %t9, splat (double 10.0)
  %t11 = fadd <64 x double> %t10, splat (double 11.0)
  %t12 = fadd <64 x double> %t11, splat (double 12.0)
  %t13 = fadd <64 x double> %t12, splat (double 13.0)
  %t14 = fadd <64 x double> %t13, splat (double 14.0)
  %t15 = fadd <64 x double> %t14, splat (double 15.0)
  %t16 = fadd <64 x double> %t15, splat (double 16.0)
  %t17 = fadd <64 x double> %t16, splat (double 17.0)
  %t18 = fadd <64 x double> %t17, splat (double 18.0)
  %t19 = fadd <64 x double> %t18, splat (double 19.0)
  %t20 = fadd <64 x double> %t19, splat (double 20.0)
  %t21 = fadd <64 x double> %t20, splat (double 21.0)
  %t22 = fadd <64 x double> %t21, splat (double 22.0)
  %t23 = fadd <64 x double> %t22, splat (double 23.0)
  %t24 = fadd <64 x double> %t23, splat (double 24.0)
  %t25 = fadd <64 x double> %t24, splat (double 25.0)
  %t26 = fadd <64 x double> %t25, splat (double 26.0)
  %t27 = fadd <64 x double> %t26, splat (double 27.0)
  %t28 = fadd <64 x double> %t27, splat (double 28.0)
  %t29 = fadd <64 x double> %t28, splat (double 29.0)
  %t30 = fadd <64 x double> %t29, splat (double 30.0)
  %t31 = fadd <64 x double> %t30, splat (double 31.0)
  %sum = fadd <64 x double> %square, %t31
  %all = fadd <64 x double> %sum, %x
  store <64 x double> %all, ptr %out
  ret void
}

; The kernel may have written it since.
; CHECK-LABEL: define ptx_kernel void @written__gradient(
; CHECK:         fmul
; CHECK-NOT:     fmul
; CHECK-NOT:     asm
; CHECK:         ret void
define ptx_kernel void @written__gradient(ptr %given, ptr %out, <64 x double> %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <64 x double>, ptr %given, i64 %index
  %x = load <64 x double>, ptr %place, align 512
  %square = fmul <64 x double> %x, %x
  call void @use(<64 x double> %x, <64 x double> %square)
  %t0 = fadd <64 x double> %y, splat (double 0.0)
  %t1 = fadd <64 x double> %t0, splat (double 1.0)
  %t2 = fadd <64 x double> %t1, splat (double 2.0)
  %t3 = fadd <64 x double> %t2, splat (double 3.0)
  %t4 = fadd <64 x double> %t3, splat (double 4.0)
  %t5 = fadd <64 x double> %t4, splat (double 5.0)
  %t6 = fadd <64 x double> %t5, splat (double 6.0)
  %t7 = fadd <64 x double> %t6, splat (double 7.0)
  %t8 = fadd <64 x double> %t7, splat (double 8.0)
  %t9 = fadd <64 x double> %t8, splat (double 9.0)
  %t10 = fadd <64 x double> %t9, splat (double 10.0)
  %t11 = fadd <64 x double> %t10, splat (double 11.0)
  %t12 = fadd <64 x double> %t11, splat (double 12.0)
  %t13 = fadd <64 x double> %t12, splat (double 13.0)
  %t14 = fadd <64 x double> %t13, splat (double 14.0)
  %t15 = fadd <64 x double> %t14, splat (double 15.0)
  %t16 = fadd <64 x double> %t15, splat (double 16.0)
  %t17 = fadd <64 x double> %t16, splat (double 17.0)
  %t18 = fadd <64 x double> %t17, splat (double 18.0)
  %t19 = fadd <64 x double> %t18, splat (double 19.0)
  %t20 = fadd <64 x double> %t19, splat (double 20.0)
  %t21 = fadd <64 x double> %t20, splat (double 21.0)
  %t22 = fadd <64 x double> %t21, splat (double 22.0)
  %t23 = fadd <64 x double> %t22, splat (double 23.0)
  %t24 = fadd <64 x double> %t23, splat (double 24.0)
  %t25 = fadd <64 x double> %t24, splat (double 25.0)
  %t26 = fadd <64 x double> %t25, splat (double 26.0)
  %t27 = fadd <64 x double> %t26, splat (double 27.0)
  %t28 = fadd <64 x double> %t27, splat (double 28.0)
  %t29 = fadd <64 x double> %t28, splat (double 29.0)
  %t30 = fadd <64 x double> %t29, splat (double 30.0)
  %t31 = fadd <64 x double> %t30, splat (double 31.0)
  %sum = fadd <64 x double> %square, %t31
  %all = fadd <64 x double> %sum, %x
  store <64 x double> %all, ptr %out
  ret void
}

; Too near to pay.
; CHECK-LABEL: define ptx_kernel void @near__gradient(
; CHECK-NOT:     asm
; CHECK:         ret void
define ptx_kernel void @near__gradient(ptr %given, ptr %out, <64 x double> %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <64 x double>, ptr %given, i64 %index
  %x = load <64 x double>, ptr %place, align 512, !invariant.load !0
  %square = fmul <64 x double> %x, %x
  call void @use(<64 x double> %x, <64 x double> %square)
  %t0 = fadd <64 x double> %y, splat (double 0.0)
  %t1 = fadd <64 x double> %t0, splat (double 1.0)
  %t2 = fadd <64 x double> %t1, splat (double 2.0)
  %t3 = fadd <64 x double> %t2, splat (double 3.0)
  %sum = fadd <64 x double> %square, %t3
  %all = fadd <64 x double> %sum, %x
  store <64 x double> %all, ptr %out
  ret void
}

; Twelve operations, with the address and the load, are computed again.
; CHECK-LABEL: define ptx_kernel void @most__gradient(
; CHECK:         call void @use
; CHECK:         call ptr asm sideeffect
; CHECK-COUNT-9: fmul <64 x double>
; CHECK:         ret void
define ptx_kernel void @most__gradient(ptr %given, ptr %out, <64 x double> %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <64 x double>, ptr %given, i64 %index
  %x = load <64 x double>, ptr %place, align 512, !invariant.load !0
  %c1 = fmul <64 x double> %x, splat (double 2.5)
  %c2 = fmul <64 x double> %c1, splat (double 3.5)
  %c3 = fmul <64 x double> %c2, splat (double 4.5)
  %c4 = fmul <64 x double> %c3, splat (double 5.5)
  %c5 = fmul <64 x double> %c4, splat (double 6.5)
  %c6 = fmul <64 x double> %c5, splat (double 7.5)
  %c7 = fmul <64 x double> %c6, splat (double 8.5)
  %c8 = fmul <64 x double> %c7, splat (double 9.5)
  %c9 = fmul <64 x double> %c8, splat (double 10.5)
  call void @use(<64 x double> %x, <64 x double> %c9)
  %t0 = fadd <64 x double> %y, splat (double 0.0)
  %t1 = fadd <64 x double> %t0, splat (double 1.0)
  %t2 = fadd <64 x double> %t1, splat (double 2.0)
  %t3 = fadd <64 x double> %t2, splat (double 3.0)
  %t4 = fadd <64 x double> %t3, splat (double 4.0)
  %t5 = fadd <64 x double> %t4, splat (double 5.0)
  %t6 = fadd <64 x double> %t5, splat (double 6.0)
  %t7 = fadd <64 x double> %t6, splat (double 7.0)
  %t8 = fadd <64 x double> %t7, splat (double 8.0)
  %t9 = fadd <64 x double> %t8, splat (double 9.0)
  %t10 = fadd <64 x double> %t9, splat (double 10.0)
  %t11 = fadd <64 x double> %t10, splat (double 11.0)
  %t12 = fadd <64 x double> %t11, splat (double 12.0)
  %t13 = fadd <64 x double> %t12, splat (double 13.0)
  %t14 = fadd <64 x double> %t13, splat (double 14.0)
  %t15 = fadd <64 x double> %t14, splat (double 15.0)
  %t16 = fadd <64 x double> %t15, splat (double 16.0)
  %t17 = fadd <64 x double> %t16, splat (double 17.0)
  %t18 = fadd <64 x double> %t17, splat (double 18.0)
  %t19 = fadd <64 x double> %t18, splat (double 19.0)
  %t20 = fadd <64 x double> %t19, splat (double 20.0)
  %t21 = fadd <64 x double> %t20, splat (double 21.0)
  %t22 = fadd <64 x double> %t21, splat (double 22.0)
  %t23 = fadd <64 x double> %t22, splat (double 23.0)
  %t24 = fadd <64 x double> %t23, splat (double 24.0)
  %t25 = fadd <64 x double> %t24, splat (double 25.0)
  %t26 = fadd <64 x double> %t25, splat (double 26.0)
  %t27 = fadd <64 x double> %t26, splat (double 27.0)
  %t28 = fadd <64 x double> %t27, splat (double 28.0)
  %t29 = fadd <64 x double> %t28, splat (double 29.0)
  %t30 = fadd <64 x double> %t29, splat (double 30.0)
  %t31 = fadd <64 x double> %t30, splat (double 31.0)
  %sum = fadd <64 x double> %c9, %t31
  store <64 x double> %sum, ptr %out
  ret void
}

; Thirteen are not, although each follows from the one before.
; CHECK-LABEL: define ptx_kernel void @more__gradient(
; CHECK-NOT:     asm
; CHECK:         call void @use
; CHECK-NOT:     asm
; CHECK-NOT:     fmul
; CHECK:         ret void
define ptx_kernel void @more__gradient(ptr %given, ptr %out, <64 x double> %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %index = zext i32 %i to i64
  %place = getelementptr <64 x double>, ptr %given, i64 %index
  %x = load <64 x double>, ptr %place, align 512, !invariant.load !0
  %c1 = fmul <64 x double> %x, splat (double 2.5)
  %c2 = fmul <64 x double> %c1, splat (double 3.5)
  %c3 = fmul <64 x double> %c2, splat (double 4.5)
  %c4 = fmul <64 x double> %c3, splat (double 5.5)
  %c5 = fmul <64 x double> %c4, splat (double 6.5)
  %c6 = fmul <64 x double> %c5, splat (double 7.5)
  %c7 = fmul <64 x double> %c6, splat (double 8.5)
  %c8 = fmul <64 x double> %c7, splat (double 9.5)
  %c9 = fmul <64 x double> %c8, splat (double 10.5)
  %c10 = fmul <64 x double> %c9, splat (double 11.5)
  call void @use(<64 x double> %x, <64 x double> %c10)
  %t0 = fadd <64 x double> %y, splat (double 0.0)
  %t1 = fadd <64 x double> %t0, splat (double 1.0)
  %t2 = fadd <64 x double> %t1, splat (double 2.0)
  %t3 = fadd <64 x double> %t2, splat (double 3.0)
  %t4 = fadd <64 x double> %t3, splat (double 4.0)
  %t5 = fadd <64 x double> %t4, splat (double 5.0)
  %t6 = fadd <64 x double> %t5, splat (double 6.0)
  %t7 = fadd <64 x double> %t6, splat (double 7.0)
  %t8 = fadd <64 x double> %t7, splat (double 8.0)
  %t9 = fadd <64 x double> %t8, splat (double 9.0)
  %t10 = fadd <64 x double> %t9, splat (double 10.0)
  %t11 = fadd <64 x double> %t10, splat (double 11.0)
  %t12 = fadd <64 x double> %t11, splat (double 12.0)
  %t13 = fadd <64 x double> %t12, splat (double 13.0)
  %t14 = fadd <64 x double> %t13, splat (double 14.0)
  %t15 = fadd <64 x double> %t14, splat (double 15.0)
  %t16 = fadd <64 x double> %t15, splat (double 16.0)
  %t17 = fadd <64 x double> %t16, splat (double 17.0)
  %t18 = fadd <64 x double> %t17, splat (double 18.0)
  %t19 = fadd <64 x double> %t18, splat (double 19.0)
  %t20 = fadd <64 x double> %t19, splat (double 20.0)
  %t21 = fadd <64 x double> %t20, splat (double 21.0)
  %t22 = fadd <64 x double> %t21, splat (double 22.0)
  %t23 = fadd <64 x double> %t22, splat (double 23.0)
  %t24 = fadd <64 x double> %t23, splat (double 24.0)
  %t25 = fadd <64 x double> %t24, splat (double 25.0)
  %t26 = fadd <64 x double> %t25, splat (double 26.0)
  %t27 = fadd <64 x double> %t26, splat (double 27.0)
  %t28 = fadd <64 x double> %t27, splat (double 28.0)
  %t29 = fadd <64 x double> %t28, splat (double 29.0)
  %t30 = fadd <64 x double> %t29, splat (double 30.0)
  %t31 = fadd <64 x double> %t30, splat (double 31.0)
  %sum = fadd <64 x double> %c10, %t31
  store <64 x double> %sum, ptr %out
  ret void
}

!0 = !{}
