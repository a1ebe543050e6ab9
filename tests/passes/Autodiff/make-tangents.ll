; Has Enzyme carry tangents through every body, as its plan says: the function takes the parameters, then the tangents of those that
; are not const, then shared arrays and their tangents, last where the tangent of what a function returns is stored.
;
; RUN: %opt -passes='adgen-make-tangents<kernel=duplicated:const:active:active;function=duplicated:active;counts=duplicated>' -S %s | %filecheck %s
; RUN: %not --crash %opt -passes='adgen-make-tangents<absent=const>' -S %s 2>&1 | %filecheck %s --check-prefix=ABSENT

; ABSENT: adgen-make-tangents: no body for absent

; The tangent of a number is read from its place; each thread has a copy of that of a struct, which the kernel may change.
; CHECK: define void @adgen_tangent_kernel(ptr %x, i32 %n, float %alpha, ptr "adgen-struct"="16" %s, ptr %d_x, ptr %d_alpha, ptr %d_s, ptr %0, ptr %1) [[KERNEL:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   [[ALPHA:%.*]] = load float, ptr %d_alpha
; CHECK-NEXT:   %own = alloca [16 x i8], align 16
; CHECK-NEXT:   call void @llvm.memcpy.p0.p0.i64(ptr align 16 %own, ptr align 1 %d_s, i64 16, i1 false)
; CHECK-NEXT:   call void (...) @__enzyme_fwddiff_adgen_body_kernel(ptr @adgen_body_kernel, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", float %alpha, float [[ALPHA]], metadata !"enzyme_dup", ptr %s, ptr %own, metadata !"enzyme_dup", ptr %0, ptr %1)
; CHECK-NEXT:   ret void

; What a function returns is memory to Enzyme; its tangent is the result.
; CHECK: define void @adgen_tangent_function(ptr %x, double %y, ptr %d_x, ptr %d_y, ptr %0) [[FUNCTION:#[0-9]+]] {
; CHECK: %result = alloca double
; CHECK: store double 0.0{{.*}}, ptr %0
; CHECK: @__enzyme_fwddiff_adgen_body_function(ptr @adgen_body_function, metadata !"enzyme_runtime_activity", {{.*}}metadata !"enzyme_dup", ptr %result, ptr %0)

; A whole number has no tangent.
; CHECK: define void @adgen_tangent_counts(ptr %x, ptr %d_x, ptr %0)
; CHECK: @__enzyme_fwddiff_adgen_body_counts(ptr @adgen_body_counts, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %result)

; CHECK-DAG: attributes [[KERNEL]] = { "adgen-shared"="tile" "adgen-tangent-activity"="duplicated:const:active:active" }
; CHECK-DAG: attributes [[FUNCTION]] = { "adgen-result" "adgen-tangent-activity"="duplicated:active" }

define ptx_kernel void @kernel(ptr %x, i32 %n, float %alpha, ptr byval([16 x i8]) %s) {
  ret void
}

define void @adgen_body_kernel(ptr %x, i32 %n, float %alpha, ptr "adgen-struct"="16" %s, ptr %tile) "adgen-shared"="tile" {
  ret void
}

define double @function(ptr %x, double %y) {
  ret double %y
}

define void @adgen_body_function(ptr %x, double %y, ptr %0) "adgen-result" {
  ret void
}

define i32 @counts(ptr %x) {
  ret i32 0
}

define void @adgen_body_counts(ptr %x, ptr %0) "adgen-result" {
  ret void
}
