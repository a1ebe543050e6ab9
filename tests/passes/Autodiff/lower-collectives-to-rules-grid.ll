; A barrier of the whole grid has a rule of its own. Where threads may miss it, or another barrier, it is refused.
;
; RUN: %opt -passes='adgen-lower-collectives-to-rules<meets=duplicated;misses=duplicated;another=duplicated>' -S %s 2>%t | %filecheck %s && \
; RUN:   %filecheck %s --check-prefix=REFUSED < %t

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_meets(
; CHECK-NEXT:    call void @adgen_rule_grid_barrier(ptr %x)
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %x)
define void @adgen_body_meets(ptr %x) "adgen-shared" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; REFUSED: "entry":"misses"
; REFUSED-SAME: barrier of the whole grid to which some threads may not come
define void @adgen_body_misses(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %wait, label %end
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
  br label %end
end:
  ret void
}

; REFUSED: "entry":"another"
; REFUSED-SAME: barrier of the whole grid where threads may miss another barrier
define void @adgen_body_another(ptr %x) "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %wait, label %end
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 32)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
