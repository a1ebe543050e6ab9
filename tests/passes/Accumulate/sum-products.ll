; Products that all lanes add to the same elements are summed over the lanes as a product of matrices; where nothing else
; sees them in a loop, the sums stay in shared memory until a lane leaves it. The loops over rows and columns are
; unrolled first.
;
; RUN: %opt -unroll-threshold=20000 -passes='function(loop-simplify,lcssa,loop(loop-unroll-full),simplifycfg,early-cse,loop-simplify),adgen-sum-products,verify' -S %s | %filecheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Blocks may have any size: threads of the ninth warp and those behind it add by themselves. A lane's row has 8 numbers
; and the one of the biases, then the 8 others.
; CHECK-DAG: @adgen_exchange_straight.products = internal addrspace(3) global [20480 x i8] undef, align 16
; CHECK-DAG: @adgen_products_elements = internal addrspace(1) constant [80 x i32] [i32 0, {{.*}}i32 -1{{.*}}], align 16
; CHECK-LABEL: define void @adgen_gradient_straight(
; CHECK:         %warp = lshr i32 {{.*}}, 5
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[ROOM:%.*]] = icmp ult i32 %warp, 8
; CHECK-NEXT:    br i1 [[ROOM]]
; CHECK:         %row = getelementptr inbounds i8
; CHECK:         store <4 x float> {{.*}}, align 16
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 [[ACTIVE]])
; CHECK:       tiles:
; CHECK-NEXT:    [[TILE:%.*]] = phi i32
; CHECK-NEXT:    icmp ult i32 [[TILE]], 20
; CHECK:       tile:
; CHECK:         call void @adgen_sum_products_f32_2({{.*}}, i32 20, i32 [[ACTIVE]], ptr
; CHECK:         [[IS:%.*]] = icmp ne i32 [[FAR:%.*]], -1
; CHECK:         [[WIDE:%.*]] = sext i32 [[FAR]] to i64
; CHECK-NEXT:    [[TO:%.*]] = getelementptr i8, ptr %d_weights, i64 [[WIDE]]
; CHECK-NEXT:    atomicrmw fadd ptr [[TO]], float {{.*}} monotonic, align 4, !adgen.lanes
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 [[ACTIVE]])
; CHECK-COUNT-72: atomicrmw fadd ptr
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_straight(ptr %x, ptr "adgen-shadow" %d_weights) "adgen-activity"="const:duplicated" {
entry:
  br label %row

row:
  %j = phi i64 [ 0, %entry ], [ %down, %after ]
  %from.b = getelementptr float, ptr %x, i64 %j
  %at.b = getelementptr i8, ptr %from.b, i64 32
  %b = load float, ptr %at.b, !invariant.load !0
  %to.row = getelementptr [8 x float], ptr %d_weights, i64 %j
  br label %column

column:
  %i = phi i64 [ 0, %row ], [ %right, %column ]
  %at.a = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at.a, !invariant.load !0
  %p = fmul float %a, %b
  %to = getelementptr float, ptr %to.row, i64 %i
  %1 = atomicrmw fadd ptr %to, float %p monotonic
  %right = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %right, 8
  br i1 %more, label %column, label %after

after:
  %biases = getelementptr i8, ptr %d_weights, i64 256
  %to.bias = getelementptr float, ptr %biases, i64 %j
  %2 = atomicrmw fadd ptr %to.bias, float %b monotonic
  %down = add nuw nsw i64 %j, 1
  %others = icmp ult i64 %down, 8
  br i1 %others, label %row, label %end

end:
  ret void
}

