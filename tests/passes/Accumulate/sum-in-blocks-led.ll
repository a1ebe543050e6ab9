; What a loop leads to, and all lanes of a warp have in common, has elements in the warp's row.
;
; RUN: %opt -passes=adgen-sum-in-blocks -S %s | %filecheck %s
; RUN: %opt -passes=adgen-sum-in-blocks,adgen-warp-aggregate-atomics -S %s | %filecheck %s --check-prefix=TOGETHER

target triple = "nvptx64-nvidia-cuda"

; What a loop leads to, and all lanes at once, has all elements in a row that the index may lead to, or that a variable has; where lanes are in
; different iterations, they add with atomics, so the index is compared.
; CHECK-LABEL: define void @adgen_gradient_taps(
; CHECK:         [[LED:%.*]] = getelementptr i8, ptr {{%.*}}, i64 {{-?[0-9]+}}
; CHECK:       tap:
; CHECK:         [[AT:%.*]] = getelementptr float, ptr [[LED]], i64 %k
; CHECK:         atomicrmw fadd ptr [[AT]], float %v monotonic, align 4, !adgen.warps.own
; CHECK:         [[FROM:%.*]] = getelementptr float, ptr %led{{.*}}, i64 %o
; CHECK:         atomicrmw fadd ptr [[FROM]], float %v monotonic, align 4, !adgen.warps.own
; TOGETHER-LABEL: define void @adgen_gradient_taps(
; TOGETHER:         [[ALIKE:%.*]] = call i32 @adgen_alike(i32 [[ACTIVE:%.*]], i64 %k, i1 {{true|false}})
; TOGETHER:         call void @adgen_add_warp_f32_1({{.*}}, i1 true)
; TOGETHER:         call void @adgen_add_warp_f32_1({{.*}}, i1 true)
; What may be anywhere, or differs between lanes, stays.
; CHECK:         atomicrmw fadd ptr %far, float %v monotonic{{(, align 4)?$}}
; CHECK:         atomicrmw fadd ptr %mine, float %v monotonic{{(, align 4)?$}}
@coarse = addrspace(1) externally_initialized global [6 x float] zeroinitializer
define void @adgen_gradient_taps(ptr %w, ptr %x, i32 %n, float %v, ptr "adgen-shadow" %d_w, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" "adgen-variable"="coarse" %d_v) "adgen-activity"="duplicated:duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %tap
tap:
  %k = phi i64 [ 0, %entry ], [ %next, %tap ]
  %o = phi i64 [ 0, %entry ], [ %further, %tap ]
  %at = getelementptr float, ptr %d_w, i64 %k
  %0 = atomicrmw fadd ptr %at, float %v monotonic
  %from = getelementptr float, ptr %d_v, i64 %o
  %1 = atomicrmw fadd ptr %from, float %v monotonic
  %far = getelementptr float, ptr %d_x, i64 %o
  %2 = atomicrmw fadd ptr %far, float %v monotonic
  %mine = getelementptr float, ptr %d_x, i32 %t
  %3 = atomicrmw fadd ptr %mine, float %v monotonic
  %next = add nuw nsw i64 %k, 1
  %step = zext i32 %n to i64
  %further = add i64 %o, %step
  %more = icmp ult i64 %next, 9
  br i1 %more, label %tap, label %out
out:
  ret void
}

; Where a pointer leaves a loop by a phi, the steps in front of it count too: the index of %past is 8 to 16.
; CHECK-LABEL: define void @adgen_gradient_left(
; CHECK:         getelementptr inbounds {{.*}}[17 x float]], ptr addrspace(3) @adgen_exchange_left.warps
; CHECK:       out:
; CHECK:         [[PAST:%.*]] = getelementptr float, ptr {{%[0-9]+}}, i64 8
; CHECK:         atomicrmw fadd ptr [[PAST]], float %v monotonic, align 4, !adgen.warps.own
define void @adgen_gradient_left(ptr %w, float %v, i1 %more, ptr "adgen-shadow" %d_w) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  br label %tap
tap:
  %k = phi i64 [ 0, %entry ], [ %next, %tap ]
  %at = getelementptr float, ptr %d_w, i64 %k
  %0 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add nuw nsw i64 %k, 1
  %again = icmp ult i64 %next, 9
  br i1 %again, label %tap, label %out
out:
  %left = phi ptr [ %at, %tap ]
  %past = getelementptr float, ptr %left, i64 8
  %1 = atomicrmw fadd ptr %past, float %v monotonic
  ret void
}
