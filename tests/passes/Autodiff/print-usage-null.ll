; Whether the primal asks if a pointer is null.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: "k":[{"added_to":null,"floats":[-1],"nullable":true,"reads":true,"writes":false},
; CHECK-SAME: {"added_to":null,"floats":[-1],"reads":false,"writes":true}]
define void @adgen_body_k(ptr readonly %given, ptr writeonly %out) "adgen-shared" {
entry:
  %is = icmp eq ptr %given, null
  br i1 %is, label %end, label %use
use:
  %x = load float, ptr %given
  store float %x, ptr %out
  br label %end
end:
  ret void
}
