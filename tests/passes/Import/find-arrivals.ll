; Numbers that threads store in the order of their arrival: the parameter is marked with the place, "line:file". A store
; is the same for every order where its value follows from the place alone, or where the counter belongs to one thread.
;
; RUN: %opt -passes=adgen-find-arrivals -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; CHECK: define void @adgen_body_compacts(ptr %x, ptr %count, ptr "adgen-unordered"="0:" %y)
define void @adgen_body_compacts(ptr %x, ptr %count, ptr %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr float, ptr %x, i32 %t
  %v = load float, ptr %from
  %k = atomicrmw add ptr %count, i32 1 monotonic
  %to = getelementptr float, ptr %y, i32 %k
  store float %v, ptr %to
  ret void
}

; CHECK: define void @adgen_body_takes_work(ptr %x, ptr %next, ptr %y)
define void @adgen_body_takes_work(ptr %x, ptr %next, ptr %y) {
  %k = atomicrmw add ptr %next, i32 1 monotonic
  %from = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %from
  %to = getelementptr float, ptr %y, i32 %k
  store float %v, ptr %to
  ret void
}

; CHECK: define void @adgen_body_warps_take_rows(ptr %x, ptr %next, ptr %y)
define void @adgen_body_warps_take_rows(ptr %x, ptr %next, ptr %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %own = atomicrmw add ptr %next, i32 1 monotonic
  %row = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %own, i32 0, i32 31)
  %begin = mul i32 %row, 32
  %k = add i32 %begin, %lane
  %from = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %from
  %f = sitofp i32 %lane to float
  %w = fmul float %v, %f
  %to = getelementptr float, ptr %y, i32 %k
  store float %w, ptr %to
  ret void
}

; CHECK: define void @adgen_body_lanes_of_a_warp_mix(ptr %x, ptr %next, ptr "adgen-unordered"="0:" %y)
define void @adgen_body_lanes_of_a_warp_mix(ptr %x, ptr %next, ptr %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %own = atomicrmw add ptr %next, i32 32 monotonic
  %begin = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %own, i32 0, i32 31)
  %k = add i32 %begin, %lane
  %from = getelementptr float, ptr %x, i32 %t
  %v = load float, ptr %from
  %to = getelementptr float, ptr %y, i32 %k
  store float %v, ptr %to
  ret void
}

; CHECK: define void @adgen_body_own_counter(ptr %counts, ptr %y)
define void @adgen_body_own_counter(ptr %counts, ptr %y) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %b, %n
  %i = add i32 %first, %t
  %own = getelementptr i32, ptr %counts, i32 %i
  %k = atomicrmw add ptr %own, i32 1 monotonic
  %f = sitofp i32 %k to float
  %to = getelementptr float, ptr %y, i32 %i
  store float %f, ptr %to
  ret void
}

; CHECK: define void @adgen_body_first_ones(ptr %x, ptr %count, ptr "adgen-unordered"="0:" %sum)
define void @adgen_body_first_ones(ptr %x, ptr %count, ptr %sum) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr float, ptr %x, i32 %t
  %v = load float, ptr %from
  %k = atomicrmw add ptr %count, i32 1 monotonic
  %early = icmp ult i32 %k, 5
  br i1 %early, label %adds, label %done
adds:
  %before = atomicrmw fadd ptr %sum, float %v monotonic
  br label %done
done:
  ret void
}

; What was queued in shared memory is copied out, and what was queued is added up.
; CHECK: define void @adgen_body_queue(ptr %x, ptr "adgen-unordered"="0:" %y, ptr %sum, ptr %count, ptr %queue)
define void @adgen_body_queue(ptr %x, ptr %y, ptr %sum, ptr %count, ptr %queue) #1 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr float, ptr %x, i32 %t
  %v = load float, ptr %from
  %k = atomicrmw add ptr %count, i32 1 monotonic
  %place = getelementptr float, ptr %queue, i32 %k
  store float %v, ptr %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %entry = getelementptr float, ptr %queue, i32 %t
  %q = load float, ptr %entry
  %old = atomicrmw fadd ptr %sum, float %q monotonic
  %to = getelementptr float, ptr %y, i32 %t
  store float %q, ptr %to
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

