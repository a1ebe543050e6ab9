; push_back moves a vector of numbers that a node holds beside an integer and pointers: what it stores right behind what is copied is a number,
; so that all are. Where something is stored beside the number, it is a struct, and the copy is refused.
;
; RUN: %opt -passes=adgen-type-copies -S %s 2>&1 >/dev/null | %filecheck %s --check-prefix=REFUSED --allow-empty

; REFUSED-NOT: "entry":"numbers"
define void @adgen_body_numbers(ptr %node, i64 %bytes, i32 %key, double %v) {
  %next = load ptr, ptr %node
  store i32 %key, ptr %next
  %from = load ptr, ptr %next
  %first = load double, ptr %from
  %into = call noalias ptr @_Znwm(i64 1024)
  %behind = getelementptr inbounds i8, ptr %into, i64 %bytes
  store double %v, ptr %behind
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  %end = getelementptr inbounds i8, ptr %behind, i64 8
  store ptr %into, ptr %next
  store ptr %end, ptr %node
  %other = load ptr, ptr %from
  store ptr %other, ptr %node
  ret void
}
define void @numbers() { ret void }

; REFUSED: "entry":"structs"{{.*}}cannot differentiate a copy of many structs
define void @adgen_body_structs(ptr %node, i64 %bytes, i32 %key, double %v) {
  %next = load ptr, ptr %node
  store i32 %key, ptr %next
  %from = load ptr, ptr %next
  %first = load double, ptr %from
  %into = call noalias ptr @_Znwm(i64 1024)
  %behind = getelementptr inbounds i8, ptr %into, i64 %bytes
  store double %v, ptr %behind
  %member = getelementptr inbounds i8, ptr %behind, i64 8
  store i32 %key, ptr %member
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  store ptr %into, ptr %next
  %other = load ptr, ptr %from
  store ptr %other, ptr %node
  ret void
}
define void @structs() { ret void }

declare noalias ptr @_Znwm(i64)
