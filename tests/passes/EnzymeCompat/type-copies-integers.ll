; An integer that has no name of clang's, as what __ldg loads, is known for one where the memory holds integers of its size: Enzyme might take
; an index that is computed from it for the bits of a number. Not where nothing is known of the memory, or where it holds bytes.
;
; RUN: %opt -passes=adgen-type-copies,verify -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_rows(
; CHECK:         %first = load i64, ptr addrspace(1) %global, align 8, !tbaa [[LONG:![0-9]+]]
; CHECK:         %count = load i32, ptr %at.count, align 4, !tbaa [[INT:![0-9]+]]
; CHECK:         %word = load i32, ptr %bytes, align 4{{$}}
; CHECK:         %other = load i64, ptr %unknown, align 8{{$}}
define void @adgen_body_rows(ptr "adgen-layout"="16[0p8>8[0i8],8i4]" %rows, ptr "adgen-layout"="1[0i1]" %bytes, ptr %unknown, ptr %out, i64 %i) {
  %begins = load ptr, ptr %rows, align 8
  %at = getelementptr i64, ptr %begins, i64 %i
  %global = addrspacecast ptr %at to ptr addrspace(1)
  %first = load i64, ptr addrspace(1) %global, align 8
  %at.count = getelementptr i8, ptr %rows, i64 8
  %count = load i32, ptr %at.count, align 4
  %word = load i32, ptr %bytes, align 4
  %other = load i64, ptr %unknown, align 8
  ret void
}

; CHECK: [[LONG]] = !{[[KIND:![0-9]+]], [[KIND]], i64 0}
; CHECK: [[KIND]] = !{!"long",
; CHECK: [[INT]] = !{[[KIND2:![0-9]+]], [[KIND2]], i64 0}
; CHECK: [[KIND2]] = !{!"int",
