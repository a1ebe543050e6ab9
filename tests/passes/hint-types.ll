; A fork says what the region finds behind the pointers that it is handed: nothing where that is of several kinds.
;
; RUN: %opt -passes='adgen-hint-types' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 5, ptr @started, i32 %team,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Float@double}" %sum,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Pointer, [-1,0,-1]:Float@float}" %array,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer}" %mixed,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,8]:Pointer}" %pair)
define void @f(i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 5, ptr @started, i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair)
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  call void @region(ptr %sum, ptr %array, ptr %mixed, ptr %pair)
  ret void
}

define internal void @region(ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  %i = load i64, ptr %pair
  %second = getelementptr i8, ptr %pair, i64 8
  %unknown = load ptr, ptr %second
  store double 0.0, ptr %sum
  %data = load ptr, ptr %array
  %element = getelementptr float, ptr %data, i64 %i
  %value = load float, ptr %element
  %one = getelementptr i8, ptr %mixed, i64 %i
  store float %value, ptr %one
  store i64 %i, ptr %mixed
  ret void
}

; Memory that is copied is of one type on both sides.
; CHECK-LABEL: define double @copied(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memset.p0.i64(ptr %bytes,
define double @copied(ptr %from, ptr %bytes, i64 %n) {
  %to = call ptr @malloc(i64 %n)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %bytes, i8 0, i64 %n, i1 false)
  %at = getelementptr double, ptr %to, i64 %n
  %value = load double, ptr %at
  ret double %value
}

declare ptr @malloc(i64)
; A copy of the user's integers; of a buffer of bytes nothing is said.
; CHECK-LABEL: define void @integers(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 %n, i1 false)
define void @integers(ptr %to, ptr "adgen-layout"="4[0i4]" %from, i64 %n) {
  %buffer = alloca [64 x i8]
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 %n, i1 false)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
