; Dual numbers through a body: a load reads the shadow beside the number, what has no shadow (a pointer that is its own) gives zero; quotients,
; sums and shuffles of tangents; a function is carried over too; mathematics has a formula. Barriers are passed through.
;
; RUN: %opt -passes=adgen-carry-duals -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

define void @adgen_tangent_f(ptr %x, ptr %n, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %n)
  ret void
}

define void @adgen_body_f(ptr %x, ptr %n) {
  %i = load i32, ptr %n
  %at = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %at
  %s = call float @__nv_sinf(float %a)
  %q = fdiv float %s, %a
  %w = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %q, i32 1, i32 31)
  %old = atomicrmw fadd ptr %x, float %w monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call float @half(float %w)
  store float %r, ptr %at
  ret void
}

define float @half(float %v) {
  %h = fmul float %v, 0.5
  ret float %h
}

define void @adgen_tangent_g(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_g(ptr @adgen_body_g, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_body_g(ptr %x) {
  %a = load float, ptr %x
  %shifted = call float @__nv_fmaf(float %a, float 2.0, float 0x4168000000000000)
  %whole = fsub float %shifted, 0x4168000000000000
  %rest = fsub float %a, %whole
  store float %rest, ptr %x
  ret void
}

define void @adgen_tangent_k(ptr %x, ptr %n, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_k(ptr @adgen_body_k, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %n)
  ret void
}

define void @adgen_body_k(ptr %x, ptr %n) {
  %mask = load i64, ptr %n
  %union = inttoptr i64 %mask to ptr
  %group = insertvalue { { ptr, i8 } } poison, ptr %union, 0, 0
  %data = extractvalue { { ptr, i8 } } %group, 0
  %copied = extractvalue { ptr, i8 } %data, 0
  %bits = ptrtoint ptr %copied to i64
  %at = getelementptr float, ptr %x, i64 %bits
  store float 1.0, ptr %at
  ret void
}

define void @adgen_tangent_m(ptr %x, i1 %c, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_m(ptr @adgen_body_m, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", i1 %c)
  ret void
}

define void @adgen_body_m(ptr %x, i1 %c) {
  %chosen = select i1 %c, { i64, i64 } { i64 ptrtoint (ptr @half to i64), i64 0 }, { i64, i64 } { i64 ptrtoint (ptr @twice to i64), i64 0 }
  %word = extractvalue { i64, i64 } %chosen, 0
  %method = inttoptr i64 %word to ptr
  %a = load float, ptr %x
  %r = call float %method(float %a)
  store float %r, ptr %x
  ret void
}

define float @twice(float %v) {
  %t = fmul float %v, 2.0
  ret float %t
}

declare void @__enzyme_fwddiff_adgen_body_m(...)
declare void @__enzyme_fwddiff_adgen_body_f(...)
declare void @__enzyme_fwddiff_adgen_body_k(...)
declare void @__enzyme_fwddiff_adgen_body_g(...)
declare float @__nv_fmaf(float, float, float)
declare float @__nv_sinf(float)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; A pointer whose shadow is null is its own.
; CHECK-LABEL: define void @adgen_tangent_f(
; CHECK:         [[NONE:%.*]] = icmp eq ptr %d_x, null
; CHECK-NEXT:    [[SHADOW:%.*]] = select i1 [[NONE]], ptr %x, ptr %d_x
; CHECK-NEXT:    call void @adgen_dual_of_adgen_body_f(ptr %x, ptr %n, ptr [[SHADOW]], ptr %n)

; CHECK-LABEL: define internal void @adgen_dual_of_adgen_body_f(ptr %x, ptr %n, ptr %d_x, ptr %d_n)
; CHECK:         %i = load i32, ptr %n
; CHECK-NEXT:    %d_i = load i32, ptr %d_n
; CHECK:         %at = getelementptr float, ptr %x, i32 %i
; CHECK-NEXT:    %d_at = getelementptr float, ptr %d_x, i32 %i
; CHECK-NEXT:    %a = load float, ptr %at
; CHECK-NEXT:    %d_a = load float, ptr %d_at
; CHECK-NEXT:    [[OWN:%.*]] = icmp eq ptr %at, %d_at
; CHECK-NEXT:    [[DA:%.*]] = select i1 [[OWN]], float 0.0{{.*}}, float %d_a
; CHECK:         call double @adgen_dual_sin(double {{%.*}}, double {{%.*}})
; CHECK:         %q = fdiv float %s, %a
; CHECK:         fmul float %q, [[DA]]
; CHECK:         fdiv float {{%.*}}, %a
; CHECK-NEXT:    [[DQ:%.*]] = select i1 {{%.*}}, float 0.0{{.*}}, float
; CHECK-NEXT:    %w = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %q, i32 1, i32 31)
; CHECK-NEXT:    [[DW:%.*]] = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float [[DQ]], i32 1, i32 31)
; CHECK-NEXT:    %old = atomicrmw fadd ptr %x, float %w monotonic
; What would be lost, because it is stored where there is no shadow, is noted.
; CHECK:         select i1 {{%.*}}, ptr {{.*}}@adgen_shadow_notes{{.*}}, ptr %nowhere
; CHECK:         [[PLACE:%.*]] = select i1 {{%.*}}, ptr %nowhere, ptr %d_x
; CHECK-NEXT:    atomicrmw fadd ptr [[PLACE]], float [[DW]] monotonic
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    [[BOTH:%.*]] = call { float, float } @adgen_dual_of_half(float %w, float [[DW]])
; CHECK-NEXT:    [[R:%.*]] = extractvalue { float, float } [[BOTH]], 0
; CHECK-NEXT:    [[DR:%.*]] = extractvalue { float, float } [[BOTH]], 1
; CHECK:         store float [[DR]], ptr {{%.*}}
; CHECK-NEXT:    store float [[R]], ptr %at

; What is rounded by adding a constant and taking it away again is a step: the rest has the tangent of the number.
; CHECK-LABEL: define internal void @adgen_dual_of_adgen_body_g(ptr %x, ptr %d_x)
; CHECK:         [[DV:%.*]] = select i1 {{%.*}}, float 0.0{{.*}}, float %d_a
; CHECK:         %whole = fsub float %shifted, 0x4168000000000000
; CHECK-NEXT:    %rest = fsub float %a, %whole
; CHECK-NOT:     fsub
; CHECK:         store float [[DV]], ptr {{%.*}}

; Whole numbers that a union with a pointer in it was copied as are no address, and have no shadow.
; CHECK-LABEL: define internal void @adgen_dual_of_adgen_body_k(
; CHECK:         %at = getelementptr float, ptr %x, i64 %bits
; CHECK-NEXT:    %d_at = getelementptr float, ptr %d_x, i64 %bits

; Of two addresses of functions as integers, the one that is chosen leads to the function with tangents.
; CHECK-LABEL: define internal void @adgen_dual_of_adgen_body_m(
; CHECK:         [[CHOSEN:%.*]] = select i1 %c, ptr @adgen_dual_of_half, ptr @adgen_dual_of_twice
; CHECK:         call {{.*}} [[CHOSEN]](float %a, float {{.*}})

; CHECK-LABEL: define internal { float, float } @adgen_dual_of_half(float %v, float %d_v)
; CHECK:         fmul float {{.*}}, %d_v
