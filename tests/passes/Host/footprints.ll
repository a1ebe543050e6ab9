; The gradient of a kernel that adds to elements whose places follow from indices and arguments has a function that says between which bytes a
; block does so; not one that looks places up.
;
; RUN: %opt -passes=adgen-make-host-entries -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define internal void @near__gradient_footprint(ptr %0, ptr %1, i32 %2, i32 %3, i32 %4, ptr %5)
; The largest index of a thread, the products of the block's index and its extent.
; CHECK-DAG:     sub i64 %{{.*}}, 1
; CHECK-DAG:     call { i64, i1 } @llvm.smul.with.overflow.i64(
; The index has 32 bits before it is extended.
; CHECK-DAG:     icmp sge i64 %{{.*}}, -2147483648
; CHECK-DAG:     icmp sle i64 %{{.*}}, 2147483647
; CHECK:         %[[BEGIN:.*]] = select i1 %[[VALID:.*]], i64 %{{.*}}, i64 -9223372036854775808
; CHECK:         %[[END:.*]] = select i1 %[[VALID]], i64 %{{.*}}, i64 9223372036854775807
; CHECK:         store i64 %[[BEGIN]], ptr %{{.*}}
; CHECK:         store i64 %[[END]], ptr
; CHECK:         ret void
; CHECK-LABEL: define i32 @near__gradient(
; CHECK:         call i32 @adgen_run_blocks(ptr %0, ptr @near__gradient_blocks, ptr @near__gradient_blocks_alone, i64 8, ptr @near__gradient_footprint, ptr %1)
define void @adgen_gradient_near(ptr %x, ptr %y, i32 %n, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dy) "adgen-shared" "adgen-activity"="duplicated:duplicated:const" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %e = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %begin = mul i32 %b, %e
  %i = add i32 %begin, %t
  %at = sext i32 %i to i64
  %own = getelementptr float, ptr %dy, i64 %at
  %v = load float, ptr %own
  %here = getelementptr float, ptr %dx, i64 %at
  %a = atomicrmw fadd ptr %here, float %v monotonic, align 4
  %behind = getelementptr i8, ptr %here, i64 4
  %c = atomicrmw fadd ptr %behind, float %v monotonic, align 4
  ret void
}

; CHECK-LABEL: define i32 @table__gradient(
; CHECK:         call i32 @adgen_run_blocks(ptr %0, ptr @table__gradient_blocks, ptr @table__gradient_blocks_alone, i64 8, ptr null, ptr %1)
define void @adgen_gradient_table(ptr %x, ptr %y, ptr %place, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dy) "adgen-shared" "adgen-activity"="duplicated:duplicated:const" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %looked = getelementptr i32, ptr %place, i32 %t
  %i = load i32, ptr %looked
  %own = getelementptr float, ptr %dy, i32 %t
  %v = load float, ptr %own
  %here = getelementptr float, ptr %dx, i32 %i
  %a = atomicrmw fadd ptr %here, float %v monotonic, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
