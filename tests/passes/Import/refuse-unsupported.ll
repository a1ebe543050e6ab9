; What the gradient would get wrong, or what Enzyme would stop at, is refused by name with the line in the user's file; what merely looks
; like it is let through. One refusal a line on stderr, as JSON.
;
; RUN: %opt -passes=adgen-refuse-unsupported -disable-output %s 2>&1 | %filecheck %s --implicit-check-not=adgen-refusal
; RUN: %opt -passes=adgen-refuse-unsupported -S %s 2>/dev/null | %filecheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

; IR: @total = {{.*}}, !enzyme_inactive
@total = addrspace(1) global float 0.0
@points = addrspace(1) global [4 x { float, float }] zeroinitializer
@buffer = addrspace(1) global ptr null
@count = addrspace(1) global i32 0
; A variable with a shadow is none that is left out of the differentiation.
; IR: @active = {{.*}}, !enzyme_shadow [[SHADOW:![0-9]+]]{{$}}
; IR: @adgen_shadow_active
@active = addrspace(1) global float 0.0, !enzyme_shadow !{ptr addrspace(1) @adgen_shadow_active}
@adgen_shadow_active = addrspace(1) global float 0.0
; A shared array has a shadow.
; IR: @tile = {{.*}} undef{{$}}
@tile = internal addrspace(3) global [8 x float] undef

define ptx_kernel void @kernel(ptr %x, ptr %function) !dbg !10 {
  ret void
}

define ptx_kernel void @variables(ptr %x) {
  ret void
}

; Integers carry no derivative, and a variable with a shadow may be written.
define void @adgen_body_variables(ptr %x) "adgen-shared" !dbg !40 {
  %counted = atomicrmw add ptr addrspace(1) @count, i32 1 monotonic, !dbg !141
  store float 1.0, ptr addrspace(1) @active, !dbg !141
  %own = load ptr, ptr %x
  store float 1.0, ptr %own
; CHECK:      adgen-refusal: {{.*}}"hint":"give it one by activity, points=duplicated, or pass the array as a parameter"{{.*}}"reason":"cannot differentiate a write to the global variable 'points', which has no shadow"
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) @points, ptr %x, i64 8, i1 false), !dbg !141
; CHECK-NEXT: adgen-refusal: {{.*}}"reason":"cannot differentiate a write through a pointer in the global variable 'buffer', which has no shadow"
  %to = load ptr, ptr addrspace(1) @buffer, !dbg !141
  %element = getelementptr float, ptr %to, i64 1, !dbg !141
  store float 1.0, ptr %element, !dbg !141
  ret void
}

define ptx_kernel void @ranks(ptr %x) {
  ret void
}

; Of a grid of which only the rank is asked, nothing uses the workspace.
define void @adgen_body_ranks(ptr %x) "adgen-shared" {
  %unused = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  %wide = zext i32 %unused to i64
  %workspace = inttoptr i64 %wide to ptr
  %group = insertvalue { ptr } poison, ptr %workspace, 0
; CHECK-NEXT: adgen-refusal: {{.*}}"reason":"cannot differentiate a barrier of the whole grid (cooperative groups' this_grid().sync())"
  %used = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
  store i32 %used, ptr %x
  ret void
}

define void @adgen_body_kernel(ptr "adgen-layout"="4[0f4]" %x, ptr %function, ptr %tile) "adgen-shared"="tile" !dbg !20 {
; CHECK:      adgen-refusal: {"column":7,"entry":"kernel","file":"/home/u/k.cu","hint":"leave {{.*}}","line":11,"reason":"cannot differentiate a warp shuffle (__shfl_*)"}
  %shuffle = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float 1.0, i32 1, i32 31), !dbg !111
; CHECK-NEXT: adgen-refusal: {{.*}}"line":12,"reason":"cannot differentiate a warp vote (__any_sync, __all_sync, __ballot_sync)"
  %vote = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true), !dbg !112
; CHECK-NEXT: adgen-refusal: {{.*}}"line":13,"reason":"cannot differentiate a warp match (__match_*_sync)"
  %match = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 1), !dbg !113
; CHECK-NEXT: adgen-refusal: {{.*}}"line":14,"reason":"cannot differentiate a warp reduction (__reduce_*_sync) of the bits of floating point"
  %redux = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1), !dbg !114
