; Sets of inputs through a body: arithmetic joins them, comparisons and conversions to integers give none, a select takes the chosen one, an atomic
; operation joins what is there. The narrowest type is the lane: a double is given the set of a float in both of its halves.
;
; RUN: %opt -passes='adgen-carry-sets<local>' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

define void @adgen_tangent_f(ptr %x, ptr %n, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %n)
  ret void
}

define void @adgen_body_f(ptr %x, ptr %n) {
  %a = load float, ptr %x
  %next = getelementptr float, ptr %x, i64 1
  %b = load float, ptr %next
  %s = call float @__nv_sinf(float %a)
  %p = fmul float %s, %b
  %up = fcmp ogt float %a, %b
  %m = select i1 %up, float %p, float %b
  %whole = fptosi float %m to i32
  %back = sitofp i32 %whole to float
  %r = fadd float %back, %m
  %old = atomicrmw fadd ptr %x, float %r monotonic
  %w = fpext float %r to double
  %z = fmul double %w, 2.0
  store double %z, ptr %n
  ret void
}

declare void @__enzyme_fwddiff_adgen_body_f(...)
declare float @__nv_sinf(float)

; CHECK: @adgen_set_lane = addrspace(1) externally_initialized global i32 32
; CHECK-LABEL: define internal void @adgen_set_of_adgen_body_f(ptr %x, ptr %n, ptr %d_x, ptr %d_n)
; CHECK:         [[A:%.*]] = select i1 {{%.*}}, float 0.0{{.*}}, float %d_a
; CHECK:         [[B:%.*]] = select i1 {{%.*}}, float 0.0{{.*}}, float %d_b
; CHECK:         %s = call float @__nv_sinf(float %a)
; CHECK-NEXT:    [[ABITS:%.*]] = bitcast float [[A]] to i32
; CHECK-NEXT:    [[S:%.*]] = bitcast i32 [[ABITS]] to float
; CHECK-NEXT:    %p = fmul float %s, %b
; CHECK-NEXT:    [[SBITS:%.*]] = bitcast float [[S]] to i32
; CHECK-NEXT:    [[BBITS:%.*]] = bitcast float [[B]] to i32
; CHECK-NEXT:    [[PBITS:%.*]] = or i32 [[SBITS]], [[BBITS]]
; CHECK-NEXT:    [[P:%.*]] = bitcast i32 [[PBITS]] to float
; CHECK-NEXT:    %up = fcmp ogt float %a, %b
; CHECK-NEXT:    %m = select i1 %up, float %p, float %b
; CHECK-NEXT:    [[M:%.*]] = select i1 %up, float [[P]], float [[B]]
; What went through an integer is nothing but a step.
; CHECK:         %r = fadd float %back, %m
; CHECK-NEXT:    [[MBITS:%.*]] = bitcast float [[M]] to i32
; CHECK-NEXT:    [[R:%.*]] = bitcast i32 [[MBITS]] to float
; CHECK:         atomicrmw or ptr {{%.*}}, i32 {{%.*}} monotonic
; CHECK:         %w = fpext float %r to double
; CHECK-NEXT:    [[RBITS:%.*]] = bitcast float [[R]] to i32
; CHECK-NEXT:    [[WIDE:%.*]] = zext i32 [[RBITS]] to i64
; CHECK-NEXT:    [[TURNED:%.*]] = call i64 @llvm.fshl.i64(i64 [[WIDE]], i64 [[WIDE]], i64 32)
; CHECK-NEXT:    or i64 [[WIDE]], [[TURNED]]
