; Every body and gradient becomes a function SYMBOL__primal, SYMBOL__gradient, SYMBOL__tangent or SYMBOL__directions of (launch, arguments, result). A kernel's runs the grid's
; blocks in parallel, thread and block indices as arguments of the function of a thread. A block's threads run in a loop, or, where they wait
; for each other, on stacks of their own.
;
; RUN: %opt -passes=adgen-make-host-entries -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-make-host-entries -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal

target triple = "x86_64-pc-linux-gnu"

define void @adgen_body_k(ptr %x, i32 %n) "adgen-shared" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %nz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %gx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %warp = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  call void @llvm.nvvm.membar.gl()
  %s0 = add i32 %tx, %by
  %s1 = add i32 %s0, %nz
  %s2 = add i32 %s1, %gx
  %s3 = add i32 %s2, %warp
  %s4 = add i32 %s3, %lane
  store i32 %s4, ptr %x
  ret void
}

define void @adgen_gradient_k(ptr %x, i32 %n, ptr %d_x) "adgen-shared" "adgen-activity"="duplicated:const" {
  %a = atomicrmw fadd ptr %d_x, float 1.0 monotonic
  %b = atomicrmw add ptr %x, i32 1 monotonic
  %c = atomicrmw max ptr %x, i32 %n monotonic
  ret void
}

define void @adgen_gradient_structs(ptr "adgen-struct"="24" %arrays, ptr "adgen-struct"="8" %options, ptr %d_arrays, ptr %d_options) "adgen-shared" "adgen-activity"="duplicated:active" {
  ret void
}

define void @adgen_body_columns(ptr %x, ptr %y) "adgen-shared" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = mul i32 %nx, %bx
  %i = add i32 %begin, %tx
  %at = getelementptr i32, ptr %x, i32 %i
  store i32 %nx, ptr %at
  %wide.begin = zext i32 %begin to i64
  %wide.tx = zext i32 %tx to i64
  %j = add i64 %wide.tx, %wide.begin
  %to = getelementptr i32, ptr %y, i64 %j
  store i32 1, ptr %to
  ret void
}

define void @adgen_body_numbered(ptr %x) "adgen-shared" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = shl i32 %bx, 7
  %i = add i32 %begin, %tx
  store i32 %i, ptr %x
  ret void
}

define void @adgen_body_beside(ptr %x) "adgen-shared" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = mul i32 %bx, %nx
  %i = add i32 %begin, %tx
  %at = getelementptr i32, ptr %x, i32 %i
  store i32 %tx, ptr %at
  ret void
}

define void @adgen_body_by_block(ptr %x) "adgen-shared" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = mul i32 %bx, %nx
  %i = add i32 %begin, %tx
  %at = getelementptr i32, ptr %x, i32 %i
  store i32 %bx, ptr %at
  ret void
}

define void @adgen_body_twice(ptr %x) "adgen-shared" {
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %double = shl i32 %nx, 1
  %begin = mul i32 %bx, %double
  %i = add i32 %begin, %tx
  store i32 %i, ptr %x
  ret void
}

define void @adgen_body_f(ptr %x, double %y, ptr %0) "adgen-result" {
  ret void
}

define void @adgen_gradient_f(ptr "adgen-struct"="16" %s, ptr %d_s, double %0) "adgen-activity"="duplicated" {
  ret void
}

define void @adgen_directions_g(ptr %x, ptr "adgen-struct"="16" %s, ptr %d_x, ptr %d_s) "adgen-directions"="2" "adgen-tangent-activity"="duplicated:duplicated" {
  ret void
}

define void @adgen_tangent_f(ptr "adgen-struct"="16" %s, ptr %d_s, ptr %0) "adgen-result" "adgen-tangent-activity"="duplicated" {
  ret void
}

@text = internal constant [2 x i8] c"x\00"

define void @adgen_body_asserts(i1 %good, i1 %bad) "adgen-shared" {
  br i1 %good, label %checks, label %fails
fails:
  call void @__assertfail(ptr @text, ptr @text, i32 7, ptr @text, i64 1)
  br label %checks
checks:
  br i1 %bad, label %traps, label %end
traps:
  call void @llvm.trap()
  unreachable
end:
  ret void
}
declare void @__assertfail(ptr, ptr, i32, ptr, i64)