; CHECK-NEXT: adgen-refusal: {{.*}}"line":15,"reason":"cannot differentiate a barrier other than __syncthreads()"
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1), !dbg !115
; CHECK-NEXT: adgen-refusal: {{.*}}"line":16,"reason":"cannot differentiate a texture read"
  %texture = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 0, i32 0), !dbg !116
; CHECK-NEXT: adgen-refusal: {{.*}}"line":17,"reason":"cannot differentiate a surface read"
  %surface = call i32 @llvm.nvvm.suld.1d.i32.trap(i64 0, i32 0), !dbg !117
; CHECK-NEXT: adgen-refusal: {{.*}}"line":18,"reason":"cannot differentiate a surface write"
  call void @llvm.nvvm.sust.b.1d.i32.trap(i64 0, i32 0, i32 0), !dbg !118
; CHECK-NEXT: adgen-refusal: {{.*}}"line":19,"reason":"cannot differentiate a Tensor Core operation (wmma)"
  call void @llvm.nvvm.wmma.m16n16k16.store.d.col.f32.p0(ptr %x, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0), !dbg !119
; CHECK-NEXT: adgen-refusal: {{.*}}"line":20,"reason":"cannot differentiate an asynchronous copy (cp.async)"
  call void @llvm.nvvm.cp.async.wait.all(), !dbg !120
; CHECK-NEXT: adgen-refusal: {{.*}}"line":21,"reason":"cannot differentiate an mbarrier"
  call void @llvm.nvvm.mbarrier.inval(ptr %x), !dbg !121
; CHECK-NEXT: adgen-refusal: {{.*}}"line":22,"reason":"cannot differentiate a call through a function pointer or a virtual function"
  call void %function(), !dbg !122
; CHECK-NEXT: adgen-refusal: {{.*}}"line":23,"reason":"cannot differentiate inline assembly (ex2.approx.f32 $0, $1)"
; Bytes of integers are counted with.
; IR: call i32 asm "vabsdiff4.u32.u32.u32.add $0,$1,$2,$3;", "=r,r,r,r"(i32 7, i32 5, i32 0) {{#[0-9]+}}, !dbg
  %bytes = call i32 asm "vabsdiff4.u32.u32.u32.add $0,$1,$2,$3;", "=r,r,r,r"(i32 7, i32 5, i32 0) memory(none), !dbg !123
  %assembly = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float 1.0), !dbg !123
; CHECK-NEXT: adgen-refusal: {{.*}}"line":23,"reason":"cannot differentiate a conversion of FP8 (cvt.rn.satfinite.e4m3x2.f32 t, $1, $2)"
  %narrow = call i16 asm "{ .reg .b16 t; cvt.rn.satfinite.e4m3x2.f32 t, $1, $2; mov.b16 $0, t; }", "=h,f,f"(float 1.0, float 2.0), !dbg !123
; CHECK-NEXT: adgen-refusal: {{.*}}"line":24,"reason":"cannot differentiate a barrier in inline assembly (bar.sync 0)"
  call void asm sideeffect "bar.sync 0;", ""(), !dbg !124
; CHECK-NEXT: adgen-refusal: {{.*}}"line":25,"reason":"cannot differentiate a write to the global variable 'total', which has no shadow"
  store float 1.0, ptr addrspace(1) @total, !dbg !125
; CHECK-NEXT: adgen-refusal: {{.*}}"line":26,"reason":"cannot differentiate a write to the global variable 'total', which has no shadow"
  %add = atomicrmw fadd ptr addrspace(1) @total, float 1.0 monotonic, !dbg !126
; CHECK-NEXT: adgen-refusal: {{.*}}"line":27,"reason":"cannot differentiate an atomic operation on floating point other than addition"
  %max = atomicrmw fmax ptr %x, float 1.0 monotonic, !dbg !127
; What a device function in line 90 does is blamed on the line of the kernel that calls it.
; CHECK-NEXT: adgen-refusal: {{.*}}"line":28,"reason":"cannot differentiate a warp shuffle (__shfl_*)"
  %inlined = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float 1.0, i32 1, i32 31), !dbg !128
