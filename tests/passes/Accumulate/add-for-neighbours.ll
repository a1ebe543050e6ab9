; What a thread adds to the elements of its neighbours in the block it leaves for them in shared memory, and they add it
; to their own element at the end.
;
; RUN: %opt -passes=adgen-add-for-neighbours,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      @adgen_exchange_rows.left1 = internal addrspace(3) global [256 x i32] undef
; CHECK-NEXT: @adgen_exchange_rows.left2 = internal addrspace(3) global [256 x float] undef
; CHECK-NEXT: @adgen_exchange_pairs.left
; CHECK-NEXT: @adgen_exchange_pairs.left
; CHECK-NOT: @adgen_exchange_

; CHECK-LABEL: define void @adgen_gradient_rows(
; CHECK:         [[ROWS:%.*]] = icmp ugt i32 {{.*}}, 1
; CHECK:         [[FIT:%.*]] = icmp ule i32 {{.*}}, 512
; CHECK-NEXT:    %hands = and i1 [[ROWS]], [[FIT]]
; CHECK:         br i1 %in, label %inside, label %out
; CHECK:       inside:
; CHECK:         [[ALONE:%.*]] = xor i1 %hands, true
; CHECK-NEXT:    br i1 [[ALONE]], label %[[BEFORE:.*]], label %[[BEHIND:.*]]
; CHECK:       [[BEFORE]]:
; CHECK-NEXT:    atomicrmw fadd ptr %own, float 1.000000e+00 monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %up, float %a monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %down, float %a monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %next, float %a monotonic
; CHECK:       end:
; CHECK:         [[OWN:%.*]] = phi ptr [ %own, %[[BEHIND]] ], [ poison, %out ]
; CHECK:         [[HERE:%.*]] = phi i32 [ 1, %[[BEHIND]] ], [ 0, %out ]
; CHECK:         br i1 %hands, label
; CHECK:         store i32 [[HERE]], ptr addrspace(3)
; CHECK:         store float {{.*}}, ptr addrspace(3)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NEXT:    [[CAME:%.*]] = icmp ne i32 [[HERE]], 0
; CHECK-NEXT:    br i1 [[CAME]], label
; The neighbour above adds what this thread has left for it, if it has come by.
; CHECK:         [[ABOVE:%.*]] = add i32 {{.*}}, 1
; CHECK-NEXT:    icmp ult i32 [[ABOVE]], {{.*}}
; CHECK:         [[BELOW:%.*]] = add i32 {{.*}}, -1
; CHECK-NEXT:    icmp ult i32 [[BELOW]], {{.*}}
; CHECK:         [[GIVEN:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    [[MINE:%.*]] = select i1 {{.*}}, float [[GIVEN]], float 0.000000e+00
; CHECK-NEXT:    [[SUM:%.*]] = fadd float {{.*}}, [[MINE]]
; CHECK:         [[THERE:%.*]] = load i32, ptr addrspace(3)
; CHECK-NEXT:    [[COMES:%.*]] = icmp ne i32 [[THERE]], 0
; CHECK-NEXT:    [[TAKES:%.*]] = and i1 {{.*}}, [[COMES]]
; CHECK-NEXT:    [[LEFT:%.*]] = xor i1 [[TAKES]], true
; CHECK-NEXT:    br i1 [[LEFT]], label %[[ONE:.*]], label %
; CHECK:       [[ONE]]:
; CHECK-NEXT:    atomicrmw fadd ptr {{.*}}, float {{.*}} monotonic
; CHECK:         fadd float [[SUM]], {{.*}}
; CHECK:         atomicrmw fadd ptr {{.*}}, float {{.*}} monotonic
; CHECK:         [[ALL:%.*]] = fadd float
; CHECK:         atomicrmw fadd ptr [[OWN]], float [[ALL]] monotonic
; CHECK:         ret void
define ptx_kernel void @rows(ptr %u, float %a, i32 %nx) "nvvm.maxntid"="256" {
  ret void
}

define void @adgen_gradient_rows(ptr %u, float %a, i32 %nx, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %in = icmp ult i32 %tx, %nx
  br i1 %in, label %inside, label %out
inside:
  %row = mul i32 %ty, %nx
  %i = add i32 %row, %tx
  %at = sext i32 %i to i64
  %own = getelementptr float, ptr %d_u, i64 %at
  %j = add i32 %i, %nx
  %above = sext i32 %j to i64
  %up = getelementptr float, ptr %d_u, i64 %above
  %b = sub i32 %ty, 1
  %lower = mul i32 %b, %nx
  %k = add i32 %lower, %tx
  %below = sext i32 %k to i64
  %down = getelementptr float, ptr %d_u, i64 %below
  %next = getelementptr float, ptr %own, i64 1
  %0 = atomicrmw fadd ptr %own, float 1.0 monotonic
  %1 = atomicrmw fadd ptr %up, float %a monotonic
  %2 = atomicrmw fadd ptr %down, float %a monotonic
  %3 = atomicrmw fadd ptr %next, float %a monotonic
  ret void
out:
  ret void
}

; Of two shadows one comes after the other, in the same memory.
; CHECK-LABEL: define void @adgen_gradient_pairs(
; CHECK:         atomicrmw fadd ptr %own.v, double 1.000000e+00
; CHECK:         atomicrmw fadd ptr %own.u, double 1.000000e+00
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         atomicrmw fadd ptr %own.u
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NOT:     atomicrmw
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         atomicrmw fadd ptr %own.v
; CHECK:         ret void
define void @adgen_gradient_pairs(ptr %u, ptr %v, double %a, i32 %nx, ptr "adgen-shadow" %d_u, ptr "adgen-shadow" %d_v) "adgen-activity"="duplicated:duplicated:const:const" "adgen-shared" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = mul i32 %ty, %nx
  %i = add i32 %row, %tx
  %at = sext i32 %i to i64
  %far = sext i32 %nx to i64
  %own.u = getelementptr double, ptr %d_u, i64 %at
  %up.u = getelementptr double, ptr %own.u, i64 %far
  %own.v = getelementptr double, ptr %d_v, i64 %at
  %up.v = getelementptr double, ptr %own.v, i64 %far
  %back = sub i64 0, %far
  %down.u = getelementptr double, ptr %own.u, i64 %back
  %down.v = getelementptr double, ptr %own.v, i64 %back
  %1 = atomicrmw fadd ptr %own.u, double 1.0 monotonic
  %2 = atomicrmw fadd ptr %own.v, double 1.0 monotonic
  %3 = atomicrmw fadd ptr %up.u, double %a monotonic
  %4 = atomicrmw fadd ptr %up.v, double %a monotonic
  %5 = atomicrmw fadd ptr %down.u, double %a monotonic
  %6 = atomicrmw fadd ptr %down.v, double %a monotonic
  ret void
}

; Along x alone lanes hand on to each other.
; CHECK-LABEL: define void @adgen_gradient_columns(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_columns(ptr %u, float %a, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const" "adgen-shared" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = sext i32 %tx to i64
  %own = getelementptr float, ptr %d_u, i64 %at
  %next = getelementptr float, ptr %own, i64 1
  %last = getelementptr float, ptr %own, i64 -1
  %1 = atomicrmw fadd ptr %own, float 1.0 monotonic
  %2 = atomicrmw fadd ptr %next, float %a monotonic
  %3 = atomicrmw fadd ptr %last, float %a monotonic
  ret void
}

; The blocks of a gradient with a tape come one after the other to what is left, and a loop may come again.
; CHECK-LABEL: define void @adgen_gradient_loops(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_loops(ptr %u, float %a, i32 %nx, i32 %n, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = mul i32 %ty, %nx
  %i = add i32 %row, %tx
  %at = sext i32 %i to i64
  %own = getelementptr float, ptr %d_u, i64 %at
  %far = sext i32 %nx to i64
  %up = getelementptr float, ptr %own, i64 %far
  %back = sub i64 0, %far
  %down = getelementptr float, ptr %own, i64 %back
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %more, %loop ]
  %0 = atomicrmw fadd ptr %own, float 1.0 monotonic
  %1 = atomicrmw fadd ptr %up, float %a monotonic
  %2 = atomicrmw fadd ptr %down, float %a monotonic
  %more = add i32 %c, 1
  %on = icmp ult i32 %more, %n
  br i1 %on, label %loop, label %done
done:
  ret void
}

; Who knows how far a neighbour has counted?
; CHECK-LABEL: define void @adgen_gradient_counts(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_counts(ptr %u, ptr %n, float %a, i32 %nx, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  br label %loop
loop:
  %c = phi i32 [ 0, %entry ], [ %more, %loop ]
  %more = add i32 %c, 1
  %from = sext i32 %c to i64
  %where = getelementptr i32, ptr %n, i64 %from
  %m = load i32, ptr %where
  %on = icmp slt i32 %m, %tx
  br i1 %on, label %loop, label %done
done:
  %low = add i32 %ty, %c
  %row = mul i32 %low, %nx
  %i = add i32 %row, %tx
  %at = sext i32 %i to i64
  %own = getelementptr float, ptr %d_u, i64 %at
  %far = sext i32 %nx to i64
  %up = getelementptr float, ptr %own, i64 %far
  %back = sub i64 0, %far
  %down = getelementptr float, ptr %own, i64 %back
  %0 = atomicrmw fadd ptr %own, float 1.0 monotonic
  %1 = atomicrmw fadd ptr %up, float %a monotonic
  %2 = atomicrmw fadd ptr %down, float %a monotonic
  ret void
}

; The neighbour on a circle of 256 rows is not always that with y + 1.
; CHECK-LABEL: define void @adgen_gradient_circles(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_circles(ptr %u, float %a, i32 %nx, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = mul i32 %ty, %nx
  %i = add i32 %row, %tx
  %at = sext i32 %i to i64
  %own = getelementptr float, ptr %d_u, i64 %at
  %y = add i32 %ty, 1
  %few = trunc i32 %y to i8
  %near = zext i8 %few to i32
  %upper = mul i32 %near, %nx
  %j = add i32 %upper, %tx
  %above = sext i32 %j to i64
  %up = getelementptr float, ptr %d_u, i64 %above
  %far = sext i32 %nx to i64
  %next = getelementptr float, ptr %own, i64 %far
  %1 = atomicrmw fadd ptr %own, float 1.0 monotonic
  %2 = atomicrmw fadd ptr %up, float %a monotonic
  %3 = atomicrmw fadd ptr %next, float %a monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
