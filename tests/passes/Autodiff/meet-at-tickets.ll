; The last block to draw a ticket adds up what all have written: all meet at the barrier behind the ticket. Where a
; thread reads what others write before it comes to a barrier, nothing is known of when the others wrote.
;
; RUN: %opt -passes='adgen-meet-at-tickets,verify' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_sums(
; CHECK:       atomicrmw add ptr %count, i32 1 seq_cst{{.*}} !adgen.ticket
; CHECK:       call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
; CHECK-NEXT:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
define void @adgen_body_sums(ptr %partial, ptr %count, ptr %last) #0 {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %thread, 0
  br i1 %first, label %draw, label %wait

draw:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = getelementptr float, ptr %partial, i32 %block
  store float 1.0, ptr %own
  call void @llvm.nvvm.membar.gl()
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  %is = icmp eq i32 %ticket, 7
  %said = zext i1 %is to i8
  store i8 %said, ptr %last
  br label %wait

wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %asked = load i8, ptr %last
  %go = trunc i8 %asked to i1
  br i1 %go, label %sum, label %end

sum:
  %other = load float, ptr %partial
  store float %other, ptr %partial
  br label %end

end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_without_barrier(
; CHECK-NOT:   all(i32 32)
define void @adgen_body_without_barrier(ptr %partial, ptr %count, ptr %last) #0 {
entry:
  store float 1.0, ptr %partial
  call void @llvm.nvvm.membar.gl()
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  %is = icmp eq i32 %ticket, 7
  br i1 %is, label %sum, label %end

sum:
  %other = load float, ptr %partial
  store float %other, ptr %partial
  br label %end

end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Blocks that are left out never come to the barrier.
; CHECK-LABEL: define void @adgen_body_of_some_blocks(
; CHECK-NOT:   all(i32 32)
define void @adgen_body_of_some_blocks(ptr %partial, ptr %count, ptr %last, i32 %blocks) #0 {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %takes = icmp slt i32 %block, %blocks
  br i1 %takes, label %draw, label %end

draw:
  store float 1.0, ptr %partial
  call void @llvm.nvvm.membar.gl()
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  %is = icmp eq i32 %ticket, 7
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %is, label %sum, label %end

sum:
  %other = load float, ptr %partial
  store float %other, ptr %partial
  br label %end

end:
  ret void
}

; A place in a list is no ticket.
; CHECK-LABEL: define void @adgen_body_compacts(
; CHECK-NOT:   all(i32 32)
define void @adgen_body_compacts(ptr %list, ptr %count, ptr %last) #0 {
  %place = atomicrmw add ptr %count, i32 1 seq_cst
  %at = getelementptr float, ptr %list, i32 %place
  store float 1.0, ptr %at
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = load float, ptr %list
  store float %other, ptr %list
  ret void
}

; The number itself is handed to the block, which asks whether it is large enough; nothing stands between the stores and it.
; CHECK-LABEL: define void @adgen_body_hands_on(
; CHECK:       atomicrmw add ptr %count, i32 1 seq_cst{{.*}} !adgen.ticket
; CHECK:       call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
define void @adgen_body_hands_on(ptr %partial, ptr %count, ptr %last) #0 {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %own = getelementptr float, ptr %partial, i32 %block
  store float 1.0, ptr %own
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  store i32 %ticket, ptr %last
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %asked = load i32, ptr %last
  %go = icmp uge i32 %asked, 7
  br i1 %go, label %sum, label %end
sum:
  %other = load float, ptr %partial
  store float %other, ptr %partial
  br label %end
end:
  ret void
}

; It may be a place for all of the block.
; CHECK-LABEL: define void @adgen_body_hands_a_place(
; CHECK-NOT:   all(i32 32)
define void @adgen_body_hands_a_place(ptr %list, ptr %count, ptr %last) #0 {
  %place = atomicrmw add ptr %count, i32 1 seq_cst
  store i32 %place, ptr %last
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %from = load i32, ptr %last
  %at = getelementptr float, ptr %list, i32 %from
  %other = load float, ptr %list
  store float %other, ptr %at
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { "adgen-shared"="last" }
