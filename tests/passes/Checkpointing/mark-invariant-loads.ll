; Loads of what the entry only reads become invariant, also in regions. What is written, what is behind a pointer that was loaded from an
; array, and what is read for another entry too stays as it is; marks that do not hold any more go.
;
; RUN: %opt -passes='adgen-mark-invariant-loads<adgen_body_>' -S %s | %filecheck %s
; RUN: %opt -passes='adgen-mark-invariant-loads<adgen_body_>,adgen-mark-invariant-loads<adgen_gradient_>' -S %s | %filecheck --check-prefix=AFTER %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @adgen_body_f(
; CHECK: load float, ptr %in, align 4, !invariant.load ![[MARK:[0-9]+]], !adgen.unchanged ![[MARK]]
; CHECK: %old = load float, ptr %out, align 4{{$}}
; CHECK: %next = load ptr, ptr %list, align 8, !invariant.load
; CHECK: %behind = load float, ptr %next, align 4{{$}}
; AFTER-LABEL: define void @adgen_body_f(
; AFTER: load float, ptr %in, align 4{{$}}
define void @adgen_body_f(ptr %in, ptr %out, ptr %list) {
  %slot = alloca ptr
  store ptr %in, ptr %slot
  %x = load float, ptr %in
  %old = load float, ptr %out
  %next = load ptr, ptr %list
  %behind = load float, ptr %next
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, ptr @started, i32 1, ptr %slot, ptr %out)
  ret void
}

; CHECK-LABEL: define internal void @region(
; CHECK: %data = load ptr, ptr %captured, align 8{{$}}
; CHECK: %x = load float, ptr %element, align 4, !invariant.load ![[MARK]]
; CHECK: %old = load float, ptr %out, align 4{{$}}
; AFTER-LABEL: define internal void @region(
; AFTER: %x = load float, ptr %element, align 4{{$}}
define internal void @region(ptr %captured, ptr %out, i64 %i) {
  %data = load ptr, ptr %captured
  %element = getelementptr float, ptr %data, i64 %i
  %x = load float, ptr %element
  %old = load float, ptr %out
  store float %x, ptr %out
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %captured, ptr %out) {
  call void @region(ptr %captured, ptr %out, i64 4)
  ret void
}

; It is not known where this one writes; that is nothing to the others.
; CHECK-LABEL: define void @adgen_body_g(
; CHECK: %x = load float, ptr %in, align 4{{$}}
define void @adgen_body_g(ptr %in, ptr %list) {
  %x = load float, ptr %in
  call void @anywhere(ptr %list, float %x)
  ret void
}

; How much memory is asked for is read from an array: it is no address, and what is kept there changes nothing else.
; CHECK-LABEL: define void @adgen_body_kept(
; CHECK: %x = load float, ptr %in, align 4, !invariant.load
define void @adgen_body_kept(ptr %in, ptr %counts) {
  %bytes = load i64, ptr %counts
  %cache = call noalias ptr @malloc(i64 %bytes)
  %x = load float, ptr %in
  store float %x, ptr %cache
  ret void
}
declare noalias ptr @malloc(i64)

define internal void @anywhere(ptr %list, float %x) {
  %behind = load ptr, ptr %list
  store float %x, ptr %behind
  ret void
}

; A shadow changes although nothing writes to it here: the marks are for parameters.
; CHECK-LABEL: define void @adgen_gradient_f(
; CHECK: load float, ptr %in, align 4{{$}}
; AFTER-LABEL: define void @adgen_gradient_f(
; AFTER: load float, ptr %in, align 4, !invariant.load
; AFTER: load float, ptr %d_in, align 4{{$}}
define void @adgen_gradient_f(ptr %in, ptr "adgen-shadow" %d_in) {
  %x = load float, ptr %in
  %d = load float, ptr %d_in
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

; A struct by value is a copy, whoever writes to memory that is not known; what its pointers lead to stays where nothing is written to it, but
; not where the struct itself is handed on.
; CHECK-LABEL: define void @adgen_body_members(
; CHECK: %in = load ptr, ptr %s, align 8, !invariant.load
; CHECK: %x = load float, ptr %in, align 4, !invariant.load
; CHECK: %out = load ptr, ptr %there, align 8, !invariant.load
; CHECK: %old = load float, ptr %out, align 4{{$}}
define void @adgen_body_members(ptr "adgen-struct"="16" %s) {
  %in = load ptr, ptr %s
  %x = load float, ptr %in
  %there = getelementptr i8, ptr %s, i64 8
  %out = load ptr, ptr %there
  %old = load float, ptr %out
  %element = getelementptr float, ptr %out, i64 3
  store float %x, ptr %element
  ret void
}

; CHECK-LABEL: define void @adgen_body_anywhere(
; CHECK: %n = load i64, ptr %s, align 8, !invariant.load
; CHECK: %x = load float, ptr %in, align 4{{$}}
define void @adgen_body_anywhere(ptr "adgen-struct"="16" %s, ptr %list) {
  %n = load i64, ptr %s
  %there = getelementptr i8, ptr %s, i64 8
  %in = load ptr, ptr %there
  %x = load float, ptr %in
  %next = load ptr, ptr %list
  store float %x, ptr %next
  ret void
}

; CHECK-LABEL: define void @adgen_body_own_struct(
; CHECK: %in = load ptr, ptr %s, align 8{{$}}
; CHECK: %x = load float, ptr %in, align 4{{$}}
define void @adgen_body_own_struct(ptr "adgen-struct"="16" %s, ptr %other) {
  %in = load ptr, ptr %s
  %x = load float, ptr %in
  store float %x, ptr %other
  store ptr %other, ptr %s
  ret void
}

; CHECK-LABEL: define void @adgen_body_by_address(
; CHECK: %in = load ptr, ptr %s, align 8{{$}}
; CHECK: %x = load float, ptr %in, align 4{{$}}
define void @adgen_body_by_address(ptr "adgen-struct"="16" "adgen-by-address" %s, ptr %list) {
  %in = load ptr, ptr %s
  %x = load float, ptr %in
  %next = load ptr, ptr %list
  store float %x, ptr %next
  ret void
}

; A gradient gets a copy of the struct, which its kernel makes: loads from it are not invariant any more, those of its arrays are.
; AFTER-LABEL: define void @adgen_gradient_members(
; AFTER: %n = load i64, ptr %count, align 8{{$}}
; AFTER: %in = load ptr, ptr %s, align 8{{$}}
; AFTER: %x = load float, ptr %in, align 4, !invariant.load
define void @adgen_gradient_members(ptr "adgen-struct"="24" %s) {
  %count = getelementptr i8, ptr %s, i64 16
  %n = load i64, ptr %count, !invariant.load !0
  %in = load ptr, ptr %s
  %x = load float, ptr %in
  %there = getelementptr i8, ptr %s, i64 8
  %out = load ptr, ptr %there
  store float %x, ptr %out
  ret void
}

!0 = !{}

; What only keeps a value for Enzyme writes nowhere.
; CHECK-LABEL: define void @adgen_body_pinned(
; CHECK:         load float, ptr %x, align 4, !invariant.load
define void @adgen_body_pinned(ptr %x, ptr %y) {
  %held = alloca float
  store float 1.0, ptr %held
  call void @adgen_pin_variable(ptr %held)
  %again = load float, ptr %held
  %v = load float, ptr %x, align 4
  %sum = fadd float %v, %again
  store float %sum, ptr %y
  ret void
}
declare void @adgen_pin_variable(ptr) memory(argmem: readwrite)

; CHECK-LABEL: define void @adgen_body_constant(
; CHECK: %x = load float, ptr %element, align 4, !invariant.load
; CHECK: %y = load float, ptr addrspacecast (ptr addrspace(1) @variable to ptr), align 4{{$}}
; AFTER-LABEL: define void @adgen_body_constant(
; AFTER: %x = load float, ptr %element, align 4, !invariant.load
define void @adgen_body_constant(ptr %out, i64 %i) {
  %element = getelementptr float, ptr addrspacecast (ptr addrspace(1) @table to ptr), i64 %i
  %x = load float, ptr %element
  %y = load float, ptr addrspacecast (ptr addrspace(1) @variable to ptr)
  store float %x, ptr %out
  ret void
}

@table = addrspace(1) externally_initialized global [2 x float] zeroinitializer, !adgen.constant !0
@variable = addrspace(1) externally_initialized global float 0.0
