; What each body does to the memory behind its parameters, from the attributes that the optimiser inferred. Only bodies count, and where
; nothing is known it is both.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: {"counted":false,"split":false,"usage":{"k":[
; CHECK-SAME: {"added_to":1,"floats":[-1],"reads":true,"writes":false},
; CHECK-SAME: {"added_to":null,"floats":[-1],"reads":false,"writes":true},
; CHECK-SAME: {"added_to":null,"floats":[-1],"reads":true,"writes":true},
; CHECK-SAME: {"added_to":null,"reads":false,"writes":false},
; CHECK-SAME: {"added_to":null,"nullable":true,"reads":false,"writes":false},
; CHECK-SAME: {"added_to":null,"reads":false,"writes":false}
; CHECK-SAME: ]}}
define void @adgen_body_k(ptr readonly %in, ptr writeonly %out, ptr %both, ptr %unused, ptr readnone %compared, i32 %n) {
  %a = load float, ptr %in
  store float %a, ptr %out
  %b = load float, ptr %both
  store float %b, ptr %both
  %c = icmp eq ptr %compared, null
  %d = add i32 %n, 1
  ret void
}

define void @k(ptr readonly %in) {
  ret void
}

declare void @adgen_body_declared(ptr)
