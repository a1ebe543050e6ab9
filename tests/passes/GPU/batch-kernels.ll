; Beside a gradient there is a kernel that does many launches of it at once: the place of a block within its launch stands for blockIdx.x,
; the extent of one launch for gridDim.x, and each pointer advances with the two indices of the launch.
;
; RUN: %opt -passes=adgen-batch-kernels -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k__gradient(ptr %x, i32 %n) {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %at = mul i32 %block, %blocks
  %p = getelementptr float, ptr %x, i32 %at
  store float 0.0, ptr %p
  ret void
}

; A kernel with a tape walks over the grid itself, and a function that is called may ask for its block. A primal is no gradient.
; CHECK-NOT: @taped__gradient__batch
; CHECK-NOT: @calls__gradient__batch
; CHECK-NOT: @k__batch
define ptx_kernel void @taped__gradient(ptr %x) "adgen-tape"="scalars" {
  ret void
}

define internal i32 @asks() {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %block
}

define ptx_kernel void @calls__gradient(ptr %x) {
  %block = call i32 @asks()
  %p = getelementptr float, ptr %x, i32 %block
  store float 0.0, ptr %p
  ret void
}

define ptx_kernel void @k(ptr %x) {
  ret void
}

define ptx_kernel void @t__tangent(ptr %x) {
  ret void
}

; CHECK:      define ptx_kernel void @k__gradient__batch(ptr [[X:%[0-9]+]], i32 %{{[0-9]+}}, i32 [[EXTENT:%[0-9]+]],
; CHECK-SAME:   i32 [[INNER:%[0-9]+]], i64 [[BY_OUTER:%[0-9]+]], i64 [[BY_INNER:%[0-9]+]])
; CHECK-NEXT: [[BLOCK:%[0-9]+]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-NEXT: [[LAUNCH:%[0-9]+]] = udiv i32 [[BLOCK]], [[EXTENT]]
; CHECK-NEXT: [[BEFORE:%[0-9]+]] = mul i32 [[LAUNCH]], [[EXTENT]]
; CHECK-NEXT: [[PLACE:%[0-9]+]] = sub i32 [[BLOCK]], [[BEFORE]]
; CHECK-NEXT: [[OUTER:%[0-9]+]] = udiv i32 [[LAUNCH]], [[INNER]]
; CHECK:      [[OUTER_BYTES:%[0-9]+]] = mul i64 {{%[0-9]+}}, [[BY_OUTER]]
; CHECK-NEXT: [[INNER_BYTES:%[0-9]+]] = mul i64 {{%[0-9]+}}, [[BY_INNER]]
; CHECK-NEXT: [[BYTES:%[0-9]+]] = add i64 [[OUTER_BYTES]], [[INNER_BYTES]]
; CHECK-NEXT: [[POINTER:%[0-9]+]] = getelementptr i8, ptr [[X]], i64 [[BYTES]]
; CHECK-NEXT: %at = mul i32 [[PLACE]], [[EXTENT]]
; CHECK-NEXT: getelementptr float, ptr [[POINTER]], i32 %at
; CHECK-NOT:  sreg.nctaid
; CHECK: define ptx_kernel void @t__tangent__batch(

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
