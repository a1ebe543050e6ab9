; More loads of a shared array than a thread has registers for go back into the loop that needs them. Not where something
; writes to the array in the loop, or behind it before all threads meet, and not where they are few.
;
; RUN: %opt -passes=adgen-sink-shared-loads,verify -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [96 x float] undef, align 4

; CHECK-LABEL: define void @adgen_body_sunk(
; CHECK-NOT:     load
; CHECK:       loop:
; CHECK:         [[A:%.*]] = load <32 x float>, ptr %tile
; CHECK-NEXT:    extractelement <32 x float> [[A]], i32 %i
; CHECK:         [[B:%.*]] = load <32 x float>, ptr %second
; CHECK-NEXT:    extractelement <32 x float> [[B]], i32 %i
; CHECK:         [[C:%.*]] = load <32 x float>, ptr %third
; CHECK-NEXT:    extractelement <32 x float> [[C]], i32 %i
; CHECK:       end:
define void @adgen_body_sunk(ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %second = getelementptr i8, ptr %tile, i64 128
  %third = getelementptr i8, ptr %tile, i64 256
  %a = load <32 x float>, ptr %tile, align 4
  %b = load <32 x float>, ptr %second, align 4
  %c = load <32 x float>, ptr %third, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %x = extractelement <32 x float> %a, i32 %i
  %y1 = extractelement <32 x float> %b, i32 %i
  %z = extractelement <32 x float> %c, i32 %i
  %xy = fmul float %x, %y1
  %xyz = fadd float %xy, %z
  %more = fadd float %sum, %xyz
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  store float %more, ptr %y, align 4
  call void @adgen_rule_barrier(ptr %tile)
  store float %more, ptr %tile, align 4
  ret void
}

; A thread that is done with the loop would change what others read in it.
; CHECK-LABEL: define void @adgen_body_written_behind(
; CHECK:         %a = load <64 x float>
; CHECK:       loop:
; CHECK-NOT:     load
; CHECK:       end:
define void @adgen_body_written_behind(ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %second = getelementptr i8, ptr %tile, i64 128
  %a = load <64 x float>, ptr %tile, align 4
  %b = load <32 x float>, ptr %second, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %x = extractelement <64 x float> %a, i32 %i
  %z = extractelement <32 x float> %b, i32 %i
  %xz = fmul float %x, %z
  %more = fadd float %sum, %xz
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  store float %more, ptr %tile, align 4
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

; The thread itself changes the array in the loop.
; CHECK-LABEL: define void @adgen_body_written_inside(
; CHECK:         %a = load <96 x float>
; CHECK:       loop:
; CHECK-NOT:     load
; CHECK:       end:
define void @adgen_body_written_inside(ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %a = load <96 x float>, ptr %tile, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = extractelement <96 x float> %a, i32 %i
  %at = getelementptr float, ptr %tile, i32 %i
  store float %x, ptr %at, align 4
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_few(
; CHECK:         %a = load <64 x float>
; CHECK:       loop:
; CHECK-NOT:     load
; CHECK:       end:
define void @adgen_body_few(ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %a = load <64 x float>, ptr %tile, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = extractelement <64 x float> %a, i32 %i
  %at = getelementptr float, ptr %y, i32 %i
  store float %x, ptr %at, align 4
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}

; A kernel: its array is a variable, blocks come one after the other, and all threads meet before the next.
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK:       block:
; CHECK-NOT:     load <
; CHECK:       loop:
; CHECK:         load <96 x float>, ptr addrspace(3) @tile
define ptx_kernel void @kernel(ptr addrspace(1) %y, i32 %n) {
entry:
  br label %block

block:
  %b = phi i32 [ 0, %entry ], [ %later, %end ]
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr addrspace(3) @tile, i32 %t
  store float 1.0, ptr addrspace(3) %mine, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %ready

ready:
  %a = load <96 x float>, ptr addrspace(3) @tile, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %ready ], [ %next, %loop ]
  %x = extractelement <96 x float> %a, i32 %i
  %at = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %x, ptr addrspace(1) %at, align 4
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %later = add i32 %b, 1
  %again = icmp slt i32 %later, %n
  br i1 %again, label %block, label %done

done:
  ret void
}

; What a later block of the iteration needs is read again there, but not where an iteration writes to the array.
; CHECK-LABEL: define ptx_kernel void @both_sweeps(
; CHECK:       loop:
; CHECK:         %a = load <96 x float>, ptr addrspace(3) @tile
; CHECK-NEXT:    %x = extractelement <96 x float> %a, i32 %i
; CHECK:       later:
; CHECK-NEXT:    [[AGAIN:%.*]] = load <96 x float>, ptr addrspace(3) @tile
; CHECK-NEXT:    extractelement <96 x float> [[AGAIN]], i32 %n
; CHECK:       end:
define ptx_kernel void @both_sweeps(ptr addrspace(1) %y, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %later ]
  %a = load <96 x float>, ptr addrspace(3) @tile, align 4
  %x = extractelement <96 x float> %a, i32 %i
  store float %x, ptr addrspace(1) %y, align 4
  br label %between

between:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %t to i1
  br i1 %odd, label %between, label %later

later:
  %z = extractelement <96 x float> %a, i32 %n
  store float %z, ptr addrspace(1) %y, align 4
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @written_between(
; CHECK:       later:
; CHECK-NEXT:    extractelement <96 x float> %a, i32 %n
; CHECK:       end:
define ptx_kernel void @written_between(ptr addrspace(1) %y, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %later ]
  %a = load <96 x float>, ptr addrspace(3) @tile, align 4
  %x = extractelement <96 x float> %a, i32 %i
  store float %x, ptr addrspace(1) %y, align 4
  br label %between

between:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %t to i1
  br i1 %odd, label %between, label %later

later:
  %z = extractelement <96 x float> %a, i32 %n
  store float %z, ptr addrspace(3) @tile, align 4
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}

declare void @adgen_rule_barrier(ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
