; Where all threads of a block wait for an mbarrier, they have all arrived: it is a barrier of the block. What counts
; arrivals goes. Where some of them wait, the kernel is refused.
;
; RUN: %opt -passes=adgen-join-split-barriers -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-join-split-barriers -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

target triple = "nvptx64-nvidia-cuda"

@barrier = internal addrspace(3) global i64 poison

; The library would ask again and again, and count by atomics in other memory than shared one.
; CHECK-LABEL: define void @adgen_body_all(
; CHECK-NOT:     asm
; CHECK:         store float %x, ptr %y
; CHECK-NOT:     atomicrmw
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT:     br i1
; CHECK:         load float
; CHECK:         ret void
define void @adgen_body_all(ptr %y, float %x) {
entry:
  %number = ptrtoint ptr addrspace(3) @barrier to i32
  %count = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  call void asm sideeffect "mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}"(i32 %number, i32 %count)
  store float %x, ptr %y
  %shared = call i1 @llvm.nvvm.isspacep.shared(ptr addrspacecast (ptr addrspace(3) @barrier to ptr))
  br i1 %shared, label %arrives, label %counts

counts:
  %old = atomicrmw add ptr addrspace(3) @barrier, i64 1 monotonic
  br label %asks

arrives:
  %token = call i64 asm sideeffect "mbarrier.arrive.shared.b64 $0, [$1];", "=l,r,~{memory}"(i32 %number)
  br label %asks

asks:
  %phase = phi i64 [ %old, %counts ], [ %token, %arrives ], [ %phase, %asks ]
  %ready = call i32 asm sideeffect "{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }", "=r,r,l,~{memory}"(i32 %number, i64 %phase)
  %done = icmp ne i32 %ready, 0
  br i1 %done, label %behind, label %asks

behind:
  %v = load float, ptr %y
  store float %v, ptr %y
  ret void
}

; Groups of warps have barriers of their own: where all come to theirs, one of the block does as well.
; CHECK-LABEL: define void @adgen_body_groups(
; CHECK-NOT:     asm
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-COUNT-2: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
; CHECK-NEXT:    ret void
define void @adgen_body_groups() {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = lshr i32 %thread, 7
  call void asm sideeffect "bar.sync $0, $1;", "r,n,~{memory}"(i32 %group, i32 128)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  call void @llvm.nvvm.barrier.cta.sync.all(i32 1)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32) ; the grid's
  ret void
}

; REFUSED: a barrier (cuda::barrier, cuda::pipeline, bar.sync) at which only some threads of a block wait
define void @adgen_body_some(ptr %y, float %x) {
entry:
  %number = ptrtoint ptr addrspace(3) @barrier to i32
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %thread, 32
  br i1 %first, label %asks, label %end

asks:
  %ready = call i32 asm sideeffect "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }", "=r,r,r,~{memory}"(i32 %number, i32 0)
  %done = icmp ne i32 %ready, 0
  br i1 %done, label %end, label %asks

end:
  ret void
}

define ptx_kernel void @all(ptr %y, float %x) {
  ret void
}

define ptx_kernel void @groups() {
  ret void
}

define ptx_kernel void @some(ptr %y, float %x) {
  ret void
}
