; Records that threads have looked up are added to in the block's own table where they lie among the first of the array,
; unless the launch has few blocks, and what a block adds from a shared table is left out where it is zero.
;
; RUN: %opt -passes=adgen-privatize-lookups,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=LENT

target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_exchange_moves.records = internal addrspace(3) global [1536 x float]

; CHECK-LABEL: define void @adgen_gradient_moves(
; CHECK:         [[MANY:%.*]] = icmp uge i32 {{.*}}, 32
; CHECK-NEXT:    [[LIMIT:%.*]] = select i1 [[MANY]], i64 6121, i64 0
; CHECK:         [[COUNT:%.*]] = select i1 {{%.*}}, i32 1536, i32 0
; CHECK:         [[ANY:%.*]] = icmp ne i32 {{%.*}}, 0
; CHECK-NEXT:    br i1 [[ANY]]
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[AT:%.*]] = sub i64 {{.*}}
; CHECK:         [[FIRST:%.*]] = add i64 [[AT]], 0
; CHECK:         [[AMONG:%.*]] = icmp ult i64 [[FIRST]], [[LIMIT]]
; CHECK-NEXT:    br i1 [[AMONG]], label %[[OWN:.*]], label %[[SHADOW:.*]]
; CHECK:       [[OWN]]:
; CHECK-NEXT:    %record = getelementptr i8, ptr addrspacecast (ptr addrspace(3) @adgen_exchange_moves.records to ptr), i64 [[AT]]
; CHECK-COUNT-6: atomicrmw fadd ptr
; CHECK:       [[SHADOW]]:
; CHECK-NEXT:    atomicrmw fadd ptr %base, float %v
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK:         fcmp {{.*}} float [[SUM]], 0.000000e+00
; CHECK:         atomicrmw fadd ptr
define void @adgen_gradient_moves(ptr %bones, i64 %i, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const" {
  %from = getelementptr i32, ptr %bones, i64 %i
  %bone = load i32, ptr %from
  %wide = sext i32 %bone to i64
  %base = getelementptr [6 x float], ptr %d_x, i64 %wide
  %p1 = getelementptr i8, ptr %base, i64 4
  %p2 = getelementptr i8, ptr %base, i64 8
  %p3 = getelementptr i8, ptr %base, i64 12
  %p4 = getelementptr i8, ptr %base, i64 16
  %p5 = getelementptr i8, ptr %base, i64 20
  %1 = atomicrmw fadd ptr %base, float %v monotonic, align 4
  %2 = atomicrmw fadd ptr %p1, float %v monotonic, align 4
  %3 = atomicrmw fadd ptr %p2, float %v monotonic, align 4
  %4 = atomicrmw fadd ptr %p3, float %v monotonic, align 4
  %5 = atomicrmw fadd ptr %p4, float %v monotonic, align 4
  %6 = atomicrmw fadd ptr %p5, float %v monotonic, align 4
  ret void
}

; To few numbers of a place only where the launch lends memory.
; LENT-LABEL: define void @adgen_gradient_gathers(
; LENT:         call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
; LENT:         %record = getelementptr i8, ptr addrspace(3) @adgen_lent_tables
define void @adgen_gradient_gathers(ptr %bones, i64 %i, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const" {
  %from = getelementptr i32, ptr %bones, i64 %i
  %bone = load i32, ptr %from
  %wide = sext i32 %bone to i64
  %base = getelementptr [6 x float], ptr %d_x, i64 %wide
  %p1 = getelementptr i8, ptr %base, i64 4
  %1 = atomicrmw fadd ptr %base, float %v monotonic, align 4
  %2 = atomicrmw fadd ptr %p1, float %v monotonic, align 4
  ret void
}

; A warp's sums at a place that follows from a division.
; CHECK-LABEL: define void @adgen_gradient_channels(
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[AMONG:%.*]] = icmp ult i64 {{.*}}, {{%.*}}
; CHECK-NEXT:    [[PLACE:%.*]] = select i1 [[AMONG]], ptr {{.*}}, ptr %place
; CHECK-NEXT:    store ptr [[PLACE]], ptr %places
; CHECK:         call void @adgen_add_warp_f32_1(ptr %places
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         atomicrmw fadd ptr
define void @adgen_gradient_channels(i32 %i, i32 %size, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const" {
  %places = alloca [1 x ptr]
  %values = alloca [1 x float]
  %channel = sdiv i32 %i, %size
  %wide = sext i32 %channel to i64
  %place = getelementptr float, ptr %d_x, i64 %wide
  store ptr %place, ptr %places
  store float %v, ptr %values
  call void @adgen_add_warp_f32_1(ptr %places, ptr %values, i32 -1, i32 -1, i1 false)
  ret void
}
declare void @adgen_add_warp_f32_1(ptr, ptr, i32, i32, i1)

; Not where the quotient is one of a number that counts all threads: it hardly comes back; its remainder does.
; CHECK-LABEL: define void @adgen_gradient_queries(
; CHECK:         store ptr %place, ptr %places
; CHECK:         select i1 {{.*}}, ptr {{.*}}, ptr %back
define void @adgen_gradient_queries(i32 %size, i32 %many, float %v, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="const:const:const:const" {
  %places = alloca [1 x ptr]
  %again = alloca [1 x ptr]
  %values = alloca [1 x float]
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %block, 128
  %i = add i32 %first, %thread
  %query = sdiv i32 %i, %size
  %wide = sext i32 %query to i64
  %place = getelementptr float, ptr %d_x, i64 %wide
  store ptr %place, ptr %places
  store float %v, ptr %values
  call void @adgen_add_warp_f32_1(ptr %places, ptr %values, i32 -1, i32 -1, i1 false)
  %channel = srem i32 %query, %many
  %index = sext i32 %channel to i64
  %back = getelementptr float, ptr %d_y, i64 %index
  store ptr %back, ptr %again
  call void @adgen_add_warp_f32_1(ptr %again, ptr %values, i32 -1, i32 -1, i1 false)
  ret void
}

; A table of the user's in shared memory.
; CHECK-LABEL: define void @adgen_gradient_tables(
; CHECK:         [[TAKEN:%.*]] = atomicrmw xchg ptr %mine
; CHECK-NEXT:    [[COUNTS:%.*]] = fcmp une float [[TAKEN]], 0.000000e+00
; CHECK-NEXT:    br i1 [[COUNTS]]
; CHECK:         atomicrmw fadd ptr %to, float [[TAKEN]]
define void @adgen_gradient_tables(ptr %bones, i64 %i, float %v, ptr %s, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const:const" "adgen-shared"="s" {
  %from = getelementptr i32, ptr %bones, i64 %i
  %bone = load i32, ptr %from
  %wide = sext i32 %bone to i64
  %place = getelementptr float, ptr %d_s, i64 %wide
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mine = getelementptr float, ptr %d_s, i64 %i
  %to = getelementptr float, ptr %d_x, i64 %i
  %2 = atomicrmw xchg ptr %mine, float 0.0 monotonic, align 4, !adgen.consumed !0
  %3 = atomicrmw fadd ptr %to, float %2 monotonic, align 4
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

!0 = !{}