; What has no counterpart is refused, once an entry.
; REFUSED: adgen-refusal: {"column":0,"entry":"recursive",{{.*}}"reason":"on the openmp target a recursive function can't use thread indices, shared arrays or barriers"}
; REFUSED: adgen-refusal: {"column":9,"entry":"multiprocessor","file":"/home/u/k.cu",{{.*}}"line":5,"reason":"the openmp target has no counterpart of llvm.nvvm.read.ptx.sreg.smid"}

define void @adgen_body_recursive(ptr %x) "adgen-shared" {
  call void @down(ptr %x)
  ret void
}
define internal void @down(ptr %x) {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %tx, ptr %x
  call void @down(ptr %x)
  ret void
}

@tile = internal global [12 x float] undef, align 4
@other = internal global [5 x i8] undef
@dynamic = external global [0 x double], align 8

; Shared arrays without barriers: the block function asks for memory.
define void @adgen_body_shared(ptr %x, ptr %tile) "adgen-shared"="tile" {
  ret void
}

define void @adgen_gradient_together(ptr %x, ptr noalias %d_x, ptr %tile, ptr %other, ptr %dynamic, ptr %d_tile, ptr %d_other, ptr %d_dynamic) "adgen-shared"="tile:other:dynamic" "adgen-activity"="duplicated" {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)
  %any = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.count(i32 1, i32 64, i1 false)
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %any)
  %down = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float 2.0, i32 1, i32 31)
  %pair = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 7, i32 %count, i32 2, i32 31)
  %sum = call i32 @llvm.nvvm.redux.sync.add(i32 %count, i32 15)
  call void @llvm.nvvm.bar.warp.sync(i32 3)
  %lower = call i32 asm "mov.u32 $0, %lanemask_lt;", "=r"()
  store float %down, ptr %d_x
  ret void
}

