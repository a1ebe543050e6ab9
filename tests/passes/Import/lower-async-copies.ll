; Asynchronous copies are done where they are begun, in functions whose names begin as the option says; what waits for them goes.
;
; RUN: %opt -passes='adgen-lower-async-copies<adgen_body_>' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_copies(
; CHECK-NEXT:    %shared = addrspacecast ptr %tile to ptr addrspace(3)
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr align 16 %tile, ptr align 16 %x, i64 16, i1 false)
; CHECK-NOT:     cp.async
; CHECK:         ret void
define void @adgen_body_copies(ptr %x, ptr %tile) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %wide = ptrtoint ptr addrspace(3) %shared to i64
  %to = trunc i64 %wide to i32
  %from = ptrtoint ptr %x to i64
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], $2, $2;", "r,l,n,~{memory}"(i32 %to, i64 %from, i64 16)
  call void asm sideeffect "cp.async.commit_group;", ""()
  call void asm sideeffect "cp.async.wait_group $0;", "n"(i32 0)
  ret void
}

; An address to which something was added, and zeros behind what is read.
; CHECK-LABEL: define void @adgen_body_fills(
; CHECK:         %[[AT:.*]] = getelementptr i8, ptr %tile, i32 32
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr align 8 %[[AT]], ptr align 8 %x, i64 4, i1 false)
; CHECK:         %[[BEHIND:.*]] = getelementptr inbounds i8, ptr %[[AT]], i64 4
; CHECK:         call void @llvm.memset.p0.i64(ptr align 1 %[[BEHIND]], i8 0, i64 4, i1 false)
define void @adgen_body_fills(ptr %x, ptr %tile) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %begin = ptrtoint ptr addrspace(3) %shared to i32
  %to = add i32 %begin, 32
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 8, 4;\0A", "r,l,~{memory}"(i32 %to, ptr %x)
  ret void
}

; All or nothing is read, as where a tile ends beside the matrix.
; CHECK-LABEL: define void @adgen_body_pads(
; CHECK:         br i1 %inside, label %[[READ:.*]], label %[[ZEROS:.*]]
; CHECK:       [[READ]]:
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 16 %tile, ptr align 16 %x, i64 16, i1 false)
; CHECK:       [[ZEROS]]:
; CHECK-NEXT:    call void @llvm.memset.p0.i64(ptr align 16 %tile, i8 0, i64 16, i1 false)
define void @adgen_body_pads(ptr %x, ptr %tile, i1 %inside) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %to = ptrtoint ptr addrspace(3) %shared to i32
  %read = select i1 %inside, i32 16, i32 0
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}"(i32 %to, ptr %x, i32 %read)
  ret void
}

; LLVM's own.
; CHECK-LABEL: define void @adgen_body_intrinsics(
; CHECK:         call void @llvm.memcpy.p0.p0.i64({{.*}}, i64 4, i1 false)
; CHECK-NOT:     @llvm.nvvm
; CHECK:         ret void
define void @adgen_body_intrinsics(ptr addrspace(1) %x, ptr addrspace(3) %tile) {
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %tile, ptr addrspace(1) %x)
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}

; What is not understood stays: a size that is not known, and an address that comes from elsewhere.
; CHECK-LABEL: define void @adgen_body_stays(
; CHECK-COUNT-2: cp.async.ca
define void @adgen_body_stays(ptr %x, i32 %to, i32 %read) {
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %to, ptr %x)
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4, $2;", "r,l,r,~{memory}"(i32 %to, ptr %x, i32 %read)
  ret void
}

; As CUTLASS writes it: nothing is copied where the condition does not hold.
; CHECK-LABEL: define void @adgen_body_guarded(
; CHECK:         [[HOLDS:%.*]] = icmp ne i32 %holds, 0
; CHECK:         br i1 [[HOLDS]], label %[[THEN:.*]], label %
; CHECK:       [[THEN]]:
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr align 16 {{.*}}, ptr align 16 %x, i64 16, i1 false)
; CHECK-NOT:     asm
; CHECK:         ret void
define void @adgen_body_guarded(ptr %x, ptr %tile, i32 %holds) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %to = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "{\0A  .reg .pred p;\0A  setp.ne.b32 p, $0, 0;\0A  @p cp.async.cg.shared.global [$1], [$2], 16;\0A}\0A", "r,r,l"(i32 %holds, i32 %to, ptr %x)
  ret void
}

; In bulk, by one thread; how many bytes have come nobody has to count.
; CHECK-LABEL: define void @adgen_body_bulk(
; CHECK:         call void @llvm.memcpy.p0.p0.i32(ptr align 16 {{.*}}, ptr align 16 %x, i32 %bytes, i1 false)
; CHECK-NOT:     bulk.shared
; CHECK:         cp.async.bulk.tensor
; CHECK:         ret void
define void @adgen_body_bulk(ptr %x, ptr %tile, i32 %bytes, i32 %barrier) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %to = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3]; // 1a.", "r,l,r,r"(i32 %to, ptr %x, i32 %bytes, i32 %barrier)
  call void asm sideeffect "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", "r"(i32 %barrier)
  call void asm sideeffect "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0], [$1];", "l,r"(ptr %x, i32 %to)
  ret void
}

; The kernel itself goes on copying beside its threads.
; CHECK-LABEL: define ptx_kernel void @copies(
; CHECK:         cp.async.wait_all
define ptx_kernel void @copies() {
  call void asm sideeffect "cp.async.wait_all;", ""()
  ret void
}

declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.wait.all()
