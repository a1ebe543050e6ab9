; A region gets the pointer where the variable that holds it is set once, and the variable where it is set twice or the region sets it.
;
; RUN: %opt -passes=adgen-capture-values -S %s | %filecheck %s

; CHECK-LABEL: define void @f(
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 4, ptr @started, i32 %team, ptr %x, ptr %twice, ptr %own)
define void @f(i32 %team, ptr %x, ptr %y) {
  %once = alloca ptr
  %twice = alloca ptr
  %own = alloca ptr
  store ptr %x, ptr %once
  store ptr %x, ptr %twice
  store ptr %y, ptr %twice
  store ptr %y, ptr %own
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 4, ptr @started, i32 %team, ptr nonnull dereferenceable(8) %once, ptr %twice, ptr %own)
  ret void
}

; CHECK: define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %once, ptr %twice, ptr %own)
; CHECK: call void @region(ptr %once, ptr %twice, ptr %own)
define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr readonly dereferenceable(8) %once, ptr %twice, ptr %own) {
  call void @region(ptr nonnull %once, ptr %twice, ptr %own)
  ret void
}

; CHECK: define internal void @region(ptr %once, ptr %twice, ptr %own)
; CHECK-NOT: load ptr, ptr %once
; CHECK: %b = load ptr, ptr %twice
; CHECK: store float 1.000000e+00, ptr %once
define internal void @region(ptr readonly align 8 dereferenceable(8) %once, ptr %twice, ptr %own) {
  %a = load ptr, ptr %once
  %b = load ptr, ptr %twice
  %c = load ptr, ptr %own
  store float 1.0, ptr %a
  store ptr %b, ptr %own
  ret void
}

; A variable that is not set before the fork stays a variable.
; CHECK-LABEL: define void @late(
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 2, ptr @late_started, i32 %team, ptr %x, ptr %variable)
define void @late(i32 %team, ptr %x, i1 %c) {
  %variable = alloca ptr
  %other = alloca ptr
  store ptr %x, ptr %other
  br i1 %c, label %set, label %go
set:
  store ptr %x, ptr %variable
  br label %go
go:
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @late_started, i32 %team, ptr %other, ptr %variable)
  ret void
}

define internal void @late_started(ptr %thread, ptr %bound, i32 %team, ptr %first, ptr %second) {
  call void @late_region(ptr %first, ptr %second)
  ret void
}

define internal void @late_region(ptr %first, ptr %second) {
  %a = load ptr, ptr %first
  %b = load ptr, ptr %second
  store float 1.0, ptr %a
  store float 1.0, ptr %b
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
