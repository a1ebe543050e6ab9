; Which parameters are only added to the same element of another one.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK-DAG: "copied":[{"added_to":1,"floats":[-1],"reads":true,"writes":false},{"added_to":null,"floats":[-1],"reads":false,"writes":true}]
define void @adgen_body_copied(ptr readonly %a, ptr writeonly %out) {
  %x = load float, ptr %a
  store float %x, ptr %out
  ret void
}

; CHECK-DAG: "differences":[{"added_to":2,"floats":[-1],"reads":true,"writes":false},{"added_to":null,"floats":[-1],"reads":true,"writes":false},{"added_to":null,
define void @adgen_body_differences(ptr readonly %a, ptr readonly %b, ptr writeonly %out, i64 %i, i64 %j) {
  %ai = getelementptr float, ptr %a, i64 %i
  %bi = getelementptr float, ptr %b, i64 %i
  %oi = getelementptr float, ptr %out, i64 %i
  %x = load float, ptr %ai
  %y = load float, ptr %bi
  %d = fsub float %x, %y
  store float %d, ptr %oi
  %aj = getelementptr float, ptr %a, i64 %j
  %bj = getelementptr float, ptr %b, i64 %j
  %oj = getelementptr float, ptr %out, i64 %j
  %u = load float, ptr %aj
  %v = load float, ptr %bj
  %w = fsub float %u, %v
  %s = fadd float 1.0, %w
  store float %s, ptr %oj
  ret void
}

; Twice the element, another element, an element whose sum is also used, one with a factor.
; CHECK-DAG: "twice":[{"added_to":null,
define void @adgen_body_twice(ptr readonly %a, ptr writeonly %out) {
  %x = load float, ptr %a
  %y = load float, ptr %a
  %s = fadd float %x, %y
  store float %s, ptr %out
  ret void
}

; CHECK-DAG: "shifted":[{"added_to":null,
define void @adgen_body_shifted(ptr readonly %a, ptr writeonly %out, i64 %i, i64 %j) {
  %ai = getelementptr float, ptr %a, i64 %i
  %oj = getelementptr float, ptr %out, i64 %j
  %x = load float, ptr %ai
  store float %x, ptr %oj
  ret void
}

; CHECK-DAG: "used_too":[{"added_to":null,
define void @adgen_body_used_too(ptr readonly %a, ptr writeonly %out, ptr writeonly %square) {
  %x = load float, ptr %a
  %s = fadd float %x, 1.0
  store float %s, ptr %out
  %q = fmul float %s, %s
  store float %q, ptr %square
  ret void
}

; CHECK-DAG: "doubled":[{"added_to":null,
define void @adgen_body_doubled(ptr readonly %a, ptr writeonly %out) {
  %x = load float, ptr %a
  %d = fmul float %x, 2.0
  store float %d, ptr %out
  ret void
}

; An element of the output that is stored without it has a cotangent that is not its.
; CHECK-DAG: "not_all":[{"added_to":null,
define void @adgen_body_not_all(ptr readonly %a, ptr writeonly %out, i1 %has) {
  br i1 %has, label %yes, label %no
yes:
  %x = load float, ptr %a
  store float %x, ptr %out
  ret void
no:
  store float 0.0, ptr %out
  ret void
}

; What the output is read for, or handed to, is not known.
; CHECK-DAG: "in_place":[{"added_to":null,
define void @adgen_body_in_place(ptr readonly %a, ptr %out) {
  %x = load float, ptr %a
  %old = load float, ptr %out
  %s = fadd float %x, %old
  store float %s, ptr %out
  ret void
}

; CHECK-DAG: "handed":[{"added_to":null,
define void @adgen_body_handed(ptr readonly %a, ptr %out) {
  %x = load float, ptr %a
  store float %x, ptr %out
  call void @see(ptr %out)
  ret void
}

declare void @see(ptr)
