; The runtime prepares for teams of threads only where a function may make any.
; RUN: %opt -passes=adgen-make-host-entries -S %s | %filecheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@place = private constant [24 x i8] zeroinitializer

; CHECK-LABEL: define i32 @f__primal(
; CHECK:         call i32 @adgen_run_function(ptr @f__primal_call, i32 1,
define void @adgen_body_f(ptr %x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 1, ptr @region, ptr %x)
  ret void
}

; CHECK-LABEL: define i32 @calls__primal(
; CHECK:         call i32 @adgen_run_function(ptr @calls__primal_call, i32 1,
define void @adgen_body_calls(ptr %x) {
  call void @started(ptr %x)
  ret void
}

define internal void @started(ptr %x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 1, ptr @region, ptr %x)
  ret void
}

; What a pointer leads to may.
; CHECK-LABEL: define i32 @follows__primal(
; CHECK:         call i32 @adgen_run_function(ptr @follows__primal_call, i32 1,
define void @adgen_body_follows(ptr %x) {
  %function = load ptr, ptr %x
  call void %function(ptr %x)
  ret void
}

; CHECK-LABEL: define i32 @plain__primal(
; CHECK:         call i32 @adgen_run_function(ptr @plain__primal_call, i32 0,
define void @adgen_body_plain(ptr %x) {
  store double 1.0, ptr %x
  ret void
}

define internal void @region(ptr %number, ptr %bound, ptr %x) {
  store double 1.0, ptr %x
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
