; NVVM's arithmetic intrinsics become LLVM's own, which Enzyme has rules for and which the host has too.
;
; RUN: %opt -passes=adgen-canonicalize-nvvm -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; What rounds to nearest here rounds halves to even. Flushing to zero (.ftz) is left to the target.
; CHECK-LABEL: @rounding(
; CHECK-NEXT: %fabs_f32 = call float @llvm.fabs.f32(float %a)
; CHECK-NEXT: %fabs_f64 = call double @llvm.fabs.f64(double %p)
; CHECK-NEXT: %fabs_ftz_f32 = call float @llvm.fabs.f32(float %a)
; CHECK-NEXT: %floor_f = call float @llvm.floor.f32(float %a)
; CHECK-NEXT: %floor_ftz_f = call float @llvm.floor.f32(float %a)
; CHECK-NEXT: %floor_d = call double @llvm.floor.f64(double %p)
; CHECK-NEXT: %ceil_f = call float @llvm.ceil.f32(float %a)
; CHECK-NEXT: %ceil_d = call double @llvm.ceil.f64(double %p)
; CHECK-NEXT: %trunc_f = call float @llvm.trunc.f32(float %a)
; CHECK-NEXT: %trunc_d = call double @llvm.trunc.f64(double %p)
; CHECK-NEXT: %round_f = call float @llvm.rint.f32(float %a)
; CHECK-NEXT: %round_d = call double @llvm.rint.f64(double %p)
; CHECK-NEXT: [[V1:%.*]] = call float @llvm.maxnum.f32(float %a, float 0.000000e+00)
; CHECK-NEXT: %saturate_f = call float @llvm.minnum.f32(float [[V1]], float 1.000000e+00)
; CHECK-NEXT: ret void
define void @rounding(float %a, double %p) {
  %fabs_f32 = call float @llvm.nvvm.fabs.f32(float %a)
  %fabs_f64 = call double @llvm.nvvm.fabs.f64(double %p)
  %fabs_ftz_f32 = call float @llvm.nvvm.fabs.ftz.f32(float %a)
  %floor_f = call float @llvm.nvvm.floor.f(float %a)
  %floor_ftz_f = call float @llvm.nvvm.floor.ftz.f(float %a)
  %floor_d = call double @llvm.nvvm.floor.d(double %p)
  %ceil_f = call float @llvm.nvvm.ceil.f(float %a)
  %ceil_d = call double @llvm.nvvm.ceil.d(double %p)
  %trunc_f = call float @llvm.nvvm.trunc.f(float %a)
  %trunc_d = call double @llvm.nvvm.trunc.d(double %p)
  %round_f = call float @llvm.nvvm.round.f(float %a)
  %round_d = call double @llvm.nvvm.round.d(double %p)
  %saturate_f = call float @llvm.nvvm.saturate.f(float %a)
  ret void
}

; Where one operand is NaN, the other is the result: minnum and maxnum.
; CHECK-LABEL: @extremes(
; CHECK-NEXT: %fmin_f = call float @llvm.minnum.f32(float %a, float %b)
; CHECK-NEXT: %fmax_d = call double @llvm.maxnum.f64(double %p, double %q)
; CHECK-NEXT: %fmax_ftz_f = call float @llvm.maxnum.f32(float %a, float %b)
; CHECK-NEXT: ret void
define void @extremes(float %a, float %b, double %p, double %q) {
  %fmin_f = call float @llvm.nvvm.fmin.f(float %a, float %b)
  %fmax_d = call double @llvm.nvvm.fmax.d(double %p, double %q)
  %fmax_ftz_f = call float @llvm.nvvm.fmax.ftz.f(float %a, float %b)
  ret void
}

; Approximate forms keep the flag afn; 1/sqrt becomes one instruction again.
; CHECK-LABEL: @roots(
; CHECK-NEXT: %sqrt_rn_f = call float @llvm.sqrt.f32(float %a)
; CHECK-NEXT: %sqrt_rn_d = call double @llvm.sqrt.f64(double %p)
; CHECK-NEXT: %sqrt_approx_f = call afn float @llvm.sqrt.f32(float %a)
; CHECK-NEXT: %sqrt_f = call float @llvm.sqrt.f32(float %a)
; CHECK-NEXT: [[V1:%.*]] = call afn float @llvm.sqrt.f32(float %a)
; CHECK-NEXT: %rsqrt_approx_f = fdiv arcp afn float 1.000000e+00, [[V1]]
; CHECK-NEXT: [[V2:%.*]] = call afn double @llvm.sqrt.f64(double %p)
; CHECK-NEXT: %rsqrt_approx_d = fdiv arcp afn double 1.000000e+00, [[V2]]
; CHECK-NEXT: %rcp_rn_f = fdiv float 1.000000e+00, %a
; CHECK-NEXT: %rcp_rn_d = fdiv double 1.000000e+00, %p
; CHECK-NEXT: %rcp_approx_ftz_f = fdiv arcp afn float 1.000000e+00, %a
; CHECK-NEXT: %rcp_approx_ftz_d = fdiv arcp afn double 1.000000e+00, %p
; CHECK-NEXT: ret void
define void @roots(float %a, double %p) {
  %sqrt_rn_f = call float @llvm.nvvm.sqrt.rn.f(float %a)
  %sqrt_rn_d = call double @llvm.nvvm.sqrt.rn.d(double %p)
  %sqrt_approx_f = call float @llvm.nvvm.sqrt.approx.f(float %a)
  %sqrt_f = call float @llvm.nvvm.sqrt.f(float %a)
  %rsqrt_approx_f = call float @llvm.nvvm.rsqrt.approx.f(float %a)
  %rsqrt_approx_d = call double @llvm.nvvm.rsqrt.approx.d(double %p)
  %rcp_rn_f = call float @llvm.nvvm.rcp.rn.f(float %a)
  %rcp_rn_d = call double @llvm.nvvm.rcp.rn.d(double %p)
  %rcp_approx_ftz_f = call float @llvm.nvvm.rcp.approx.ftz.f(float %a)
  %rcp_approx_ftz_d = call double @llvm.nvvm.rcp.approx.ftz.d(double %p)
  ret void
}

; CHECK-LABEL: @approx(
; CHECK-NEXT: %sin_approx_f = call afn float @llvm.sin.f32(float %a)
; CHECK-NEXT: %cos_approx_ftz_f = call afn float @llvm.cos.f32(float %a)
; CHECK-NEXT: %ex2_approx_f32 = call afn float @llvm.exp2.f32(float %a)
; CHECK-NEXT: %ex2_approx_ftz_f32 = call afn float @llvm.exp2.f32(float %a)
; CHECK-NEXT: %lg2_approx_f = call afn float @llvm.log2.f32(float %a)
; CHECK-NEXT: [[V1:%.*]] = fdiv arcp afn float 1.000000e+00, %b
; CHECK-NEXT: %div_approx_f = fmul arcp afn float %a, [[V1]]
; CHECK-NEXT: ret void
define void @approx(float %a, float %b) {
  %sin_approx_f = call float @llvm.nvvm.sin.approx.f(float %a)
  %cos_approx_ftz_f = call float @llvm.nvvm.cos.approx.ftz.f(float %a)
  %ex2_approx_f32 = call float @llvm.nvvm.ex2.approx.f32(float %a)
  %ex2_approx_ftz_f32 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %a)
  %lg2_approx_f = call float @llvm.nvvm.lg2.approx.f(float %a)
  %div_approx_f = call float @llvm.nvvm.div.approx.f(float %a, float %b)
  ret void
}

; Rounding to nearest is what LLVM's instructions do; a directed rounding (add.rz) is something else and stays.
; CHECK-LABEL: @arith(
; CHECK-NEXT: %add_rn_f = fadd float %a, %b
; CHECK-NEXT: %mul_rn_f = fmul float %a, %b
; CHECK-NEXT: %div_rn_d = fdiv double %p, %q
; CHECK-NEXT: %fma_rn_f = call float @llvm.fma.f32(float %a, float %b, float %c)
; CHECK-NEXT: %add_rz_f = call float @llvm.nvvm.add.rz.f(float %a, float %b)
; CHECK-NEXT: ret void
define void @arith(float %a, float %b, float %c, double %p, double %q) {
  %add_rn_f = call float @llvm.nvvm.add.rn.f(float %a, float %b)
  %mul_rn_f = call float @llvm.nvvm.mul.rn.f(float %a, float %b)
  %div_rn_d = call double @llvm.nvvm.div.rn.d(double %p, double %q)
  %fma_rn_f = call float @llvm.nvvm.fma.rn.f(float %a, float %b, float %c)
  %add_rz_f = call float @llvm.nvvm.add.rz.f(float %a, float %b)
  ret void
}

; Halves of doubles, and the upper half of a product.
; CHECK-LABEL: @bits(
; CHECK-NEXT: [[V1:%.*]] = bitcast double %p to i64
; CHECK-NEXT: [[V2:%.*]] = lshr i64 [[V1]], 0
; CHECK-NEXT: %d2i_lo = trunc i64 [[V2]] to i32
; CHECK-NEXT: [[V3:%.*]] = bitcast double %p to i64
; CHECK-NEXT: [[V4:%.*]] = lshr i64 [[V3]], 32
; CHECK-NEXT: %d2i_hi = trunc i64 [[V4]] to i32
; CHECK-NEXT: [[V5:%.*]] = zext i32 %i to i64
; CHECK-NEXT: [[V6:%.*]] = zext i32 %j to i64
; CHECK-NEXT: [[V7:%.*]] = shl i64 [[V6]], 32
; CHECK-NEXT: [[V8:%.*]] = or i64 [[V7]], [[V5]]
; CHECK-NEXT: %lohi_i2d = bitcast i64 [[V8]] to double
; CHECK-NEXT: [[V9:%.*]] = sext i32 %i to i64
; CHECK-NEXT: [[V10:%.*]] = sext i32 %j to i64
; CHECK-NEXT: [[V11:%.*]] = mul i64 [[V9]], [[V10]]
; CHECK-NEXT: [[V12:%.*]] = lshr i64 [[V11]], 32
; CHECK-NEXT: %mulhi_i = trunc i64 [[V12]] to i32
; CHECK-NEXT: [[V13:%.*]] = zext i32 %i to i64
; CHECK-NEXT: [[V14:%.*]] = zext i32 %j to i64
; CHECK-NEXT: [[V15:%.*]] = mul i64 [[V13]], [[V14]]
; CHECK-NEXT: [[V16:%.*]] = lshr i64 [[V15]], 32
; CHECK-NEXT: %mulhi_ui = trunc i64 [[V16]] to i32
; CHECK-NEXT: [[V17:%.*]] = sext i64 %m to i128
; CHECK-NEXT: [[V18:%.*]] = sext i64 %n to i128
; CHECK-NEXT: [[V19:%.*]] = mul i128 [[V17]], [[V18]]
; CHECK-NEXT: [[V20:%.*]] = lshr i128 [[V19]], 64
; CHECK-NEXT: %mulhi_ll = trunc i128 [[V20]] to i64
; CHECK-NEXT: [[V21:%.*]] = zext i64 %m to i128
; CHECK-NEXT: [[V22:%.*]] = zext i64 %n to i128
; CHECK-NEXT: [[V23:%.*]] = mul i128 [[V21]], [[V22]]
; CHECK-NEXT: [[V24:%.*]] = lshr i128 [[V23]], 64
; CHECK-NEXT: %mulhi_ull = trunc i128 [[V24]] to i64
; CHECK-NEXT: ret void
define void @bits(double %p, i32 %i, i32 %j, i64 %m, i64 %n) {
  %d2i_lo = call i32 @llvm.nvvm.d2i.lo(double %p)
  %d2i_hi = call i32 @llvm.nvvm.d2i.hi(double %p)
  %lohi_i2d = call double @llvm.nvvm.lohi.i2d(i32 %i, i32 %j)
  %mulhi_i = call i32 @llvm.nvvm.mulhi.i(i32 %i, i32 %j)
  %mulhi_ui = call i32 @llvm.nvvm.mulhi.ui(i32 %i, i32 %j)
  %mulhi_ll = call i64 @llvm.nvvm.mulhi.ll(i64 %m, i64 %n)
  %mulhi_ull = call i64 @llvm.nvvm.mulhi.ull(i64 %m, i64 %n)
  ret void
}

; Conversions to integers saturate on the GPU; what rounds first rounds first. d2f.rz is directed and stays.
; CHECK-LABEL: @conv(
; CHECK-NEXT: %i2f_rn = sitofp i32 %i to float
; CHECK-NEXT: %ull2d_rn = uitofp i64 %m to double
; CHECK-NEXT: %f2i_rz = call i32 @llvm.fptosi.sat.i32.f32(float %a)
; CHECK-NEXT: %f2i_rz_ftz = call i32 @llvm.fptosi.sat.i32.f32(float %a)
; CHECK-NEXT: %d2ull_rz = call i64 @llvm.fptoui.sat.i64.f64(double %p)
; CHECK-NEXT: [[V1:%.*]] = call float @llvm.rint.f32(float %a)
; CHECK-NEXT: %f2i_rn = call i32 @llvm.fptosi.sat.i32.f32(float [[V1]])
; CHECK-NEXT: [[V2:%.*]] = call float @llvm.rint.f32(float %a)
; CHECK-NEXT: %f2ui_rn = call i32 @llvm.fptoui.sat.i32.f32(float [[V2]])
; CHECK-NEXT: [[V3:%.*]] = call float @llvm.floor.f32(float %a)
; CHECK-NEXT: %f2i_rm = call i32 @llvm.fptosi.sat.i32.f32(float [[V3]])
; CHECK-NEXT: [[V4:%.*]] = call double @llvm.ceil.f64(double %p)
; CHECK-NEXT: %d2i_rp = call i32 @llvm.fptosi.sat.i32.f64(double [[V4]])
; CHECK-NEXT: %d2f_rn = fptrunc double %p to float
; CHECK-NEXT: %d2f_rz = call float @llvm.nvvm.d2f.rz(double %p)
; CHECK-NEXT: ret void
define void @conv(float %a, double %p, i32 %i, i64 %m) {
  %i2f_rn = call float @llvm.nvvm.i2f.rn(i32 %i)
  %ull2d_rn = call double @llvm.nvvm.ull2d.rn(i64 %m)
  %f2i_rz = call i32 @llvm.nvvm.f2i.rz(float %a)
  %f2i_rz_ftz = call i32 @llvm.nvvm.f2i.rz.ftz(float %a)
  %d2ull_rz = call i64 @llvm.nvvm.d2ull.rz(double %p)
  %f2i_rn = call i32 @llvm.nvvm.f2i.rn(float %a)
  %f2ui_rn = call i32 @llvm.nvvm.f2ui.rn(float %a)
  %f2i_rm = call i32 @llvm.nvvm.f2i.rm(float %a)
  %d2i_rp = call i32 @llvm.nvvm.d2i.rp(double %p)
  %d2f_rn = call float @llvm.nvvm.d2f.rn(double %p)
  %d2f_rz = call float @llvm.nvvm.d2f.rz(double %p)
  ret void
}

; The few instructions that libdevice writes as assembly.
; CHECK-LABEL: @assembly(
; CHECK-NEXT: %rcp = fdiv arcp afn float 1.000000e+00, %a
; CHECK-NEXT: [[ROOT:%.*]] = call afn double @llvm.sqrt.f64(double %p)
; CHECK-NEXT: %rsqrt = fdiv arcp afn double 1.000000e+00, [[ROOT]]
; CHECK-NEXT: %sub = fsub float %a, %b
; CHECK-NEXT: [[MINUS:%.*]] = fneg float %b
; CHECK-NEXT: %down = call float @llvm.nvvm.add.rm.f(float %a, float [[MINUS]])
; CHECK-NEXT: [[ZEROS:%.*]] = call i32 @llvm.ctlz.i32(i32 %i, i1 true)
; CHECK-NEXT: [[NONE:%.*]] = icmp eq i32 %i, 0
; CHECK-NEXT: %shift = select i1 [[NONE]], i32 -1, i32 [[ZEROS]]
; CHECK-NEXT: ret void
define void @assembly(float %a, float %b, double %p, i32 %i) {
  %rcp = call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %a)
  %rsqrt = call double asm "rsqrt.approx.ftz.f64 $0, $1;", "=d,d"(double %p)
  %sub = call float asm "sub.rn.f32 $0, $1, $2;", "=f,f,f"(float %a, float %b)
  %down = call float asm "sub.rm.f32 $0, $1, $2;", "=f,f,f"(float %a, float %b)
  %shift = call i32 asm "bfind.shiftamt.u32 $0, $1;", "=r,r"(i32 %i)
  ret void
}

; Both halves of i * j + k in 64 bits, from the carry of the lower one.
; CHECK-LABEL: @multiply_add_with_carry(
; CHECK-NEXT: [[I:%.*]] = zext i32 %i to i64
; CHECK-NEXT: [[J:%.*]] = zext i32 %j to i64
; CHECK-NEXT: [[PRODUCT:%.*]] = mul i64 [[I]], [[J]]
; CHECK-NEXT: [[K:%.*]] = zext i32 %k to i64
; CHECK-NEXT: [[SUM:%.*]] = add i64 [[PRODUCT]], [[K]]
; CHECK-NEXT: [[LOW:%.*]] = trunc i64 [[SUM]] to i32
; CHECK-NEXT: [[SHIFTED:%.*]] = lshr i64 [[SUM]], 32
; CHECK-NEXT: [[HIGH:%.*]] = trunc i64 [[SHIFTED]] to i32
; CHECK-NEXT: [[PAIR:%.*]] = insertvalue { i32, i32 } poison, i32 [[LOW]], 0
; CHECK-NEXT: %both = insertvalue { i32, i32 } [[PAIR]], i32 [[HIGH]], 1
; CHECK-NEXT: ret { i32, i32 } %both
define { i32, i32 } @multiply_add_with_carry(i32 %i, i32 %j, i32 %k) {
  %both = call { i32, i32 } asm "{\0A\09mad.lo.cc.u32   $0, $2, $3, $4;\0A\09madc.hi.u32     $1, $2, $3,  0;\0A\09}", "=r,=r,r,r,r"(i32 %i, i32 %j, i32 %k)
  ret { i32, i32 } %both
}

; Additions in the scope of a block or of the system are atomic additions.
; CHECK-LABEL: @scoped(
; CHECK-NEXT: atomicrmw fadd ptr %p, float %x syncscope("block") monotonic
; CHECK-NEXT: atomicrmw fadd ptr %p, float %x monotonic
define void @scoped(ptr %p, float %x) {
  %a = call float @llvm.nvvm.atomic.add.gen.f.cta.f32.p0(ptr %p, float %x)
  %b = call float @llvm.nvvm.atomic.add.gen.f.sys.f32.p0(ptr %p, float %x)
  ret void
}

; So are the other atomics in a scope.
; CHECK-LABEL: @scoped_integers(
; CHECK-NEXT: %a = atomicrmw max ptr %p, i32 %i monotonic
; CHECK-NEXT: %b = atomicrmw add ptr %p, i32 %a syncscope("block") monotonic
; CHECK-NEXT: [[SWAP:%.*]] = cmpxchg ptr %p, i32 %i, i32 %b monotonic monotonic
; CHECK-NEXT: %c = extractvalue { i32, i1 } [[SWAP]], 0
define i32 @scoped_integers(ptr %p, i32 %i) {
  %a = call i32 @llvm.nvvm.atomic.max.gen.i.sys.i32.p0(ptr %p, i32 %i)
  %b = call i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr %p, i32 %a)
  %c = call i32 @llvm.nvvm.atomic.cas.gen.i.sys.i32.p0(ptr %p, i32 %i, i32 %b)
  ret i32 %c
}

; Without a mask, the lanes that are there exchange and vote.
; CHECK-LABEL: define i32 @without_masks(
; CHECK-NEXT:    [[SHUFFLED:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    %a = call float @llvm.nvvm.shfl.sync.down.f32(i32 [[SHUFFLED]], float %x, i32 1, i32 31)
; CHECK-NEXT:    [[VOTED:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 [[VOTED]], i1 true)
define i32 @without_masks(float %x) {
  %a = call float @llvm.nvvm.shfl.down.f32(float %x, i32 1, i32 31)
  %b = call i32 @llvm.nvvm.vote.ballot(i1 true)
  %c = fptosi float %a to i32
  %d = add i32 %b, %c
  ret i32 %d
}

; What __ldg reads is read by its generic address; an address that is used otherwise stays.
; CHECK-LABEL: define float @read_only(
; CHECK-NEXT:    %a = load float, ptr %p, align 4, !invariant.load
; CHECK-NEXT:    %also = addrspacecast ptr %p to ptr addrspace(1)
; CHECK-NEXT:    %b = load float, ptr %p, align 4
; CHECK-NEXT:    store float %a, ptr addrspace(1) %also, align 4
; CHECK-NEXT:    %c = load float, ptr addrspace(1) %known, align 4
define float @read_only(ptr %p, ptr addrspace(1) %known) {
  %global = addrspacecast ptr %p to ptr addrspace(1)
  %a = load float, ptr addrspace(1) %global, align 4, !invariant.load !0
  %also = addrspacecast ptr %p to ptr addrspace(1)
  %b = load float, ptr addrspace(1) %also, align 4
  store float %a, ptr addrspace(1) %also, align 4
  %c = load float, ptr addrspace(1) %known, align 4
  %d = fadd float %b, %c
  ret float %d
}
!0 = !{}
