; In the body of a witness, lanes meet before they read from volatile shared memory, and before they write behind a read.
;
; RUN: %opt -passes=adgen-keep-lockstep -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_volatile(
; CHECK-NEXT:    %[[FIRST:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 %[[FIRST]])
; CHECK-NEXT:    %a = load volatile float, ptr %tile
; CHECK-NEXT:    %[[SECOND:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 %[[SECOND]])
; CHECK-NEXT:    store volatile float %a, ptr %tile
; CHECK-NEXT:    %own = load volatile float, ptr %x
; CHECK-NEXT:    ret void
define void @adgen_body_volatile(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %a = load volatile float, ptr %tile
  store volatile float %a, ptr %tile
  %own = load volatile float, ptr %x
  ret void
}
