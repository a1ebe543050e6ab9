; In a loop in which lanes meet or add to shared memory, an iteration begins with its loads of the tape and with those of inputs before its
; first branch, and with the addresses that they need. In any block, loads of the tape come before an exchange with memory,
; but not before one with shared memory, one that follows from the exchange, nor one behind a store to the tape.
;
; RUN: %opt -passes=adgen-hoist-tape-loads,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
declare void @unknown(ptr)
@shadow = internal addrspace(3) global [64 x float] undef, align 4

; CHECK-LABEL: define ptx_kernel void @reverse__gradient(
; CHECK:       loop:
; CHECK-NEXT:    %i = phi
; CHECK-NEXT:    %from = getelementptr float, ptr %in, i64 %i
; CHECK-NEXT:    %w = load float, ptr %from, align 4, !invariant.load
; CHECK-NEXT:    %record = getelementptr <4 x float>, ptr %place, i64 %i
; CHECK-NEXT:    %kept = load <4 x float>, ptr %record
; CHECK-NEXT:    %second = getelementptr i8, ptr %record, i64 256
; CHECK-NEXT:    %kept.too = load <4 x float>, ptr %second
; CHECK-NEXT:    call void @llvm.nvvm.barrier
; CHECK:       some:
; CHECK:         load <4 x float>, ptr %third
; CHECK:       both:
; CHECK:         atomicrmw
; CHECK:         load float, ptr %late
; CHECK:         load float, ptr %to
define ptx_kernel void @reverse__gradient(ptr %in, ptr %out, i64 %n, i1 %which, ptr "adgen-tape-memory" %tape) "adgen-tape"="scalars" {
entry:
  %place = getelementptr i8, ptr %tape, i64 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %both ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %from = getelementptr float, ptr %in, i64 %i
  %w = load float, ptr %from, align 4, !invariant.load !0
  %record = getelementptr <4 x float>, ptr %place, i64 %i
  %kept = load <4 x float>, ptr %record
  br i1 %which, label %some, label %both
some:
  %third = getelementptr i8, ptr %record, i64 512
  %perhaps = load <4 x float>, ptr %third
  %p = extractelement <4 x float> %perhaps, i32 0
  %p0 = atomicrmw fadd ptr addrspace(3) @shadow, float %p monotonic
  br label %both
both:
  %first = extractelement <4 x float> %kept, i32 0
  %a = atomicrmw fadd ptr addrspace(3) @shadow, float %first monotonic
  %second = getelementptr i8, ptr %record, i64 256
  %kept.too = load <4 x float>, ptr %second
  %late = getelementptr i8, ptr %from, i64 64
  %v = load float, ptr %late, align 4, !invariant.load !0
  %to = getelementptr float, ptr %out, i64 %i
  %before = load float, ptr %to
  %x = extractelement <4 x float> %kept.too, i32 1
  %product = fmul float %x, %w
  %sum = fadd float %product, %before
  %all = fadd float %sum, %v
  store float %all, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What the loop writes to the tape, or may write to it, is not moved.
; CHECK-LABEL: define ptx_kernel void @forward__gradient(
; CHECK:         call void @llvm.nvvm.barrier
; CHECK:         load float, ptr %record
define ptx_kernel void @forward__gradient(ptr %out, i64 %n, ptr "adgen-tape-memory" %tape) "adgen-tape"="scalars" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %record = getelementptr float, ptr %tape, i64 %i
  %kept = load float, ptr %record
  %next = getelementptr float, ptr %record, i64 1
  store float %kept, ptr %next
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @calls__gradient(
; CHECK:         call void @unknown
; CHECK:         load float, ptr %record
define ptx_kernel void @calls__gradient(ptr %out, i64 %n, ptr "adgen-tape-memory" %tape) "adgen-tape"="scalars" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @unknown(ptr %out)
  %record = getelementptr float, ptr %tape, i64 %i
  %kept = load float, ptr %record
  store float %kept, ptr %out
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Where nobody meets, a compiler moves loads by itself.
; CHECK-LABEL: define ptx_kernel void @alone__gradient(
; CHECK:         store float 1.000000e+00, ptr %out
; CHECK:         load float, ptr %record
define ptx_kernel void @alone__gradient(ptr %out, i64 %n, ptr "adgen-tape-memory" %tape) "adgen-tape"="scalars" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  store float 1.0, ptr %out
  %record = getelementptr float, ptr %tape, i64 %i
  %kept = load float, ptr %record
  store float %kept, ptr %out
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
; CHECK-LABEL: define ptx_kernel void @taken__gradient(
; CHECK:       own:
; CHECK-NEXT:    %later = getelementptr i8, ptr %tape, i64 %at
; CHECK-NEXT:    %kept = load <2 x float>, ptr %later
; CHECK-NEXT:    %more.kept = load float, ptr %tape
; CHECK-NEXT:    %cotangent = atomicrmw xchg ptr addrspace(1) %d_y
; CHECK:         %index = fptosi float %cotangent to i64
; CHECK:         load float, ptr %found
; CHECK:         store float 0.000000e+00, ptr %tape
; CHECK-NEXT:    %last = getelementptr
; CHECK-NEXT:    load float, ptr %last
; CHECK:       shared:
; CHECK-NEXT:    atomicrmw xchg ptr addrspace(3) @shadow
; CHECK-NEXT:    load float, ptr %tape
define ptx_kernel void @taken__gradient(ptr addrspace(1) %d_y, ptr addrspace(1) %d_x, i64 %at, i1 %which, ptr "adgen-tape-memory" %tape) "adgen-tape"="scalars" {
entry:
  br i1 %which, label %own, label %shared
own:
  %cotangent = atomicrmw xchg ptr addrspace(1) %d_y, float 0.0 monotonic
  %later = getelementptr i8, ptr %tape, i64 %at
  %kept = load <2 x float>, ptr %later
  %w = extractelement <2 x float> %kept, i32 0
  %p = fmul float %cotangent, %w
  %more.kept = load float, ptr %tape
  %q = fmul float %p, %more.kept
  %index = fptosi float %cotangent to i64
  %found = getelementptr i8, ptr %tape, i64 %index
  %v = load float, ptr %found
  %r = fmul float %q, %v
  store float 0.0, ptr %tape
  %last = getelementptr i8, ptr %tape, i64 4
  %u = load float, ptr %last
  %s = fmul float %r, %u
  store float %s, ptr addrspace(1) %d_x
  ret void
shared:
  %other = atomicrmw xchg ptr addrspace(3) @shadow, float 0.0 monotonic
  %kept.shared = load float, ptr %tape
  %t = fmul float %other, %kept.shared
  store float %t, ptr addrspace(1) %d_x
  ret void
}


; Without a tape, inputs come first that an iteration would ask for behind what it adds in a branch, as a sum in shared
; memory is where there is room.
; CHECK-LABEL: define ptx_kernel void @sums__gradient(
; CHECK:       loop:
; CHECK-NEXT:    %i = phi
; CHECK-NEXT:    %from = getelementptr float, ptr %in, i64 %i
; CHECK-NEXT:    %x = load float, ptr %from, align 4, !invariant.load
; CHECK-NEXT:    %d_from = getelementptr
; CHECK:         br i1 %room
; CHECK:       some:
; CHECK:         load float, ptr %only
; CHECK:       both:
; CHECK-NOT:     load
; CHECK:         store float
define ptx_kernel void @sums__gradient(ptr %in, ptr %d_in, ptr %d_out, i64 %n, i1 %room) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %both ]
  %d_from = getelementptr float, ptr %d_out, i64 %i
  %d = load float, ptr %d_from
  br i1 %room, label %some, label %both
some:
  %only = getelementptr float, ptr %in, i64 3
  %y = load float, ptr %only, align 4, !invariant.load !0
  %part = fmul float %d, %y
  %old = atomicrmw fadd ptr addrspace(3) @shadow, float %part monotonic
  br label %both
both:
  %from = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %from, align 4, !invariant.load !0
  %slope = fmul float %x, %d
  %to = getelementptr float, ptr %d_in, i64 %i
  store float %slope, ptr %to
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
!0 = !{}
