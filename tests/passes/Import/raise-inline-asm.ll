; Inline PTX of plain arithmetic becomes instructions; what is not understood stays as it is, as a whole.
;
; RUN: %opt -passes='adgen-raise-inline-asm,dce' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A __half is the short inside it.
; CHECK-LABEL: @widened(
; CHECK-NEXT: [[HALF:%.*]] = bitcast i16 %x to half
; CHECK-NEXT: [[WIDE:%.*]] = fpext half [[HALF]] to float
; CHECK-NEXT: ret float [[WIDE]]
define float @widened(i16 %x) {
  %v = call float asm "{  cvt.f32.f16 $0, $1;}\0A", "=f,h"(i16 %x)
  ret float %v
}

; CHECK-LABEL: @narrowed(
; CHECK-NEXT: [[HALF:%.*]] = fptrunc float %x to half
; CHECK-NEXT: bitcast half [[HALF]] to i16
define i16 @narrowed(float %x) {
  %v = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %x)
  ret i16 %v
}

; Two numbers in one register, and registers of its own.
; CHECK-LABEL: @second(
; CHECK: [[PAIR:%.*]] = bitcast i32 %x to <2 x i16>
; CHECK: [[HIGH:%.*]] = extractelement <2 x i16> [[PAIR]], i64 1
; CHECK: bitcast i16 [[HIGH]] to half
; CHECK: fpext half
define float @second(i32 %x) {
  %v = call float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, high;}\0A", "=f,r"(i32 %x)
  ret float %v
}

; CHECK-LABEL: @multiplied(
; CHECK: call <2 x half> @llvm.fma.v2f16(
define i32 @multiplied(i32 %x, i32 %y, i32 %z) {
  %v = call i32 asm "{fma.rn.f16x2 $0,$1,$2,$3;\0A}", "=r,r,r,r"(i32 %x, i32 %y, i32 %z)
  ret i32 %v
}

; CHECK-LABEL: @approximate(
; CHECK-NEXT: [[POWER:%.*]] = call arcp afn float @llvm.exp2.f32(float %x)
; CHECK-NEXT: ret float [[POWER]]
define float @approximate(float %x) {
  %v = call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float %x)
  ret float %v
}

; CHECK-LABEL: @lane(
; CHECK-NEXT: call {{.*}}i32 @llvm.nvvm.read.ptx.sreg.laneid()
define i32 @lane() {
  %v = call i32 asm sideeffect "mov.u32 $0, %laneid;", "=r"()
  ret i32 %v
}

; An operand that is read and written.
; CHECK-LABEL: @updated(
; CHECK-NEXT: fadd float %x, %y
define float @updated(float %x, float %y) {
  %v = call float asm "add.f32 $0, $0, $1;", "=f,f,0"(float %y, float %x)
  ret float %v
}

; Hints change nothing; fences order.
; CHECK-LABEL: @hinted(
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: ret void
define void @hinted(ptr %p) {
  call void asm sideeffect "nanosleep.u32 $0;", "r"(i32 100)
  call void asm sideeffect "prefetch.global.L1 [$0];", "l"(ptr %p)
  call void asm sideeffect "membar.gl;", ""()
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()
  ret void
}

; An atomic addition of a vector is one for each of its numbers.
; CHECK-LABEL: @vector_sums(
; CHECK: [[FIRST:%.*]] = atomicrmw fadd ptr %p, float %x monotonic
; CHECK: [[PLACE:%.*]] = getelementptr float, ptr %p, i64 1
; CHECK: [[SECOND:%.*]] = atomicrmw fadd ptr [[PLACE]], float %y monotonic
; CHECK-NOT: asm
; CHECK: ret
define { float, float } @vector_sums(ptr %p, float %x, float %y) {
  %old = call { float, float } asm "atom.add.v2.f32         {$0, $1}, [$2], {$3, $4};", "=f,=f,l,f,f"(ptr %p, float %x, float %y)
  call void asm sideeffect "red.global.add.v2.f32 [$0], {$1, $2};", "l,f,f"(ptr %p, float %x, float %y)
  ret { float, float } %old
}

; Loads and stores with a hint for the caches, of vectors too.
; CHECK-LABEL: @cached(
; CHECK-NEXT: [[LOW:%.*]] = load float, ptr %p, align 4
; CHECK-NEXT: [[AT:%.*]] = getelementptr float, ptr %p, i64 1
; CHECK-NEXT: [[HIGH:%.*]] = load float, ptr [[AT]], align 4
; CHECK:      [[BEHIND:%.*]] = getelementptr i8, ptr %p, i64 16
; CHECK-NEXT: store float %low, ptr [[BEHIND]], align 4
define void @cached(ptr %p) {
  %v = call { float, float } asm sideeffect "ld.global.cs.v2.f32 {$0,$1}, [$2];", "=f,=f,l,~{memory}"(ptr %p)
  %low = extractvalue { float, float } %v, 0
  call void asm sideeffect "st.global.cg.f32 [$0+16], $1;", "l,f,~{memory}"(ptr %p, float %low)
  ret void
}

; CHECK-LABEL: @atomics(
; CHECK-NEXT: atomicrmw fadd ptr %p, float %x monotonic
; CHECK-NEXT: atomicrmw max ptr %p, i32 %i seq_cst
; CHECK:      atomicrmw fadd ptr %p, half
; CHECK:      [[SECOND:%.*]] = getelementptr half, ptr %p, i64 1
; CHECK:      atomicrmw fadd ptr [[SECOND]], half
define void @atomics(ptr %p, float %x, i32 %i) {
  call void asm sideeffect "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}"(ptr %p, float %x)
  %m = call i32 asm sideeffect "atom.acquire.gpu.max.s32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr %p, i32 %i)
  %h = call i32 asm sideeffect "{ atom.add.noftz.f16x2 $0,[$1],$2; }\0A", "=r,l,r,~{memory}"(ptr %p, i32 %i)
  ret void
}

; CUB's sum of a warp: what comes from outside the segment is not added.
; CHECK-LABEL: @reduced(
; CHECK:      [[MOVED:%.*]] = call float @llvm.nvvm.shfl.sync.down.f32(i32 %mask, float %x, i32 %by, i32 %control)
; CHECK:      [[LANE:%.*]] = call {{.*}}i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK:      [[FROM:%.*]] = add i32 [[LANE]],
; CHECK:      [[INSIDE:%.*]] = icmp sle i32 [[FROM]],
; CHECK:      [[SUM:%.*]] = fadd float [[MOVED]], %x
; CHECK:      select i1 [[INSIDE]], float [[SUM]], float [[MOVED]]
define float @reduced(float %x, i32 %by, i32 %control, i32 %mask) {
  %v = call float asm sideeffect "{ .reg .f32 r0; .reg .pred p; shfl.sync.down.b32 r0|p, $1, $2, $3, $5; @p add.f32 r0, r0, $4; mov.f32 $0, r0;}", "=f,f,r,r,f,r"(float %x, i32 %by, i32 %control, float %x, i32 %mask)
  ret float %v
}

; What CUDA's headers do with two halves at once: h2exp corrects one number, h2rint, masks of comparisons.
; CHECK-LABEL: @corrected(
; CHECK: [[IS:%.*]] = fcmp oeq <2 x half>
; CHECK: uitofp <2 x i1> [[IS]] to <2 x half>
; CHECK: call <2 x half> @llvm.fma.v2f16(
; CHECK: [[WIDE:%.*]] = fpext {{.*}}<2 x half> {{.*}} to <2 x float>
; CHECK: call arcp afn <2 x float> @llvm.exp2.v2f32(<2 x float> [[WIDE]])
define i32 @corrected(i32 %x) {
  %v = call i32 asm "{.reg.b32 p,s,r;\0A mov.b32 s,0x1F791F79U;\0A set.eq.f16x2.f16x2 p,$1, s;\0A fma.rn.f16x2 r,p,s,$1;\0A ex2.approx.f16x2 $0, r;\0A}", "=r,r"(i32 %x)
  ret i32 %v
}

; CHECK-LABEL: @rounded_half(
; CHECK: call half @llvm.rint.f16(
; CHECK: call half @llvm.floor.f16(
define i16 @rounded_half(i16 %x) {
  %v = call i16 asm "cvt.rni.f16.f16 $0, $1;", "=h,h"(i16 %x)
  %w = call i16 asm "cvt.rmi.f16.f16 $0, $1;", "=h,h"(i16 %v)
  ret i16 %w
}

; CHECK-LABEL: @masked(
; CHECK: [[MORE:%.*]] = fcmp ogt <2 x half>
; CHECK: sext <2 x i1> [[MORE]] to <2 x i16>
; CHECK: [[ONE:%.*]] = fcmp ult half
; CHECK: sext i1 [[ONE]] to i32
define i32 @masked(i32 %x, i32 %y, i16 %h) {
  %v = call i32 asm "set.gt.u32.f16x2 $0, $1, $2;", "=r,r,r"(i32 %x, i32 %y)
  %w = call i32 asm "set.ltu.u32.f16 $0, $1, $1;", "=r,h"(i16 %h)
  %s = add i32 %v, %w
  ret i32 %s
}

; What is no number becomes zero where results are limited, and stays what it is where they are not to be negative.
; CHECK-LABEL: @limited(
; CHECK: [[SUM:%.*]] = fadd half
; CHECK: [[POSITIVE:%.*]] = fcmp ogt half [[SUM]], 0xH0000
; CHECK: [[SOME:%.*]] = select i1 [[POSITIVE]], half [[SUM]], half 0xH0000
; CHECK: [[LESS:%.*]] = fcmp olt half [[SOME]], 0xH3C00
; CHECK: select i1 [[LESS]], half [[SOME]], half 0xH3C00
; CHECK: [[PRODUCT:%.*]] = call half @llvm.fma.f16(
; CHECK: [[NEGATIVE:%.*]] = fcmp olt half [[PRODUCT]], 0xH0000
; CHECK: select i1 [[NEGATIVE]], half 0xH0000, half [[PRODUCT]]
define i16 @limited(i16 %x) {
  %v = call i16 asm "add.sat.f16 $0, $1, $1;", "=h,h"(i16 %x)
  %w = call i16 asm "fma.rn.relu.f16 $0, $1, $1, $1;", "=h,h"(i16 %v)
  ret i16 %w
}

; The bits of a bfloat16 in front of zeros.
; CHECK-LABEL: @widened_bfloat(
; CHECK: [[BRAIN:%.*]] = bitcast i16 {{.*}} to bfloat
; CHECK: fpext bfloat [[BRAIN]] to float
define float @widened_bfloat(i32 %x) {
  %v = call float asm "{.reg.b16 l,h; .reg.b32 f;\0A mov.b32 {l, h}, $1;\0A mov.b32 f, {0,h};\0A mul.f32 $0, f, f;\0A}", "=f,r"(i32 %x)
  ret float %v
}

; Barriers of all threads are the same whatever their number is; those of some threads stay.
; CHECK-LABEL: @waits(
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 %mask)
; CHECK-NEXT: asm sideeffect "bar.sync 1, $0;"
; CHECK-NEXT: asm sideeffect "bar.arrive 1, 64;"
; CHECK-NEXT: ret void
define void @waits(i32 %mask) {
  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  call void asm sideeffect "barrier.cta.sync 1;\0A", ""()
  call void asm sideeffect "bar.warp.sync $0;", "r"(i32 %mask)
  call void asm sideeffect "bar.sync 1, $0;", "r"(i32 %mask)
  call void asm sideeffect "bar.arrive 1, 64;", ""()
  ret void
}

; Products of bytes; those of the upper ones are those of the lower ones, moved down.
; CHECK-LABEL: @dotted(
; CHECK-NEXT: [[A:%.*]] = call i32 @llvm.nvvm.idp4a.s.s(i32 %x, i32 %y, i32 1)
; CHECK-NEXT: [[B:%.*]] = call i32 @llvm.nvvm.idp4a.u.s(i32 %x, i32 %y, i32 [[A]])
; CHECK-NEXT: [[C:%.*]] = call i32 @llvm.nvvm.idp2a.u.u(i32 %x, i32 %y, i1 false, i32 [[B]])
; CHECK-NEXT: [[UP:%.*]] = lshr i32 %y, 16
; CHECK-NEXT: [[D:%.*]] = call i32 @llvm.nvvm.idp2a.s.u(i32 %x, i32 [[UP]], i1 false, i32 [[C]])
; CHECK-NEXT: ret i32 [[D]]
define i32 @dotted(i32 %x, i32 %y) {
  %a = call i32 asm sideeffect "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 %y, i32 1)
  %b = call i32 asm sideeffect "dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 %y, i32 %a)
  %c = call i32 asm sideeffect "dp2a.lo.u32.u32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 %y, i32 %b)
  %d = call i32 asm sideeffect "dp2a.hi.s32.u32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 %y, i32 %c)
  ret i32 %d
}

; CHECK-LABEL: @kept(
; CHECK-NEXT: asm "add.rz.f32
; CHECK-NEXT: asm sideeffect "ld.shared
; CHECK-NEXT: asm sideeffect "st.async
; CHECK-NEXT: asm "vabsdiff4
define float @kept(float %x, ptr %p, i32 %i) {
  %a = call float asm "add.rz.f32 $0, $1, $1;", "=f,f"(float %x)
  %b = call float asm sideeffect "ld.shared.f32 $0, [$1];", "=f,l,~{memory}"(ptr %p)
  call void asm sideeffect "st.async.f32 [$0], $1;", "l,f"(ptr %p, float %x)
  %c = call i32 asm "vabsdiff4.u32.u32.u32.add $0, $1, $1, $1;", "=r,r"(i32 %i)
  %f = sitofp i32 %c to float
  %s = fadd float %a, %b
  %t = fadd float %s, %f
  ret float %t
}

; Tensor Cores. LLVM names the types of the sums where the factors are of half, else that of the factors.
; CHECK-LABEL: @multiplied_by_warps(
; CHECK: [[A:%.*]] = bitcast i32 %a to <2 x half>
; CHECK: call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> [[A]], {{.*}}, float %c, float %c, float %c, float %c)
; CHECK: call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, float
; CHECK: [[AT:%.*]] = inttoptr i32 {{%.*}} to ptr addrspace(3)
; CHECK: call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) [[AT]])
; CHECK: asm sideeffect "wgmma.mma_async
define float @multiplied_by_warps(i32 %a, float %c) {
  %d = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$5, $5}, {$6, $6, $6, $6};\0A", "=f,=f,=f,=f,r,r,f"(i32 %a, i32 %a, float %c)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %e = call { float, float, float, float } asm "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0,$1,$2,$3}, {$4,$4,$4,$4}, {$4,$4}, {$5,$5,$5,$5};", "=f,=f,=f,=f,r,f"(i32 %a, float %d0)
  %e0 = extractvalue { float, float, float, float } %e, 0
  %m = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2+16];", "=r,=r,r"(i32 %a)
  %m0 = extractvalue { i32, i32 } %m, 0
  %w = call float asm sideeffect "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $1, 1, 1, 1, 0, 0;", "=f,r"(i32 %m0)
  %s = fadd float %e0, %w
  ret float %s
}

; A shift by 32 or more leaves nothing, or the sign; bits from a place on, and ones from a place on, end with the word.
; CHECK-LABEL: define i32 @shifts(
; CHECK-NOT:   asm
; CHECK:       call i32 @llvm.umin.i32(i32 %by, i32 63)
; CHECK:       lshr i64
; CHECK:       call i32 @llvm.umin.i32(i32 %by, i32 31)
; CHECK:       ashr i32
; CHECK:       shl i64
; CHECK:       ret i32
define i32 @shifts(i32 %x, i32 %by) {
  %right = call i32 asm "shr.b32 $0, $1, $2;", "=r,r,r"(i32 %x, i32 %by)
  %signed = call i32 asm "shr.s32 $0, $1, $2;", "=r,r,r"(i32 %right, i32 %by)
  %left = call i32 asm "shl.b32 $0, $1, $2;", "=r,r,r"(i32 %signed, i32 %by)
  ret i32 %left
}

; CHECK-LABEL: define i32 @parts(
; CHECK-NOT:   asm
; CHECK:       ret i32
define i32 @parts(i32 %x, i32 %at, i32 %count) {
  %part = call i32 asm "bfe.u32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 %at, i32 %count)
  %ones = call i32 asm "bmsk.clamp.b32 $0, $1, $2;", "=r,r,r"(i32 %at, i32 %count)
  %both = and i32 %part, %ones
  ret i32 %both
}

; What only happens where a condition holds gets a block of its own; a register keeps what it has else.
; CHECK-LABEL: define void @guarded(
; CHECK:       [[HOLDS:%.*]] = icmp ne i32 %holds, 0
; CHECK:       br i1 [[HOLDS]], label %[[LOADS:.*]], label %[[BEHIND:.*]]
; CHECK:       [[LOADS]]:
; CHECK-NEXT:    [[LOADED:%.*]] = load float, ptr %x, align 4
; CHECK:       [[BEHIND]]:
; CHECK-NEXT:    [[EITHER:%.*]] = phi float [ [[LOADED]], %[[LOADS]] ], [ 0.000000e+00, %{{.*}} ]
; CHECK:       [[NOT:%.*]] = xor i1 {{%.*}}, true
; CHECK:       br i1 [[NOT]], label %[[STORES:.*]], label %
; CHECK:       [[STORES]]:
; CHECK-NEXT:    store float [[EITHER]], ptr %y, align 4
define void @guarded(ptr %x, ptr %y, i32 %holds) {
  %v = call float asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $2, 0; mov.b32 $0, 0; @p ld.global.nc.f32 $0, [$1]; }", "=f,l,r"(ptr %x, i32 %holds)
  call void asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $2, 0; @!p st.global.f32 [$0], $1; }", "l,f,r"(ptr %y, float %v, i32 %holds)
  ret void
}

; What the register keeps may be what was loaded under another condition.
; CHECK-LABEL: define float @loaded_either(
; CHECK:       [[LOADED:%.*]] = load float, ptr %x, align 4
; CHECK:       [[FIRST:%.*]] = phi float [ [[LOADED]], {{%.*}} ], [ 1.000000e+00, %{{.*}} ]
; CHECK:       [[OTHER:%.*]] = load float, ptr %y, align 4
; CHECK:       [[SECOND:%.*]] = phi float [ [[OTHER]], {{%.*}} ], [ [[FIRST]], %{{.*}} ]
; CHECK:       ret float [[SECOND]]
define float @loaded_either(ptr %x, ptr %y, i32 %holds) {
  %v = call float asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $3, 0; mov.f32 $0, 0f3F800000; @p ld.global.f32 $0, [$1]; @!p ld.global.f32 $0, [$2]; }", "=f,l,l,r"(ptr %x, ptr %y, i32 %holds)
  ret float %v
}

; What a register holds where nothing is loaded, nobody says.
; CHECK-LABEL: define float @unknown_else(
; CHECK:       asm sideeffect
define float @unknown_else(ptr %x, i32 %holds) {
  %v = call float asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $2, 0; @p ld.global.f32 $0, [$1]; }", "=f,l,r"(ptr %x, i32 %holds)
  ret float %v
}

; CHECK-LABEL: define float @shared(
; CHECK:       [[TO:%.*]] = inttoptr i32 {{.*}} to ptr addrspace(3)
; CHECK:       store float %x, ptr addrspace(3) [[TO]], align 4
; CHECK:       load float, ptr addrspace(3)
define float @shared(i32 %to, i32 %from, float %x) {
  call void asm sideeffect "st.shared.f32 [$0], $1;", "r,f"(i32 %to, float %x)
  %v = call float asm sideeffect "ld.shared.f32 $0, [$1+16];", "=f,r"(i32 %from)
  ret float %v
}

; CHECK-LABEL: define i64 @words(
; CHECK-NOT:   asm
; CHECK:       mul i64
; CHECK:       call i32 @llvm.smin.i32(
; CHECK:       call i32 @llvm.ctpop.i32(
; CHECK:       call i32 @llvm.nvvm.prmt(i32 {{.*}}, i32 21520)
; CHECK:       call i32 @llvm.fshl.i32(i32 %y, i32 %x, i32 3)
; CHECK:       cmpxchg ptr %lock, i32 0, i32 1 seq_cst seq_cst
; CHECK-NOT:   asm
; CHECK:       ret i64
define i64 @words(i32 %x, i32 %y, i64 %z, ptr %lock) {
  %wide = call i64 asm "mad.wide.u32 $0, $1, $2, $3;", "=l,r,r,l"(i32 %x, i32 %y, i64 %z)
  %least = call i32 asm "min.s32 $0, $1, $2;", "=r,r,r"(i32 %x, i32 %y)
  %count = call i32 asm "popc.b32 $0, $1;", "=r,r"(i32 %least)
  %bytes = call i32 asm "prmt.b32 $0, $1, $2, 0x5410;", "=r,r,r"(i32 %count, i32 %y)
  %turned = call i32 asm "shf.l.wrap.b32 $0, $1, $2, 3;", "=r,r,r"(i32 %x, i32 %y)
  %parity = call i32 asm "lop3.b32 $0, $1, $2, $3, 0x96;", "=r,r,r,r"(i32 %bytes, i32 %turned, i32 %x)
  %old = call i32 asm sideeffect "atom.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r"(ptr %lock, i32 0, i32 1)
  %sum = add i32 %parity, %old
  %all = zext i32 %sum to i64
  %result = add i64 %wide, %all
  ret i64 %result
}

; Vectors, whose width may come in front of what is done.
; CHECK-LABEL: define void @pairs(
; CHECK-NEXT:  atomicrmw fadd ptr %y, float %a monotonic
; CHECK-NEXT:  [[NEXT:%.*]] = getelementptr float, ptr %y, i64 1
; CHECK-NEXT:  atomicrmw fadd ptr [[NEXT]], float %b monotonic
; CHECK-NEXT:  atomicrmw fadd ptr %y, float %b monotonic
; CHECK-NOT:   asm
; CHECK:       ret void
define void @pairs(ptr %y, float %a, float %b) {
  call void asm sideeffect "red.global.v2.f32.add [$0], {$1,$2};", "l,f,f"(ptr %y, float %a, float %b)
  call void asm sideeffect "red.relaxed.gpu.global.add.v2.f32 [$0], {$1,$2};", "l,f,f"(ptr %y, float %b, float %a)
  ret void
}

; One lane of those that are there leads. A register may have a name like those of the hardware.
; CHECK-LABEL: define i32 @leads(
; CHECK:       [[THERE:%.*]] = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 true)
; CHECK-NEXT:  [[FIRST:%.*]] = call i32 @llvm.cttz.i32(i32 [[THERE]], i1 true)
; CHECK-NEXT:  [[LANE:%.*]] = call {{.*}}i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:  [[LEADS:%.*]] = icmp eq i32 [[LANE]], [[FIRST]]
; CHECK-NEXT:  [[ONE:%.*]] = select i1 [[LEADS]], i32 1, i32 0
; CHECK-NOT:   asm
; CHECK:       ret i32
define i32 @leads(i32 %mask) {
  %both = call { i32, i32 } asm sideeffect "{\0A.reg .b32 %rx;\0A.reg .pred %px;\0A elect.sync %rx|%px, $2;\0A@%px mov.s32 $1, 1;\0A mov.s32 $0, %rx;\0A}\0A", "=r,=r,r,1"(i32 %mask, i32 0)
  %lane = extractvalue { i32, i32 } %both, 0
  %leads = extractvalue { i32, i32 } %both, 1
  %sum = add i32 %lane, %leads
  ret i32 %sum
}

; A byte is extended to its register.
; CHECK-LABEL: define i16 @rounded_to_byte(
; CHECK:       [[WHOLE:%.*]] = call half @llvm.trunc.f16(half
; CHECK-NEXT:  [[BYTE:%.*]] = call i8 @llvm.fptosi.sat.i8.f16(half [[WHOLE]])
; CHECK-NEXT:  sext i8 [[BYTE]] to i32
; CHECK:       call float @llvm.rint.f32(
; CHECK-NEXT:  call i8 @llvm.fptosi.sat.i8.f32(
; CHECK:       call i8 @llvm.fptoui.sat.i8.bf16(bfloat
; CHECK-NOT:   asm
; CHECK:       ret i16
define i16 @rounded_to_byte(i16 %x, i16 %y, float %z) {
  %a = call i32 asm "cvt.rzi.s8.f16 $0, $1;", "=r,h"(i16 %x)
  %c = call i32 asm "cvt.rni.sat.s8.f32 $0, $1;", "=r,f"(float %z)
  %b = call i16 asm "{ .reg.b8 myreg;\0A  cvt.rzi.u8.bf16 myreg, $1;\0A  mov.b16 $0, {myreg, 0};\0A}", "=h,h"(i16 %y)
  %bytes = add i32 %a, %c
  %low = trunc i32 %bytes to i16
  %sum = add i16 %low, %b
  ret i16 %sum
}

; CHECK-LABEL: define i16 @brain_to_half(
; CHECK:       [[WIDE:%.*]] = fpext bfloat {{.*}} to float
; CHECK-NEXT:  fptrunc float [[WIDE]] to half
define i16 @brain_to_half(i16 %x) {
  %v = call i16 asm "{ cvt.rn.f16.bf16 $0, $1; }", "=h,h"(i16 %x)
  ret i16 %v
}

; FP8 is an integer: no number passes the conversion, whose higher part stands first.
; CHECK-LABEL: define i32 @widened_bytes(
; CHECK-NEXT:  [[HALVES:%.*]] = call <2 x half> @llvm.nvvm.e4m3x2.to.f16x2.rn(i16 %x) [[INACTIVE:#[0-9]+]]
; CHECK-NEXT:  bitcast <2 x half> [[HALVES]] to i32
define i32 @widened_bytes(i16 %x) {
  %v = call i32 asm "{cvt.rn.f16x2.e4m3x2 $0, $1;}\0A", "=r,h"(i16 %x)
  ret i32 %v
}

; CHECK-LABEL: define i16 @rounded_to_bytes(
; CHECK-NEXT:  call i16 @llvm.nvvm.ff.to.e5m2x2.rn(float %high, float %low) [[INACTIVE]]
; CHECK:       [[PAIR:%.*]] = bitcast i32 %pair to <2 x half>
; CHECK-NEXT:  call i16 @llvm.nvvm.f16x2.to.e4m3x2.rn(<2 x half> [[PAIR]]) [[INACTIVE]]
; CHECK:       asm "cvt.rn.satfinite.relu.e4m3x2.f32
define i16 @rounded_to_bytes(float %low, float %high, i32 %pair) {
  %a = call i16 asm "{cvt.rn.satfinite.e5m2x2.f32 $0, $2, $1;}\0A", "=h,f,f"(float %low, float %high)
  %b = call i16 asm "{cvt.rn.satfinite.e4m3x2.f16x2 $0, $1;}\0A", "=h,r"(i32 %pair)
  %c = call i16 asm "cvt.rn.satfinite.relu.e4m3x2.f32 $0, $2, $1;", "=h,f,f"(float %low, float %high)
  %ab = add i16 %a, %b
  %sum = add i16 %ab, %c
  ret i16 %sum
}
; CHECK: attributes [[INACTIVE]] = { "enzyme_inactive" }
