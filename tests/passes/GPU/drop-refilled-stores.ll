; What a thread stores to shared memory again, before the block meets and anything reads there, it does not store the first time.
;
; RUN: %opt -passes=adgen-drop-refilled-stores,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [33 x float] undef
@of_launch = external addrspace(3) global [0 x float]

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)

; The reverse sweep fills the tile again; where it does not run, for no element, no thread runs it.
; CHECK-LABEL: define ptx_kernel void @refilled__gradient(
; CHECK-NOT:     store
; CHECK:         store float %again, ptr addrspace(3) %place
; CHECK:         store float %neighbours
define ptx_kernel void @refilled__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; The forward sweep has a use for it.
; CHECK-LABEL: define ptx_kernel void @used__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @used__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %used = load float, ptr addrspace(3) %beside
  store float %used, ptr %dx
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; So has the reverse sweep, before it fills the tile.
; CHECK-LABEL: define ptx_kernel void @first__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @first__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  %used = load float, ptr addrspace(3) %beside
  store float %used, ptr %dx
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; Another element is filled.
; CHECK-LABEL: define ptx_kernel void @elsewhere__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again, ptr addrspace(3) %beside
define ptx_kernel void @elsewhere__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %beside
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; Another thread may read before this one has stored again.
; CHECK-LABEL: define ptx_kernel void @early__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @early__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; A thread that leaves does not store again what others read.
; CHECK-LABEL: define ptx_kernel void @leaves__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @leaves__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %i, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; Warps that wait for some others may come to know of it elsewhere.
; CHECK-LABEL: define ptx_kernel void @apart__gradient(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @apart__gradient(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.count(i32 1, i32 64)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; What is not a derivative stays as it was written.
; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK:         store float %given, ptr addrspace(3) %place
; CHECK:         store float %again
define ptx_kernel void @primal(ptr noalias %x, ptr noalias %dx, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %i
  %beside = getelementptr float, ptr addrspace(3) %place, i32 1
  %some = icmp sgt i32 %n, 0
  br label %forward

forward:
  %k = phi i32 [ 0, %entry ], [ %next, %forward ]
  %from = getelementptr float, ptr %x, i32 %k
  %given = load float, ptr %from
  store float %given, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %forward, label %turn

turn:
  br i1 %some, label %reverse, label %end

reverse:
  %l = phi i32 [ 0, %turn ], [ %after, %reverse ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %again.from = getelementptr float, ptr %x, i32 %l
  %again = load float, ptr %again.from
  store float %again, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %neighbours = load float, ptr addrspace(3) %beside
  %to = getelementptr float, ptr %dx, i32 %l
  store float %neighbours, ptr %to
  %after = add nuw nsw i32 %l, 1
  %left = icmp slt i32 %after, %n
  br i1 %left, label %reverse, label %end

end:
  ret void
}

; Nothing reads it at all; of memory that the launch gives it is not known whether it is another array's.
; CHECK-LABEL: define ptx_kernel void @unread__gradient(
; CHECK-NOT:     store float %y, ptr addrspace(3) @tile
; CHECK:         store float %y, ptr addrspace(3) @of_launch
; CHECK-NEXT:    ret void
define ptx_kernel void @unread__gradient(float %y) {
  store float %y, ptr addrspace(3) @tile
  store float %y, ptr addrspace(3) @of_launch
  ret void
}