; What was refused is left to be dropped, with its intrinsics.
; CHECK: define internal void @adgen_body_multiprocessor(
define void @adgen_body_multiprocessor(ptr %x) "adgen-shared" !dbg !4 {
  %m = call i32 @llvm.nvvm.read.ptx.sreg.smid(), !dbg !5
  store i32 %m, ptr %x
  ret void
}

; CHECK-LABEL: define internal void @adgen_body_k_thread(
; CHECK-SAME:    ptr %0, i32 %1, i32 [[TX:%[0-9]+]], i32 [[TY:%[0-9]+]], i32 [[TZ:%[0-9]+]], i32 [[BX:%[0-9]+]], i32 [[BY:%[0-9]+]], i32 [[BZ:%[0-9]+]], i32 [[NX:%[0-9]+]], i32 [[NY:%[0-9]+]], i32 [[NZ:%[0-9]+]], i32 [[GX:%[0-9]+]], i32 [[GY:%[0-9]+]], i32 [[GZ:%[0-9]+]]) [[INLINED:#[0-9]+]] {
; CHECK-NEXT:    [[PLANES:%.*]] = mul i32 [[NY]], [[TZ]]
; CHECK-NEXT:    [[ROWS:%.*]] = add i32 [[TY]], [[PLANES]]
; CHECK-NEXT:    [[BEFORE:%.*]] = mul i32 [[NX]], [[ROWS]]
; CHECK-NEXT:    [[LINEAR:%.*]] = add i32 [[TX]], [[BEFORE]]
; CHECK-NEXT:    [[LANE:%.*]] = and i32 [[LINEAR]], 31
; CHECK-NEXT:    fence seq_cst
; CHECK-NEXT:    %s0 = add i32 [[TX]], [[BY]]
; CHECK-NEXT:    %s1 = add i32 %s0, [[NZ]]
; CHECK-NEXT:    %s2 = add i32 %s1, [[GX]]
; CHECK-NEXT:    %s3 = add i32 %s2, 32
; CHECK-NEXT:    %s4 = add i32 %s3, [[LANE]]

; The launch holds the grid's extents, then the block's; each argument is a pointer to the value.
; CHECK-LABEL: define internal void @k__primal_blocks(
; CHECK-SAME:    ptr %0, ptr %1, i32 %2, i32 %3, i32 %4, i32 %5)
; CHECK:         [[AT3:%.*]] = getelementptr inbounds i32, ptr %0, i64 3
; CHECK-NEXT:    [[NX:%.*]] = load i32, ptr [[AT3]]
; CHECK:         [[AT5:%.*]] = getelementptr inbounds i32, ptr %0, i64 5
; CHECK-NEXT:    [[NZ:%.*]] = load i32, ptr [[AT5]]
; CHECK:         [[AT0:%.*]] = getelementptr inbounds i32, ptr %0, i64 0
; CHECK-NEXT:    [[GX:%.*]] = load i32, ptr [[AT0]]
; CHECK:         [[WIDTH:%.*]] = select i1 false, i32 {{%.*}}, i32 [[NX]]
; CHECK-NEXT:    [[BLOCKS:%.*]] = select i1 false, i32 1, i32 %5
; CHECK:         [[NUMBER:%.*]] = phi i32 [ 0, %entry ]
; CHECK:         [[SLOT0:%.*]] = getelementptr inbounds ptr, ptr %1, i64 0
; CHECK-NEXT:    [[ADDRESS0:%.*]] = load ptr, ptr [[SLOT0]]
; CHECK-NEXT:    [[X:%.*]] = load ptr, ptr [[ADDRESS0]]
; CHECK-NEXT:    [[SLOT1:%.*]] = getelementptr inbounds ptr, ptr %1, i64 1
; CHECK-NEXT:    [[ADDRESS1:%.*]] = load ptr, ptr [[SLOT1]]
; CHECK-NEXT:    [[N:%.*]] = load i32, ptr [[ADDRESS1]]
; The innermost loop runs over x, as warps do.
; CHECK:         [[Z:%.*]] = phi i32 [ 0, %thread ]
; CHECK:         [[Y:%.*]] = phi i32 [ 0, %thread1 ]
; CHECK:         [[T:%.*]] = phi i32 [ 0, %thread2 ], [ [[NEXT:%.*]], %thread3 ]
; CHECK-NEXT:    [[BX:%.*]] = add i32 %2, [[NUMBER]]
; CHECK-NEXT:    call void @adgen_body_k_thread(ptr [[X]], i32 [[N]], i32 [[T]], i32 [[Y]], i32 [[Z]], i32 [[BX]], i32 %3, i32 %4, i32 [[NX]], i32 {{%[0-9]+}}, i32 [[NZ]], i32 [[GX]], i32 {{%[0-9]+}}, i32 {{%[0-9]+}})
; CHECK-NEXT:    [[NEXT]] = add nuw nsw i32 [[T]], 1
; CHECK-NEXT:    [[MORE:%.*]] = icmp ult i32 [[NEXT]], [[WIDTH]]
; CHECK-NEXT:    br i1 [[MORE]], label %thread3, label %done
; Its threads ask for more than their column, so blocks beside each other come one after another.
; CHECK:         [[BLOCK:%.*]] = add nuw nsw i32 [[NUMBER]], 1
; CHECK-NEXT:    icmp ult i32 [[BLOCK]], [[BLOCKS]]

; CHECK-LABEL: define i32 @k__primal(ptr %0, ptr %1, ptr %2)
; CHECK:         [[CODE:%.*]] = call i32 @adgen_run_blocks(ptr %0, ptr @k__primal_blocks, ptr @k__primal_blocks, i64 0, ptr null, ptr %1)
; CHECK-NEXT:    ret i32 [[CODE]]

; Where only one thread runs, additions need not be atomic.
; CHECK-LABEL: define internal void @adgen_gradient_k_thread_alone(
; CHECK-NEXT:    [[OLD:%.*]] = load float, ptr %2
; CHECK-NEXT:    [[SUM:%.*]] = fadd reassoc nsz contract float [[OLD]], 1.0
; CHECK-NEXT:    store float [[SUM]], ptr %2
; CHECK-NEXT:    [[COUNT:%.*]] = load i32, ptr %0
; CHECK-NEXT:    [[INCREASED:%.*]] = add i32 [[COUNT]], 1
; CHECK-NEXT:    store i32 [[INCREASED]], ptr %0
; CHECK-NEXT:    %c = atomicrmw max
; CHECK:       define i32 @k__gradient(
; CHECK:         call i32 @adgen_run_blocks(ptr %0, ptr @k__gradient_blocks, ptr @k__gradient_blocks_alone, i64 -1, ptr null, ptr %1)

; Each thread has a copy of a struct, made anew for every thread. A duplicated struct's shadow is a struct, an active one's an array.
; CHECK-LABEL: define internal void @structs__gradient_blocks(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    [[COPY2:%.*]] = alloca [24 x i8], align 16
; CHECK-NEXT:    [[COPY1:%.*]] = alloca [8 x i8], align 16
; CHECK-NEXT:    [[COPY0:%.*]] = alloca [24 x i8], align 16
; CHECK:         [[AT0:%.*]] = getelementptr inbounds ptr, ptr %1, i64 0
; CHECK-NEXT:    [[ARRAYS:%.*]] = load ptr, ptr [[AT0]]
; CHECK-NEXT:    [[AT1:%.*]] = getelementptr inbounds ptr, ptr %1, i64 1
; CHECK-NEXT:    [[OPTIONS:%.*]] = load ptr, ptr [[AT1]]
; CHECK-NEXT:    [[AT2:%.*]] = getelementptr inbounds ptr, ptr %1, i64 2
; CHECK-NEXT:    [[D_ARRAYS:%.*]] = load ptr, ptr [[AT2]]
; CHECK:         [[SLOT3:%.*]] = getelementptr inbounds ptr, ptr %1, i64 3
; CHECK-NEXT:    [[ADDRESS3:%.*]] = load ptr, ptr [[SLOT3]]
; CHECK-NEXT:    [[D_OPTIONS:%.*]] = load ptr, ptr [[ADDRESS3]]
; CHECK:       thread3:
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr align 16 [[COPY0]], ptr align 1 [[ARRAYS]], i64 24, i1 false)
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 16 [[COPY1]], ptr align 1 [[OPTIONS]], i64 8, i1 false)
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 16 [[COPY2]], ptr align 1 [[D_ARRAYS]], i64 24, i1 false)
; CHECK:         call void @adgen_gradient_structs_thread(ptr [[COPY0]], ptr [[COPY1]], ptr [[COPY2]], ptr [[D_OPTIONS]], i32

; Threads that ask for their column only: blocks beside each other are one wide block.
; CHECK-LABEL: define internal void @columns__primal_blocks(
; CHECK:         [[AT3:%.*]] = getelementptr inbounds i32, ptr %0, i64 3
; CHECK-NEXT:    [[NX:%.*]] = load i32, ptr [[AT3]]
; CHECK:         [[ALL:%.*]] = mul i32 [[NX]], %5
; CHECK-NEXT:    [[WIDTH:%.*]] = select i1 true, i32 [[ALL]], i32 [[NX]]
; CHECK-NEXT:    [[BLOCKS:%.*]] = select i1 true, i32 1, i32 %5
; CHECK:         icmp ult i32 {{%.*}}, [[WIDTH]]
; CHECK:         icmp ult i32 {{%.*}}, [[BLOCKS]]

; Where the file writes a number for the width of a block, that is asked.
; CHECK-LABEL: define internal void @numbered__primal_blocks(
; CHECK:         [[NX:%.*]] = load i32
; CHECK:         [[SAME:%.*]] = icmp eq i32 [[NX]], 128
; CHECK-NEXT:    [[IS:%.*]] = and i1 true, [[SAME]]
; CHECK-NEXT:    [[ALL:%.*]] = mul i32 [[NX]], %5
; CHECK-NEXT:    [[WIDTH:%.*]] = select i1 [[IS]], i32 [[ALL]], i32 [[NX]]
; CHECK-NEXT:    [[BLOCKS:%.*]] = select i1 [[IS]], i32 1, i32 %5
; CHECK:         icmp ult i32 {{%.*}}, [[WIDTH]]
; CHECK:         icmp ult i32 {{%.*}}, [[BLOCKS]]

; Not those that ask for their place in the block as well, or for the block's, or whose place is counted from elsewhere.
; CHECK-LABEL: define internal void @beside__primal_blocks(
; CHECK:         select i1 false, i32 1, i32 %5
; CHECK-LABEL: define internal void @by_block__primal_blocks(
; CHECK:         select i1 false, i32 1, i32 %5
; CHECK-LABEL: define internal void @twice__primal_blocks(
; CHECK:         select i1 false, i32 1, i32 %5

; A function is called once; what it returns goes where the caller wants it, and exceptions end in the runtime.
; CHECK-LABEL: define internal void @f__primal_call(ptr %0, ptr %1)
; CHECK:         [[Y:%.*]] = load double
; CHECK-NEXT:    call void @adgen_body_f(ptr {{%[0-9]+}}, double [[Y]], ptr %1)
; CHECK-LABEL: define i32 @f__primal(ptr %0, ptr %1, ptr %2)
; CHECK:         call i32 @adgen_run_function(ptr @f__primal_call, i32 0, i64 0, i64 0, ptr %1, ptr %2)

; Structs are passed by their address, shadows of structs too; the cotangent is the last argument's value.
; CHECK-LABEL: define internal void @f__gradient_call(ptr %0, ptr %1)
; CHECK:         [[S:%.*]] = load ptr
; CHECK:         [[D_S:%.*]] = load ptr
; CHECK:         [[SLOT2:%.*]] = getelementptr inbounds ptr, ptr %0, i64 2
; CHECK-NEXT:    [[ADDRESS2:%.*]] = load ptr, ptr [[SLOT2]]
; CHECK-NEXT:    [[COTANGENT:%.*]] = load double, ptr [[ADDRESS2]]
; CHECK-NEXT:    call void @adgen_gradient_f(ptr [[S]], ptr [[D_S]], double [[COTANGENT]])

; Along several directions each parameter has its tangents behind one pointer, those of a struct that holds pointers where the struct's would be.
; CHECK-LABEL: define internal void @g__directions_call(ptr %0, ptr %1)
; CHECK:         [[X:%.*]] = load ptr, ptr {{%.*}}
; CHECK:         [[G:%.*]] = load ptr, ptr {{%.*}}
; CHECK:         getelementptr inbounds ptr, ptr %0, i64 2
; CHECK-NEXT:    [[AT0:%.*]] = load ptr
; CHECK-NEXT:    [[D_X:%.*]] = load ptr, ptr [[AT0]]
; CHECK-NEXT:    getelementptr inbounds ptr, ptr %0, i64 3
; CHECK-NEXT:    [[D_S:%.*]] = load ptr
; CHECK-NEXT:    call void @adgen_directions_g(ptr {{%.*}}, ptr {{%.*}}, ptr [[D_X]], ptr [[D_S]])
; CHECK: define i32 @g__directions(ptr %0, ptr %1, ptr %2)

; What carries tangents stores the tangent of the result through its last argument.
; CHECK-LABEL: define internal void @f__tangent_call(ptr %0, ptr %1)
; CHECK: call void @adgen_tangent_f(ptr {{%.*}}, ptr {{%.*}}, ptr %1)
; CHECK: define i32 @f__tangent(ptr %0, ptr %1, ptr %2)

; A failed assertion or a trap ends the thread with a report, not the process.
; CHECK-LABEL: define internal void @adgen_body_asserts_thread(
; CHECK:       fails:
; CHECK-NEXT:    call void @adgen_assertion_failed(ptr @text, ptr @text, i32 7)
; CHECK-NEXT:    ret void
; CHECK:       traps:
; CHECK-NEXT:    call void @adgen_trapped()
; CHECK-NEXT:    ret void

; CHECK-LABEL: define internal void @shared__primal_blocks(
; CHECK:         phi i32 [ 0, %entry ]
; CHECK:         [[MEMORY:%.*]] = call ptr @adgen_shared_memory(ptr %0, i64 48, i32 0)
; CHECK-NEXT:    [[NONE:%.*]] = icmp eq ptr [[MEMORY]], null
; CHECK-NEXT:    br i1 [[NONE]], label %nothing, label %enough

; The runtime's handle of the thread comes last, and no pointer is known to alias nothing: others store behind barriers.
; CHECK-LABEL: define internal void @adgen_gradient_together_thread(
; CHECK-SAME:    ptr %0, ptr %1, {{.*}}, ptr [[HANDLE:%[0-9]+]])
; CHECK-NEXT:    call void @adgen_barrier(ptr [[HANDLE]], i32 0, i32 0)
; CHECK-NEXT:    [[COUNT:%.*]] = call i32 @adgen_barrier_popc(ptr [[HANDLE]], i32 0, i32 0, i32 1)
; CHECK-NEXT:    [[OR:%.*]] = call i32 @adgen_barrier_or(ptr [[HANDLE]], i32 1, i32 64, i32 0)
; CHECK-NEXT:    [[ANY:%.*]] = icmp ne i32 [[OR]], 0
; CHECK-NEXT:    [[V:%.*]] = zext i1 [[ANY]] to i64
; CHECK-NEXT:    [[VOTE:%.*]] = call i64 @adgen_warp_vote_all(ptr [[HANDLE]], i32 -1, i64 [[V]], i32 0, i32 0)
; CHECK-NEXT:    trunc i64 [[VOTE]] to i1
; CHECK-NEXT:    [[SHUFFLE:%.*]] = call i64 @adgen_warp_shfl_down(ptr [[HANDLE]], i32 -1, i64 1073741824, i32 1, i32 31)
; CHECK-NEXT:    [[BITS:%.*]] = trunc i64 [[SHUFFLE]] to i32
; CHECK-NEXT:    [[DOWN:%.*]] = bitcast i32 [[BITS]] to float
; CHECK:         call i64 @adgen_warp_shfl_idx(ptr [[HANDLE]], i32 7, i64 {{%.*}}, i32 2, i32 31)
; CHECK:         insertvalue { i32, i1 }
; CHECK:         call i64 @adgen_warp_redux_add(ptr [[HANDLE]], i32 15,
; CHECK:         call i64 @adgen_warp_barrier(ptr [[HANDLE]], i32 3, i64 0, i32 0, i32 0)
; CHECK-NOT:     asm
; CHECK:         store float [[DOWN]], ptr %1

; Static arrays, then the dynamic ones, then their shadows in the same order.
; CHECK-LABEL: define internal void @together__gradient_each(
; CHECK:         getelementptr inbounds i8, ptr %2, i64 0
; CHECK-NEXT:    getelementptr inbounds i8, ptr %2, i64 48
; CHECK-NEXT:    getelementptr inbounds i8, ptr %2, i64 64
; CHECK-NEXT:    [[AT:%.*]] = getelementptr inbounds i8, ptr %0, i64 24
; CHECK-NEXT:    [[DYNAMIC:%.*]] = load i64, ptr [[AT]]
; CHECK-NEXT:    [[UP:%.*]] = add i64 [[DYNAMIC]], 63
; CHECK-NEXT:    [[PADDED:%.*]] = and i64 [[UP]], -64
; CHECK-NEXT:    [[BYTES:%.*]] = add i64 [[PADDED]], 64
; CHECK-NEXT:    [[SHADOWS:%.*]] = getelementptr inbounds i8, ptr %2, i64 [[BYTES]]
; CHECK:         call void @adgen_gradient_together_thread(
; CHECK:         call i32 @adgen_run_cooperative(ptr %0, ptr @together__gradient_cooperative, ptr %1)

; CHECK-NOT: @multiprocessor__
; CHECK-NOT: @recursive__

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "multiprocessor", scope: !2, file: !2, line: 4, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 5, column: 9, scope: !4)
