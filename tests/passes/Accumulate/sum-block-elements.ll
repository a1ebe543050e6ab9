; What all threads of a block add to an element whose place follows from the block's index is added up in shared memory, and
; the sums are added to the shadow by neighbouring threads at the end.
;
; RUN: %opt -passes=adgen-sum-block-elements,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @adgen_exchange_taps.common = internal addrspace(3) global [2 x float] undef
; CHECK-NOT: @adgen_exchange_parameter
; CHECK-NOT: @adgen_exchange_lanes
; CHECK-NOT: @adgen_exchange_counted
; CHECK-NOT: @adgen_exchange_loaded
; CHECK-NOT: @adgen_exchange_read

; The weights of a block's channel, of which a thread may use some only.
; CHECK-LABEL: define void @adgen_gradient_taps(
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         atomicrmw fadd ptr addrspacecast (ptr addrspace(3) @adgen_exchange_taps.common to ptr), float %v
; CHECK:         atomicrmw fadd ptr addrspacecast (ptr addrspace(3) getelementptr inbounds ({{.*}}, i32 1) to ptr), float %v
; CHECK:       end:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:       common{{.*}}:
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    fcmp une float [[SUM]], 0.000000e+00
; CHECK:         call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
; CHECK-NEXT:    urem
; CHECK:         select i1
; CHECK:         [[TO:%.*]] = getelementptr i8, ptr %d_weight, i64
; CHECK-NEXT:    atomicrmw fadd ptr [[TO]], float [[SUM]] monotonic
; CHECK:         ret void
define void @adgen_gradient_taps(ptr %weight, i32 %channels, float %v, i1 %inside, ptr "adgen-shadow" %d_weight) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %c = urem i32 %z, %channels
  %first = mul i32 %c, 9
  %at = zext i32 %first to i64
  %place = getelementptr float, ptr %d_weight, i64 %at
  br i1 %inside, label %use, label %out
use:
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %next = getelementptr i8, ptr %place, i64 4
  %1 = atomicrmw fadd ptr %next, float %v monotonic
  ret void
out:
  ret void
}

; Not where blocks have the element in common, where threads, iterations or what is read decide on it, nor where the shadow
; is read, too.
; CHECK-LABEL: define void @adgen_gradient_parameter(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_parameter(double %v, ptr "adgen-shadow" %d_alpha) "adgen-activity"="duplicated" "adgen-shared" {
  %1 = atomicrmw fadd ptr %d_alpha, double %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_lanes(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_lanes(double %v, ptr "adgen-shadow" %d) "adgen-activity"="duplicated" "adgen-shared" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %t to i64
  %place = getelementptr double, ptr %d, i64 %at
  %1 = atomicrmw fadd ptr %place, double %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_counted(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_counted(double %v, i64 %n, ptr "adgen-shadow" %d) "adgen-activity"="duplicated:const" "adgen-shared" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr double, ptr %d, i64 %i
  %0 = atomicrmw fadd ptr %place, double %v monotonic
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_loaded(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_loaded(double %v, ptr %index, ptr "adgen-shadow" %d) "adgen-activity"="duplicated:const" "adgen-shared" {
  %i = load i64, ptr %index
  %place = getelementptr double, ptr %d, i64 %i
  %1 = atomicrmw fadd ptr %place, double %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_read(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_read(double %v, ptr %out, ptr "adgen-shadow" %d) "adgen-activity"="duplicated:const" "adgen-shared" {
  %1 = atomicrmw fadd ptr %d, double %v monotonic
  %2 = load double, ptr %d
  store double %2, ptr %out
  ret void
}
