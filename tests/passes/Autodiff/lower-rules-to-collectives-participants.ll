; Where all lanes of a mask take part, which is mostly so, what follows is there again with the mask as a constant, and
; nobody has to be told who leaves.
;
; RUN: %opt -passes=adgen-lower-rules-to-collectives -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define internal void @diffeadgen_body_k(
; CHECK:         [[LANES:%.*]] = call i32 @adgen_lanes_participants(i32 -1)
; CHECK-NEXT:    [[ALL:%.*]] = icmp eq i32 [[LANES]], -1
; CHECK-NEXT:    br i1 [[ALL]], label %[[SAME:.*]], label %[[FEWER:.*]]
; CHECK:       [[FEWER]]:
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 [[LANES]])
; CHECK:       join:
; CHECK-NEXT:    phi i32 [ undef, %entry ], [ [[LANES]], %loop ]
; CHECK:         call void @adgen_lanes_leave()
; CHECK:       invertjoin:
; CHECK:         ret void
; CHECK:       [[SAME]]:
; CHECK:       loop.all:
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK:       join.all:
; CHECK-NEXT:    phi i32 [ -1, %loop.all ]
; CHECK-NOT:     adgen_lanes_leave
; CHECK:       invertjoin.all:
; CHECK:         ret void
define internal void @diffeadgen_body_k(ptr %x, i32 %n) {
entry:
  call void @adgen_lanes_begin()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %t, %n
  br i1 %inside, label %rest, label %join
rest:
  %lanes = call i32 @adgen_lanes_participants(i32 -1)
  %v = load float, ptr %x
  br label %loop
loop:
  %i = phi i32 [ 0, %rest ], [ %next, %loop ]
  call void @llvm.nvvm.bar.warp.sync(i32 %lanes)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %join
join:
  %kept = phi i32 [ undef, %entry ], [ %lanes, %loop ]
  call void @adgen_lanes_leave()
  br i1 %inside, label %invertjoin, label %end
invertjoin:
  call void @llvm.nvvm.bar.warp.sync(i32 %kept)
  br label %end
end:
  ret void
}

; In a loop it is asked again, and nothing changes.
; CHECK-LABEL: define internal void @diffeadgen_body_again(
; CHECK-NOT:     .all
; CHECK:         ret void
define internal void @diffeadgen_body_again(ptr %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %lanes = call i32 @adgen_lanes_participants(i32 -1)
  call void @llvm.nvvm.bar.warp.sync(i32 %lanes)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

declare void @adgen_lanes_begin()
declare i32 @adgen_lanes_participants(i32)
declare void @adgen_lanes_leave()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