; The user bounds blocks, so that each warp has room. Where the whole warp comes to the loop, its sums begin with zero,
; and lanes that leave take what is there.
; CHECK-LABEL: define void @adgen_gradient_looped(
; CHECK:         [[ALL:%.*]] = icmp eq i32 {{.*}}, -1
; CHECK-NEXT:    %whole = and i1 [[ALL]], true
; CHECK-NEXT:    br i1 %whole
; CHECK:         store <2 x double> zeroinitializer, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK:         [[NOW:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK:         [[STILL:%.*]] = icmp eq i32 [[NOW]], -1
; CHECK-NEXT:    [[KEEPS:%.*]] = and i1 %whole, [[STILL]]
; CHECK:         call void @adgen_sum_products_f64_4({{.*}}, i32 30, i32 [[NOW]], ptr
; CHECK:         br i1 [[KEEPS]], label %[[KEEP:.*]], label %[[ADD:.*]]
; CHECK:       [[KEEP]]:
; CHECK:         [[OLD:%.*]] = load <2 x double>, ptr addrspace(3) [[PLACE:%.*]], align 16
; CHECK-NEXT:    [[NEW:%.*]] = fadd <2 x double> [[OLD]],
; CHECK-NEXT:    store <2 x double> [[NEW]], ptr addrspace(3) [[PLACE]], align 16
; CHECK:       [[ADD]]:
; CHECK-COUNT-16: atomicrmw fadd {{.*}} !adgen.lanes
; CHECK:       end:
; CHECK:         br i1 %whole
; CHECK:         [[TAKEN:%.*]] = atomicrmw xchg ptr addrspace(3) {{.*}}, double 0.000000e+00 monotonic
; CHECK-NEXT:    atomicrmw fadd ptr {{.*}}, double [[TAKEN]] monotonic
; CHECK:         ret void
define void @adgen_gradient_looped(ptr %x, i32 %n, ptr "adgen-shared-shadow"="static" %d_weights) "adgen-activity"="const:const" {
entry:
  br label %loop

loop:
  %step = phi i32 [ 0, %entry ], [ %next, %again ]
  br label %row

row:
  %j = phi i64 [ 0, %loop ], [ %down, %after ]
  %from.b = getelementptr double, ptr %x, i64 %j
  %at.b = getelementptr i8, ptr %from.b, i64 96
  %b = load double, ptr %at.b, !invariant.load !0
  %to.row = getelementptr [16 x double], ptr %d_weights, i64 %j
  br label %column

column:
  %i = phi i64 [ 0, %row ], [ %right, %column ]
  %at.a = getelementptr double, ptr %x, i64 %i
  %a = load double, ptr %at.a, !invariant.load !0
  %p = fmul double %a, %b
  %to = getelementptr double, ptr %to.row, i64 %i
  %1 = atomicrmw fadd ptr %to, double %p monotonic
  %right = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %right, 16
  br i1 %more, label %column, label %after

after:
  %down = add nuw nsw i64 %j, 1
  %others = icmp ult i64 %down, 12
  br i1 %others, label %row, label %again

again:
  %next = add i32 %step, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}
declare void @looped() "nvvm.maxntid"="64"

; Lanes may have other networks, which is seen in each iteration: nothing is kept. The products of a sum are products of
; two pairs of matrices.
; CHECK-LABEL: define void @adgen_gradient_twice(
; CHECK-NOT:     %whole
; CHECK:         [[SAME:%.*]] = call i32 @adgen_alike(i32 [[LANES:%.*]], i64
; CHECK-NEXT:    icmp eq i32 [[SAME]], [[LANES]]
; CHECK:         call void @adgen_sum_products_f32_2(
; CHECK:         call i32 @adgen_alike(
; CHECK:         call void @adgen_sum_products_f32_2(
; CHECK-NOT:     adgen_sum_products
; CHECK:         ret void
define void @adgen_gradient_twice(ptr %x, i32 %n, ptr "adgen-shared-shadow"="static" %all) "adgen-activity"="const:const" {
entry:
  br label %loop

loop:
  %step = phi i32 [ 0, %entry ], [ %next, %again ]
  %which = sext i32 %step to i64
  %d_weights = getelementptr inbounds [512 x i8], ptr %all, i64 %which
  br label %row

row:
  %j = phi i64 [ 0, %loop ], [ %down, %after ]
  %from.b = getelementptr float, ptr %x, i64 %j
  %at.b = getelementptr i8, ptr %from.b, i64 128
  %b = load float, ptr %at.b, !invariant.load !0
  %at.b2 = getelementptr i8, ptr %from.b, i64 160
  %b2 = load float, ptr %at.b2, !invariant.load !0
  %to.row = getelementptr [8 x float], ptr %d_weights, i64 %j
  br label %column

column:
  %i = phi i64 [ 0, %row ], [ %right, %column ]
  %at.a = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at.a, !invariant.load !0
  %at.a2 = getelementptr i8, ptr %at.a, i64 64
  %a2 = load float, ptr %at.a2, !invariant.load !0
  %p = fmul float %a, %b
  %p2 = fmul float %a2, %b2
  %both = fadd float %p, %p2
  %to = getelementptr float, ptr %to.row, i64 %i
  %1 = atomicrmw fadd ptr %to, float %both monotonic
  %right = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %right, 8
  br i1 %more, label %column, label %after

after:
  %down = add nuw nsw i64 %j, 1
  %others = icmp ult i64 %down, 8
  br i1 %others, label %row, label %again

again:
  %next = add i32 %step, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %end

end:
  ret void
}

; Not where something may see an element in between, nor where a thread has elements of its own, nor few additions.
; CHECK-LABEL: define void @adgen_gradient_seen(
; CHECK-NOT:     adgen_sum_products
; CHECK:         ret void
define void @adgen_gradient_seen(ptr %x, ptr "adgen-shared-shadow"="static" %d_weights) "adgen-activity"="const" {
entry:
  br label %row

row:
  %j = phi i64 [ 0, %entry ], [ %down, %after ]
  %from.b = getelementptr float, ptr %x, i64 %j
  %at.b = getelementptr i8, ptr %from.b, i64 32
  %b = load float, ptr %at.b, !invariant.load !0
  %to.row = getelementptr [8 x float], ptr %d_weights, i64 %j
  br label %column

column:
  %i = phi i64 [ 0, %row ], [ %right, %column ]
  %at.a = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at.a, !invariant.load !0
  %p = fmul float %a, %b
  %to = getelementptr float, ptr %to.row, i64 %i
  %1 = atomicrmw fadd ptr %to, float %p monotonic
  %right = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %right, 8
  br i1 %more, label %column, label %after

after:
  %seen = load float, ptr %d_weights
  store float %seen, ptr %d_weights
  %down = add nuw nsw i64 %j, 1
  %others = icmp ult i64 %down, 8
  br i1 %others, label %row, label %end

end:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_own_or_few(
; CHECK-NOT:     adgen_sum_products
; CHECK:         ret void
define void @adgen_gradient_own_or_few(ptr %x, ptr "adgen-shadow" %all, ptr "adgen-shadow" %few) "adgen-activity"="const:duplicated:duplicated" {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %which = zext i32 %thread to i64
  %own = getelementptr inbounds [512 x i8], ptr %all, i64 %which
  br label %row

row:
  %j = phi i64 [ 0, %entry ], [ %down, %after ]
  %from.b = getelementptr float, ptr %x, i64 %j
  %at.b = getelementptr i8, ptr %from.b, i64 32
  %b = load float, ptr %at.b, !invariant.load !0
  %to.row = getelementptr [8 x float], ptr %own, i64 %j
  %row.of.few = getelementptr [4 x float], ptr %few, i64 %j
  br label %column

column:
  %i = phi i64 [ 0, %row ], [ %right, %column ]
  %at.a = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %at.a, !invariant.load !0
  %p = fmul float %a, %b
  %to = getelementptr float, ptr %to.row, i64 %i
  %1 = atomicrmw fadd ptr %to, float %p monotonic
  %right = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %right, 8
  br i1 %more, label %column, label %after

after:
  %first = load float, ptr %x, !invariant.load !0
  %q = fmul float %first, %b
  %2 = atomicrmw fadd ptr %row.of.few, float %q monotonic
  %down = add nuw nsw i64 %j, 1
  %others = icmp ult i64 %down, 8
  br i1 %others, label %row, label %end

end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!0 = !{}
