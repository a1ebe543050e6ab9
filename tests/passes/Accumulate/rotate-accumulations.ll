; Lanes of a warp that accumulate into one element after the other begin at different ones; the sums move from lane to lane.
;
; RUN: %opt -passes=adgen-rotate-accumulations -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; The loop is there twice. Where the whole warp runs it, and 32 goes into the number of its iterations, each lane does the iteration that is its turn.
; CHECK-LABEL: define void @all_pairs(
; CHECK:       entry:
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[ALL:%.*]] = icmp eq i32 [[ACTIVE]], -1
; CHECK:         [[STEPS:%.*]] = zext i32 [[LAST:%.*]] to i64
; CHECK:         %whole = and i1
; CHECK-NEXT:    br i1 %whole, label %[[ROTATED:.*]], label
; CHECK:       loop.rotated:
; CHECK-NEXT:    %step = phi i32 [ 0, %{{.*}} ], [ [[NEXT:%.*]], %{{.*}} ]
; CHECK-NEXT:    %sum = phi float [ 0.000000e+00, %{{.*}} ], [ [[KEPT:%.*]], %{{.*}} ]
; CHECK:         [[LANE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    [[PLACE:%.*]] = add i32 %step, [[LANE]]
; CHECK-NEXT:    [[TURN:%.*]] = and i32 [[PLACE]], 31
; CHECK-NEXT:    [[ROUND:%.*]] = and i32 %step, -32
; CHECK-NEXT:    [[NUMBER:%.*]] = or i32 [[ROUND]], [[TURN]]
; CHECK:         getelementptr float, ptr %tile, i32
; CHECK:         [[TOTAL:%.*]] = fadd contract float %sum, %v.rotated
; CHECK:         [[IN:%.*]] = and i32 %step, 31
; CHECK-NEXT:    [[END:%.*]] = icmp eq i32 [[IN]], 31
; CHECK-NEXT:    br i1 [[END]], label %[[ADD:.*]], label %[[ON:.*]]
; CHECK:       [[ADD]]:
; CHECK-NEXT:    atomicrmw fadd ptr %e.rotated, float [[TOTAL]] monotonic
; CHECK:       [[ON]]:
; CHECK:         [[NEXT]] = add i32 %step, 1
; CHECK-NEXT:    [[DONE:%.*]] = icmp eq i32 [[NEXT]], %steps
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK:         [[KEPT]] = select i1 [[END]], float 0.000000e+00, float
; CHECK-NEXT:    br i1 [[DONE]], label %end, label %latch.rotated
; CHECK:       latch.rotated:
; CHECK:         br label %loop.rotated, !llvm.loop [[FOUR:!.*]]
; CHECK:       loop:
; CHECK-NOT:     shfl
; CHECK:         atomicrmw fadd ptr %e, float %v monotonic
; CHECK:       end:
; CHECK-NEXT:    phi float [ %own.next, %loop ], [ %own.next.rotated, %{{.*}} ]
define void @all_pairs(float %x, i32 %n, ptr "adgen-shadow" %d_x, ptr %tile, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %own = phi float [ 0.0, %entry ], [ %own.next, %latch ]
  %where = getelementptr float, ptr %tile, i32 %k
  %t = load float, ptr %where
  %v = fmul float %t, %x
  %e = getelementptr float, ptr %d_tile, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %own.next = fsub float %own, %v
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  %2 = atomicrmw fadd ptr %d_x, float %own.next monotonic
  ret void
}

; What a lane adds in all iterations the lanes add up first; then each of them does some of the iterations.
; CHECK-LABEL: define void @repeats(
; CHECK:         [[ALL:%.*]] = icmp eq i32 {{%.*}}, -1
; CHECK:         [[FEW:%.*]] = icmp ule i64 {{%.*}}, 2147483647
; CHECK-NEXT:    %whole = and i1 [[ALL]], [[FEW]]
; CHECK:         [[LANE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    [[NEAR:%.*]] = xor i32 [[LANE]], 1
; CHECK:         [[OTHER:%.*]] = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {{%.*}}, i32 [[NEAR]], i32 31)
; CHECK:         [[FAR:%.*]] = xor i32 [[LANE]], 16
; CHECK:         [[TOTAL:%.*]] = fadd float
; CHECK:       loop.rotated:
; CHECK-NEXT:    %step = phi i32 [ 0, %{{.*}} ], [ [[NEXT:%.*]], %{{.*}} ]
; CHECK:         [[NUMBER:%.*]] = add i32 %step, [[LANE]]
; CHECK:         [[MINE:%.*]] = icmp ule i32 [[NUMBER]], [[LAST:%.*]]
; CHECK-NEXT:    br i1 [[MINE]], label %[[ADD:.*]], label %[[ON:.*]]
; CHECK:       [[ADD]]:
; CHECK-NEXT:    atomicrmw fadd ptr %e.rotated, float [[TOTAL]] monotonic
; CHECK:       [[ON]]:
; CHECK-NEXT:    [[NEXT]] = add i32 %step, 32
; CHECK-NEXT:    [[DONE:%.*]] = icmp ugt i32 [[NEXT]], [[LAST]]
; CHECK-NEXT:    br i1 [[DONE]], label %end, label %latch.rotated
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %e, float %v monotonic
; CHECK:         ret void
define void @repeats(float %v, i32 %n, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ %n, %entry ], [ %next, %latch ]
  %e = getelementptr float, ptr %d_tile, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %done = icmp eq i32 %k, 0
  br i1 %done, label %end, label %latch
latch:
  %next = add i32 %k, -1
  br label %loop
end:
  ret void
}

; Each lane has elements of its own; iterations depend on each other; what is read is accumulated into; neighbours read far apart.
; CHECK-LABEL: define void @own_elements(
; CHECK-NOT:     rotated
; CHECK-LABEL: define void @recurrence(
; CHECK-NOT:     rotated
; CHECK-LABEL: define void @reads_sums(
; CHECK-NOT:     rotated
; CHECK-LABEL: define void @far_apart(
; CHECK-NOT:     rotated
; CHECK-LABEL: define float @last_one_is_used(
; CHECK-NOT:     rotated
; CHECK:         ret float
define void @own_elements(float %v, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = getelementptr [64 x float], ptr %d_x, i32 %x
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %e = getelementptr float, ptr %row, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret void
}
define void @recurrence(float %v, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %s = phi float [ %v, %entry ], [ %s.next, %latch ]
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %s monotonic
  %s.next = fmul float %s, %v
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret void
}
define void @reads_sums(i32 %n, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %from = getelementptr float, ptr %d_y, i32 %k
  %v = load float, ptr %from
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret void
}
define void @far_apart(ptr %x, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %from = getelementptr [64 x float], ptr %x, i32 %k
  %v = load float, ptr %from
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret void
}
define float @last_one_is_used(ptr %x, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %from = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %from
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret float %v
}

; An iteration may add under a condition that lanes decide differently, and its own sums too; what two places add to one element is one sum.
; CHECK-LABEL: define float @within(
; CHECK:       loop.rotated:
; CHECK:         %sum = phi float [ 0.000000e+00, %{{.*}} ], [ [[KEPT:%.*]], %{{.*}} ]
; CHECK-NOT:     %sum{{[0-9]+}} = phi
; CHECK:       near.rotated:
; CHECK:         [[ONE:%.*]] = fadd contract float %sum, %v.rotated
; CHECK-NEXT:    [[BOTH:%.*]] = fadd contract float [[ONE]], %w.rotated
; CHECK-NOT:     atomicrmw
; CHECK:       join.rotated:
; CHECK-NEXT:    [[TOTAL:%.*]] = phi float [ [[BOTH]], %near.rotated ], [ %sum, %loop.rotated ]
; CHECK:         [[END:%.*]] = icmp eq i32 %{{.*}}, 31
; CHECK-NEXT:    br i1 [[END]],
; CHECK:         [[AT:%.*]] = getelementptr float, ptr %d_tile, i32
; CHECK-NEXT:    atomicrmw fadd ptr [[AT]], float [[TOTAL]] monotonic
; CHECK-NOT:     atomicrmw
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK-NOT:     shfl
; CHECK:         [[KEPT]] = select i1 [[END]], float 0.000000e+00, float
; CHECK:       loop:
; CHECK:       near:
; CHECK:         atomicrmw fadd ptr %e, float %v monotonic
; CHECK:         atomicrmw fadd ptr %e, float %w monotonic
define float @within(float %x, float %cut, i32 %n, ptr "adgen-shadow" %d_x, ptr %tile, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="duplicated:const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %own = phi float [ 0.0, %entry ], [ %own.next, %latch ]
  %where = getelementptr float, ptr %tile, i32 %k
  %t = load float, ptr %where
  %v = fmul float %t, %x
  %is_near = fcmp olt float %v, %cut
  br i1 %is_near, label %near, label %join
near:
  %w = fmul float %v, %v
  %e = getelementptr float, ptr %d_tile, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %2 = atomicrmw fadd ptr %e, float %w monotonic
  %own.more = fadd float %own, %w
  br label %join
join:
  %own.next = phi float [ %own.more, %near ], [ %own, %loop ]
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %latch
latch:
  %next = add nuw i32 %k, 1
  br label %loop
end:
  ret float %own.next
}

; Where an iteration adds to another element in any case, it moves on as well.
; CHECK-LABEL: define void @and_always(
; CHECK:       near.rotated:
; CHECK:         [[MORE:%.*]] = fadd contract float %sum, %w.rotated
; CHECK:       join.rotated:
; CHECK-NEXT:    phi float [ [[MORE]], %near.rotated ], [ %sum, %loop.rotated ]
; CHECK:         fadd contract float %sum1, %v.rotated
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK:       loop:
define void @and_always(float %x, float %cut, i32 %n, ptr %tile, ptr "adgen-shared-shadow" %d_tile, ptr "adgen-shared-shadow" %d_other) "adgen-activity"="const:const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %where = getelementptr float, ptr %tile, i32 %k
  %t = load float, ptr %where
  %v = fmul float %t, %x
  %is_near = fcmp olt float %v, %cut
  br i1 %is_near, label %near, label %join
near:
  %w = fmul float %v, %v
  %e = getelementptr float, ptr %d_tile, i32 %k
  %1 = atomicrmw fadd ptr %e, float %w monotonic
  br label %join
join:
  %f = getelementptr float, ptr %d_other, i32 %k
  %2 = atomicrmw fadd ptr %f, float %v monotonic
  %next = add nuw i32 %k, 1
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; A thread that has nothing to do has left: whether the warp is whole is asked before the loop.
; CHECK-LABEL: define void @left_early(
; CHECK:       loop.rotated:
; CHECK-LABEL: define void @sum_decides(
; CHECK-NOT:     rotated
; CHECK-LABEL: define float @sum_before(
; CHECK-NOT:     rotated
; CHECK-LABEL: define void @element_by_lane(
; CHECK-NOT:     rotated
; CHECK:         ret void
define void @left_early(ptr %x, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is_one = icmp slt i32 %i, %n
  br i1 %is_one, label %before, label %end
before:
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %next, %loop ]
  %where = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %where
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  %next = add nuw i32 %k, 1
  %done = icmp eq i32 %k, %n
  br i1 %done, label %behind, label %loop
behind:
  br label %end
end:
  ret void
}
define void @sum_decides(ptr %x, float %cut, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %join ]
  %where = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %where
  %s.next = fadd float %s, %v
  %adds = fcmp olt float %s, %cut
  br i1 %adds, label %near, label %join
near:
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  br label %join
join:
  %next = add nuw i32 %k, 1
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}
define float @sum_before(ptr %x, float %cut, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %join ]
  %where = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %where
  %s.next = fadd float %s, %v
  %adds = fcmp olt float %v, %cut
  br i1 %adds, label %near, label %join
near:
  %e = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  br label %join
join:
  %next = add nuw i32 %k, 1
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %loop
end:
  ret float %s
}
define void @element_by_lane(ptr %x, float %cut, i32 %n, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const" {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %where = getelementptr float, ptr %x, i32 %k
  %v = load float, ptr %where
  %adds = fcmp olt float %v, %cut
  br i1 %adds, label %near, label %join
near:
  %which = add i32 %k, %i
  %e = getelementptr float, ptr %d_x, i32 %which
  %1 = atomicrmw fadd ptr %e, float %v monotonic
  br label %join
join:
  %next = add nuw i32 %k, 1
  %done = icmp eq i32 %k, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK: [[FOUR]] = distinct !{[[FOUR]], [[COUNT:!.*]]}
; CHECK: [[COUNT]] = !{!"llvm.loop.unroll.count", i32 4}
