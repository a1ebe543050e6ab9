; Elements of small tables to which threads add at places of their own are the block's in shared memory until its threads
; have come to the end.
;
; RUN: %opt -passes=adgen-privatize-tables,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-privatize-tables,adgen-match-lanes,verify -S %s | %filecheck %s --check-prefix=LANES

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @adgen_exchange_masked.table = internal addrspace(3) global [200 x float] undef
; CHECK-DAG: @adgen_exchange_remainder.table = internal addrspace(3) global [15 x double] undef
; CHECK-DAG: @adgen_exchange_asked.table = internal addrspace(3) global [10 x float] undef
; CHECK-NOT: @adgen_exchange_any
; CHECK-NOT: @adgen_exchange_large
; CHECK-NOT: @adgen_exchange_all
; CHECK-NOT: @adgen_exchange_read
; CHECK-NOT: @adgen_exchange_uneven

; Two taps of one of eight filters; lanes of one filter add up first.
; CHECK-LABEL: define void @adgen_gradient_masked(
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[OWN:%.*]] = getelementptr float, ptr addrspacecast (ptr addrspace(3) @adgen_exchange_masked.table to ptr), i32 %first
; CHECK:         [[LAST:%.*]] = getelementptr i8, ptr [[OWN]], i64 96
; CHECK:         atomicrmw fadd ptr [[OWN]], float %v monotonic{{.*}}!adgen.table
; CHECK:         atomicrmw fadd ptr [[LAST]], float %v monotonic{{.*}}!adgen.table
; CHECK:       end:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    fcmp une float [[SUM]], 0.000000e+00
; CHECK:         atomicrmw fadd ptr {{.*}}, float [[SUM]] monotonic
; CHECK:         ret void
; LANES-LABEL: define void @adgen_gradient_masked(
; LANES:         call i32 @adgen_alike(
; LANES:         call void @adgen_add_warp_f32_2(
define void @adgen_gradient_masked(ptr %taps, ptr %class, float %v, ptr "adgen-shadow" %d_taps) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %class, i32 %t
  %c = load i32, ptr %from
  %k = and i32 %c, 7
  %first = mul nuw nsw i32 %k, 25
  %place = getelementptr inbounds float, ptr %d_taps, i32 %first
  %last = getelementptr inbounds i8, ptr %place, i64 96
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %1 = atomicrmw fadd ptr %last, float %v monotonic
  ret void
}

; The remainder of what may be negative, which LLVM has made a difference in eight bits.
; CHECK-LABEL: define void @adgen_gradient_remainder(
; CHECK:         getelementptr double, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @adgen_exchange_remainder.table to ptr), i64 56), i64 %at
; CHECK:       end:
; CHECK:         getelementptr i8, ptr %d_matrix, i64 -56
define void @adgen_gradient_remainder(ptr %matrix, i32 %i, double %v, ptr "adgen-shadow" %d_matrix) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %site = add i32 %t, %i
  %q = sdiv i32 %site, 8
  %n = mul i32 %q, 248
  %d = add i32 %n, %site
  %r = trunc i32 %d to i8
  %at = sext i8 %r to i64
  %place = getelementptr double, ptr %d_matrix, i64 %at
  %0 = atomicrmw fadd ptr %place, double %v monotonic
  ret void
}

; A number is known to be small where a condition has led.
; CHECK-LABEL: define void @adgen_gradient_asked(
; CHECK:         atomicrmw fadd ptr {{.*}}, float %v monotonic{{.*}}!adgen.table
define void @adgen_gradient_asked(ptr %table, ptr %class, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %class, i32 %t
  %c = load i32, ptr %from
  %known = icmp ult i32 %c, 10
  br i1 %known, label %use, label %out
use:
  %at = zext i32 %c to i64
  %place = getelementptr float, ptr %d_table, i64 %at
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  br label %out
out:
  ret void
}

; Not where an index may be any or many, where all threads mean one element, where the shadow is read, too, nor at places
; that are no multiples of an element's size.
; CHECK-LABEL: define void @adgen_gradient_any(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_any(ptr %class, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:duplicated" "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %class, i32 %t
  %c = load i32, ptr %from
  %place = getelementptr float, ptr %d_table, i32 %c
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_large(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_large(float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:duplicated" "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = and i32 %t, 1023
  %place = getelementptr float, ptr %d_table, i32 %at
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_all(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_all(i32 %c, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:const:duplicated" "adgen-shared" {
  %at = and i32 %c, 7
  %place = getelementptr float, ptr %d_table, i32 %at
  %1 = atomicrmw fadd ptr %place, float %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_read(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_read(float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:duplicated" "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = and i32 %t, 7
  %place = getelementptr float, ptr %d_table, i32 %at
  %before = load float, ptr %place
  %w = fmul float %v, %before
  %1 = atomicrmw fadd ptr %place, float %w monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_uneven(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_uneven(double %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:duplicated" "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = and i32 %t, 7
  %place = getelementptr {i32, double, i32}, ptr %d_table, i32 %at, i32 1
  %part = getelementptr i8, ptr %place, i64 4
  %1 = atomicrmw fadd ptr %part, double %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