; CHECK-NEXT: adgen-refusal: {{.*}}"line":29,"reason":"cannot differentiate a compare-and-swap of floating point that makes no sum, maximum or minimum, or whose value before is used"
  %swapped = cmpxchg ptr %x, i32 0, i32 1 monotonic monotonic, !dbg !130
; CHECK-NEXT: adgen-refusal: {{.*}}"line":29,"reason":"cannot differentiate an atomic operation of integers on the bits of floating point, such as a maximum"
  %largest = atomicrmw max ptr %x, i32 5 monotonic, !dbg !130
; CHECK-NEXT: adgen-refusal: {{.*}}"hint":"give it an array of integers of its own, as a parameter","line":29,"reason":"cannot differentiate a counter of integers in an array of floating point"
  %ticket = atomicrmw uinc_wrap ptr %x, i32 5 monotonic, !dbg !130
; CHECK-NEXT: adgen-refusal: {{.*}}"line":29,"reason":"cannot differentiate an exchange of floating point by atomics (atomicExch)"
  %before = atomicrmw xchg ptr %x, i32 5 monotonic, !dbg !130
; CHECK-NEXT: adgen-refusal: {{.*}}"hint":"the derivative by a factor is the product of all others{{.*}}"line":29,"reason":"cannot differentiate a product by atomics
  %factors = load i32, ptr %x
  %so.far = bitcast i32 %factors to float
  %times = fmul float %so.far, 3.0
  %product = bitcast float %times to i32
  %multiplied = cmpxchg ptr %x, i32 %factors, i32 %product monotonic monotonic, !dbg !130
; A function that is not inlined, as it calls itself, is looked into.
; CHECK-NEXT: adgen-refusal: {{.*}}"line":91,"reason":"cannot differentiate a warp vote
  call void @recursive(), !dbg !131
; Without a place in the code it is the place of the kernel.
; CHECK-NEXT: adgen-refusal: {"column":0,"entry":"kernel","file":"/home/u/k.cu",{{.*}}"line":10,
  %nowhere = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float 1.0, i32 1, i32 31)
  ret void
}

define void @recursive() !dbg !21 {
  %vote = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 true), !dbg !132
  call void @recursive(), !dbg !132
  ret void
}

define ptx_kernel void @ordered(ptr %partial, ptr %count) {
  ret void
}

; A counter and a fence tell which block is the last; it reads what the others wrote. What a thread itself keeps is no communication.
define void @adgen_body_ordered(ptr %partial, ptr "adgen-layout"="4[0i4]" %count) "adgen-shared" !dbg !50 {
  %own = alloca float
  store float 1.0, ptr %own
  %mine = load float, ptr %own
  %at = getelementptr float, ptr %partial, i64 1
  store float %mine, ptr %at
  call void @llvm.nvvm.membar.gl()
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  %last = icmp eq i32 %ticket, 7
; CHECK:      adgen-refusal: {{.*}}"line":51,"reason":"cannot differentiate reading what other threads have written in an order that atomics decide
  %read = load float, ptr %partial, !dbg !151
  ret void
}

; Without a fence, too, where nothing is asked of the counter but who is the last.
define ptx_kernel void @unfenced(ptr %partial, ptr %count) {
  ret void
}
define void @adgen_body_unfenced(ptr %partial, ptr "adgen-layout"="4[0i4]" %count, ptr %shared) "adgen-shared"="shared" {
  store float 1.0, ptr %partial
  %ticket = atomicrmw add ptr %count, i32 1 seq_cst
  store i32 %ticket, ptr %shared
  %asked = load i32, ptr %shared
  %last = icmp ugt i32 %asked, 7
; CHECK:      adgen-refusal: {{.*}}"entry":"unfenced",{{.*}}"reason":"cannot differentiate reading what other threads have written in an order that atomics decide
  %read = load float, ptr %partial
  ret void
}

; Without a fence the counter deals out places.
define ptx_kernel void @places(ptr %x, ptr %count) {
  ret void
}
define void @adgen_body_places(ptr %x, ptr "adgen-layout"="4[0i4]" %count) "adgen-shared" {
  %place = atomicrmw add ptr %count, i32 1 seq_cst
  %at = getelementptr float, ptr %x, i32 %place
  %old = load float, ptr %x
  store float %old, ptr %at
  ret void
}

