; In bodies, Tensor Core operations become a lane's own accesses to memory, and products that have a rule, or that lanes
; make of what they ask each other.
;
; RUN: %opt -passes='adgen-lower-tensor-cores<rules>' -S %s | %filecheck %s
; RUN: %opt -passes='adgen-lower-tensor-cores<shuffles>' -S %s | %filecheck %s --check-prefix=WITNESS

target triple = "nvptx64-nvidia-cuda"

; Lane 4 g + t has A's element (g, t), B's (t, g), and (g, 2 t) and (g, 2 t + 1) of C.
; CHECK-LABEL: define void @adgen_body_doubles(
; CHECK:         [[LANE:%.*]] = zext i32 {{%.*}} to i64
; CHECK:         [[G:%.*]] = lshr i64 [[LANE]], 2
; CHECK:         [[T:%.*]] = and i64 [[LANE]], 3
; CHECK:         [[STRIDE:%.*]] = zext i32 %n to i64
; CHECK:         [[ROW:%.*]] = mul i64 {{%.*}}, [[STRIDE]]
; CHECK:         [[AT:%.*]] = add i64 [[ROW]]
; CHECK:         [[P:%.*]] = getelementptr double, ptr %a, i64 [[AT]]
; CHECK:         [[A:%.*]] = load double, ptr [[P]]
; CHECK:         [[B:%.*]] = load double, ptr
; CHECK:         [[FACTORS:%.*]] = insertelement <2 x double> {{%.*}}, double [[B]], i64 1
; CHECK:         [[PRODUCT:%.*]] = call <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double> [[FACTORS]]) [[CONVERGENT:#[0-9]+]]
; CHECK:         [[FIRST:%.*]] = extractelement <2 x double> [[PRODUCT]], i64 0
; CHECK:         fadd double [[FIRST]], 1.0
; CHECK:         store double
; CHECK:         store double
; CHECK-NOT:     @llvm.nvvm.wmma
; CHECK:         ret void
;
; WITNESS-LABEL: define void @adgen_body_doubles(
; WITNESS-NOT:     @adgen_math_mma
; WITNESS:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1
; WITNESS:         fmul double
; WITNESS-NOT:     @adgen_math_mma
; WITNESS:         ret void
define void @adgen_body_doubles(ptr %a, ptr %b, ptr %d, i32 %n) {
  %left = call double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr %a, i32 %n)
  %right = call double @llvm.nvvm.wmma.m8n8k4.load.b.col.stride.f64.p0(ptr %b, i32 %n)
  %sum = call { double, double } @llvm.nvvm.wmma.m8n8k4.mma.row.col.f64(double %left, double %right, double 1.0, double 2.0)
  %first = extractvalue { double, double } %sum, 0
  %second = extractvalue { double, double } %sum, 1
  call void @llvm.nvvm.wmma.m8n8k4.store.d.row.stride.f64.p0(ptr %d, double %first, double %second, i32 %n)
  ret void
}

; Halves are multiplied as floats, in which their cotangents are added up; a sum in half is rounded at last.
; CHECK-LABEL: define { <2 x half>, <2 x half> } @adgen_body_halves(
; CHECK:         [[H:%.*]] = extractelement <2 x half> %a, i64 0
; CHECK:         [[WIDE:%.*]] = fpext half [[H]] to float
; CHECK:         insertelement <12 x float> poison, float [[WIDE]], i64 0
; CHECK:         call <4 x float> @adgen_math_mma_m16n8k16_f16(<12 x float>
; CHECK:         [[C:%.*]] = fpext half {{%.*}} to float
; CHECK:         [[S:%.*]] = fadd float {{%.*}}, [[C]]
; CHECK:         fptrunc float {{%.*}} to half
define { <2 x half>, <2 x half> } @adgen_body_halves(<2 x half> %a, <2 x half> %b, <2 x half> %c) {
  %d = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k16.row.col.f16.f16(<2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %b, <2 x half> %b, <2 x half> %c, <2 x half> %c)
  ret { <2 x half>, <2 x half> } %d
}

; Lanes meet where they access a tile on their own before it is loaded, and behind it before they write it again; where
; there is a barrier they have met.
; CHECK-LABEL: define double @adgen_body_written(
; CHECK:         store double %x, ptr %own
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK:         [[LOADED:%.*]] = load double
; CHECK-NEXT:    call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NEXT:    store double [[LOADED]], ptr %own
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT:     warp.sync
; CHECK:         ret double
define double @adgen_body_written(ptr %tile, ptr %own.offset, double %x, i64 %i) {
  %own = getelementptr double, ptr %tile, i64 %i
  store double %x, ptr %own
  %a = call double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr %tile, i32 4)
  store double %a, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = call double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr %tile, i32 4)
  ret double %b
}

; ldmatrix: lanes ask each other where the rows begin, at multiples of 16 bytes; of bfloat16, as that is what is
; multiplied.
; CHECK-LABEL: define i32 @adgen_body_matrices(
; CHECK:         [[WHERE:%.*]] = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1
; CHECK:         [[FROM:%.*]] = getelementptr i8, ptr %tile, i64
; CHECK:         [[NEXT:%.*]] = getelementptr inbounds bfloat, ptr [[FROM]], i64 1
; CHECK:         load bfloat, ptr [[FROM]], align 4
; CHECK:         load bfloat, ptr [[NEXT]], align 2
; CHECK-NOT:     @llvm.nvvm.ldmatrix
; CHECK:         call <4 x float> @adgen_math_mma_m16n8k8_bf16(<6 x float>
define i32 @adgen_body_matrices(ptr %tile, i64 %offset) {
  %row = getelementptr i8, ptr %tile, i64 %offset
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %number = ptrtoint ptr addrspace(3) %shared to i32
  %address = inttoptr i32 %number to ptr addrspace(3)
  %m = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %address)
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32 %m, i32 %m, i32 %m, float 0.0, float 0.0, float 0.0, float 0.0)
  ret i32 %m
}

; Transposed, it reads rows as well, and the lanes transpose them; the witness reads columns.
; CHECK-LABEL: define i32 @adgen_body_transposed(
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1
; CHECK:         [[FROM:%.*]] = getelementptr i8, ptr %tile, i64
; CHECK-NEXT:    [[NEXT:%.*]] = getelementptr inbounds half, ptr [[FROM]], i64 1
; CHECK:         load half, ptr [[FROM]], align 4
; CHECK:         load half, ptr [[NEXT]], align 2
; CHECK:         [[TURNED:%.*]] = call <2 x half> @adgen_math_mma_transposed_f16(<2 x half>
; CHECK-NEXT:    bitcast <2 x half> [[TURNED]] to i32
; WITNESS-LABEL: define i32 @adgen_body_transposed(
; WITNESS-NOT:     @adgen_math_mma_transposed
; WITNESS-COUNT-2: load half, ptr {{.*}}, align 2
define i32 @adgen_body_transposed(ptr %tile, i64 %offset) {
  %row = getelementptr i8, ptr %tile, i64 %offset
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %number = ptrtoint ptr addrspace(3) %shared to i32
  %address = inttoptr i32 %number to ptr addrspace(3)
  %m = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3) %address)
  %pair = bitcast i32 %m to <2 x half>
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %pair, <2 x half> %pair, <2 x half> %pair, float 0.0, float 0.0, float 0.0, float 0.0)
  ret i32 %m
}

; What rounding to tf32 adds has no derivative.
; CHECK-LABEL: define float @adgen_body_rounds(
; CHECK-NEXT:    [[MORE:%.*]] = call float @adgen_math_tf32_residual(float %x)
; CHECK-NEXT:    [[R:%.*]] = fadd float %x, [[MORE]]
; CHECK-NEXT:    ret float [[R]]
define float @adgen_body_rounds(float %x) {
  %r = call float asm "cvt.rna.tf32.f32 $0, $1;", "=f,f"(float %x)
  ret float %r
}

; What is not understood stays, and so does the kernel.
; CHECK-LABEL: define { i32, i32 } @adgen_body_integers(
; CHECK:         @llvm.nvvm.mma.m8n8k16.row.col.s8
define { i32, i32 } @adgen_body_integers(i32 %a) {
  %d = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %a, i32 %a, i32 0, i32 0)
  ret { i32, i32 } %d
}

; CHECK-LABEL: define ptx_kernel void @doubles(
; CHECK:         @llvm.nvvm.wmma.m8n8k4.load.a
define ptx_kernel void @doubles(ptr %a) {
  %left = call double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr %a, i32 8)
  ret void
}

; CHECK: declare !enzyme_augment {{.*}} !enzyme_gradient {{.*}} <2 x double> @adgen_math_mma_m8n8k4_f64(<2 x double>) [[PURE:#[0-9]+]]
; CHECK-DAG: attributes [[PURE]] = { convergent nounwind willreturn memory(none) }
; CHECK-DAG: attributes [[CONVERGENT]] = { convergent }
