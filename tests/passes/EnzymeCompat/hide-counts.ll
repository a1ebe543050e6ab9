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
  store i64 0, ptr %count
  %n = load i64, ptr %count
  %more = add i64 %n, 1
  store i64 %more, ptr %count
  call void @insert(ptr %map)
  ret void
}

; So it is where a function is given the map.
; CHECK-LABEL: define internal void @insert(
; CHECK:         call i64 @adgen_count_of_elements
define internal void @insert(ptr %map) {
  %count = getelementptr inbounds i8, ptr %map, i64 40
  %n = load i64, ptr %count
  %more = add i64 %n, 1
  store i64 %more, ptr %count
  ret void
}

; What leads to itself nowhere is no such container.
; CHECK-LABEL: define void @adgen_body_vector(
; CHECK:         load i64
define void @adgen_body_vector(ptr %x) {
  %vector = alloca [24 x i8], align 8
  %count = getelementptr inbounds i8, ptr %vector, i64 16
  store ptr %x, ptr %vector
  %n = load i64, ptr %count
  store i64 %n, ptr %count
  ret void
}
