; A region gets what a variable that is a pointer holds before the fork. It gets the variable where a region sets it.
;
; RUN: %opt -passes=adgen-promote-captures -S %s | %filecheck %s

; CHECK-LABEL: define void @f(
; CHECK: %[[ONCE:.*]] = load ptr, ptr %once
; CHECK: %[[NOW:.*]] = load ptr, ptr %twice
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 4, ptr @started, i32 %team, ptr %[[ONCE]], ptr %[[NOW]], ptr %own)
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
; CHECK-NOT: load ptr, ptr %twice
; CHECK: %c = load ptr, ptr %own
; CHECK: store float 1.000000e+00, ptr %once
; CHECK: store ptr %twice, ptr %own
define internal void @region(ptr readonly align 8 dereferenceable(8) %once, ptr %twice, ptr %own) {
  %a = load ptr, ptr %once
  %b = load ptr, ptr %twice
  %c = load ptr, ptr %own
  store float 1.0, ptr %a
  store ptr %b, ptr %own
  ret void
}

; On every way before the fork or not.
; CHECK-LABEL: define void @late(
; CHECK: %[[OTHER:.*]] = load ptr, ptr %other
; CHECK: %[[LATE:.*]] = load ptr, ptr %variable
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 2, ptr @late_started, i32 %team, ptr %[[OTHER]], ptr %[[LATE]])
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

; A std::vector's pointer to its elements is read before the fork, also where the address of the vector goes elsewhere.
; CHECK-LABEL: define void @vectors(
; CHECK: %[[DATA:.*]] = load ptr, ptr %vector
; CHECK: %[[LEAKED:.*]] = load ptr, ptr %leaked
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 2, ptr @vectors_started, i32 %team, ptr %[[DATA]], ptr %[[LEAKED]])
define void @vectors(i32 %team, ptr %x, i64 %n, ptr %elsewhere) {
  %vector = alloca { ptr, ptr, ptr }
  %leaked = alloca { ptr, ptr, ptr }
  call void @llvm.memset.p0.i64(ptr %vector, i8 0, i64 24, i1 false)
  store ptr %x, ptr %vector
  store ptr %x, ptr %leaked
  %end = getelementptr i8, ptr %vector, i64 8
  %last = getelementptr double, ptr %x, i64 %n
  store ptr %last, ptr %end
  %inside = getelementptr i8, ptr %leaked, i64 8
  store ptr %inside, ptr %elsewhere
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @vectors_started, i32 %team, ptr %vector, ptr %leaked)
  ret void
}

define internal void @vectors_started(ptr %thread, ptr %bound, i32 %team, ptr %first, ptr %second) {
  call void @vectors_region(ptr %first, ptr %second)
  ret void
}

define internal void @vectors_region(ptr %first, ptr %second) {
  %a = load ptr, ptr %first
  %b = load ptr, ptr %second
  store float 1.0, ptr %a
  store float 1.0, ptr %b
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
