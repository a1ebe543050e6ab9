; Behind which pointers a body accesses floating point: a parameter itself (-1), or members of the struct that it points
; to, at their offsets. Integers that become floats are none.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

target datalayout = "e-p:64:64"

; CHECK: "k":[{"added_to":null,"floats":[8,24],
; CHECK-SAME: {"added_to":null,"floats":[-1],"reads":false,"writes":true},
; CHECK-SAME: {"added_to":null,"reads":true,"writes":false}]
define void @adgen_body_k(ptr byval([4 x ptr]) %struct, ptr writeonly %out, ptr readonly %pixels) {
  %at8 = getelementptr i8, ptr %struct, i64 8
  %values = load ptr, ptr %at8
  %value = getelementptr i8, ptr %values, i64 12
  %x = load float, ptr %value
  %pixel = load i8, ptr %pixels
  %y = uitofp i8 %pixel to float
  %sum = fadd float %x, %y
  store float %sum, ptr %out
  %at16 = getelementptr i8, ptr %struct, i64 16
  %numbers = load ptr, ptr %at16
  store i32 3, ptr %numbers
  %at24 = getelementptr i8, ptr %struct, i64 24
  %totals = load ptr, ptr %at24
  %old = atomicrmw fadd ptr %totals, float %sum monotonic
  ret void
}
