; Memory that realloc enlarges is copied, too.
;
; RUN: %opt -passes=adgen-declare-copy-adjoints -S %s | %filecheck %s

; CHECK: define internal void @__enzyme_memcpyadd_doubleda1sa1(
define ptr @enlarged(ptr %x) {
  %more = call ptr @realloc(ptr %x, i64 64)
  ret ptr %more
}

declare ptr @realloc(ptr, i64)
