; Threads that add to their own element of shared arrays and to others at a distance that all of them share, kept between
; bounds, take turns without atomics; those at a bound add last, together.
;
; RUN: %opt -passes=adgen-add-at-distances,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_reduces(
; No two threads have an element in common: one row of threads, each one further than the one before, arrays apart.
; CHECK:         icmp eq i32 {{.*}}, 1
; CHECK:         icmp eq i32 {{.*}}, 1
; CHECK:         icmp sge i64 {{.*}}, -2147483648
; CHECK:         icmp sle i64 {{.*}}, 2147483647
; CHECK:         call i64 @llvm.abs.i64(
; CHECK:         br i1 {{.*}}, label %[[TURNS:.*]], label %[[ATOMS:.*]]
; CHECK:       [[TURNS]]:
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    [[OWN:%.*]] = load float, ptr %own
; CHECK-NEXT:    [[OWN2:%.*]] = load float, ptr %own2
; CHECK-NEXT:    [[SUM:%.*]] = fadd float [[OWN]], %v
; CHECK-NEXT:    store float [[SUM]], ptr %own
; CHECK:         store float {{.*}}, ptr %own2
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         [[FREE:%.*]] = call i64 @llvm.smin.i64(
; CHECK-NEXT:    [[AT:%.*]] = icmp ne i64 {{.*}}, [[FREE]]
; CHECK-NEXT:    [[NOT:%.*]] = xor i1 [[AT]], true
; CHECK-NEXT:    br i1 [[NOT]]
; CHECK:         load float, ptr %right
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         call i32 @adgen_alike(
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:       [[ATOMS]]:
; CHECK-NEXT:    atomicrmw fadd ptr %own, float %v monotonic{{.*}}!adgen.seldom
define void @adgen_gradient_reduces(i32 %n, i32 %delta, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const:const" "adgen-shared"="s" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %t to i64
  %wide = sext i32 %n to i64
  %b = getelementptr float, ptr %d_s, i64 %wide
  %own = getelementptr float, ptr %d_s, i64 %at
  %own2 = getelementptr float, ptr %b, i64 %at
  %to = add nsw i32 %t, %delta
  %last = add nsw i32 %n, -1
  %kept = call i32 @llvm.smin.i32(i32 %to, i32 %last)
  %next = sext i32 %kept to i64
  %right = getelementptr float, ptr %d_s, i64 %next
  %right2 = getelementptr float, ptr %b, i64 %next
  %0 = atomicrmw fadd ptr %own, float %v monotonic
  %1 = atomicrmw fadd ptr %own2, float %v monotonic
  %2 = atomicrmw fadd ptr %right, float %v monotonic
  %3 = atomicrmw fadd ptr %right2, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Not where some threads only come there, nor at a distance of each thread's own.
; CHECK-LABEL: define void @adgen_gradient_some(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_some(i32 %n, i32 %delta, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const:const" "adgen-shared"="s" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %t to i64
  %own = getelementptr float, ptr %d_s, i64 %at
  %to = add nsw i32 %t, %delta
  %kept = call i32 @llvm.smin.i32(i32 %to, i32 %n)
  %next = sext i32 %kept to i64
  %right = getelementptr float, ptr %d_s, i64 %next
  %before = sub nsw i32 %t, %delta
  %above = call i32 @llvm.smax.i32(i32 %before, i32 0)
  %back = sext i32 %above to i64
  %left = getelementptr float, ptr %d_s, i64 %back
  %comes = icmp ult i32 %t, %n
  br i1 %comes, label %in, label %out
in:
  %0 = atomicrmw fadd ptr %own, float %v monotonic
  %1 = atomicrmw fadd ptr %left, float %v monotonic
  %2 = atomicrmw fadd ptr %right, float %v monotonic
  %3 = atomicrmw fadd ptr %right, float %v monotonic
  br label %out
out:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_own_distance(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_own_distance(ptr %deltas, i32 %n, float %v, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="const:const:const" "adgen-shared"="s" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %deltas, i32 %t
  %delta = load i32, ptr %from
  %to = add nsw i32 %t, %delta
  %kept = call i32 @llvm.smin.i32(i32 %to, i32 %n)
  %next = sext i32 %kept to i64
  %right = getelementptr float, ptr %d_s, i64 %next
  %1 = atomicrmw fadd ptr %right, float %v monotonic
  %2 = atomicrmw fadd ptr %right, float %v monotonic
  %3 = atomicrmw fadd ptr %right, float %v monotonic
  %4 = atomicrmw fadd ptr %right, float %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
