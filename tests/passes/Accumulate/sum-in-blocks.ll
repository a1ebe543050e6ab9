; Elements that all threads add to: each warp adds to a row of its own in shared memory, and the block adds the rows' sums once.
;
; RUN: %opt -passes=adgen-sum-in-blocks -S %s | %filecheck %s
; RUN: %opt -passes=adgen-sum-in-blocks,adgen-warp-aggregate-atomics -S %s | %filecheck %s --check-prefix=TOGETHER

target triple = "nvptx64-nvidia-cuda"

; A row for each of 32 warps, or for each of as many as the user's launch bounds allow.
; CHECK-DAG: @adgen_exchange_coefficients.warps = internal addrspace(3) global [32 x [4 x float]] undef
; CHECK-DAG: @adgen_exchange_coefficients.warps.double = internal addrspace(3) global [32 x [1 x double]] undef
; CHECK-DAG: @adgen_exchange_bounded.warps = internal addrspace(3) global [3 x [1 x float]] undef
; CHECK-DAG: @adgen_offsets = internal addrspace(1) constant [3 x i32] [i32 -4, i32 0, i32 8]
; CHECK-NOT: @adgen_exchange_{{(read|others|crowded_out)}}

; CHECK-LABEL: define void @adgen_gradient_coefficients(
; CHECK:         [[WARP:%.*]] = lshr i32 {{.*}}, 5
; CHECK-NEXT:    [[OWN:%.*]] = getelementptr inbounds [32 x [4 x float]], ptr addrspace(3) @adgen_exchange_coefficients.warps, i32 0, i32 [[WARP]], i32 0
; CHECK-NEXT:    [[ROW:%.*]] = addrspacecast ptr addrspace(3) [[OWN]] to ptr
; CHECK:         [[MORE:%.*]] = add i32 [[THREADS:%.*]], 31
; CHECK-NEXT:    [[HERE:%.*]] = lshr i32 [[MORE]], 5
; CHECK:         mul i32 [[HERE]], 4
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         store double 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:       lit:
; CHECK-NEXT:    [[FIRST:%.*]] = getelementptr inbounds float, ptr [[ROW]], i32 1
; CHECK-NEXT:    atomicrmw fadd ptr [[FIRST]], float %v monotonic, align 4, !adgen.warps.own
; CHECK:         [[LAST:%.*]] = getelementptr inbounds float, ptr [[ROW]], i32 3
; CHECK-NEXT:    atomicrmw fadd ptr [[LAST]], float %v monotonic
; What only one thread adds stays.
; CHECK:         atomicrmw fadd ptr %mine, float %v
; The last thread comes to the end as well as those that have returned early.
; CHECK:       end:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[MORE:%.*]] = add i32 {{.*}}, 31
; CHECK-NEXT:    [[HERE:%.*]] = lshr i32 [[MORE]], 5
; CHECK:         [[INDEX:%.*]] = phi i32 [ {{.*}}, %end ]
; CHECK-NEXT:    icmp ult i32 [[INDEX]], 3
; CHECK:       row:
; CHECK:         [[NUMBER:%.*]] = phi i32 [ 0, {{.*}} ], [ [[NEXT:%.*]], %row ]
; CHECK-NEXT:    [[SUM:%.*]] = phi float
; CHECK:         [[ALL:%.*]] = fadd float [[SUM]],
; CHECK:         icmp ult i32 [[NEXT]], [[HERE]]
; CHECK:         [[ANY:%.*]] = fcmp une float [[ALL]], 0.000000e+00
; CHECK:         [[ENTRY:%.*]] = getelementptr inbounds i32, ptr addrspace(1) @adgen_offsets, i32 [[INDEX]]
; CHECK-NEXT:    [[BYTES:%.*]] = load i32, ptr addrspace(1) [[ENTRY]]
; CHECK-NEXT:    [[FAR:%.*]] = sext i32 [[BYTES]] to i64
; CHECK-NEXT:    [[TO:%.*]] = getelementptr i8, ptr %d_light, i64 [[FAR]]
; CHECK-NEXT:    atomicrmw fadd ptr [[TO]], float [[ALL]] monotonic
; CHECK:         ret void

