; Whether structs behind the one that a parameter points to are accessed: by a known offset, by an index that counts
; structs, or one after another. An index of an array in the struct, the address of the end, and what the members point
; to are none.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

target datalayout = "e-p:64:64"

; CHECK-DAG: "array":[{"added_to":null,"reads"
define void @adgen_body_array(ptr "adgen-struct"="16" "adgen-by-address" %s, i64 %i) {
  %end = getelementptr i8, ptr %s, i64 16
  %is = icmp eq ptr %end, null
  %member = getelementptr ptr, ptr %s, i64 %i
  %row = load ptr, ptr %member
  %far = getelementptr double, ptr %row, i64 40
  store double 1.0, ptr %far
  ret void
}

; CHECK-DAG: "known":[{"added_to":null,"beyond":true
define void @adgen_body_known(ptr "adgen-struct"="16" "adgen-by-address" %s) {
  %second = getelementptr i8, ptr %s, i64 24
  %row = load ptr, ptr %second
  store double 1.0, ptr %row
  ret void
}

; CHECK-DAG: "counted":[{"added_to":null,"beyond":true
define void @adgen_body_counted(ptr "adgen-struct"="16" "adgen-by-address" %s, i64 %i) {
  %each = getelementptr { ptr, i64 }, ptr %s, i64 %i, i32 1
  %n = load i64, ptr %each
  ret void
}

; CHECK-DAG: "walked":[{"added_to":null,"beyond":true
define void @adgen_body_walked(ptr "adgen-struct"="16" "adgen-by-address" %s, ptr %end) {
entry:
  br label %loop
loop:
  %each = phi ptr [ %s, %entry ], [ %next, %loop ]
  %row = load ptr, ptr %each
  %next = getelementptr i8, ptr %each, i64 16
  %go = icmp ne ptr %next, %end
  br i1 %go, label %loop, label %exit
exit:
  ret void
}
