; Where a region reads an array more often than others overwrite it, what overwrites it keeps what was there, and the region reads it again in the reverse
; sweep. Not where what is read is needed for no derivative, nor where the array is written in another way or outside of regions.
;
; RUN: %opt -passes='adgen-undo-log' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @adgen_gradient_f(
; CHECK-SAME:    ptr "adgen-restored" %x, ptr %y, ptr %z, ptr %w,
define void @adgen_gradient_f(ptr %x, ptr %y, ptr %z, ptr %w, ptr %dx, ptr %dy, ptr %dz, ptr %dw) {
  call void (...) @__enzyme_autodiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_dup", ptr %x, ptr %dx, metadata !"enzyme_dup", ptr %y, ptr %dy, metadata !"enzyme_dup", ptr %z, ptr %dz, metadata !"enzyme_dup", ptr %w, ptr %dw)
  ret void
}

define void @adgen_body_f(ptr %x, ptr %y, ptr %z, ptr %w) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 4, ptr @start_reads, ptr %x, ptr %y, ptr %z, ptr %w)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 4, ptr @start_writes, ptr %x, ptr %y, ptr %z, ptr writeonly %w)
  store double 0.0, ptr %z
  ret void
}

define internal void @start_reads(ptr %t, ptr %b, ptr %x, ptr %y, ptr %z, ptr %w) {
  call void @adgen_region_reads(ptr %x, ptr %y, ptr %z, ptr %w)
  ret void
}
define internal void @start_writes(ptr %t, ptr %b, ptr %x, ptr %y, ptr %z, ptr %w) {
  call void @adgen_region_writes(ptr %x, ptr %y, ptr %z, ptr %w)
  ret void
}

; A square needs x; y is only added up; z is written by the function itself too; w is read in the region that writes it.
; CHECK-LABEL: define internal void @adgen_region_reads(
; CHECK:         load double, ptr %x, align 8, !invariant.load !{{[0-9]+}}, !adgen.restored
; CHECK:         load double, ptr %next, align 8, !invariant.load !{{[0-9]+}}, !adgen.restored
; CHECK:         load double, ptr %y, align 8{{$}}
; CHECK:         load double, ptr %z, align 8{{$}}
define internal void @adgen_region_reads(ptr %x, ptr %y, ptr %z, ptr %w) {
  %a = load double, ptr %x
  %next = getelementptr double, ptr %x, i64 1
  %b = load double, ptr %next
  %c = load double, ptr %y
  %d = load double, ptr %z
  %square = fmul double %a, %b
  %other = fmul double %d, %square
  %sum = fadd double %other, %c
  store double %sum, ptr %w
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_writes(
; CHECK-SAME:    ptr %x, ptr %y, ptr %z, ptr %w)
; CHECK:         call void @adgen_rule_overwrite_f64(ptr %x, ptr %place), !tbaa
; CHECK-NEXT:    store double %half, ptr %place
; CHECK-NOT:     @adgen_rule_overwrite
; CHECK:         ret void
define internal void @adgen_region_writes(ptr writeonly %x, ptr %y, ptr %z, ptr %w) memory(argmem: readwrite) {
  %value = load double, ptr %w
  %half = fmul double %value, %value
  %place = getelementptr double, ptr %x, i64 3
  store double %half, ptr %place, !tbaa !0
  store double %half, ptr %y
  store double %half, ptr %z
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__enzyme_autodiff_adgen_body_f(...)

; CHECK: declare !enzyme_augment !{{[0-9]+}} !enzyme_gradient !{{[0-9]+}} void @adgen_rule_overwrite_f64(ptr, ptr)

!0 = !{!1, !1, i64 0}
!1 = !{!"double", !2}
!2 = !{!"types"}
