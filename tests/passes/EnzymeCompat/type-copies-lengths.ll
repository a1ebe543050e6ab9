; Structs of several kinds are copied member by member, whichever way the number of bytes was found.
; RUN: %opt -passes=adgen-type-copies -S %s 2>&1 | %filecheck %s --implicit-check-not=adgen-refusal --implicit-check-not="call void @llvm.memmove"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.R = type { i32, double, double }

; Of a vector that may be empty: nothing, or from its begin to its end.
; CHECK-LABEL: define void @adgen_body_copied(
; CHECK:         load i32
; CHECK:         load double
; CHECK:         load double
; CHECK:         store i32
; CHECK:         store double
; CHECK:         store double
define void @adgen_body_copied(ptr %to, i1 %any, i64 %n, i32 %number) {
entry:
  br i1 %any, label %some, label %copy

some:
  %memory = call ptr @_Znwm(i64 240)
  %element = getelementptr inbounds %struct.R, ptr %memory, i64 %n
  store i32 %number, ptr %element
  %k = getelementptr inbounds i8, ptr %element, i64 8
  store double 1.0, ptr %k
  %end = ptrtoint ptr %element to i64
  %begin = ptrtoint ptr %memory to i64
  %bytes = sub i64 %end, %begin
  br label %copy

copy:
  %from = phi ptr [ null, %entry ], [ %memory, %some ]
  %length = phi i64 [ 0, %entry ], [ %bytes, %some ]
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %length, i1 false)
  ret void
}

; Up to the element before the last, as where one is inserted; the places are counted from null where there is no vector.
; CHECK-LABEL: define void @adgen_body_inserted(
; CHECK:         load double
; CHECK:         load double
; CHECK:         store double
; CHECK:         store double
define void @adgen_body_inserted(i1 %any, i64 %n, i32 %number) {
entry:
  br i1 %any, label %some, label %copy

some:
  %memory = call ptr @_Znwm(i64 240)
  %element = getelementptr inbounds %struct.R, ptr %memory, i64 %n
  store i32 %number, ptr %element
  %k = getelementptr inbounds i8, ptr %element, i64 8
  store double 1.0, ptr %k
  %at = ptrtoint ptr %memory to i64
  br label %copy

copy:
  %from = phi ptr [ null, %entry ], [ %memory, %some ]
  %last = phi ptr [ null, %entry ], [ %element, %some ]
  %begin = phi i64 [ 0, %entry ], [ %at, %some ]
  %before = getelementptr inbounds i8, ptr %last, i64 -24
  %end = ptrtoint ptr %before to i64
  %bytes = sub i64 %end, %begin
  %to = getelementptr inbounds i8, ptr %from, i64 24
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}

; A function that is given such elements.
; CHECK-LABEL: define void @adgen_body_calls(
define void @adgen_body_calls(i64 %n, i32 %number) {
  %memory = call ptr @_Znwm(i64 240)
  %element = getelementptr inbounds %struct.R, ptr %memory, i64 %n
  store i32 %number, ptr %element
  %k = getelementptr inbounds i8, ptr %element, i64 8
  store double 1.0, ptr %k
  %buffer = call ptr @_Znwm(i64 240)
  call void @merged(ptr %memory, ptr %element, ptr %buffer)
  ret void
}

; CHECK-LABEL: define internal void @merged(
; CHECK:         load double
; CHECK:         load double
; CHECK:         store double
; CHECK:         store double
define internal void @merged(ptr %first, ptr %last, ptr %buffer) {
  %end = ptrtoint ptr %last to i64
  %begin = ptrtoint ptr %first to i64
  %bytes = sub i64 %end, %begin
  call void @llvm.memmove.p0.p0.i64(ptr %buffer, ptr %first, i64 %bytes, i1 false)
  ret void
}

declare ptr @_Znwm(i64)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
