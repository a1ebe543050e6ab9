; A body that calls a function that could not be inlined.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "split":true
define void @adgen_body_k(ptr %x) {
  call void @walk(ptr %x)
  ret void
}

define internal void @walk(ptr %x) {
  call void @walk(ptr %x)
  ret void
}
