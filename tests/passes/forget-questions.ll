; What copies a std::function would leave its type or place where a copy is. Nothing asks for them here; the second kind of std::function is asked.
;
; RUN: %opt -passes=adgen-forget-questions -S %s | %filecheck %s

@type = external constant ptr

; CHECK-LABEL: define internal i1 @_ZNSt17_Function_handlerIFddEZ1fE10_M_managerERSt9_Any_dataRKS3_St18_Manager_operation(
; CHECK-NOT:     store ptr
; CHECK:         store double
; CHECK-NOT:     store ptr
; CHECK:       never:
; CHECK-NEXT:    unreachable
define internal i1 @_ZNSt17_Function_handlerIFddEZ1fE10_M_managerERSt9_Any_dataRKS3_St18_Manager_operation(ptr %to, ptr %from, i32 %asked) {
  switch i32 %asked, label %end [
    i32 0, label %tell
    i32 1, label %place
    i32 2, label %copy
  ]
tell:
  store ptr @type, ptr %to
  br label %end
place:
  store ptr %from, ptr %to
  br label %end
copy:
  %held = load double, ptr %from
  store double %held, ptr %to
  br label %end
end:
  ret i1 false
}

; CHECK-LABEL: define internal i1 @_ZNSt17_Function_handlerIFdfEZ1gE10_M_managerERSt9_Any_dataRKS3_St18_Manager_operation(
; CHECK:         store ptr @type
define internal i1 @_ZNSt17_Function_handlerIFdfEZ1gE10_M_managerERSt9_Any_dataRKS3_St18_Manager_operation(ptr %to, ptr %from, i64 %asked) {
  switch i64 %asked, label %end [
    i64 0, label %tell
  ]
tell:
  store ptr @type, ptr %to
  br label %end
end:
  ret i1 false
}

define void @copies(ptr %to, ptr %from, ptr %manager) {
  %done = call i1 %manager(ptr %to, ptr %from, i32 2)
  ret void
}

define void @asks(ptr %to, ptr %from, ptr %manager) {
  %done = call i1 %manager(ptr %to, ptr %from, i64 1)
  ret void
}
