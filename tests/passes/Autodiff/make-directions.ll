; Has Enzyme carry tangents along several directions at once: each parameter that is not const has so many tangents, one behind the other, and
; those of what a function returns lie behind each other.
;
; RUN: %opt -passes='adgen-make-directions<2;function=duplicated:const:active:active:duplicated;counts=duplicated>' -S %s | %filecheck %s
; RUN: %not --crash %opt -passes='adgen-make-directions<1;counts=duplicated>' -S %s 2>&1 | %filecheck %s --check-prefix=ONE

; ONE: adgen-make-directions: the option is how many directions, 2 or more, and a plan

; CHECK: define void @adgen_directions_function(ptr %x, i32 %n, double %y, ptr "adgen-struct"="16" %s, ptr "adgen-struct"="24" %arrays,
; CHECK-SAME: ptr %d_x, ptr %d_x1, ptr %d_y, ptr %d_y2, ptr %d_s, ptr %d_s3, ptr %d_arrays, ptr %d_arrays5, ptr %0) [[FUNCTION:#[0-9]+]] {
; CHECK-DAG: [[Y0:%.*]] = load double, ptr %d_y,
; CHECK-DAG: [[Y1:%.*]] = load double, ptr %d_y2,
; Each has a copy of the tangent of a struct of numbers, which the function may change.
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 16 %own, ptr align 1 %d_s, i64 16, i1 false)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 16 [[OWN:%own.*]], ptr align 1 %d_s3, i64 16, i1 false)
; CHECK: [[SECOND:%.*]] = getelementptr inbounds double, ptr %0, i64 1
; CHECK: store double 0.0{{.*}}, ptr %0
; CHECK: store double 0.0{{.*}}, ptr [[SECOND]]
; CHECK: call void (...) @__enzyme_fwddiff_directions_adgen_body_function(ptr @adgen_body_function, metadata !"enzyme_width", i64 2, metadata !"enzyme_runtime_activity",
; CHECK-SAME: metadata !"enzyme_dup", ptr %x, ptr %d_x, ptr %d_x1, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", double %y, double [[Y0]], double [[Y1]],
; CHECK-SAME: metadata !"enzyme_dup", ptr %s, ptr %own, ptr [[OWN]], metadata !"enzyme_dup", ptr %arrays, ptr %d_arrays, ptr %d_arrays5,
; CHECK-SAME: metadata !"enzyme_dup", ptr %result, ptr %0, ptr [[SECOND]])

; A whole number has no tangent.
; CHECK: define void @adgen_directions_counts(ptr %x, ptr %d_x, ptr %d_x1, ptr %0)
; CHECK: metadata !"enzyme_const", ptr %result)

; CHECK: attributes [[FUNCTION]] = { "adgen-directions"="2" "adgen-result" "adgen-tangent-activity"="duplicated:const:active:active:duplicated" }

define double @function(ptr %x, i32 %n, double %y, ptr byval([16 x i8]) %s, ptr byval([24 x i8]) %arrays) {
  ret double %y
}

define void @adgen_body_function(ptr %x, i32 %n, double %y, ptr "adgen-struct"="16" %s, ptr "adgen-struct"="24" %arrays, ptr %0) "adgen-result" {
  ret void
}

define i32 @counts(ptr %x) {
  ret i32 0
}

define void @adgen_body_counts(ptr %x, ptr %0) "adgen-result" {
  ret void
}