; The lanes add up, and nobody else adds to what they have.
; TOGETHER-LABEL: define void @adgen_gradient_coefficients(
; TOGETHER:       lit:
; TOGETHER:         call void @adgen_add_warp_f32_3(ptr {{.*}}, ptr {{.*}}, i32 [[ACTIVE:%.*]], i32 [[ACTIVE]], i1 true)
define void @adgen_gradient_coefficients(ptr %light, ptr %scale, ptr %gain, ptr %x, i32 %n, float %v, double %w, ptr "adgen-shadow" %d_light, ptr "adgen-shadow" %d_scale, ptr "adgen-shadow" %d_gain, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:duplicated:duplicated:duplicated:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp ult i32 %t, %n
  br i1 %in, label %lit, label %out
lit:
  %0 = atomicrmw fadd ptr %d_light, float %v monotonic
  %behind = getelementptr i8, ptr %d_light, i64 8
  %before = getelementptr i8, ptr %d_light, i64 -4
  %1 = atomicrmw fadd ptr %before, float %v monotonic
  %2 = atomicrmw fadd ptr %behind, float %v monotonic
  %3 = atomicrmw fadd ptr %d_scale, double %w monotonic
  br label %dark
dark:
  %4 = atomicrmw fadd ptr %d_gain, float %v monotonic
  %mine = getelementptr float, ptr %d_x, i32 %t
  %5 = atomicrmw fadd ptr %mine, float %v monotonic
  ret void
out:
  ret void
}

; Two additions to one element are not handed over together: lanes would meet there without atomics.
; TOGETHER-LABEL: define void @adgen_gradient_bounded(
; TOGETHER:         call void @adgen_add_warp_f32_1({{.*}}, i1 true)
; TOGETHER:         call void @adgen_add_warp_f32_1({{.*}}, i1 true)
define void @bounded(ptr %scale, float %v) "nvvm.maxntid"="72" {
  ret void
}
; CHECK-LABEL: define void @adgen_gradient_bounded(
; CHECK:         atomicrmw fadd ptr {{.*}}, float %v monotonic, align 4, !adgen.warps.own
; CHECK-NOT:     barrier
define void @adgen_gradient_bounded(ptr %scale, float %v, ptr "adgen-shadow" %d_scale, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %x, i32 %y, i32 %z) "adgen-activity"="duplicated:const" "adgen-tape"="scalars" "adgen-shared" {
  %1 = atomicrmw fadd ptr %d_scale, float %v monotonic
  %2 = atomicrmw fadd ptr %d_scale, float 1.0 monotonic
  ret void
}

; So are elements of arrays that a pointer in a struct by value leads to.
; CHECK-LABEL: define void @adgen_gradient_member(
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NOT:     atomicrmw fadd ptr %bias
; CHECK:       end:
; CHECK:         [[HELD:%.*]] = getelementptr i8, ptr %d_net, i64 8
; CHECK-NEXT:    [[BEGIN:%.*]] = load ptr, ptr [[HELD]]
; CHECK:         [[TO:%.*]] = getelementptr i8, ptr [[BEGIN]], i64
; CHECK-NEXT:    atomicrmw fadd ptr [[TO]],
define void @adgen_gradient_member(ptr "adgen-struct"="16" %net, float %v, ptr %d_net) "adgen-activity"="duplicated:const" "adgen-shared" {
  %held = getelementptr i8, ptr %d_net, i64 8
  %bias = load ptr, ptr %held
  %1 = atomicrmw fadd ptr %bias, float %v monotonic
  ret void
}

; Somebody reads what has been added so far.
; CHECK-LABEL: define void @adgen_gradient_read(
; CHECK-NEXT:    atomicrmw fadd ptr %d_scale, float %v monotonic
; CHECK-NEXT:    load float
; CHECK-NEXT:    ret void
define void @adgen_gradient_read(ptr %scale, float %v, ptr "adgen-shadow" %d_scale) "adgen-activity"="duplicated:const" "adgen-shared" {
  %1 = atomicrmw fadd ptr %d_scale, float %v monotonic
  %2 = load float, ptr %d_scale
  ret void
}

; Blocks add to elements of their own.
; CHECK-LABEL: define void @adgen_gradient_others(
; CHECK:         atomicrmw fadd ptr %place, float %v monotonic
; CHECK-NEXT:    ret void
define void @adgen_gradient_others(ptr %scale, float %v, ptr "adgen-shadow" %d_scale) "adgen-activity"="duplicated:const" "adgen-shared" {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %place = getelementptr float, ptr %d_scale, i32 %b
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  ret void
}

; Nothing is left of shared memory.
@tile = internal addrspace(3) global [6144 x float] undef
; CHECK-LABEL: define void @adgen_gradient_crowded_out(
; CHECK-NEXT:    atomicrmw fadd ptr %d_scale, float %v monotonic
; CHECK-NEXT:    ret void
define void @adgen_gradient_crowded_out(ptr %scale, float %v, ptr "adgen-shadow" %d_scale) "adgen-activity"="duplicated:const" "adgen-shared"="tile" {
  %1 = atomicrmw fadd ptr %d_scale, float %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; Threads that walk to several blocks zero and add once for all of them.
; CHECK-LABEL: define void @adgen_before_walk_bounded(
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NEXT:    ret void
; CHECK-LABEL: define void @adgen_behind_walk_bounded(
; CHECK-SAME:    ptr %0, float %1, ptr [[SHADOW:%2]],
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[TO:%.*]] = getelementptr i8, ptr [[SHADOW]], i64
; CHECK-NEXT:    atomicrmw fadd ptr [[TO]],
