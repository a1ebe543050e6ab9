; Tangents are carried through a region that is called (adgen-call-regions), and what Enzyme made of that call is forked
; (adgen-fork-regions). A gradient keeps its fork.
;
; RUN: %opt -passes=adgen-call-regions -S %s | %filecheck %s --check-prefix=CALL
; RUN: %opt -passes=adgen-fork-regions -S %s | %filecheck %s --check-prefix=FORK

; CALL: define void @adgen_body_f(ptr %x, i32 %team)
; CALL: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @started, i32 %team, ptr %x)
; CALL: call void (...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f,
; CALL: call void (...) @__enzyme_fwddiff_adgen_body_f(ptr @adgen_carried_adgen_body_f,
; What leads to the fork is copied, and what the copy calls.
; CALL: define internal void @adgen_carried_adgen_body_f(ptr %x, i32 %team)
; CALL: call void @adgen_carried_helper(ptr %x, i32 %team)
; CALL-NOT: __kmpc_fork_call
; CALL: define internal void @adgen_forked_started(i32 %0, ptr %1) [[ALONE:#[0-9]+]]
; CALL: call void @adgen_region_started(ptr %1)
; CALL: define internal void @adgen_carried_helper(ptr %x, i32 %team)
; CALL-NEXT: call void @adgen_forked_started(i32 %team, ptr %x)
; CALL: attributes [[ALONE]] = { noinline memory(readwrite) }

; FORK: define void @after(ptr %x, ptr %d_x)
; FORK-NEXT: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @adgen_unknown_place, i32 3, ptr @start_fwddiffeadgen_forked_started, i32 4, ptr %x, ptr %d_x)
; FORK: define internal void @start_fwddiffeadgen_forked_started(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4)
; FORK: call void @fwddiffeadgen_forked_started(i32 %2, ptr %3, ptr %4)

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__enzyme_autodiff_adgen_body_f(...)
declare void @__enzyme_fwddiff_adgen_body_f(...)

define internal void @adgen_region_started(ptr %x) noinline {
  store double 1.0, ptr %x
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %x) {
  call void @adgen_region_started(ptr %x)
  ret void
}

define internal void @helper(ptr %x, i32 %team) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @started, i32 %team, ptr %x)
  ret void
}

define void @adgen_body_f(ptr %x, i32 %team) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @started, i32 %team, ptr %x)
  call void @helper(ptr %x, i32 %team)
  ret void
}

define void @adgen_gradient_f(ptr %x, i32 %team, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f, ptr %x, ptr %d_x, i32 %team)
  ret void
}

define void @adgen_tangent_f(ptr %x, i32 %team, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_f(ptr @adgen_body_f, ptr %x, ptr %d_x, i32 %team)
  ret void
}

define internal void @fwddiffeadgen_forked_started(i32 %team, ptr %x, ptr %d_x) {
  ret void
}

define void @after(ptr %x, ptr %d_x) {
  call void @fwddiffeadgen_forked_started(i32 4, ptr %x, ptr %d_x)
  ret void
}
