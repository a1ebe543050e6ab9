; Device IR becomes IR of the host: its triple and data layout, one address space, the C library's mathematics, no kernels and no
; attributes of the GPU. What the library does not have keeps libdevice's body.
;
; RUN: %opt -passes='adgen-retarget-host<x86_64-pc-linux-gnu;e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128>' -S %s | %filecheck %s

target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
; CHECK: target triple = "x86_64-pc-linux-gnu"

; CHECK: @table = internal constant [4 x float] [float 1.0{{.*}}, float 2.0{{.*}}, float 3.0{{.*}}, float 4.0{{.*}}], align 16
; CHECK: @total = global float 0.0
; CHECK: @address = internal global ptr @total
@table = internal addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0], align 16
@total = addrspace(1) global float 0.0
@address = internal global ptr addrspacecast (ptr addrspace(1) @total to ptr)

; CHECK-NOT: ptx_kernel
define ptx_kernel void @kernel(ptr %x) {
  ret void
}

; CHECK: define void @adgen_body_kernel(ptr %x) [[PLAIN:#[0-9]+]] {
; CHECK-NEXT:   %next = getelementptr float, ptr %x, i64 1
; CHECK-NEXT:   %a = load float, ptr %next
; CHECK-NEXT:   [[SECOND:%.*]] = getelementptr float, ptr @table, i64 2
; CHECK-NEXT:   %b = load float, ptr [[SECOND]]
; CHECK-NEXT:   %c = load float, ptr @total
; CHECK-NEXT:   %local = alloca [8 x i8]
; An intrinsic's name holds its address spaces.
; CHECK-NEXT:   call void @llvm.memcpy.p0.p0.i64(ptr %local, ptr %x, i64 8, i1 false)
; CHECK-NEXT:   %p = select i1 true, ptr %x, ptr @total
; CHECK-NEXT:   store float %c, ptr %p
; CHECK-NEXT:   %old = atomicrmw fadd ptr %x, float %a monotonic
; CHECK-NEXT:   ret void
define void @adgen_body_kernel(ptr %x) convergent "target-cpu"="sm_90" "nvvm.maxntid"="128" {
  %global = addrspacecast ptr %x to ptr addrspace(1)
  %next = getelementptr float, ptr addrspace(1) %global, i64 1
  %a = load float, ptr addrspace(1) %next
  %b = load float, ptr addrspace(4) getelementptr (float, ptr addrspace(4) @table, i64 2)
  %c = load float, ptr addrspacecast (ptr addrspace(1) @total to ptr)
  %local = alloca [8 x i8]
  call void @llvm.memcpy.p0.p1.i64(ptr %local, ptr addrspace(1) %global, i64 8, i1 false)
  %p = select i1 true, ptr addrspace(1) %global, ptr addrspace(1) @total
  %back = addrspacecast ptr addrspace(1) %p to ptr
  store float %c, ptr %back
  %old = atomicrmw fadd ptr addrspace(1) %global, float %a monotonic
  ret void
}

; Numbers of 8 bits, with a pair of halves as a word.
; CHECK-LABEL: define i16 @bytes(
; CHECK-NEXT:    [[WORD:%.*]] = call i32 @adgen_nvvm_e4m3x2_to_f16x2_rn(i16 %x)
; CHECK-NEXT:    [[PAIR:%.*]] = bitcast i32 [[WORD]] to <2 x half>
; CHECK-NEXT:    [[AGAIN:%.*]] = bitcast <2 x half> [[PAIR]] to i32
; CHECK-NEXT:    [[GIVEN:%.*]] = call i16 @adgen_nvvm_f16x2_to_e5m2x2_rn(i32 [[AGAIN]])
; CHECK:         ret i16 [[GIVEN]]
define i16 @bytes(i16 %x) {
  %pair = call <2 x half> @llvm.nvvm.e4m3x2.to.f16x2.rn(i16 %x)
  %rounded = call i16 @llvm.nvvm.f16x2.to.e5m2x2.rn(<2 x half> %pair)
  ret i16 %rounded
}

; CHECK-LABEL: define void @mathematics(
; CHECK-NEXT:    %a = call float @sinf(float %v)
; CHECK-NEXT:    %b = call double @pow(double %w, double %w)
; CHECK-NEXT:    %c = call float @expf(float %v)
; CHECK-NEXT:    %d = call float @__nv_normcdff(float %v){{$}}
define void @mathematics(float %v, double %w) {
  %a = call float @__nv_sinf(float %v)
  %b = call double @__nv_pow(double %w, double %w)
  %c = call float @__nv_fast_expf(float %v)
  %d = call float @__nv_normcdff(float %v) convergent
  ret void
}

; What is approximate on the device is exact here, unless the user asked for speed; directed rounding is the runtime's.
; CHECK-LABEL: define void @arithmetic(
; CHECK-NEXT:    %a = fdiv float 1.0{{.*}}, %v
; CHECK-NEXT:    %b = call float @llvm.sqrt.f32(float %v)
; CHECK-NEXT:    %c = fdiv fast float 1.0{{.*}}, %v
; CHECK-NEXT:    %d = call float @adgen_nvvm_mul_rz_f(float %v, float %v)
; CHECK-NEXT:    %e = call float @adgen_nvvm_i2f_rp(i32 %i)
; CHECK-NEXT:    %f = call i32 @adgen_nvvm_prmt(i32 %i, i32 %i, i32 %i)
; CHECK-NEXT:    %g = call i32 @adgen_nvvm_fns(i32 %i, i32 0, i32 %f)
; CHECK-NEXT:    %h = call i32 @adgen_nvvm_idp4a_s_u(i32 %i, i32 %f, i32 %g)
define void @arithmetic(float %v, i32 %i) {
  %a = fdiv arcp afn float 1.0, %v
  %b = call afn float @llvm.sqrt.f32(float %v)
  %c = fdiv fast float 1.0, %v
  %d = call float @llvm.nvvm.mul.rz.ftz.f(float %v, float %v)
  %e = call float @llvm.nvvm.i2f.rp(i32 %i)
  %f = call i32 @llvm.nvvm.prmt(i32 %i, i32 %i, i32 %i)
  %g = call i32 @llvm.nvvm.fns(i32 %i, i32 0, i32 %f)
  %h = call i32 @llvm.nvvm.idp4a.s.u(i32 %i, i32 %f, i32 %g)
  ret void
}

; The C library has a function of the same name, which takes its arguments in another form.
; CHECK: call i32 @vprintf_device(ptr %x, ptr %x)
define void @prints(ptr %x) {
  %n = call i32 @vprintf(ptr %x, ptr %x)
  ret void
}
declare i32 @vprintf(ptr, ptr)

; CHECK-NOT: @__nv_sinf
; CHECK: define internal float @__nv_normcdff(
define internal float @__nv_sinf(float %v) {
  ret float %v
}
declare double @__nv_pow(double, double)
declare float @__nv_fast_expf(float)
define internal float @__nv_normcdff(float %v) {
  ret float %v
}

; There is one kind of memory.
; CHECK-LABEL: define i1 @spaces(
; CHECK-NEXT:    %both = and i1 true, false
define i1 @spaces(ptr %p) {
  %global = call i1 @llvm.nvvm.isspacep.global(ptr %p)
  %shared = call i1 @llvm.nvvm.isspacep.shared(ptr %p)
  %both = and i1 %global, %shared
  ret i1 %both
}
declare i1 @llvm.nvvm.isspacep.global(ptr)
declare i1 @llvm.nvvm.isspacep.shared(ptr)

; Constants of another space of addresses become such of the one that there is.
; CHECK-LABEL: define float @choices(
; CHECK:         phi ptr [ %p, %entry ], [ undef, %other ], [ null, %third ]
define float @choices(ptr %p, i32 %which) {
entry:
  %there = addrspacecast ptr %p to ptr addrspace(1)
  switch i32 %which, label %join [ i32 1, label %other i32 2, label %third ]
other:
  br label %join
third:
  br label %join
join:
  %at = phi ptr addrspace(1) [ %there, %entry ], [ undef, %other ], [ null, %third ]
  %v = load float, ptr addrspace(1) %at
  ret float %v
}

; Calls of the library may be moved and dropped.
; CHECK: declare float @sinf(float) [[PURE:#[0-9]+]]
; CHECK-DAG: attributes [[PLAIN]] = { "frame-pointer"="none" }
; CHECK-DAG: attributes [[PURE]] = { nounwind willreturn memory(none) {{.*}}}
; CHECK-NOT: nvvm

!nvvm.annotations = !{!0}
!0 = !{ptr @kernel, !"kernel", i32 1}
