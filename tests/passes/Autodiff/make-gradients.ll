; Asks Enzyme for the gradient of every body, as its plan says: the gradient takes the parameters, then the shadows of those that are
; not const, then shared arrays and their shadows, last the cotangent of what a function returns. Shadows of parameters overlap nothing.
;
; RUN: %opt -passes='adgen-make-gradients<kernel=duplicated:const:active:duplicated;table=duplicated;waits=owned;computes=duplicated;function=duplicated:active;structs=active:duplicated@0@8>' -S %s | %filecheck %s
; RUN: %not --crash %opt -passes='adgen-make-gradients<kernel=duplicated>' -S %s 2>&1 | %filecheck %s --check-prefix=COUNT
; RUN: %not --crash %opt -passes='adgen-make-gradients<kernel=doubled>' -S %s 2>&1 | %filecheck %s --check-prefix=WORD
; RUN: %not --crash %opt -passes='adgen-make-gradients<absent=const>' -S %s 2>&1 | %filecheck %s --check-prefix=ABSENT

; COUNT: adgen: wrong number of activities for adgen_body_kernel
; WORD: adgen: unknown activity 'doubled'
; ABSENT: adgen-make-gradients: no body for absent

; What later passes find out of arrays in a struct without a derivative.
; CHECK: define void @adgen_body_structs({{.*}}, ptr "adgen-const-members"="0@8" "adgen-struct"="16" {{.*}}%p)

; CHECK: define void @adgen_gradient_kernel(ptr %x, i32 %n, float %alpha, ptr "adgen-struct"="24" %s, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_alpha, ptr noalias %d_s, ptr %0, ptr "adgen-shared-shadow" %1) [[KERNEL:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   [[OUT:%.*]] = call { float } (...) @__enzyme_autodiff_adgen_body_kernel(ptr @adgen_body_kernel, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", i32 %n, metadata !"enzyme_out", float %alpha, metadata !"enzyme_dup", ptr %s, ptr %d_s, metadata !"enzyme_dup", ptr %0, ptr %1)
; Every thread adds its part to the one shadow of an active scalar.
; CHECK-NEXT:   [[D_ALPHA:%.*]] = extractvalue { float } [[OUT]], 0
; CHECK-NEXT:   atomicrmw fadd ptr %d_alpha, float [[D_ALPHA]] monotonic
; CHECK-NEXT:   ret void

; A shared array that is a constant has no shadow in the call.
; CHECK: call void (...) @__enzyme_autodiff_adgen_body_table(ptr @adgen_body_table, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %0, metadata !"enzyme_dup", ptr %1, ptr %3)

; Behind a barrier, what others have added is read: LLVM must not think that nobody else writes to the shadow.
; CHECK: define void @adgen_gradient_waits(ptr %x, ptr "adgen-owned" "adgen-shadow" %d_x)
; CHECK: define void @adgen_gradient_computes(ptr %x, ptr noalias "adgen-shadow" %d_x)

; What a function returns is memory to Enzyme: its shadow is the cotangent.
; CHECK: define void @adgen_gradient_function(ptr %x, double %y, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y, double %0) [[FUNCTION:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   %result = alloca double
; CHECK-NEXT:   %cotangent = alloca double
; CHECK-NEXT:   store double 0.0{{.*}}, ptr %result
; CHECK-NEXT:   store double %0, ptr %cotangent
; CHECK-NEXT:   [[OUT:%.*]] = call { double } (...) @__enzyme_autodiff_adgen_body_function(ptr @adgen_body_function, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_out", double %y, metadata !"enzyme_dup", ptr %result, ptr %cotangent)
; CHECK-NEXT:   [[D_Y:%.*]] = extractvalue { double } [[OUT]], 0
; CHECK-NEXT:   atomicrmw fadd ptr %d_y, double [[D_Y]] monotonic

; A kernel may change its copy of a struct: each thread has a shadow of its own for an active one, and what a shadow that holds
; pointers has as numbers is no cotangent.
; CHECK: define void @adgen_gradient_structs(ptr "adgen-struct"="24" %s, ptr "adgen-struct"="16" %p, ptr noalias "adgen-shadow" %d_s, ptr noalias %d_p)
; CHECK: %own = alloca [24 x i8], align 16
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr align 16 %own, i8 0, i64 24, i1 false)
; CHECK-NEXT: [[P:%.*]] = getelementptr inbounds i8, ptr %d_p, i64 8
; CHECK-NEXT: store float 0.0{{.*}}, ptr [[P]]
; CHECK-NEXT: call void (...) @__enzyme_autodiff_adgen_body_structs(ptr @adgen_body_structs, metadata !"enzyme_dup", ptr %s, ptr %own, metadata !"enzyme_dup", ptr %p, ptr %d_p)
; CHECK-DAG: [[FROM:%.*]] = getelementptr inbounds i8, ptr %own, i64 4
; CHECK-DAG: [[PART:%.*]] = load float, ptr [[FROM]]
; CHECK-DAG: [[TO:%.*]] = getelementptr inbounds i8, ptr %d_s, i64 4
; CHECK: atomicrmw fadd ptr [[TO]], float [[PART]] monotonic
; CHECK: load double
; CHECK: atomicrmw fadd ptr {{.*}}, double

; Later passes read the activities, and compile for the processor of the body.
; CHECK-DAG: attributes [[KERNEL]] = { "adgen-activity"="duplicated:const:active:duplicated" "adgen-shared"="tile" "target-cpu"="sm_90" }
; CHECK-DAG: attributes [[FUNCTION]] = { "adgen-activity"="duplicated:active" }

define ptx_kernel void @kernel(ptr %x, i32 %n, float %alpha, ptr byval([24 x i8]) %s) {
  ret void
}

define void @adgen_body_kernel(ptr %x, i32 %n, float %alpha, ptr "adgen-struct"="24" %s, ptr %tile) "adgen-shared"="tile" "target-cpu"="sm_90" {
  ret void
}

define ptx_kernel void @table(ptr %x) {
  ret void
}

define void @adgen_body_table(ptr %x, ptr %table, ptr %tile) "adgen-shared"="table:tile" "adgen-shared-constants"="0" {
  ret void
}

define ptx_kernel void @waits(ptr %x) {
  ret void
}

define void @adgen_body_waits(ptr %x) "adgen-shared" {
  call void @adgen_rule_barrier(ptr %x)
  ret void
}

define ptx_kernel void @computes(ptr %x) {
  ret void
}

define void @adgen_body_computes(ptr %x) "adgen-shared" {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = load float, ptr %x
  %s = call float @__nv_sinf(float %v)
  call void @llvm.memset.p0.i64(ptr %x, i8 0, i64 4, i1 false)
  ret void
}

declare void @adgen_rule_barrier(ptr)
declare float @__nv_sinf(float) "enzyme_math"="sinf"

define double @function(ptr %x, double %y) {
  ret double %y
}

define void @adgen_body_function(ptr %x, double %y, ptr %0) "adgen-result" {
  ret void
}

define ptx_kernel void @structs(ptr byval([24 x i8]) %s, ptr byval([16 x i8]) %p) {
  ret void
}

define void @adgen_body_structs(ptr "adgen-struct"="24" "adgen-struct-floats"="4:4;16:8" %s, ptr "adgen-struct"="16" "adgen-struct-floats"="8:4" %p) "adgen-shared" {
  ret void
}
