; A copy of a struct by value, or of a part of it, that is only read is read where the kernel has it; not where either is
; written, where the struct has fewer bytes than the local memory, or where it is one that a pointer leads to.
;
; RUN: %opt -passes=adgen-read-parameters,verify -S %s | %filecheck %s
target datalayout = "e-i64:64"

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.lifetime.start.p0(ptr)

; CHECK-LABEL: @adgen_body_part(
; CHECK-NEXT:    [[AT:%.*]] = getelementptr i8, ptr %p, i64 16
; CHECK:         [[LEVEL:%.*]] = getelementptr ptr, ptr [[AT]], i64 %level
; CHECK-NEXT:    load ptr, ptr [[LEVEL]], align 8
; CHECK-NEXT:    ret void
define void @adgen_body_part(ptr readonly "adgen-struct"="64" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  call void @llvm.lifetime.start.p0(ptr %copy)
  %from = getelementptr i8, ptr %p, i64 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %from, i64 32, i1 false)
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; Members that are copied by themselves, from the same place.
; CHECK-LABEL: @adgen_body_members(
; CHECK-NOT:     alloca
; CHECK-NOT:     store
; CHECK:         [[LEVEL:%.*]] = getelementptr ptr, ptr %p, i64 %level
; CHECK-NEXT:    load ptr, ptr [[LEVEL]], align 8
define void @adgen_body_members(ptr readonly "adgen-struct"="32" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  %from = getelementptr i8, ptr %p, i64 24
  %member = load ptr, ptr %from, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 24, i1 false)
  %to = getelementptr i8, ptr %copy, i64 24
  store ptr %member, ptr %to, align 8
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; CHECK-LABEL: @adgen_body_other_member(
; CHECK:         alloca
; CHECK:         memcpy
define void @adgen_body_other_member(ptr readonly "adgen-struct"="32" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  %from = getelementptr i8, ptr %p, i64 16
  %member = load ptr, ptr %from, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 24, i1 false)
  %to = getelementptr i8, ptr %copy, i64 24
  store ptr %member, ptr %to, align 8
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; A copy of a copy, which stands before it.
; CHECK-LABEL: @adgen_body_twice(
; CHECK-NEXT:    [[LEVEL:%.*]] = getelementptr ptr, ptr %p, i64 %level
; CHECK-NEXT:    load ptr, ptr [[LEVEL]], align 8
; CHECK-NEXT:    ret void
define void @adgen_body_twice(ptr readonly "adgen-struct"="32" %p, i64 %level) {
  %again = alloca [4 x ptr], align 8
  %copy = alloca [4 x ptr], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 32, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %again, ptr align 8 %copy, i64 32, i1 false)
  %at = getelementptr ptr, ptr %again, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; CHECK-LABEL: @adgen_body_written(
; CHECK:         alloca
; CHECK:         memcpy
define void @adgen_body_written(ptr readonly "adgen-struct"="32" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 32, i1 false)
  %at = getelementptr ptr, ptr %copy, i64 %level
  store ptr null, ptr %at, align 8
  ret void
}

; CHECK-LABEL: @adgen_body_given_written(
; CHECK:         alloca
; CHECK:         memcpy
define void @adgen_body_given_written(ptr "adgen-struct"="32" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 32, i1 false)
  store ptr null, ptr %p, align 8
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; CHECK-LABEL: @adgen_body_begun(
; CHECK:         alloca
; CHECK:         memcpy
define void @adgen_body_begun(ptr readonly "adgen-struct"="16" %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 16, i1 false)
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}

; CHECK-LABEL: @adgen_body_pointer(
; CHECK:         alloca
; CHECK:         memcpy
define void @adgen_body_pointer(ptr readonly %p, i64 %level) {
  %copy = alloca [4 x ptr], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %p, i64 32, i1 false)
  %at = getelementptr ptr, ptr %copy, i64 %level
  %texture = load ptr, ptr %at, align 8
  ret void
}
