; Where a block is one warp, all of whose lanes wait for each other, that is a barrier of the block; not in wider blocks,
; nor where some lanes come there only. The number of a lane is an integer, of which Enzyme is told.
;
; RUN: %opt -passes='adgen-lower-collectives-to-rules<narrow=duplicated;wide=duplicated>' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_narrow(
; CHECK:         call void @adgen_rule_barrier(ptr %x)
; CHECK:         call "enzyme_type"="{[-1]:Integer}" i32 @llvm.nvvm.read.ptx.sreg.laneid() [[INACTIVE:#[0-9]+]]
; CHECK:       some:
; CHECK-NEXT:    call void @adgen_rule_warp_barrier(ptr %x, i32 -1)
define void @adgen_body_narrow(ptr %x) "adgen-shared" {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %some, label %end
some:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  br label %end
end:
  ret void
}
define void @narrow() "nvvm.maxntid"="32" {
  ret void
}

; CHECK-LABEL: define void @adgen_body_wide(
; CHECK-NEXT:    call void @adgen_rule_warp_barrier(ptr %x, i32 -1)
define void @adgen_body_wide(ptr %x) "adgen-shared" {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}
define void @wide() "nvvm.maxntid"="64" {
  ret void
}

declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK: attributes [[INACTIVE]] = { {{.*}}"enzyme_inactive"
