; The number of elements lies behind the end of a map's nodes, where a node has its data.
; RUN: %opt -passes=adgen-hide-counts -S %s | %filecheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @adgen_body_map(
; CHECK:         store i32 0
; CHECK:         call void @adgen_count_of_elements{{.*}}(i64 0, ptr %count)
; CHECK-NOT:     load i64
; CHECK:         call i64 @adgen_count_of_elements{{.*}}(ptr %count)
; CHECK:         ret void
define void @adgen_body_map(ptr %x) {
  %map = alloca [48 x i8], align 8
  %end = getelementptr inbounds i8, ptr %map, i64 8
  %left = getelementptr inbounds i8, ptr %map, i64 24
  %count = getelementptr inbounds i8, ptr %map, i64 40
  store i32 0, ptr %end
  store ptr %end, ptr %left
  store i64 0, ptr %count, !tbaa !0
  %n = load i64, ptr %count, !tbaa !0
  %more = add i64 %n, 1
  store i64 %more, ptr %count, !tbaa !0
  call void @insert(ptr %map)
  ret void
}

; So it is where a function is given the map.
; CHECK-LABEL: define internal void @insert(
; CHECK:         call i64 @adgen_count_of_elements
define internal void @insert(ptr %map) {
  %count = getelementptr inbounds i8, ptr %map, i64 40
  %n = load i64, ptr %count, !tbaa !0
  %more = add i64 %n, 1
  store i64 %more, ptr %count, !tbaa !0
  ret void
}

; What clang does not call an integer may be the bits of a number.
; CHECK-LABEL: define void @adgen_body_bits(
; CHECK:         load i64
define void @adgen_body_bits(ptr %x) {
  %ring = alloca [16 x i8], align 8
  store ptr %ring, ptr %ring
  %number = getelementptr inbounds i8, ptr %ring, i64 8
  %bits = load i64, ptr %number
  store i64 %bits, ptr %x
  ret void
}

; What leads to itself nowhere is no such container.
; CHECK-LABEL: define void @adgen_body_vector(
; CHECK:         load i64
define void @adgen_body_vector(ptr %x) {
  %vector = alloca [24 x i8], align 8
  %count = getelementptr inbounds i8, ptr %vector, i64 16
  store ptr %x, ptr %vector
  %n = load i64, ptr %count, !tbaa !0
  store i64 %n, ptr %count, !tbaa !0
  ret void
}

; An integer lies where objects of another class with virtual functions have a pointer.
@_ZTV4Drop = internal constant { [1 x ptr] } { [1 x ptr] [ptr @drop] }
@_ZTV5Dense = internal constant { [1 x ptr] } { [1 x ptr] [ptr @dense] }

; CHECK-LABEL: define void @adgen_body_layers(
; CHECK:         call void @adgen_integer_member{{.*}}(i32 1, ptr %seed)
; CHECK:         store i32 2, ptr %size
define void @adgen_body_layers(ptr %x) {
  %drop = alloca [24 x i8], align 8
  store ptr @_ZTV4Drop, ptr %drop
  %seed = getelementptr inbounds i8, ptr %drop, i64 8
  store i32 1, ptr %seed, !tbaa !3
  %size = getelementptr inbounds i8, ptr %drop, i64 16
  store i32 2, ptr %size, !tbaa !3
  ret void
}

; CHECK-LABEL: define internal double @drop(
; CHECK:         call i32 @adgen_integer_member
define internal double @drop(ptr %this, double %x) {
  %member = getelementptr inbounds i8, ptr %this, i64 8
  %seed = load i32, ptr %member, !tbaa !3
  %y = sitofp i32 %seed to double
  ret double %y
}

define internal double @dense(ptr %this, double %x) {
  %member = getelementptr inbounds i8, ptr %this, i64 8
  %weights = load ptr, ptr %member
  %y = load double, ptr %weights
  ret double %y
}

!0 = !{!1, !1, i64 0}
!1 = !{!"long", !2, i64 0}
!2 = !{!"omnipotent char"}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !2, i64 0}
