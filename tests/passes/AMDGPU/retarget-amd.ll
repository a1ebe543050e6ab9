; Kernels of the GPU as those of an AMD GPU: registers, memory spaces, barriers, warps as halves of wavefronts, arguments.
; RUN: %opt '-passes=adgen-retarget-amd<amdgcn-amd-amdhsa;e-p:64:64-p1:64:64-p3:32:32-p5:32:32-A5-G1>' -S %s 2>/dev/null | %filecheck %s
; RUN: %opt '-passes=adgen-retarget-amd<amdgcn-amd-amdhsa;e-p:64:64-p1:64:64-p3:32:32-p5:32:32-A5-G1>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

target triple = "nvptx64-nvidia-cuda"

%struct.Box = type { double, i32 }

; CHECK: target datalayout = "e-p:64:64-p1:64:64-p3:32:32-p5:32:32-A5-G1"
; CHECK: target triple = "amdgcn-amd-amdhsa"
; CHECK: @tile = internal addrspace(3) global [4 x float] poison
; CHECK: @dynamic = external addrspace(3) global [0 x float]
@tile = internal addrspace(3) global [4 x float] undef, align 4
@dynamic = external addrspace(3) global [0 x float], align 16

; CHECK-LABEL: define amdgpu_kernel void @indices(ptr addrspace(1) noalias %out)
; CHECK: call i32 @llvm.amdgcn.workitem.id.x()
; CHECK: call i32 @llvm.amdgcn.workgroup.id.y()
; CHECK: %[[LAUNCH:.*]] = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
; CHECK: %[[PLACE:.*]] = getelementptr inbounds i8, ptr addrspace(4) %[[LAUNCH]], i32 16
; CHECK: load i16, ptr addrspace(4) %[[PLACE]]
; CHECK: call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
; CHECK: load i32, ptr addrspace(4)
define ptx_kernel void @indices(ptr noalias %out) "target-cpu"="sm_90" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %s1 = add i32 %t, %b
  %s2 = add i32 %n, %g
  %s = add i32 %s1, %s2
  store i32 %s, ptr %out
  ret void
}

; A struct by value is copied from constant memory.
; CHECK-LABEL: define amdgpu_kernel void @by_value(ptr addrspace(4) byref(%struct.Box) align 8 %box, ptr addrspace(1) %out)
; CHECK: %[[COPY:.*]] = alloca %struct.Box, align 8, addrspace(5)
; CHECK: call void @llvm.memcpy.p5.p4.i64(ptr addrspace(5) align 8 %[[COPY]], ptr addrspace(4) align 8 %box, i64 16
; CHECK: addrspacecast ptr addrspace(5) %[[COPY]] to ptr
; CHECK: %local = alloca double, align 8, addrspace(5)
; CHECK-NOT: lifetime
define ptx_kernel void @by_value(ptr byval(%struct.Box) align 8 %box, ptr %out) {
  %local = alloca double, align 8
  call void @llvm.lifetime.start.p0(ptr %local)
  %x = load double, ptr %box
  store double %x, ptr %local
  %y = load double, ptr %local
  store double %y, ptr %out
  call void @llvm.lifetime.end.p0(ptr %local)
  ret void
}

; CHECK-LABEL: define amdgpu_kernel void @together(
; CHECK: fence syncscope("workgroup") release
; CHECK-NEXT: call void @llvm.amdgcn.s.barrier()
; CHECK-NEXT: fence syncscope("workgroup") acquire
; CHECK: fence syncscope("wavefront") release
; CHECK-NEXT: call void @llvm.amdgcn.wave.barrier()
; CHECK: fence syncscope("agent") seq_cst
; CHECK: atomicrmw fadd ptr %{{.*}}, float 1.000000e+00 syncscope("workgroup") monotonic
define ptx_kernel void @together(ptr %out) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.membar.gl()
  %old = atomicrmw fadd ptr %out, float 1.0 syncscope("block") monotonic
  ret void
}

; CHECK-LABEL: define amdgpu_kernel void @warp(
; CHECK: call i32 @llvm.amdgcn.mbcnt.hi
; CHECK: and i32 %{{.*}}, 31
; CHECK: add i32
; CHECK: icmp sle
; CHECK: call i32 @llvm.amdgcn.ds.bpermute
; CHECK: bitcast i32 %{{.*}} to float
; CHECK: call i64 @llvm.amdgcn.ballot.i64
; CHECK: lshr i64
; CHECK: trunc i64 %{{.*}} to i32
define ptx_kernel void @warp(ptr %out, float %x) {
  %y = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %x, i32 1, i32 31)
  store float %y, ptr %out
  %positive = fcmp ogt float %y, 0.0
  %votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %positive)
  %all = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %votes)
  %same = extractvalue { i32, i1 } %all, 0
  %after = getelementptr i8, ptr %out, i64 4
  store i32 %same, ptr %after
  ret void
}

; A barrier with a count: zeroed, added to and read between barriers.
; CHECK-LABEL: define amdgpu_kernel void @counted(
; CHECK: %[[NOT:.*]] = xor i1 %{{.*}}, true
; CHECK: store i32 0, ptr addrspace(3) @adgen_barrier_counter
; CHECK: call void @llvm.amdgcn.s.barrier()
; CHECK: %[[ONE:.*]] = zext i1 %[[NOT]] to i32
; CHECK: atomicrmw add ptr addrspace(3) @adgen_barrier_counter, i32 %[[ONE]] syncscope("workgroup") monotonic
; CHECK: call void @llvm.amdgcn.s.barrier()
; CHECK: %[[COUNT:.*]] = load i32, ptr addrspace(3) @adgen_barrier_counter
; CHECK: call void @llvm.amdgcn.s.barrier()
; CHECK: icmp eq i32 %[[COUNT]], 0
define ptx_kernel void @counted(ptr %out, float %x) {
  %positive = fcmp ogt float %x, 0.0
  %all = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %positive)
  store i1 %all, ptr %out
  ret void
}

; Libdevice's arithmetic in 128 bits.
; CHECK-LABEL: define { i64, i64 } @wide(
; CHECK: mul i128
; CHECK: add i128
; CHECK: trunc i128 %{{.*}} to i64
define { i64, i64 } @wide(i64 %a, i64 %b, i64 %c) {
  %r = call { i64, i64 } asm "{\0A\09mad.lo.cc.u32   r0, alo, blo, clo;\0A\09}", "=l,=l,l,l,l"(i64 %a, i64 %b, i64 %c)
  ret { i64, i64 } %r
}

; A thread that has no tape left ends.
; CHECK-LABEL: define void @exceeded(
; CHECK: call void @llvm.amdgcn.endpgm()
define void @exceeded() {
  call void asm sideeffect "exit;", ""()
  unreachable
}

; REFUSED-DAG: an AMD GPU has no counterpart of 'malloc'
; REFUSED-DAG: an AMD GPU has no counterpart of 'llvm.nvvm.redux.sync.add'
; REFUSED-DAG: inline assembly of NVIDIA GPUs is in it
; REFUSED-DAG: lanes of an AMD GPU cannot wait at different barriers
@adgen_waits_begun = internal addrspace(3) global i32 undef
define ptx_kernel void @not_there(ptr %out) {
  store volatile i32 1, ptr addrspace(3) @adgen_waits_begun
  %memory = call ptr @malloc(i64 8)
  %count = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)
  store i32 %count, ptr %memory
  call void asm sideeffect "trap;", ""()
  ret void
}

declare ptr @malloc(i64)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.membar.gl()
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
