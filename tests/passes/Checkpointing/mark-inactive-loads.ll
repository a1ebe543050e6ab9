; What is read of variables that hold nothing but constants is marked as a constant: the step of a simulation, and numbers in a struct of arrays, but
; not what is computed from something with a derivative, nor anything where tangents are asked for.
;
; RUN: %opt -passes=adgen-mark-inactive-loads -S %s | %filecheck %s
; RUN: sed s/__enzyme_autodiff_other/__enzyme_fwddiff_other/g %s | %opt -passes=adgen-mark-inactive-loads -S - | %filecheck %s --check-prefix=TANGENTS

; TANGENTS-NOT: enzyme_inactive_val

define void @adgen_body_f(ptr %x, ptr "adgen-struct"="24" %grid, ptr %c, double %dt, double %a, i32 %n) {
  %step = alloca double
  %active = alloca double
  %both = alloca double
  %copy = alloca [2 x double]
  %object = alloca { ptr, double, i32 }
  %twice = fmul double %dt, 2.0
  %root = call double @sqrt(double %twice)
  store double %root, ptr %step
  %sum = fadd double %dt, %a
  store double %sum, ptr %active
  store double %dt, ptr %both
  %first = load double, ptr %x
  store double %first, ptr %both
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %c, i64 16, i1 false)
  store ptr %x, ptr %object
  %member = getelementptr i8, ptr %object, i64 8
  %known = load double, ptr %step
  store double %known, ptr %member
  %count = getelementptr i8, ptr %object, i64 16
  store i32 %n, ptr %count
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 8, ptr @started, i32 0, ptr %x, ptr %grid, ptr %step, ptr %active, ptr %both, ptr %copy, ptr %object)
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %x, ptr %grid, ptr %step, ptr %active, ptr %both, ptr %copy, ptr %object) {
  call void @adgen_region_f(ptr %x, ptr %grid, ptr %step, ptr %active, ptr %both, ptr %copy, ptr %object)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_f(
; CHECK: %read = load double, ptr %step, align 8, !enzyme_inactive_val
; CHECK: %number = load double, ptr %spacing, align 8, !enzyme_inactive_val
; CHECK: %copied = load double, ptr %copy, align 8, !enzyme_inactive_val
; CHECK: %ofobject = load double, ptr %place, align 8, !enzyme_inactive_val
; CHECK: %one = load double, ptr %active, align 8{{$}}
; CHECK: %two = load double, ptr %both, align 8{{$}}
; CHECK: %three = load double, ptr %x, align 8{{$}}
; CHECK: %four = load double, ptr %data, align 8{{$}}
define internal void @adgen_region_f(ptr %x, ptr %grid, ptr %step, ptr %active, ptr %both, ptr %copy, ptr %object) {
  %read = load double, ptr %step
  %spacing = getelementptr i8, ptr %grid, i64 8
  %number = load double, ptr %spacing
  %copied = load double, ptr %copy
  %place = getelementptr i8, ptr %object, i64 8
  %ofobject = load double, ptr %place
  %one = load double, ptr %active
  %two = load double, ptr %both
  %three = load double, ptr %x
  %data = load ptr, ptr %grid
  %four = load double, ptr %data
  store double %read, ptr %data
  store double %number, ptr %data
  ret void
}

; Bits of a number may be moved as an integer.
; CHECK-LABEL: define void @adgen_body_g(
; CHECK: %read = load double, ptr %moved, align 8{{$}}
define void @adgen_body_g(ptr %x) {
  %moved = alloca double
  %bits = load i64, ptr %x
  store i64 %bits, ptr %moved
  %read = load double, ptr %moved
  store double %read, ptr %x
  ret void
}

; A node that a map has is active, wherever in the map it is found.
; CHECK-LABEL: define void @adgen_body_m(
; CHECK-NOT:     enzyme_inactive_val
; CHECK:         ret void
define void @adgen_body_m(ptr %x) {
  %map = alloca [48 x i8]
  %node = call noalias ptr @_Znwm(i64 40)
  %number = load double, ptr %x
  store double %number, ptr %node
  call void @_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(i1 false, ptr %node, ptr %map, ptr %map)
  %found = load ptr, ptr %map
  %read = load double, ptr %found
  store double %read, ptr %x
  ret void
}

define void @adgen_gradient_f(ptr %x, ptr %grid, ptr %c, double %dt, double %a, i32 %n, ptr %d_x, ptr %d_grid, ptr %d_a) "adgen-activity"="duplicated:duplicated:const:const:active:const" {
  call void (...) @__enzyme_autodiff_f(ptr @adgen_body_f, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_gradient_g(ptr %x, ptr %d_x) "adgen-activity"="duplicated" {
  call void (...) @__enzyme_autodiff_g(ptr @adgen_body_g, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_gradient_m(ptr %x, ptr %d_x) "adgen-activity"="duplicated" {
  call void (...) @__enzyme_autodiff_m(ptr @adgen_body_g, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

declare void @__enzyme_autodiff_f(...)
declare void @__enzyme_autodiff_g(...)
declare void @__enzyme_autodiff_m(...)
declare void @__enzyme_autodiff_other(...)
declare noalias ptr @_Znwm(i64)
declare void @_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(i1, ptr, ptr, ptr)
declare double @sqrt(double) memory(none)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
