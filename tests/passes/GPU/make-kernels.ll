; Every gradient becomes a kernel SYMBOL__gradient, and what carries tangents a kernel SYMBOL__tangent, of the primal's parameters and the shadows. Nothing else is seen from outside.
;
; RUN: %opt -passes=adgen-make-kernels -S %s | %filecheck %s

target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; A shadow is a global of its own, without dots, which PTX does not allow in names, and aligned to the widest word. So is the region that
; the launch sizes.
; CHECK: @tile = internal addrspace(3) global [64 x float]
; CHECK: @region = external addrspace(3) global [0 x float], align 16
; CHECK: @other_region = external addrspace(3) global [0 x double], align 16
; The shadow of an array that fills all banks of shared memory is longer, so that the next one begins at another bank.
; CHECK: @adgen_shadow_static_tile = internal addrspace(3) global [272 x i8] undef, align 16
; CHECK: @adgen_shadow_static_k_cells = internal addrspace(3) global [3 x i8] undef, align 16
; An array whose shadow nobody uses has none.
; CHECK-NOT: @adgen_shadow_static_table
@tile = internal addrspace(3) global [64 x float] undef, align 4
@table = internal addrspace(3) global [8 x float] undef, align 4
@k.cells = internal addrspace(3) global [3 x i8] undef, align 1
@region = external addrspace(3) global [0 x float]
@other_region = external addrspace(3) global [0 x double]

