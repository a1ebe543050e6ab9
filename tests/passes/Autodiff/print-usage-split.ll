; A body that hands a region to a fork: the forward and the reverse sweep of the region will be functions of their own.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "split":true
define void @adgen_body_k(ptr %x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @region, ptr %x)
  ret void
}

define internal void @region(ptr %global, ptr %bound, ptr %x) {
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