attributes #0 = { nounwind }
attributes #1 = { "adgen-shared"="count:queue" }

; Of a queue of indices both is told: that it has no order, and what has the order of one that was filled before.
; CHECK: define void @adgen_body_queues(ptr %count, ptr "adgen-queued"="0:" %queue)
define void @adgen_body_queues(ptr %count, ptr %queue) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = atomicrmw add ptr %count, i32 1 monotonic
  %to = getelementptr i32, ptr %queue, i32 %k
  store i32 %t, ptr %to
  ret void
}

; CHECK: define void @adgen_body_reads_queue(ptr %x, ptr "adgen-orders"="2" %queue, ptr %y, ptr %z)
define void @adgen_body_reads_queue(ptr %x, ptr %queue, ptr %y, ptr %z) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %entry = getelementptr i32, ptr %queue, i32 %t
  %i = load i32, ptr %entry
  %from = getelementptr float, ptr %x, i32 %i
  %v = load float, ptr %from
  %in.order = getelementptr float, ptr %y, i32 %t
  store float %v, ptr %in.order
  %in.place = getelementptr float, ptr %z, i32 %i
  store float %v, ptr %in.place
  ret void
}

; Each thread adds up a cell, whose entries it knows the number of; a fixed number of entries is no cell.
; CHECK: define void @adgen_body_cells(ptr %x, ptr "adgen-orders"="3" %counts, ptr %list, ptr %y, i32 %cell)
define void @adgen_body_cells(ptr %x, ptr %counts, ptr %list, ptr %y, i32 %cell) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, ptr %counts, i32 %t
  %n = load i32, ptr %place
  %begin = mul i32 %t, 64
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi float [ 0.0, %entry ], [ %more, %body ]
  %is = icmp slt i32 %k, %n
  br i1 %is, label %body, label %exit

body:
  %at = add i32 %begin, %k
  %entry.of = getelementptr i32, ptr %list, i32 %at
  %i = load i32, ptr %entry.of
  %from = getelementptr float, ptr %x, i32 %i
  %v = load float, ptr %from
  %more = fadd float %sum, %v
  %next = add i32 %k, 1
  br label %loop

exit:
  %to = getelementptr float, ptr %y, i32 %t
  store float %sum, ptr %to
  ret void
}

; CHECK: define void @adgen_body_parts(ptr %x, ptr "adgen-orders"="2" %list, ptr %y, i32 %n)
define void @adgen_body_parts(ptr %x, ptr %list, ptr %y, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = mul i32 %t, %n
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi float [ 0.0, %entry ], [ %more, %body ]
  %is = icmp slt i32 %k, %n
  br i1 %is, label %body, label %exit

body:
  %at = add i32 %begin, %k
  %entry.of = getelementptr i32, ptr %list, i32 %at
  %i = load i32, ptr %entry.of
  %from = getelementptr float, ptr %x, i32 %i
  %v = load float, ptr %from
  %more = fadd float %sum, %v
  %next = add i32 %k, 1
  br label %loop

exit:
  %to = getelementptr float, ptr %y, i32 %t
  store float %sum, ptr %to
  ret void
}

; Memory at a fixed address of the whole block's: nobody knows what it is, and it is nobody's own.
; CHECK: define void @adgen_body_writes_to_an_address(ptr %x, ptr %count)
define void @adgen_body_writes_to_an_address(ptr %x, ptr %count) {
  %k = atomicrmw add ptr %count, i32 1 monotonic
  %to = inttoptr i32 %k to ptr addrspace(3)
  %v = load float, ptr %x
  store float %v, ptr addrspace(3) %to
  ret void
}
