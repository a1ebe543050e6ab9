; A maximum that all lanes of a warp find by exchanges is the number of the first lane that has it. Not where lanes find
; anything else on the way, or some lanes' alone.
;
; RUN: %opt -passes=adgen-find-winners,verify -S %s | %filecheck %s
target triple = "nvptx64-nvidia-cuda"

declare void @adgen_rule_shfl_bfly_f32(ptr, ptr, i32, i32, i32)
declare void @adgen_rule_shfl_idx_f32(ptr, ptr, i32, i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare float @llvm.maxnum.f32(float, float)

; CHECK-LABEL: define float @adgen_body_around(
; CHECK:         [[X:%.*]] = call float @adgen_hidden_bits_rounded_f32(float %x)
; CHECK:         call float @adgen_hidden_llvm.nvvm.shfl.sync.idx.f32(i32 -1, float [[X]], i32 %next, i32 31)
; CHECK-NOT:     adgen_rule
; CHECK:         [[M:%m5]] = call float @llvm.maxnum.f32(
; CHECK-NEXT:    [[OWN:%.*]] = fcmp oeq float %x, [[M]]
; CHECK-NEXT:    [[HAVE:%.*]] = call i32 @adgen_hidden_llvm.nvvm.vote.ballot.sync(i32 -1, i1 [[OWN]])
; CHECK-NEXT:    [[FIRST:%.*]] = call i32 @llvm.cttz.i32(i32 [[HAVE]], i1 false)
; CHECK-NEXT:    store float %x, ptr [[SENT:%.*]], align
; CHECK-NEXT:    call void @adgen_rule_shfl_one_f32(ptr [[RECEIVED:%.*]], ptr [[SENT]], i32 -1, i32 [[FIRST]], i32 31)
; CHECK-NEXT:    [[THEIRS:%.*]] = load float, ptr [[RECEIVED]]
; CHECK-NEXT:    [[SAME:%.*]] = fcmp oeq float [[THEIRS]], [[M]]
; CHECK-NEXT:    [[RESULT:%.*]] = select i1 [[SAME]], float [[THEIRS]], float [[M]]
; CHECK-NEXT:    ret float [[RESULT]]
define float @adgen_body_around(float %x) {
  %in = alloca float
  %out = alloca float
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %next = add i32 %lane, 1
  store float %x, ptr %in
  call void @adgen_rule_shfl_idx_f32(ptr %out, ptr %in, i32 -1, i32 %next, i32 31)
  %o1 = load float, ptr %out
  %m1 = call float @llvm.maxnum.f32(float %x, float %o1)
  %after = add i32 %lane, 2
  store float %m1, ptr %in
  call void @adgen_rule_shfl_idx_f32(ptr %out, ptr %in, i32 -1, i32 %after, i32 31)
  %o2 = load float, ptr %out
  %m2 = call float @llvm.maxnum.f32(float %m1, float %o2)
  %four = add i32 %lane, 4
  store float %m2, ptr %in
  call void @adgen_rule_shfl_idx_f32(ptr %out, ptr %in, i32 -1, i32 %four, i32 31)
  %o3 = load float, ptr %out
  %m3 = call float @llvm.maxnum.f32(float %m2, float %o3)
  %eight = add i32 %lane, 8
  store float %m3, ptr %in
  call void @adgen_rule_shfl_idx_f32(ptr %out, ptr %in, i32 -1, i32 %eight, i32 31)
  %o4 = load float, ptr %out
  %m4 = call float @llvm.maxnum.f32(float %m3, float %o4)
  store float %m4, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 16, i32 31)
  %o5 = load float, ptr %out
  %m5 = call float @llvm.maxnum.f32(float %m4, float %o5)
  ret float %m5
}

; Groups of eight lanes; what is received last is read by some lanes alone, and which of two equal numbers is taken was
; settled by the lane's number.
; CHECK-LABEL: define void @adgen_body_groups(
; CHECK-COUNT-3:  call float @adgen_hidden_llvm.nvvm.shfl.sync.bfly.f32(
; CHECK:         %takes = or i1 %least, %none
; CHECK-NEXT:    %m3 = select i1 %takes, float %m2
; CHECK:         [[HAVE:%.*]] = call i32 @adgen_hidden_llvm.nvvm.vote.ballot.sync(
; CHECK-NEXT:    [[LANE:%.*]] = call "enzyme_type"="{[-1]:Integer}" i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT:    [[GROUP:%.*]] = and i32 [[LANE]], 24
; CHECK-NEXT:    [[OF:%.*]] = shl i32 255, [[GROUP]]
; CHECK-NEXT:    [[MINE:%.*]] = and i32 [[HAVE]], [[OF]]
; CHECK-NEXT:    [[FIRST:%.*]] = call i32 @llvm.cttz.i32(i32 [[MINE]], i1 false)
; CHECK:         call void @adgen_rule_shfl_one_f32(ptr {{.*}}, i32 -1, i32 [[FIRST]], i32 6175)
; CHECK:         br i1 %first
; CHECK:         ret void
define void @adgen_body_groups(float %x, i1 %first, i1 %lower, ptr %y) {
  %in = alloca float
  %out = alloca float
  %last = alloca float
  store float %x, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 4, i32 6175)
  %o1 = load float, ptr %out
  %m1 = call float @llvm.maxnum.f32(float %x, float %o1)
  store float %m1, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 1, i32 6175)
  %o2 = load float, ptr %out
  %m2 = call float @llvm.maxnum.f32(float %m1, float %o2)
  store float %m2, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %last, ptr %in, i32 -1, i32 2, i32 6175)
  br i1 %first, label %then, label %end

then:
  %o3 = load float, ptr %last
  %larger = fcmp ogt float %m2, %o3
  %least = fcmp oge float %m2, %o3
  %settled = select i1 %lower, i1 %least, i1 %larger
  %none = fcmp uno float %o3, 0.0
  %takes = or i1 %settled, %none
  %m3 = select i1 %takes, float %m2, float %o3
  store float %m3, ptr %y
  br label %end

end:
  ret void
}

; CHECK-LABEL: define float @adgen_body_others(
; CHECK-NOT:     hidden
; CHECK:         ret float
define float @adgen_body_others(float %x) {
  %in = alloca float
  %out = alloca float
  store float %x, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 1, i32 31)
  %o1 = load float, ptr %out
  %m1 = call float @llvm.maxnum.f32(float %x, float %o1)
  store float %m1, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 2, i32 31)
  %o2 = load float, ptr %out
  %m2 = call float @llvm.maxnum.f32(float %m1, float %o2)
  %sum = fadd float %m1, %m2
  store float %m2, ptr %in
  call void @adgen_rule_shfl_bfly_f32(ptr %out, ptr %in, i32 -1, i32 4, i32 31)
  %o4 = load float, ptr %out
  %m4 = call float @llvm.maxnum.f32(float %m2, float %o4)
  %all = fadd float %sum, %m4
  ret float %all
}
