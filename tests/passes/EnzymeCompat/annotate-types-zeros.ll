; What a class declares to be integers is cleared as integers, in a local variable and in elements of an array; not what
; a union, bytes, or memory in which numbers are stored might hold. A loop's zeros are what clang said of its stores.
;
; RUN: %opt -passes='adgen-annotate-types' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

%class.Block = type { ptr, %struct.Index, %struct.Index, double }
%struct.Index = type { i64 }
%class.Either = type { ptr, %union.Either, i64 }
%union.Either = type { i64 }
%class.Room = type { ptr, [16 x i8] }

declare void @use(ptr)

; CHECK-LABEL: @local(
; CHECK: memset{{.*}}"enzyme_type"="{[-1]:Pointer, [-1,0]:Integer, {{.*}}, [-1,15]:Integer}" %indices, i8 0, i64 16
; CHECK: memset{{.*}}%indices, i8 0, i64 24
; CHECK-NOT: enzyme_type
define void @local() {
  %block = alloca %class.Block
  %indices = getelementptr i8, ptr %block, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %indices, i8 0, i64 16, i1 false)
  call void @llvm.memset.p0.i64(ptr align 8 %indices, i8 0, i64 24, i1 false)
  call void @use(ptr %block)
  ret void
}

; CHECK-LABEL: @unknown(
; CHECK-NOT: enzyme_type
; CHECK: ret void
define void @unknown() {
  %either = alloca %class.Either
  %room = alloca %class.Room
  %first = getelementptr i8, ptr %either, i64 8
  %second = getelementptr i8, ptr %room, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %first, i8 0, i64 16, i1 false)
  call void @llvm.memset.p0.i64(ptr align 8 %second, i8 0, i64 16, i1 false)
  call void @use(ptr %either)
  call void @use(ptr %room)
  ret void
}

; CHECK-LABEL: @stored(
; CHECK-NOT: enzyme_type{{.*}}Integer
; CHECK: ret void
define void @stored(double %x) {
  %block = alloca %class.Block
  %indices = getelementptr i8, ptr %block, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %indices, i8 0, i64 16, i1 false)
  store double %x, ptr %indices
  call void @use(ptr %block)
  ret void
}

; CHECK-LABEL: @elements(
; CHECK: memset{{.*}}"enzyme_type"="{[-1]:Pointer, [-1,0]:Integer
define void @elements(ptr %array, i64 %i) {
  %kept = load ptr, ptr %array
  %element = getelementptr %class.Block, ptr %kept, i64 %i
  %indices = getelementptr i8, ptr %element, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %indices, i8 0, i64 16, i1 false)
  ret void
}

; CHECK-LABEL: @row(
; CHECK: memset{{.*}}"enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %row
define void @row(ptr %rows, i64 %n) {
  %row = load ptr, ptr %rows
  call void @llvm.memset.p0.i64(ptr align 8 %row, i8 0, i64 %n, i1 false), !tbaa !0
  ret void
}

!0 = !{!1, !1, i64 0}
!1 = !{!"double", !2, i64 0}
!2 = !{!"omnipotent char", !3, i64 0}
!3 = !{!"Simple C++ TBAA"}
