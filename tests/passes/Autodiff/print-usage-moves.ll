; Whether pointers are stored in memory that a parameter leads to, itself or through others: in rows, and in the table
; that a struct holds. What is stored in local memory, and numbers that are stored in rows, are none.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

target datalayout = "e-p:64:64"

; CHECK: "k":[{"added_to":null,"moves_pointers":true,
; CHECK-SAME: {"added_to":null,"moves_pointers":true,
; CHECK-SAME: {"added_to":null,"floats":[0],"reads":true,
define void @adgen_body_k(ptr %rows, ptr byval([2 x ptr]) %struct, ptr %read) {
  %local = alloca [2 x ptr]
  %row = load ptr, ptr %read
  store ptr %row, ptr %local
  store float 1.0, ptr %row
  %second = getelementptr ptr, ptr %rows, i64 1
  store ptr %row, ptr %second
  %at8 = getelementptr i8, ptr %struct, i64 8
  %table = load ptr, ptr %at8
  store ptr %row, ptr %table
  ret void
}

; The kernel of which a body is made counts no more.
define void @k(ptr %rows, ptr %struct, ptr %read) {
  store ptr null, ptr %read
  ret void
}