; CHECK: define ptx_kernel void @plain(
define ptx_kernel void @plain(ptr %x, float %alpha) "target-cpu"="sm_90" "nvvm.maxntid"="128" "nvvm.minctasm"="4" {
  ret void
}

; A body that nobody calls goes.
; CHECK-NOT: @adgen_body_plain
define void @adgen_body_plain(ptr %x, float %alpha) "adgen-shared" {
  ret void
}

; CHECK: define internal void @adgen_gradient_plain({{.*}}) [[INLINED:#[0-9]+]]
define void @adgen_gradient_plain(ptr %x, float %alpha, ptr %d_x, ptr %d_alpha) "adgen-shared" "adgen-activity"="duplicated:active" {
  ret void
}

define void @adgen_tangent_plain(ptr %x, float %alpha, ptr %d_x, ptr %d_alpha) "adgen-shared" "adgen-tangent-activity"="duplicated:active" {
  ret void
}

define ptx_kernel void @static(ptr %x) {
  ret void
}

define void @adgen_gradient_static(ptr %x, ptr %d_x, ptr %tile, ptr %cells, ptr %table, ptr %d_tile, ptr %d_cells, ptr %d_table) "adgen-shared"="tile:k.cells:table" "adgen-activity"="duplicated" {
  store float 1.0, ptr %d_tile
  store i8 1, ptr %d_cells
  ret void
}

define ptx_kernel void @dynamic(ptr %x) {
  ret void
}

define void @adgen_gradient_dynamic(ptr %x, ptr %d_x, ptr %a, ptr %b, ptr %d_a, ptr %d_b) "adgen-shared"="region:other_region" "adgen-activity"="duplicated" {
  ret void
}

define ptx_kernel void @structs(ptr byval([24 x i8]) align 8 %arrays, ptr byval([8 x i8]) align 4 %options, ptr %x) {
  ret void
}

define void @adgen_gradient_structs(ptr "adgen-struct"="24" %arrays, ptr "adgen-struct"="8" %options, ptr %x, ptr %d_arrays, ptr %d_options) "adgen-shared" "adgen-activity"="duplicated:active:const" {
  %at = getelementptr ptr, ptr %arrays, i64 1
  %array = load ptr, ptr %at
  store float 0.0, ptr %options
  %chosen = select i1 poison, ptr %d_arrays, ptr %x
  store float 0.0, ptr %chosen
  ret void
}

; CHECK: define internal void @helper()
define void @helper() {
  ret void
}

; The kernel's limits hold for the gradient.
; CHECK: define ptx_kernel void @plain__gradient(ptr %0, float %1, ptr %2, ptr %3) [[PLAIN:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   call void @adgen_gradient_plain(ptr %0, float %1, ptr %2, ptr %3)
; CHECK-NEXT:   ret void
; CHECK: define ptx_kernel void @plain__tangent(ptr %0, float %1, ptr %2, ptr %3)
; CHECK-NEXT: entry:
; CHECK-NEXT:   call void @adgen_tangent_plain(ptr %0, float %1, ptr %2, ptr %3)

; All threads of the block zero each shadow once, in the widest words that divide it, from their linear index on, and wait before anybody adds to it.
; CHECK: define ptx_kernel void @static__gradient(ptr %0, ptr %1)
; CHECK:        [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NEXT:   [[Y:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
; CHECK-NEXT:   [[Z:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
; CHECK-NEXT:   [[NX:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK-NEXT:   [[NY:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
; CHECK-NEXT:   [[PLANES:%.*]] = mul i32 [[NY]], [[Z]]
; CHECK-NEXT:   [[ROWS:%.*]] = add i32 [[Y]], [[PLANES]]
; CHECK-NEXT:   [[BEFORE:%.*]] = mul i32 [[NX]], [[ROWS]]
; CHECK-NEXT:   [[FIRST:%.*]] = add i32 [[X]], [[BEFORE]]
; CHECK-NEXT:   [[WIDTH:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK-NEXT:   [[HEIGHT:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
; CHECK-NEXT:   [[DEPTH:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
; CHECK-NEXT:   [[PLANE:%.*]] = mul i32 [[HEIGHT]], [[DEPTH]]
; CHECK-NEXT:   [[STEP:%.*]] = mul i32 [[WIDTH]], [[PLANE]]
; CHECK:      zero:
; CHECK-NEXT:   [[WORD:%.*]] = phi i32 [ [[FIRST]], %entry ], [ [[NEXT:%.*]], %zero.word ]
; CHECK-NEXT:   [[INSIDE:%.*]] = icmp ult i32 [[WORD]], 16
; CHECK-NEXT:   br i1 [[INSIDE]], label %zero.word, label %zeroed
; CHECK:      zero.word:
; CHECK-NEXT:   [[WIDE:%.*]] = zext i32 [[WORD]] to i64
; CHECK-NEXT:   [[AT:%.*]] = getelementptr <4 x i32>, ptr addrspacecast (ptr addrspace(3) @adgen_shadow_static_tile to ptr), i64 [[WIDE]]
; CHECK-NEXT:   store <4 x i32> zeroinitializer, ptr [[AT]], align 16
; CHECK-NEXT:   [[NEXT]] = add i32 [[WORD]], [[STEP]]
; CHECK:        icmp ult i32 {{.*}}, 3
; CHECK:        getelementptr i8, ptr addrspacecast (ptr addrspace(3) @adgen_shadow_static_k_cells to ptr)
; CHECK-NEXT:   store i8 0
; CHECK:        call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:   call void @adgen_gradient_static(ptr %0, ptr %1, ptr addrspacecast (ptr addrspace(3) @tile to ptr), ptr addrspacecast (ptr addrspace(3) @k.cells to ptr), ptr addrspacecast (ptr addrspace(3) @table to ptr), ptr addrspacecast (ptr addrspace(3) @adgen_shadow_static_tile to ptr), ptr addrspacecast (ptr addrspace(3) @adgen_shadow_static_k_cells to ptr), ptr poison)
; CHECK-NEXT:   ret void

; The last parameter is the primal's dynamic size. The shadow lies behind it, at a multiple of 16 bytes; both arrays are the same
; region, so it is zeroed once.
; CHECK: define ptx_kernel void @dynamic__gradient(ptr %0, ptr %1, i32 %2)
; CHECK:        [[UP:%.*]] = add i32 %2, 15
; CHECK-NEXT:   [[SIZE:%.*]] = and i32 [[UP]], -16
; CHECK-NEXT:   [[WIDE_SIZE:%.*]] = zext i32 [[SIZE]] to i64
; CHECK-NEXT:   [[SHADOW:%.*]] = getelementptr i8, ptr addrspacecast (ptr addrspace(3) @region to ptr), i64 [[WIDE_SIZE]]
; CHECK:        [[WORDS:%.*]] = lshr i32 [[SIZE]], 4
; CHECK:        icmp ult i32 {{.*}}, [[WORDS]]
; CHECK:        store <4 x i32> zeroinitializer
; CHECK-NOT:    store
; CHECK:        [[OTHER:%.*]] = getelementptr i8, ptr addrspacecast (ptr addrspace(3) @other_region to ptr), i64
; CHECK-NEXT:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:   call void @adgen_gradient_dynamic(ptr %0, ptr %1, ptr addrspacecast (ptr addrspace(3) @region to ptr), ptr addrspacecast (ptr addrspace(3) @other_region to ptr), ptr [[SHADOW]], ptr [[OTHER]])

; Each thread has a copy of its own of a struct that its adjoint changes, or may; one that it only reads is read where the kernel has it. The
; shadow of one that holds pointers is a struct too, that of an active one is an array.
; CHECK: define ptx_kernel void @structs__gradient(ptr byval([24 x i8]) align 8 %0, ptr byval([8 x i8]) align 4 %1, ptr %2, ptr byval([24 x i8]) align 8 %3, ptr %4)
; CHECK-COUNT-2: alloca
; CHECK-NEXT:   call void @llvm.memcpy.p0.p0.i64(ptr align 4 [[OPTIONS:%.*]], ptr align 4 %1, i64 8, i1 false)
; CHECK-NEXT:   call void @llvm.memcpy.p0.p0.i64(ptr align 8 [[D_ARRAYS:%.*]], ptr align 8 %3, i64 24, i1 false)
; CHECK-NEXT:   call void @adgen_gradient_structs(ptr %0, ptr [[OPTIONS]], ptr %2, ptr [[D_ARRAYS]], ptr %4)

; A gradient with a tape walks over the blocks of the grid; what its threads do before the first and behind the last one is called there.
; CHECK-LABEL: define ptx_kernel void @walks__gradient(
; CHECK-SAME:    ptr [[X:%0]], ptr [[SHADOW:%1]], ptr {{.*}}, i64 {{.*}}, i32 [[GX:%.*]], i32 [[GY:%.*]], i32 [[GZ:%.*]])
; CHECK:         call void @adgen_before_walk_walks(ptr [[X]], ptr [[SHADOW]], i64 poison, ptr poison, i32 poison, i32 poison, i32 poison, i32 [[GX]], i32 [[GY]], i32 [[GZ]])
; CHECK-NEXT:    br label %block
; CHECK:       block:
; CHECK:         call void @adgen_gradient_walks(ptr [[X]], ptr [[SHADOW]],
; CHECK:         br i1 {{.*}}, label %block, label %done
; CHECK:       done:
; CHECK-NEXT:    call void @adgen_behind_walk_walks(ptr [[X]], ptr [[SHADOW]], i64 poison, ptr poison, i32 poison, i32 poison, i32 poison, i32 [[GX]], i32 [[GY]], i32 [[GZ]])
; CHECK-NEXT:    ret void

; Without a tape, blocks walk along x; those beyond the step have nothing to do.
; CHECK-LABEL: define ptx_kernel void @strides__gradient(
; CHECK-SAME:    ptr [[X:%0]], ptr [[SHADOW:%1]])
; CHECK:         [[OWN:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK:         [[ALL:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
; CHECK:         call i32 @llvm.nvvm.read.ptx.sreg.nsmid()
; CHECK:         [[STEP:%.*]] = select i1
; CHECK-NEXT:    [[WALKS:%.*]] = icmp ult i32 [[OWN]], [[STEP]]
; CHECK-NEXT:    br i1 [[WALKS]], label %walk, label %done
; CHECK:       walk:
; CHECK-NEXT:    call void @adgen_before_walk_strides(ptr [[X]], ptr [[SHADOW]], i32 poison)
; CHECK:       block:
; CHECK-NEXT:    [[BLOCK:%.*]] = phi i32 [ [[OWN]], %walk ], [ [[NEXT:%.*]], %block ]
; CHECK-NEXT:    call void @adgen_gradient_strides(ptr [[X]], ptr [[SHADOW]], i32 [[BLOCK]])
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NEXT:    [[NEXT]] = add nuw i32 [[BLOCK]], [[STEP]]
; CHECK-NEXT:    [[MORE:%.*]] = icmp ult i32 [[NEXT]], [[ALL]]
; CHECK-NEXT:    br i1 [[MORE]], label %block, label %walked
; CHECK:       walked:
; CHECK-NEXT:    call void @adgen_behind_walk_strides(ptr [[X]], ptr [[SHADOW]], i32 poison)

; CHECK-DAG: attributes [[INLINED]] = { alwaysinline {{.*}}}
; CHECK-DAG: attributes [[PLAIN]] = { "adgen-activity"="duplicated:active" "adgen-shared" "nvvm.maxntid"="128" "nvvm.minctasm"="4" "target-cpu"="sm_90" }

define ptx_kernel void @walks(ptr %x) {
  ret void
}

define void @adgen_gradient_walks(ptr %x, ptr %d_x, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %gx, i32 %gy, i32 %gz) "adgen-activity"="duplicated" "adgen-shared" "adgen-tape"="scalars" "adgen_before_walk"="adgen_before_walk_walks" "adgen_behind_walk"="adgen_behind_walk_walks" {
  ret void
}

define void @adgen_before_walk_walks(ptr %x, ptr %d_x, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %gx, i32 %gy, i32 %gz) {
  ret void
}

define void @adgen_behind_walk_walks(ptr %x, ptr %d_x, i64 %bytes, ptr %tape, i32 %bx, i32 %by, i32 %bz, i32 %gx, i32 %gy, i32 %gz) {
  ret void
}

define ptx_kernel void @strides(ptr %x) {
  ret void
}

define void @adgen_gradient_strides(ptr %x, ptr %d_x, i32 %block) "adgen-activity"="duplicated" "adgen-shared" "adgen-walk" "adgen_before_walk"="adgen_before_walk_strides" "adgen_behind_walk"="adgen_behind_walk_strides" {
  ret void
}

define void @adgen_before_walk_strides(ptr %x, ptr %d_x, i32 %block) {
  ret void
}

define void @adgen_behind_walk_strides(ptr %x, ptr %d_x, i32 %block) {
  ret void
}