; A thread that asks volatile memory until another one has written waits for it.
define ptx_kernel void @waiting(ptr %x) {
  ret void
}
define void @adgen_body_waiting(ptr %x) "adgen-shared" {
  br label %wait
wait:
; CHECK:      adgen-refusal: {{.*}}"entry":"waiting",{{.*}}"reason":"cannot differentiate waiting for what another thread writes
  %read = load volatile float, ptr %x
  %missing = fcmp olt float %read, 0.0
  br i1 %missing, label %wait, label %done
done:
  %own = getelementptr float, ptr %x, i64 1
  store float %read, ptr %own
  ret void
}

; Volatile memory that decides once, or decides nothing in a loop.
define ptx_kernel void @volatile(ptr %x) {
  ret void
}
define void @adgen_body_volatile(ptr %x) "adgen-shared" {
entry:
  %first = load volatile float, ptr %x
  %positive = fcmp ogt float %first, 0.0
  br i1 %positive, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %old = load volatile float, ptr %at
  %new = fmul float %old, 2.0
  store volatile float %new, ptr %at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 9
  br i1 %more, label %loop, label %done
done:
  ret void
}

define ptx_kernel void @harmless(ptr %x) {
  ret void
}

; Registers, fences, reading assembly, integer atomics, atomic addition, shared arrays: nothing to refuse.
; IR-LABEL: @adgen_body_harmless(
; IR: call i32 asm "mov.u32 $0, %laneid;", "=r"() [[INACTIVE:#[0-9]+]]
define void @adgen_body_harmless(ptr %x, ptr "adgen-layout"="4[0i4]" %counts, ptr %tile) "adgen-shared"="tile" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  call void @llvm.nvvm.membar.gl()
  %lane = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  %count = atomicrmw max ptr %counts, i32 1 monotonic
  %sum = atomicrmw fadd ptr %x, float 1.0 monotonic
  store i32 1, ptr addrspace(1) @total
  store float 1.0, ptr addrspace(3) @tile
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

declare void @adgen_rule_barrier(ptr)

; IR-DAG: attributes [[INACTIVE]] = { "enzyme_inactive" }
; IR-DAG: attributes {{#[0-9]+}} = { memory(none) "enzyme_inactive" }

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!10 = distinct !DISubprogram(name: "kernel", scope: !2, file: !2, line: 10, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!20 = distinct !DISubprogram(name: "kernel", scope: !2, file: !2, line: 10, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!21 = distinct !DISubprogram(name: "helper", scope: !2, file: !2, line: 89, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!40 = distinct !DISubprogram(name: "variables", scope: !2, file: !2, line: 40, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!50 = distinct !DISubprogram(name: "ordered", scope: !2, file: !2, line: 50, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!151 = !DILocation(line: 51, scope: !50)
!111 = !DILocation(line: 11, column: 7, scope: !20)
!141 = !DILocation(line: 41, scope: !40)
!112 = !DILocation(line: 12, scope: !20)
!113 = !DILocation(line: 13, scope: !20)
!114 = !DILocation(line: 14, scope: !20)
!115 = !DILocation(line: 15, scope: !20)
!116 = !DILocation(line: 16, scope: !20)
!117 = !DILocation(line: 17, scope: !20)
!118 = !DILocation(line: 18, scope: !20)
!119 = !DILocation(line: 19, scope: !20)
!120 = !DILocation(line: 20, scope: !20)
!121 = !DILocation(line: 21, scope: !20)
!122 = !DILocation(line: 22, scope: !20)
!123 = !DILocation(line: 23, scope: !20)
!124 = !DILocation(line: 24, scope: !20)
!125 = !DILocation(line: 25, scope: !20)
!126 = !DILocation(line: 26, scope: !20)
!127 = !DILocation(line: 27, scope: !20)
!128 = !DILocation(line: 90, scope: !21, inlinedAt: !129)
!129 = distinct !DILocation(line: 28, scope: !20)
!130 = !DILocation(line: 29, scope: !20)
!131 = !DILocation(line: 30, scope: !20)
!132 = !DILocation(line: 91, scope: !21)
