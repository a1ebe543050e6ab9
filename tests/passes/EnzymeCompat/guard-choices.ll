; A pointer that may lead to memory with and to memory without a derivative: Enzyme is asked to look when the gradient runs.
;
; RUN: %opt -passes=adgen-guard-choices -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_chooses(
; CHECK: @__enzyme_autodiff_adgen_body_chooses(ptr @adgen_body_chooses, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %table)
define void @adgen_gradient_chooses(ptr %x, ptr %table, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_chooses(ptr @adgen_body_chooses, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_const", ptr %table)
  ret void
}
define void @adgen_body_chooses(ptr %x, ptr %table) {
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %x, ptr %table
  %v = load float, ptr %p
  store float %v, ptr %x
  ret void
}

; Both have one.
; CHECK-LABEL: define void @adgen_gradient_both(
; CHECK: (ptr @adgen_body_both, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
define void @adgen_gradient_both(ptr %x, ptr %y, ptr %d_x, ptr %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_both(ptr @adgen_body_both, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}
define void @adgen_body_both(ptr %x, ptr %y) {
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %x, ptr %y
  %v = load float, ptr %p
  store float %v, ptr %x
  ret void
}

; A table of virtual functions or a text is no memory of numbers.
; CHECK-LABEL: define void @adgen_gradient_tables(
; CHECK: (ptr @adgen_body_tables, metadata !"enzyme_dup", ptr %x, ptr %d_x)
define void @adgen_gradient_tables(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_tables(ptr @adgen_body_tables, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}
@virtual = internal constant { [1 x ptr] } { [1 x ptr] [ptr @tidy] }
define internal void @tidy() {
  ret void
}
define void @adgen_body_tables(ptr %x) {
  %c = icmp eq ptr %x, null
  %table = load ptr, ptr %x
  %p = select i1 %c, ptr @virtual, ptr %table
  %f = load ptr, ptr %p
  call void %f()
  ret void
}

; Of two local variables one may have none, such as one that is only written; one alone is what it is.
; CHECK-LABEL: define void @adgen_gradient_locals(
; CHECK: (ptr @adgen_body_locals, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x)
define void @adgen_gradient_locals(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_locals(ptr @adgen_body_locals, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}
define void @adgen_body_locals(ptr %x) {
  %read = alloca float
  %sink = alloca float
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %read, ptr %sink
  %v = load float, ptr %x
  store float %v, ptr %p
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_one_local(
; CHECK: (ptr @adgen_body_one_local, metadata !"enzyme_dup", ptr %x, ptr %d_x)
define void @adgen_gradient_one_local(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_autodiff_adgen_body_one_local(ptr @adgen_body_one_local, metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}
define void @adgen_body_one_local(ptr %x) {
  %t = alloca [2 x float]
  %second = getelementptr float, ptr %t, i64 1
  %c = icmp eq ptr %x, null
  %p = select i1 %c, ptr %t, ptr %second
  %v = load float, ptr %x
  store float %v, ptr %p
  ret void
}

; A function that is differentiated apart is compared with what it is handed: nothing in it looks as if it only wrote.
; CHECK-LABEL: define internal void @region(
; CHECK-SAME: ptr %out, ptr readonly %in, ptr %unused)
; CHECK-NEXT: call void @adgen_pin_read(ptr %out)
; CHECK-NEXT: %v = load
define internal void @region(ptr writeonly %out, ptr readonly %in, ptr %unused) {
  %v = load double, ptr %in
  store double %v, ptr %out
  ret void
}
; CHECK-LABEL: define void @adgen_body_chooses_too(
; CHECK-NOT: adgen_pin_read
define void @adgen_body_chooses_too(ptr %x) {
  call void @region(ptr %x, ptr %x, ptr null)
  ret void
}
; CHECK: declare void @adgen_pin_read(ptr captures(none)) #[[READ:[0-9]+]]
; CHECK: attributes #[[READ]] = { {{.*}}memory(argmem: read){{.*}}"enzyme_inactive" {{.*}}}

declare void @__enzyme_autodiff_adgen_body_tables(...)
declare void @__enzyme_autodiff_adgen_body_locals(...)
declare void @__enzyme_autodiff_adgen_body_one_local(...)
declare void @__enzyme_autodiff_adgen_body_chooses(...)
declare void @__enzyme_autodiff_adgen_body_both(...)
