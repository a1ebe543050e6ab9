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

; Lanes that a condition keeps from them meet the others before and behind it.
; CHECK-LABEL: define void @adgen_body_some_lanes(
; CHECK:         %few = icmp
; CHECK-NEXT:    %[[BEFORE:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 %[[BEFORE]])
; CHECK-NEXT:    br i1 %few
; CHECK:       behind:
; CHECK-NEXT:    %[[BEHIND:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 %[[BEHIND]])
; CHECK-NEXT:    ret void
define void @adgen_body_some_lanes(ptr %tile) "adgen-shared"="tile" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 7
  br i1 %few, label %exchange, label %behind
exchange:
  %a = load volatile float, ptr %tile
  store volatile float %a, ptr %tile
  br label %behind
behind:
  ret void
}

; Where all threads come, they meet before they ask who is there.
; CHECK-LABEL: define i32 @adgen_body_asked(
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NEXT:    call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    ret i32
define i32 @adgen_body_asked() {
  %there = call i32 @llvm.nvvm.activemask()
  ret i32 %there
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.activemask()
